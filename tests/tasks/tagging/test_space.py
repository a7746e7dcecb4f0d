import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from taggers import BIO, TableTagger, corpora, encoded

import beamlearn as bl
from beamlearn.tasks.tagging.bio import legal_pairs
from beamlearn.tasks.tagging.space import UNSEEN, TaggingSpace

widths = st.integers(1, 6)
seeds = st.integers(0, 99)


def hamming(corpus):
    return lambda example, output: sum(
        a != b for a, b in zip(output, corpus.gold[example], strict=True)
    )


@settings(max_examples=60)
@given(corpora())
def test_the_oracle_passes_the_check_of_oracles(corpus):
    check = bl.check_oracle(corpus.space(), cost=hamming(corpus))
    assert check.exhaustive
    assert check.mistakes == []


def test_the_space_knows_what_outputs_cost():
    space = TaggingSpace([encoded([0] * 3, [1, UNSEEN, 0]), encoded([0], [1])], 2)
    assert space.cost(0, [1, 1, 1]) == 2
    assert space.cost(1, [1]) == 0
    assert TaggingSpace([encoded([0])], 2).cost(0, [1]) is None


@given(corpora(), widths, seeds)
def test_costs_are_minima_over_all_taggings(corpus, k, seed):
    path = bl.beam_trajectory(corpus.space(), TableTagger(corpus.tags, seed), width=k)
    for example in range(len(corpus)):
        for beam, costs in zip(path.beams[example], path.costs[example], strict=True):
            assert costs == [corpus.completion_cost(example, tags) for tags in beam]
        output = path.beams[example][-1][0]
        assert len(output) == len(corpus.gold[example])
        assert path.final_costs[example] == hamming(corpus)(example, output)


@given(corpora(constraints=["bio"], max_words=4), widths, seeds)
def test_no_scorer_gets_past_the_constraints(corpus, k, seed):
    for scorer in (TableTagger(5, seed), TableTagger(5, seed, "log_softmax"), Contrary(5, seed)):
        result = bl.beam_search(corpus.space(), scorer, width=k)
        for gold, nbest in zip(corpus.gold, result.nbest, strict=True):
            assert all(len(h.output) == len(gold) and corpus.legal(h.output) for h in nbest)


class Contrary(TableTagger):
    """Likes exactly what is forbidden; what it says there is no number."""

    junk = float("nan")

    def start(self, space):
        self.space = space
        return super().start(space)

    def score(self, memory, nodes):
        legal = self.space.expand(nodes).legal
        return super().score(memory, nodes).masked_fill(~legal, self.junk)


@given(
    corpora(constraints=["bio", "both"]),
    widths,
    seeds,
    st.sampled_from([float("nan"), float("inf"), 1e30]),
    st.sampled_from([None, "log_softmax"]),
)
def test_scores_of_forbidden_tags_do_not_matter(corpus, k, seed, junk, normalize):
    scorer = Contrary(corpus.tags, seed, normalize)
    scorer.junk = junk
    one = bl.beam_trajectory(corpus.space(), scorer, width=k)
    two = bl.beam_trajectory(corpus.space(), TableTagger(corpus.tags, seed, normalize), width=k)
    assert one.beams == two.beams
    assert torch.equal(one.final_scores, two.final_scores)
    losses = [path.losses(bl.losses.log_loss_neighbors) for path in (one, two)]
    assert torch.equal(*losses)
    if losses[0].requires_grad:
        losses[0].sum().backward()
        assert scorer.table.grad.isfinite().all()


@given(corpora(), widths, seeds, st.randoms(use_true_random=False))
def test_batch_law(corpus, k, seed, random):
    def collect(corpus):
        return bl.beam_trajectory(corpus.space(), TableTagger(corpus.tags, seed), width=k)

    order = list(range(len(corpus)))
    random.shuffle(order)
    together, shuffled = collect(corpus), collect(corpus.take(order))
    for example in range(len(corpus)):
        alone, place = collect(corpus.take([example])), order.index(example)
        for name in ("beams", "costs", "increased"):
            expected = getattr(alone, name)[0]
            assert getattr(together, name)[example] == expected
            assert getattr(shuffled, name)[place] == expected
        for name in ("final_costs", "final_scores", "increases", "steps"):
            expected = getattr(alone, name)[0]
            assert getattr(together, name)[example] == expected
            assert getattr(shuffled, name)[place] == expected


def space_of(*gold, tags=BIO, constrained=True):
    pairs, first = legal_pairs(tags) if constrained else (None, None)
    return TaggingSpace([encoded([0] * len(g), g) for g in gold], len(tags), pairs, first)


def test_right_tags_that_break_the_rules_cost_what_they_must():
    b, _, inside, other, o = range(5)
    gold = [[inside, inside], [b, other, o], [o, inside, inside], [b, inside]]
    assert space_of(*gold).oracle().initial().tolist() == [1, 1, 1, 0]
    assert space_of(*gold, constrained=False).oracle().initial().tolist() == [0, 0, 0, 0]


def test_unseen_tags_cannot_be_right():
    gold = [[UNSEEN, 4, UNSEEN], [4], []]
    for constrained in (False, True):
        space = space_of(*gold, constrained=constrained)
        assert space.oracle().initial().tolist() == [2, 0, 0]
        path = bl.beam_trajectory(space, TableTagger(5), width=2, strategy="oracle")
        assert path.final_costs.tolist() == [2, 0, 0]


def test_a_tag_that_nothing_may_follow_can_still_be_last():
    pairs = torch.tensor([[True, True], [False, False]])
    space = TaggingSpace([encoded([0] * len(g), g) for g in ([1], [0, 0, 1], [])], 2, pairs)
    assert space.oracle().initial().tolist() == [0, 0, 0]
    path = bl.beam_trajectory(space, TableTagger(2), width=2, strategy="oracle")
    assert [beams[-1] for beams in path.beams] == [[[1]], [[0, 0, 1]], [[]]]


@pytest.mark.parametrize("constrained", [False, True])
def test_a_batch_of_empty_sentences(constrained):
    space = space_of([], [], constrained=constrained)
    assert bl.beam_search(space, TableTagger(5), width=3).outputs == [[], []]
    path = bl.beam_trajectory(space, TableTagger(5), width=3)
    assert path.final_costs.tolist() == [0, 0]
    assert path.beams == [[[[]]], [[[]]]]
    assert bl.check_oracle(space).ok


def test_a_batch_needs_a_sentence():
    with pytest.raises(ValueError, match="`sentences` must have at least one sentence, got none"):
        TaggingSpace([], 3)


def test_without_right_tags_there_are_no_costs():
    space = TaggingSpace([encoded([0, 1], [0, 0]), encoded([1])], 2)
    assert len(bl.beam_search(space, TableTagger(2), width=2).outputs) == 2
    with pytest.raises(ValueError, match="this TaggingSpace has none"):
        bl.beam_trajectory(space, TableTagger(2), width=2)
