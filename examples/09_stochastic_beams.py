"""Sample different outputs from a model, and estimate what is expected of all of them.

A traveler walks through a small town, and turns at every corner as a model of turns says. Which
walks are taken, and how long are they on average? A beam search lists the likeliest walks, which
are too few. Ordinary samples take the likeliest walk again and again. Stochastic beam search draws
different walks, and gives each a weight, so that weighted sums are unbiased.
"""

import torch

import beamlearn as bl

STREETS = {
    "station": ["square", "market", "park"],
    "square": ["church", "market", "inn"],
    "market": ["church", "inn"],
    "park": ["lake", "square", "inn"],
    "lake": ["church", "inn"],
    "church": ["inn", "museum"],
    "museum": [],
    "inn": [],
}
LIKING = {"square": 2.0, "church": 1.0, "inn": 0.5, "museum": 1.5}
MINUTES = {"park": 15, "lake": 30, "church": 10, "museum": 20}
"""Others take 5 minutes."""
Walk = tuple[str, ...]


def minutes(walk: Walk) -> int:
    """How long a walk is."""
    return sum(MINUTES.get(place, 5) for place in walk[1:])


def model_of_turns() -> bl.FunctionScorer:
    """The log-probability of each turn: the softmax of how much a place is liked."""
    scorer = bl.FunctionScorer(lambda walk: LIKING.get(walk[-1], 0.0))
    scorer.accumulate, scorer.normalize = True, "log_softmax"
    return scorer


def estimates(width: int, repeats: int) -> torch.Tensor:
    """The mean length of a walk, estimated again and again from `width` different walks."""
    town = bl.GraphSpace.stack([bl.GraphSpace("station", STREETS.__getitem__)] * repeats)
    sample = bl.stochastic_beam_search(town, model_of_turns(), width, seeds=range(repeats))
    return torch.tensor(
        [sum(way.weight * minutes(way.output) for way in ways) for ways in sample.nbest]
    )


def main() -> None:
    town = bl.GraphSpace("station", STREETS.__getitem__)
    sample = bl.stochastic_beam_search(town, model_of_turns(), width=4, seeds=[1])
    print("Four different walks, their probabilities and their weights:")
    for way in sample.nbest[0]:
        print(f"{way.probability:6.1%}  {way.weight:.3f}  {' - '.join(way.output[1:])}")

    every = bl.exhaustive_search(town, model_of_turns()).nbest[0]
    exact = sum(way.probability * minutes(way.output) for way in every)
    print(f"\nThere are {len(every)} walks; the mean length is {exact:.1f} minutes.")
    print("Estimated from so many different walks, 400 times: mean and standard deviation")
    for width in (1, 4, 8, len(every)):
        found = estimates(width, repeats=400)
        print(f"{width:3}  {float(found.mean()):5.1f}  {float(found.std()):5.1f}")


if __name__ == "__main__":
    main()
