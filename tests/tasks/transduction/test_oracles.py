from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise

import by_the_book
import pytest
import sacrebleu
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import bucket

import beamlearn as bl
from beamlearn.search.brute_force import actions_to, levels
from beamlearn.tasks.transduction import ngrams
from beamlearn.tasks.transduction.edit import EditOracle, edit_distance
from beamlearn.tasks.transduction.exact_match import ExactMatchOracle, exact_match
from beamlearn.tasks.transduction.hamming import PaddedHammingOracle, padded_hamming
from beamlearn.tasks.transduction.ngrams import BleuOracle, ChrfOracle
from beamlearn.tasks.transduction.space import END, UNSEEN, TransductionExample, TransductionSpace

LETTERS = "abc"


@dataclass(frozen=True)
class Batch:
    """References of some examples, how long their outputs may be, and how tokens are spelled."""

    references: list
    limits: list
    spelling: list

    def __len__(self):
        return len(self.limits)

    @property
    def actions(self):
        return len(self.spelling)

    @property
    def room(self):
        """How many tokens an output can have."""
        return self.limits if self.actions > 1 else [0] * len(self)

    def space(self, costs=EditOracle, finish="pad"):
        batch = [
            TransductionExample(
                torch.tensor([1]), tuple(torch.tensor(y, dtype=torch.long) for y in several)
            )
            for several in self.references
        ]
        return TransductionSpace(batch, self.actions, self.limits, costs, finish=finish)

    def take(self, places):
        references, limits = ([x[i] for i in places] for x in (self.references, self.limits))
        return replace(self, references=references, limits=limits)

    def cost(self, distance, *weights):
        return lambda example, output: min(
            distance(output, y, *weights) for y in self.references[example]
        )

    def text(self, tokens, strange):
        lengths = [len(word) for word in self.spelling[1:]] or [1]
        mean = max(1, round(sum(lengths) / len(lengths)))
        return "".join(
            strange * mean if token == UNSEEN else "".join(LETTERS[u] for u in self.spelling[token])
            for token in tokens
        )

    def bleu(self, output, reference):
        """Tokens that have no number are never right."""
        one, two = (
            " ".join(strange if token == UNSEEN else str(token) for token in tokens)
            for tokens, strange in ((output, "?"), (reference, "!"))
        )
        smoothing = {"smooth_method": "add-k", "smooth_value": 1, "tokenize": "none"}
        return sacrebleu.sentence_bleu(one, [two], **smoothing).score / 100

    def chrf(self, output, reference):
        texts = self.text(output, "?"), [self.text(reference, "!")]
        return sacrebleu.sentence_chrf(*texts).score / 100


@st.composite
def batches(draw, max_limit=4, references=2, unseen=True):
    """References may be empty, too long, equal, or have tokens that no action stands for."""
    random = draw(st.randoms(use_true_random=False))
    actions = random.choice([1, 2, 3, 3, 3, 4])
    tokens = [*range(1, actions), *[UNSEEN] * unseen] or [UNSEEN]
    longest = random.randint(0, 6)

    def sequence():
        return [random.choice(tokens) for _ in range(random.randint(0, longest))]

    size = random.randint(1, 4)
    return Batch(
        [[sequence() for _ in range(random.randint(1, references))] for _ in range(size)],
        [random.randint(0, max_limit) for _ in range(size)],
        [
            [],
            *(
                [random.randrange(3) for _ in range(random.randint(0, 3))]
                for _ in range(1, actions)
            ),
        ],
    )


weights = st.sampled_from([0, 0.3, 0.5, 1, 1, 1, 2, 2.7])
triples = st.tuples(weights, weights, weights)
widths = st.integers(1, 4)
seeds = st.integers(0, 99)
finishes = st.sampled_from(["pad", "first"])


@st.composite
def oracles(draw, exact=False):
    """A way to cost outputs."""
    edits = draw(triples)
    makers = [
        lambda batch: lambda space: EditOracle(space, *edits),
        lambda _: PaddedHammingOracle,
        lambda _: ExactMatchOracle,
    ]
    if not exact:
        makers += [
            lambda _: BleuOracle,
            lambda batch: lambda space: ChrfOracle(space, batch.spelling),
        ]
    return draw(st.sampled_from(makers))


def noise(seed):
    return bl.FunctionScorer(lambda output: bucket((seed, tuple(output)), 7))


def step(batch, action):
    """Let all examples take the same action."""
    actions = torch.full((len(batch), 1), action)
    none = torch.zeros(len(batch), 1, dtype=torch.bool)
    return bl.Move(None, torch.zeros_like(actions), actions, stays=none, finished=none)


# --- exact oracles ------------------------------------------------------------------------------


@settings(max_examples=100)
@given(batches(), triples)
def test_edit_costs_are_minima_over_all_completions(batch, edits):
    space = batch.space()
    check = bl.check_oracle(
        space,
        EditOracle(space, *edits),
        cost=batch.cost(by_the_book.edit_distance, *edits),
        tolerance=1e-5,
    )
    assert check.exhaustive
    assert check.mistakes == []


@settings(max_examples=30)
@given(batches(), triples)
def test_a_space_with_a_distance_knows_what_outputs_cost(batch, edits):
    one, two = batch.space(), batch.space()
    one.distance = lambda output, reference: edit_distance(output, reference, *edits)
    two.distance = padded_hamming
    for example in range(len(one)):
        for output in ([], [1], [1, 2, 1]):
            expected = batch.cost(by_the_book.edit_distance, *edits)(example, output)
            assert one.cost(example, output) == pytest.approx(expected)
            assert two.cost(example, output) == batch.cost(by_the_book.padded_hamming)(
                example, output
            )
    assert batch.space().cost(0, []) is None


@settings(max_examples=60)
@given(batches(), st.tuples(*[st.integers(0, 20)] * 3), st.sampled_from([10, 100]), seeds)
def test_equal_costs_stay_equal_in_fractions(batch, edits, parts, seed):
    """Whole numbers are exact; tenths and hundredths of them must tie where these do."""
    space = batch.space()
    whole = EditOracle(space, *edits)
    fractions = EditOracle(space, *(edit / parts for edit in edits))
    path = bl.beam_trajectory(space, noise(seed), 3, oracle=whole)
    again = bl.beam_trajectory(space, noise(seed), 3, oracle=fractions)
    for one, two in zip(path.transitions, again.transitions, strict=True):
        torch.testing.assert_close(two.neighbors.costs * parts, one.neighbors.costs)
        tied = [n.costs[:, None] == n.costs[..., None] for n in (one.neighbors, two.neighbors)]
        assert torch.equal(*tied)


def test_weights_with_too_many_decimals_are_rounded():
    """Nothing to count by: the costs are near, and there is a tolerance for what they differ."""
    space = Batch([[[3, 3, 1, 4]]], [8], [[]] * 5).space()
    third = EditOracle(space, 1 / 3, 1 / 3, 2 / 3)
    assert third.units == 1
    assert third.tolerance > 0
    assert EditOracle(space, 0.7, 0.7, 1.4).units == 10


@settings(max_examples=60)
@given(batches())
def test_padded_hamming_costs_are_minima_over_all_completions(batch):
    space = batch.space(PaddedHammingOracle)
    check = bl.check_oracle(space, cost=batch.cost(by_the_book.padded_hamming))
    assert check.exhaustive
    assert check.mistakes == []


@settings(max_examples=60)
@given(batches())
def test_exact_match_costs_are_minima_over_all_completions(batch):
    space = batch.space(ExactMatchOracle)
    check = bl.check_oracle(space, cost=batch.cost(exact_match))
    assert check.exhaustive
    assert check.mistakes == []


def test_an_output_matches_or_not():
    assert exact_match((1, 2), [1, 2]) == 0
    assert exact_match([], [1]) == exact_match([2, 1], [1, 2]) == 1


@pytest.mark.parametrize("costs", [EditOracle, PaddedHammingOracle])
def test_long_references_agree_with_themselves(costs, generator):
    words = torch.randint(1, 9, (4, 30), generator=generator).tolist()
    spelling = [[]] * 9
    batch = Batch([words[:2], [words[2][:11]], [[]], words[3:]], [40, 20, 7, 19], spelling)
    distance = by_the_book.edit_distance if costs is EditOracle else by_the_book.padded_hamming
    check = bl.check_oracle(
        batch.space(costs), cost=batch.cost(distance), limit=0, walks=8, generator=generator
    )
    assert check.nodes > 500
    assert check.mistakes == []


@given(batches(), oracles(exact=True), widths, seeds, finishes)
def test_transition_costs_add_up(batch, costs, k, seed, finish):
    space = batch.space(costs(batch), finish)
    path = bl.beam_trajectory(space, noise(seed), width=k)
    oracle = space.oracle()
    assert oracle.exact
    assert path.finish == finish
    total = oracle.initial().clone()
    for transition in path.transitions:
        neighbors, step = transition.neighbors, transition.step
        cheapest = neighbors.fill(neighbors.costs, torch.inf).amin(dim=-1)
        after = transition.costs.masked_fill(~step.kept, torch.inf).amin(dim=-1)
        total = total.index_add(0, step.examples, after - cheapest)
    assert torch.allclose(total, path.final_costs, atol=1e-5)
    for costs_along in path.costs:
        minima = [min(costs) for costs in costs_along]
        assert all(later >= earlier - 1e-5 for earlier, later in pairwise(minima))


def test_rounding_is_tolerated_where_there_is_any():
    space = Batch([[[1, 2]]], [3], [[]] * 3).space()
    assert EditOracle(space, 1, 2, 3).tolerance == 0
    assert 0 < EditOracle(space, 1, 0.1, 3).tolerance < 1e-3
    assert PaddedHammingOracle(space).tolerance == 0


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_weights_must_be_numbers_from_0_up(weight):
    space = Batch([[[1, 2]]], [3], [[]] * 3).space()
    with pytest.raises(ValueError, match="`deletion` must be a finite number of at least 0, got"):
        EditOracle(space, deletion=weight)


# --- is the cheapest neighbor unique? -----------------------------------------------------------


def cheapest_on_the_way(batch, oracle, example):
    """How many neighbors are cheapest at each prefix of a reference, and is the next one?"""
    space, nodes, memory = batch.space(), batch.space().initial(), oracle.start()
    for action in [*batch.references[example][0], END]:
        legal = space.expand(nodes).legal
        costs = oracle.costs(memory, nodes)
        if legal is not None:
            costs = costs.masked_fill(~legal, torch.inf)
        row = costs[example, 0]
        yield int((row == row.min()).sum()), bool(row[action] == row.min())
        move = step(batch, action)
        nodes = space.advance(nodes, move)
        memory = oracle.advance(memory, nodes, move)


@given(batches(references=1), triples)
def test_unique_is_so_by_enumeration(batch, edits):
    fits = all(
        UNSEEN not in y[0] and len(y[0]) <= limit
        for y, limit in zip(batch.references, batch.room, strict=True)
    )
    space = batch.space()
    for oracle, expected in (
        (EditOracle(space, *edits), fits and min(edits) > 0),
        (PaddedHammingOracle(space), fits),
    ):
        assert oracle.unique is expected
        if expected:
            for example in range(len(batch)):
                assert set(cheapest_on_the_way(batch, oracle, example)) == {(1, True)}


@pytest.mark.parametrize(
    ("references", "limit", "edits"),
    [
        ([[1, 2], [2, 1]], 3, (1, 1, 1)),
        ([[1, UNSEEN]], 3, (1, 1, 1)),
        ([[1, 2]], 1, (1, 1, 1)),
        ([[1, 2]], 3, (0, 1, 1)),
        ([[1, 2]], 3, (1, 0, 1)),
        ([[1, 2]], 3, (1, 1, 0)),
    ],
    ids=["several", "unseen", "too long", "insertion", "deletion", "substitution"],
)
def test_what_makes_the_cheapest_neighbor_ambiguous(references, limit, edits):
    batch = Batch([references], [limit], [[]] * 3)
    oracle = EditOracle(batch.space(), *edits)
    assert not oracle.unique
    reachable = Batch([[[y for y in references[0] if y > 0][:limit]]], [limit], [[]] * 3)
    assert max(count for count, _ in cheapest_on_the_way(reachable, oracle, 0)) > 1


def test_bleu_and_chrf_promise_nothing():
    space = Batch([[[1, 2]]], [3], [[]] * 3).space()
    for oracle in BleuOracle(space), ChrfOracle(space, [[], [0], [1]]):
        assert not oracle.unique
        assert not oracle.exact
        assert oracle.tolerance == 1e-6


# --- BLEU and chrF ------------------------------------------------------------------------------

METRICS = {"bleu": BleuOracle, "chrf": ChrfOracle}


def make(name, batch):
    space = batch.space()
    return BleuOracle(space) if name == "bleu" else ChrfOracle(space, batch.spelling)


def through_ends(batch, name, example, prefix, room):
    """The least cost of the prefix with any end of a reference that there is room for."""
    metric = getattr(batch, name)
    return min(
        1 - metric(prefix + y[j:], y)
        for y in batch.references[example]
        for j in range(len(y) + 1)
        if j == len(y) or len(y) - j <= room
    )


@pytest.mark.parametrize("name", METRICS)
@given(batches(max_limit=3))
def test_costs_are_those_of_sacrebleu_through_the_best_end(name, batch):
    oracle, found = make(name, batch), levels(batch.space(), 10**6)
    for example, value in enumerate(oracle.initial().tolist()):
        expected = through_ends(batch, name, example, [], batch.room[example])
        assert value == pytest.approx(expected, abs=1e-6)
    memory = oracle.start()
    for depth, (level, following) in enumerate(zip(found, [*found[1:], None], strict=True)):
        costs = oracle.costs(memory, level.nodes)
        for example, slot, action in level.legal.nonzero().tolist():
            prefix = actions_to(found, depth, example, slot)
            room = batch.room[example] - depth - 1
            if action == END:
                room = 0
            elif any(action in y for y in batch.references[example]):
                prefix = [*prefix, action]
            else:
                prefix = [*prefix, UNSEEN]  # one stands for all tokens of no reference
            expected = through_ends(batch, name, example, prefix, room)
            assert float(costs[example, slot, action]) == pytest.approx(expected, abs=1e-6)
        if level.move is not None:
            memory = oracle.advance(memory, following.nodes, level.move)


def shared(one, two, n):
    """How many n-grams two sequences have in common."""
    counts = [Counter(zip(*(x[i:] for i in range(n)), strict=False)) for x in (one, two)]
    return (counts[0] & counts[1]).total()


@settings(max_examples=100)
@given(st.lists(st.integers(1, 3), max_size=7), st.lists(st.integers(1, 3), max_size=5))
def test_matches_are_those_of_counting(reference, prefix):
    batch = Batch([[reference]], [9], [[], [0], [0, 0, 1], [0, 0, 0, 0]])
    space = batch.space()
    oracle, nodes = ChrfOracle(space, batch.spelling), space.initial()
    memory = oracle.start()
    for action in prefix:
        move = step(batch, action)
        nodes = space.advance(nodes, move)
        memory = oracle.advance(memory, nodes, move)
    matches = oracle.tables.matches(memory)[0, 0, 0]
    for end in range(len(reference) + 1):
        texts = batch.text(prefix + reference[end:], "?"), batch.text(reference, "!")
        expected = [shared(*texts, n) for n in range(1, 7)]
        assert matches[:, end].tolist() == expected


@pytest.mark.parametrize("name", METRICS)
@given(batches(max_limit=6, unseen=False), st.data())
def test_outputs_cost_what_sacrebleu_says(name, batch, data):
    space = batch.space(lambda _: make(name, batch))
    path = bl.beam_trajectory(space, noise(data.draw(seeds)), width=data.draw(widths))
    for example, beams in enumerate(path.beams):
        references = batch.references[example]
        expected = min(1 - getattr(batch, name)(beams[-1][0], y) for y in references)
        assert float(path.final_costs[example]) == pytest.approx(expected, abs=1e-6)


def test_chrf_of_several_references_is_sacrebleus():
    batch = Batch([[[1, 2, 3], [3, 3], []]], [5], [[], [0, 1], [2], [1, 1, 0]])
    space = batch.space(lambda space: ChrfOracle(space, batch.spelling))
    path = bl.beam_trajectory(space, noise(3), width=3)
    texts = [batch.text(y, "!") for y in batch.references[0]]
    score = sacrebleu.sentence_chrf(batch.text(path.beams[0][-1][0], "?"), texts).score
    assert float(path.final_costs) == pytest.approx(1 - score / 100, abs=1e-6)


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=10)
@given(batches())
def test_parts_make_no_difference(name, batch):
    oracle, found = make(name, batch), levels(batch.space(), 10**6)
    memory = oracle.start()
    for level, following in zip(found[:3], [*found[1:], None], strict=False):
        whole = oracle.costs(memory, level.nodes)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ngrams, "ENTRIES_AT_ONCE", 1)
            assert torch.allclose(oracle.costs(memory, level.nodes), whole, atol=1e-6)
        if level.move is not None:
            memory = oracle.advance(memory, following.nodes, level.move)


@given(batches())
def test_spellings_as_a_tensor(batch):
    table = torch.full((batch.actions, max(map(len, batch.spelling))), -1)
    for row, word in zip(table, batch.spelling, strict=True):
        row[: len(word)] = torch.tensor(word)
    space = batch.space()
    one, two = (ChrfOracle(space, s) for s in (batch.spelling, table))
    assert torch.equal(one.initial(), two.initial())
    assert torch.equal(*(o.costs(o.start(), space.initial()) for o in (one, two)))


def test_every_action_needs_a_spelling():
    space = Batch([[[1, 2]]], [3], [[]] * 3).space()
    with pytest.raises(ValueError, match="a row for each of 3 actions, including `END`, got 2"):
        ChrfOracle(space, [[0], [1]])


# --- all of them --------------------------------------------------------------------------------


@given(batches(), oracles(), widths, seeds, finishes, st.randoms(use_true_random=False))
def test_batch_law(batch, costs, k, seed, finish, random):
    def collect(batch):
        return bl.beam_trajectory(batch.space(costs(batch), finish), noise(seed), width=k)

    order = list(range(len(batch)))
    random.shuffle(order)
    together, shuffled = collect(batch), collect(batch.take(order))
    for example in range(len(batch)):
        alone, place = collect(batch.take([example])), order.index(example)
        for path, row in ((together, example), (shuffled, place)):
            assert path.beams[row] == alone.beams[0]
            assert path.increased[row] == alone.increased[0]
            for one, two in zip(path.costs[row], alone.costs[0], strict=True):
                assert one == pytest.approx(two, abs=1e-6)


@dataclass(frozen=True)
class Littered(bl.Oracle):
    """Forgets what it knows of slots that nothing will be asked about."""

    oracle: bl.Oracle
    exact = False

    def initial(self):
        return self.oracle.initial()

    def start(self):
        return self.oracle.start()

    def costs(self, memory, nodes):
        return self.oracle.costs(memory, nodes)

    def advance(self, memory, nodes, move):
        memory = self.oracle.advance(memory, nodes, move)
        idle = move.stays | move.finished
        if isinstance(memory, torch.Tensor):
            return litter(memory, idle)
        fields = {name: litter(field, idle) for name, field in vars(memory).items()}
        return replace(memory, **fields)


def litter(field, idle):
    return field.masked_fill(idle.view(*idle.shape, *[1] * (field.ndim - 2)), 77)


@given(batches(), oracles(), widths, seeds, finishes)
def test_what_idle_slots_hold_does_not_matter(batch, costs, k, seed, finish):
    space = batch.space(costs(batch), finish)
    one, two = (
        bl.beam_trajectory(space, noise(seed), width=k, oracle=oracle)
        for oracle in (space.oracle(), Littered(space.oracle()))
    )
    assert one.beams == two.beams
    assert one.costs == two.costs
    for first, second in zip(one.transitions, two.transitions, strict=True):
        assert torch.equal(first.neighbors.costs, second.neighbors.costs)
        assert first.neighbors.costs.isfinite().all()


@pytest.mark.parametrize("finish", ["pad", "first"])
@pytest.mark.parametrize("costs", [EditOracle, PaddedHammingOracle, BleuOracle, "chrf"])
def test_following_the_oracle_builds_the_reference(costs, finish):
    references = [[[1, 3, 1, 2]], [[2]], [[3, 3, 3, 3, 2, 1]]]
    batch = Batch(references, [6, 3, 9], [[], [0, 1], [2], [1, 1, 0]])
    if costs == "chrf":
        space = batch.space(lambda space: ChrfOracle(space, batch.spelling), finish)
    else:
        space = batch.space(costs, finish)
    path = bl.beam_trajectory(space, noise(0), width=1, strategy="oracle")
    assert [beams[-1] for beams in path.beams] == references
    assert path.final_costs.tolist() == pytest.approx([0, 0, 0], abs=1e-6)


@pytest.mark.parametrize("costs", [EditOracle, PaddedHammingOracle, BleuOracle])
def test_a_batch_of_empty_references(costs):
    batch = Batch([[[]], [[], []]], [2, 0], [[]] * 3)
    space = batch.space(costs)
    assert space.oracle().initial().tolist() == ([1, 1] if costs is BleuOracle else [0, 0])
    path = bl.beam_trajectory(space, noise(0), width=2)
    assert len(path.beams) == 2
