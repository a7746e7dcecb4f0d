import pytest
import torch
from spaces import TableScorer, TaggingSpace

import beamlearn as bl


def letters(depth):
    return bl.GraphSpace("", lambda w: [w + "a", w + "b"] if len(w) < depth else [])


def score_of_best(scorer, depth=2):
    return bl.beam_search(letters(depth), scorer, width=4).nbest[0]


def test_linear_scores_are_theta_dot_phi():
    features = {"a": 2.0, "ab": -1.0, "n": 0.5}
    scorer = bl.LinearScorer(
        lambda path: {"a": path[-1].count("a"), "ab": "ab" in path[-1], "n": len(path[-1])},
        names=list(features),
        dtype=torch.float64,
    )
    with torch.no_grad():
        scorer.theta[:] = torch.tensor(list(features.values()))
    found = {h.output[-1]: h.score for h in score_of_best(scorer)}
    assert found == {"aa": 5.0, "ab": 2.0, "ba": 3.0, "bb": 1.0}
    assert dict(scorer.weights()) == features


@pytest.mark.parametrize("vector", [list, torch.tensor], ids=["list", "tensor"])
def test_vectors_are_features_too(vector):
    scorer = bl.LinearScorer(
        lambda path: vector([path[-1].count("a"), path[-1].count("b")]), size=2
    )
    with torch.no_grad():
        scorer.theta[:] = torch.tensor([1.0, 3.0])
    assert score_of_best(scorer)[0].score == 6.0


def test_hashed_features_do_not_depend_on_the_process():
    scorer = bl.LinearScorer(lambda path: {f"last={path[-1][-1]}": 1.0}, size=1000)
    result = bl.beam_search(letters(1), scorer, width=2, gradients=True)
    (gradient,) = torch.autograd.grad(result.nbest_scores.sum(), scorer.theta)
    assert gradient.nonzero()[:, 0].tolist() == [9, 123]


def test_equal_features_give_equal_scores_in_whatever_order_they_come():
    def features(path):
        names = ["x", "y", "z"] if path[-1].endswith("a") else ["z", "y", "x"]
        return dict.fromkeys(names, 1.0)

    scorer = bl.LinearScorer(features, size=8191)
    for seed in range(20):
        torch.nn.init.normal_(scorer.theta, generator=torch.Generator().manual_seed(seed))
        one, two = bl.beam_search(letters(1), scorer, width=2).nbest[0]
        assert one.score == two.score
        assert one.output == ("", "a")


def test_features_are_asked_for_neighbors_only():
    """Not for the root, where bigrams do not exist, however uneven the branching is."""
    graph = {0: [1, 2, 3], 1: [4], 2: [4, 5], 3: [], 4: [], 5: []}
    scorer = bl.LinearScorer(lambda path: {f"{path[-2]}-{path[-1]}": 1.0}, size=64)
    assert bl.beam_search(bl.GraphSpace(0, graph.__getitem__), scorer, width=3).outputs


def test_linear_scores_are_the_same_in_any_batch():
    scorer = bl.LinearScorer(lambda path: {path[-1][i:]: 0.1 for i in range(3)}, size=97)
    torch.nn.init.normal_(scorer.theta, generator=torch.Generator().manual_seed(0))
    spaces = [letters(depth) for depth in (1, 3, 2)]
    together = bl.beam_search(bl.GraphSpace.stack(spaces), scorer, width=3)
    for place, space in enumerate(spaces):
        assert torch.equal(together.scores[place], bl.beam_search(space, scorer, 3).scores[0])


def test_linear_scorer_refuses_what_it_cannot_read():
    with pytest.raises(ValueError, match="either `size`, the number of its features, or their"):
        bl.LinearScorer(lambda path: [1.0])
    with pytest.raises(ValueError, match="must return 3 numbers.*got 1 for"):
        bl.beam_search(letters(1), bl.LinearScorer(lambda path: [1.0], size=3))
    named = bl.LinearScorer(lambda path: {"lenght": 1.0}, names=["length"])
    with pytest.raises(ValueError, match=r"no feature called 'lenght'\. Did you mean 'length'"):
        bl.beam_search(letters(1), named)


@pytest.mark.usefixtures("no_shape_checks")
def test_linear_scorer_needs_numbered_nodes():
    with pytest.raises(TypeError, match="needs a space with numbered nodes.*got TaggingSpace"):
        bl.beam_search(TaggingSpace([[0]], 2), bl.LinearScorer(lambda path: [1.0], size=1))


def test_function_scorer_works_on_any_space():
    gold = [[1, 0, 1], [0]]
    scorer = bl.FunctionScorer(lambda tags: sum(tags))
    assert bl.beam_search(TaggingSpace(gold, 2), scorer, width=2).outputs == [[1, 1, 1], [1]]


class Fixed(bl.Scorer):
    """The same numbers for every node."""

    def __init__(self, numbers, **options):
        super().__init__()
        self.numbers = torch.nn.Parameter(numbers)
        self.accumulate = options.get("accumulate", True)
        self.normalize = options.get("normalize")

    def start(self, space):
        return 1

    def score(self, memory, nodes):
        return self.numbers.expand(len(nodes.examples), memory, -1)

    def advance(self, memory, nodes, move):
        return move.slots.shape[1]


@pytest.mark.parametrize("normalize", [None, "log_softmax"])
def test_a_scorer_rules_actions_out_with_minus_infinity(normalize):
    scorer = Fixed(torch.tensor([0.0, -torch.inf, 1.0]), normalize=normalize)
    space = TaggingSpace([[0, 0], [2]], 3)
    result = bl.beam_search(space, scorer, width=9)
    assert [len(nbest) for nbest in result.nbest] == [4, 2]
    path = bl.beam_trajectory(space, scorer, width=9)
    for loss in bl.losses.LOSSES.values():
        (gradient,) = torch.autograd.grad(
            path.losses(loss).sum(), scorer.numbers, retain_graph=True
        )
        assert torch.isfinite(gradient[[0, 2]]).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_scores_are_summed_in_single_precision(dtype):
    scorer = Fixed(torch.tensor([-0.6, -0.7], dtype=dtype))
    result = bl.beam_search(TaggingSpace([[0] * 300], 2), scorer, width=2)
    expected = 300 * scorer.numbers[0].double().item()
    assert result.scores.dtype == torch.float32
    assert result.scores.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.usefixtures("no_shape_checks")
def test_unknown_normalization():
    with pytest.raises(ValueError, match=r"no normalization called 'softmax'"):
        bl.beam_search(TaggingSpace([[0]], 2), Fixed(torch.zeros(2), normalize="softmax"))


@pytest.mark.parametrize("normalize", [None, "log_softmax"])
@pytest.mark.parametrize("accumulate", [True, False])
def test_accumulated_and_normalized_scores(accumulate, normalize, generator):
    """s(v') = [s(v)] + local(v') [- logsumexp], written out along each hypothesis."""
    table = torch.randn(3, 4, 3, generator=generator, dtype=torch.float64)
    scorer = TableScorer(table, accumulate=accumulate, normalize=normalize)
    result = bl.beam_search(TaggingSpace([[0, 0, 0], [0, 0]], 3), scorer, width=5)
    rows = table if normalize is None else table.log_softmax(dim=-1)
    for nbest in result.nbest:
        for hypothesis in nbest:
            last, numbers = 3, []
            for word, tag in enumerate(hypothesis.output):
                numbers.append(rows[word, last, tag].item())
                last = tag
            expected = sum(numbers) if accumulate else numbers[-1]
            assert hypothesis.score == pytest.approx(expected)
            if accumulate:
                assert list(hypothesis.step_scores) == pytest.approx(numbers)
    if accumulate and normalize:
        assert sum(h.probability for h in result.nbest[0]) == pytest.approx(1)
