"""The tasks there are: the one place to add another."""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..check import unknown
from .parsing.settings import ParsingExperiment
from .ranking.settings import RankingExperiment
from .settings import Experiment
from .tagging.settings import TaggingExperiment
from .transduction.settings import TransductionExperiment

if TYPE_CHECKING:
    from .task import TaskSpec


@dataclass(frozen=True, eq=False)  # a spec need not be hashable
class TaskEntry:
    """A task and its settings. The rest, and torch with it, is loaded when the task is used."""

    name: str
    """Its name in commands, as in `beamlearn train NAME`, and in run folders."""
    summary: str
    """What it trains, as in "Train a tagger, ..."."""
    experiment: type[Experiment]
    spec: "str | TaskSpec[Any, Any, Any]"
    """A `TaskSpec`, or where to import it from, as module:name."""
    files: str
    """The extension of its data files, for examples."""
    examples: tuple[str, ...]
    """Options of `train`, for examples in its help."""
    usual: tuple[str, ...] = ()
    """The settings of the task that people choose first, for the short help."""

    def load(self) -> "TaskSpec[Any, Any, Any]":
        """What can be done with the task."""
        if not isinstance(self.spec, str):
            return self.spec
        module, _, name = self.spec.partition(":")
        spec: TaskSpec[Any, Any, Any] = getattr(import_module(module), name)
        return spec


TASKS: dict[str, TaskEntry] = {
    entry.name: entry
    for entry in (
        TaskEntry(
            name="tag",
            summary="a tagger, which gives each word a label",
            experiment=TaggingExperiment,
            spec="beamlearn.tasks.tagging.task:TAGGING",
            files="conllu",
            examples=(
                "--train train.conllu --dev dev.conllu --column upos --out runs/pos",
                "--train ner.tsv --column 2 --constrained --width 1:8 --out runs/ner",
                "--train train.conllu --lookahead 1 --out runs/stream",
                "--out runs/pos --resume",
            ),
            usual=("column", "lookahead", "constrained"),
        ),
        TaskEntry(
            name="parse",
            summary="a dependency parser, which gives each word a head and a relation",
            experiment=ParsingExperiment,
            spec="beamlearn.tasks.parsing.task:PARSING",
            files="conllu",
            examples=(
                "--train train.conllu --dev dev.conllu --out runs/parser",
                "--train train.conllu --tags upos --system arc-eager --out runs/eager",
                "--out runs/parser --resume",
            ),
            usual=("tags", "system"),
        ),
        TaskEntry(
            name="transduce",
            summary="a transducer, which turns strings into other strings",
            experiment=TransductionExperiment,
            spec="beamlearn.tasks.transduction.task:TRANSDUCTION",
            files="tsv",
            examples=(
                "--train words.tsv --dev dev.tsv --target-tokens words --out runs/g2p",
                "--train names.tsv --model transformer --layers 2 --out runs/names",
                "--train pairs.tsv --hf models/t5-small --out runs/t5",
                "--out runs/g2p --resume",
            ),
            usual=("source_tokens", "target_tokens", "hf"),
        ),
        TaskEntry(
            name="rank",
            summary="a ranker, which finds the next items of a user among the ids of a catalogue",
            experiment=RankingExperiment,
            spec="beamlearn.tasks.ranking.task:RANKING",
            files="json.gz",
            examples=(
                "--train inter.json.gz --ids ids.json.gz --out runs/next",
                "--train inter.json --ids ids.json --size 64 --epochs 20 --out runs/small",
                "--out runs/next --resume",
            ),
            usual=("ids",),
        ),
    )
}
"""Every task by its name."""


def task_named(name: str) -> "TaskSpec[Any, Any, Any]":
    """The task of that name; a ValueError with the nearest name if there is none."""
    if name not in TASKS:
        raise ValueError(unknown(TASKS, name, "task"))
    return TASKS[name].load()
