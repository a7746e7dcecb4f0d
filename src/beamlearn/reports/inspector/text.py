"""Inspected searches as text for terminals."""

from collections.abc import Iterator, Sequence
from io import StringIO
from unicodedata import category

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...data.text import print_text
from ...evaluation.marked import Marked, Part, unmarked
from ...search.history import History, HistoryNode
from ..pages.render import number, visible
from .inspected_run import InspectedInput
from .inspected_search import InspectedSearch

MARKS = {"won": "bold blue", "best": "green", "fell": "red", "next": "dim"}
"""The marks of a hypothesis, and their styles."""
WIDTHS = {"step": 14, "action": 24, "": 12}
"""The largest widths of columns with text; all others hold numbers."""
LINE = 70
"""Columns for words and labels, beside the names of the lines."""
OWN = ("won: became the output", "next: a runner-up")
COSTLY = (
    "best: can still become the best possible output",
    "fell: the lowest cost of all, but dropped from the beam",
)
"""What the marks mean; the second group needs right answers."""


def print_inputs(cases: Sequence[InspectedInput]) -> None:
    """Print with colors on a terminal, otherwise plain and 80 columns wide."""
    lines, console = Group(*map(input_lines, cases)), Console()
    if console.is_terminal:
        console.print(lines)
        return
    written = StringIO()
    Console(file=written, width=80, color_system=None).print(lines)
    print_text("".join(line.rstrip() + "\n" for line in written.getvalue().split("\n")[:-1]))


def input_lines(case: InspectedInput) -> Group:
    """Everything about an input."""
    lines: list[RenderableType] = [Text(case.title, style="bold")]
    if case.difference is not None:
        lines.append(plain(case.difference))
    for name, search in case.searches.items():
        lines += [Text(), Text.assemble((safe(name), "bold"), f", beam of {search.width}")]
        lines += search_lines(search)
    return Group(*lines)


def search_lines(search: InspectedSearch) -> Iterator[RenderableType]:
    """What one model did."""
    yield texts(search)
    yield from (plain(sentence) for sentence in (search.outcome, search.diagnosis) if sentence)
    yield Text()
    yield beams(search.history, search.subject.headings)
    yield Text("; ".join(OWN if search.regret is None else (*OWN, *COSTLY)), style="dim")
    for drop in search.drops:
        yield Text()
        heading = f" ({drop.heading})" if drop.heading else ""
        yield plain(
            f"Step {drop.dropped.step}{heading}: the cost rises by "
            f"{number(drop.dropped.increase)}. {drop.cause}"
        )
        ways = (("after", drop.shared, "dim"), ("lost", drop.lost, "red"), ("kept", drop.rival, ""))
        grid = Table.grid(padding=(0, 2))
        for word, path, style in ways:
            if path:
                grid.add_row(f"  {word}", Text(joined(path), style=style))
        yield grid
    yield Text()
    yield nbest(search)


def texts(search: InspectedSearch) -> Table:
    """Input, right output and output; where they are aligned, part below part."""
    subject, answer = search.subject, search.answers[0]
    grid = Table.grid(padding=(0, 2))
    if answer.marked is not None and len(answer.marked.output) == len(subject.words) > 0:
        for rows in blocks(subject.words, answer.marked):
            for name, line in rows.items():
                grid.add_row(name, line)
        return grid
    marked = answer.marked or unmarked(subject.right, [answer.text])
    grid.add_row("input", plain(subject.text))
    for name, parts in (("right", marked.right), ("output", marked.output)):
        if name == "output" or subject.right is not None:
            grid.add_row(name, styled(parts, marked.gap))
            if below := carets(parts, marked.gap):
                grid.add_row("", Text(below, style="red"))
    return grid


def styled(parts: Sequence[Part], gap: str) -> Text:
    """A text whose parts are marked by colors where they differ."""
    shown = (Text(safe(part.text), style="" if part.same else "red") for part in parts)
    return Text(gap).join(shown)


def carets(parts: Sequence[Part], gap: str) -> str:
    """A line to stand below a text, with carets where parts differ; empty if the text is long.

    >>> carets([Part("k"), Part("ae", same=False), Part("t")], " ")
    '  ^^'
    """
    marks = ((" " if part.same else "^") * cell_len(safe(part.text)) for part in parts)
    line = (" " * len(gap)).join(marks)
    return line.rstrip() if len(line) <= LINE else ""


def blocks(words: Sequence[str], marked: Marked) -> Iterator[dict[str, Text]]:
    """Lines of words and labels, one below the other, with carets below those that are wrong.

    Words that do not fit into a line go into the next block. Without right labels there are only
    the words and what they got.
    """
    known = len(marked.right) == len(words)
    sides = {"input": tuple(map(Part, words)), "right": marked.right, "output": marked.output}
    sides[""] = tuple(Part(carets([part], "")) for part in marked.output)
    rows = {name: side for name, side in sides.items() if known or name in ("input", "output")}
    sizes = [
        max(cell_len(safe(part.text)) for part in column)
        for column in zip(*rows.values(), strict=True)
    ]
    for some in fitting(sizes):
        yield {
            name: Text(" ").join(
                Text(set_cell_size(safe(side[at].text), sizes[at]), "" if side[at].same else "red")
                for at in some
            )
            for name, side in rows.items()
            if name or any(side[at].text for at in some)
        }


def fitting(sizes: Sequence[int], most: int = LINE) -> Iterator[range]:
    """Cut columns of these sizes into lines, each of at least one column.

    >>> list(fitting([4, 4, 4, 20], most=9))
    [range(0, 2), range(2, 3), range(3, 4)]
    """
    first = length = 0
    for at, size in enumerate(sizes):
        if at > first and length + size > most:
            yield range(first, at)
            first, length = at, 0
        length += size + 1
    yield range(first, len(sizes))


def beams(history: History, headings: Sequence[str] = ()) -> Table:
    """The beams, step by step: the place of each hypothesis, that of its parent, and its numbers.

    A dropped hypothesis stands below the beam that it is missing from, with its rank as its place.
    """
    costly = history.least_cost is not None
    table = Table(box=None, pad_edge=False, header_style="dim")
    numbers = ["score", "here", *(["cost"] if costly else [])]
    for name in ("step", "place", "from", "action", *numbers, ""):
        table.add_column(
            name,
            justify="left" if name in WIDTHS else "right",
            max_width=WIDTHS.get(name),
            no_wrap=True,
            overflow="ellipsis",
        )
    drops = {drop.step: drop for drop in history.drops}
    for step, (beam, winner) in enumerate(zip(history.beams, history.winners, strict=True)):
        heading = headings[step - 1] if 0 < step <= len(headings) else ""
        first = safe(f"{step} {heading}".rstrip())
        for place, node in enumerate(beam):
            marks = {
                "won": place == winner,
                "best": history.can_be_best(node),
                "next": not node.kept,
            }
            table.add_row(*cells(first if place == 0 else "", place, node, marks, costly))
        if step in drops:
            drop = drops[step]
            table.add_row(*cells("", drop.rank - 1, drop.node, {"fell": True}, costly))
    return table


def cells(
    first: str, place: int, node: HistoryNode, marks: dict[str, bool], costly: bool
) -> list[Text]:
    """A row of the table of beams."""
    found = [mark for mark, true in marks.items() if true]
    style = next((MARKS[mark] for mark in found if mark != "best"), "")
    start = node.parent is None
    texts = [
        first,
        str(place + 1),
        "" if node.parent is None else str(node.parent + 1),
        "start" if start else safe(visible(node.name)) if node.moved else "(finished)",
        score(node.score),
        "" if start else score(node.added),
        *([number(node.cost)] if costly else []),
    ]
    row = [Text(text, style="" if at == 0 else style) for at, text in enumerate(texts)]
    return [*row, Text(" ").join(Text(mark, style=MARKS[mark]) for mark in found)]


def nbest(search: InspectedSearch) -> Table:
    """The final beam."""
    costly = search.regret is not None
    table = Table(box=None, pad_edge=False, header_style="dim")
    names = ["place", "score", "share", *(["cost"] if costly else [])]
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("output", overflow="fold")
    for place, answer in enumerate(search.answers, 1):
        numbers = [str(place), score(answer.score), f"{answer.share:.1%}"]
        style = "green" if answer.best else ""
        cost = [number(answer.cost)] if costly else []
        table.add_row(*numbers, *cost, Text(safe(answer.text), style=style))
    return table


def score(value: float) -> str:
    """A score as it is shown in a column.

    >>> score(12.0), score(-0.001)
    ('12.00', '0.00')
    """
    return f"{round(value, 2) + 0.0:.2f}"


def plain(sentence: str) -> Text:
    """A sentence as it is, without markup."""
    return Text(safe(sentence))


def joined(names: Sequence[str]) -> str:
    """A path in a readable form.

    >>> joined(["DET", "NOUN"]), joined(["shift", "left det"])
    ('DET NOUN', 'shift, left det')
    """
    parts = [*map(visible, names)]
    return safe((", " if any(" " in part for part in parts) else " ").join(parts))


def safe(text: str) -> str:
    r"""A text without control characters for the terminal.

    >>> safe("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return "".join(c if category(c) != "Cc" else repr(c)[1:-1] for c in text)
