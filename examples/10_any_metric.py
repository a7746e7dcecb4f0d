"""Any metric: learn to write what a Python function likes, without knowing the right answer.

The function sees finished outputs only. From each neighbor of the beam the model itself writes on
to the end (a roll-out), and the function says what that is worth.
"""

from itertools import pairwise

import torch

import beamlearn as bl

LETTERS, LENGTH = "abc", 6


def strings(_: str) -> bl.GraphSpace:
    """All strings of six letters; nobody says which is right."""
    return bl.GraphSpace("", lambda s: [s + x for x in LETTERS] if len(s) < LENGTH else [])


def ugliness(_: str, path: tuple[str, ...]) -> float:
    """A rule of thumb: neighbors should differ, and a string should read alike backward."""
    text = path[-1]
    repeats = sum(a == b for a, b in pairwise(text))
    differences = sum(a != b for a, b in zip(text, reversed(text), strict=True))
    return repeats + 0.5 * differences


def last_letters(path: tuple[str, ...]) -> dict[str, float]:
    """What the model sees of a string: its last letters, and the letter across the middle."""
    text = path[-1]
    place = len(text) - 1
    across = text[LENGTH - 1 - place] if place >= LENGTH / 2 else "?"
    return {f"{place} {text[-2:]}": 1.0, f"{place} {text[-1]} {across}": 1.0}


def main() -> None:
    task = bl.GraphTask(strings)
    scorer = bl.LinearScorer(last_letters, size=256)
    optimizer = torch.optim.SGD(scorer.parameters(), lr=0.2)
    metric = bl.RolloutOracle(ugliness, out="learned", per_beam=6)
    for round in bl.learn(
        [[""]] * 40, task, scorer, optimizer, loss="upper_bound", width=3, oracle=metric
    ):
        if round.number % 10 == 1:
            print(f"round {round.number:2}: ugliness {round.costs.item():.1f}")
    found = bl.beam_search(task.space([""]), scorer, width=3).outputs[0][-1]
    print(f"The model writes {found!r}, ugliness {ugliness('', ('', found)):.1f}.")


if __name__ == "__main__":
    main()
