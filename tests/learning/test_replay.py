import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.losses import log_loss_neighbors
from beamlearn.losses.baselines import minimum_risk_sampled
from beamlearn.tasks.transduction import transformer
from beamlearn.tasks.transduction.edit import EditOracle
from beamlearn.tasks.transduction.space import TransductionExample, TransductionSpace
from beamlearn.tasks.transduction.transformer import TransformerTransducer

ACTIONS = 6
STRATEGIES = ("continue", "oracle", "reset", "stop")


def scorer(dropout=0.3, seed=0, scale=2.0):
    torch.manual_seed(seed)
    made = TransformerTransducer(
        8, ACTIONS, size=8, layers=2, heads=2, feedforward=16, dropout=dropout
    )
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(scale)  # or all hypotheses would be nearly alike
    return made


pairs = st.lists(
    st.tuples(
        st.lists(st.integers(1, 7), max_size=5), st.lists(st.integers(1, ACTIONS - 1), max_size=4)
    ),
    min_size=1,
    max_size=4,
)


def encoded(pairs):
    return [
        TransductionExample(torch.tensor([*source, 0]), (torch.tensor(target, dtype=torch.long),))
        for source, target in pairs
    ]


def space_of(batch, finish="pad"):
    return TransductionSpace(batch, ACTIONS, [len(e) + 1 for e in batch], EditOracle, finish=finish)


def both(batch, made, finish, **options):
    """The same trajectory with gradients through its steps, and through a replay."""
    found = []
    for replay in (False, True):
        torch.manual_seed(1)
        space = space_of(batch, finish)
        found.append(bl.beam_trajectory(space, made, replay=replay, **options))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("training", [True, False])
@settings(max_examples=12)
@given(
    batch=pairs,
    k=st.integers(1, 4),
    finish=st.sampled_from(["pad", "first"]),
    lengths=st.sampled_from([(0.0, 0.0), (1.0, 0.0), (0.6, 0.4)]),
)
def test_replay_is_the_trajectory_itself(strategy, training, batch, k, finish, lengths):
    made, batch = scorer().train(training), encoded(batch)
    made.length_power, made.length_bonus = lengths
    steps, replayed = both(batch, made, finish, width=k, strategy=strategy)
    assert replayed.beams == steps.beams
    assert replayed.increased == steps.increased
    assert replayed.on_policy.tolist() == steps.on_policy.tolist()
    assert replayed.costs == steps.costs
    torch.testing.assert_close(replayed.final_scores, steps.final_scores, atol=1e-4, rtol=1e-4)
    losses = [path.losses(log_loss_neighbors) for path in (steps, replayed)]
    torch.testing.assert_close(*losses, atol=1e-4, rtol=1e-4)
    weights = list(made.parameters())
    slopes = [torch.autograd.grad(loss.sum(), weights, allow_unused=True) for loss in losses]
    for one, other in zip(*slopes, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, atol=5e-3, rtol=5e-3)


@given(batch=pairs, k=st.integers(1, 4))
def test_samples_are_replayed(batch, k):
    """Noise stays with the trajectory: the weights of the outputs are the same."""
    made, found = scorer().eval(), []
    for replay in (False, True):
        path = bl.beam_trajectory(
            space_of(encoded(batch)),
            made,
            k,
            strategy="sample",
            generator=torch.Generator().manual_seed(2),
            replay=replay,
        )
        found.append((path.beams, path.on_policy.tolist(), path.losses(minimum_risk_sampled)))
    (*steps, one), (*replayed, other) = found
    assert replayed == steps
    torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@given(batch=pairs, k=st.integers(1, 4))
def test_visits_are_the_nodes_of_the_beams(batch, k):
    path = bl.beam_trajectory(space_of(encoded(batch)), scorer().eval(), k)
    visits, trace = path.visits, path.trace
    for transition, slots in zip(
        [t for t in path.transitions if not t.final], visits.slots, strict=True
    ):
        extended = transition.neighbors.kept & ~transition.neighbors.finished
        for row, slot in extended.nonzero().tolist():
            example, node = slots.examples[row].item(), slots.nodes[row, slot].item()
            ancestors = visits.ancestors[example, node].nonzero()[:, 0]
            depth = int(visits.depths[example, node])
            assert visits.depths[example, ancestors].tolist() == list(range(depth + 1))
            taken = visits.actions[example, ancestors].tolist()[1:]
            here = [path.actions for path in list(trace._beam_paths(example))[depth]]
            assert taken in here


def test_other_weights_replay_the_same_beams():
    batch = encoded([([1, 2], [1, 2, 3]), ([], [4])])
    path = bl.beam_trajectory(space_of(batch), scorer().eval(), 3)
    other = scorer(seed=5).eval()
    replayed = path.replay(other)
    assert replayed.beams == path.beams
    for old, new in zip(path.transitions, replayed.transitions, strict=True):
        assert torch.equal(old.step.actions, new.step.actions)
    stepwise = bl.beam_trajectory(space_of(batch), other, 3)
    first, again = stepwise.transitions[0].neighbors, replayed.transitions[0].neighbors
    torch.testing.assert_close(first.scores, again.scores)


def test_following_the_oracle_scores_nothing_on_the_way(monkeypatch):
    made = scorer().eval()
    monkeypatch.setattr(made, "advance", None)
    batch = encoded([([1, 2], [1, 2, 3])])
    path = bl.beam_trajectory(space_of(batch), made, 1, strategy="oracle", replay=True)
    assert path.beams[0][-1] == [[1, 2, 3]]
    assert path.final_scores.requires_grad


def test_replay_needs_a_scorer_that_can(no_shape_checks):
    space = bl.GraphSpace("", lambda word: [], cost=lambda path: 0.0)
    plain = bl.FunctionScorer(lambda path: 0.0)
    with pytest.raises(TypeError, match="needs a ParallelScorer, got FunctionScorer"):
        bl.beam_trajectory(space, plain, replay=True)


def test_what_is_forgotten_has_no_descendants(monkeypatch):
    """Without gradients, nodes that no hypothesis goes back to are forgotten; nothing changes."""
    forgotten = []

    def counting(past, ancestors):
        found = remembered(past, ancestors)
        forgotten.append(ancestors.shape[-1] - found[1].shape[-1])
        return found

    remembered = transformer._remembered
    monkeypatch.setattr(transformer, "_remembered", counting)
    made = scorer(dropout=0.0, scale=1.0).eval()
    batch = encoded([([1, 2, 3], []), ([4], [])])
    space = TransductionSpace(batch, ACTIONS, [60, 50], EditOracle)
    made.length_bonus = 3.0  # or outputs would end before there is much to forget
    lists = [bl.beam_search(space, made, 8, gradients=kept).nbest for kept in (False, True)]
    assert max(forgotten) > 0
    for one, two in zip(*lists, strict=True):
        assert [h.output for h in one] == [h.output for h in two]
        torch.testing.assert_close(
            [h.score for h in one], [h.score for h in two], atol=1e-3, rtol=1e-4
        )
