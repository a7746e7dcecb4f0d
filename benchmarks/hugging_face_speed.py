"""What the beam costs a Hugging Face model: a step of training, and decoding beside `generate`.

    python benchmarks/hugging_face_speed.py

A step of `BeamSeq2SeqTrainer` or `BeamTrainer` at widths 4 and 8 is divided by one of the same
trainer by likelihood alone, on one batch of 64 sources and targets of 16 random tokens; outputs are
as long as targets. Peak memory is that of a process of its own, above what it has before its first
step. Decoding is `hf.beam_search` beside `model.generate`, 20 new tokens. Variants take turns on
one thread. The models, with random weights, are a Marian and a Llama with two layers of 128 and a
vocabulary of 6,000.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from math import exp, log
from statistics import mean
from typing import Any

import torch
from measure import interleave, report
from transduction_round import peak
from transformers import LlamaConfig, LlamaForCausalLM, MarianConfig, MarianMTModel
from transformers.utils import logging

from beamlearn import hf

BATCH, LENGTH, TOKENS = 64, 16, 6000
PAD, END = 0, 1
WIDTHS = (4, 8)
LIKELIHOOD = 0
"""The width that stands for no beam."""
CELLS = tuple((batch, width) for batch in (1, 16, 64) for width in (1, 4, 8))
SHARED: Any = {"vocab_size": TOKENS, "eos_token_id": END, "pad_token_id": PAD}


def marian() -> Any:
    sizes: Any = {"d_model": 128, "encoder_ffn_dim": 512, "decoder_ffn_dim": 512}
    layers: Any = {"encoder_layers": 2, "decoder_layers": 2}
    heads: Any = {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
    start: Any = {"decoder_start_token_id": PAD, "forced_eos_token_id": None}
    return MarianMTModel(MarianConfig(**SHARED, **sizes, **layers, **heads, **start))


def llama() -> Any:
    sizes: Any = {"hidden_size": 128, "intermediate_size": 512}
    layers: Any = {"num_hidden_layers": 2, "num_attention_heads": 4}
    config = LlamaConfig(**SHARED, **sizes, **layers, bos_token_id=None)
    return LlamaForCausalLM(config)  # type: ignore[no-untyped-call]  # theirs to type


MODELS = {"encoder-decoder": marian, "causal": llama}


def model_of(kind: str) -> Any:
    torch.manual_seed(0)
    return MODELS[kind]()


def batch_of(kind: str) -> dict[str, torch.Tensor]:
    """Random sources and targets, as a data collator returns them."""
    sources, targets = torch.randint(3, TOKENS, (2, BATCH, LENGTH))
    targets[:, -1] = END
    if kind == "causal":
        ids = torch.cat([sources, targets], dim=1)
        labels = torch.cat([torch.full_like(sources, -100), targets], dim=1)
        return {"input_ids": ids, "labels": labels, "attention_mask": torch.ones_like(ids)}
    return {"input_ids": sources, "labels": targets, "attention_mask": torch.ones_like(sources)}


def step_of(kind: str, width: int) -> Callable[[], object]:
    """A step of training on the same batch each time."""
    torch.set_num_threads(1)
    model, batch = model_of(kind), batch_of(kind)
    parts: tuple[Any, Any] = (
        (hf.BeamTrainer, hf.BeamConfig)
        if kind == "causal"
        else (hf.BeamSeq2SeqTrainer, hf.BeamSeq2SeqConfig)
    )
    trainer_class, config_class = parts
    config = config_class(
        output_dir=tempfile.gettempdir(),
        per_device_train_batch_size=BATCH,
        max_steps=1,
        learning_rate=1e-9,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        beam_width=max(width, 1),
        beam_weight=0.0 if width == LIKELIHOOD else 0.1,
        beam_extra_tokens=0,
        beam_start=0.0,
    )
    rows = [{name: value[row] for name, value in batch.items()} for row in range(BATCH)]
    trainer = trainer_class(
        model, args=config, train_dataset=rows, data_collator=lambda _: dict(batch)
    )
    trainer.create_optimizer()
    trainer.current_gradient_accumulation_steps = 1

    def step() -> None:
        model.train()
        trainer.training_step(model, dict(batch))
        trainer.optimizer.step()
        model.zero_grad()

    return step


def training() -> list[dict[str, Any]]:
    found = []
    for kind in MODELS:
        steps = {str(width): step_of(kind, width) for width in (LIKELIHOOD, *WIDTHS)}
        for width, timing in interleave(steps, seconds=40.0).items():
            command = [sys.executable, __file__, "--memory-of", kind, width]
            memory = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            found.append(
                {
                    "model": kind,
                    "work": "step" if int(width) else "step by likelihood",
                    "batch": BATCH,
                    "width": int(width),
                    "seconds": timing.seconds,
                    "ratio": timing.ratio,
                    "peak_megabytes": float(json.loads(memory)),
                }
            )
    return found


def searches(model: Any, batch: int, width: int) -> dict[str, Callable[[], object]]:
    ids = torch.randint(3, TOKENS, (batch, LENGTH))
    given: Any = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "max_new_tokens": 20}
    return {
        "generate": lambda: model.generate(**given, num_beams=width, do_sample=False),
        "beam_search": lambda: hf.beam_search(model, **given, width=width),
    }


def decoding() -> list[dict[str, Any]]:
    """Time of this search divided by that of `generate`."""
    found = []
    for kind in MODELS:
        model = model_of(kind).eval()
        for batch, width in CELLS:
            timing = interleave(searches(model, batch, width), seconds=6.0, least=5)["beam_search"]
            row = {"model": kind, "work": "decode", "batch": batch, "width": width}
            found.append(
                {**row, "seconds": timing.seconds, "ratio": timing.ratio, "peak_megabytes": 0.0}
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--memory-of", nargs=2, help="print the peak of a step of one variant")
    arguments = parser.parse_args()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # theirs to type
    if arguments.memory_of:
        kind, width = arguments.memory_of
        print(json.dumps(peak(step_of(kind, int(width)))))
        return
    rows = [*training(), *decoding()]
    means = {
        kind: exp(mean(log(row["ratio"]) for row in chosen))
        for kind in MODELS
        if (chosen := [row for row in rows if row["model"] == kind and row["work"] == "decode"])
    }
    report("hugging_face_speed", rows, geometric_mean_of_decoding=means)
    print(means)


if __name__ == "__main__":
    main()
