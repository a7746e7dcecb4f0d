"""Outputs of Hugging Face models that match a pattern, for tokenizers of several kinds."""

import re
from functools import cache
from itertools import product

import pytest
import torch

pytest.importorskip("transformers")

from tiny_transformers import VOCABULARY, make, sources, tiny
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import MaxTimeCriteria, PreTrainedTokenizerFast, T5ForConditionalGeneration
from transformers import T5Config as Config

import beamlearn as bl
from beamlearn import hf
from beamlearn.check import UsageError

TEXTS = ["call 12 at 3 pm", "meet on 2024-05-06", "the year 1999, the cat", "ca te é ö 0123456789"]
SPECIAL = ["<pad>", "</s>", "<unk>"]
PATTERNS = [r"\d{4}-\d\d-\d\d", r"(the|a) (cat|year)( \d+)?", "[a-z ]{3,8}", ".{2}é?"]


def byte_pairs():
    found = Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    found.train_from_iterator(
        TEXTS * 3,
        trainers.BpeTrainer(
            vocab_size=320, special_tokens=SPECIAL, initial_alphabet=letters, show_progress=False
        ),
    )
    return found


def pieces():
    found = Tokenizer(models.Unigram())
    found.pre_tokenizer, found.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    found.train_from_iterator(
        TEXTS * 3,
        trainers.UnigramTrainer(
            vocab_size=80, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
        ),
    )
    return found


def word_pieces():
    parts = ["the", "a", "cat", "##s", "year", "-", *"0123456789", *(f"##{n}" for n in range(10))]
    parts += [*"bcdefgé", *(f"##{letter}" for letter in "abcé")]
    names = {name: number for number, name in enumerate([*SPECIAL, *parts])}
    found = Tokenizer(models.WordPiece(names, unk_token="<unk>"))
    found.pre_tokenizer = pre_tokenizers.Whitespace()
    found.decoder = decoders.WordPiece(cleanup=False)
    return found


@cache
def pair(kind):
    """A tokenizer, and a random model with a few more numbers than it has tokens."""
    named = dict(zip(("pad_token", "eos_token", "unk_token"), SPECIAL, strict=True))
    cut = PreTrainedTokenizerFast(tokenizer_object=kind(), **named)
    sizes = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = Config(vocab_size=len(cut) + 3, **sizes, decoder_start_token_id=0)
        return cut, T5ForConditionalGeneration(config).eval()


def text(cut, output):
    return cut.decode(output, skip_special_tokens=True, clean_up_tokenization_spaces=False)


@pytest.mark.parametrize("kind", [byte_pairs, pieces, word_pieces])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_decoded_outputs_match(kind, pattern):
    cut, model = pair(kind)
    if kind is word_pieces and pattern.startswith(r"\d"):
        pattern = r"\d{4} - \d\d"  # it puts spaces between words
    allowed = hf.TokenTexts.of(cut, model).matching(pattern)
    found = hf.beam_search(
        model, [[5, 6, 1], [7, 8, 9, 1]], width=4, max_new_tokens=14, constraint=allowed
    )
    for nbest in found.result.nbest:
        assert nbest
        for hypothesis in nbest:
            assert hypothesis.output[-1] == 1
            assert re.fullmatch(pattern, text(cut, hypothesis.output))


def test_parts_of_characters_and_special_tokens_have_no_text():
    cut, model = pair(byte_pairs)
    texts = hf.TokenTexts.of(cut, model)
    assert texts.first == texts.later
    assert [texts.later[number] for number in (0, 1, 2, len(cut))] == ["", "", "", ""]
    assert texts.later[cut.convert_tokens_to_ids("Ã")] == ""  # the first half of an é
    assert texts.later[cut.convert_tokens_to_ids("0")] == "0"


def test_spaces_at_the_beginning():
    cut, model = pair(pieces)
    texts = hf.TokenTexts.of(cut, model)
    assert ("1", " 1") in set(zip(texts.first, texts.later, strict=True))


@torch.no_grad()
@pytest.mark.parametrize("kind", ["t5", "gpt2"])
def test_the_same_as_filtering_all_outputs(kind):
    """All outputs of up to two tokens and an end, with the log-probabilities of the model."""
    model = tiny(kind)
    table = [[-1] * VOCABULARY for _ in range(3)]
    for token in range(5, 12):
        table[0][token], table[1][token + 7] = 1, 2
    allowed = bl.Automaton(table, [1, 2]).ended_by(1)
    found = hf.beam_search(
        model, *sources(model), width=60, constraint=allowed, max_new_tokens=3, length_penalty=0.0
    )
    firsts, seconds = range(5, 12), range(12, 19)
    outputs = [(one, 1) for one in firsts] + [(*two, 1) for two in product(firsts, seconds)]
    for example, nbest in enumerate(found.result.nbest):
        assert {tuple(h.output) for h in nbest} == {*outputs}
        for hypothesis in (nbest[0], nbest[-1]):
            assert hypothesis.score == pytest.approx(
                whole(model, example, hypothesis.output), abs=1e-4
            )


def whole(model, example, output):
    """The log-probability of an output, read at once."""
    ids, mask = (field[example : example + 1] for field in sources(model))
    if not model.config.is_encoder_decoder:
        read = torch.cat([ids[mask == 1], torch.tensor(output)])[None]
        numbers = model(input_ids=read).logits[0, -len(output) - 1 : -1]
    else:
        read = torch.tensor([[0, *output[:-1]]])
        numbers = model(input_ids=ids, attention_mask=mask, decoder_input_ids=read).logits[0]
    return float(numbers.log_softmax(dim=-1).gather(-1, torch.tensor(output)[:, None]).sum())


def test_generate_finds_what_beam_search_finds():
    cut, model = pair(pieces)
    allowed = hf.TokenTexts.of(cut, model).matching(r"\d{3}|[a-c]+ \d")
    settings = {"max_new_tokens": 9, "constraint": allowed}
    found = hf.beam_search(model, [[5, 6, 1]], width=3, **settings)
    ids = model.generate(
        torch.tensor([[5, 6, 1]]), num_beams=3, do_sample=False, custom_generate=hf.generate,
        **settings,
    )  # fmt: skip
    assert text(cut, ids[0]) == text(cut, found.sequences[0, 0])
    assert re.fullmatch(r"\d{3}|[a-c]+ \d", text(cut, ids[0]))


def test_a_catalogue_as_a_constraint():
    model = tiny("t5")
    index = bl.ItemIndex([(5, 6), (5, 7, 8), (9,)], end=1)
    found = hf.beam_search(
        model, *sources(model), width=4, max_new_tokens=5, constraint=index.constraint(VOCABULARY)
    )
    for nbest in found.result.nbest:
        assert {tuple(h.output) for h in nbest} == {(5, 6, 1), (5, 7, 8, 1), (9, 1)}


def test_what_a_constraint_does_not_go_with():
    model = make("t5")
    allowed = bl.Automaton([[0] * VOCABULARY], [0]).ended_by(1)
    ask = {"width": 2, "max_new_tokens": 4, "constraint": allowed}
    with pytest.raises(UsageError, match="got `must_contain`, too; leave one of them out."):
        hf.beam_search(model, *sources(model), must_contain=[[4]], **ask)
    stop = [MaxTimeCriteria(1000.0)]
    with pytest.raises(UsageError, match="got stopping criteria, too; leave one of them out."):
        hf.beam_search(model, *sources(model), stopping_criteria=stop, **ask)


def test_a_limit_that_is_too_small():
    cut, model = pair(pieces)
    allowed = hf.TokenTexts.of(cut, model).matching("c{40}")
    with pytest.raises(UsageError, match="example 0 has none of an allowed length"):
        hf.beam_search(model, [[5, 1]], width=2, max_new_tokens=9, constraint=allowed)
