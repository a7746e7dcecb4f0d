"""Ranking, as commands see it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

from ...data.windows import Unit, Window
from ...evaluation.evaluate import Evaluation
from ...evaluation.metric import Metric
from ...plural import counted
from ...training.settings import SettingsError
from ..question import Question, Sent, blanked
from ..settings import Files
from ..task import Answering, Options, PredictionRequest, Subject, TaskSpec
from .histories import Histories, read_histories
from .item_ids import ItemIds
from .model import Ranker
from .positions import RankingExample
from .predict import answering, check_typed
from .report import RankingReport, report, validated_lists
from .settings import RankingExperiment

LIST = 20
"""The beam that validates has room for a list of ten and as many rivals."""
LEAST = 1e-6
"""What NDCG counts as where no list has the right item."""
NDCG = Metric("ndcg_at_10", "NDCG at 10")
RECALL = Metric("recall_at_10", "recall at 10")


@final
class RankingTask(TaskSpec[RankingExperiment, Histories, Ranker]):
    """The next item for each history."""

    name = "rank"
    experiment = RankingExperiment
    unit = "tokens"
    symbols = "items and their ids"
    place = "user"  # of typed histories: the number of the line
    metrics = (NDCG, RECALL)
    columns: Mapping[str, str] = {
        "recall_at_5": "recall at 5",
        "recall_at_10": "recall at 10",
        "ndcg_at_5": "NDCG at 5",
        "ndcg_at_10": "NDCG at 10",
        "mrr": "mean reciprocal rank",
        "cost": "wrong item on top",
        "increases_per_example": "cost increases / user",
        "search_error_rate": "search errors",
        "calibration_error": "calibration error",
        "users_per_second": "users/s",
    }

    def read(self, path: str, experiment: RankingExperiment) -> Histories:
        return read_histories(path, catalogue(experiment))

    def split(
        self, files: Files, experiment: RankingExperiment, cache: Path | None = None
    ) -> tuple[Histories, Histories]:
        """Leave one out, unless other users are there to validate on."""
        data = self.read(files.train, experiment)
        if files.limit is not None:
            data = data.take(range(min(files.limit, len(data))))
        train, validation = data.split()
        if not len(train):
            raise SettingsError(
                f"{files.train}: A user must have at least 4 items to learn from, got no such user."
            )
        return train, validation if files.dev is None else self.read(files.dev, experiment)

    def build(
        self, experiment: RankingExperiment, train: Histories, seed: int, device: str
    ) -> Ranker:
        return Ranker.build(experiment.ranker, train.ids, seed, device)

    def rebuild(
        self, experiment: RankingExperiment, vocabulary: Mapping[str, Any], device: str
    ) -> Ranker:
        return Ranker(experiment.ranker, ItemIds.from_json(vocabulary), device)

    def check_warm_start(self, model: Ranker, train: Histories, source: str) -> None:
        if model.ids != train.ids:
            raise SettingsError(
                f"`warm_start`: {source} must have the same items with the same ids as the "
                "training data, but it has others; train it with the same `ids`."
            )

    def examples(self, model: Ranker, data: Histories) -> list[RankingExample]:
        return [model.encode(items, every=data.every) for items in data.items]

    def sample(self, model: Ranker) -> RankingExample:
        return model.encode(model.ids.items[:1] * 2)

    def validation_scores(
        self, model: Ranker, validation: Histories, width: int
    ) -> Mapping[Metric, float]:
        found = validated_lists(model, self.examples(model, validation), max(width, LIST))
        return {metric: found[metric.name] for metric in self.metrics}

    def validation_loss(
        self, model: Ranker, found: Evaluation, scores: Mapping[Metric, float]
    ) -> float:
        """1 / NDCG, so that a loss that is larger by 1 % is one of NDCG, which is small."""
        return 1 / max(scores[NDCG], LEAST)

    def describe_validation(self, found: Evaluation, validation: Histories) -> str:
        return f"right item on top {1 - found.cost:.2%}"

    def describe_data(self, model: Ranker, examples: int) -> str:
        index = model.index
        return f"{counted(examples, 'user')}, items: {len(index):,}, nodes: {index.trie.nodes:,}"

    def describe_result(self, result: Mapping[str, Any]) -> str:
        return f"recall at 10 {result['recall_at_10']:.4f}, NDCG at 10 {result['ndcg_at_10']:.4f}"

    def subject(self, model: Ranker, data: Histories, number: int) -> Subject:
        return looked_at(model, data.items[number])

    def typed(self, model: Ranker, text: str, right: str | None) -> Subject:
        items = text.split()
        check_typed(items, model.ids)
        if right is None:
            return Subject(model.ahead(items), " ".join(items))
        check_typed([right], model.ids)
        return looked_at(model, [*items, right])

    def spell(self, model: Ranker, output: Sequence[int]) -> str:
        return model.ids.spell(output)

    def read_labeled(
        self, file: str, model: Ranker, experiment: RankingExperiment, options: Options
    ) -> Histories:
        return read_histories(file, model.ids, fewest=2)

    def sentence_unit(self, options: Options) -> Unit:
        """A JSON object has no blank lines, and is one block."""
        return "block"

    def question(self, sent: Sent) -> Question:
        return blanked(sent)

    def answering(
        self,
        model: Ranker,
        experiment: RankingExperiment,
        request: PredictionRequest,
        opening: Window,
    ) -> Answering:
        if request.sample:
            raise SettingsError(
                "`sample` is for taggers, parsers and transducers, got a ranker; list the best "
                "items with `nbest`."
            )
        return answering(opening)

    def report(self, model: Ranker, data: Histories, width: int) -> RankingReport:
        return report(model, self.examples(model, data), width)


def catalogue(experiment: RankingExperiment) -> ItemIds:
    """The ids that an experiment names a file of."""
    assert experiment.data is not None  # as there is no estimator
    return ItemIds.read(experiment.data.ids)


def looked_at(model: Ranker, items: Sequence[str]) -> Subject:
    """A history whose last item is the right one."""
    right = model.ids.ids[model.ids.numbers[items[-1]]]
    return Subject(
        model.encode(items),
        " ".join(items[:-1]),
        " ".join(right),
        headings=tuple(f"token {place}" for place in range(1, len(right) + 1)),
        aligned=True,
    )


RANKING = RankingTask()
