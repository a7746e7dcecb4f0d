"""A whole task of its own: put the letters of a word in order. Importing this registers it.

It shares nothing with the tasks of the library but the interfaces: its space is a graph of Python
objects, its model is linear, and its data are lines of text.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import ClassVar, Literal

import torch

import beamlearn as bl
from beamlearn.data.text import DataError, read_lines
from beamlearn.evaluation.error_profile import ErrorProfile
from beamlearn.evaluation.metric import Metric
from beamlearn.tasks import settings
from beamlearn.tasks.decoding import evaluated, json_lines, search
from beamlearn.tasks.registry import TASKS, TaskEntry
from beamlearn.tasks.task import Answering, TaskSpec


class SorterSettings(settings.ModelSettings):
    size: int = 256
    """How many places there are for pairs of letters."""


class SortingExperiment(settings.Experiment):
    group: ClassVar[str] = "sorter"
    task: Literal["sort"] = "sort"
    data: settings.Files | None = None
    sorter: SorterSettings = SorterSettings()


def sorting(letters):
    return bl.GraphSpace(
        ("", letters),
        lambda node: [(node[0] + x, node[1].replace(x, "", 1)) for x in node[1]],
        cost=lambda path: sum(a != b for a, b in zip(path[-1][0], sorted(letters), strict=True)),
    )


def features(path):
    word, left = path[-1]
    return {a + b: 1.0 for i, a in enumerate(word) for b in word[i + 1 :] + left}


class Sorter:
    mixture = None

    def __init__(self, chosen):
        self.settings = chosen
        self.scorer = bl.LinearScorer(features, size=chosen.size)
        self.scorer.accumulate = False

    def vocabulary(self):
        return {}

    def space(self, batch):
        return bl.GraphTask(sorting).space(batch)


@dataclass(frozen=True)
class Words:
    lines: list[str]

    def __len__(self):
        return len(self.lines)

    @property
    def words(self):
        return [list(line) for line in self.lines]

    @property
    def digest(self):
        return blake2b("\n".join(self.lines).encode(), digest_size=8).hexdigest()

    def take(self, places):
        return Words([self.lines[place] for place in places])


@dataclass(frozen=True)
class SortingReport:
    width: int
    evaluation: bl.Evaluation
    profile: ErrorProfile
    sorted: float

    def to_json(self):
        return {
            "width": self.width,
            "sorted": self.sorted,
            "cost": self.evaluation.cost,
            "increases_per_example": self.evaluation.increases_per_example,
            "search_error_rate": self.evaluation.search_error_rate,
        }


@dataclass(frozen=True)
class SortingAnswering(Answering):
    def words(self, window):
        return [line.strip() for line in window.lines() if line.strip()]

    def sentences(self, window):
        return len(self.words(window))

    def check(self, window):
        for number, word in enumerate(window.lines(), window.start.line):
            if word.strip() and not word.strip().isalpha():
                raise DataError(f"{window.name}:{number}: Expected letters, got {word!r}; drop it.")

    def answer(self, model, window, request):
        self.check(window)
        words = list(request.progress(self.words(window), window.sentences, "sorting"))
        found = search(model, words, request.width)
        texts = [SORTING.spell(model, output) for output in found.outputs]
        if request.as_json:
            return json_lines({"sorted": text} for text in texts)
        return "".join(f"{text}\n" for text in texts)


class SortingTask(TaskSpec):
    name, experiment, unit, symbols = "sort", SortingExperiment, "letters", "letters"
    metrics = (Metric("sorted", "sorted words"),)
    columns: ClassVar = {"sorted": "sorted words", "search_error_rate": "search errors"}

    def read(self, path, experiment):
        words = Words([line.strip() for line in read_lines(path) if line.strip()])
        for number, word in enumerate(words.lines, 1):
            if not word.isalpha():
                raise DataError(f"{path}:{number}: Expected letters, got {word!r}; remove it.")
        return words

    def build(self, experiment, train, seed, device):
        return Sorter(experiment.sorter)

    def rebuild(self, experiment, vocabulary, device):
        return Sorter(experiment.sorter)

    def check_warm_start(self, model, train, source):
        pass  # any letters can be sorted

    def examples(self, model, data):
        return data.lines

    def sample(self, model):
        return "ba"

    def describe_data(self, model, examples):
        return f"{examples} words"

    def describe_validation(self, found, validation):
        return f"{int((found.costs > 0).sum())} words not sorted"

    def describe_result(self, result):
        return f"sorted {result['sorted']:.0%}"

    def spell(self, model, output):
        return output[-1][0]

    def read_labeled(self, file, model, experiment, options):
        return self.read(file, experiment)

    def sentence_unit(self, options):
        return "line"

    def answering(self, model, experiment, request, opening):
        return SortingAnswering()

    def report(self, model, data, width):
        found = evaluated(model, data.lines, width)
        right = found.costs == 0
        sure = torch.ones(len(right))
        return SortingReport(
            width, found, ErrorProfile.of(width, found, sure, right), float(right.double().mean())
        )


SORTING = SortingTask()
TASKS["sort"] = TaskEntry(
    name="sort",
    summary="a sorter of letters",
    experiment=SortingExperiment,
    spec=SORTING,
    files="txt",
    examples=("--train words.txt --out runs/sorter",),
)
