import random

import pytest
from shared_data import shared

from beamlearn.data.document import read_document
from beamlearn.data.trees import fault
from beamlearn.tasks.parsing.projective import decode, encode, lift, plain
from beamlearn.tasks.parsing.tree import Tree


def random_tree(rng, relations="abc"):
    """Any tree of up to 12 words with one root."""
    words = rng.sample(range(1, n := rng.randint(1, 12) + 1), n - 1)
    heads = {word: rng.choice(words[:i] or [0]) for i, word in enumerate(words)}
    return Tree(
        tuple(heads[word] for word in range(1, n)),
        tuple(rng.choice(relations) for _ in words),
    )


@pytest.mark.usefixtures("no_shape_checks")
def test_random_trees_become_projective_and_return_to_trees():
    rng = random.Random(0)
    for _ in range(3000):
        tree = random_tree(rng)
        encoded, lifted = encode(tree), lift(tree)
        assert encoded.is_projective
        assert encoded.heads == lifted.heads
        assert fault(encoded.heads) is None
        assert lifted.relations == tree.relations == tuple(map(plain, encoded.relations))
        changed = [a != b for a, b in zip(encoded.heads, tree.heads, strict=True)]
        assert changed == ["||" in relation for relation in encoded.relations]
        decoded = decode(encoded)
        assert fault(decoded.heads) is None
        assert decoded.relations == tree.relations
        if tree.is_projective:
            assert encoded == lifted == decoded == tree


@pytest.mark.usefixtures("no_shape_checks")
def test_relations_that_tell_heads_apart_bring_every_tree_back():
    rng = random.Random(1)
    for _ in range(1000):
        tree = random_tree(rng)
        tree = Tree(tree.heads, tuple(f"r{word}" for word in range(len(tree))))
        assert decode(encode(tree)) == tree


@pytest.mark.usefixtures("no_shape_checks")
def test_whatever_is_marked_comes_back_as_a_tree():
    rng = random.Random(2)
    relations = ["a", "b", "a||b", "b||a", "a||a", "a||c", "a||", "a||b||a", "||a"]
    for _ in range(3000):
        decoded = decode(random_tree(rng, relations))
        assert fault(decoded.heads) is None
        assert not any("||" in relation for relation in decoded.relations)


def test_the_shortest_arc_is_lifted_first():
    # 4 -> 1 -> 3 below the root 2: lifting 1 first would send 3 to the root after it.
    tree = Tree((4, 0, 1, 2), ("a", "root", "c", "d"))
    assert tree.non_projective == (1, 3)
    assert encode(tree) == Tree((2, 0, 4, 2), ("a||d", "root", "c||a", "d"))
    assert lift(tree) == Tree((2, 0, 4, 2), tree.relations)


def test_the_nearest_word_with_the_relation_gets_the_marked_one():
    # 1 <- 2 -> 3 -> 4, 3 -> 5: breadth first, from left to right, and never below itself.
    heads = (2, 0, 2, 3, 3, 2)
    for relations, head in [
        (("a", "root", "a", "a", "a", "b||a"), 1),
        (("c", "root", "a", "a", "a", "b||a"), 3),
        (("c", "root", "c", "a", "a", "b||a"), 4),
        (("c", "root", "c", "c", "a||c", "b||a"), 5),
        (("c", "root", "c", "c", "c", "b||a"), 2),
        (("c", "root", "c", "c", "c", "b||root"), 2),
        (("c", "root", "c", "c", "c", "b||b"), 2),
    ]:
        assert decode(Tree(heads, relations)).heads[5] == head


@pytest.mark.parametrize("relation", ["a||b", "|a", "a|", "||", ""])
def test_relations_that_look_marked(relation):
    tree = Tree((0, 1), ("root", relation))
    with pytest.raises(ValueError, match=r"'\|\|' marks lifted words, got '.*'; rename it"):
        encode(tree)
    assert lift(tree) == tree


@pytest.mark.parametrize(
    ("name", "lifted", "returned"),
    [("ud-english-ewt", 0.9985, 0.9999), ("ud-dutch-lassysmall", 0.935, 0.978)],
)
@pytest.mark.usefixtures("no_shape_checks")
def test_most_words_of_real_treebanks_come_back(name, lifted, returned):
    document = read_document(shared(f"{name}/dev.conllu.gz"))
    trees = [Tree(tuple(heads), tuple(relations)) for heads, relations in document.trees()]
    assert share(trees, [lift(tree) for tree in trees]) == pytest.approx(lifted, abs=5e-4)
    assert share(trees, [decode(encode(tree)) for tree in trees]) >= returned


def share(trees, others):
    """How many words have the same head and relation."""
    words = [
        pair
        for tree, other in zip(trees, others, strict=True)
        for pair in zip(
            zip(tree.heads, tree.relations, strict=True),
            zip(other.heads, other.relations, strict=True),
            strict=True,
        )
    ]
    return sum(a == b for a, b in words) / len(words)
