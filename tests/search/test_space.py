"""The three interfaces hold without bending for every kind of space and of memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, permutations, product
from typing import Any

import by_the_book
import pytest
import torch
from generate import STRATEGIES
from spaces import (
    END,
    EOS,
    LEFT,
    RIGHT,
    SHIFT,
    ArcHybridSpace,
    CacheScorer,
    ChainSpace,
    GenerationSpace,
    HashedScorer,
    PermutationSpace,
    RecurrentScorer,
    TableScorer,
    TaggingSpace,
    TrieSpace,
    bucket,
    marked,
    mismatches,
    parse,
)

import beamlearn as bl
from beamlearn.strategies import Continue, Interpolate, Oracle, Reset, Stop


@dataclass(frozen=True)
class Kind:
    """One kind of space, and its rule in plain Python."""

    name: str
    examples: list[Any]
    build: Callable[[list[Any]], bl.SearchSpace]
    legal: Callable[[Any, tuple[int, ...]], list[int]]
    """The legal actions after some actions; none after a complete output."""
    read: Callable[[Any, tuple[int, ...]], Any]
    """The output so far."""
    cost: Callable[[Any, Any], float]
    _completion: dict = field(default_factory=dict)

    def neighbors(self, example):
        return lambda path: [(*path, action) for action in self.legal(example, path)]

    def score(self, example):
        return lambda path: score(self.read(example, path))

    def cstar(self, example):
        def cost(path):
            return self.cost(example, self.read(example, path))

        def found(path):
            key = (self.examples.index(example), path)
            if key not in self._completion:
                self._completion[key] = by_the_book.completion_cost(
                    self.neighbors(example), cost, path
                )
            return self._completion[key]

        return found

    def space(self, batch):
        return self.build(batch)

    @cached_property
    def whole(self):
        """All examples as one batch, and its oracle."""
        space = self.build(self.examples)
        return space, space.oracle()


def score(output):
    """Pseudo-random, with many ties."""
    return bucket(output, 7) / 2


def arc_hybrid_rule(heads, path):
    stack, shifted = 1 + 2 * path.count(SHIFT) - len(path), path.count(SHIFT)
    buffer = shifted < len(heads)
    return [SHIFT] * buffer + [LEFT] * (buffer and stack > 1) + [RIGHT] * (stack > 1)


def trie_rule(example, path):
    words, _ = example
    so_far = trie_read(example, path)
    longer = [w for w in marked(words) if w.startswith(so_far) and w != so_far]
    following = {word[len(so_far)] for word in longer}
    return [action for action, letter in enumerate(LETTERS) if letter in following]


TRIE = [
    (["a", "ab", "abc", "b"], "ab"),
    (["", "ca", "cab", "cabs", "cb"], "cb"),
    (["bcd"], "abc"),
    ([""], "a"),
    (["da", "db", "dab", "c"], "da"),
]


LETTERS = sorted({END, *(letter for words, _ in TRIE for word in words for letter in word)})


def trie_read(example, path):
    return "".join(LETTERS[action] for action in path)


def roads(example):
    """A graph of numbers in which paths end at different depths."""
    initial, goal = example
    return bl.GraphSpace(
        initial,
        lambda n: [2 * n, 3 * n, n + 5][: 1 + n % 3] if n < 20 else [],
        cost=lambda path: float(abs(path[-1] - goal) % 7),
    )


def road_read(example, path):
    nodes = [example[0]]
    for action in path:
        nodes.append([2 * nodes[-1], 3 * nodes[-1], nodes[-1] + 5][action])
    return tuple(nodes)


def road_rule(example, path):
    last = road_read(example, path)[-1]
    return list(range(1 + last % 3)) if last < 20 else []


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "tagging",
            [[0, 4, 2], [], [1], [3, 3]],
            lambda batch: TaggingSpace(batch, 5),
            lambda gold, path: list(range(5)) if len(path) < len(gold) else [],
            lambda gold, path: list(path),
            lambda gold, tags: mismatches(tags, gold),
        ),
        Kind(
            "parsing",
            [(2, 0, 2), (0,), (3, 0, 2), (), (2, 0)],
            ArcHybridSpace,
            arc_hybrid_rule,
            lambda heads, path: parse(len(heads), path),
            lambda heads, found: mismatches(found, heads),
        ),
        Kind(
            "generation",
            [((2, 1, EOS), 4), ((1, 1), 1), ((EOS,), 3), ((2, 2, 2), 3)],
            lambda batch: GenerationSpace([r for r, _ in batch], [n for _, n in batch], 3),
            lambda example, path: [] if EOS in path or len(path) == example[1] else list(range(3)),
            lambda example, path: path,
            lambda example, tokens: mismatches(tokens, example[0]),
        ),
        Kind(
            "permutations",
            [(2, 0, 1), (0,), (1, 0), (), (0, 2, 1)],
            PermutationSpace,
            lambda reference, path: [i for i in range(len(reference)) if i not in path],
            lambda reference, path: path,
            lambda reference, order: mismatches(order, reference),
        ),
        Kind(
            "trie",
            TRIE,
            lambda batch: TrieSpace([w for w, _ in batch], [r for _, r in batch], LETTERS),
            trie_rule,
            trie_read,
            lambda example, word: mismatches(word.rstrip(END), example[1]),
        ),
        Kind(
            "graph",
            [(1, 30), (7, 3), (25, 0), (4, 26)],
            lambda batch: bl.GraphSpace.stack([roads(example) for example in batch]),
            road_rule,
            road_read,
            lambda example, path: float(abs(path[-1] - example[1]) % 7),
        ),
    )
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
finishes = pytest.mark.parametrize("finish", ["pad", "first"])
# Where all outputs of an example are equally long, both ways to finish are the same.
kinds_and_finishes = pytest.mark.parametrize(
    ("kind", "finish"),
    [
        pytest.param(kind, finish, id=f"{name}-{finish}")
        for name, kind in KINDS.items()
        for finish in ("pad", "first")
        if finish == "pad" or name in ("generation", "trie", "graph")
    ],
)


def search(kind, batch, k, finish="pad"):
    return bl.beam_search(kind.build(batch), bl.FunctionScorer(score), width=k, finish=finish)


# --- every kind of space ------------------------------------------------------------------------


@kinds_and_finishes
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_search_is_algorithm_1(kind, k, finish):
    result = search(kind, kind.examples, k, finish)
    for number, example in enumerate(kind.examples):
        neighbors, number_of = kind.neighbors(example), kind.score(example)
        beams, ranked = by_the_book.beam_search(neighbors, number_of, (), k, finish)
        expected = [[kind.read(example, path) for path in beam] for beam in beams]
        assert result.beams[number] == expected
        nbest = result.nbest[number]
        assert [h.output for h in nbest] == [kind.read(example, path) for path in ranked]
        assert result.outputs[number] == nbest[0].output
        if neighbors(()):
            assert [h.score for h in nbest] == [number_of(path) for path in ranked]


@kinds_and_finishes
def test_batch_law(kind, finish, generator):
    """Alone, in a batch and in a permuted batch, bit for bit."""
    k = 3
    order = torch.randperm(len(kind.examples), generator=generator).tolist()
    together = search(kind, kind.examples, k, finish)
    permuted = search(kind, [kind.examples[i] for i in order], k, finish)
    for number, example in enumerate(kind.examples):
        alone = search(kind, [example], k, finish)
        for result, place in ((together, number), (permuted, order.index(number))):
            assert result.beams[place] == alone.beams[0]
            assert result.nbest[place] == alone.nbest[0]


@kinds
def test_a_beam_from_which_nothing_falls_is_exhaustive(kind):
    wide, everything = (
        search(kind, kind.examples, 10_000),
        bl.exhaustive_search(kind.build(kind.examples), bl.FunctionScorer(score)),
    )
    for number, example in enumerate(kind.examples):
        leaves = by_the_book.exhaustive(kind.neighbors(example), kind.score(example), ())
        outputs = [h.output for h in wide.nbest[number]]
        assert sorted(outputs) == sorted(kind.read(example, path) for path in leaves)
        assert [h.output for h in everything.nbest[number]] == outputs
        if leaves != [()]:
            scores = [h.score for h in wide.nbest[number]]
            assert scores == [kind.score(example)(path) for path in leaves]


@kinds
def test_oracle_is_exact(kind):
    space = kind.build(kind.examples)

    def cost(example, output):
        return kind.cost(kind.examples[example], output)

    assert bl.check_oracle(space, cost=cost).ok
    assert bl.check_oracle(space, cost=cost, limit=0).ok  # by random walks
    expected = [kind.cstar(example)(()) for example in kind.examples]
    assert space.oracle().initial().tolist() == expected


@kinds_and_finishes
@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_trajectory_is_algorithm_2(kind, strategy, finish):
    k = 2
    space, oracle = kind.whole
    trajectory = bl.beam_trajectory(
        space,
        bl.FunctionScorer(score),
        width=k,
        strategy=STRATEGIES[strategy],
        oracle=oracle,
        finish=finish,
    )
    for number, example in enumerate(kind.examples):
        cstar, number_of = kind.cstar(example), kind.score(example)
        beams, increased, visited, on_policy = by_the_book.beam_trajectory(
            kind.neighbors(example), number_of, cstar, (), k, strategy, finish
        )
        found = trajectory.beams[number]
        assert found == [[kind.read(example, path) for path in beam] for beam in beams]
        assert trajectory.costs[number] == [[cstar(path) for path in beam] for beam in beams]
        assert trajectory.increased[number] == increased
        assert bool(trajectory.on_policy[number]) == on_policy
        for name in ("upper_bound", "log_loss_neighbors"):
            loss = by_the_book.LOSSES[name]
            expected = by_the_book.losses_along(loss, number_of, cstar, visited)
            incurred = trajectory.losses(bl.losses.LOSSES[name])[number].item()
            assert incurred == pytest.approx(expected, abs=1e-9)


@kinds
@pytest.mark.parametrize(
    "strategy", [Oracle(), Stop(), Reset(), Continue(), Interpolate(0.5)], ids=str
)
def test_learning_rounds_telescope(kind, strategy):
    scorer = HashedScorer()
    before = scorer.theta.detach().clone()
    rounds = bl.learn(
        [kind.examples, kind.examples[::-1]],
        kind,
        scorer,
        torch.optim.SGD(scorer.parameters(), lr=0.1),
        loss="log_loss_neighbors",
        strategy=strategy,
        width=2,
        generator=torch.Generator().manual_seed(0),
        trajectories=True,
    )
    for round, batch in zip(rounds, (kind.examples, kind.examples[::-1]), strict=True):
        assert torch.isfinite(round.losses).all()
        for number, example in enumerate(batch):
            beam_costs = [min(costs) for costs in round.trajectory.costs[number]]
            steps = [after - before for before, after in pairwise(beam_costs)]
            assert all(step >= 0 for step in steps)
            assert beam_costs[0] == kind.cstar(example)(())
            assert round.costs[number] == beam_costs[0] + sum(steps)
            if not isinstance(strategy, Stop):
                (output,) = round.trajectory.beams[number][-1]
                assert round.costs[number] == kind.cost(example, output)
            if isinstance(strategy, Oracle):
                assert sum(steps) == 0
    assert not torch.equal(scorer.theta, before)


# --- what is particular about some --------------------------------------------------------------


@pytest.mark.parametrize("tags", [5, 100, 1000])
def test_tagging_with_few_and_many_actions(tags, generator):
    lengths = (4, 0, 2, 3)
    gold = [torch.randint(0, tags, (n,), generator=generator).tolist() for n in lengths]
    table = torch.randint(-9, 10, (4, tags + 1, tags), generator=generator).double() / 4
    result = bl.beam_search(TaggingSpace(gold, tags), TableScorer(table), width=3)
    for number, length in enumerate(lengths):
        beam = [(0.0, [])]
        for word in range(length):
            neighbors = [
                (total + value, [*path, tag])
                for total, path in beam
                for tag, value in enumerate(table[word, path[-1] if path else -1].tolist())
            ]
            beam = sorted(neighbors, key=lambda entry: -entry[0])[:3]
        assert [(h.score, h.output) for h in result.nbest[number]] == beam


def projective(heads):
    """Is it a tree over the root 0, without crossing arcs?"""
    for word in range(1, len(heads) + 1):
        above, seen = word, set()
        while above:
            if above in seen:
                return False
            seen.add(above)
            above = heads[above - 1]
    arcs = [(min(h, d), max(h, d)) for d, h in enumerate(heads, 1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def test_parses_are_all_projective_trees():
    sizes = (4, 1, 3, 2)
    space = ArcHybridSpace([(0,) * n for n in sizes])
    result = bl.exhaustive_search(space, bl.FunctionScorer(score))
    found = [{h.output for h in nbest} for nbest in result.nbest]
    for size, trees in zip(sizes, found, strict=True):
        everything = product(range(size + 1), repeat=size)
        assert trees == {heads for heads in everything if projective(heads)}
    assert [len(trees) for trees in found] == [55, 1, 12, 3]


def test_parser_keeps_its_stacks_in_tensors():
    """The tensors of the space say what its actions say in plain Python."""

    class Watching(bl.Scorer):
        def start(self, space):
            self.inner, self.space = bl.FunctionScorer(score), space
            return self.inner.start(space)

        def score(self, memory, nodes):
            for row, beam in enumerate(memory.actions):
                for slot, path in enumerate(beam):
                    size = len(self.space.gold[memory.examples[row]])
                    heads = [head or 0 for head in parse(size, path)]
                    assert nodes.heads[row, slot, 1 : size + 1].tolist() == heads
            return self.inner.score(memory, nodes)

        def advance(self, memory, nodes, move):
            return self.inner.advance(memory, nodes, move)

    bl.beam_search(ArcHybridSpace([(0, 1, 2), (0,), (0, 1, 2, 3)]), Watching(), width=6)


def test_permutations_are_all_orders():
    references = [(0, 1, 2, 3), (0, 1), (0, 1, 2)]
    result = bl.exhaustive_search(PermutationSpace(references), bl.FunctionScorer(score))
    for reference, nbest in zip(references, result.nbest, strict=True):
        assert sorted(h.output for h in nbest) == sorted(permutations(reference))


def test_only_the_words_of_a_trie_come_out():
    space = TrieSpace([words for words, _ in TRIE], [word for _, word in TRIE], LETTERS)
    result = bl.exhaustive_search(space, bl.FunctionScorer(score))
    for (words, _), nbest in zip(TRIE, result.nbest, strict=True):
        assert sorted(h.output.rstrip(END) for h in nbest) == sorted(words)


class BigTableScorer(bl.Scorer):
    """A number for every position, residue of the last token and token."""

    def __init__(self, table, normalize):
        super().__init__()
        self.table, self.normalize = table, normalize

    def start(self, space):
        return torch.zeros(len(space), 1, dtype=torch.long)

    def score(self, memory, nodes):
        return self.table[nodes.step, memory % self.table.shape[1]]

    def advance(self, memory, nodes, move):
        return move.actions


def plain_generation(table, limit, k, finish, normalize):
    """Beam search with a stable sort of all neighbors at every step; (score, tokens) lists."""
    vocabulary = table.shape[-1]
    beam = [(table.new_zeros(()), ())]
    while True:
        scores, outputs, terminal = [], [], []
        for total, tokens in beam:
            if tokens and (tokens[-1] == EOS or len(tokens) == limit):
                scores.append(total[None])
                outputs.append(lambda _, tokens=tokens: tokens)
                terminal.append(torch.tensor([True]))
                continue
            row = table[len(tokens), tokens[-1] % table.shape[1] if tokens else 0]
            offset = total - row.logsumexp(dim=-1) if normalize else total
            scores.append(row + offset)
            outputs.append(lambda action, tokens=tokens: (*tokens, action))
            last = len(tokens) + 1 == limit
            terminal.append((torch.arange(vocabulary) == EOS) | last)
        slots = torch.cat([torch.full((len(s),), i) for i, s in enumerate(scores)])
        actions = torch.cat([torch.arange(len(s)) for s in scores])
        scores, terminal = torch.cat(scores), torch.cat(terminal)
        order = scores.sort(descending=True, stable=True).indices
        done = bool(terminal.all())
        if finish == "first":
            done = bool(terminal[order[0]])
            order = order[terminal[order] == done]
        beam = [(scores[i], outputs[slots[i]](actions[i].item())) for i in order[:k]]
        if done:
            return [(total.item(), tokens) for total, tokens in beam]


@finishes
@pytest.mark.parametrize("normalize", [None, "log_softmax"])
def test_generation_over_32000_tokens(finish, normalize, generator):
    """Quantized where scores are sums, so that thousands tie at each step."""
    vocabulary, limits = 32_000, [4, 2, 3, 4]
    table = torch.randn(max(limits), 3, vocabulary, generator=generator, dtype=torch.float64)
    table = (table * 2).round() / 2 - 5 if normalize is None else table
    table[1:, 1, EOS] = table.max()  # let some hypotheses end before the others
    space = GenerationSpace([()] * len(limits), limits, vocabulary)
    scorer = BigTableScorer(table, normalize)
    result = bl.beam_search(space, scorer, width=4, finish=finish)
    ends = set()
    for limit, nbest in zip(limits, result.nbest, strict=True):
        expected = plain_generation(table, limit, 4, finish, normalize)
        assert [h.output for h in nbest] == [tokens for _, tokens in expected]
        assert [h.score for h in nbest] == pytest.approx([total for total, _ in expected])
        ends |= {(limit, len(h.output)) for h in nbest}
    assert any(length < limit for limit, length in ends)


# --- memory that follows the beam ---------------------------------------------------------------


def all_tokens(vocabulary):
    return lambda tokens: list(range(vocabulary))


def generation(limits=(5, 1, 4, 2, 5), vocabulary=4):
    """Rows that end at different steps, with what is legal after some tokens of each."""
    space = GenerationSpace([()] * len(limits), limits, vocabulary)
    return space, [all_tokens(vocabulary)] * len(limits), vocabulary


def orders(sizes=(4, 1, 3, 2)):
    def unused(size):
        return lambda order: [item for item in range(size) if item not in order]

    space = PermutationSpace([tuple(range(size)) for size in sizes])
    return space, [unused(size) for size in sizes], max(sizes)


with_memory = pytest.mark.parametrize("make", [RecurrentScorer, CacheScorer])
over = pytest.mark.parametrize("problem", [generation, orders])


@with_memory
@over
@finishes
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("k", [1, 4])
def test_memory_follows_the_beam(make, problem, finish, seed, k):
    """Every score is the one that its output gets when it is scored alone, from scratch."""
    space, legal, actions = problem()
    scorer = make(len(space), actions, seed=seed)
    result = bl.beam_search(space, scorer, width=k, finish=finish)
    ended = {len(beams) for beams in result.beams}
    assert len(ended) > 1
    for example, nbest in enumerate(result.nbest):
        assert len(nbest) > 0
        for hypothesis in nbest:
            alone = scorer.rescore(example, hypothesis.output, legal[example])
            assert hypothesis.score == pytest.approx(alone.item(), abs=1e-9)


@with_memory
@over
@finishes
@pytest.mark.parametrize("seed", range(2))
def test_gradients_are_those_of_rescoring(make, problem, finish, seed):
    space, legal, actions = problem()
    scorer = make(len(space), actions, seed=seed)
    result = bl.beam_search(space, scorer, width=3, finish=finish, gradients=True)
    weights = torch.randn(
        result.nbest_scores.shape,
        generator=torch.Generator().manual_seed(seed),
        dtype=torch.float64,
    )
    found = (result.nbest_scores * weights)[result.nbest_mask].sum()
    expected = sum(
        weights[example, slot] * scorer.rescore(example, hypothesis.output, legal[example])
        for example, nbest in enumerate(result.nbest)
        for slot, hypothesis in enumerate(nbest)
    )
    parameters = list(scorer.parameters())
    one, two = (
        torch.autograd.grad(value, parameters, allow_unused=True, materialize_grads=True)
        for value in (found, expected)
    )
    for mine, theirs in zip(one, two, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-9)


@with_memory
def test_memory_follows_a_training_trajectory(make):
    """After resets, too, the scores of the beams are those of their outputs from scratch."""
    references, limits = [(1, 2, 3, EOS), (2,), (3, EOS)], (4, 1, 3)
    space = GenerationSpace(references, limits, 4)
    scorer = make(len(space), 4, seed=1)
    trajectory = bl.beam_trajectory(space, scorer, width=3, strategy=Reset("keep"))
    assert trajectory.increases.sum() > 0
    for transition, step in enumerate(t.step for t in trajectory.transitions):
        for row, example in enumerate(step.examples.tolist()):
            outputs = trajectory.beams[example][transition + 1]
            scores = step.scores[row][step.kept[row]].tolist()
            alone = [scorer.rescore(example, out, all_tokens(4)).item() for out in outputs]
            assert scores == pytest.approx(alone, abs=1e-9)


# --- dead ends, and what a scorer may not return ------------------------------------------------

# Nothing may follow tag 0; the last row is for the start.
DEAD_AFTER_0 = [[False] * 3, [True] * 3, [True] * 3, [True] * 3]


@finishes
def test_a_beam_of_dead_ends_is_an_error(finish):
    space = ChainSpace(DEAD_AFTER_0, length=3)
    scorer = bl.FunctionScorer(lambda tags: -tags[-1])
    with pytest.raises(ValueError, match=r"Every beam needs a neighbor.*of example 0 has a\b"):
        bl.beam_search(space, scorer, width=1, finish=finish)


def test_the_error_names_the_example():
    class SecondIsLost(bl.Scorer):
        def start(self, space):
            return torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])

        def score(self, memory, nodes):
            return memory[:, None].expand(*nodes.shape[:2], 3)

        def advance(self, memory, nodes, move):
            return move.keep(memory)

    space = ChainSpace(DEAD_AFTER_0, length=3, batch=2)
    with pytest.raises(ValueError, match="no node in the beam of example 1"):
        bl.beam_search(space, SecondIsLost(), width=1)


@finishes
@pytest.mark.parametrize("normalize", [None, "log_softmax"])
def test_a_dead_slot_is_dropped_while_others_live(finish, normalize):
    space = ChainSpace(DEAD_AFTER_0, length=3)
    table = torch.tensor([2.0, 1.0, 0.0]).expand(3, 4, 3)

    class Constant(bl.Scorer):
        def start(self, space):
            return None

        def score(self, memory, nodes):
            return table[0, 0].expand(*nodes.shape[:2], 3)

        def advance(self, memory, nodes, move):
            return None

    scorer = Constant()
    scorer.normalize = normalize
    result = bl.beam_search(space, scorer, width=2, finish=finish)
    assert result.beams[0][:2] == [[()], [(0,), (1,)]]
    assert result.beams[0][2] == [(1, 0), (1, 1)]
    assert [h.output for h in result.nbest[0]] == [(1, 1, 0), (1, 1, 1)]


@dataclass(frozen=True)
class Said:
    """What a scorer says instead of zeros, and where."""

    value: float
    step: int = 1
    slot: int = 0
    action: int = 1


class Odd(bl.Scorer):
    """Zeros, but for one number (or a whole slot, if `action` is None)."""

    def __init__(self, said, normalize=None):
        super().__init__()
        self.said, self.normalize = said, normalize

    def start(self, space):
        return 0

    def score(self, memory, nodes):
        batch = nodes.examples.shape[0]
        slots = 1 if memory == 0 else 2
        scores = torch.zeros(batch, slots, 3)
        if memory == self.said.step:
            place = slice(None) if self.said.action is None else self.said.action
            scores[-1, self.said.slot, place] = self.said.value
        return scores

    def advance(self, memory, nodes, move):
        return memory + 1


@finishes
@pytest.mark.parametrize("normalize", [None, "log_softmax"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("slot", [0, 1])
def test_scores_that_cannot_be_ranked_are_refused(value, slot, normalize, finish):
    space = TaggingSpace([[0, 0, 0], [0, 0, 0]], 3)
    scorer = Odd(Said(value, slot=slot), normalize)
    with pytest.raises(ValueError, match=r"Scores must be finite, but the scorer gave \w+ to a"):
        bl.beam_search(space, scorer, width=2, finish=finish)
    with pytest.raises(ValueError, match="neighbor of example 1; look for an overflow"):
        bl.beam_trajectory(space, scorer, width=2, finish=finish)


def test_minus_infinity_rules_an_action_out():
    space = TaggingSpace([[0, 0, 0]], 3)
    result = bl.beam_search(space, Odd(Said(-torch.inf, step=1, action=0)), width=2)
    assert result.beams[0][2] == [[0, 1], [0, 2]]


@pytest.mark.parametrize("normalize", [None, "log_softmax"])
def test_a_slot_that_the_scorer_rules_out_is_dropped(normalize):
    space = TaggingSpace([[0, 0, 0]], 3)
    scorer = Odd(Said(-torch.inf, step=1, action=None), normalize)
    assert bl.beam_search(space, scorer, width=2).beams[0][2] == [[1, 0], [1, 1]]
    first = Odd(Said(-torch.inf, step=0, action=None), normalize)
    with pytest.raises(ValueError, match="Every beam needs a neighbor"):
        bl.beam_search(space, first, width=2)


class Misshapen(bl.Scorer):
    def __init__(self, *shape):
        super().__init__()
        self.shape = shape

    def start(self, space):
        return None

    def score(self, memory, nodes):
        return torch.zeros(self.shape)

    def advance(self, memory, nodes, move):
        return None


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize("shape", [(2, 3), (2, 1, 4), (1, 1, 3), (2, 2, 3), (2, 1, 3, 1)], ids=str)
def test_scores_of_a_wrong_shape_are_refused(shape):
    space = TaggingSpace([[0], [0]], 3)
    message = r"The scorer must give scores of shape \(2, 1, 3\) \(examples, slots, actions\), got "
    with pytest.raises(ValueError, match=message):
        bl.beam_search(space, Misshapen(*shape))
    with pytest.raises(ValueError, match=message):
        bl.beam_trajectory(space, Misshapen(*shape))


@pytest.mark.usefixtures("no_shape_checks")
def test_costs_of_a_wrong_shape_are_refused():
    space = TaggingSpace([[0], [0]], 3)
    oracle = TaggingSpace([[0], [0]], 4).oracle()
    with pytest.raises(ValueError, match=r"The oracle must give costs of shape \(2, 1, 3\).*1, 4"):
        bl.beam_trajectory(space, Misshapen(2, 1, 3), oracle=oracle)


def test_a_search_without_end_is_refused():
    space = GenerationSpace([()], [10**9], 3)
    scorer = bl.FunctionScorer(lambda tokens: -tokens.count(EOS))
    with pytest.raises(ValueError, match=r"terminal node within `max_steps` = 20 transitions"):
        bl.beam_search(space, scorer, width=2, max_steps=20)
    oracle = TaggingSpace([[1] * 30], 3).oracle()
    with pytest.raises(ValueError, match=r"terminal node within `max_steps` = 20 transitions"):
        bl.beam_trajectory(space, scorer, width=2, oracle=oracle, max_steps=20)
    assert bl.beam_search(GenerationSpace([()], [20], 3), scorer, width=2, max_steps=20).outputs


def test_a_space_without_costs_says_so():
    with pytest.raises(ValueError, match="need costs, but this ChainSpace has none"):
        bl.beam_trajectory(ChainSpace(DEAD_AFTER_0, 2), bl.FunctionScorer(len))


# --- the brute-force oracle, on spaces of every kind --------------------------------------------


def test_brute_force_works_on_graphs_of_uneven_branching():
    kind = KINDS["graph"]
    space = kind.build(kind.examples)
    oracle = bl.BruteForceOracle(
        space, lambda example, path: kind.cost(kind.examples[example], path)
    )
    for strategy in STRATEGIES.values():
        one, two = (
            bl.beam_trajectory(
                space, bl.FunctionScorer(score), width=1, strategy=strategy, oracle=oracle
            )
            for oracle in (oracle, space.oracle())
        )
        assert one.beams == two.beams
        assert one.costs == two.costs


def test_listing_a_space_takes_legal_actions_only():
    """Slots that hold nothing stay where they are, in enumeration as in search."""

    class Strict(bl.SearchSpace):
        def __init__(self, inner):
            self.inner = inner

        def __len__(self):
            return len(self.inner)

        def initial(self):
            return self.inner.initial()

        def expand(self, nodes):
            return self.inner.expand(nodes)

        def advance(self, nodes, move):
            expansion = self.inner.expand(nodes)
            legal = expansion.legal.expand(*expansion.legal.shape[:2], expansion.actions)
            taken = move.follow(legal).gather(-1, move.actions[..., None])[..., 0]
            assert (taken | move.stays).all()
            return self.inner.advance(nodes, move)

        def outputs(self, examples, actions):
            return self.inner.outputs(examples, actions)

    for space in (ArcHybridSpace([(0, 1, 2), (0,)]), PermutationSpace([(0, 1, 2), (1, 0)])):
        bl.beam_search(Strict(space), bl.FunctionScorer(score), width=4)
        bl.BruteForceOracle(Strict(space), space.cost)


def test_no_examples_are_no_work():
    space = bl.GraphSpace.stack([])
    oracle = bl.BruteForceOracle(space, lambda example, path: 0.0)
    assert oracle.initial().shape == (0,)
    assert bl.check_oracle(space, oracle).ok


@pytest.mark.parametrize("finish", ["pad", "first"])
def test_functions_are_asked_about_neighbors_only(finish):
    """Not about what would follow a finished hypothesis, whatever the space says is legal."""

    def f(tokens):
        assert EOS not in tokens[:-1]
        assert len(tokens) <= 4
        return score(tokens)

    bl.beam_search(GenerationSpace([()] * 2, [4, 2], 3), bl.FunctionScorer(f), 4, finish=finish)


def test_functions_are_not_asked_about_slots_that_hold_nothing():
    """A space may compute anything for them, here that every tag can follow."""
    anything, start = 3, 4

    class Careless(ChainSpace):
        def advance(self, nodes, move):
            after = super().advance(nodes, move)
            after[..., 0] = torch.where(move.stays, anything, after[..., 0])
            return after

        def outputs(self, examples, actions):
            for path in actions:
                assert all(self.allowed[one][two] for one, two in pairwise([start, *path]))
            return super().outputs(examples, actions)

    after_tag = [[False, True, False], [False, False, True], [True, False, False]]
    space = Careless([*after_tag, [True, True, True], [True, False, True]], length=4)
    bl.beam_search(space, bl.FunctionScorer(score), width=5)
