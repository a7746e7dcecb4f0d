import pytest
import torch

import beamlearn as bl


def test_table_1():
    rows = {
        name: (type(row.strategy).__name__.lower(), row.loss.__name__, row.width > 1)
        for name, row in bl.ALGORITHMS.items()
        if row.table == 1
    }
    assert rows == {
        "log_likelihood": ("oracle", "log_loss_neighbors", False),
        "dagger": ("continue", "log_loss_neighbors", False),
        "early_update": ("stop", "perceptron_first", True),
        "laso_perceptron": ("reset", "perceptron_first", True),
        "laso_margin": ("reset", "margin_last", True),
        "bso": ("reset", "cost_sensitive_margin_last", True),
        "globally_normalized": ("stop", "log_loss_beam", True),
        "continue": ("continue", "log_loss_neighbors", True),
    }
    for row in bl.ALGORITHMS.values():
        assert row.reference
        assert row.paper_form
        assert row.original


def test_table_2():
    rows = {
        name: (type(row.strategy).__name__, row.loss.__name__, row.width, row.out)
        for name, row in bl.ALGORITHMS.items()
        if row.table == 2
    }
    roll_in = {"reference": "Oracle", "mixture": "Interpolate", "learned": "Continue"}
    roll_out = {"reference": "reference", "mixture": 0.5, "learned": "learned"}
    assert rows == {
        "searn": ("Interpolate", "upper_bound", 1, 0.5),
        "aggrevate": ("Continue", "upper_bound", 1, "reference"),
        "lols": ("Continue", "upper_bound", 1, 0.5),
        **{
            f"lols_{i}_{o}": (roll_in[i], "upper_bound", 1, roll_out[o])
            for i in roll_in
            for o in roll_out
        },
        "scheduled_sampling": ("Interpolate", "log_loss_neighbors", 1, None),
        "max_violation": ("MaxViolation", "perceptron_first", 8, None),
    }


def stairs(example):
    """Climb four steps, left or right; the carpet, which is in the features, shows the way."""
    return bl.GraphSpace(
        (example, ""),
        lambda node: [(node[0], node[1] + d) for d in "lr"] if len(node[1]) < 4 else [],
        cost=lambda path: sum(a != b for a, b in zip(path[-1][1], example, strict=True)),
    )


def carpet(path):
    example, taken = path[-1]
    here = example[len(taken) - 1]
    return {f"{here}{taken[-1]}": 1.0, f"{taken[-1]}{len(taken)}": 1.0, "bias": 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("name", bl.ALGORITHMS)
def test_every_row_lowers_the_held_out_cost_of_a_model_that_starts_at_zero(name):
    words = [f"{n:04b}".replace("0", "l").replace("1", "r") for n in range(16)]
    training, held_out = words[::2] + words[1:4:2], words[5::2]
    task = bl.GraphTask(stairs)
    scorer = bl.LinearScorer(carpet, size=128)
    optimizer = torch.optim.SGD(scorer.parameters(), lr=0.2)
    row = bl.ALGORITHMS[name]
    before = bl.evaluate([held_out], task, scorer, width=row.width).cost
    batches = bl.minibatches(training, 2, epochs=6)
    choices = row.choices | {"width": min(2, row.width)}
    for _ in bl.learn(batches, task, scorer, optimizer, **choices):
        pass
    assert bl.evaluate([held_out], task, scorer, width=choices["width"]).cost < before
