import io
from dataclasses import replace

import pytest
import torch
from tiny_pairs import MODELS, pairs, small

import beamlearn as bl
from beamlearn.tasks.decoding import in_order
from beamlearn.tasks.transduction.decode import transduce
from beamlearn.tasks.transduction.model import Transducer, scorer_of
from beamlearn.tasks.transduction.tokens import SentencePiece

models = pytest.mark.parametrize("model", MODELS)
pytestmark = pytest.mark.usefixtures("no_shape_checks")
SOURCES = pairs(9, seed=2).sources


@models
@pytest.mark.parametrize("width", [1, 2, 5])
def test_what_the_search_finds(model, width):
    transducer = small(model=model)
    found = in_order(transduce(transducer, SOURCES, width, nbest=width, batch_size=4))
    for source, transduction in zip(SOURCES, found, strict=True):
        with torch.no_grad():
            space = transducer.space([transducer.encode(source)])
            (ways,) = bl.beam_search(space, transducer.scorer, width).nbest
        assert [way.output for way in transduction.nbest] == [
            transducer.text(way.output) for way in ways
        ]
        for one, two in zip(transduction.nbest, ways, strict=True):
            assert one.score == pytest.approx(two.score, abs=1e-4)
            assert one.probability == pytest.approx(two.probability, abs=1e-4)
            assert one.output == " ".join(one.tokens)
        assert transduction.output == transduction.nbest[0].output
        assert transduction.confidence == transduction.nbest[0].probability


@models
@pytest.mark.parametrize("finish", ["pad", "first"])
def test_a_list_is_of_different_outputs_best_first(model, finish):
    transducer = small(model=model, finish=finish)
    for found in in_order(transduce(transducer, SOURCES, 5, nbest=5)):
        scores = [way.score for way in found.nbest]
        assert scores == sorted(scores, reverse=True)
        assert len({way.output for way in found.nbest}) == len(found.nbest) >= 1
        assert sum(way.probability for way in found.nbest) == pytest.approx(1)


def test_the_first_of_many():
    transducer = small()
    one, some, many = (in_order(transduce(transducer, SOURCES, 5, nbest=n)) for n in (1, 3, 5))
    assert [found.nbest for found in one] == [found.nbest[:1] for found in many]
    assert [found.nbest for found in some] == [found.nbest[:3] for found in many]


def test_greedy_search_is_sure_of_itself():
    ((_, found),) = transduce(small(), ["ab"], width=1, nbest=3)
    assert [way.probability for way in found.nbest] == [1.0]


def test_short_sources_come_first_and_numbers_tell_their_places():
    numbers = [number for number, _ in transduce(small(), ["abab", "", "ab"], 2, batch_size=1)]
    assert numbers == [1, 2, 0]
    assert list(transduce(small(), [], 2)) == []


def test_a_list_has_at_least_one_output():
    with pytest.raises(ValueError, match="`nbest` must be at least 1, got 0"):
        list(transduce(small(), ["a"], 2, nbest=0))


def test_a_text_that_subwords_spell_in_many_ways_is_listed_once():
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["aa aaa", "aaaa"] * 9),
        model_writer=model,
        vocab_size=7,
        model_type="bpe",
        minloglevel=2,
    )
    old = small(length_factor=0, length_extra=3)
    tokenizer = SentencePiece(model.getvalue())
    symbols = replace(old.symbols, target=tokenizer, target_tokens=("a", "aa"))
    transducer = Transducer(old.settings, symbols, scorer_of(old.settings, symbols))
    found = in_order(transduce(transducer, ["ab", "b"], 50, nbest=50))
    for source, transduction in zip(["ab", "b"], found, strict=True):
        with torch.no_grad():
            space = transducer.space([transducer.encode(source)])
            (ways,) = bl.exhaustive_search(space, transducer.scorer.eval()).nbest
        shares = dict.fromkeys(("a" * n for n in range(7)), 0.0)
        for way in ways:
            shares[transducer.text(way.output)] += way.probability
        assert len(ways) == 1 + 2 + 4 + 8
        assert len(transduction.nbest) == 7
        told = {way.output: way.probability for way in transduction.nbest}
        assert told == pytest.approx(shares, abs=1e-5)
        scores = [way.score for way in transduction.nbest]
        assert scores == sorted(scores, reverse=True)
