import pytest
import torch
from taggers import neural

import beamlearn as bl
from beamlearn.learning import incurred
from beamlearn.search.beam import initial_beam
from beamlearn.search.check_tensors import NotFiniteError
from beamlearn.tasks.tagging.linear import LinearTagger
from beamlearn.tasks.tagging.space import UNSEEN, TaggingExample, TaggingSpace

TAGS = 4
SENTENCES = [([1, 2, 3], [0, 1, 3]), ([4], [2]), ([], []), ([3, 1, 1, 2], [3, 3, 0, 1])]
COLUMNS = ("losses", "costs", "optima", "increases", "on_policy", "steps")


def encoded(forms, gold):
    """A sentence of three features per word, as `neural` wants them."""
    rows = [[form, (form + 1) % 5, 2] for form in forms]
    features = torch.tensor(rows, dtype=torch.long).view(len(forms), 3)
    return TaggingExample(features, torch.tensor(gold, dtype=torch.long))


def linear():
    return LinearTagger(TAGS, 64)


def scorers():
    yield "lstm", lambda: neural(dropout=0.3)
    yield "gru", lambda: neural(history="gru", normalize="log_softmax")
    yield "linear", linear


class Task:
    def __init__(self, **rules):
        self.rules = rules

    def space(self, batch):
        return TaggingSpace([encoded(*pair) for pair in batch], TAGS, **self.rules)


def trained(make, task, *, walked, **choices):
    """Two rounds, and the weights after them; kept trajectories are walked step by step."""
    torch.manual_seed(0)
    scorer = make().train()
    with torch.no_grad():
        for parameter in scorer.parameters():
            parameter.normal_(0, 0.7)
    optimizer = torch.optim.SGD(scorer.parameters(), lr=0.1)
    torch.manual_seed(1)
    options = {"strategy": "oracle", "loss": "log_loss_neighbors", "width": 1} | choices
    rounds = bl.learn([SENTENCES] * 2, task, scorer, optimizer, trajectories=walked, **options)
    return list(rounds), list(scorer.parameters())


def agree(make, task, **choices):
    (one, weights), (two, others) = (
        trained(make, task, walked=walked, **choices) for walked in (False, True)
    )
    assert [len(rounds[0].trajectories) for rounds in (one, two)] == [0, 1]
    for a, b in zip(one, two, strict=True):
        for name in COLUMNS:
            torch.testing.assert_close(getattr(a, name), getattr(b, name))
    for a, b in zip(weights, others, strict=True):
        torch.testing.assert_close(a, b)
    return one


@pytest.fixture
def forced(monkeypatch):
    """Which paths were scored in one pass."""
    found = []
    real = incurred.forced_path
    monkeypatch.setattr(incurred, "forced_path", lambda *a: found.append(real(*a)) or found[-1])
    return lambda: [path is not None for path in found]


@pytest.mark.parametrize("make", [make for _, make in scorers()], ids=[n for n, _ in scorers()])
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_one_pass_learns_what_a_walk_learns(make, reduction, forced):
    rounds = agree(make, Task(), reduction=reduction)
    assert forced() == [True, True]
    assert rounds[0].steps.tolist() == [3, 1, 0, 4]
    assert rounds[0].losses[2] == 0


@pytest.mark.parametrize("loss", ["perceptron_first", "upper_bound", "weighted_pairs_all"])
def test_any_loss_can_be_forced(loss, forced):
    agree(linear, Task(), loss=loss)
    assert forced() == [True, True]


def test_likelihood_alone_beside_a_weight_of_0(forced):
    agree(linear, Task(), beam_weight=0.0)
    assert forced() == [True, True]  # the walked ones do not ask


def test_on_policy_leaves_out_the_last_action():
    scorer = linear()  # zeros prefer tag 0 everywhere
    sentences = [([1, 2], [0, 3]), ([1, 2], [3, 0])]
    optimizer = torch.optim.SGD(scorer.parameters(), lr=1.0)
    found = bl.learn(
        [sentences],
        Task(),
        scorer,
        optimizer,
        loss="log_loss_neighbors",
        strategy="oracle",
        width=1,
    )
    first = next(iter(found))
    assert first.on_policy.tolist() == [True, False]
    assert first.increases.tolist() == [1, 1]


@pytest.mark.parametrize(
    "rules", [{"first": torch.tensor([True, True, True, True])}, {"pairs": torch.ones(4, 4).bool()}]
)
def test_rules_are_walked(rules, forced):
    trained(linear, Task(**rules), walked=False)
    assert forced() == [False, False]


def test_a_tag_without_a_number_is_walked():
    space = TaggingSpace([encoded([1, 2], [0, UNSEEN])], TAGS)
    assert space.oracle().path() is None
    assert TaggingSpace([encoded([1, 2], [0, 1])], TAGS).oracle().path() is not None


def test_a_score_that_is_not_finite_is_named():
    scorer = linear()
    with torch.no_grad():
        scorer.theta.fill_(float("nan"))
    optimizer = torch.optim.SGD(scorer.parameters(), lr=1.0)
    rounds = bl.learn(
        [SENTENCES], Task(), scorer, optimizer, loss="upper_bound", strategy="oracle", width=1
    )
    with pytest.raises(NotFiniteError, match="in round 1 the scorer gave nan to a neighbor of"):
        next(rounds)


@pytest.mark.parametrize("history", ["lstm", "gru"])
def test_scores_along_a_path_are_those_of_the_search(history):
    scorer = neural(history=history).eval()
    space = Task().space(SENTENCES)
    scores = scorer.along(initial_beam(space, scorer).memory, space.gold)
    path = bl.beam_trajectory(space, scorer, width=1, strategy="oracle")
    for word, t in enumerate(path.transitions):
        rows, there = t.step.examples, ~t.step.stays[:, 0]
        torch.testing.assert_close(scores[rows, word][there], t.neighbors.local[:, 0][there])
