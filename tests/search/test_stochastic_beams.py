from collections import Counter
from math import exp, log

import by_the_book
import pytest
import torch
from generate import scorer_of, stacked, stacked_scorer, trees
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from spaces import GenerationSpace, PermutationSpace, RecurrentScorer

import beamlearn as bl
from beamlearn.search import perturbation
from beamlearn.search.gumbel import conditioned, gumbels, log_inclusion

widths = st.integers(1, 6)


def probabilistic(scorer):
    """The same scorer as a model of log-probabilities."""
    scorer.accumulate, scorer.normalize = True, "log_softmax"
    return scorer


def log_probability(tree, path):
    """log p of a node of a tree whose scores are normalized among siblings."""
    total = 0.0
    for end in range(1, len(path) + 1):
        siblings = tree.neighbors(path[: end - 1])
        total += tree.score(path[:end]) - log(sum(exp(tree.score(s)) for s in siblings))
    return total


# --- the same noise, in plain lists --------------------------------------------------------------


@settings(max_examples=80)
@given(trees(), widths, st.integers(-(2**63), 2**63 - 1))
def test_sample_is_that_of_plain_lists(tree, k, seed):
    sample = bl.stochastic_beam_search(
        tree.space(), probabilistic(scorer_of(tree)), k, seeds=[seed]
    )
    expected, kappa = by_the_book.stochastic_beams(
        tree.neighbors,
        lambda path: log_probability(tree, path),
        lambda path: by_the_book.gumbel(seed, path),
        (),
        k,
    )
    found = sample.nbest[0]
    assert [way.output[-1] for way in found] == [path for path, _ in expected]
    assert [way.perturbed for way in found] == pytest.approx([g for _, g in expected], abs=1e-6)
    assert sample.thresholds.item() == pytest.approx(kappa, abs=1e-6)
    for way, (path, _) in zip(found, expected, strict=True):
        phi = log_probability(tree, path)
        q = by_the_book.inclusion(phi, kappa)
        assert way.log_probability == pytest.approx(phi, abs=1e-9)
        assert way.probability == pytest.approx(exp(phi))
        assert way.inclusion == pytest.approx(q, abs=1e-6)
        assert way.weight == pytest.approx(exp(phi) / q, rel=1e-5)


# --- frequencies ---------------------------------------------------------------------------------

DRAWS = 20_000


def generation(limit=3, vocabulary=3, draws=DRAWS, seed=1):
    """One example, so many times: outputs of up to `limit` tokens, some shorter than others."""
    space = GenerationSpace([()] * draws, [limit] * draws, vocabulary)
    scorer = RecurrentScorer(1, vocabulary, seed=seed)
    scorer.contexts = torch.nn.Parameter(scorer.contexts.detach().repeat(draws, 1))
    return space, scorer


def exact(limit=3, vocabulary=3, seed=1):
    """The probability of every output."""
    found = bl.exhaustive_search(*generation(limit, vocabulary, 1, seed))
    return {way.output: exp(way.score) for way in found.nbest[0]}


def drawn(k, **options):
    space, scorer = generation()
    return bl.stochastic_beam_search(space, scorer, k, seeds=range(DRAWS), **options)


def ways(sample):
    """The sampled outputs of each example."""
    actions = sample.search.trace.final_actions.tolist()
    return [[tuple(a for a in path if a >= 0) for path in paths] for paths in actions]


def likelihood_of_chance(counts, probabilities):
    """The p-value of a chi-square test; rare events are counted together."""
    expected = {y: DRAWS * p for y, p in probabilities.items()}
    rare = [y for y, e in expected.items() if e < 10]
    cells = [(counts[y], e) for y, e in expected.items() if e >= 10]
    if rare:
        cells.append((sum(counts[y] for y in rare), sum(expected[y] for y in rare)))
    statistic = sum((found - e) ** 2 / e for found, e in cells)
    assert sum(found for found, _ in cells) == DRAWS
    return chi2.sf(statistic, len(cells) - 1)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_frequencies_are_those_of_drawing_without_replacement(k):
    law = by_the_book.ordered_sample(exact(), k)
    assert sum(law.values()) == pytest.approx(1)
    counts = Counter(tuple(row[:k]) for row in ways(drawn(k)))
    assert likelihood_of_chance(counts, law) > 0.01


@pytest.mark.parametrize(
    "wrong",
    [
        lambda free, greatest: free,
        lambda free, greatest: free - free.amax(dim=-1, keepdim=True) + greatest[..., None],
    ],
    ids=["no condition", "a shift in its place"],
)
def test_another_law_would_be_found_out(wrong, monkeypatch):
    law = by_the_book.ordered_sample(exact(), 2)
    monkeypatch.setattr(perturbation, "conditioned", wrong)
    counts = Counter(tuple(row[:2]) for row in ways(drawn(2)))
    assert likelihood_of_chance(counts, law) < 1e-9


def test_frequencies_on_a_graph():
    graph = {"": "abc", "b": ["ba", "bb"], "c": ["ca"]}
    spaces = [bl.GraphSpace("", lambda node: graph.get(node, []))] * 2000
    scorer = probabilistic(bl.FunctionScorer(lambda path: {"a": 1.0, "bb": -1.0}.get(path[-1], 0)))
    sample = bl.stochastic_beam_search(bl.GraphSpace.stack(spaces), scorer, 2, seeds=range(2000))
    e = exp(1)
    shares = {"a": e / (e + 2), "ba": 1 / (e + 2) / (1 + 1 / e), "ca": 1 / (e + 2)}
    shares["bb"] = shares["ba"] / e
    counts = Counter(tuple(way.output[-1] for way in ways) for ways in sample.nbest)
    for pair, share in by_the_book.ordered_sample(shares, 2).items():
        deviation = (share * (1 - share) / 2000) ** 0.5
        assert counts[pair] / 2000 == pytest.approx(share, abs=4 * deviation)


# --- expectations --------------------------------------------------------------------------------


def price(output):
    """Some function of outputs."""
    return float(sum(output) + 3 * (len(output) == 2))


@pytest.mark.parametrize("k", [1, 2, 4])
def test_weighted_sums_are_unbiased(k):
    sample, law = drawn(k), exact()
    prices = torch.tensor([[price(y) for y in row] for row in ways(sample)])
    expected = sum(p * price(y) for y, p in law.items())
    estimates = (sample.weights * prices).sum(dim=-1)
    error = float(estimates.std()) / DRAWS**0.5
    assert float(estimates.mean()) == pytest.approx(expected, abs=4 * error)
    wrong = (sample.log_probabilities.exp() * prices).sum(dim=-1)  # q taken for 1
    assert abs(float(wrong.mean()) - expected) > 10 * float(wrong.std()) / DRAWS**0.5
    ones = sample.weights.sum(dim=-1)
    assert float(ones.mean()) == pytest.approx(1, abs=4 * float(ones.std()) / DRAWS**0.5)
    assert torch.allclose(sample.normalized_weights.sum(dim=-1), torch.ones(DRAWS).double())


def test_gradients_are_unbiased():
    """The gradient of each draw stands in its own row of the contexts."""
    space, scorer = generation()
    sample = bl.stochastic_beam_search(space, scorer, 3, seeds=range(DRAWS), gradients=True)
    prices = torch.tensor([[price(y) for y in row] for row in ways(sample)])
    (sample.weights * prices).sum().backward()
    found = scorer.contexts.grad
    one, single = generation(draws=1)
    every = bl.beam_search(one, single, 1000, gradients=True)
    prices = torch.tensor([price(way.output) for way in every.nbest[0]])
    (every.nbest_scores[every.nbest_mask].exp() * prices).sum().backward()
    error = found.std(dim=0) / DRAWS**0.5
    assert bool((error > 0).all())
    assert ((found.mean(dim=0) - single.contexts.grad[0]).abs() < 4 * error).all()


def test_fewer_outputs_than_slots():
    """All of them, and every sum is exact."""
    space, scorer = generation(draws=5)
    sample = bl.stochastic_beam_search(space, scorer, 40, seeds=range(5))
    assert sample.mask.sum(dim=-1).tolist() == [15] * 5
    assert sample.thresholds.tolist() == [float("-inf")] * 5
    assert torch.equal(sample.inclusion, sample.mask.double())
    assert not sample.weights[~sample.mask].any()
    for ways in sample.nbest:
        assert {way.output: way.weight for way in ways} == pytest.approx(exact())
        assert len({way.output for way in ways}) == 15
    orders = {tuple(way.output for way in ways) for ways in sample.nbest}
    assert len(orders) == 5


# --- laws ----------------------------------------------------------------------------------------

LIMITS = [3, 6, 5, 1]


def rows(sample):
    return [
        [(way.output, way.log_probability, way.perturbed, way.weight) for way in ways]
        for ways in sample.nbest
    ]


@given(widths, st.integers(0, 1000))
def test_a_narrow_sample_is_the_beginning_of_a_wide_one(k, seed):
    """And its threshold is the next perturbed log-probability."""
    space = GenerationSpace([()] * len(LIMITS), LIMITS, 4)
    scorer, seeds = RecurrentScorer(len(LIMITS), 4, seed=seed), range(seed, seed + len(LIMITS))
    narrow, wide = (
        bl.stochastic_beam_search(space, scorer, width, seeds=seeds) for width in (k, k + 1)
    )
    for few, many, kappa in zip(narrow.nbest, wide.nbest, narrow.thresholds.tolist(), strict=True):
        assert [way.output for way in few] == [way.output for way in many][:k]
        following = [way.perturbed for way in many][k:]
        assert kappa == pytest.approx(following[0] if following else float("-inf"), abs=1e-9)
        assert [way.perturbed for way in few] == sorted((w.perturbed for w in few), reverse=True)


@settings(max_examples=15)
@given(st.lists(trees(), min_size=2, max_size=4), widths)
def test_batch_law(forest, k):
    """Alone, in a batch and in a reversed batch; rows end early, or before they begin."""
    seeds = [100 + number for number in range(len(forest))]

    def found(space, scorer, seeds):
        return bl.stochastic_beam_search(space, probabilistic(scorer), k, seeds=seeds)

    together = found(stacked(forest), stacked_scorer(forest), seeds)
    reverse = found(stacked(forest[::-1]), stacked_scorer(forest[::-1]), seeds[::-1])
    for number, tree in enumerate(forest):
        alone = found(tree.space(), scorer_of(tree), [seeds[number]])
        expected = [(way.output[-1], way.perturbed, way.weight) for way in alone.nbest[0]]
        for sample, place in ((together, number), (reverse, len(forest) - 1 - number)):
            for way, (output, *numbers) in zip(sample.nbest[place], expected, strict=True):
                assert way.output[-1][1] == output
                assert [way.perturbed, way.weight] == pytest.approx(numbers, rel=1e-12)
            kappa = sample.thresholds[place].item()
            assert kappa == pytest.approx(alone.thresholds.item(), rel=1e-12)


class Junky(bl.Scorer):
    """Numbers of another scorer, with junk where an action is illegal."""

    normalize = "log_softmax"

    def __init__(self, inner, junk):
        super().__init__()
        self.inner, self.junk = inner, junk

    def start(self, space):
        self.space = space
        return self.inner.start(space)

    def score(self, memory, nodes):
        legal = self.space.expand(nodes).legal
        return self.inner.score(memory, nodes).masked_fill(~legal, self.junk)

    def advance(self, memory, nodes, move):
        return self.inner.advance(memory, nodes, move)


@pytest.mark.parametrize("junk", [float("nan"), float("inf"), float("-inf"), 1e30])
def test_padding_is_not_read(junk):
    references = [(0, 1, 2, 3), (1, 0), (), (0, 2, 1)]
    space, inner = PermutationSpace(references), RecurrentScorer(4, 4)
    expected = rows(bl.stochastic_beam_search(space, Junky(inner, 0.0), 5, seeds=range(4)))
    assert rows(bl.stochastic_beam_search(space, Junky(inner, junk), 5, seeds=range(4))) == expected
    assert [len(ways) for ways in expected] == [5, 2, 1, 5]


def test_seeds_come_from_the_generator():
    space, scorer = generation(draws=8)

    def outputs(**options):
        return bl.stochastic_beam_search(space, scorer, 2, **options).outputs

    def generator(seed):
        return torch.Generator().manual_seed(seed)

    assert outputs(generator=generator(0)) == outputs(generator=generator(0))
    assert outputs(generator=generator(0)) != outputs(generator=generator(1))
    torch.manual_seed(3)
    once = outputs()
    assert once != outputs()
    torch.manual_seed(3)
    assert once == outputs()


def test_result_is_shown():
    space, scorer = generation(draws=2)
    sample = bl.stochastic_beam_search(space, scorer, 2, seeds=[0, 1])
    assert repr(sample) == "<SampleResult: 2 examples, up to 2 outputs each>"
    assert str(sample).splitlines()[0].split() == ["example", "score", "probability", "output"]
    first = sample.nbest[0][0]
    assert str(first) == f"{first.probability:.1%}  {first.weight:.4f}  {first.output!r}"
    assert sample.outputs == [ways[0].output for ways in sample.nbest]
    assert sample.search.beams[0][0] == [()]


def test_no_example():
    sample = bl.stochastic_beam_search(GenerationSpace([], [], 3), RecurrentScorer(0, 3), 2)
    assert len(sample) == 0
    assert sample.nbest == []


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("normalize", None, "log_softmax"),
        ("accumulate", False, True),
        ("length_bonus", 0.5, 0.0),
        ("length_power", 1.0, 0.0),
    ],
)
def test_scores_must_be_log_probabilities(name, value, needed):
    space, scorer = generation(draws=1)
    setattr(scorer, name, value)
    with pytest.raises(ValueError, match=f"`{name}` = {needed}, got {value}; train one with this"):
        bl.stochastic_beam_search(space, scorer, 2)


@pytest.mark.usefixtures("no_shape_checks")
def test_seeds_are_one_for_each_example():
    space, scorer = generation(draws=2)
    with pytest.raises(ValueError, match="one number for each example, here 2, got 3"):
        bl.stochastic_beam_search(space, scorer, 2, seeds=[1, 2, 3])
    with pytest.raises(ValueError, match="`seeds` or from a `generator`, got both"):
        bl.stochastic_beam_search(space, scorer, 2, seeds=[1, 2], generator=torch.Generator())
    with pytest.raises(ValueError, match="`width` must be at least 1, got 0"):
        bl.stochastic_beam_search(space, scorer, 0)


def test_plain_neighbors_have_no_noise():
    space, scorer = generation(draws=1)
    from beamlearn.search.beam import expand, initial_beam, sampled_policy

    neighbors = expand(space, scorer, initial_beam(space, scorer))
    with pytest.raises(ValueError, match="These neighbors have no noise"):
        sampled_policy(neighbors, 2, "pad")


# --- digits --------------------------------------------------------------------------------------


def test_the_largest_of_conditioned_numbers_is_the_one_given():
    free = torch.tensor(
        [[-800.0, 3.0, -torch.inf, 2.0], [-1e5, -1e5 - 40, -2e5, -1e5 - 1e-9]], dtype=torch.float64
    )
    greatest = torch.tensor([-2.0, 700.0], dtype=torch.float64)
    found = conditioned(free, greatest)
    assert found.amax(dim=-1).tolist() == [-2.0, 700.0]
    assert found.argmax(dim=-1).tolist() == [1, 0]
    assert found[0, 2] == -torch.inf
    assert not found.isnan().any()
    order = free.argsort(dim=-1)
    assert torch.equal(found.argsort(dim=-1), order)


def test_digits_of_small_numbers():
    phi = torch.tensor([-1000.0, -37.0, -35.0, -1.0, 0.0]).double()
    expected = [-1000.0, -37.0, -35.0, log(1 - exp(-exp(-1.0))), log(1 - exp(-1.0))]
    found = log_inclusion(phi, torch.zeros(5).double())
    assert found.tolist() == pytest.approx(expected, abs=1e-12)


def test_noise_is_finite_whatever_the_bits():
    keys = torch.tensor([0, -1, 2**63 - 1, -(2**63), 4095])
    found = gumbels(keys)
    assert bool(found.isfinite().all())
    assert found.min() > -4
    assert found.max() < 38
