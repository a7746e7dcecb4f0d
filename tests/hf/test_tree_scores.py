"""One pass over a tree gives the numbers of a search step by step, and their gradients."""

from itertools import product

import pytest
import torch

import beamlearn as bl

pytest.importorskip("transformers")

from tiny_transformers import KINDS, make, sources, tiny
from transformers import GPTNeoConfig, GPTNeoForCausalLM

from beamlearn import hf
from beamlearn.hf.modes import evaluating
from beamlearn.hf.rules import plain_rules_of
from beamlearn.hf.tree import TokenTree, split_beams
from beamlearn.hf.tree_scores import tree_scores_of
from beamlearn.losses import SURROGATES

STRATEGIES = {
    "oracle": bl.strategies.Oracle(),
    "stop": bl.strategies.Stop(),
    "reset": bl.strategies.Reset(),
    "continue": bl.strategies.Continue(),
    "interpolate": bl.strategies.Interpolate(0.5),
}
LABELS = [[5, 6, 7, 8], [9, 9], [10, 11, 5], [6]]
WAYS = ("at_once", "by_paths")
unchecked = pytest.mark.usefixtures("no_shape_checks")


def labels(model):
    end = model.generation_config.eos_token_id
    rows = [torch.tensor([*row, end]) for row in LABELS]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-100)


def setting(kind):
    model = make(kind)
    ids, mask = sources(model)
    costs = hf.TokenCosts("edit").of(labels(model))
    space = hf.HuggingFaceSpace(ids, mask, plain_rules_of(model, 8), costs=costs)
    return model, space, hf.HuggingFaceScorer(model)


def collect(space, scorer, strategy):
    generator = torch.Generator().manual_seed(3)
    return bl.beam_trajectory(
        space, scorer, 3, strategy=STRATEGIES[strategy], round=5, generator=generator
    )


def reread(model, space, scorer, path, way):
    """The same trajectory from one pass of the model."""
    scores, roots = tree_scores_of(model), torch.full((len(space),), space.rules.start or 0)
    tree = TokenTree.bare(roots).with_outputs(labels(model)[:, None]).with_visits(path.visits)
    inputs = {"input_ids": space.input_ids, "attention_mask": space.attention_mask}
    with scores.placing():
        logits = getattr(scores, way)(model, inputs, tree)
    _, beams = split_beams(logits, path.visits, 1 + labels(model).shape[1])
    return path.rescored(scorer, beams)


def gradients(model, losses):
    parameters = [p for p in model.parameters() if p.requires_grad]
    found = torch.autograd.grad(losses.sum(), parameters, allow_unused=True, retain_graph=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]


CASES = [
    pytest.param(*case, marks=() if number % 5 == 0 else pytest.mark.slow)
    for number, case in enumerate(product(KINDS, STRATEGIES, WAYS))
]


@unchecked
@pytest.mark.parametrize(("kind", "strategy", "way"), CASES)
def test_all_losses_and_gradients_are_those_of_single_steps(kind, strategy, way):
    """Losses within 1e-4, gradients within 1e-4 of the largest, relatively."""
    model, space, scorer = setting(kind)
    one = collect(space, scorer, strategy)
    two = reread(model, space, scorer, one.detach(), way)
    for name, loss in ((n, one) for n, one in SURROGATES.items() if not one.sampled):
        expected, found = one.losses(loss), two.losses(loss)
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4, msg=name)
        if not expected.requires_grad:
            continue
        before, after = gradients(model, expected), gradients(model, found)
        largest = max(float(g.abs().max()) for g in before)
        for g, h in zip(before, after, strict=True):
            assert float((g - h).abs().max()) <= 1e-4 * max(largest, 1.0), name


@pytest.mark.parametrize("kind", KINDS)
def test_known_models_read_trees_at_once(kind):
    model, space, _ = setting(kind)
    scores = tree_scores_of(model)
    inputs = {"input_ids": space.input_ids, "attention_mask": space.attention_mask}
    tree = TokenTree.bare(torch.full((4,), space.rules.start or 0)).with_outputs(
        labels(model)[:, None]
    )
    with scores.placing():
        logits = scores(model, inputs, tree)
    assert scores.reads_trees
    assert logits.shape == (4, len(tree), 40)


def test_a_model_that_misplaces_the_tokens_of_a_tree_reads_its_paths():
    model, space, _ = setting("bart")
    scores = tree_scores_of(model)
    scores.hooks = list  # so that nobody tells it the places
    inputs = {"input_ids": space.input_ids, "attention_mask": space.attention_mask}
    tree = TokenTree.bare(torch.full((4,), space.rules.start)).with_outputs(labels(model)[:, None])
    with scores.placing():
        found = scores(model, inputs, tree)
        assert scores.reads_trees is False
        assert torch.equal(found, scores.by_paths(model, inputs, tree))


def test_a_model_that_sees_few_tokens_reads_paths():
    special = {"vocab_size": 40, "eos_token_id": 1, "pad_token_id": 0, "bos_token_id": 2}
    layers = {"num_layers": 2, "attention_types": [[["global", "local"], 1]], "window_size": 16}
    config = GPTNeoConfig(hidden_size=16, num_heads=2, **layers, **special)
    assert not tree_scores_of(GPTNeoForCausalLM(config)).may_read_trees()


def test_a_model_that_refuses_trees_reads_paths(monkeypatch):
    model, space, _ = setting("llama")
    scores = tree_scores_of(model)

    def refuses(*_):
        raise TypeError("no trees")

    monkeypatch.setattr(scores, "at_once", refuses)
    inputs = {"input_ids": space.input_ids, "attention_mask": space.attention_mask}
    tree = TokenTree.bare(torch.zeros(4, dtype=torch.long))
    with scores.placing():
        scores(model, inputs, tree.with_outputs(labels(model)[:, None]))
    assert scores.reads_trees is False


@pytest.mark.parametrize("kind", ["t5", "bart"])
def test_nothing_is_left_behind(kind):
    """After a tree was read, the model places tokens as before."""
    model, space, _ = setting(kind)
    scores, ids = tree_scores_of(model), torch.tensor([[space.rules.start, 5, 6, 7]])
    alone = {"input_ids": space.input_ids[:1], "attention_mask": space.attention_mask[:1]}
    tree = TokenTree.bare(ids[:, 0]).with_outputs(torch.tensor([[[5, 6], [7, 8]]]))
    with torch.no_grad():
        before = model(**alone, decoder_input_ids=ids).logits
        with scores.placing():
            scores(model, alone, tree)
        assert torch.equal(model(**alone, decoder_input_ids=ids).logits, before)


def test_a_tree_shares_beginnings_only_where_they_are_visited_once():
    model = tiny("t5")
    ids, mask = sources(model)
    space = hf.HuggingFaceSpace(ids, mask, plain_rules_of(model, 4))
    space.costs = hf.TokenCosts("edit").of(labels(model))
    with torch.no_grad():
        path = bl.beam_trajectory(space, hf.HuggingFaceScorer(model), 3)
    tree = TokenTree.bare(torch.zeros(4, dtype=torch.long)).with_visits(path.visits)
    paths = tree.paths()
    assert int(tree.there.sum()) == sum(
        int((depths > 0).sum()) + 1 for depths in path.visits.depths
    )
    for example, column in tree.there.nonzero().tolist():
        row = paths.tokens[paths.row_of[example, column]]
        way = tree.ancestors[example, column].nonzero()[:, 0]
        assert paths.owners[paths.row_of[example, column]] == example
        assert row[tree.depths[way]].tolist() == tree.tokens[example, way].tolist()


def test_an_empty_branch_is_none():
    bare = TokenTree.bare(torch.tensor([3, 4]))
    same = bare.with_outputs(torch.zeros(2, 1, 0, dtype=torch.long))
    assert len(same) == len(bare) == 1
    assert same.paths().tokens.tolist() == [[3], [4]]


def test_modes_are_left_as_they_were():
    model = make("bart").train()
    model.model.encoder.eval()
    with evaluating(model):
        assert not any(part.training for part in model.modules())
    assert model.training
    assert not any(part.training for part in model.model.encoder.modules())
    assert model.model.decoder.training
