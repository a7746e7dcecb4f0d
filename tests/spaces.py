"""Search spaces of every kind that the interfaces were made for, as small as they can be."""

from dataclasses import dataclass
from itertools import zip_longest
from zlib import crc32

import torch

import beamlearn as bl
from beamlearn import Expansion


@dataclass(frozen=True)
class Words:
    """Which sentence each row is, and how far all of them are."""

    examples: torch.Tensor
    step: int


class TaggingSpace(bl.SearchSpace[Words]):
    """One tag per word; rows of different lengths."""

    def __init__(self, gold, tags):
        self.gold, self.tags = gold, tags
        self.lengths = torch.tensor([len(row) for row in gold])

    def __len__(self):
        return len(self.gold)

    def initial(self):
        return Words(torch.arange(len(self.gold)), 0)

    def expand(self, nodes):
        lengths = self.lengths[nodes.examples][:, None, None]
        # Only the empty sentence, whose initial node is terminal, has no legal tag.
        legal = None if nodes.step else lengths > 0
        return Expansion(self.tags, lengths == nodes.step + 1, legal)

    def advance(self, nodes, move):
        return Words(move.keep(nodes.examples), nodes.step + 1)

    def outputs(self, examples, actions):
        return [list(path) for path in actions]

    def oracle(self):
        return HammingOracle(self)


class HammingOracle(bl.Oracle):
    """Wrong tags so far, plus one for every action but the right one."""

    def __init__(self, space):
        width = max([1, *space.lengths.tolist()])
        self.gold = torch.tensor([row + [0] * (width - len(row)) for row in space.gold])
        self.tags = space.tags

    def initial(self):
        return torch.zeros(len(self.gold), dtype=torch.float64)

    def start(self):
        return torch.zeros(len(self.gold), 1, dtype=torch.float64)

    def costs(self, memory, nodes):
        right = self.gold[nodes.examples, nodes.step]
        wrong = torch.arange(self.tags) != right[:, None, None]
        return memory[..., None] + wrong

    def advance(self, memory, nodes, move):
        right = self.gold[nodes.examples, nodes.step - 1]
        return move.follow(memory) + (move.actions != right[:, None])


class HammingTask:
    """Batches are lists of gold tag sequences."""

    def __init__(self, tags):
        self.tags = tags

    def space(self, batch):
        return TaggingSpace(batch, self.tags)


class TableScorer(bl.Scorer):
    """A number for every position, last tag and tag; the memory is the last tag."""

    def __init__(self, table, accumulate=True, normalize=None):
        super().__init__()
        self.table, self.accumulate, self.normalize = table, accumulate, normalize

    def start(self, space):
        return torch.full((len(space), 1), self.table.shape[1] - 1)

    def score(self, memory, nodes):
        return self.table[nodes.step][memory]

    def advance(self, memory, nodes, move):
        return move.actions


def mismatches(one, two):
    """In how many places two sequences differ; a place that only one of them has counts."""
    return float(sum(a != b for a, b in zip_longest(one, two)))


# --- parsing with a stack -----------------------------------------------------------------------

SHIFT, LEFT, RIGHT = range(3)


@dataclass(frozen=True)
class Configurations:
    """Arc-hybrid configurations; word 0 is the root, which lies at the bottom of the stack."""

    examples: torch.Tensor
    step: int
    stack: torch.Tensor
    depth: torch.Tensor
    front: torch.Tensor
    heads: torch.Tensor


class ArcHybridSpace(bl.SearchSpace[Configurations]):
    """Unlabeled projective trees by shift, left arc and right arc; an output is the heads."""

    def __init__(self, gold):
        self.gold = gold
        self.lengths = torch.tensor([len(heads) for heads in gold])

    def __len__(self):
        return len(self.gold)

    def initial(self):
        batch, words = len(self.gold), int(self.lengths.max()) + 1
        empty = torch.zeros(batch, 1, words, dtype=torch.long)
        ones = torch.ones(batch, 1, dtype=torch.long)
        return Configurations(torch.arange(batch), 0, empty, ones, ones, empty)

    def expand(self, nodes):
        lengths = self.lengths[nodes.examples][:, None]
        buffer, pair = nodes.front <= lengths, nodes.depth > 1
        legal = torch.stack([buffer, buffer & pair, pair], dim=-1)
        return Expansion(3, (2 * lengths == nodes.step + 1)[..., None], legal)

    def advance(self, nodes, move):
        stack, heads = move.follow(nodes.stack), move.follow(nodes.heads)
        depth, front = move.follow(nodes.depth), move.follow(nodes.front)
        shift, left = move.actions == SHIFT, move.actions == LEFT

        def at(place):  # what is not read need not be right, but must be there
            return place.clamp(0, stack.shape[-1] - 1)[..., None]

        top, below = stack.gather(-1, at(depth - 1)), stack.gather(-1, at(depth - 2))
        head = torch.where(left[..., None], front[..., None], below)
        return Configurations(
            move.keep(nodes.examples),
            nodes.step + 1,
            torch.where(shift[..., None], stack.scatter(-1, at(depth), front[..., None]), stack),
            depth + torch.where(shift, 1, -1).masked_fill(move.stays, 0),
            front + (shift & ~move.stays),
            torch.where(shift[..., None], heads, heads.scatter(-1, at(top[..., 0]), head)),
        )

    def outputs(self, examples, actions):
        return [
            parse(len(self.gold[example]), path)
            for example, path in zip(examples, actions, strict=True)
        ]

    def cost(self, example, heads):
        return mismatches(heads, self.gold[example])

    def oracle(self):
        return bl.BruteForceOracle(self, self.cost)


def parse(length, actions):
    """The heads that actions build, in plain Python; None for a word that has none yet."""
    stack, front, heads = [0], 1, [None] * length
    for action in actions:
        if action == SHIFT:
            stack.append(front)
            front += 1
        else:
            dependent = stack.pop()
            heads[dependent - 1] = front if action == LEFT else stack[-1]
    return tuple(heads)


# --- generation of tokens -----------------------------------------------------------------------

EOS = 0


class GenerationSpace(bl.SearchSpace[Words]):
    """Tokens up to EOS, or up to the limit of the example.

    Nobody reads what follows a finished hypothesis, so the space does not know which ones are.
    """

    def __init__(self, references, limits, vocabulary):
        self.references, self.vocabulary = references, vocabulary
        self.limits = torch.tensor(limits)

    def __len__(self):
        return len(self.references)

    def initial(self):
        return Words(torch.arange(len(self.references)), 0)

    def expand(self, nodes):
        full = self.limits[nodes.examples] == nodes.step + 1
        return Expansion(
            self.vocabulary, (torch.arange(self.vocabulary) == EOS) | full[:, None, None]
        )

    def advance(self, nodes, move):
        return Words(move.keep(nodes.examples), nodes.step + 1)

    def outputs(self, examples, actions):
        return [tuple(path) for path in actions]

    def cost(self, example, tokens):
        return mismatches(tokens, self.references[example])

    def oracle(self):
        return bl.BruteForceOracle(self, self.cost)


# --- permutations -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Used:
    """Which items each hypothesis has placed already."""

    examples: torch.Tensor
    step: int
    items: torch.Tensor


class PermutationSpace(bl.SearchSpace[Used]):
    """All orders of the items 0, 1, ..., as many as the reference of the example has."""

    def __init__(self, references):
        self.references = references
        self.sizes = torch.tensor([len(reference) for reference in references])

    def __len__(self):
        return len(self.references)

    def initial(self):
        beyond = torch.arange(max(1, int(self.sizes.max()))) >= self.sizes[:, None]
        return Used(torch.arange(len(self.references)), 0, beyond[:, None])

    def expand(self, nodes):
        last = self.sizes[nodes.examples] == nodes.step + 1
        return Expansion(nodes.items.shape[-1], last[:, None, None], ~nodes.items)

    def advance(self, nodes, move):
        items = move.follow(nodes.items).scatter(-1, move.actions[..., None], True)
        return Used(move.keep(nodes.examples), nodes.step + 1, items)

    def outputs(self, examples, actions):
        return [tuple(path) for path in actions]

    def cost(self, example, order):
        return mismatches(order, self.references[example])

    def oracle(self):
        return bl.BruteForceOracle(self, self.cost)


# --- a trie -------------------------------------------------------------------------------------

END = "$"


def marked(words):
    """The words of a trie as strings of edges: END only where a word is the prefix of another."""
    return {
        word + END * any(other != word and other.startswith(word) for other in words)
        for word in words
    }


class TrieSpace(bl.SearchSpace[torch.Tensor]):
    """The words that each example allows; a node is a number of the trie's table."""

    def __init__(self, allowed, references, letters):
        self.allowed, self.references, self.letters = allowed, references, letters
        table, self.roots = [], []
        for words in allowed:
            self.roots.append(len(table))
            numbers = {"": len(table)}
            table.append([-1] * len(self.letters))
            for word in sorted(marked(words)):
                for end in range(1, len(word) + 1):
                    if word[:end] not in numbers:
                        numbers[word[:end]] = len(table)
                        action = self.letters.index(word[end - 1])
                        table[numbers[word[: end - 1]]][action] = len(table)
                        table.append([-1] * len(self.letters))
        self.table = torch.tensor(table)
        self.leaf = (self.table < 0).all(dim=-1)

    def __len__(self):
        return len(self.allowed)

    def initial(self):
        return torch.tensor(self.roots)[:, None]

    def expand(self, nodes):
        children = self.table[nodes]
        return Expansion(len(self.letters), self.leaf[children] & (children >= 0), children >= 0)

    def advance(self, nodes, move):
        before = move.follow(nodes)
        return torch.where(move.stays, before, self.table[before, move.actions])

    def outputs(self, examples, actions):
        return ["".join(self.letters[action] for action in path) for path in actions]

    def cost(self, example, word):
        return mismatches(word.rstrip(END), self.references[example])

    def oracle(self):
        return bl.BruteForceOracle(self, self.cost)


# --- dead ends ----------------------------------------------------------------------------------


class ChainSpace(bl.SearchSpace[torch.Tensor]):
    """`length` tags, of which `allowed[last][next]` says what may follow; it may be nothing."""

    def __init__(self, allowed, length, batch=1):
        self.allowed, self.length, self.batch = torch.tensor(allowed), length, batch

    def __len__(self):
        return self.batch

    def initial(self):
        # Two numbers make a node: the last tag, and the steps taken.
        return torch.tensor([[[self.allowed.shape[0] - 1, 0]]]).expand(self.batch, 1, 2)

    def expand(self, nodes):
        legal = self.allowed[nodes[..., 0]]
        return Expansion(legal.shape[-1], nodes[..., 1:] + 1 == self.length, legal)

    def advance(self, nodes, move):
        return torch.stack([move.actions, move.follow(nodes)[..., 1] + 1], dim=-1)

    def outputs(self, examples, actions):
        return [tuple(path) for path in actions]


# --- scorers ------------------------------------------------------------------------------------


def bucket(output, size):
    """A pseudo-random number below `size` that depends on the output alone."""
    return crc32(repr(output).encode()) % size


class HashedScorer(bl.Scorer):
    """A learned number for every bucket of outputs so far, on any space."""

    accumulate = False

    def __init__(self, size=97):
        super().__init__()
        self.places = bl.FunctionScorer(lambda output: bucket(output, size))
        start = torch.arange(size, dtype=torch.float64) % 5 / 2
        self.theta = torch.nn.Parameter(start)

    def start(self, space):
        return self.places.start(space)

    def score(self, memory, nodes):
        return self.theta[self.places.score(memory, nodes).long()]

    def advance(self, memory, nodes, move):
        return self.places.advance(memory, nodes, move)


@dataclass(frozen=True)
class States:
    """Of each hypothesis its recurrent state, and of each example its context."""

    hidden: torch.Tensor
    context: torch.Tensor


class RecurrentScorer(bl.Scorer):
    """A GRU that reads the actions taken; every example has a context of its own."""

    normalize = "log_softmax"

    def __init__(self, contexts, actions, size=6, seed=0):
        super().__init__()
        self.embedding = torch.nn.Embedding(actions, size, dtype=torch.float64)
        self.cell = torch.nn.GRUCell(size, size, dtype=torch.float64)
        self.contexts = torch.nn.Parameter(torch.zeros(contexts, size, dtype=torch.float64))
        self.output = torch.nn.Linear(size, actions, dtype=torch.float64)
        draw(self, seed)

    def start(self, space):
        return States(self.contexts.tanh()[:, None], self.contexts)

    def score(self, memory, nodes):
        return self.output(memory.hidden * memory.context[:, None])

    def advance(self, memory, nodes, move):
        hidden = move.follow(memory.hidden)
        read = self.cell(self.embedding(move.actions).flatten(0, 1), hidden.flatten(0, 1))
        return States(read.view_as(hidden), move.keep(memory.context))

    def rescore(self, example, actions, legal):
        """The score of one output, token by token; `legal(actions)` lists what may follow."""
        hidden, total = self.contexts[example].tanh(), 0.0
        for place, action in enumerate(actions):
            numbers = self.output(hidden * self.contexts[example])
            total = total + log_share(numbers, legal(actions[:place]), action)
            hidden = self.cell(self.embedding.weight[action][None], hidden[None])[0]
        return total


@dataclass(frozen=True)
class Cache:
    """Keys and values of each hypothesis `[batch, k, time, d]`, and its last query."""

    keys: torch.Tensor
    values: torch.Tensor
    query: torch.Tensor


class CacheScorer(bl.Scorer):
    """Attention over the actions taken, with the cache that decoders keep."""

    normalize = "log_softmax"

    def __init__(self, contexts, actions, size=6, seed=0):
        super().__init__()
        self.embedding = torch.nn.Embedding(actions, size, dtype=torch.float64)
        self.contexts = torch.nn.Parameter(torch.zeros(contexts, size, dtype=torch.float64))
        self.key, self.value, self.query = (
            torch.nn.Linear(size, size, dtype=torch.float64) for _ in range(3)
        )
        self.output = torch.nn.Linear(size, actions, dtype=torch.float64)
        draw(self, seed)

    def start(self, space):
        first = self.contexts[:, None, None]
        return Cache(self.key(first), self.value(first), self.query(self.contexts[:, None]))

    def score(self, memory, nodes):
        weights = torch.einsum("bkd,bktd->bkt", memory.query, memory.keys).softmax(dim=-1)
        return self.output(torch.einsum("bkt,bktd->bkd", weights, memory.values))

    def advance(self, memory, nodes, move):
        token = self.embedding(move.actions)
        keys, values = move.follow(memory.keys), move.follow(memory.values)
        return Cache(
            torch.cat([keys, self.key(token)[:, :, None]], dim=2),
            torch.cat([values, self.value(token)[:, :, None]], dim=2),
            self.query(token),
        )

    def rescore(self, example, actions, legal):
        """The score of one output, each step attending to all the tokens before it anew."""
        total = 0.0
        for place, action in enumerate(actions):
            read = torch.stack(
                [self.contexts[example], *(self.embedding.weight[a] for a in actions[:place])]
            )
            weights = (self.key(read) @ self.query(read[-1])).softmax(dim=-1)
            numbers = self.output(weights @ self.value(read))
            total = total + log_share(numbers, legal(actions[:place]), action)
        return total


def draw(module, seed):
    """Give all parameters of a module random values."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, generator=generator)


def log_share(numbers, legal, action):
    """The log-probability of an action among the legal ones."""
    return numbers[action] - numbers[legal].logsumexp(dim=-1)
