"""What the demo prints, from the first sentence to the last."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...tasks.tagging.sentences import TaggedSentences
from ..program import program
from .conversations import CREDIT
from .example import Example, Reading, Tally, words_of
from .measured import Measured
from .plan import BEAM, LIKELIHOOD, TITLES, WIDTH

ROWS = (
    (LIKELIHOOD, 1, "greedy"),
    (LIKELIHOOD, WIDTH, f"beam {WIDTH}"),
    (BEAM, WIDTH, f"beam {WIDTH}"),
)


def say(console: Console, text: str) -> None:
    """Print a paragraph as it is."""
    console.print(text, highlight=False, markup=False)


def introduce(
    console: Console,
    parts: Mapping[str, TaggedSentences],
    recordings: Mapping[str, Sequence[str]],
    epochs: int,
) -> None:
    """Say what is learned, and from what."""
    sizes = [f"{len(recordings[part])} ({len(parts[part]):,} utterances)" for part in parts]
    say(
        console,
        "Cantonese conversations: find the words and their parts of speech while the speaker "
        "talks. Each character gets a label as soon as it is heard: B-v begins a verb, I-v goes "
        "on with it. The network hears the character and recalls its own labels so far; what "
        "comes next it cannot know.",
    )
    say(console, "")
    say(
        console,
        f"Recordings to learn from: {sizes[0]}; to validate on: {sizes[1]}; to test on: "
        f"{sizes[2]}. Data: {CREDIT}.",
    )
    say(console, "")
    say(
        console,
        f"The same network is trained twice, {count(epochs, 'epoch')} each: by maximum likelihood, "
        f"and with a beam of {WIDTH}.",
    )


def results(found: Mapping[tuple[str, int], Measured]) -> Table:
    """The three rows that matter."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("trained")
    table.add_column("tested")
    for title in ("labels right", "words right (F1)", "characters/s"):
        table.add_column(title, justify="right")
    for name, width, tested in ROWS:
        row = found[name, width]
        table.add_row(
            TITLES[name],
            tested,
            f"{row.accuracy:.1%}",
            f"{row.f1:.1%}",
            f"{row.characters_per_second:,.0f}",
            style="bold" if name == BEAM else None,
        )
    return table


def sum_up(console: Console, found: Mapping[tuple[str, int], Measured]) -> None:
    """Say what the beam gains when it comes at test time, and when it was trained with."""
    greedy, late, trained = (100 * found[name, width].accuracy for name, width, _ in ROWS)
    say(
        console,
        f"A beam that comes at test time only: {late - greedy:+.1f} points. Training with it: "
        f"{trained - late:+.1f} more.",
    )


def describe_example(console: Console, example: Example, tally: Tally) -> None:
    """Show the words of each reading, and then what happened character by character."""
    say(console, "")
    if example.recovered:
        say(
            console,
            "Of the short utterances, the model trained with the beam gets "
            f"{tally.beam} right in which the other one has two errors or more, also with a beam "
            f"of {WIDTH}; the other way round there are {tally.likelihood}. One of the "
            f"{tally.beam}:",
        )
    else:
        say(
            console,
            "There is no short utterance that the model trained with the beam gets right and in "
            "which the other one has two errors or more; this one comes closest:",
        )
    say(console, "")
    console.print(readings(example))
    console.print(steps(example))
    say(
        console,
        f"place: where the right labels so far were among the {WIDTH} hypotheses of the beam.",
    )
    lowest = example.beam.lowest
    if example.recovered and lowest > 1:
        say(
            console,
            f"Trained with the beam, the model has them in place {lowest} after character "
            f"{example.beam.places.index(lowest) + 1}, where greedy search would drop them. The "
            "beam keeps them, and at the end they are on top.",
        )


def readings(example: Example) -> Table:
    """The words that each reading comes to."""
    lines = Table.grid(padding=(0, 2))
    rows = {
        "right": example.labels,
        TITLES[LIKELIHOOD]: example.likelihood.labels,
        TITLES[BEAM]: example.beam.labels,
    }
    for title, labels in rows.items():
        words = words_of(example.characters, labels)
        lines.add_row(title, "  ".join(f"{word}/{tag}" for word, tag in words))
    return lines


def steps(example: Example) -> Table:
    """Labels and places after each character."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("heard")
    table.add_column("right")
    for title in (TITLES[LIKELIHOOD], TITLES[BEAM]):
        table.add_column(title)
        table.add_column("place", justify="right")
    for number, (character, right) in enumerate(
        zip(example.characters, example.labels, strict=True)
    ):
        cells = [Text(character), Text(right)]
        for reading in (example.likelihood, example.beam):
            cells += step(reading, number, right)
        table.add_row(*cells)
    return table


def step(reading: Reading, number: int, right: str) -> list[Text]:
    """A label, with a mark where it is wrong, and the place of the right labels."""
    label, place = reading.labels[number], reading.places[number]
    shown = Text(label) if label == right else Text(f"{label} (wrong)", style="red")
    return [shown, Text("lost", style="red") if place is None else Text(str(place))]


def conclude(console: Console, out: Path) -> None:
    """Say where things are, and what to try next."""
    say(console, "")
    grid = Table.grid(padding=(0, 2))
    for name, what in (
        ("widths.png, widths.svg", "labels right by the width of the beam"),
        ("results.json", "all numbers, the split and the example"),
        (f"{LIKELIHOOD}/, {BEAM}/", "the two trained models"),
        ("train.tsv, dev.tsv, test.tsv", "the data"),
    ):
        grid.add_row(f"  {name}", what)
    console.print(f"In {out}:", highlight=False, markup=False, soft_wrap=True)
    console.print(grid)
    say(console, "")
    say(console, "Next:")
    for command in (
        f"{program()} predict {out / BEAM} --text 側邊冇乜嘢人",
        f"{program()} inspect {out / BEAM} {out / 'test.tsv'} --against {out / LIKELIHOOD}",
        f"{program()} report {out / BEAM} --test {out / 'test.tsv'}",
        f"{program()} evaluate {out / BEAM} {out / 'test.tsv'} --width 1,8,32",
        f"{program()} train tag --help",
    ):
        console.print(f"  {command}", highlight=False, markup=False, soft_wrap=True)


def count(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
