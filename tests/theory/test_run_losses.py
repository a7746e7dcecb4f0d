"""What a run must be for the theorems to speak of it."""

import pytest
from tiny_trees import small
from torch import nn

from beamlearn.theory.run_losses import has_dropout, obstacles, one_pass, read_logged_losses
from beamlearn.training.settings import Learning

ONE_PASS = {"stream": True, "epochs": 1}
PLAIN = Learning(**ONE_PASS)


def record(number, losses=(0.5, 1.0), **more):
    each = {
        "losses": list(losses),
        "costs": [1.0] * len(losses),
        "optima": [0.0] * len(losses),
        "on_policy": [True] * len(losses),
        "steps": [3] * len(losses),
    }
    return {"round": number, "width": 8, "examples": len(losses), "each": each, **more}


def test_one_entry_for_each_example():
    log = [record(1), record(2, (2.0,)), {"round": 2, "epoch": 1, "validation_cost": 1.0}]
    found = read_logged_losses(log)
    assert found.rounds == (1, 1, 2)
    assert found.losses == (0.5, 1.0, 2.0)
    assert found.on_policy == (True, True, True)
    assert found.betas is None
    assert found.horizon == 4
    assert found.upto(2).losses == (0.5, 1.0)


def test_betas_are_spread_over_the_examples():
    assert read_logged_losses([record(1, beta=0.5), record(2, beta=0.0)]).betas == (
        0.5,
        0.5,
        0.0,
        0.0,
    )


def test_a_log_without_single_examples_is_no_evidence():
    bare = record(1)
    del bare["each"]
    assert read_logged_losses([record(1), bare]) is None
    assert read_logged_losses([]) is None


@pytest.mark.parametrize(
    ("log", "fits"),
    [
        ([record(1), record(2)], True),
        ([record(1), record(3)], False),
        ([record(1), record(1)], False),
        ([record(1), {**record(2), "width": 4}], False),
        ([record(1), {"round": 1, "epoch": 2}], False),
    ],
)
def test_the_log_of_one_pass(log, fits):
    assert one_pass(log, width=8) == fits


@pytest.mark.parametrize(
    ("learning", "warm", "reason"),
    [
        (Learning(stream=True, epochs=3), False, "of its 3 epochs"),
        (Learning(stream=False, epochs=1), False, "`stream`"),
        (Learning(**ONE_PASS, width="2:8"), False, "from 2 to 8"),
        (PLAIN, True, "another training"),
        (Learning(**ONE_PASS, beam_start=0.5), False, "not computed in every round"),
        (Learning(**ONE_PASS, beam_every=2), False, "not computed in every round"),
        (Learning(**ONE_PASS, beam_weight="0:0.1"), False, "not computed in every round"),
    ],
)
def test_each_obstacle_has_its_reason(learning, warm, reason):
    (told,) = obstacles(learning, nn.Linear(1, 1), warm)
    assert reason in told


def test_nothing_stands_in_the_way():
    assert obstacles(PLAIN, nn.Linear(1, 1), warm=False) == []


def test_whatever_is_random_counts_as_dropout():
    assert has_dropout(nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.1)))
    assert has_dropout(nn.LSTM(2, 2, num_layers=2, dropout=0.2))
    assert not has_dropout(nn.Sequential(nn.Dropout(0.0), nn.LSTM(2, 2)))


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_words_left_out_count_as_dropout(rate):
    assert has_dropout(small(dropout=0.0, word_dropout=rate).scorer) == (rate > 0)
