r"""A toy problem with four nodes, in which you can check every number by hand.

The search space is a small tree. Its four nodes below the start are two cities, each with a
place to stay:

    start -- Ghent -- hostel (cost 2)
          \
           Bruges -- canal house (cost 0)

The model prefers Ghent, so greedy search ends in the hostel. A beam of two keeps Bruges until the
canal house is seen. We look at the costs, the losses, and one training step after which greedy
search is right too.
"""

import torch

import beamlearn as bl

PLACES = {"start": ["Ghent", "Bruges"], "Ghent": ["hostel"], "Bruges": ["canal house"]}
COSTS = {"hostel": 2.0, "canal house": 0.0}

space = bl.GraphSpace(
    "start", lambda place: PLACES.get(place, []), cost=lambda path: COSTS[path[-1]]
)
scorer = bl.LinearScorer(lambda path: {path[-1]: 1.0}, names=["Ghent", "Bruges", *COSTS])
with torch.no_grad():
    scorer.theta[:] = torch.tensor([1.0, 0.5, 0.0, 0.2])

print("Greedy search finds", bl.beam_search(space, scorer, width=1).outputs[0])
print("A beam of two finds ", bl.beam_search(space, scorer, width=2).outputs[0])

print("\nTrajectory of the greedy policy (strategy: continue)")
path = bl.beam_trajectory(space, scorer, width=1)
for beam, costs in zip(path.beams[0], path.costs[0], strict=True):
    print(f"  beam {beam[0][-1]:12} c* = {costs[0]:g}")
print("  cost increases per transition:", path.increased[0])

print("\nAt the start, s(Ghent) = 1, s(Bruges) = 0.5; c*(Ghent) = 2, c*(Bruges) = 0, and k = 1:")
neighbors = path.transitions[0].neighbors
for name, loss in bl.losses.LOSSES.items():
    value = loss(neighbors.scores, neighbors.costs, 1, neighbors.mask).item()
    print(f"  {name:27} {value:7.4f}")

print("\nOne step of gradient descent on perceptron_first (rate 1):")
optimizer = torch.optim.SGD(scorer.parameters(), lr=1.0)
task = bl.GraphTask(lambda example: example)
for _ in bl.learn([[space]], task, scorer, optimizer, loss="perceptron_first", width=1):
    print("  weights:", {name: round(weight, 2) for name, weight in scorer.weights()})
print("Greedy search now finds", bl.beam_search(space, scorer, width=1).outputs[0])
