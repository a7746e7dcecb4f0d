"""A file of sentences: its words and labels, and the same file with labels replaced."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..check import check_choice, unknown
from . import columns, conllu
from .rewriting import (
    check_aligned,
    check_comments,
    check_heads,
    commented,
    count,
    parted,
    with_supertag,
    with_tree,
)
from .row import WordRow
from .supertags import supertags
from .text import DataError, iterate_chunks, name_of
from .windows import Window, cut, windows

NAMED = {"upos": conllu.UPOS, "xpos": conllu.XPOS, "feats": conllu.FEATS}
SUPERTAG = "supertag"
LAYOUTS = ("auto", "conllu", "columns")
FIRST_ID = re.compile(r"1|1-[0-9]+|0\.[0-9]+")
NUMBER = re.compile(r"-?[1-9][0-9]{0,8}")


@dataclass(frozen=True)
class Document:
    """A file: all its lines as they are, and the words found in them."""

    path: str
    """As messages call it."""
    lines: list[str]
    sentences: list[list[WordRow]]
    layout: Literal["conllu", "columns"]
    start: int = 1
    """The number of the first line: a document may be a part of a file."""
    opening: Sequence[str] | None = None
    """The lines that show what separates columns; None: its own."""
    places: Sequence[int] | None = None
    """The line that each sentence comes from; None: where its first word is."""

    @property
    def begins(self) -> Sequence[int]:
        """The number of the line at which each sentence begins, for messages."""
        if self.places is not None:
            return self.places
        return [sentence[0].line for sentence in self.sentences]

    def only(self, numbers: Sequence[int]) -> "Document":
        """The same lines with some of the sentences, so that the others are not rewritten."""
        chosen, begins = [self.sentences[number] for number in numbers], self.begins
        return replace(self, sentences=chosen, places=[begins[number] for number in numbers])

    def words(self) -> list[list[str]]:
        """The words of each sentence."""
        return self.fields(self.form)

    @property
    def form(self) -> int:
        """Which field the word is."""
        return conllu.FORM if self.layout == "conllu" else 0

    def column(self, name: str, whole: bool = True) -> list[list[str]]:
        """The labels of each sentence.

        CoNLL-U: "upos", "xpos", "feats", "supertag" (computed from the tree) or a number from
        "1" to "10". Column files: a number from "1", the word, or from the end, "-1". An empty
        value is refused with its line, and so is a column that holds nothing but "_": it has no
        labels. (In FEATS "_" is a label; it is refused only if UPOS and XPOS are empty too.) If
        the document is not the `whole` file, others may have them.
        """
        if self.layout == "conllu" and name == SUPERTAG:
            trees = (
                (conllu.heads(sentence, self.path), conllu.relations(sentence, self.path))
                for sentence in self.sentences
            )
            return [supertags(heads, relations) for heads, relations in trees]
        if not self.sentences:
            return []
        index = self.index(name)
        if index is not None and index <= self.form:
            raise DataError(
                f"{self.path}: `column` must name a column of labels, got {name}, which holds the "
                "words or their ids; choose another column."
            )
        if index is None:
            raise DataError(
                f"{self.path}: `column` must exist in this file, which has "
                f"{count(self.width, 'column')}, got {name}; choose another column."
            )
        self.check_filled(index, name)
        if whole and not self.annotated(name):
            raise not_annotated(self.path, self.sentences[0][0].line, name)
        return self.fields(index)

    def trees(self) -> list[tuple[list[int], list[str]]]:
        """The heads and the relations of each sentence, which are trees with one root.

        Heads are numbers of words, counted from 1, and 0 for the root. CoNLL-U only.
        """
        self.check_conllu()
        return [conllu.tree(sentence, self.path) for sentence in self.sentences]

    def rewrite(self, column: str, values: Sequence[Sequence[str]]) -> str:
        """The text of the file with `values` in `column`, and not one other byte changed.

        A supertag is added to MISC as "Supertag=...". A column file that has
        no such column gets it as its last one; so do the names of CoNLL-U ("upos", ...).
        """
        check_aligned(self.path, self.sentences, values)
        index = self.index(column, appending=True)
        if index is not None and index <= self.form:
            raise DataError(
                f"{self.path}: Labels must not replace the words, but column {column} of this "
                "file holds the words or their ids; choose another column."
            )
        check_values(self, column, {value for sentence in values for value in sentence})
        shown = self.lines if self.opening is None else self.opening
        tabs = self.layout == "conllu" or columns.tab_separated(shown)
        between = columns.separator(shown) if index is None else ""
        lines = list(self.lines)
        for sentence, labels in zip(self.sentences, values, strict=True):
            for row, value in zip(sentence, labels, strict=True):
                place = row.line - self.start
                before, text, after = parted(lines[place], row.line)
                if index is None:
                    text = columns.appended(text, between, value)
                else:
                    if column == SUPERTAG:
                        value = with_supertag(row.fields[index], value)
                    text = columns.replaced(text, tabs, index, value)
                lines[place] = before + text + after
        return "".join(lines)

    def rewrite_trees(
        self,
        trees: Sequence[tuple[Sequence[int], Sequence[str]]],
        comments: Sequence[Sequence[str]] | None = None,
        stale: re.Pattern[str] | None = None,
    ) -> str:
        """The text of the file with `trees` in HEAD and DEPREL, and not one other byte changed.

        That includes DEPS: enhanced dependencies stay those of the file. `comments` are lines
        that begin with "#", a list for each sentence; they go after the comments that are there.
        Of these, the ones that match `stale` are left out: they describe other trees.
        """
        self.check_conllu()
        check_aligned(self.path, self.sentences, [heads for heads, _ in trees], "heads")
        check_aligned(self.path, self.sentences, [names for _, names in trees], "relations")
        check_heads(self.path, self.sentences, [heads for heads, _ in trees])
        check_values(self, "deprel", {name for _, names in trees for name in names})
        lines = list(self.lines)
        for sentence, (heads, relations) in zip(self.sentences, trees, strict=True):
            for row, head, relation in zip(sentence, heads, relations, strict=True):
                place = row.line - self.start
                lines[place] = with_tree(lines[place], row.line, head, relation)
        if comments is not None:
            check_comments(self.path, self.sentences, comments)
            for sentence, added in zip(self.sentences, comments, strict=True):
                number, text = commented(lines, sentence[0], added, self.start)
                lines[number - self.start] = text
        for place, line in enumerate(self.lines):
            if stale is not None and line.startswith("#") and stale.match(line):
                lines[place] = ""
        return "".join(lines)

    @property
    def width(self) -> int:
        """How many columns a line has; 0 if there are no words."""
        return len(self.sentences[0][0].fields) if self.sentences else 0

    def fields(self, index: int) -> list[list[str]]:
        """One field (0-based) of every word."""
        return [[row.fields[index] for row in sentence] for sentence in self.sentences]

    def index(self, name: str, appending: bool = False) -> int | None:
        """Which field a column is (0-based), or none if these lines do not have it."""
        if self.layout == "conllu":
            known = {**NAMED, **{str(i + 1): i for i in range(len(conllu.FIELDS))}}
            if appending:
                known[SUPERTAG] = conllu.MISC
            if name not in known:
                names = [*NAMED, SUPERTAG, "1", "...", str(len(conllu.FIELDS))]
                raise DataError(f"{self.path}: {unknown(names, name, 'column')}")
            return known[name]
        if appending and name in (*NAMED, SUPERTAG):
            return None
        if not NUMBER.fullmatch(name):
            names = [str(i) for i in range(1, self.width + 1)]
            raise DataError(f"{self.path}: {unknown([*names, '-1'], name, 'column')}")
        index = int(name) - 1 if int(name) > 0 else self.width + int(name)
        counted_to_words = int(name) < 0 and index == 0  # the last of one column is no label
        return None if counted_to_words or not 0 <= index < self.width else index

    def check_conllu(self) -> None:
        """Refuse column files where trees are needed, unless there are no words."""
        if self.sentences and self.layout != "conllu":
            raise DataError(
                f"{self.path}: Trees need a CoNLL-U file, but this is a column file; convert it, "
                "or read it with the layout 'conllu' if it is CoNLL-U."
            )

    def check_filled(self, index: int, name: str) -> None:
        """Refuse labels that are empty."""
        for row in (row for sentence in self.sentences for row in sentence):
            if not row.fields[index]:
                raise DataError(
                    f"{self.path}:{row.line}: Every word needs a label in column {name}, but this "
                    "one is empty; add it."
                )

    def annotated(self, name: str) -> bool:
        """Has any word a label in a column? In column files, all have one."""
        if self.layout == "columns" or name == SUPERTAG:
            return bool(self.sentences)
        index = self.index(name)
        needed = {conllu.UPOS, conllu.XPOS} | {index} if index == conllu.FEATS else {index}
        return any(
            row.fields[field] != "_"
            for sentence in self.sentences
            for row in sentence
            for field in needed
            if field is not None
        )


def not_annotated(path: str, line: int, name: str) -> DataError:
    """The error for a column without labels."""
    return DataError(
        f"{path}:{line}: Column {name} must hold labels, but it is '_' for every word of the file; "
        "use an annotated file or another column."
    )


def labeled_windows(
    source: str | Path,
    column: str,
    layout: Literal["auto", "conllu", "columns"] = "auto",
    window: int = 1000,
) -> Iterator[tuple[list[list[str]], list[list[str]]]]:
    """Words and labels, so many sentences at a time, refused where the whole file would be."""
    first: Document | None = None
    annotated = False
    for document in document_windows(source, layout, window):
        first = first or document
        annotated = annotated or document.annotated(column)
        yield document.words(), document.column(column, whole=False)
    if first is not None and not annotated:
        raise not_annotated(first.path, first.sentences[0][0].line, column)


def document_windows(
    source: str | Path,
    layout: Literal["auto", "conllu", "columns"] = "auto",
    window: int = 1000,
) -> Iterator[Document]:
    """Parts of a file, so many sentences at a time; those without any are left out."""
    check_choice(layout, LAYOUTS, "layout")
    form = None
    parts = cut(iterate_chunks(source), "block", window)
    for part in windows(name_of(source), parts, lambda _: window):
        form = form or DocumentForm.of(part, layout)
        document = form.document(part)
        if document.sentences:
            yield document


def read_document(
    source: str | Path, layout: Literal["auto", "conllu", "columns"] = "auto"
) -> Document:
    """Read a file of sentences; "-" is standard input, and gzip is unpacked.

    "auto" takes a file for CoNLL-U if its name says so (".conllu", ".conllu.gz") or if its first
    line with data has ten fields and the first one is the id of a first word.
    """
    check_choice(layout, LAYOUTS, "layout")
    whole = Window(name_of(source), b"".join(iterate_chunks(source)))
    return DocumentForm.of(whole, layout).document(whole)


@dataclass(frozen=True)
class DocumentForm:
    """What the first sentences of a file show of all of it."""

    layout: Literal["conllu", "columns"]
    guessed: bool = False
    """Did nobody say what the layout is?"""
    opening: tuple[str, ...] = ()
    """Lines that show what separates columns."""
    first: WordRow | None = None
    """The first word of a column file: the others have as many columns."""

    @classmethod
    def of(cls, opening: Window, layout: Literal["auto", "conllu", "columns"]) -> "DocumentForm":
        """The form of a file that begins with these sentences."""
        lines, named = opening.shown(), opening.name.endswith((".conllu", ".conllu.gz"))
        guessed = layout == "auto"
        if layout == "conllu" or (guessed and (named or like_conllu(lines))):
            return cls("conllu", guessed)
        return cls("columns", guessed, columns.signs(lines), columns.first_row(lines))

    def document(self, window: Window) -> Document:
        """Some lines of the file."""
        path, lines, start = window.name, window.lines(), window.start.line
        if self.layout == "conllu":
            found = conllu.parse(lines, path, start, self.guessed)
            return Document(path, lines, found, "conllu", start)
        found = columns.parse(lines, path, start, self.opening, self.first)
        return Document(path, lines, found, "columns", start, self.opening)

    def sentences(self, window: Window) -> int:
        """How many sentences a window has, counted without reading them."""
        if self.layout == "conllu":
            return conllu.count(window.data)
        text = window.data.decode("utf-8", errors="replace")
        return columns.count(text.split("\n"), columns.tab_separated(self.opening))


def certain(lines: Sequence[str]) -> bool:
    """Is there a line that is data, whatever the layout?"""
    return any(not text.startswith("#") for text in columns.data(lines))


def like_conllu(lines: Sequence[str]) -> bool:
    """Does the first line with data look like CoNLL-U, perhaps with spaces instead of tabs?"""
    text = next((text for text in columns.data(lines) if not text.startswith("#")), "")
    for fields in (text.split("\t"), text.split()):
        if len(fields) == len(conllu.FIELDS) and FIRST_ID.fullmatch(fields[0]):
            return True
    return False


def check_values(document: Document, column: str, values: set[str]) -> None:
    """Refuse labels that would be read as something else once they are written."""
    shown = document.lines if document.opening is None else document.opening
    tabs = document.layout == "conllu" or columns.separator(shown) == "\t"
    reserved = "\t\n\r" + ("" if tabs else " ") + ("|" if column == SUPERTAG else "")
    for value in sorted(values):
        if not value or any(character in value for character in reserved):
            raise ValueError(
                f"{document.path}: A label written to this file must not be empty or contain "
                f"any of {reserved!r}, got {value!r}; rename the label, or use a file with tabs "
                "between its columns."
            )
