"""`generate` with an index finds what it finds with transformers' own constraint."""

import pytest
import torch

pytest.importorskip("transformers")

from tiny_transformers import sources, tiny
from transformers import LogitsProcessorList, PrefixConstrainedLogitsProcessor

import beamlearn as bl

IDS = [(5, 6, 7), (5, 6, 8), (5, 9), (10, 6), (11, 12, 13, 5), (10, 7, 7)]


def follows(ids, end, prompt_length):
    """The rule in plain Python, as people write it for transformers."""

    def tokens(_, input_ids):
        prefix = tuple(input_ids[prompt_length:].tolist())
        size = len(prefix)
        found = {one[size] for one in ids if len(one) > size and one[:size] == prefix}
        return sorted(found) or [end]

    return tokens


@pytest.mark.parametrize("kind", ["t5", "gpt2"])
@pytest.mark.parametrize("ended", [False, True])
def test_beams_are_the_same(kind, ended):
    model = tiny(kind)
    inputs, mask = sources(model)
    end = model.generation_config.eos_token_id
    end = end[0] if isinstance(end, list) else end
    prompt = 1 if model.config.is_encoder_decoder else inputs.shape[1]
    index = bl.ItemIndex(IDS, end=end) if ended else bl.ItemIndex(IDS)
    processor = index.logits_processor(end=end, prompt_length=prompt)
    plain = follows(IDS, end, prompt)
    options = {
        "attention_mask": mask,
        "num_beams": 4,
        "num_return_sequences": 4,
        "max_new_tokens": 6,
        "do_sample": False,
        "output_scores": True,
        "return_dict_in_generate": True,
    }
    right = model.generate(inputs, prefix_allowed_tokens_fn=plain, **options)
    function = index.prefix_allowed_tokens_fn(end=end, prompt_length=prompt)
    for ours in (
        {"logits_processor": LogitsProcessorList([processor])},
        {"prefix_allowed_tokens_fn": function},
    ):
        found = model.generate(inputs, **ours, **options)
        assert torch.equal(found.sequences, right.sequences)
        assert torch.equal(found.sequences_scores, right.sequences_scores)
    written = right.sequences[:, prompt:].tolist()
    assert all(tuple(one[: one.index(end)]) in IDS for one in written)


def test_scores_are_those_of_the_processor_of_transformers():
    generator = torch.Generator().manual_seed(0)
    index = bl.ItemIndex(IDS)
    written = torch.tensor([[0, 5, 6], [0, 10, 7], [0, 11, 12]])
    theirs = PrefixConstrainedLogitsProcessor(follows(IDS, 1, 1), num_beams=3)
    scores = torch.randn(3, 20, generator=generator)
    assert torch.equal(index.logits_processor(end=1)(written, scores), theirs(written, scores))
