"""Inspected searches as text for terminals."""

from collections.abc import Iterator, Sequence
from io import StringIO
from unicodedata import category

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...data.text import print_text
from ...search.history import History, HistoryNode
from ..pages.render import number, visible
from .inspected_run import InspectedInput
from .inspected_search import InspectedSearch

MARKS = {"won": "bold blue", "best": "green", "fell": "red", "next": "dim"}
"""The marks of a hypothesis, and their styles."""
WIDTHS = {"step": 14, "action": 24, "": 12}
"""The largest widths of columns with text; all others hold numbers."""
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
    fields = {"input": search.subject.text, "right": search.subject.right}
    fields["output"] = search.answers[0].text
    grid = Table.grid(padding=(0, 2))
    for name, value in fields.items():
        if value is not None:
            grid.add_row(name, plain(value))
    yield grid
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
