"""From the first window to the last: answer, write, and tell how far it is."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import typer
from rich.console import Console

from ...data.text import print_text
from ...data.windows import START, Mark, Window, windows
from ...prediction.answered import answered, answered_here
from ...prediction.answerer import Answer, Answerer
from ...prediction.input import Input
from ...prediction.job import Job
from ...prediction.journal import BEGUN, Done, Identity
from ...prediction.outputs import Output, Printed, Saved, alone
from ...prediction.part import bounds
from ...prediction.resuming import left_behind
from ...prediction.target import Target
from ...prediction.workers import Workers
from ...tasks.task import Model
from ..console import say
from ..flags import with_flags
from ..prediction_display import PredictionDisplay

FLAGS = {
    "text": "--text",
    "tokenizer": "--tokenizer",
    "width": "--width",
    "pattern": "--pattern",
    "max_memory": "--max-memory",
    "resume": "--resume",
}
"""Of the settings that are named while predictions are made."""


class Speaker:
    """Says things on standard error."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)

    def announce(self, sentence: str) -> None:
        """Say what was decided, or what has no answer."""
        say(self.console, with_flags(ValueError(sentence), FLAGS))


@dataclass(frozen=True)
class Predicting:
    """All that is decided before the first window is answered."""

    model: Model
    job: Job
    input: Input
    target: Target
    workers: Workers
    identity: Identity | None
    """What a run that goes on must have in common with this one; None: none can."""
    speaker: Speaker
    live: bool

    def run(self, opened: Iterator[bytes]) -> None:
        """Answer the windows that are `opened` already, or those of a part or of a rest."""
        path = self.target.path
        with nullcontext() if path is None else alone(path):
            done = self._done(path)
            if done is None:
                self.speaker.announce(f"{path} is finished; to predict again, leave out `resume`.")
                return
            start, stop = self._bounds()
            if done == BEGUN:
                done = replace(done, mark=start)
            sentences = self.job.answering.sentences
            if done.mark == START and stop is None:
                rest = windows(self.input.name, opened, sentences)
            else:
                rest = self.input.windows(sentences, done.mark, stop)
            with output_of(path, self.target, self.identity, done, self.speaker.announce) as output:
                self._answer(rest, output, stop)
        self._end(output.done)

    def _done(self, path: Path | None) -> Done | None:
        if path is None or self.identity is None:
            return BEGUN
        return left_behind(path, self.target.bad, self.identity, self.target.resume)

    def _bounds(self) -> tuple[Mark, Mark | None]:
        if self.target.part is None:
            return START, None
        return bounds(self.target.part, self.input.marks(self.job.answering.sentences))

    def _answer(self, rest: Iterator[Window], output: Output, stop: Mark | None) -> None:
        total = self.input.bytes() if stop is None else stop.place
        done, console = output.done.mark.place, self.speaker.console
        with (
            PredictionDisplay(console, total, done, shown=not self.live) as display,
            closing(self._answers(rest, display)) as answers,
        ):
            for window, answer in answers:
                for sentence in answer.refused:
                    self.speaker.announce(sentence)
                output.take(answer, window.end)
                display.window(window.sentences, len(window.data))

    def _answers(
        self, rest: Iterator[Window], display: PredictionDisplay
    ) -> Generator[tuple[Window, Answer], None, None]:
        if self.workers.several:
            return answered(rest, self.job, self.workers.open, self.workers.count)
        progress = display.counting if display.shown else None
        return answered_here(rest, Answerer(self.model, self.job, progress))

    def _end(self, done: Done) -> None:
        """Say what has no answer."""
        if done.skipped:
            these = "1 sentence was" if done.skipped == 1 else f"{done.skipped:,} sentences were"
            self.speaker.announce(f"{these} skipped; see {self.target.bad}.")
        if done.skipped or done.refused:
            raise typer.Exit(2)


@contextmanager
def output_of(
    path: Path | None,
    target: Target,
    identity: Identity | None,
    done: Done,
    announce: Callable[[str], None],
) -> Iterator[Output]:
    """Where answers go; finished at the end, and otherwise left for whoever goes on with it."""
    with put_to(target.output) if path is None else nullcontext(print_text) as put:
        output: Output = (
            Printed(target.bad, put)
            if path is None
            else Saved(path, target.bad, identity, done, keep_journal=target.keeps_journal)
        )
        try:
            yield output
            output.finish()
        except BaseException:
            if output.abandon():
                announce(f"What is answered so far is kept beside {path}; go on with `resume`.")
            raise


@contextmanager
def put_to(output: str) -> Iterator[Callable[[str], object]]:
    """What writes to standard output, or to a pipe or a device, which are no files."""
    if output == "-":
        yield print_text
        return
    with open(output, "wb") as file:
        yield lambda text: file.write(text.encode("utf-8"))
