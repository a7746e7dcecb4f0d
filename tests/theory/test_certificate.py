import json
from dataclasses import replace
from math import inf, log, nan, sqrt

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.theory.certificate import Certificate, certify, interpolation_alphas
from beamlearn.theory.regret import regret

losses = st.lists(st.integers(0, 64).map(lambda x: x / 16), min_size=1, max_size=30)
deltas = st.integers(1, 1000).map(lambda x: x / 1000)
levels = pytest.mark.parametrize("delta", [0.5, 0.1, 0.01])


def eta(u, delta, m):
    return u * sqrt(2 * log(1 / delta) / m)


def average(values):
    return sum(values) / len(values)


# --- the statements ------------------------------------------------------------------------------


@given(losses, deltas)
def test_theorem_3(values, delta):
    found = certify(values, upper=4.0, delta=delta)
    assert found.statement == "Theorem 3"
    assert found.bound == pytest.approx(average(values) + eta(4, delta, len(values)))
    assert (found.empirical_loss, found.roll_in_gap) == (pytest.approx(average(values)), 0.0)
    assert (found.rounds, found.delta, found.upper) == (len(values), delta, 4.0)


@given(losses, deltas, st.randoms())
def test_theorem_4(values, delta, random):
    own = [random.random() < 0.5 for _ in values]
    found = certify(values, upper=4.0, delta=delta, on_policy=own)
    gap = 4 * (1 - average(own))
    assert found.statement == "Theorem 4"
    assert found.roll_in_gap == pytest.approx(gap)
    expected = average(values) + gap + 2 * eta(4, delta, len(values))
    assert found.bound == pytest.approx(expected)


@given(losses, deltas, st.randoms())
def test_equation_30(values, delta, random):
    alphas = [random.uniform(0.1, 0.9) for _ in values]
    found = certify(values, upper=4.0, delta=delta, alphas=alphas)
    assert found.statement == "Equation 30"
    expected = average(values) + eta(4, delta, len(values)) + 4 * (1 - average(alphas))
    assert found.bound == pytest.approx(expected)


@given(losses, deltas, st.integers(1, 40))
def test_equation_31(values, delta, first):
    betas = [1.0 if t < first else 0.0 for t in range(len(values))]
    found = certify(values, upper=4.0, delta=delta, alphas=interpolation_alphas(betas, 5))
    m = len(values)
    assert found.statement == "Equation 31"
    assert found.bound == pytest.approx(average(values) + eta(4, delta, m) + 4 * min(1, first / m))


@given(losses)
def test_theorem_1(values):
    found = certify(values, upper=4.0, explicit=True)
    assert (found.statement, found.delta) == ("Theorem 1", None)
    assert (found.deviation, found.roll_in_gap) == (0.0, 0.0)
    assert found.bound == found.empirical_loss == pytest.approx(average(values))


def test_by_hand():
    found = certify([1.0, 3.0, 0.0, 0.0], upper=4.0, delta=0.5, on_policy=[True, True, True, False])
    assert found.empirical_loss == 1.0
    assert found.roll_in_gap == 1.0
    assert found.deviation == pytest.approx(8 * 0.588705)
    assert found.bound == pytest.approx(6.709640)
    assert certify([2.0, 1.0], upper=4.0, delta=1.0).bound == 1.5


@pytest.mark.parametrize(
    ("betas", "horizon", "alphas", "statement"),
    [
        ([1.0, 1.0, 0.0], 3, [0.0, 0.0, 1.0], "Equation 31"),
        ([1.0, 1.0, 1.0], 3, [0.0, 0.0, 0.0], "Equation 31"),
        ([1.0, 0.0, 1.0], 3, [0.0, 1.0, 0.0], "Equation 30"),
        ([0.0, 0.0, 1.0], 3, [1.0, 1.0, 0.0], "Equation 30"),
        ([1.0, 0.5, 0.0], 2, [1.0, 1.0, 1.0], "Equation 30"),
        ([1.0, 0.5, 0.0], 5, [0.0, 0.125, 1.0], "Equation 30"),
    ],
)
def test_interpolation(betas, horizon, alphas, statement):
    assert interpolation_alphas(betas, horizon) == alphas
    assert certify([0.0] * 3, upper=1.0, alphas=alphas).statement == statement


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tensors_are_lists(dtype):
    values, own = [0.5, 1.0, 0.0], [True, False, True]
    tensor = torch.tensor(values, dtype=dtype, requires_grad=True)
    assert certify(tensor, upper=1.0, on_policy=torch.tensor(own)) == certify(
        values, upper=1.0, on_policy=own
    )


@given(losses, st.floats(0, 4))
def test_clipping_certifies_the_clipped_loss(values, upper):
    found = certify(values, upper=upper, clip=True)
    plain = certify([min(value, upper) for value in values], upper=upper)
    assert found.clipped == sum(value > upper for value in values)
    assert replace(found, clip=False, clipped=0) == plain


# --- what it depends on --------------------------------------------------------------------------


@given(losses, deltas, deltas)
def test_more_certain_is_larger(values, one, other):
    low, high = sorted((one, other))
    assert (
        certify(values, upper=4.0, delta=low).bound >= certify(values, upper=4.0, delta=high).bound
    )


@given(losses, st.floats(4, 100), st.floats(4, 100), st.randoms())
def test_a_larger_upper_is_no_better(values, one, other, random):
    own = [random.random() < 0.5 for _ in values]
    low, high = (certify(values, upper=u, on_policy=own).bound for u in sorted((one, other)))
    assert low <= high


@given(losses, st.randoms())
def test_more_of_ones_own_beams_is_better(values, random):
    own = [random.random() < 0.5 for _ in values]
    found = certify(values, upper=4.0, on_policy=own)
    for at in range(len(own)):
        more = certify(values, upper=4.0, on_policy=[*own[:at], True, *own[at + 1 :]])
        assert more.bound <= found.bound


@given(losses, st.randoms())
def test_the_order_does_not_matter(values, random):
    own = [random.random() < 0.5 for _ in values]
    pairs = list(zip(values, own, strict=True))
    random.shuffle(pairs)
    shuffled = [list(side) for side in zip(*pairs, strict=True)]
    found = certify(shuffled[0], upper=4.0, on_policy=shuffled[1]).bound
    assert found == pytest.approx(certify(values, upper=4.0, on_policy=own).bound)


@given(losses)
def test_four_times_the_examples_halve_the_deviation(values):
    few, many = (certify(values * times, upper=4.0) for times in (1, 4))
    assert many.deviation == pytest.approx(few.deviation / 2)
    assert many.empirical_loss == pytest.approx(few.empirical_loss)


@given(losses, st.sampled_from([0.25, 2.0, 8.0]))
def test_the_unit_does_not_matter(values, unit):
    plain = certify(values, upper=4.0)
    scaled = certify([unit * value for value in values], upper=unit * 4.0)
    assert scaled.bound == pytest.approx(unit * plain.bound)


# --- coverage ------------------------------------------------------------------------------------

SEEDS, ROUNDS = 1000, 60


def learner(generator, seeds=SEEDS, rounds=ROUNDS):
    """Expected and incurred losses (0 or 1) of iterates that each follow from the past.

    What was incurred pulls the next expectations up, so that rows drift far apart.
    """
    draws = torch.rand(seeds, rounds, generator=generator, dtype=torch.float64)
    expected, incurred = torch.zeros_like(draws), torch.zeros_like(draws)
    state = torch.full((seeds,), 0.5, dtype=torch.float64)
    for t in range(rounds):
        expected[:, t] = state
        incurred[:, t] = (draws[:, t] < state).double()
        state = 0.1 + 0.8 * (0.7 * (state - 0.1) / 0.8 + 0.3 * incurred[:, t])
    return expected, incurred


def failures(expected, certificates):
    """How often a certificate is below what it bounds."""
    means = expected.mean(dim=-1).tolist()
    return average([c.bound < mean for c, mean in zip(certificates, means, strict=True)])


def allowed(delta, seeds=SEEDS):
    """A frequency that an event of probability `delta` stays below: four standard errors."""
    return delta + 4 * sqrt(delta * (1 - delta) / seeds)


def test_without_a_deviation_the_bound_fails_often(generator):
    expected, incurred = learner(generator)
    assert failures(expected, [certify(row, upper=1.0, delta=1.0) for row in incurred]) > 0.3


@levels
def test_theorem_3_holds_as_often_as_it_says(delta, generator):
    expected, incurred = learner(generator)
    found = [certify(row, upper=1.0, delta=delta) for row in incurred]
    assert failures(expected, found) <= allowed(delta)
    assert not all(certificate.vacuous for certificate in found)


@levels
def test_theorem_3_holds_for_several_examples_in_an_update(delta, generator):
    """Each iterate has five examples; they weigh it five times."""
    expected, _ = learner(generator, rounds=12)
    expected = expected.repeat_interleave(5, dim=1)
    incurred = torch.rand(expected.shape, generator=generator, dtype=torch.float64) < expected
    found = [certify(row.double(), upper=1.0, delta=delta) for row in incurred]
    assert failures(expected, found) <= allowed(delta)


def roll_ins(generator, rounds):
    """A learner whose policy meets an increase with probability q, and then costs all there is.

    The strategy resets there and hides it: the recorded loss is 0. Where there is no increase,
    the loss is 0, too, so the expected loss of the policy itself is q.
    """
    increase, _ = learner(generator, rounds=rounds)
    met = torch.rand(increase.shape, generator=generator, dtype=torch.float64) < increase
    return increase, torch.zeros_like(increase), ~met


@levels
def test_theorem_4_holds_as_often_as_it_says(delta, generator):
    expected, recorded, own = roll_ins(generator, ROUNDS)
    rows = list(zip(recorded, own, strict=True))
    found = [certify(row, upper=1.0, delta=delta, on_policy=alone) for row, alone in rows]
    assert failures(expected, found) <= allowed(delta)
    certain = [certify(row, upper=1.0, delta=1.0, on_policy=alone) for row, alone in rows]
    assert failures(expected, certain) > 0.3


@levels
def test_theorem_4_as_its_text_has_it_does_not_hold(delta, generator):
    """Alpha-hat as the frequency of at least one increase, where increases are frequent."""
    increase = torch.full((100, 2000), 0.9, dtype=torch.float64)
    met = torch.rand(increase.shape, generator=generator, dtype=torch.float64) < increase
    recorded = torch.zeros_like(increase)

    def failing(on_policy):
        rows = zip(recorded, on_policy, strict=True)
        return failures(
            increase, [certify(row, upper=1.0, delta=delta, on_policy=own) for row, own in rows]
        )

    assert failing(~met) <= allowed(delta, seeds=100)
    assert failing(met) == 1.0


@levels
def test_equation_30_holds_as_often_as_it_says(delta, generator):
    """Off the learned policy, with probability 1 - alpha, nothing is incurred."""
    expected, incurred = learner(generator, rounds=600)
    alphas = interpolation_alphas([0.2, 0.25] * 300, horizon=4)
    own = torch.rand(incurred.shape, generator=generator, dtype=torch.float64)
    recorded = incurred * (own < torch.tensor(alphas, dtype=torch.float64))
    found = [certify(row, upper=1.0, delta=delta, alphas=alphas) for row in recorded]
    assert failures(expected, found) <= allowed(delta)
    assert not any(certificate.vacuous for certificate in found)
    unaware = [certify(row, upper=1.0, delta=delta) for row in recorded]
    assert failures(expected, unaware) > 0.5


@levels
def test_theorem_2_holds_as_often_as_it_says(delta, generator):
    """Optima are 2 or 0, evenly; each statement may fail with half of delta."""
    expected, incurred = learner(generator)
    optima = 2.0 * (torch.rand(incurred.shape, generator=generator) < 0.5)
    found = [
        certify(row, upper=1.0, delta=delta / 2).cost(best, optima_range=2.0, delta=delta / 2)
        for row, best in zip(incurred, optima, strict=True)
    ]
    assert all(certificate.delta == pytest.approx(delta) for certificate in found)
    assert failures(expected + 1.0, found) <= allowed(delta)


# --- costs ---------------------------------------------------------------------------------------


def test_a_known_optimum_adds_nothing():
    proof = certify([0.0, 1.0], upper=2.0)
    assert proof.cost(0.0).bound == proof.bound
    assert proof.cost(1).bound == proof.bound + 1
    assert (proof.cost(0.0).delta, proof.cost(0.0).deviation) == (0.05, 0.0)


def test_sampled_optima_by_hand():
    proof = certify([0.0, 1.0], upper=2.0, delta=0.1)
    found = proof.cost([1.0, 3.0, 1.0, 3.0], optima_range=4.0, delta=0.5)
    assert found.optimum == 2.0
    assert found.deviation == pytest.approx(4 * sqrt(log(2) / 8))
    assert found.bound == pytest.approx(2.0 + found.deviation + proof.bound)
    assert found.delta == pytest.approx(0.6)
    explicit = certify([0.0, 1.0], upper=2.0, explicit=True)
    assert explicit.cost(0.0).delta is None
    assert explicit.cost([1.0], optima_range=1.0, delta=0.25).delta == 0.25
    assert proof.cost(torch.tensor([-1.0, 0.0]), optima_range=1.0, delta=1.0).delta == 1.0


def test_sampled_optima_need_their_range():
    proof = certify([0.0, 1.0], upper=2.0)
    with pytest.raises(ValueError, match="`optima_range` must be given .* got None; pass the most"):
        proof.cost([0.0, 0.0])
    with pytest.raises(ValueError, match="at most `optima_range` = 1, got two that differ"):
        proof.cost([0.0, 1.5], optima_range=1.0)
    with pytest.raises(ValueError, match="`optima_range` must be a finite number"):
        proof.cost([0.0, 1.5], optima_range=inf)
    with pytest.raises(ValueError, match="`optima` must be a list of at least one number"):
        proof.cost([], optima_range=1.0)
    with pytest.raises(ValueError, match="`optima` must be a finite number, got nan"):
        proof.cost(nan)
    with pytest.raises(ValueError, match="`delta` must be above 0"):
        proof.cost([0.0], optima_range=1.0, delta=0.0)


# --- words ---------------------------------------------------------------------------------------


def test_a_certificate_in_words():
    proof = certify([0.25, 0.75] * 5000, upper=1.0, on_policy=[True] * 9000 + [False] * 1000)
    assert str(proof) == (
        "With probability at least 0.95, the expected loss of the mixture of all iterates is at "
        "most 0.649 (Theorem 4, 10000 examples).\n"
        "       0.5  mean loss, each before the update on it\n"
        "       0.1  beams that the learned policy did not choose\n"
        "   0.04895  deviation of a sample of this size"
    )
    assert str(proof.cost(0.25)) == (
        "With probability at least 0.95, the expected cost of the mixture's outputs is at most "
        "0.899 (Theorem 2).\n"
        "      0.25  cost of the best outputs\n"
        "     0.649  bound on the loss, which bounds what is added"
    )


def test_vacuous_and_clipped_certificates_say_so():
    proof = certify([0.5, 3.0], upper=1.0, clip=True)
    assert proof.vacuous
    assert "the expected min(loss, 1) of the mixture" in str(proof)
    assert "Losses above 1 count as that: 1 of them." in str(proof)
    assert str(proof).endswith("Vacuous: no min(loss, 1) is above 1 anyway.")
    assert "the expected cost, increases above 1 counted as that, of the" in str(proof.cost(0.0))
    assert not certify([0.5] * 1000, upper=1.0).vacuous
    assert certify([1.0], upper=1.0, explicit=True).vacuous


def test_explicit_expectations_are_sure():
    words = str(certify([0.5], upper=1.0, explicit=True))
    assert words.startswith("Certainly, the expected loss")
    assert "deviation" not in words


def test_json():
    proof = certify([0.25, 0.75], upper=1.0, delta=0.5, alphas=[0.5, 0.5])
    found = json.loads(json.dumps(proof.to_json()))
    assert found["bound"] == proof.bound == sum(found[part] for part in proof.parts)
    assert found["vacuous"] is True
    again = {name: found[name] for name in found if name not in ("bound", "vacuous")}
    assert Certificate(**again) == proof
    cost = json.loads(json.dumps(proof.cost(2.0).to_json()))
    assert cost["bound"] == proof.bound + 2
    assert cost["loss"] == found


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, "`losses` must be a list of at least one number"),
        ([0.5, nan], {}, "`losses` must be finite, got nan as number 2"),
        ([inf, 0.5], {"clip": True}, "`losses` must be finite, got inf as number 1"),
        (
            [0.5],
            {"clip": True, "upper": -1.0},
            "`upper`, to which `clip=True` cuts the losses, must be a finite number .* got -1",
        ),
        ([0.5, 0.5, -0.5], {}, "at least 0, got -0.5 for round 3"),
        ([0.5, 1.5], {}, "`upper` = 1, got 1.5 for round 2; raise `upper`, or pass `clip"),
        ([0.5], {"delta": 0.0}, "`delta` must be above 0 and at most 1, got 0.0"),
        ([0.5], {"delta": 1.5}, "`delta` must be above 0 and at most 1, got 1.5"),
        ([0.5], {"delta": nan}, "`delta` must be above 0 and at most 1, got nan"),
        ([0.5], {"upper": inf}, "`upper` must be a finite number of at least 0, got inf"),
        ([0.5], {"upper": nan}, "`upper` must be a finite number of at least 0, got nan"),
        ([0.5], {"upper": -1.0}, "`upper` must be a finite number of at least 0, got -1.0"),
        ([0.5], {"on_policy": [True], "alphas": [1.0]}, "got both; use `alphas` if"),
        (
            [0.5],
            {"on_policy": [True, True]},
            "`on_policy` must have one entry per loss \\(1\\), got 2",
        ),
        ([0.5, 0.5], {"alphas": [1.0]}, "`alphas` must have one entry per loss \\(2\\), got 1"),
        ([0.5, 0.5], {"alphas": [1.0, 1.5]}, "from 0 to 1, got 1.5 for round 2"),
        ([0.5], {"alphas": [nan]}, "`alphas` must be finite"),
        ([0.5], {"explicit": True, "alphas": [1.0]}, "`explicit=True` .* got `alphas`; leave it"),
        ([0.5], {"explicit": True, "on_policy": [True]}, "`explicit=True` .* got `on_policy`"),
    ],
)
def test_refusals(values, options, message):
    with pytest.raises(ValueError, match=message):
        certify(values, **({"upper": 1.0} | options))


@pytest.mark.usefixtures("no_shape_checks")
def test_refused_types():
    with pytest.raises(ValueError, match=r"at least one number, got shape \(2, 2\)"):
        certify(torch.zeros(2, 2), upper=1.0)
    with pytest.raises(ValueError, match="`on_policy` must hold booleans, got torch.float32"):
        certify([0.5], upper=1.0, on_policy=torch.ones(1))


def test_refused_schedules():
    with pytest.raises(ValueError, match="`horizon` must be at least 2, got 1"):
        interpolation_alphas([0.5], 1)
    with pytest.raises(ValueError, match="`betas` must be probabilities .* got -0.5 for round 2"):
        interpolation_alphas([0.5, -0.5], 3)


# --- the best policy in hindsight ----------------------------------------------------------------


def test_a_certified_regret():
    found = regret(0.75, 0.5, 0.25)
    assert (found.gamma_lower, found.gamma_upper) == (0.25, 0.5)
    assert (found.epsilon_lower, found.epsilon_upper, found.gap) == (0.25, 0.5, 0.25)
    assert found.certified
    assert "estimate" not in str(found)


def test_an_estimated_regret():
    found = regret(0.75, 0.5)
    assert (found.gamma_lower, found.gamma_upper, found.gap) == (0.25, None, None)
    assert not found.certified
    assert str(found) == (
        "mean loss 0.75 = best policy in hindsight 0.5 + regret 0.25 (estimate: a better policy "
        "may exist)"
    )
    assert json.loads(json.dumps(found.to_json())) == {
        "loss": 0.75,
        "epsilon_upper": 0.5,
        "epsilon_lower": None,
        "gamma_lower": 0.25,
        "gamma_upper": None,
        "gap": None,
        "certified": False,
    }


def test_a_lower_bound_may_be_rounded_but_not_wrong():
    assert regret(0.75, 0.5, 0.5 + 1e-12).gap == 0.0
    with pytest.raises(ValueError, match="`hindsight_lower` must not exceed .* = 0.5, got 0.6"):
        regret(0.75, 0.5, 0.6)
    with pytest.raises(ValueError, match="`losses_mean` must be a finite number, got nan"):
        regret(nan, 0.5)
    with pytest.raises(ValueError, match="`hindsight_value` must be a finite number"):
        regret(0.5, inf)
    with pytest.raises(ValueError, match="`hindsight_lower` must be a finite number"):
        regret(0.5, 0.5, -inf)
