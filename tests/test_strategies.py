import pytest
import torch

import beamlearn as bl
from beamlearn import strategies
from beamlearn.strategies import STRATEGIES, Interpolate, Reset


def test_names():
    assert list(STRATEGIES) == [
        "oracle",
        "stop",
        "reset",
        "continue",
        "interpolate",
        "max_violation",
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
