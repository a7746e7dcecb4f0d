"""The hypotheses of a growing output, and what they have in common."""

from collections.abc import Iterable
from typing import Any, final


@final
class Branch:
    """A hypothesis: its last item, and the hypothesis that it extends."""

    __slots__ = ("before", "branches", "item", "length")

    def __init__(self, item: Any, before: "Branch | None", length: int) -> None:
        self.item, self.before, self.length = item, before, length
        self.branches: list[Branch] = []
        """What extends it and is still in the beam."""


@final
class Lineage:
    """The tree of the hypotheses in one beam; its trunk is the beginning that all of them share.

    In all, a step takes work in the order of the width of the beam, however long the outputs are.
    The trunk only grows. An item of it is kept once, not in every hypothesis.

    >>> lineage = Lineage()
    >>> lineage.grow([0, 0], "ab")
    >>> lineage.grow([0, 0, 1], "xyz")
    >>> lineage.trunk, [lineage.path(branch) for branch in lineage.beam]
    ([], [['a', 'x'], ['a', 'y'], ['b', 'z']])
    >>> lineage.grow([1, 0], "uv")
    >>> lineage.trunk, [lineage.path(branch) for branch in lineage.beam]
    (['a'], [['a', 'y', 'u'], ['a', 'x', 'v']])
    """

    def __init__(self) -> None:
        self.trunk: list[Any] = []
        self.root = Branch(None, None, 0)
        self.beam = [self.root]
        """The hypotheses, slot by slot."""

    def grow(self, slots: Iterable[int], items: Iterable[Any]) -> None:
        """Make the next beam: slot by slot, the slot that is extended and the item that it gets."""
        last, self.beam = self.beam, []
        for slot, item in zip(slots, items, strict=True):
            before = last[slot]
            branch = Branch(item, before, before.length + 1)
            before.branches.append(branch)
            self.beam.append(branch)
        for branch in last:
            _prune(branch)
        while len(self.root.branches) == 1:
            (self.root,) = self.root.branches
            self.root.before = None
            self.trunk.append(self.root.item)

    def path(self, branch: Branch) -> list[Any]:
        """All items of a hypothesis of this beam or an earlier one."""
        own = []
        while branch.before is not None:
            own.append(branch.item)
            branch = branch.before
        return [*self.trunk[: branch.length], *reversed(own)]


def _prune(branch: Branch) -> None:
    """Forget a hypothesis that nothing extends, and what led only there."""
    while not branch.branches and branch.before is not None:
        branch.before.branches.remove(branch)
        branch = branch.before
