"""Pseudo-projective trees (Nivre and Nilsson, 2005): lift crossing arcs, and put them back.

A parser that builds only projective trees learns from encoded ones; what it predicts is decoded.
The scheme is the paper's "Head": a lifted word is marked with the relation of the head it had.
"""

from collections.abc import Sequence

from .tree import Tree, dependents_of, non_projective

MARK = "||"


def plain(relation: str) -> str:
    """A relation without its mark.

    >>> plain("nmod||obj"), plain("nmod")
    ('nmod', 'nmod')
    """
    return relation.partition(MARK)[0]


def unmarkable(relation: str) -> str | None:
    """Why a relation cannot be marked, as the beginning of a message; None if it can."""
    if MARK not in f"|{relation}|":
        return None
    return (
        f"A relation must not be empty, contain {MARK!r}, or begin or end with '|', because "
        f"{MARK!r} marks lifted words, got {relation!r}"
    )


def lift(tree: Tree) -> Tree:
    """Make a tree projective: attach words higher up, those with the shortest arcs first.

    Relations stay as they are. Time is linear in the words and in the lifts.
    """
    heads = list(tree.heads)
    while words := non_projective(heads):
        word = min(words, key=lambda word: (abs(heads[word - 1] - word), word))
        heads[word - 1] = heads[heads[word - 1] - 1]
    return Tree(tuple(heads), tree.relations)


def encode(tree: Tree) -> Tree:
    """Make a tree projective and mark each lifted word with the relation of its former head.

    >>> encode(Tree((3, 0, 2), ("case", "root", "obj")))
    Tree(heads=(2, 0, 2), relations=('case||obj', 'root', 'obj'))
    """
    for relation in tree.relations:
        if reason := unmarkable(relation):
            raise ValueError(f"{reason}; rename it.")
    lifted = lift(tree)
    relations = [
        relation if now == before else f"{relation}{MARK}{tree.relations[before - 1]}"
        for relation, now, before in zip(tree.relations, lifted.heads, tree.heads, strict=True)
    ]
    return Tree(lifted.heads, tuple(relations))


def decode(tree: Tree) -> Tree:
    """Attach marked words lower down, those nearest the root first, and remove all marks.

    The new head is the first word below the present one that has the relation in the mark,
    breadth first and from left to right. A word never goes below itself, so whatever the marks
    are, there is no cycle and no further root. A word that finds no head stays where it is.
    What was encoded comes back if no two words have the same relation; otherwise a word may find
    another head than the one it had.
    Paper note: a word that finds no head tries again once others have moved, since its head may
    be one of them.
    """
    if not any(MARK in relation for relation in tree.relations):
        return tree
    relations = [plain(relation) for relation in tree.relations]
    heads = list(tree.heads)
    waiting = [word for word in below(0, heads) if MARK in tree.relations[word - 1]]
    moved = True
    while moved:
        moved = False
        for word in list(waiting):
            wanted = tree.relations[word - 1].partition(MARK)[2]
            candidates = below(heads[word - 1], heads, omitted=word)
            found = [other for other in candidates if relations[other - 1] == wanted]
            if found:
                heads[word - 1] = found[0]
                waiting.remove(word)
                moved = True
    return Tree(tuple(heads), tuple(relations))


def below(head: int, heads: Sequence[int], omitted: int | None = None) -> list[int]:
    """The words below a head, breadth first; one is omitted, and with it all below it."""
    dependents = dependents_of(heads)
    reached = [head]
    for word in reached:  # grows as it is read
        reached.extend(dependent for dependent in dependents[word] if dependent != omitted)
    return reached[1:]
