from collections import deque
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny import training

from beamlearn.evaluation.evaluate import Evaluation
from beamlearn.learning.learn import Round, learn
from beamlearn.learning.seeds import seed_of
from beamlearn.training import trainer as module
from beamlearn.training.batches import POOL, batches_of
from beamlearn.training.trainer import DECAYS, Judgment, Validation

pytestmark = pytest.mark.usefixtures("no_shape_checks")


def generator_of(seed):
    return torch.Generator().manual_seed(seed)


def assert_same(one, two):
    """Equal states: every tensor bit for bit, and every fact."""
    (tensors, facts), (others, expected) = one, two
    assert facts == expected
    assert tensors.keys() == others.keys()
    for name, tensor in tensors.items():
        assert torch.equal(tensor, others[name]), name


def run(steps):
    """Train to the end; return the final state."""
    for _ in steps:
        pass
    return steps.state()


# --- batches ------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 7), st.none() | st.integers(0, 5))
def test_batches_are_a_partition(lengths, size, seed):
    examples = [[number] * length for number, length in enumerate(lengths)]
    drawn = [None if seed is None else generator_of(seed) for _ in range(2)]
    batches = batches_of(examples, size, drawn[0])
    placed = [id(example) for batch in batches for example in batch]
    assert sorted(placed) == sorted(map(id, examples))
    assert all(1 <= len(batch) <= size for batch in batches)
    assert len(batches) == -(-len(examples) // size)
    assert batches == batches_of(examples, size, drawn[1])


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 7), st.none() | st.integers(0, 5))
def test_batches_have_similar_lengths(lengths, size, seed):
    examples = [[0] * length for length in lengths]  # all in one pool
    batches = batches_of(examples, size, None if seed is None else generator_of(seed))
    ranges = sorted((min(map(len, batch)), max(map(len, batch))) for batch in batches)
    assert all(one[1] <= two[0] for one, two in pairwise(ranges))
    if seed is None:
        assert ranges == [(len(batch[0]), len(batch[-1])) for batch in batches]


def test_batches_are_as_many_as_needed_with_several_pools():
    examples = ["x" * (number % 7) for number in range(POOL * 2 * 2 + 3)]
    batches = batches_of(examples, 2, generator_of(0))
    assert len(batches) == POOL * 2 + 2
    assert sorted(map(len, batches)) == [1, *[2] * (POOL * 2 + 1)]


def test_batches_come_in_random_order_from_a_generator():
    examples = ["x" * number for number in range(30)]
    orders = [batches_of(examples, 3, generator_of(seed)) for seed in (0, 1)]
    assert orders[0] != orders[1]
    assert [len(batch[0]) for batch in orders[0]] != sorted(len(batch[0]) for batch in orders[0])


# --- schedules and seeds ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "factors"),
    [("constant", [1, 1, 1]), ("linear", [1, 0.5, 0]), ("cosine", [1, 0.5, 0])],
)
def test_decay(schedule, factors):
    assert [DECAYS[schedule](done) for done in (0, 0.5, 1)] == pytest.approx(factors)
    falling = [DECAYS[schedule](done / 20) for done in range(21)]
    assert falling == sorted(falling, reverse=True)


def test_learning_rate_falls_by_rounds():
    steps = training(schedule="linear", learning_rate=0.6, epochs=2)
    rates = []
    steps.optimizer.register_step_pre_hook(
        lambda optimizer, *_: rates.append(optimizer.param_groups[0]["lr"])
    )
    run(steps)
    assert rates == pytest.approx([0.6, 0.5, 0.4, 0.3, 0.2, 0.1])


def test_seeds_differ_in_all_they_are_made_of():
    made = {
        seed_of(seed, what, position)
        for seed in (0, 1)
        for what in ("epoch", "coins")
        for position in range(3)
    }
    assert len(made) == 12
    assert all(0 <= seed < 2**63 for seed in made)


def orders_of(**learning):
    """The batches of each epoch, as tuples of the examples' numbers."""
    steps = training(train=30, epochs=3, **learning)
    places = {id(example): number for number, example in enumerate(steps.examples)}
    seen = []
    space = steps.task.space
    steps.task.space = lambda batch: seen.append([places.get(id(e)) for e in batch]) or space(batch)
    run(steps)
    rounds = [batch for batch in seen if None not in batch]
    return [rounds[start : start + steps.rounds_per_epoch] for start in (0, 8, 16)]


def test_order_differs_by_epoch_and_by_seed():
    orders = orders_of(seed=0)
    for epoch in orders:
        assert sorted(number for batch in epoch for number in batch) == list(range(30))
    assert orders[0] != orders[1] != orders[2] != orders[0]
    others = orders_of(seed=1)
    assert all(one != two for one, two in zip(orders, others, strict=True))
    assert orders == orders_of(seed=0)


# --- the events ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("train", "per_epoch"), [(8, 2), (9, 3), (3, 1)])
def test_an_epoch_is_its_rounds_and_a_validation(train, per_epoch):
    steps = training(train=train, epochs=2, patience=None)
    assert (steps.rounds_per_epoch, steps.rounds) == (per_epoch, 2 * per_epoch)
    events = list(steps)
    kinds = [type(event) for event in events]
    assert kinds == [*[Round] * per_epoch, Validation] * 2
    assert [e.number for e in events if isinstance(e, Round)] == list(range(1, 2 * per_epoch + 1))
    found = [event for event in events if isinstance(event, Validation)]
    assert [(v.epoch, v.round, v.stop) for v in found] == [
        (1, per_epoch, False),
        (2, 2 * per_epoch, True),
    ]
    assert found[0].best
    assert all(len(v.evaluation) == 4 for v in found)
    assert list(steps) == []


def test_widths_of_a_ramp_are_those_of_the_rounds():
    steps = training(train=16, width="1:3", epochs=3)
    widths = [event.width for event in steps if isinstance(event, Round)]
    assert widths == [1, 1, 2, 2, 3, 3, *[3] * 6]


def test_validation_is_with_the_final_width_and_without_dropout(monkeypatch):
    calls = []

    def spy(batches, task, scorer, width, final_width, ranks):
        calls.append(width)
        return evaluation(1.0)

    monkeypatch.setattr(module, "evaluate_together", spy)
    run(training(width="1:3", epochs=2))
    assert calls == [3, 3]


def evaluation(cost):
    some = torch.tensor([cost])
    return Evaluation(some, some, torch.tensor([1]))


def test_the_weights_of_a_warm_start_are_kept_if_training_makes_them_worse(monkeypatch):
    left = iter([1.0, 3.0, 2.0])
    monkeypatch.setattr(module, "evaluate_together", lambda *_, **__: evaluation(next(left)))
    steps = training(epochs=2, warm=True)
    before = {name: value.clone() for name, value in steps.scorer.state_dict().items()}
    found = [event for event in steps if isinstance(event, Validation)]
    assert [(v.epoch, v.round, v.best) for v in found] == [
        (0, 0, True),
        (1, 3, False),
        (2, 6, False),
    ]
    steps.best.restore()
    after = steps.scorer.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())


@pytest.mark.slow
@pytest.mark.parametrize("events", range(8))
def test_a_warm_start_that_is_left_goes_on_to_the_same_weights(events):
    whole = training(epochs=2, warm=True)
    expected = list(whole)
    one, two = training(epochs=2, warm=True), training(epochs=2, warm=True)
    before = [event for _, event in zip(range(events), one, strict=False)]
    two.restore(*one.state())
    assert len(before) + len(list(two)) == len(expected)
    state, facts = two.state()
    other, same = whole.state()
    assert facts == same
    assert all(torch.equal(state[name], value) for name, value in other.items())


def rates(**learning):
    steps = training(train=16, epochs=2, **learning)
    return [steps.optimizer.param_groups[0]["lr"] for event in steps if isinstance(event, Round)]


def test_a_second_phase_starts_the_learning_rate_again():
    """Of each round, the rate that the next one has."""
    fall = [0.05 * (1 - t / 8) for t in range(1, 9)]
    assert rates() == pytest.approx(fall)
    assert rates(beam_start=0.5) == pytest.approx(fall)
    phases = [0.0375, 0.025, 0.0125, 0.01, 0.0075, 0.005, 0.0025, 0.0]
    assert rates(beam_start=0.5, beam_restart=0.2) == pytest.approx(phases)
    constant = rates(beam_start=0.5, beam_restart=0.2, schedule="constant")
    assert constant == pytest.approx([*[0.05] * 3, *[0.01] * 5])


def test_across_the_border_of_two_phases_it_goes_on_to_the_same_weights():
    phases = {"epochs": 2, "beam_start": 0.5, "beam_restart": 0.3, "beam_every": 2}
    whole = training(**phases)
    rounds = [event for event in whole if isinstance(event, Round)]
    assert [round.beam_weight for round in rounds] == [0, 0, 0, 0.2, 0, 0.2]
    for events in (2, 3, 4, 5):
        one, two = training(**phases), training(**phases)
        for _ in zip(range(events), one, strict=False):
            pass
        two.restore(*one.state())
        list(two)
        found, expected = two.state()[0], whole.state()[0]
        assert all(torch.equal(found[name], value) for name, value in expected.items())


def test_the_judge_chooses_the_epoch_and_the_cost_decides_between_equals(monkeypatch):
    costs, losses = iter([5.0, 1.0, 4.0, 3.0]), iter([0.5, 0.6, 0.4, 0.4])
    monkeypatch.setattr(module, "evaluate_together", lambda *_, **__: evaluation(next(costs)))
    steps = training(epochs=4, patience=0, judge=lambda _: Judgment(next(losses)))
    found = [event for event in steps if isinstance(event, Validation)]
    assert [event.best for event in found] == [True, False, True, True]
    assert [event.loss for event in found] == [0.5, 0.6, 0.4, 0.4]
    assert steps.best.costs == (0.4, 3.0)


@pytest.mark.parametrize(
    ("costs", "patience", "epochs"),
    [
        ([3.0, 2.0, 2.0, 2.5, 1.0], 2, 4),  # as good is kept, but no reason to go on
        ([3.0, 2.0, 2.5, 1.0, 1.5], 2, 5),
        ([1.0, 1.0, 0.0, 0.0, 0.0], 1, 2),
        ([1.0, 2.0, 2.0, 2.0, 2.0], None, 5),
    ],
)
def test_early_stopping(monkeypatch, costs, patience, epochs):
    left = iter(costs)
    monkeypatch.setattr(module, "evaluate_together", lambda *_, **__: evaluation(next(left)))
    steps = training(epochs=5, patience=patience)
    events, states = [], []
    for event in steps:
        if isinstance(event, Validation):
            events.append(event)
            states.append(steps.state()[0])
    assert [event.stop for event in events] == [*[False] * (epochs - 1), True]
    cheapest = max(range(epochs), key=lambda i: (-costs[i], i))  # the last of equals
    expected = [cost <= min(costs[:i], default=9) for i, cost in enumerate(costs)]
    assert [event.best for event in events] == expected[:epochs]
    assert steps.best.cost == costs[cheapest]
    for name, tensor in steps.best.state.items():
        assert torch.equal(tensor, states[cheapest][f"model.{name}"])


def test_patience_survives_going_back(monkeypatch):
    costs = [3.0, 4.0, 5.0, 6.0]
    left = iter(costs)
    monkeypatch.setattr(module, "evaluate_together", lambda *_, **__: evaluation(next(left)))
    steps = training(epochs=9, patience=3)
    for event in steps:
        if isinstance(event, Validation) and event.epoch == 2:
            break
    again = training(epochs=9, patience=3)
    again.restore(*steps.state())
    rest = [event.epoch for event in again if isinstance(event, Validation)]
    assert rest == [3, 4]
    assert again.best.cost == 3.0


def test_nothing_is_left_after_the_end():
    steps = training(epochs=1)
    state = run(steps)
    again = training(epochs=1)
    again.restore(*state)
    assert list(again) == []
    assert_same(again.state(), state)


# --- randomness ---------------------------------------------------------------------------------


def test_callers_random_numbers_are_untouched():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    for _ in training(network={"dropout": 0.5}, strategy="interpolate", beta=0.5):
        assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(torch.get_rng_state(), before)


def test_what_the_caller_draws_changes_nothing():
    quiet, noisy = training(), training()
    expected = run(quiet)
    for number, _ in enumerate(noisy):
        torch.manual_seed(number)
        torch.rand(number)
    assert_same(noisy.state(), expected)


def fetched(batches, ahead):
    """The same batches, each fetched while so many before it still wait."""
    waiting = deque()
    for batch in batches:
        waiting.append(batch)
        if len(waiting) > ahead:
            yield waiting.popleft()
    yield from waiting


@pytest.mark.parametrize("ahead", [0, 1, 100])
def test_fetching_batches_early_changes_nothing(monkeypatch, ahead):
    chosen = {"network": {"dropout": 0.5}, "strategy": "interpolate", "beta": 0.5, "mixture": 2}
    expected = run(training(**chosen))

    def early(batches, *rest, **options):
        return learn(fetched(batches, ahead), *rest, **options)

    monkeypatch.setattr(module, "learn", early)
    assert_same(run(training(**chosen)), expected)


def test_a_seed_determines_the_weights():
    first = run(training(seed=3))
    assert_same(run(training(seed=3)), first)
    other = run(training(seed=4))[0]
    assert any(not torch.equal(other[name], tensor) for name, tensor in first[0].items())


def test_dropout_and_coins_come_from_the_seed_of_their_round():
    with_dropout = [run(training(train=4, epochs=1, seed=s))[0] for s in (0, 1)]
    assert any(not torch.equal(with_dropout[0][n], with_dropout[1][n]) for n in with_dropout[0])
    only_coins = [
        run(
            training(
                train=4,
                epochs=1,
                network={"dropout": 0.0},
                strategy="interpolate",
                beta=0.5,
                seed=s,
            )
        )[0]
        for s in (0, 1)
    ]
    assert any(not torch.equal(only_coins[0][n], only_coins[1][n]) for n in only_coins[0])


# --- state and restore --------------------------------------------------------------------------

KINDS = {
    "dropout": {"network": {"dropout": 0.5}, "schedule": "linear"},
    "interpolate": {"strategy": "interpolate", "beta": "0.9:0.1", "schedule": "cosine"},
    "sample": {
        "algorithm": "minimum_risk_sampled",
        "width": 3,
        "network": {"normalize": "log_softmax"},
    },
    "ramp": {"width": "1:3", "schedule": "constant", "algorithm": "bso"},
    "patience": {"patience": 1, "epochs": 6, "learning_rate": 1e-6},
    "sentence": {"network": {"context": "sentence", "encoder_size": 4, "history": "gru"}},
    "linear": {"network": {"model": "linear", "buckets": 64}, "algorithm": "early_update"},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_going_back_to_any_state_leads_to_the_same_end(kind):
    steps = training(train=7, **KINDS[kind])
    states = [steps.state()]
    events = []
    for event in steps:
        states.append(steps.state())
        events.append(event)
    assert sum(isinstance(event, Validation) for event in events) >= 2
    for place, state in enumerate(states):
        again = training(train=7, **KINDS[kind])
        again.restore(*state)
        assert_same(again.state(), state)
        for event, expected in zip(again, events[place:], strict=True):
            assert type(event) is type(expected)
            if isinstance(event, Round):
                assert torch.equal(event.losses, expected.losses)
                assert torch.equal(event.costs, expected.costs)
                assert (event.number, event.width) == (expected.number, expected.width)
                assert event.gradient_norm == expected.gradient_norm
            else:
                assert torch.equal(event.evaluation.costs, expected.evaluation.costs)
                assert replace(event, evaluation=expected.evaluation) == expected
        assert_same(again.state(), states[-1])


def test_breaking_off_and_iterating_again_goes_on():
    expected = run(training())
    steps = training()
    while not steps.stopped:
        for _ in steps:
            break
    assert_same(steps.state(), expected)


def test_a_state_is_a_snapshot_that_can_be_used_twice():
    expected = run(training())
    steps = training()
    for _ in zip(range(5), steps, strict=False):
        pass
    state = steps.state()
    kept = {name: tensor.clone() for name, tensor in state[0].items()}
    for _ in range(2):
        run(steps)
        assert_same(steps.state(), expected)
        assert_same((state[0], state[1]), (kept, state[1]))
        steps.restore(*state)
        assert_same(steps.state(), state)


def test_going_back_before_the_first_validation_forgets_the_best():
    steps = training()
    start = steps.state()
    expected = run(steps)
    steps.restore(*start)
    assert steps.best.state is None
    assert steps.best.cost == float("inf")
    assert_same(run(steps), expected)


@pytest.mark.parametrize(
    "change",
    [{"batch_size": 2}, {"batch_size": 9}, {"epochs": 1}, {"train": 20}],
)
def test_states_of_another_training_are_refused(change):
    steps = training(patience=None)
    state = run(steps)
    other = training(**{"train": 9, **change})
    with pytest.raises(ValueError, match="must be of a training with the same settings and exam"):
        other.restore(*state)
