from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.data.trees import cycle, fault
from beamlearn.tasks.parsing.tree import Tree


def trees(most):
    """All trees of up to so many words, which may have several roots."""
    for n in range(1, most + 1):
        for heads in product(range(n + 1), repeat=n):
            if all(0 in ancestors(heads, word) for word in range(1, n + 1)):
                yield Tree(heads, ("dep",) * n)


def ancestors(heads, word):
    """The heads above a word; it comes to the root within as many steps as there are words."""
    found = []
    while word and len(found) <= len(heads):
        word = heads[word - 1]
        found.append(word)
    return found


def non_projective(tree):
    return tuple(
        word
        for word, head in enumerate(tree.heads, 1)
        for between in [range(min(word, head) + 1, max(word, head))]
        if any(head not in ancestors(tree.heads, other) for other in between)
    )


def crossing(tree):
    arcs = [(min(arc), max(arc)) for arc in enumerate(tree.heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


@pytest.mark.usefixtures("no_shape_checks")
def test_projectivity_by_definition():
    for tree in trees(5):
        assert tree.non_projective == non_projective(tree)
        assert tree.is_projective == (not crossing(tree))


@given(st.permutations(range(1, 13)), st.lists(st.integers(0, 11), min_size=12, max_size=12))
def test_longer_trees(words, choices):
    heads = {word: ([0, *words[:i]])[choices[i] % (i + 1)] for i, word in enumerate(words)}
    tree = Tree(tuple(heads[word] for word in range(1, 13)), ("dep",) * 12)
    assert tree.non_projective == non_projective(tree)
    assert tree.is_projective == (not crossing(tree))


def test_a_root_that_is_covered_by_an_arc():
    tree = Tree((3, 0, 2), ("a", "b", "c"))
    assert (len(tree), tree.roots) == (3, (2,))
    assert not tree.is_projective
    assert tree.non_projective == (1,)


@pytest.mark.usefixtures("no_shape_checks")
def test_cycles_by_definition():
    for n in range(6):
        for heads in product(range(n + 1), repeat=n):
            expected = any(0 not in ancestors(heads, word) for word in range(1, n + 1))
            words = cycle(heads)
            assert (words is not None) == expected
            if words:
                assert words[0] == min(words)
                assert [heads[word - 1] for word in words] == [*words[1:], words[0]]
            one_root = heads.count(0) == 1 or n == 0
            assert (fault(heads) is None) == (one_root and not expected)


def test_many_words():
    chain = Tree(tuple(range(20_000)), ("dep",) * 20_000)
    assert chain.is_projective
    assert cycle([*range(2, 20_001), 1]) == tuple(range(1, 20_001))
    _, reason = fault([*range(2, 20_001), 1, 0])
    assert reason.endswith("from 1 to 2 to 3 to 4 to 5 to 6 to ... to 1")


@pytest.mark.parametrize(
    ("heads", "word", "reason"),
    [
        ([2, 1], 1, "no word has head 0"),
        ([0, 1, 0, 0], 3, "words 1 and 3 both have head 0"),
        ([0, 4, 1, 2], 2, "lead from 2 to 4 to 2"),
        ([0, 2], 2, "lead from 2 to 2"),
    ],
)
def test_what_keeps_heads_from_being_a_tree(heads, word, reason):
    concerned, sentence = fault(heads)
    assert concerned == word
    assert sentence.endswith(reason)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ((0,), "a relation for each word, got 1 heads and 2 relations"),
        ((0, 3), r"A head must be .*\(1 to 2\) or 0 .* got 3 for word 2; count words from 1"),
        ((0, -1), "A head must be .* got -1 for word 2"),
        ((0, 2), "A head must be the number of another word .* got 2 for word 2"),
        ((2, 1), "lead from 1 to 2 to 1; attach one of these words elsewhere"),
    ],
)
def test_no_tree(heads, message):
    with pytest.raises(ValueError, match=message):
        Tree(heads, ("a", "b"))
