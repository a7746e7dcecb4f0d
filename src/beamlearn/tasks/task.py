"""TaskSpec: what a task says of itself, so that every command can work with it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from ..data.text import DataError
from ..data.windows import Unit, Window
from ..evaluation.error_profile import ErrorProfile
from ..evaluation.evaluate import Evaluation
from ..evaluation.label_errors import LabelErrors
from ..evaluation.marked import Marked, unmarked
from ..evaluation.metric import Metric
from ..learning.iterates import Mixture
from ..search.scorer import Scorer
from ..search.space import SearchSpace
from .data import DataSet, is_cached, read_split
from .question import Question, Sent, line_of
from .settings import Experiment, Files, ModelSettings


@runtime_checkable
class Model(Protocol):
    """What is trained; to `learn` and `evaluate` it is the task."""

    mixture: Mixture | None
    """What it decodes with in place of the weights of its scorer, if anything."""

    @property
    def settings(self) -> ModelSettings:
        """What it is made of."""
        ...

    @property
    def scorer(self) -> Scorer:
        """What has the weights."""
        ...

    def vocabulary(self) -> dict[str, Any]:
        """Its symbols and their numbers, for vocabulary.json."""
        ...

    def space(self, batch: Any) -> SearchSpace[Any]:
        """The search space of a batch of examples."""
        ...


@runtime_checkable
class ExportableModel(Model, Protocol):
    """A model that another library can use; most cannot be."""

    def export(self, folder: Path, width: int) -> None:
        """Write it into a new folder, to be searched there with a beam of `width`."""
        ...


@runtime_checkable
class Report(Protocol):
    """How good a model is, at one beam width."""

    @property
    def width(self) -> int:
        """Of the beam."""
        ...

    @property
    def evaluation(self) -> Evaluation:
        """Example by example, in the order of the data."""
        ...

    @property
    def profile(self) -> ErrorProfile:
        """Where the model goes wrong."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The numbers that there are, `width` among them."""
        ...


@runtime_checkable
class LabeledReport(Report, Protocol):
    """A report that also says how well each label is found; those of other tasks need not."""

    @property
    def label_errors(self) -> LabelErrors:
        """Label by label."""
        ...


@dataclass(frozen=True)
class Ranges:
    """What bounds the losses of a linear model, whatever the input."""

    feature_norm: float
    """The largest norm of the features of one action."""
    actions: int
    """The most actions that a hypothesis has."""
    cost: float
    """By how much c* of two nodes can differ for each action in which they do."""


Arcs = Sequence[tuple[int, str]]
"""The head and the relation of each word; 0 is the root, and less than 0 no head."""


@dataclass(frozen=True)
class Subject:
    """An example to look at."""

    example: Sized
    """In numbers, as `space` takes them."""
    text: str
    """What people read."""
    right: str | None = None
    """The right output, where it is known."""
    headings: tuple[str, ...] = ()
    """What each step decides on, where that is known before the search."""
    aligned: bool = False
    """Do all outputs have equally many parts, each with the right one at its place?"""
    words: tuple[str, ...] = ()
    """What each part of an output is about, where outputs are aligned."""
    arcs: Arcs | None = None
    """The right arcs, where outputs are trees."""
    references: tuple[str, ...] = ()
    """The right outputs one by one, where there may be several."""


Options = Mapping[str, str]
"""What was chosen among the options that only some tasks have, by name."""
Progress = Callable[[Iterable[Any], int, str], Iterator[Any]]
"""The items as they come, of how many there are, under which title."""


def raise_refusal(sentence: str) -> None:
    """Let nothing be answered if something cannot be."""
    raise DataError(sentence)


@dataclass(frozen=True)
class PredictionRequest:
    """How to predict, and how to write it."""

    width: int
    nbest: int = 1
    """How many outputs to find for each example."""
    listing: bool = False
    """Write all of them, not only the best?"""
    sample: bool = False
    """Sample `width` different outputs in place of the best, and write them as JSON lines?"""
    seed: int = 0
    """What the samples depend on, beside the sentences and their numbers."""
    as_json: bool = False
    """Write JSON lines with confidences?"""
    options: Options = field(default_factory=dict)
    progress: Progress = lambda items, _total, _title: iter(items)
    """Shows how far the decoding is."""
    announce: Callable[[str], None] = lambda _sentence: None
    """Says what was decided about the input."""
    memory: int | None = None
    """How many bytes one search may need; None: any number."""
    refuse: Callable[[str], None] = raise_refusal
    """Says what has no answer, and why; the others are answered."""


class Answering(ABC):
    """How one input is read and answered, window by window.

    It is a small value, as it goes to every process that answers.
    """

    @abstractmethod
    def sentences(self, window: Window) -> int:
        """How many sentences a window has, counted without reading them."""

    @abstractmethod
    def check(self, window: Window) -> None:
        """Refuse what cannot be read, with its line."""

    def check_opening(self, model: Any, opening: Window) -> None:
        """Refuse an input of another kind, which its first sentences show."""
        self.check(opening)

    @abstractmethod
    def answer(self, model: Any, window: Window, request: PredictionRequest) -> str:
        """What is written for a window; if asked for JSON, one line for each sentence."""


E = TypeVar("E", bound=Experiment)
D = TypeVar("D", bound=DataSet)
M = TypeVar("M", bound=Model)


class TaskSpec(ABC, Generic[E, D, M]):
    """A task with its experiments `E`, data sets `D` and models `M`."""

    name: str
    """The `task` of its experiments."""
    experiment: type[E]
    unit: str
    """What a step of a search decides on."""
    symbols: str
    """What the vocabulary of a model holds."""
    metrics: Sequence[Metric] = ()
    """The numbers of a report that matter most: the first that a report has is the one."""
    columns: Mapping[str, str]
    """The numbers of a report that tables show, in this order, and their labels."""
    options: frozenset[str] = frozenset()
    """Options of `predict` and `read_labeled` that it has and other tasks may not have."""
    prediction_options: frozenset[str] = frozenset()
    """Options that only `predict` has."""
    place: str | None = None
    """The field of its JSON lines that says nothing of an input but its place, if it has one."""
    step_cost: float | None = None
    """Where all outputs of an input take equally many steps: the most that an output can cost,
    for each of its steps."""

    @abstractmethod
    def read(self, path: str, experiment: E) -> D:
        """Read a file as the files of an experiment are read."""

    def read_packed(self, path: str, experiment: E, cache: Path) -> D:
        """The same for a file that may be larger than memory, with a folder for what it says.

        By default it is read into memory.
        """
        return self.read(path, experiment)

    def split(self, files: Files, experiment: E, cache: Path | None = None) -> tuple[D, D]:
        """The training set and the validation set; by default every example is in one of them.

        A large training file is kept in the folder `cache`.
        """

        def read(path: str) -> D:
            if cache is not None and path == files.train and is_cached(files):
                return self.read_packed(path, experiment, cache)
            return self.read(path, experiment)

        return read_split(files, read)

    @abstractmethod
    def build(self, experiment: E, train: D, seed: int, device: str) -> M:
        """A new model for a training set, with random weights."""

    @abstractmethod
    def rebuild(self, experiment: E, vocabulary: Mapping[str, Any], device: str) -> M:
        """A model before its weights are loaded; RuntimeError or ValueError if it cannot be."""

    def adopt(self, folder: Path, device: str) -> tuple[M, E]:
        """A model of another library as it is, and the experiment that would fine-tune it."""
        raise DataError(f"The task {self.name!r} takes no models of other libraries, got {folder}.")

    @abstractmethod
    def check_warm_start(self, model: M, train: D, source: str) -> None:
        """Refuse a warm start from the run `source` that cannot learn from the training set."""

    @abstractmethod
    def examples(self, model: M, data: D) -> Sequence[Sized]:
        """The data in numbers, for batches."""

    def sample(self, model: M) -> Sized | None:
        """Any example with a right answer, to ask its space whether the oracle is exact.

        Without one, Theorem 2 is not stated of its runs.
        """
        return None

    def ranges(self, model: M) -> Ranges | None:
        """What bounds its losses, if anything is known."""
        return None

    @abstractmethod
    def describe_data(self, model: M, examples: int) -> str:
        """What there is to learn from so many examples, in words."""

    def validation_scores(self, model: M, validation: D, width: int) -> Mapping[Metric, float]:
        """Numbers to show and to log at each validation beside the cost; by default none."""
        return {}

    def validation_loss(self, model: M, found: Evaluation, scores: Mapping[Metric, float]) -> float:
        """What the best epoch is chosen by: less is better. By default it is the mean cost.

        `scores` are those of `validation_scores`.
        """
        return found.cost

    @abstractmethod
    def describe_validation(self, found: Evaluation, validation: D) -> str:
        """What was found on the validation set, in words."""

    @abstractmethod
    def describe_result(self, result: Mapping[str, Any]) -> str:
        """The numbers of a report in JSON that matter most, in words."""

    def subject(self, model: M, data: D, number: int) -> Subject:
        """One example of the data, to look at."""
        (example,) = self.examples(model, data.take([number]))
        return Subject(example, " ".join(data.words[number]), "(that of the file)")

    def typed(self, model: M, text: str, right: str | None) -> Subject:
        """An input that somebody has typed, maybe with the right output, to look at."""
        raise DataError(f"The task {self.name!r} takes no typed input; give a file.")

    def spell(self, model: M, output: Any) -> str:
        """An output of a space, as people read it."""
        return str(output)

    def marked(self, model: M, subject: Subject, output: str) -> Marked:
        """An output as `spell` gives it beside the right one, with what differs marked."""
        parts = output.split()
        right = subject.right.split() if subject.aligned and subject.right is not None else []
        if len(right) == len(parts):
            return Marked.of(zip(right, parts, strict=True))
        return unmarked(subject.right, parts if subject.aligned else [output])

    def arcs(self, model: M, output: Any) -> Arcs | None:
        """The arcs of an output of a space, where outputs are trees."""
        return None

    @abstractmethod
    def read_labeled(self, file: str, model: M, experiment: E, options: Options) -> D:
        """Data to test a model on; refuse what the model cannot be compared with."""

    @abstractmethod
    def sentence_unit(self, options: Options) -> Unit:
        """What a sentence is in the input of `predict`, so that it can be cut."""

    def question(self, sent: Sent) -> Question:
        """One input that was sent to a server, as a text for `answering`; by default a line."""
        return line_of(sent)

    @abstractmethod
    def answering(
        self, model: M, experiment: E, request: PredictionRequest, opening: Window
    ) -> Answering:
        """How to answer an input that begins with this window."""

    @abstractmethod
    def report(self, model: M, data: D, width: int) -> Report:
        """Decode data with a beam of `width` and compare with what is right."""
