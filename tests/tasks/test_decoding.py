from types import SimpleNamespace

import pytest
import torch
from tiny_pairs import MODELS, small, sources

from beamlearn.learning.iterates import Mixture, learned_parameters
from beamlearn.nn import alignment
from beamlearn.tasks import decoding
from beamlearn.tasks.decoding import NumberedSentence, batched, in_order, roomy
from beamlearn.tasks.transduction.decode import transduce


def test_long_sentences_make_small_batches(monkeypatch):
    monkeypatch.setattr(decoding, "ROOM", 24)
    batch = ["a", "bb", "ccc", "ddd"]
    assert list(roomy(batch, 1)) == [batch]
    assert list(roomy(batch, 4)) == [["a", "bb"], ["ccc", "ddd"]]
    assert list(roomy(batch, 100)) == [[text] for text in batch]
    assert list(roomy(["", ""], 24)) == [[""], [""]]


@pytest.mark.parametrize("model", MODELS)
def test_answers_do_not_depend_on_how_batches_are_cut(monkeypatch, model):
    transducer, texts = small(model=model), sources(9)
    whole = in_order(transduce(transducer, texts, 3))
    monkeypatch.setattr(decoding, "ROOM", 30)
    cut = in_order(transduce(transducer, texts, 3))
    assert [one.output for one in cut] == [one.output for one in whole]


def test_a_mixture_draws_by_the_number_in_all_of_the_input():
    transducer = small()
    states = [learned_parameters(transducer.scorer)] * 3
    transducer.mixture = mixture = Mixture(transducer.scorer, states, seed=4)
    drawn = []
    transducer.mixture = SimpleNamespace(
        iterates=states, place_of=mixture.place_of, using=lambda place: drawn.append(place)
    )
    numbers = [5, 17, 99]
    examples = [NumberedSentence(text, n) for text, n in zip("abc", numbers, strict=True)]
    found = {place.number for batch, _ in batched(transducer, examples, 1, 1) for place in batch}
    assert found == set(numbers)
    assert sorted(drawn) == sorted(mixture.place_of(number) for number in numbers)


def test_the_steps_of_a_search_share_their_room(monkeypatch):
    monkeypatch.setattr(alignment, "LONG", 20)
    transducer = small()
    scorer, places = transducer.scorer, set()
    write = scorer.write

    def watched(before, tokens):
        after = write(before, tokens)
        places.add((after.room.shape, after.room.data_ptr()))
        return after

    scorer.write = watched
    with torch.no_grad():
        list(transduce(transducer, ["abcd" * 5], 3))
    assert len(places) <= 2  # one slot at first, and then three
