"""Groups of hypotheses, against the algorithm in plain lists."""

import pytest
import torch

pytest.importorskip("transformers")

from tiny_transformers import VOCABULARY, sources, tiny

from beamlearn import hf

LIMIT = 6


@torch.no_grad()
def next_scores(model, example, tokens):
    ids, mask = (field[example : example + 1] for field in sources(model))
    read = torch.tensor([[0, *tokens]])
    logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=read).logits[0, -1]
    return logits.log_softmax(dim=-1).tolist()


def by_the_book(model, example, width, groups, penalty):
    """All groups in step; the pools of finished outputs, best first.

    An example's group ends as that of `early_stopping=True`, with as many outputs as it has slots.
    """
    running = [[((), 0.0)] for _ in range(groups)]
    pools = [[] for _ in range(groups)]
    for step in range(LIMIT):
        taken = []
        for group in range(groups):
            if not running[group]:
                continue
            candidates = []
            for tokens, score in running[group]:
                for token, number in enumerate(next_scores(model, example, tokens)):
                    less = penalty * taken.count(token)
                    candidates.append(((*tokens, token), score + number - less))
            candidates.sort(key=lambda candidate: -candidate[1])
            ends = [c for c in candidates if c[0][-1] == 1 or step == LIMIT - 1]
            pools[group] += [c for c in candidates[:width] if c in ends]
            pools[group] = sorted(pools[group], key=lambda c: -c[1])[:width]
            running[group] = [c for c in candidates[: 3 * width] if c not in ends][:width]
            if len(pools[group]) == width:
                running[group] = []
            taken += [tokens[-1] for tokens, _ in running[group]]
    return pools


@pytest.mark.parametrize(("width", "groups", "penalty"), [(1, 3, 0.7), (2, 2, 1.5), (2, 3, 0.3)])
def test_groups_are_those_of_the_algorithm(width, groups, penalty):
    model = tiny("t5")
    found = hf.diverse_beam_search(
        model, *sources(model), width=width, groups=groups, diversity_penalty=penalty,
        max_new_tokens=LIMIT, length_penalty=0.0, early_stopping=True,
    )  # fmt: skip
    assert len(found) == groups
    for example in (0, 1):
        pools = by_the_book(model, example, width, groups, penalty)
        for group, pool in zip(found, pools, strict=True):
            nbest = group.result.nbest[example]
            assert [tuple(h.output) for h in nbest] == [tokens for tokens, _ in pool]
            assert [h.score for h in nbest] == pytest.approx([s for _, s in pool], abs=1e-4)


@pytest.mark.parametrize("kind", ["bart", "llama"])
def test_the_first_group_is_beam_search(kind):
    model = tiny(kind)
    settings = {"max_new_tokens": LIMIT, "repetition_penalty": 1.2, "width": 3}
    plain = hf.beam_search(model, *sources(model), **settings)
    found = hf.diverse_beam_search(
        model, *sources(model), groups=2, diversity_penalty=1.0, **settings
    )
    assert torch.equal(found[0].sequences, plain.sequences)
    assert not torch.equal(found[1].sequences, plain.sequences)
    same = hf.diverse_beam_search(
        model, *sources(model), groups=2, diversity_penalty=0.0, **settings
    )
    assert torch.equal(same[1].sequences, plain.sequences)


def test_a_great_penalty_keeps_groups_apart():
    model = tiny("gpt2")
    found = hf.diverse_beam_search(
        model, *sources(model), width=1, groups=4, diversity_penalty=1000.0, max_new_tokens=LIMIT,
        early_stopping=True, min_new_tokens=LIMIT,
    )  # fmt: skip
    for example in range(4):
        outputs = [group.result.nbest[example][0].output for group in found]
        for tokens in list(zip(*outputs, strict=True))[:-1]:
            assert len(set(tokens)) == 4


def test_phrases_and_groups():
    model = tiny("t5")
    found = hf.diverse_beam_search(
        model, *sources(model), width=2, groups=2, diversity_penalty=0.5, max_new_tokens=LIMIT,
        must_contain=[[7, 8]],
    )  # fmt: skip
    assert all("7, 8" in str(h.output) for g in found for n in g.result.nbest for h in n)


@pytest.mark.parametrize(
    ("groups", "penalty", "message"),
    [
        (0, 0.5, "`groups` must be at least 1, got 0"),
        (2, -0.5, "`diversity_penalty` must be at least 0, got -0.5"),
        (2, float("nan"), "`diversity_penalty` must be at least 0, got nan"),
    ],
)
def test_wrong_groups_are_refused(groups, penalty, message):
    with pytest.raises(ValueError, match=message):
        hf.diverse_beam_search(
            tiny("t5"), [[5]], width=VOCABULARY, groups=groups, diversity_penalty=penalty
        )
