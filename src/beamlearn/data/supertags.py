"""Dependency supertags: what a word's place in the tree is, in one label."""

from collections.abc import Sequence


def supertags(heads: Sequence[int], relations: Sequence[str]) -> list[str]:
    """Name the relation of each word, the side of its head and the sides of its dependents.

    The relation comes without its subtype. "/L" or "/R": the head is to the left or to the
    right; a root has none. "+L", "+R" or "+LR": there are dependents on these sides.

    >>> supertags([2, 3, 0, 3], ["nmod:poss", "nsubj", "root", "punct"])
    ['nmod/R', 'nsubj/R+L', 'root+LR', 'punct/L']
    """
    left = {head for word, head in enumerate(heads, 1) if word < head}
    right = {head for word, head in enumerate(heads, 1) if word > head}
    tags = []
    for word, (head, relation) in enumerate(zip(heads, relations, strict=True), 1):
        direction = "" if head == 0 else "/L" if head < word else "/R"
        sides = "L" * (word in left) + "R" * (word in right)
        tags.append(relation.partition(":")[0] + direction + ("+" + sides if sides else ""))
    return tags
