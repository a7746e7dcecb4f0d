import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from spaces import HammingTask, TableScorer
from tiny import training
from torch.optim import SGD

import beamlearn as bl
from beamlearn.learning.ranks import Ranks, described, rebuilt
from beamlearn.learning.shards import Shards, check_shards, merge
from beamlearn.learning.shared_gradient import check_batches, flat_gradient, put_gradient
from beamlearn.search.check_tensors import NotFiniteError
from beamlearn.strategies import Interpolate
from beamlearn.training.trainer import fit

counts = st.integers(1, 40)


def tree(count):
    """The sum of a, b, c, ... with brackets, by the book: pairs, and pairs of those."""
    row = [str(leaf) for leaf in range(count)]
    while len(row) > 1:
        pairs = [row[i : i + 2] for i in range(0, len(row), 2)]
        row = [f"({pair[0]}+{pair[1]})" if len(pair) == 2 else pair[0] for pair in pairs]
    return row[0]


class Bracketed(str):
    """A text that shows how it was added up."""

    __slots__ = ()

    def __add__(self, other):
        return Bracketed(f"({self}+{other})")


@given(counts)
def test_all_leaves_add_up_to_the_root_of_the_balanced_tree(count):
    leaves = {(0, leaf): Bracketed(leaf) for leaf in range(count)}
    (total,) = merge(leaves, count).values()
    assert total == tree(count)


@given(counts, st.randoms())
def test_sums_do_not_depend_on_who_adds_up_or_on_the_order(count, draw):
    leaves = list(range(count))
    draw.shuffle(leaves)
    sums = {}
    for leaf in leaves:
        sums = merge({**sums, (0, leaf): Bracketed(leaf)}, count)
    assert [*sums.values()] == [tree(count)]


@given(st.integers(1, 12), st.integers(1, 12))
def test_the_sums_of_processes_meet_in_the_same_tree(ranks, each):
    count = ranks * each
    cut = [Shards(count, ranks=ranks, rank=rank) for rank in range(ranks)]
    assert [shard for one in cut for shard in one.own] == list(range(count))
    met = {}
    for one in cut:
        own = merge({(0, shard): Bracketed(shard) for shard in one.own}, count)
        assert sorted(own) == one.nodes_of_rank(one.rank)
        met |= own
    assert [*merge(met, count).values()] == [tree(count)]


def test_powers_of_two_send_one_sum_per_process():
    assert Shards(8, ranks=2, rank=1).nodes_of_rank(1) == [(2, 1)]


@given(st.lists(st.integers(0, 99), max_size=20), counts)
def test_a_batch_is_cut_and_put_together_again(batch, count):
    shards = Shards(count)
    parts = shards.cut(batch)
    assert len(parts) == count
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    if batch:
        numbers = {s: torch.tensor(part, dtype=torch.long) for s, part in enumerate(parts) if part}
        assert shards.placed(numbers, len(batch)).tolist() == batch


def test_several_numbers_of_an_example_come_shard_by_shard():
    parts = {1: torch.tensor([4.0, 5.0]), 0: torch.tensor([1.0, 2.0, 3.0])}
    assert Shards(2).placed(parts, size=3).tolist() == [1, 2, 3, 4, 5]


def test_only_lists_can_be_cut():
    with pytest.raises(TypeError, match="list of examples to be cut into `shards`, got a Tensor"):
        Shards(2).cut(torch.zeros(3))


@pytest.mark.parametrize(
    ("shards", "processes", "match"),
    [
        (0, 1, "`shards` must be a whole number of at least 1, got 0"),
        (True, 1, "got True"),
        (1, 2, r"multiple of the number of processes, which is 2, got 1; .*`shards=2`"),
        (6, 4, r"which is 4, got 6; .*\(1, 2, 3, 6\)"),
    ],
)
def test_numbers_of_shards_that_do_not_fit(shards, processes, match):
    with pytest.raises(ValueError, match=match):
        check_shards(shards, processes)


def test_a_flat_gradient_knows_which_parameters_have_none():
    one, two, three = (torch.nn.Parameter(torch.zeros(size)) for size in ((2, 2), (3,), (1,)))
    one.grad, three.grad = torch.arange(4.0).view(2, 2), torch.zeros(1)
    flat = flat_gradient([one, two, three])
    assert flat.tolist() == [0, 1, 2, 3, 0, 0, 0, 0, 1, 0, 1]
    put_gradient(flat + flat, [one, two, three])
    assert one.grad.tolist() == [[0, 2], [4, 6]]
    assert two.grad is None
    assert three.grad.tolist() == [0]


def test_gradients_of_several_types_are_added_in_the_widest():
    half = torch.nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))
    whole = torch.nn.Parameter(torch.zeros(1))
    half.grad, whole.grad = torch.ones_like(half), torch.ones_like(whole)
    flat = flat_gradient([half, whole])
    assert flat.dtype == torch.float32
    put_gradient(flat, [half, whole])
    assert half.grad.dtype == torch.bfloat16
    assert half.grad.tolist() == [1, 1]


def problem():
    scorer = TableScorer(torch.nn.Parameter(torch.zeros(3, 5, 4)))
    gold = [[2, 3, 1], [2, 1, 3], [0, 1, 2], [3, 3, 1], [1, 2, 3]]
    return HammingTask(4), gold, scorer


def rounds_of(shards, batch, **options):
    task, _, scorer = problem()
    optimizer = SGD([scorer.table], lr=0.5)
    options = {"loss": "log_loss_neighbors", "width": 2, "shards": shards, **options}
    batches = [batch] * options.pop("rounds", 3)
    return list(bl.learn(batches, task, scorer, optimizer, **options)), scorer.table.detach()


@pytest.mark.parametrize("shards", [2, 3, 4, 7])
@pytest.mark.parametrize(
    "options", [{}, {"beam_weight": 0.3}, {"loss": "upper_bound", "rounds": 1}]
)
def test_shards_sum_up_to_the_undivided_batch(shards, options):
    _, gold, _ = problem()
    whole, expected = rounds_of(1, gold, **options)
    parts, table = rounds_of(shards, gold, **options)
    torch.testing.assert_close(table, expected)
    for one, two in zip(parts, whole, strict=True):
        assert one.gradient_norm == pytest.approx(two.gradient_norm)
        torch.testing.assert_close(one.losses, two.losses)
        for name in ("costs", "optima", "increases", "on_policy", "steps"):
            assert torch.equal(getattr(one, name), getattr(two, name)), name
        assert (one.width, one.beam_weight) == (two.width, two.beam_weight)


def test_the_first_gradient_by_the_book():
    task, gold, scorer = problem()
    parts = []
    for shard in range(3):
        path = bl.beam_trajectory(task.space(gold[shard::3]), scorer, width=2)
        incurred = path.losses(bl.losses.log_loss_neighbors).sum() / len(gold)
        parts.append(torch.autograd.grad(incurred, [scorer.table])[0])
    expected = -0.5 * ((parts[0] + parts[1]) + parts[2])
    optimizer = SGD([scorer.table], lr=0.5)
    list(bl.learn([gold], task, scorer, optimizer, loss="log_loss_neighbors", width=2, shards=3))
    assert torch.equal(scorer.table.detach(), expected)


def test_clipping_is_of_the_sum():
    _, gold, _ = problem()
    (round, *_), _ = rounds_of(3, gold, clip=0.01)
    assert round.gradient_norm > 0.01
    task, gold, scorer = problem()
    optimizer = SGD([scorer.table], lr=1.0)
    list(bl.learn([gold], task, scorer, optimizer, loss="upper_bound", clip=0.01, shards=2))
    assert scorer.table.detach().norm().item() == pytest.approx(0.01, rel=1e-4)


def test_coins_depend_on_the_seed_and_the_round_but_not_on_the_past():
    _, gold, _ = problem()
    options = {"strategy": Interpolate(0.5), "trajectories": True}

    def beams(past, seed):
        generator = torch.Generator().manual_seed(past)
        rounds, _ = rounds_of(2, gold, generator=generator, seed=seed, **options)
        return [path.beams for round in rounds for path in round.trajectories]

    assert beams(past=1, seed=0) == beams(past=2, seed=0)
    found = [beams(past=1, seed=seed) for seed in range(5)]
    assert any(one != found[0] for one in found)


def test_every_seed_round_and_shard_draws_numbers_of_its_own():
    model, coins = torch.nn.Linear(1, 1), torch.Generator()

    def drawn(seed, round, shard):
        with Shards(3, seed).seeded(model, coins, round, shard):
            return float(torch.rand(())), float(torch.rand((), generator=coins))

    places = [(seed, t, shard) for seed in range(2) for t in range(1, 4) for shard in range(3)]
    found = [drawn(*place) for place in places]
    assert found == [drawn(*place) for place in places]
    assert len({number for both in found for number in both}) == 2 * len(places)


def test_random_numbers_of_the_caller_stay_their_own():
    _, gold, _ = problem()
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    rounds_of(2, gold)
    assert torch.equal(torch.rand(1), expected)


def test_trajectories_come_shard_by_shard():
    _, gold, _ = problem()
    (round, *_), _ = rounds_of(2, gold, trajectories=True)
    assert [len(path) for path in round.trajectories] == [3, 2]
    assert round.trajectory is None
    (round, *_), _ = rounds_of(1, gold, trajectories=True)
    assert len(round.trajectory) == 5


def test_an_empty_batch_is_refused():
    with pytest.raises(ValueError, match="at least one example, got an empty batch"):
        rounds_of(2, [])


def test_a_loss_that_is_not_finite_is_found_in_its_shard():
    _, gold, scorer = problem()
    spoilt = []

    class Watched(HammingTask):
        def space(self, batch):
            spoilt[:] = [gold[3] in batch]
            return super().space(batch)

    def broken(scores, costs, width, mask=None):
        found = bl.losses.upper_bound(scores, costs, width, mask)
        return found * torch.nan if spoilt[0] else found

    rounds = bl.learn([gold], Watched(4), scorer, SGD([scorer.table]), loss=broken, shards=2)
    with pytest.raises(NotFiniteError, match="in round 1 in shard 1 of 2 the loss 'broken' gave"):
        next(rounds)
    assert not scorer.table.any()


def test_gradients_that_overflow_together_are_refused():
    _, gold, scorer = problem()

    def steep(scores, costs, width, mask=None):
        return bl.losses.log_loss_neighbors(scores, costs, width, mask) * 3e38

    rounds = bl.learn([gold * 2], HammingTask(4), scorer, SGD([scorer.table]), loss=steep, shards=2)
    with pytest.raises(NotFiniteError, match="in round 1 "):
        next(rounds)
    assert not scorer.table.any()


@pytest.mark.parametrize("wrapper", [torch.nn.DataParallel, "distributed"])
def test_wrapped_scorers_are_refused(wrapper):
    from beamlearn.learning.learn import check_unwrapped

    module = torch.nn.Linear(1, 1)
    if wrapper == "distributed":  # without the processes that its constructor looks for
        wrapper = torch.nn.parallel.DistributedDataParallel
        wrapped = wrapper.__new__(wrapper)
    else:
        wrapped = wrapper(module)
    check_unwrapped(module)
    with pytest.raises(ValueError, match="`scorer` must be a scorer by itself, got one in a D.*"):
        check_unwrapped(wrapped)


def test_unequal_batches_are_refused():
    note = {"round": 1, "size": 4}
    check_batches([note, note])
    with pytest.raises(ValueError, match="of 3 examples in process 1 and of 4 examples in process"):
        check_batches([note, {"round": 1, "size": 3}])
    with pytest.raises(ValueError, match="of round 2 in process 1"):
        check_batches([note, {"round": 2, "size": 4}])


def test_errors_cross_to_other_processes_with_what_they_know():
    found = rebuilt(described(NotFiniteError("Losses", "one is nan", "stop")), 1)
    assert isinstance(found, NotFiniteError)
    assert found.found == "one is nan"
    found = rebuilt(described(bl.training.settings.SettingsError("No.", "out")), 1)
    assert (str(found), found.settings) == ("No.", ("out",))
    assert "Process 1 of the training failed: KeyError: 'a'" in str(
        rebuilt(described(KeyError("a")), 1)
    )


def test_one_process_alone_exchanges_nothing():
    ranks = Ranks()
    assert ranks.gather(b"a") == [b"a"]
    assert ranks.broadcast(b"a") == b"a"
    with pytest.raises(KeyError), ranks.agreeing():
        raise KeyError


def weights(**settings):
    """A training with dropout whose last batches have one example, so some shards have none."""
    found = training(**{"train": 9, "batch_size": 4, "epochs": 2, **settings})
    fit(found)
    return torch.cat([p.detach().flatten() for p in found.scorer.parameters()])


def test_one_shard_is_the_batch_itself(monkeypatch):
    from beamlearn.learning import learn as module

    expected = weights()
    monkeypatch.setattr(module, "SharedGradient", lambda *_, **__: None)  # it is not asked
    assert torch.equal(weights(shards=1), expected)
    assert not torch.equal(weights(seed=1), expected)


def test_shards_are_part_of_the_experiment():
    assert torch.equal(weights(shards=3), weights(shards=3))
    assert not torch.equal(weights(shards=3), weights(shards=2))  # other dropout
