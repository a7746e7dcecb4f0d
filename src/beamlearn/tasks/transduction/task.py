"""Transduction, as commands and estimators see it."""

from collections.abc import Mapping, Sequence, Sized
from pathlib import Path
from typing import Any, final

from ...data.packed import Packed
from ...data.windows import Unit, Window
from ...evaluation.evaluate import Evaluation
from ...evaluation.marked import Marked
from ...evaluation.metric import Metric
from ...plural import counted
from ...training.batches import LazyExamples
from ...training.settings import SettingsError
from ..task import Answering, Options, PredictionRequest, Subject, TaskSpec
from .lengths import check_lengths, check_source, check_sources, source_lengths
from .marking import marked
from .matching import matching
from .model import Transducer, scorer_of
from .pairs import Pairs, packed_pairs, read_pairs
from .predict import TransductionAnswering, labeled
from .pretrained import adapted, rebuilt
from .report import TransductionReport, report
from .settings import TransducerSettings, TransductionExperiment
from .space import TransductionExample
from .symbols import Symbols
from .tokens import Characters
from .transduction_model import TransductionModel


@final
class TransductionTask(TaskSpec[TransductionExperiment, Pairs, TransductionModel]):
    """A sequence for each sequence."""

    name = "transduce"
    experiment = TransductionExperiment
    unit = "tokens"
    symbols = "symbols of sources and targets"
    metrics = (Metric("wer", "wrong outputs", lower=True),)
    columns: Mapping[str, str] = {
        "wer": "wrong outputs",
        "cer": "token errors",
        "oracle_wer": "no right output in the beam",
        "bleu": "BLEU",
        "chrf": "chrF",
        "increases_per_example": "cost increases / source",
        "search_error_rate": "search errors",
        "calibration_error": "calibration error",
        "sources_per_second": "sources/s",
        "words_per_second": "tokens/s",
    }
    options = frozenset({"references"})
    prediction_options = frozenset({"pattern"})

    def read(self, path: str, experiment: TransductionExperiment) -> Pairs:
        return read_pairs(path, experiment.references)

    def read_packed(self, path: str, experiment: TransductionExperiment, cache: Path) -> Pairs:
        return packed_pairs(path, experiment.references, cache)

    def build(
        self, experiment: TransductionExperiment, train: Pairs, seed: int, device: str
    ) -> TransductionModel:
        settings, model = experiment.transducer, adapted(experiment.transducer, device)
        if model is None:
            model = Transducer.build(
                settings, train.sources, train.references, seed=seed, device=device
            )
        check_lengths(model, train)
        return model

    def rebuild(
        self, experiment: TransductionExperiment, vocabulary: Mapping[str, Any], device: str
    ) -> TransductionModel:
        settings = experiment.transducer
        if (model := rebuilt(settings, vocabulary, device)) is not None:
            return model
        symbols = Symbols.from_json(vocabulary)
        return Transducer(settings, symbols, scorer_of(settings, symbols), device)

    def adopt(self, folder: Path, device: str) -> tuple[TransductionModel, TransductionExperiment]:
        settings = TransducerSettings(hf=str(folder))
        experiment = TransductionExperiment(data=None, transducer=settings).resolved()
        model = adapted(experiment.transducer, device)
        assert model is not None  # as there is a folder
        model.scorer.eval()
        return model, experiment

    def check_warm_start(self, model: TransductionModel, train: Pairs, source: str) -> None:
        check_lengths(model, train)
        if model.settings.target_min_count > 1:
            return
        target, known = model.symbols.target, model.symbols.target_numbers
        for place, several in zip(train.places, train.references, strict=True):
            for token in (token for text in several for token in target.cut(text)):
                if token not in known:
                    raise SettingsError(
                        f"`warm_start`: {source} must know every token of the training data, but "
                        f"it has no {token!r} as in {place}; train it on the same data."
                    )

    def examples(self, model: TransductionModel, data: Pairs) -> Sequence[Sized]:
        def encoded(place: int) -> TransductionExample:
            return model.encode(data.sources[place], data.references[place])

        if isinstance(data.sources, Packed):
            return LazyExamples(encoded, source_lengths(model, data))
        found = [encoded(place) for place in range(len(data))]
        check_sources(model, found, data.places)
        return found

    def sample(self, model: TransductionModel) -> TransductionExample:
        return model.encode("a", ["a"])

    def validation_loss(
        self, model: TransductionModel, found: Evaluation, scores: Mapping[Metric, float]
    ) -> float:
        """The share of wrong outputs; the cost where words or subwords make few of them right."""
        settings = model.settings
        letters = settings.target_tokens == "characters" and not settings.pretrained
        if not letters or settings.rolls_out or settings.cost in ("bleu", "chrf"):
            return found.cost
        return float((found.costs > 0).double().mean())

    def describe_validation(self, found: Evaluation, validation: Pairs) -> str:
        share = float((found.costs > 0).double().mean())
        return f"wrong outputs {share:.2%}, mean cost {found.cost:.3f}"

    def subject(self, model: TransductionModel, data: Pairs, number: int) -> Subject:
        source, references = data.sources[number], data.references[number]
        example, right = model.encode(source, references), " | ".join(references)
        return Subject(example, source, right, references=tuple(references))

    def typed(self, model: TransductionModel, text: str, right: str | None) -> Subject:
        tokens = [] if right is None else model.symbols.target.cut(right)
        if tokens and not model.symbols.target_numbers.keys() & set(tokens):
            raise ValueError(
                f"The right output must have tokens that the model can write, but of {right!r} it "
                f"knows none ({tokens[0]!r} is one); separate them as the training data does."
            )
        references = () if right is None else (right,)
        example = model.encode(text, references)
        check_source(model, example, "The input")
        return Subject(example, text, right, references=references)

    def spell(self, model: TransductionModel, output: Sequence[int]) -> str:
        return model.text(output)

    def marked(self, model: TransductionModel, subject: Subject, output: str) -> Marked:
        """The characters or words that differ from the nearest reference, by fewest edits."""
        letters = isinstance(model.symbols.target, Characters)
        return marked(output, subject.references, letters=letters)

    def describe_data(self, model: TransductionModel, examples: int) -> str:
        symbols = model.symbols
        return (
            f"{counted(examples, 'pair')}, source symbols: {len(symbols.source_symbols)}, "
            f"target tokens: {len(symbols.target_tokens)}"
        )

    def describe_result(self, result: Mapping[str, Any]) -> str:
        return f"wrong outputs {result['wer']:.2%}, token errors {result['cer']:.2%}"

    def read_labeled(
        self,
        file: str,
        model: TransductionModel,
        experiment: TransductionExperiment,
        options: Options,
    ) -> Pairs:
        return labeled(file, model, experiment, options)

    def sentence_unit(self, options: Options) -> Unit:
        return "line"

    def answering(
        self,
        model: TransductionModel,
        experiment: TransductionExperiment,
        request: PredictionRequest,
        opening: Window,
    ) -> Answering:
        matching(model, request.options.get("pattern"))  # so that a wrong one is refused first
        return TransductionAnswering()

    def report(self, model: TransductionModel, data: Pairs, width: int) -> TransductionReport:
        return report(model, data.sources, data.references, width)


TRANSDUCTION = TransductionTask()
