"""The data of the demo: HKCanCor by conversation, character by character, in three files."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...data import atomic
from ...data.hkcancor import PUNCTUATION, Utterance, characters
from ...tasks.tagging.sentences import TaggedSentences
from ...training.run import RunError

PARTS = ("train", "dev", "test")
CREDIT = "HKCanCor, the Hong Kong Cantonese Corpus (Luke and Wong 2015), CC BY 4.0"
TITLE = f"# {CREDIT}; cut into characters, punctuation left out"
TURN = 8
"""Of every eight conversations the fourth is for validation and the last one for the test."""


def conversation_of(recording: str) -> str:
    """Which conversation a recording is of: its parts have letters.

    >>> conversation_of("FC-108a_v2"), conversation_of("FC-R013b_v"), conversation_of("FC-001_v2")
    ('FC-108', 'FC-R013', 'FC-001')
    """
    return re.sub(r"[a-z]?(_.*)?$", "", recording)


def split(recordings: Iterable[str]) -> dict[str, list[str]]:
    """Share recordings out by their names; those of one conversation stay together."""
    parts: dict[str, list[str]] = {part: [] for part in PARTS}
    names = sorted(recordings)
    conversations = sorted(set(map(conversation_of, names)))
    part_of = {3: "dev", 7: "test"}
    for name in names:
        turn = conversations.index(conversation_of(name)) % TURN
        parts[part_of.get(turn, "train")].append(name)
    return parts


def spoken(utterances: Iterable[Utterance], limit: int | None = None) -> TaggedSentences:
    """The characters and labels of utterances, without punctuation: nobody speaks it."""
    heard = ([pair for pair in utterance if pair[1] != PUNCTUATION] for utterance in utterances)
    cut = [characters(utterance) for utterance in heard if utterance][:limit]
    return TaggedSentences([found for found, _ in cut], [labels for _, labels in cut])


def file_of(part: str, folder: Path) -> Path:
    """Where the utterances of a part are."""
    return folder / f"{part}.tsv"


def check_own(folder: Path) -> None:
    """Refuse a folder that holds anything but an earlier demo."""
    first = file_of("train", folder)
    own = first.is_file() and first.read_text(encoding="utf-8", errors="replace").startswith(TITLE)
    try:
        empty = not folder.exists() or not any(folder.iterdir())
    except OSError:
        empty = False
    if not (own or empty):
        raise RunError(
            f"{folder} must be a new folder or that of an earlier demo, but it holds something "
            "else; choose another --out."
        )


def write_parts(parts: Mapping[str, TaggedSentences], folder: Path) -> None:
    """Write a column file for each part, a character and its label a line."""
    atomic.make_folder(folder)
    for part, sentences in parts.items():
        lines = [TITLE]
        for heard, labels in zip(sentences.words, sentences.tags, strict=True):
            lines += [f"{c}\t{label}" for c, label in zip(heard, labels, strict=True)]
            lines.append("")
        atomic.write_bytes(file_of(part, folder), "\n".join([*lines, ""]).encode())
