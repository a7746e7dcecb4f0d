import by_the_book
import pytest
import torch
from generate import STRATEGIES, finishes, numbered, stacked, stacked_scorer, trees, widths
from hypothesis import given, settings
from hypothesis import strategies as st
from taggers import TableTagger, corpora

import beamlearn as bl
from beamlearn.evaluation.evaluate import evaluate_search
from beamlearn.learning.collect import search_trajectory


@settings(max_examples=20)
@given(st.lists(trees(), min_size=1, max_size=5), widths, finishes, st.integers(1, 3))
def test_search_errors_by_definition(forest, k, finish, size):
    costs, regrets, errors = [], [], []
    for tree in forest:
        _, ranked = by_the_book.beam_search(tree.neighbors, tree.score, (), k, finish)
        oracle_path, *_ = by_the_book.beam_trajectory(
            tree.neighbors, tree.score, tree.cstar, (), 1, "oracle", finish
        )
        found, right = ranked[0], oracle_path[-1][0]
        assert tree.costs[right] == tree.cstar(())
        costs.append(tree.costs[found])
        regrets.append(tree.costs[found] - tree.cstar(()))
        errors.append(regrets[-1] > 0 and tree.score(right) > tree.score(found))
    batches = [range(i, min(i + size, len(forest))) for i in range(0, len(forest), size)]
    task = bl.GraphTask(lambda number: numbered(number, forest[number]))
    scorer = stacked_scorer(forest)
    found = bl.evaluate(batches, task, scorer, k, finish=finish, references=True)
    assert len(found) == len(forest)
    assert found.costs.tolist() == costs
    assert found.regrets.tolist() == regrets
    assert found.search_errors.tolist() == errors
    wrong = sum(regret > 0 for regret in regrets)
    assert found.search_error_rate == (sum(errors) / wrong if wrong else 0.0)
    assert found.cost == pytest.approx(sum(costs) / len(costs))
    assert found.regret == pytest.approx(sum(regrets) / len(costs))
    assert found.optimum == pytest.approx(sum(t.cstar(()) for t in forest) / len(costs))


@settings(max_examples=15)
@given(corpora(), widths, st.integers(0, 99))
def test_search_errors_of_taggings(corpus, k, seed):
    scorer = TableTagger(corpus.tags, seed)
    found = bl.evaluate([corpus], Corpora(), scorer, k, references=True)
    result = bl.beam_search(corpus.space(), scorer, width=k)
    ranked = bl.exhaustive_search(corpus.space(), scorer).nbest
    for example, output in enumerate(result.outputs):
        cost = corpus.completion_cost(example, output)
        best = corpus.completion_cost(example, [])
        assert found.costs[example] == cost
        assert found.regrets[example] == cost - best
        if found.search_errors[example]:
            assert cost > best
            assert any(
                corpus.completion_cost(example, h.output) == best
                and h.score > result.scores[example]
                for h in ranked[example]
            )
    everything = bl.evaluate([corpus], Corpora(), scorer, 200, references=True)
    assert not everything.search_errors.any()
    assert everything.search_error_rate == 0.0


class Corpora:
    """A batch is a corpus."""

    def space(self, batch):
        return batch.space()


def garden_path():
    """Width 1 loses the right path, whose score is the best in the end; width 2 keeps it."""
    scores = {"a": 1, "b": 0, "aa": 1, "bb": 5}
    space = bl.GraphSpace(
        "",
        lambda w: ["a", "b"] if not w else [w * 2] if len(w) == 1 else [],
        cost=lambda path: float(path[-1] != "bb"),
    )
    return bl.GraphTask(lambda _: space), bl.FunctionScorer(lambda path: scores[path[-1]])


def test_a_search_error_is_one_that_a_wider_beam_mends():
    task, scorer = garden_path()
    narrow, wide = (bl.evaluate([[0]], task, scorer, k, references=True) for k in (1, 2))
    assert (narrow.cost, narrow.search_error_rate) == (1.0, 1.0)
    assert (wide.cost, wide.search_error_rate) == (0.0, 0.0)
    model_error = bl.FunctionScorer(lambda path: -scorer.f(path))
    assert bl.evaluate([[0]], task, model_error, 2, references=True).search_error_rate == 0.0


def test_a_tie_is_the_models_error():
    task, _ = garden_path()
    found = bl.evaluate([[0]], task, bl.FunctionScorer(lambda _: 0.0), 1, references=True)
    assert found.cost == 1.0
    assert found.search_errors.tolist() == [False]


def test_another_right_answer_with_a_lower_score_is_no_error():
    scores = {"a": 3, "b": 2, "aa": 0, "ba": 5, "bb": 4, "aaa": 100, "baa": 6, "bba": 4}
    space = bl.GraphSpace(
        "",
        lambda w: sorted(s for s in scores if s[:-1] == w),
        cost=lambda path: float(path[-1] == "bba"),
    )
    scorer = bl.FunctionScorer(lambda path: scores[path[-1]])
    found = bl.evaluate([[0]], bl.GraphTask(lambda _: space), scorer, 2, references=True)
    assert bl.beam_search(space, scorer, 2).outputs[0][-1] == "baa"
    assert found.search_errors.tolist() == [False]


def test_search_errors_need_references():
    found = bl.evaluate([[0]], *garden_path(), 1)
    assert found.search_errors is None
    with pytest.raises(ValueError, match="needs search errors, got none.*references=True"):
        found.search_error_rate  # noqa: B018 (a property that raises)


def test_nothing_to_evaluate():
    with pytest.raises(ValueError, match="at least one batch, got none"):
        bl.evaluate([], *garden_path(), 1)


@pytest.mark.parametrize("training", [True, False])
def test_the_mode_of_the_scorer_is_put_back(training):
    task, scorer = garden_path()
    modes = []
    watched = bl.FunctionScorer(lambda path: modes.append(watched.training) or scorer.f(path))
    watched.train(training)
    bl.evaluate([[0]], task, watched, 2, references=True)
    assert set(modes) == {False}
    assert watched.training is training
    broken = bl.FunctionScorer(lambda path: 1 / 0).train(training)
    with pytest.raises(ZeroDivisionError):
        bl.evaluate([[0]], task, broken, 2)
    assert broken.training is training


@settings(max_examples=20)
@given(
    st.lists(trees(root_terminal=False), min_size=1, max_size=4),
    widths,
    finishes,
    st.sampled_from(list(STRATEGIES)),
)
def test_steps_and_final_scores_of_trajectories(forest, k, finish, strategy):
    space, scorer = stacked(forest), stacked_scorer(forest)
    path = bl.beam_trajectory(space, scorer, k, strategy=STRATEGIES[strategy], finish=finish)
    for example, tree in enumerate(forest):
        beams, *_ = by_the_book.beam_trajectory(
            tree.neighbors, tree.score, tree.cstar, (), k, strategy, finish
        )
        assert path.steps[example] == len(beams) - 1
        assert path.final_scores[example] == tree.score(beams[-1][0])


def test_final_scores_keep_their_gradient():
    space = bl.GraphSpace("", lambda w: [w + "a"] if len(w) < 2 else [], cost=lambda _: 0.0)
    scorer = bl.LinearScorer(lambda path: {"n": len(path)}, names=["n"])
    (gradient,) = torch.autograd.grad(bl.beam_trajectory(space, scorer).final_scores, scorer.theta)
    assert gradient.tolist() == [3.0]


@settings(max_examples=20)
@given(st.lists(trees(), min_size=1, max_size=4), widths, finishes)
def test_a_search_that_is_done_is_evaluated_as_a_trajectory(forest, k, finish):
    space, scorer = stacked(forest), stacked_scorer(forest)
    result = bl.beam_search(space, scorer, k, finish=finish)
    found = evaluate_search(result, scorer, finish=finish)
    path = bl.beam_trajectory(space, scorer, k, finish=finish)
    again = search_trajectory(result, finish=finish)
    assert again.increased == path.increased
    assert again.costs == path.costs
    assert again.beams == path.beams
    assert torch.equal(found.costs, path.final_costs)
    assert torch.equal(found.increases, path.increases)
    right = bl.beam_trajectory(space, scorer, 1, strategy="oracle", finish=finish)
    better = right.final_scores > path.final_scores
    assert torch.equal(found.search_errors, (found.regrets > 0) & better)
