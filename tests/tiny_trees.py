"""Parsers and trees so small that a training takes a fraction of a second."""

import random
from functools import partial

from beamlearn.tasks import experiment as experiments
from beamlearn.tasks.parsing.model import Parser
from beamlearn.tasks.parsing.sentences import ParsedSentences
from beamlearn.tasks.parsing.settings import ParserSettings, ParsingExperiment
from beamlearn.tasks.parsing.task import PARSING
from beamlearn.tasks.parsing.tree import Tree
from beamlearn.tasks.settings import TextFiles
from beamlearn.training.settings import Learning

NETWORK = {
    "min_count": 1,
    "word_size": 8,
    "affix_length": 1,
    "affix_size": 4,
    "max_characters": 3,
    "character_size": 4,
    "encoder_size": 8,
    "encoder_layers": 1,
    "hidden_size": 12,
    "history_size": 6,
    "action_size": 4,
    "dropout": 0.2,
    "mark_count": 1,
}
SYSTEMS = ("arc-hybrid", "arc-eager", "arc-standard", "covington")
begin, resume, load = (
    partial(function, PARSING)
    for function in (experiments.begin, experiments.resume, experiments.load)
)


def sentences(count, seed=0, tagged=False):
    """Somebody sees somebody; in every fourth sentence whom comes first, and its arc crosses."""
    draw = random.Random(seed)
    rows = [sentence(draw, crossing=number % 4 == 3) for number in range(count)]
    words, tags, heads, relations = zip(*rows, strict=True)
    trees = [Tree(tuple(h), tuple(r)) for h, r in zip(heads, relations, strict=True)]
    return ParsedSentences(list(words), trees, list(tags) if tagged else None)


def sentence(draw, crossing=False):
    """Words, tags, heads and relations."""
    nouns, verb = draw.choices(["dog", "man", "cat"], k=2), draw.choice(["saw", "met"])
    if crossing:  # "of whom the dog saw a man": whom hangs below man, across the verb
        forms = ["whom", "the", nouns[0], verb, "a", nouns[1]]
        return (
            forms,
            ["PRON", "DET", "NOUN", "VERB", "DET", "NOUN"],
            [6, 3, 4, 0, 6, 4],
            ["nmod:of", "det", "nsubj", "root", "det", "obj"],
        )
    forms, tags = ["the", nouns[0], verb], ["DET", "NOUN", "VERB"]
    heads, relations = [2, 3, 0], ["det", "nsubj", "root"]
    if draw.random() < 0.5:
        forms, tags = [*forms, nouns[1]], [*tags, "NOUN"]
        heads, relations = [*heads, 3], [*relations, "obj"]
    if draw.random() < 0.5:
        forms, tags = [*forms, "."], [*tags, "PUNCT"]
        heads, relations = [*heads, 3], [*relations, "punct"]
    return forms, tags, heads, relations


def conllu(data, blind=False):
    """Sentences as CoNLL-U; a blind test has no trees."""
    lines = []
    for place, (words, tree) in enumerate(zip(data.words, data.trees, strict=True)):
        tags = "_" * len(words) if data.tags is None else data.tags[place]
        lines.append(f"# sent_id = {place}")
        for number, (word, tag) in enumerate(zip(words, tags, strict=True), 1):
            arc = [str(tree.heads[number - 1]), tree.relations[number - 1]]
            fields = [str(number), word, "_", tag, "_", "_", *("_" * 2 if blind else arc), "_", "_"]
            lines.append("\t".join(fields))
        lines.append("")
    return "\n".join([*lines, ""])


def small(data=None, seed=0, **settings):
    """A parser with random weights, in evaluation mode."""
    chosen = ParserSettings(**{**NETWORK, **settings})
    parser = Parser.build(chosen, sentences(8) if data is None else data, seed=seed)
    parser.scorer.eval()
    return parser


def experiment(folder, train=12, network=(), warm_start=None, tagged=False, **learning):
    """An experiment with its file, which is written to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "train.conllu"
    path.write_text(conllu(sentences(train, tagged=tagged)), encoding="utf-8")
    chosen = {"width": 3, "batch_size": 4, "epochs": 2, "learning_rate": 0.03, **learning}
    return ParsingExperiment(
        data=TextFiles(train=str(path)),
        parser=ParserSettings(**{**NETWORK, **dict(network)}),
        learning=Learning(**chosen),
        warm_start=None if warm_start is None else str(warm_start),
    )
