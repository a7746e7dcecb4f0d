import pytest
import torch
from spaces import GenerationSpace, RecurrentScorer

import beamlearn as bl
from beamlearn import strategies
from beamlearn.losses.baselines import SURROGATES
from beamlearn.strategies import STRATEGIES, Interpolate, Reset, Sample


def test_names():
    assert list(STRATEGIES) == ["oracle", "stop", "reset", "continue", "interpolate", "sample"]


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
