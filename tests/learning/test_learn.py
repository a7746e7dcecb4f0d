import pytest
import torch
from spaces import HammingOracle, HammingTask, TableScorer, TaggingSpace

import beamlearn as bl
from beamlearn import strategies


def setup(tags=4):
    """Six examples of two kinds, which part ways at their second tag."""
    gold = [[2, 3, 1], [2, 1, 3]] * 3
    scorer = TableScorer(torch.nn.Parameter(torch.zeros(3, tags + 1, tags)))
    return HammingTask(tags), gold, scorer


def run(**options):
    task, gold, scorer = setup()
    optimizer = torch.optim.SGD([scorer.table], lr=0.5)
    options = {"loss": "log_loss_neighbors", "strategy": "continue", "width": 2} | options
    if "scheduler" in options:
        options["scheduler"] = options["scheduler"](optimizer)
    batches = list(bl.minibatches(gold, 2, epochs=2))[: options.pop("batches", None)]
    return list(bl.learn(batches, task, scorer, optimizer, **options)), scorer, optimizer


@pytest.mark.slow
@pytest.mark.parametrize("loss", bl.losses.LOSSES)
@pytest.mark.parametrize("strategy", ["oracle", "stop", "reset", "continue"])
def test_every_loss_and_strategy_learns_from_zero(loss, strategy):
    task, gold, scorer = setup()
    optimizer = torch.optim.SGD([scorer.table], lr=0.4)
    before = bl.evaluate([gold], task, scorer, width=2).cost
    batches = bl.minibatches(gold, 2, epochs=5)
    for _ in bl.learn(batches, task, scorer, optimizer, loss=loss, strategy=strategy, width=2):
        pass
    assert bl.evaluate([gold], task, scorer, width=2).cost < before


def test_a_round_tells_what_was_incurred_before_its_update():
    task, gold, scorer = setup()
    optimizer = torch.optim.SGD([scorer.table], lr=0.5)
    before = bl.beam_trajectory(task.space(gold[:2]), scorer, width=2)
    expected = before.losses(bl.losses.upper_bound).detach()
    rounds = bl.learn([gold[:2]], task, scorer, optimizer, loss="upper_bound", width=2)
    round = next(iter(rounds))
    assert torch.equal(round.losses, expected)
    assert torch.equal(round.increases, before.increases)
    assert torch.equal(round.costs, before.final_costs)
    assert round.number == 1
    assert scorer.table.abs().sum() > 0


def test_rounds_are_reproducible():
    one, two = (run(strategy=strategies.Interpolate(0.5), generator=g) for g in generators(2))
    assert torch.equal(one[1].table, two[1].table)


def generators(n):
    return [torch.Generator().manual_seed(7) for _ in range(n)]


def test_clipping_bounds_the_step():
    rounds, _, _ = run(clip=0.01)
    assert all(round.gradient_norm > 0.01 for round in rounds)
    task, gold, scorer = setup()
    optimizer = torch.optim.SGD([scorer.table], lr=1.0)
    list(bl.learn([gold], task, scorer, optimizer, loss="upper_bound", width=2, clip=0.01))
    assert scorer.table.detach().norm().item() == pytest.approx(0.01, rel=1e-4)


def test_scheduler_steps_once_a_round():
    rounds, _, optimizer = run(scheduler=lambda o: torch.optim.lr_scheduler.StepLR(o, 1, 0.5))
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * 0.5 ** len(rounds))


def test_width_may_grow_with_the_rounds():
    rounds, _, _ = run(width=lambda t: min(t, 3))
    assert [round.width for round in rounds] == [1, 2, 3, 3, 3, 3]


ALL = bl.losses.with_options(bl.losses.log_loss_neighbors, best="all")


def parts(reduction="sum"):
    """The likelihood of the oracle's path and the loss along the learned beams, before a round."""
    task, gold, scorer = setup()
    space = task.space(gold[:2])
    right = bl.beam_trajectory(space, scorer, width=1, strategy="oracle").losses(ALL, reduction)
    learned = bl.beam_trajectory(space, scorer, width=2).losses(bl.losses.upper_bound, reduction)
    return scorer, right, learned


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_with_a_beam_weight_a_round_incurs_the_likelihood_besides(reduction):
    scorer, right, learned = parts(reduction)
    (right + 0.25 * learned).mean().backward()
    rounds, after, _ = run(
        loss="upper_bound", beam_weight=0.25, reduction=reduction, width=2, batches=1
    )
    torch.testing.assert_close(after.table, scorer.table - 0.5 * scorer.table.grad)
    (round,) = rounds
    assert torch.equal(round.losses, learned)
    assert torch.equal(round.likelihoods, right)
    assert round.beam_weight == 0.25


def test_where_the_beam_weight_is_0_a_round_is_one_of_likelihood():
    mixed, scorer, _ = run(beam_weight=0.0, width=2)
    alone, other, _ = run(loss=ALL, strategy="oracle", width=1)
    assert torch.equal(scorer.table, other.table)
    for one, two in zip(mixed, alone, strict=True):
        assert torch.equal(one.losses, two.losses)
        assert torch.equal(one.likelihoods, one.losses)
        assert torch.equal(one.increases, two.increases)
        assert (one.width, two.width) == (1, 1)


def test_the_beam_weight_may_change_with_the_rounds():
    rounds, _, _ = run(beam_weight=lambda t: 0.5 * (t % 2 == 0))
    assert [round.beam_weight for round in rounds] == [0.0, 0.5] * 3
    assert [round.width for round in rounds] == [1, 2] * 3


def test_without_a_beam_weight_the_loss_is_alone():
    (round, *_), _, _ = run()
    assert round.likelihoods is None
    assert round.beam_weight is None


def test_both_trajectories_share_the_work_of_the_encoder(monkeypatch):
    starts = []
    start = TableScorer.start
    monkeypatch.setattr(
        TableScorer, "start", lambda scorer, space: starts.append(1) or start(scorer, space)
    )
    rounds, _, _ = run(beam_weight=0.1)
    assert len(starts) == len(rounds)


def test_a_beam_weight_is_not_negative():
    with pytest.raises(ValueError, match="`beam_weight` must be at least 0, got -0.1"):
        run(beam_weight=-0.1)


def test_mean_over_steps_is_a_smaller_sum():
    summed, mean = run(reduction="sum")[0][0], run(reduction="mean")[0][0]
    torch.testing.assert_close(summed.losses, mean.losses * 3)


def test_trajectories_on_request():
    assert run()[0][0].trajectory is None
    kept = run(trajectories=True)[0][0].trajectory
    assert len(kept.beams) == 2
    assert not kept.transitions[0].neighbors.scores.requires_grad


def test_rounds_and_trajectories_print_on_one_line():
    (round,), _, _ = run(batches=1, trajectories=True)
    assert str(round) == (
        "<Round 1: 2 examples, width 2, mean loss 5.545, mean cost 3, gradient norm 1.414>"
    )
    assert str(round.trajectory) == (
        "<Trajectory: 2 examples, up to 3 transitions, width 2, mean cost 3, 5 cost increases>"
    )
    nothing = bl.beam_trajectory(HammingTask(4).space([[]]), setup()[2])
    assert "1 example, up to" in repr(nothing)


def test_nothing_to_learn_from():
    task, gold, scorer = setup()
    optimizer = torch.optim.SGD([scorer.table], lr=0.5)
    with pytest.raises(ValueError, match="at least one example, got an empty batch"):
        list(bl.learn([[]], task, scorer, optimizer, loss="upper_bound"))
    scorer.table.requires_grad_(False)
    with pytest.raises(ValueError, match="scores that depend on its parameters, got"):
        list(bl.learn([gold], task, scorer, optimizer, loss="upper_bound"))


def test_resuming_counts_rounds_on():
    assert [r.number for r in run(first_round=5)[0]] == [5, 6, 7, 8, 9, 10]


def test_minibatches_shuffle_with_a_generator(generator):
    batches = list(bl.minibatches(range(10), 4, epochs=2, generator=generator))
    assert [len(batch) for batch in batches] == [4, 4, 2] * 2
    for epoch in (batches[:3], batches[3:]):
        assert sorted(x for batch in epoch for x in batch) == list(range(10))
    assert batches[:3] != batches[3:]
    with pytest.raises(ValueError, match="`size` of a batch must be at least 1, got 0"):
        next(bl.minibatches([1], 0))


def test_best_on_validation_returns_the_best_iterate():
    model = torch.nn.Linear(1, 1)
    best = bl.BestOnValidation(model)
    with pytest.raises(ValueError, match="No parameters to restore"):
        best.restore()
    for weight, cost in ((1.0, 5.0), (2.0, 3.0), (3.0, 4.0), (4.0, float("nan"))):
        torch.nn.init.constant_(model.weight, weight)
        best.offer(cost)
    assert best.since_best == 2
    best.restore()
    assert model.weight.item() == 2.0
    assert best.cost == 3.0


def test_evaluate_puts_the_scorer_back_and_needs_data():
    task, gold, scorer = setup()
    scorer.train()
    found = bl.evaluate([gold], task, scorer, width=2)
    assert scorer.training
    assert len(found) == len(gold)
    assert found.cost == found.regret  # the best taggings cost nothing
    assert found.increases_per_example <= 3
    with pytest.raises(RuntimeError, match="stop here"):
        bl.evaluate([gold], FailingTask(), scorer)
    assert scorer.training
    with pytest.raises(ValueError, match="at least one batch, got none"):
        bl.evaluate([], task, scorer)


class FailingTask:
    def space(self, batch):
        raise RuntimeError("stop here")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"loss": "perceptron_lst"},
            r"no loss called 'perceptron_lst'\. Did you mean 'perceptron_",
        ),
        ({"strategy": "continu"}, r"no strategy called 'continu'\. Did you mean 'continue'"),
        ({"width": 0}, "`width` must be at least 1, got 0"),
        ({"reduction": "median"}, "no reduction called 'median'"),
        ({"finish": "fist"}, r"no way to finish called 'fist'\. Did you mean 'first'"),
    ],
)
@pytest.mark.usefixtures("no_shape_checks")
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        run(**options)


class SpoiledCosts(HammingOracle):
    """Does not know what the second word of the second example costs."""

    def costs(self, memory, nodes):
        costs = super().costs(memory, nodes)
        if nodes.step == 1:
            costs[1] = torch.nan
        return costs


class SpoiledTask(HammingTask):
    def space(self, batch):
        space = TaggingSpace(batch, self.tags)
        space.oracle = lambda: SpoiledCosts(space)
        return space


def plain(scores, costs, width, mask):
    return (scores * costs).sum(dim=-1)


def wants_three(costs):
    """Where the right tag is 3."""
    return costs.argmin(dim=-1) % 4 == 3


def undefined(scores, costs, width, mask):
    """NaN where the right tag is 3; the gradient is finite there."""
    return plain(scores, costs, width, mask).masked_fill(wants_three(costs), torch.nan)


def steep(scores, costs, width, mask):
    """Finite everywhere, with a gradient that is not where the right tag is 3."""
    losses, spoiled = plain(scores, costs, width, mask), wants_three(costs)
    losses[spoiled] = (scores - scores).sum(dim=-1)[spoiled].abs().sqrt().double()
    return losses


WITHOUT_THREE, WITH_THREE = [2, 1, 1], [2, 3, 1]


@pytest.mark.parametrize("clip", [None, 0.5])
@pytest.mark.parametrize(
    ("task", "loss", "message"),
    [
        (SpoiledTask, plain, "Costs .* in round 1 the oracle gave nan to a neighbor of example 1;"),
        (SpoiledTask, "upper_bound", "Costs .* in round 1 the oracle gave nan to .* example 1;"),
        (
            HammingTask,
            undefined,
            "Losses .* in round 1 the loss 'undefined' gave nan to example 1, whose scores and",
        ),
        (
            HammingTask,
            steep,
            "Gradients .* in round 1 the gradient of table is nan from example 1, though the",
        ),
    ],
)
@pytest.mark.usefixtures("no_shape_checks")
def test_numbers_that_are_not_finite_do_not_reach_the_weights(task, loss, message, clip):
    _, _, scorer = setup()
    optimizer = torch.optim.SGD([scorer.table], lr=0.5)
    batches = [[WITHOUT_THREE, WITH_THREE]]
    rounds = bl.learn(batches, task(4), scorer, optimizer, loss=loss, width=2, clip=clip)
    with pytest.raises(ValueError, match=message):
        next(rounds)
    assert not scorer.table.any()


def test_the_round_that_is_not_finite_is_named():
    task, _, scorer = setup()
    optimizer = torch.optim.SGD([scorer.table], lr=0.5)
    batches = [[WITHOUT_THREE]] * 2 + [[WITH_THREE]]
    rounds = bl.learn(batches, task, scorer, optimizer, loss=undefined, width=2)
    next(rounds), next(rounds)
    before = scorer.table.detach().clone()
    with pytest.raises(ValueError, match="in round 3 the loss 'undefined' gave nan to example 0"):
        next(rounds)
    assert torch.equal(scorer.table, before)


def test_a_score_that_is_not_finite_names_its_round():
    task, gold, scorer = setup()
    optimizer = torch.optim.SGD([scorer.table], lr=0.5)
    rounds = bl.learn([gold[:2]] * 2, task, scorer, optimizer, loss="upper_bound", width=2)
    next(rounds)
    scorer.table.data[2] = torch.nan
    with pytest.raises(ValueError, match="Scores must be finite, but in round 2 the scorer gave"):
        next(rounds)


@pytest.mark.parametrize(
    ("loss", "found"),
    [
        (lambda scores, costs, width, mask: scores, r"the shape \(2, 4\)"),
        (lambda scores, costs, width, mask: scores.sum(), r"the shape \(\)"),
        (lambda scores, costs, width, mask: 0.0, "float"),
    ],
)
@pytest.mark.usefixtures("no_shape_checks")
def test_a_loss_is_one_number_per_row(loss, found):
    loss.__name__ = "my_loss"
    with pytest.raises(ValueError, match=rf"of shape \(2,\), but 'my_loss' returned {found}; add"):
        run(loss=loss)
