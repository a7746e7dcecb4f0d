"""Dates from the model, in the form that a calendar takes.

A scorer reads a word such as "may" or "friday" and writes characters. It has learned nothing: it
likes some characters more than others. A pattern says what an output must look like, so that each
one is a date, however bad the model is. A second pattern keeps a tagger to one place per sentence.

Everything that is needed to constrain a search is here: `bl.Automaton` holds the outputs that are
allowed, and `bl.ConstrainedSpace` keeps any search space to them.
"""

import re
from collections.abc import Sequence

import torch
from torch import Tensor

import beamlearn as bl

SYMBOLS = ["", *"0123456789-:"]  # action 0 ends an output
END, LONGEST = 0, 12
DATE = r"20\d\d-(0[1-9]|1[0-2])-([0-2]\d|3[01])"


class Writing(bl.SearchSpace[int]):
    """Strings of characters, up to the longest; a node is how many have been written."""

    def __init__(self, sources: Sequence[str]) -> None:
        self.sources, self.max_steps = sources, LONGEST + 2

    def __len__(self) -> int:
        return len(self.sources)

    def initial(self) -> int:
        return 0

    def expand(self, nodes: int) -> bl.Expansion:
        end = torch.arange(len(SYMBOLS)) == END
        return bl.Expansion(len(SYMBOLS), end[None, None], (end | (nodes < LONGEST))[None, None])

    def advance(self, nodes: int, move: bl.Move) -> int:
        return nodes + 1

    def outputs(self, examples: Sequence[int], actions: Sequence[Sequence[int]]) -> list[str]:
        return ["".join(SYMBOLS[action] for action in path) for path in actions]

    def steps_left(self, nodes: int) -> bl.StepsLeft:
        """With this, outputs that must not be longer still end in time."""
        most = torch.full((len(self),), LONGEST - nodes + 1)
        return bl.StepsLeft(torch.ones_like(most), most)


class Likes(bl.Scorer):
    """A number for each character at each place, whatever the source is."""

    normalize = "log_softmax"

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(4)
        self.table = torch.randn(LONGEST + 1, len(SYMBOLS), generator=generator)

    def start(self, space: bl.SearchSpace[int]) -> tuple[int, int]:
        return len(space), 1

    def score(self, memory: tuple[int, int], nodes: int) -> Tensor:
        return self.table[nodes].expand(*memory, -1)

    def advance(self, memory: tuple[int, int], nodes: int, move: bl.Move) -> tuple[int, int]:
        return move.slots.shape[0], move.slots.shape[1]


def main() -> None:
    space, scorer = Writing(["may", "friday"]), Likes()
    free = bl.beam_search(space, scorer, width=4).outputs
    print("Without a constraint:", free[0])
    dates = bl.Automaton.from_regex(DATE, SYMBOLS).ended_by(END)
    print(f"The pattern needs {dates.states} states.")
    for hypothesis in bl.beam_search(bl.ConstrainedSpace(space, dates), scorer, width=4).nbest[0]:
        assert re.fullmatch(DATE, hypothesis.output)
        print(f"{hypothesis.probability:6.1%}  {hypothesis.output}")
    tags = ["O", "B-LOC", "I-LOC"]
    one_place = bl.Automaton.from_regex("O* B-LOC I-LOC* O*", tags, words=True)
    for names in (["O", "B-LOC", "I-LOC"], ["B-LOC", "O", "B-LOC"]):
        allowed = one_place.accepts([tags.index(name) for name in names])
        print(" ".join(names), "is" if allowed else "is not", "a sentence with one place.")


if __name__ == "__main__":
    main()
