"""Costs of token ids, by the oracles of transduction."""

from functools import partial

import by_the_book
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlearn as bl

pytest.importorskip("transformers")

from tiny_transformers import tokenizer

from beamlearn import hf
from beamlearn.hf.string_costs import string_costs
from beamlearn.tasks.transduction.exact_match import exact_match

FILLED = -100
DISTANCES = {
    "edit": by_the_book.edit_distance,
    "hamming": by_the_book.padded_hamming,
    "exact": exact_match,
}


def space_of(references, limits, cost, *, vocabulary=4, ends=(1,), banned=()):
    """A space without a model: nothing but tokens."""
    longest = max(len(r) for several in references for r in several)
    most = max(map(len, references))
    labels = torch.full((len(references), most, longest), FILLED)
    for row, several in enumerate(references):
        for place, ids in enumerate(several):
            labels[row, place, : len(ids)] = torch.tensor(ids, dtype=torch.long)
    rules = hf.Rules(vocabulary, 0, ends, max(limits), banned=banned)
    return hf.HuggingFaceSpace(
        torch.ones(len(references), 1, dtype=torch.long),
        None,
        rules,
        limits=torch.tensor(limits),
        costs=hf.TokenCosts(cost).of(labels),
    )


@st.composite
def batches(draw):
    """References with and without an end, some too long; one or two tokens end an output."""
    random = draw(st.randoms(use_true_random=False))
    ends = random.choice([(1,), (1, 3)])
    words = [token for token in range(4) if token not in ends]

    def reference():
        ids = [random.choice(words) for _ in range(random.randint(0, 4))]
        return [*ids, random.choice(ends)] if random.random() < 0.8 or not ids else ids

    size = random.randint(1, 3)
    references = [[reference() for _ in range(random.randint(1, 2))] for _ in range(size)]
    banned = random.choice([(), (words[0],)])
    return references, [random.randint(1, 4) for _ in range(size)], ends, banned


def text_of(ids, ends):
    """What counts of an output or a reference: the tokens before the first end."""
    ids = list(ids)
    return ids[: next((place for place, token in enumerate(ids) if token in ends), len(ids))]


@settings(max_examples=60)
@given(batches(), st.sampled_from(sorted(DISTANCES)))
def test_costs_are_minima_over_all_completions(batch, name):
    references, limits, ends, banned = batch
    space = space_of(references, limits, name, ends=ends, banned=banned)

    def cost(example, output):
        return min(
            DISTANCES[name](text_of(output, ends), text_of(right, ends))
            for right in references[example]
        )

    check = bl.check_oracle(space, cost=cost)
    assert check.exhaustive
    assert check.mistakes == []


def test_any_end_costs_the_same():
    space = space_of([[[2, 2, 3]]], [5], "edit", vocabulary=5, ends=(1, 3))
    oracle = space.oracle()
    table = oracle.costs(oracle.start(), space.initial())[0, 0]
    assert table[1] == table[3] == 2
    assert table[2] == 0
    assert not oracle.unique  # either may end the output


def test_without_an_end_there_are_no_costs():
    space = space_of([[[2]]], [3], "edit", ends=())
    with pytest.raises(ValueError, match="a token that ends an output, .*eos_token_id"):
        space.oracle()


def test_rules_that_force_a_token_make_costs_inexact():
    labels = torch.tensor([[2, 1]])
    rules = hf.Rules(4, 0, (1,), 3, forced_first=3)
    space = hf.HuggingFaceSpace(
        torch.ones(1, 1, dtype=torch.long), None, rules, costs=hf.TokenCosts("edit").of(labels)
    )
    assert not space.oracle().exact


def test_bleu_is_that_of_tokens():
    space = space_of([[[2, 3, 2, 3, 1]]], [8], "bleu")
    oracle = space.oracle()
    assert not oracle.exact
    assert float(oracle.initial()[0]) == pytest.approx(0, abs=1e-6)
    table = oracle.costs(oracle.start(), space.initial())[0, 0]
    assert table[2] == pytest.approx(0, abs=1e-6)
    assert table[1] == 1


def test_chrf_counts_the_characters_of_tokens():
    words = tokenizer(["ab", "b", "cab"])
    ids = {word: words.convert_tokens_to_ids(word) for word in ("ab", "b", "cab")}
    labels = torch.tensor([[ids["cab"], words.eos_token_id]])
    rules = hf.Rules(len(words) + 2, 0, (words.eos_token_id,), 4)
    space = hf.HuggingFaceSpace(
        torch.ones(1, 1, dtype=torch.long),
        None,
        rules,
        costs=hf.TokenCosts("chrf", words).of(labels),
    )
    oracle = space.oracle()
    table = oracle.costs(oracle.start(), space.initial())[0, 0]
    assert table[ids["cab"]] == pytest.approx(0, abs=1e-6)
    assert 0 < table[ids["ab"]] < table[words.eos_token_id] == 1
    with pytest.raises(ValueError, match='"chrf" needs a tokenizer'):
        hf.TokenCosts("chrf")
    with pytest.raises(ValueError, match="'ter'"):
        hf.TokenCosts("ter")


# --- functions of texts -------------------------------------------------------------------------


def priced(cost, references=((3, 4),)):
    words = tokenizer(["a", "b", "c"])
    outputs = torch.tensor([[[3, 4, -1], [5, -1, -1]]])
    there = torch.tensor([[True, True]])
    return string_costs(cost, words, outputs, there, torch.tensor([references]))


def test_outputs_cost_what_a_function_says():
    assert priced(lambda output, right: output != right).tolist() == [[0, 1]]


def test_the_nearest_reference_counts():
    several = ((3, 4), (5, -100), (-100, -100))
    assert priced(lambda output, right: output != right, several).tolist() == [[0, 0]]


def failing(output, right):
    raise KeyError(right)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (failing, "`cost` failed .KeyError: 'a b'. at example 0 .*output 'a b', reference 'a b'"),
        (lambda output, right: float("nan"), "finite number, got nan at example 0"),
        (lambda output, right: "much", "ValueError: could not convert"),
    ],
)
def test_a_function_that_fails_is_named_with_its_example(cost, message):
    with pytest.raises(ValueError, match=message):
        priced(cost)


def test_partial_functions_are_functions():
    assert priced(partial(lambda least, output, right: least, 2.5)).tolist() == [[2.5, 2.5]]
