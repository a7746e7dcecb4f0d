"""A small model of every task, ready to be served, with inputs that it can answer."""

import tiny
import tiny_catalogue
import tiny_pairs
import tiny_trees

from beamlearn.serving.served_model import ServedModel
from beamlearn.tasks.parsing.task import PARSING
from beamlearn.tasks.question import Words
from beamlearn.tasks.ranking.settings import RankerSettings, RankingExperiment, RankingFiles
from beamlearn.tasks.ranking.task import RANKING
from beamlearn.tasks.tagging.task import TAGGING
from beamlearn.tasks.task import PredictionRequest
from beamlearn.tasks.transduction.settings import TransductionExperiment
from beamlearn.tasks.transduction.task import TRANSDUCTION

REQUEST = PredictionRequest(width=3)


def served(task, experiment, precision="double", model=None, request=REQUEST):
    """A model with random weights."""
    if model is None:
        train, _ = task.split(experiment.data, experiment)
        model = task.build(experiment, train, seed=1, device="cpu")
    return ServedModel("small", task, model, experiment, request, precision)


def tagger(folder, **chosen):
    """With sentences of different lengths, some of them split."""
    texts = [" ".join(words) for words in tiny.sentences(9, seed=2).words]
    split = [Words(words) for words in tiny.sentences(4, seed=3).words]
    return served(TAGGING, tiny.experiment(folder), **chosen), [*texts, *split]


def parser(folder, tagged=False, **chosen):
    """One that looks at tags can be given words and tags alone."""
    experiment = tiny_trees.experiment(
        folder, tagged=tagged, network={"tags": "upos"} if tagged else {}
    )
    data = tiny_trees.sentences(9, seed=2, tagged=tagged)
    tags = data.tags or [None] * len(data.words)
    split = [Words(*pair) for pair in zip(data.words, tags, strict=True)]
    return served(PARSING, experiment, **chosen), split


def transducer(folder, **chosen):
    return served(TRANSDUCTION, tiny_pairs.experiment(folder), **chosen), tiny_pairs.sources(12)


def ranker(folder, **chosen):
    folder.mkdir(parents=True, exist_ok=True)
    inter, ids = map(str, tiny_catalogue.write(folder))
    experiment = RankingExperiment(
        data=RankingFiles(train=inter, ids=ids), ranker=RankerSettings(size=16)
    )
    histories = [Words([str(i) for i in range(start, 9)]) for start in range(9)]
    return served(RANKING, experiment, **chosen), [*histories, "twin 3 4"]


def hugging_face(folder, **chosen):
    import tiny_folders  # needs transformers

    model = tiny_folders.transducer("t5")
    experiment = TransductionExperiment(data=None, transducer=model.settings)
    texts = [" ".join(text) for text in tiny_pairs.sources(9)]
    return served(TRANSDUCTION, experiment, model=model, **chosen), texts


KINDS = {
    "tagger": tagger,
    "parser": parser,
    "transducer": transducer,
    "ranker": ranker,
    "hugging_face": hugging_face,
}
