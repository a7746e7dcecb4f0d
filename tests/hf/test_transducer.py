"""A Hugging Face model as a model of transduction."""

import pytest
import torch

import beamlearn as bl

pytest.importorskip("transformers")

from tiny_folders import FEW, NUMBERS, examples, transducer
from tiny_pairs import pairs, small
from tiny_transformers import make

from beamlearn.tasks.decoding import evaluated, search
from beamlearn.tasks.transduction.decode import needed, transduce
from beamlearn.tasks.transduction.report import report
from beamlearn.tasks.transduction.space import TransductionExample
from beamlearn.tasks.transduction.transduction_model import TransductionModel
from beamlearn.training.settings import SettingsError

KINDS = ("t5", "bart", "gpt2")
COSTS = ("edit", "hamming", "exact", "bleu", "chrf")
END = 1


def ids(text):
    return [NUMBERS[word] for word in text.split()]


def test_both_kinds_of_transducers_are_models_of_transduction():
    assert isinstance(transducer(), TransductionModel)
    assert isinstance(small(), TransductionModel)


def test_sources_and_references_are_cut_by_the_tokenizer():
    model = transducer("t5")
    found = model.encode("a b c", ["k t", "", "k unheard"])
    assert found.source.tolist() == [*ids("a b c"), END]
    assert [one.tolist() for one in found.references] == [ids("k t"), [], [*ids("k"), 2]]


def test_an_empty_source_is_read_as_an_end():
    model = transducer("gpt2")
    model.pretrained.tokenizer.backend_tokenizer.post_processor = None
    assert model.encode("").source.tolist() == [END]
    assert [len(one) for one in model.encode("a", [""]).references] == [0]


def test_a_causal_model_writes_no_start():
    model = transducer("gpt2")
    assert model.encode("a", ["k t"]).references[0].tolist() == ids("k t")


def test_outputs_are_texts_without_special_tokens():
    model = transducer("t5", words=FEW)
    assert model.text([*ids("k t"), END]) == "k t"
    assert model.symbols.spell([0, *ids("k a:"), 39, END]) == ["k", "a:"]
    assert model.symbols.target.cut("k  a:") == ["k", "a:"]
    assert model.symbols.target_numbers["k"] == NUMBERS["k"]
    assert model.symbols.names[39] == "<39>"
    assert {*FEW} < {*model.symbols.target_tokens}


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("kind", "cost"),
    [*(("t5", cost) for cost in COSTS), *((kind, "edit") for kind in ("bart", "gpt2"))],
)
def test_costs_are_those_of_transduction(kind, cost, several):
    """The same references in both: what the cheapest output costs, and what an output costs."""
    model = transducer(kind, cost=cost)
    batch = examples(model, several=several)
    own = small(pairs(6, several=several), cost=cost, target_tokens="words")
    ours = [own.encode(*pair) for pair in own_pairs(several)]
    for mine, theirs in ((model, batch), (own, ours)):
        assert bool((mine.space(theirs).oracle().initial() < 1e-6).all())
    found = search(model, batch, 3)
    path = bl.beam_trajectory(model.space(batch), model.scorer, 3)
    texts = [model.text(output) for output in found.outputs]
    costs = evaluated(model, batch, 3).costs
    torch.testing.assert_close(costs, path.final_costs.double().to(costs.dtype))
    for text, value, pair in zip(texts, costs.tolist(), own_pairs(several), strict=True):
        if cost == "exact":
            assert value == float(text not in pair[1])


def own_pairs(several):
    data = pairs(6, several=several)
    return list(zip(data.sources, data.references, strict=True))


def test_edits_have_weights():
    model = transducer("t5", insertion=5.0, deletion=7.0)
    (example,) = examples(model, 1)
    empty = TransductionExample(example.source, (torch.zeros(0, dtype=torch.long),))
    oracle = model.space([empty]).oracle()
    costs = oracle.costs(oracle.start(), model.space([empty]).initial())
    assert float(costs[0, 0, END]) == 0
    assert float(costs[0, 0, NUMBERS["k"]]) == 5


@pytest.mark.parametrize("kind", KINDS)
def test_the_batch_law(kind):
    model = transducer(kind)
    batch = examples(model, 6)
    together = search(model, batch, 3)
    for place, example in enumerate(batch):
        alone = search(model, [example], 3)
        assert alone.outputs[0] == together.outputs[place]
        assert float(alone.scores[0]) == pytest.approx(float(together.scores[place]), abs=1e-3)


def test_a_search_finds_the_best_sums_of_log_probabilities():
    """Against the model itself, token by token."""
    model = transducer("t5")
    (example,) = examples(model, 1)
    found = search(model, [example], 3)
    tokens = found.outputs[0]
    network = model.pretrained.model
    with torch.no_grad():
        logits = network(
            input_ids=example.source[None], decoder_input_ids=torch.tensor([[0, *tokens[:-1]]])
        ).logits[0]
    expected = logits.log_softmax(dim=-1)[torch.arange(len(tokens)), torch.tensor(tokens)].sum()
    assert float(found.scores[0]) == pytest.approx(float(expected), abs=1e-3)


def test_limits_come_from_the_settings_and_the_places():
    model = transducer("bart", length_factor=2.0, length_extra=3)
    example = model.encode("a b c")
    assert len(example) == 4
    assert model.limit(example) == 11
    assert model.longest_output(example) == 1023
    assert model.longest_source == 1024
    assert transducer("t5").longest_source is None
    assert transducer("t5").longest_output(example) is None
    gpt2 = transducer("gpt2", length_extra=5000)
    assert gpt2.limit(example) == gpt2.longest_output(example) == 1020
    assert int(gpt2.space([example]).limits) == 1021


def test_memory_grows_with_width_and_length():
    model = transducer("t5")
    assert needed(model, "a b", 8) > needed(model, "a b", 1)
    assert needed(model, "a b c d " * 9, 8) > needed(model, "a b", 8)
    assert model.keeps_past
    assert model.vectors == 32


def test_nbest_lists_have_no_text_twice():
    model = transducer("t5")
    ((_, found),) = transduce(model, ["a b"], 8, nbest=8)
    assert len({way.output for way in found.nbest}) == len(found.nbest)
    assert sum(way.probability for way in found.nbest) == pytest.approx(1)


def test_a_report_knows_how_many_are_right():
    model = transducer("t5")
    sources = ["a b", "c", "d d a"]
    outputs = [found.output for _, found in sorted(transduce(model, sources, 3))]
    right = [(text,) for text in outputs]
    found = report(model, sources, right, 3)
    assert (found.wer, found.cer) == (0, 0)
    wrong = report(model, sources, [("t: t: t: t:",)] * 3, 3)
    assert wrong.wer == 1
    assert wrong.cer > 0


def test_a_model_without_an_end_is_refused():
    network = make("t5")
    network.generation_config.eos_token_id = None
    with pytest.raises(SettingsError, match="a token that ends an output, but its generation"):
        transducer(model=network)
