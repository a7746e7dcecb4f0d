"""Trees of random shapes, and the spaces of their parses."""

from itertools import product

import torch

from beamlearn.search.neighbors import Move
from beamlearn.tasks.parsing.actions import LOST, Actions
from beamlearn.tasks.parsing.space import ParsingExample, ParsingSpace


def random_tree(n, rng):
    """The heads of any tree with one root."""
    words = rng.sample(range(1, n + 1), n)
    heads = {word: rng.choice(words[:i] or [0]) for i, word in enumerate(words)}
    return [heads[word] for word in range(1, n + 1)]


def random_projective_tree(n, rng, first=1, head=0):
    """The heads of a tree without crossing arcs: split the words at random, again and again."""
    if n == 0:
        return []
    word = first + rng.randrange(n)
    heads = {word: head}
    for start, end in ((first, word), (word + 1, first + n)):
        while start < end:  # each piece is a dependent of `word` with all that is below it
            size = rng.randint(1, end - start)
            heads.update(enumerate(random_projective_tree(size, rng, start, word), start))
            start += size
    return [heads[place] for place in range(first, first + n)]


def is_projective(heads):
    """Does no arc cross another, those from the root included?"""
    arcs = [sorted(arc) for arc in enumerate(heads, 1) if arc[1] != LOST]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def with_relations(heads, rng, relations=("a",), roots=("root",)):
    """A tree: the head and the relation of each word."""
    return [(head, rng.choice(relations if head else roots)) for head in heads]


def losing(tree, rng, share=0.25):
    """The tree with some words whose arcs no action makes."""
    return [(LOST, "?") if rng.random() < share else arc for arc in tree]


def space_of(system, trees, relations=("a",), cost="labeled", *, roots=("root",), projective=None):
    """The parses of sentences with these trees, whose words all look the same."""
    actions = Actions(system.kinds, tuple(relations), tuple(roots))
    sentences = [
        ParsingExample(
            torch.zeros(len(tree), 1, dtype=torch.long),
            torch.tensor([head for head, _ in tree], dtype=torch.long),
            torch.tensor([actions.number(name, head == 0) for head, name in tree]).long(),
            is_projective([head for head, _ in tree]) if projective is None else projective,
        )
        for tree in trees
    ]
    return ParsingSpace(sentences, system, actions, cost)


def true_cost(trees, cost="labeled"):
    """How many words of an output have a wrong head, or with labels a wrong head or relation."""
    parts = slice(None) if cost == "labeled" else slice(1)
    return lambda example, output: float(
        sum(a[parts] != b[parts] for a, b in zip(output, trees[example], strict=True))
    )


def single_rooted(n):
    """The heads of all trees with one root."""
    for heads in product(range(n + 1), repeat=n):
        if heads.count(0) == 1 and all(leads_to_root(heads, word) for word in range(1, n + 1)):
            yield heads


def leads_to_root(heads, word):
    for _ in heads:
        word = heads[word - 1] if word else 0
    return word == 0


def follow(space, actions):
    """The configurations along some actions, the same for all examples, and c* of each."""
    oracle = space.oracle()
    nodes, memory = [space.initial()], oracle.start()
    costs = [memory.errors[:, 0].tolist()]
    for action in actions:
        slots = torch.zeros(len(space), 1).long()
        move = Move(None, slots, slots + action, slots.bool(), slots.bool())
        nodes.append(space.advance(nodes[-1], move))
        memory = oracle.advance(memory, nodes[-1], move)
        costs.append(memory.errors[:, 0].tolist())
    return nodes, costs
