"""Small random models of the library transformers."""

from functools import cache

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MarianConfig,
    MarianMTModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

VOCABULARY = 40
LAYERS = {"encoder_layers": 1, "decoder_layers": 2}
HEADS = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
SIZES = {"vocab_size": VOCABULARY, "d_model": 16, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
SPECIAL = {"vocab_size": VOCABULARY, "eos_token_id": 1, "pad_token_id": 0, "bos_token_id": 2}
LLAMA = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "tie_word_embeddings": False,
}
CAUSAL = {
    "gpt2": lambda: GPT2LMHeadModel(
        GPT2Config(n_embd=16, n_layer=2, n_head=2, tie_word_embeddings=False, **SPECIAL)
    ),
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**LLAMA, **SPECIAL)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**LLAMA, **SPECIAL)),
}
SEQ2SEQ = ("t5", "bart", "marian")
KINDS = (*SEQ2SEQ, *CAUSAL)


def t5_config():
    """Made anew each time: some models write into theirs."""
    return T5Config(
        vocab_size=VOCABULARY,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        tie_word_embeddings=False,
    )


def blank(kind):
    if kind in CAUSAL:
        return CAUSAL[kind]()
    if kind == "t5":
        return T5ForConditionalGeneration(t5_config())
    sizes = {**SIZES, **LAYERS, **HEADS, "forced_eos_token_id": None}
    if kind == "bart":
        return BartForConditionalGeneration(BartConfig(**sizes))
    special = {"pad_token_id": 39, "eos_token_id": 0, "decoder_start_token_id": 39}
    return MarianMTModel(MarianConfig(**sizes, **special))


@torch.no_grad()
def make(kind, seed=1):
    """A model whose log-probabilities lie apart, and that ends now early, now late."""
    model, generator = blank(kind).eval(), torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        if parameter.ndim == 2:
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.6)
    out, end = model.get_output_embeddings().weight, model.generation_config.eos_token_id
    if kind in CAUSAL:
        out[end] *= 2
    elif kind == "t5":
        out[end] *= 3
    else:
        out *= 0.5
        model.final_logits_bias[0, end] = {"bart": 3.0, "marian": 2.0}[kind]
    return model


@cache
def tiny(kind):
    """The same, shared by tests that leave it as it is."""
    return make(kind)


def sources(model, lengths=(7, 2, 5, 4)):
    """A batch of different lengths, padded: prompts on the left, sources on the right."""
    ids = torch.randint(3, 38, (len(lengths), 7), generator=torch.Generator().manual_seed(2))
    mask = (torch.arange(7) < torch.tensor(lengths)[:, None]).long()
    mask = mask if model.config.is_encoder_decoder else mask.flip(-1)
    return ids.masked_fill(mask == 0, model.generation_config.pad_token_id), mask


def tokenizer(words):
    """One token for each word: those that are special, then these, from 3 on."""
    special = {"<pad>": 0, "</s>": 1, "<unk>": 2}
    numbers = special | {word: number for number, word in enumerate(words, 3)}
    model = Tokenizer(WordLevel(numbers, unk_token="<unk>"))
    model.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=model, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


def generate(model, width, inputs=None, **settings):
    """What `generate` finds: sequences and scores `[batch, k, ...]`."""
    ids, mask = inputs or sources(model)
    found = model.generate(
        ids,
        attention_mask=mask,
        num_beams=width,
        num_return_sequences=width,
        do_sample=False,
        output_scores=True,
        return_dict_in_generate=True,
        **settings,
    )
    return tuple(
        field.unflatten(0, (-1, width)) for field in (found.sequences, found.sequences_scores)
    )
