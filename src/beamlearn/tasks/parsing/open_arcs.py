"""The arcs that hypotheses have made so far, and those that all of them have made."""

from collections.abc import Mapping, Sequence
from typing import final

Arc = tuple[int, str]
"""The head and the relation of a word."""
Arcs = Mapping[int, Arc]
"""Some arcs, by the number of the word."""


@final
class OpenArcs:
    """The arcs of one beam: once those on which all hypotheses agree, the others for each of them.

    An arc is never changed once it is made, so what all hypotheses have, all to come will have,
    by whatever transitions they made it. Only arcs that are open yet are copied at a step.

    >>> arcs = OpenArcs()
    >>> arcs.grow([0, 0], [(1, (2, "det")), (1, (0, "root"))])
    >>> arcs.grow([0, 1], [(2, (3, "nsubj")), (2, (3, "nsubj"))])
    >>> arcs.agreed, arcs.beam
    ([(2, (3, 'nsubj'))], [{1: (2, 'det')}, {1: (0, 'root')}])
    """

    def __init__(self, undecided: str | None = None) -> None:
        self.undecided = undecided
        """What is in relations that do not yet say where a word goes; None: there are none."""
        self.agreed: list[tuple[int, Arc]] = []
        """In the order in which they became certain."""
        self.beam: Sequence[Arcs] = [{}]
        """The open arcs of the hypotheses, slot by slot."""

    def grow(self, slots: Sequence[int], made: Sequence[tuple[int, Arc] | None]) -> None:
        """Make the next beam: slot by slot, the one that is extended and the arc that it gets."""
        beam = [
            self.beam[slot] if arc is None else {**self.beam[slot], arc[0]: arc[1]}
            for slot, arc in zip(slots, made, strict=True)
        ]
        self.beam = self._agree(beam)

    def close(self, beam: Sequence[Arcs]) -> None:
        """Replace the arcs by all those of some trees, in which every word has found its place."""
        known = dict(self.agreed)
        rest = [{w: arc for w, arc in arcs.items() if w not in known} for arcs in beam]
        self.beam = self._agree(rest)

    def listed(self, words: int, count: int, own: Arcs | None = None) -> list[Arc | None]:
        """The arcs of so many words: the first `count` that were agreed on, and its own."""
        arcs = {**dict(self.agreed[:count]), **(own or {})}
        found = (arcs.get(word) for word in range(1, words + 1))
        return [None if arc is None or self._moves(arc) else arc for arc in found]

    def _moves(self, arc: Arc) -> bool:
        return self.undecided is not None and self.undecided in arc[1]

    def _agree(self, beam: Sequence[Arcs]) -> Sequence[Arcs]:
        """Take out the arcs that are the same in all hypotheses."""
        certain = {
            word: arc
            for word, arc in beam[0].items()
            if not self._moves(arc) and all(arcs.get(word) == arc for arcs in beam)
        }
        if not certain:
            return beam
        self.agreed += certain.items()
        return [{w: arc for w, arc in arcs.items() if w not in certain} for arcs in beam]
