"""A transformer of this library as a model of Hugging Face and of CTranslate2: equal weights."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import torch
from ctranslate2.specs import TransformerSpec, common_spec
from torch import Tensor
from transformers import M2M100Config, M2M100ForConditionalGeneration

from beamlearn.tasks.transduction.space import END
from beamlearn.tasks.transduction.transformer import TransformerTransducer

PAD, EOS = 1, 2
"""Numbers in the model of Hugging Face; tokens from 1 on are moved behind them."""
LONGEST = 512


def token(number: int) -> int:
    """The number of an action in the model of Hugging Face."""
    return EOS if number == END else number + 2


def action(number: int) -> int:
    """And back."""
    return END if number == EOS else number - 2


def hugging_face(scorer: TransformerTransducer) -> Any:
    """The model whose `generate` is compared with; its layers are normalized first, as ours."""
    actions, size = scorer.tokens.weight.shape
    symbols, layers = len(scorer.symbols.weight), len(scorer.decoder)
    layer = scorer.layers[0]
    config = M2M100Config(
        vocab_size=max(actions, symbols) + 3,
        d_model=size,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=layer.heads,
        decoder_attention_heads=layer.heads,
        encoder_ffn_dim=len(layer.inner.bias),
        decoder_ffn_dim=len(layer.inner.bias),
        max_position_embeddings=LONGEST,
        dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        encoder_layerdrop=0.0,
        decoder_layerdrop=0.0,
        activation_function="relu",
        scale_embedding=True,
        pad_token_id=PAD,
        bos_token_id=0,
        eos_token_id=EOS,
        decoder_start_token_id=EOS,
        tie_word_embeddings=False,
    )
    model: Any = M2M100ForConditionalGeneration(config)
    model.eval()
    state = dict(model.state_dict())
    state |= dict(_linked(scorer.state_dict(), layers))
    reading, writing = (torch.zeros(config.vocab_size, size) for _ in range(2))
    reading[2 : symbols + 2] = scorer.symbols.weight.detach()
    writing[[token(number) for number in range(actions)]] = scorer.tokens.weight.detach()
    state["model.shared.weight"] = state["model.encoder.embed_tokens.weight"] = reading
    state["model.decoder.embed_tokens.weight"] = state["lm_head.weight"] = writing
    model.load_state_dict(state)
    model.model.encoder.embed_tokens.weight = torch.nn.Parameter(reading)
    model.model.decoder.embed_tokens.weight = torch.nn.Parameter(writing)
    model.lm_head.weight = torch.nn.Parameter(writing)
    for part in (model.model.encoder, model.model.decoder):
        table = scorer.positions.upto(len(part.embed_positions.weights) - PAD - 1)
        part.embed_positions.weights[PAD + 1 :] = table
    return model


def _linked(ours: Mapping[str, Tensor], layers: int) -> Iterator[tuple[str, Tensor]]:
    """Names of Hugging Face with our weights, for everything but vectors of tokens."""
    plain = {
        "norm": "self_attn_layer_norm",
        "out": "self_attn.out_proj",
        "forward_norm": "final_layer_norm",
        "inner": "fc1",
        "outer": "fc2",
    }
    crossing = {
        "cross_norm": "encoder_attn_layer_norm",
        "ask": "encoder_attn.q_proj",
        "cross_out": "encoder_attn.out_proj",
    }
    for kind in ("weight", "bias"):
        for side, norm in (("encoder", "encoded"), ("decoder", "decoded")):
            yield f"model.{side}.layer_norm.{kind}", ours[f"{norm}.{kind}"]
            for number in range(layers):
                here, there = f"{side}.{number}", f"model.{side}.layers.{number}"
                names = plain if side == "encoder" else plain | crossing
                for name, theirs in names.items():
                    yield f"{there}.{theirs}.{kind}", ours[f"{here}.{name}.{kind}"].t()
                joint = ours[f"{here}.joint.{kind}"].t().chunk(3)
                for part, value in zip("qkv", joint, strict=True):
                    yield f"{there}.self_attn.{part}_proj.{kind}", value
                if side == "decoder":
                    for part, value in zip(
                        "kv", ours[f"{here}.tell.{kind}"].t().chunk(2), strict=True
                    ):
                        yield f"{there}.encoder_attn.{part}_proj.{kind}", value


def ctranslate(scorer: TransformerTransducer, folder: Path) -> "ctranslate2.Translator":
    """The same for CTranslate2, in single precision; its tokens are our numbers as text."""
    layers, heads = len(scorer.decoder), scorer.layers[0].heads
    spec = TransformerSpec.from_config(
        layers, heads, pre_norm=True, activation=common_spec.Activation.RELU
    )
    for side, norm in ((spec.encoder, scorer.encoded), (spec.decoder, scorer.decoded)):
        _put(side.layer_norm, norm)
        side.scale_embeddings = True
        side.position_encodings.encodings = _numbers(scorer.positions.upto(LONGEST))
    for theirs, ours in zip(spec.encoder.layer, scorer.encoder, strict=True):
        _put_layer(theirs, ours)
    for theirs, ours in zip(spec.decoder.layer, scorer.layers, strict=True):
        _put_layer(theirs, ours)
        _put(theirs.attention.layer_norm, ours.cross_norm)
        for place, linear in enumerate((ours.ask, ours.tell, ours.cross_out)):
            _put(theirs.attention.linear[place], linear)
    spec.encoder.embeddings[0].weight = _numbers(scorer.symbols.weight)
    # The last rows are the symbols that CTranslate2 asks for: unknown, and where outputs begin.
    actions = len(scorer.tokens.weight)
    extra = torch.zeros(2, scorer.tokens.weight.shape[1])
    extra[1] = scorer.tokens.weight[END].detach()
    spec.decoder.embeddings.weight = _numbers(torch.cat([scorer.tokens.weight.detach(), extra]))
    spec.decoder.projection.weight = _numbers(torch.cat([scorer.tokens.weight.detach(), extra * 0]))
    source = [f"s{number}" for number in range(len(scorer.symbols.weight))]
    target = ["</s>", *(f"t{number}" for number in range(1, actions)), "<unk>", "<s>"]
    source[1], source[0] = "<unk>", "</s>"
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.decoder_start_token = "</s>"
    spec.config.add_source_bos = spec.config.add_source_eos = False
    spec.validate()
    spec.optimize()
    spec.save(str(folder))
    return ctranslate2.Translator(str(folder), device="cpu", intra_threads=1, inter_threads=1)


def _put_layer(theirs: Any, ours: Any) -> None:
    _put(theirs.self_attention.layer_norm, ours.norm)
    _put(theirs.self_attention.linear[0], ours.joint)
    _put(theirs.self_attention.linear[1], ours.out)
    _put(theirs.ffn.layer_norm, ours.forward_norm)
    _put(theirs.ffn.linear_0, ours.inner)
    _put(theirs.ffn.linear_1, ours.outer)


def _put(theirs: Any, ours: Any) -> None:
    for name in ("gamma", "beta") if hasattr(theirs, "gamma") else ("weight", "bias"):
        value = ours.weight.t() if name in ("gamma", "weight") else ours.bias
        setattr(theirs, name, _numbers(value))


def _numbers(value: Tensor) -> "np.ndarray[Any, Any]":
    return value.detach().contiguous().numpy()
