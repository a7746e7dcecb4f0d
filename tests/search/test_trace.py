import torch
from generate import stacked, stacked_scorer, trees
from hypothesis import given
from hypothesis import strategies as st
from taggers import TableTagger, corpora

import beamlearn as bl

forests = st.lists(trees(), min_size=1, max_size=4)
finishes = st.sampled_from(["pad", "first"])
widths = st.integers(1, 6)


def check(result):
    """The actions in one tensor are those of the paths followed one by one."""
    found, trace = result.trace.final_actions, result.trace
    assert found.shape[0] == len(result)
    assert found.shape[2] == sum(not step.stays.all() for step in trace.steps)
    assert torch.equal(trace.best_actions(1), found[:, :1])
    for example, mask in enumerate(result.nbest_mask.tolist()):
        for slot, actions in enumerate(found[example].tolist()):
            taken = [action for action in actions if action >= 0]
            there = slot < len(mask) and mask[slot]
            assert taken == (trace.last(example, slot).actions if there else [])
            if there and trace.rows[example]:  # what stays, stays to the end
                assert actions[: len(taken)] == taken
    assert result.outputs == [nbest[0].output for nbest in result.nbest]


@given(forests, widths, finishes)
def test_final_actions_in_graphs_with_ragged_ends(forest, k, finish):
    check(bl.beam_search(stacked(forest), stacked_scorer(forest), width=k, finish=finish))


@given(corpora(), widths, st.integers(0, 99))
def test_final_actions_of_taggings(corpus, k, seed):
    result = bl.beam_search(corpus.space(), TableTagger(corpus.tags, seed), width=k)
    check(result)
    for gold, actions in zip(corpus.gold, result.trace.final_actions[:, 0].tolist(), strict=True):
        assert all(action >= 0 for action in actions[: len(gold)])
        assert all(action == -1 for action in actions[len(gold) :])


@given(forests, widths, finishes, st.sampled_from(["oracle", "stop", "reset", "continue"]))
def test_final_actions_of_trajectories(forest, k, finish, strategy):
    scorer = stacked_scorer(forest)
    path = bl.beam_trajectory(stacked(forest), scorer, k, strategy=strategy, finish=finish)
    for example, actions in enumerate(path.trace.final_actions[:, 0].tolist()):
        assert [a for a in actions if a >= 0] == path.trace.last(example, 0).actions


def test_no_examples_no_actions():
    result = bl.beam_search(bl.GraphSpace.stack([]), bl.FunctionScorer(lambda _: 0.0))
    assert result.trace.final_actions.shape == (0, 1, 0)


def test_final_actions_by_hand():
    space = bl.GraphSpace("", lambda w: [w + "a", w + "b"] if len(w) < 2 and w != "b" else [])
    scorer = bl.FunctionScorer(lambda path: {"a": 1, "b": 5, "aa": 2, "ab": 3}[path[-1]])
    found = bl.beam_search(space, scorer, width=3).trace.final_actions
    assert torch.equal(found, torch.tensor([[[1, -1], [0, 1], [0, 0]]]))
