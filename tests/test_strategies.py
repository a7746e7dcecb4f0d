import by_the_book
import pytest
import torch
from generate import finishes, scorer_of, trees
from hypothesis import given
from hypothesis import strategies as st
from spaces import GenerationSpace, RecurrentScorer

import beamlearn as bl
from beamlearn import strategies
from beamlearn.losses.baselines import SURROGATES
from beamlearn.strategies import STRATEGIES, Interpolate, Reset, Sample


def test_names():
    assert list(STRATEGIES) == [
        "oracle",
        "stop",
        "reset",
        "continue",
        "interpolate",
        "max_violation",
        "sample",
    ]


@pytest.mark.parametrize(
    ("schedule", "values"),
    [
        (strategies.constant(0.3), [0.3] * 6),
        (strategies.linear(1.0, 0.0, 5), [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]),
        (strategies.exponential(0.8, 0.5), [0.8, 0.4, 0.2, 0.1, 0.05, 0.025]),
        (strategies.cutoff(2), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
    ],
    ids=["constant", "linear", "exponential", "cut-off"],
)
def test_schedules(schedule, values):
    mixed = Interpolate(schedule)
    assert [mixed.at(t) for t in range(1, 7)] == pytest.approx(values)


def spelling():
    """Four letters; the right word is all b, and the scorer prefers a."""
    return bl.GraphSpace(
        "",
        lambda word: [word + "a", word + "b"] if len(word) < 4 else [],
        cost=lambda path: path[-1].count("a"),
    )


def test_a_schedule_is_asked_for_its_round():
    scorer = bl.FunctionScorer(lambda path: path[-1].count("a"))
    mixed = Interpolate(strategies.cutoff(1))
    first, second = (
        bl.beam_trajectory(spelling(), scorer, width=1, strategy=mixed, round=t) for t in (1, 2)
    )
    assert first.final_costs.item() == 0
    assert second.final_costs.item() == 4


@given(tree=trees(root_terminal=False), k=st.integers(1, 4), finish=finishes)
def test_max_violation_learns_at_the_worst_beam_with_the_right_path_in_it(tree, k, finish):
    book = by_the_book.beam_trajectory(
        tree.neighbors, tree.score, tree.cstar, (), k, ("reset", "keep"), finish
    )
    path = bl.beam_trajectory(
        tree.space(), scorer_of(tree), k, strategy=strategies.MaxViolation(), finish=finish
    )
    assert [[nodes[-1] for nodes in beam] for beam in path.beams[0]] == book[0]
    for name, loss in by_the_book.LOSSES.items():
        each = [by_the_book.losses_along(loss, tree.score, tree.cstar, [v]) for v in book[2]]
        found = path.losses(bl.losses.LOSSES[name], "max")
        assert found.item() == pytest.approx(max(each), abs=1e-9)


def test_learning_by_max_violation_takes_the_maximum():
    scorer = bl.LinearScorer(lambda path: {"a": path[-1].count("a")}, size=64)
    optimizer = torch.optim.SGD(scorer.parameters(), lr=0.0)
    for weights in scorer.parameters():
        torch.nn.init.constant_(weights, 0.5)
    choices = bl.ALGORITHMS["max_violation"].choices | {"width": 2}
    task = bl.GraphTask(lambda _: spelling())
    (round,) = bl.learn([[0]], task, scorer, optimizer, trajectories=True, **choices)
    path = round.trajectory
    assert round.losses.item() == path.losses(choices["loss"], "max").item()
    assert round.losses.item() < path.losses(choices["loss"]).item()


def test_coins_come_from_the_generator():
    scorer = bl.FunctionScorer(lambda path: path[-1].count("a"))

    def costs(seed):
        space = bl.GraphSpace.stack([spelling()] * 16)
        generator = torch.Generator().manual_seed(seed)
        return bl.beam_trajectory(
            space, scorer, width=1, strategy=Interpolate(0.5), generator=generator
        ).final_costs.tolist()

    assert costs(0) == costs(0)
    assert costs(0) != costs(1)
    assert 0 < sum(costs(0)) / 16 < 4


@pytest.mark.parametrize("beta", [-0.1, 1.5])
def test_beta_is_a_probability(beta):
    with pytest.raises(ValueError, match=f"`beta` must be a probability.*got {beta}"):
        Interpolate(beta)
    with pytest.raises(ValueError, match=f"`beta in round 3` must be a probability.*got {beta}"):
        Interpolate(lambda _: beta).at(3)


@pytest.mark.usefixtures("no_shape_checks")
def test_reset_has_three_targets():
    with pytest.raises(
        ValueError, match=r"no target of a reset called 'kep'\. Did you mean 'keep'"
    ):
        Reset(to="kep")


# --- samples -------------------------------------------------------------------------------------


def sampled_path(k, seed, limits=(3, 5, 1), **options):
    space = GenerationSpace([(1, 2)] * len(limits), list(limits), 4)
    scorer = RecurrentScorer(len(limits), 4)
    generator = torch.Generator().manual_seed(seed)
    path = bl.beam_trajectory(space, scorer, k, strategy=Sample(), generator=generator, **options)
    return path, space, scorer


@pytest.mark.parametrize("k", [1, 2, 5])
def test_sampled_beams_are_those_of_the_search(k):
    """In the order of scores; the last is the first output of the sample."""
    for seed in range(5):
        path, space, scorer = sampled_path(k, seed)
        generator = torch.Generator().manual_seed(seed)
        sample = bl.stochastic_beam_search(space, scorer, k, generator=generator)
        for beams, expected in zip(path.beams, sample.search.beams, strict=True):
            assert [sorted(beam) for beam in beams] == [sorted(beam) for beam in expected]
        assert [beams[-1] for beams in path.beams] == [[output] for output in sample.outputs]
        for transition in path.transitions:
            step = transition.step
            scores = step.scores.masked_fill(~step.kept, -torch.inf)
            assert (scores[:, 1:] <= scores[:, :-1]).all()


def test_a_sample_is_on_policy_where_it_is_the_learned_beam():
    agreed = set()
    for seed in range(20):
        path, space, scorer = sampled_path(2, seed)
        learned = bl.beam_search(space, scorer, 2)
        own = [a[:-1] == b[:-1] for a, b in zip(path.beams, learned.beams, strict=True)]
        assert path.on_policy.tolist() == own
        agreed.update(own[:2])
    assert agreed == {True, False}
    everything, _, _ = sampled_path(1000, 0)
    assert everything.on_policy.all()


@pytest.mark.parametrize("loss", SURROGATES)
def test_every_loss_learns_from_samples(loss):
    path, _, scorer = sampled_path(3, 0)
    value = path.losses(SURROGATES[loss]).sum()
    value.backward()
    assert value.isfinite()
    assert all(p.grad.isfinite().all() for p in scorer.parameters() if p.grad is not None)


def test_samples_may_end_with_the_first():
    path, _, _ = sampled_path(3, 0, finish="first")
    assert [len(beams[-1]) for beams in path.beams] == [1, 1, 1]


def test_samples_need_log_probabilities():
    scorer = bl.FunctionScorer(lambda path: path[-1].count("a"))
    with pytest.raises(ValueError, match="`normalize` = log_softmax, got None; train one"):
        bl.beam_trajectory(spelling(), scorer, 2, strategy="sample")
