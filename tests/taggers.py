"""Sentences, taggings and taggers, as small as they can be."""

from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.nn.words import WordVectors
from beamlearn.tasks.tagging.bio import legal_pairs
from beamlearn.tasks.tagging.model import Tagger
from beamlearn.tasks.tagging.network import NeuralTagger
from beamlearn.tasks.tagging.settings import TaggerSettings
from beamlearn.tasks.tagging.space import UNSEEN, TaggingExample, TaggingSpace

BIO = ("B-X", "B-Y", "I-X", "I-Y", "O")
BIO_RULES = [rule.tolist() for rule in legal_pairs(BIO)]
FORMS = 6


def encoded(forms, gold=None):
    """A sentence of one feature per word."""
    features = torch.tensor(forms, dtype=torch.long).view(len(forms), 1)
    return TaggingExample(features, None if gold is None else torch.tensor(gold, dtype=torch.long))


@dataclass(frozen=True)
class Corpus:
    """Sentences with right tags (or `UNSEEN` ones), and which tags may follow which."""

    gold: list
    forms: list
    tags: int
    pairs: list | None = None
    first: list | None = None

    def __len__(self):
        return len(self.gold)

    def space(self):
        pairs, first = (x and torch.tensor(x) for x in (self.pairs, self.first))
        both = zip(self.forms, self.gold, strict=True)
        return TaggingSpace([encoded(f, g) for f, g in both], self.tags, pairs, first)

    def take(self, places):
        gold, forms = ([x[i] for i in places] for x in (self.gold, self.forms))
        return replace(self, gold=gold, forms=forms)

    def legal(self, tags):
        if tags and self.first and not self.first[tags[0]]:
            return False
        return not self.pairs or all(self.pairs[p][q] for p, q in pairwise(tags))

    def completion_cost(self, example, prefix):
        """The least Hamming cost of all legal taggings that begin with `prefix`."""
        gold, level = self.gold[example], [list(prefix)]
        for _ in range(len(gold) - len(prefix)):
            level = [[*p, tag] for p in level for tag in range(self.tags)]
            level = [p for p in level if self.legal(p)]
        return min(sum(a != b for a, b in zip(p, gold, strict=True)) for p in level)


@st.composite
def corpora(draw, constraints=("none", "bio", "pairs", "first", "both"), max_words=3, sentences=4):
    """Batches of short sentences, some of them empty, some with tags that cannot be right."""
    kind = draw(st.sampled_from(constraints))
    random = draw(st.randoms(use_true_random=False))
    tags = len(BIO) if kind == "bio" else random.randint(1, 4)
    pairs = first = None
    if kind == "bio":
        pairs, first = BIO_RULES
    if kind in ("pairs", "both"):  # every tag has a successor
        pairs = [[random.random() < 0.5 for _ in range(tags)] for _ in range(tags)]
        for row in pairs:
            row[random.randrange(tags)] = True
    if kind in ("first", "both"):
        first = [random.random() < 0.5 for _ in range(tags)]
        first[random.randrange(tags)] = True
    lengths = [random.randint(0, max_words) for _ in range(random.randint(1, sentences))]
    lowest = random.choice([0, UNSEEN])
    return Corpus(
        gold=[[random.randint(lowest, tags - 1) for _ in range(n)] for n in lengths],
        forms=[[random.randrange(FORMS) for _ in range(n)] for n in lengths],
        tags=tags,
        pairs=pairs,
        first=first,
    )


class TableTagger(bl.Scorer):
    """s(tag) = table[form, previous tag, tag]: equal in whatever batch, bit for bit."""

    def __init__(self, tags, seed=0, normalize=None):
        super().__init__()
        self.normalize = normalize
        generator = torch.Generator().manual_seed(seed)
        table = torch.randint(-3, 4, (FORMS, tags + 1, tags), generator=generator)
        self.table = torch.nn.Parameter(table.double() / 2)

    def start(self, space):
        return space.features[..., 0], torch.full((len(space), 1), -1)

    def score(self, memory, nodes):
        forms, previous = memory
        return self.table[forms[nodes.examples, nodes.word][:, None], previous]

    def advance(self, memory, nodes, move):
        return memory[0], move.actions


def neural(tags=4, **options):
    """A network for sentences whose features are a form and two affixes out of five."""
    torch.manual_seed(0)
    sizes = {"encoder_size": 3, "history_size": 4, "tag_size": 2}
    return NeuralTagger(WordVectors(5, 5, 3, 2), tags, **sizes | options).double()


def random_sentences(lengths):
    """Sentences for `neural`."""
    generator = torch.Generator().manual_seed(0)
    return [TaggingExample(torch.randint(0, 5, (n, 3), generator=generator)) for n in lengths]


SMALL = TaggerSettings(
    word_size=3,
    affix_size=2,
    affix_length=2,
    encoder_size=3,
    history_size=4,
    tag_size=2,
    min_count=1,
    dropout=0.0,
    buckets=4096,
    normalize="none",
)
WORDS = [["the", "dog", "runs"], ["Rain"], ["dogs", "run", "the", "rain", "."], [], ["the", "sun"]]
TAGS = [["D", "N", "V"], ["N"], ["N", "V", "D", "N", "P"], [], ["D", "N"]]
SPANS = [["B-X", "I-X", "O"], ["O"], ["B-X", "O", "B-Y", "I-Y", "O"], [], ["O", "B-Y"]]


def small(tags=TAGS, seed=0, **options):
    """A tagger for `WORDS` with random weights, large enough to prefer one tag to another."""
    tagger = Tagger.build(SMALL.model_copy(update=options), WORDS, tags, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in tagger.scorer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    tagger.scorer.double()
    return tagger
