"""Is the default of `BeamSeq2SeqTrainer` ever worse than plain fine-tuning?

    python benchmarks/hugging_face_default.py DATA [--out runs/hugging_face_default] [--seeds 3]

DATA is a folder with the folder `g2p-sigmorphon2021`. A small Marian model learns Hungarian
spelling to sound by likelihood. From these weights it goes on with each seed, for as many epochs:

- plain: `Seq2SeqTrainer`, whose last weights are taken;
- selected: the same, but of its epochs the one with the least cost on validation data is taken;
- default: `BeamSeq2SeqTrainer`, width 4, with `eval_strategy="epoch"` and nothing else set.

Test data chose nothing: no setting was tried in this language before.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from hugging_face import TASKS, WIDTH, Prepared, read, rows, settings, tokenizer_of
from measure import RESULTS, machine, print_table
from transformers import MarianConfig, MarianMTModel, Seq2SeqTrainingArguments

from beamlearn.hf import BeamSeq2SeqConfig

BASE_EPOCHS, EPOCHS, RATE = 8, 1, 3e-4
WAYS = ("plain", "selected", "default")


def prepare(data: Path, out: Path) -> Prepared:
    parts = ("hun.train.tsv.gz", "hun.dev.tsv.gz", "hun.test.tsv.gz")
    task = replace(TASKS["g2p"], parts=parts, batch=64, rate=RATE)
    train, dev, test = (read(data / task.folder / part, task) for part in task.parts)
    tokenizer = tokenizer_of(train, task, out / "tokenizer")
    return Prepared(task, tokenizer, rows(train, tokenizer), rows(dev, tokenizer), test, out)


def small(vocabulary: int) -> Any:
    """A model that is not perfect at this task."""
    torch.manual_seed(0)
    both: Any = {
        f"{side}_{name}": number
        for side in ("encoder", "decoder")
        for name, number in (("layers", 1), ("attention_heads", 4), ("ffn_dim", 128))
    }
    start: Any = {"decoder_start_token_id": 0, "forced_eos_token_id": None}
    tokens: Any = {"vocab_size": vocabulary, "pad_token_id": 0, "eos_token_id": 1}
    return MarianMTModel(
        MarianConfig(**tokens, **start, **both, d_model=64, init_std=0.1, scale_embedding=True)
    )


def base(prepared: Prepared) -> Path:
    folder = prepared.out / "base"
    if not folder.exists():
        more: Any = {"learning_rate": 2e-3, "num_train_epochs": BASE_EPOCHS, "warmup_steps": 100}
        args = Seq2SeqTrainingArguments(
            **settings(prepared.task, folder.with_name("base-run"), 0, save_strategy="no", **more)
        )
        trainer = prepared.trainer(small(len(prepared.tokenizer)), args)
        trainer.train()
        trainer.save_model(str(folder))
    return folder


def go_on(prepared: Prepared, way: str, seed: int) -> dict[str, Any]:
    """Train in one of the ways, and test with `generate`."""
    shared = settings(
        prepared.task,
        prepared.out / f"{way}-{seed}",
        seed,
        learning_rate=RATE,
        num_train_epochs=EPOCHS,
    )
    if way == "plain":
        args: Any = Seq2SeqTrainingArguments(**shared, save_strategy="no")
    else:
        weight: Any = {"beam_weight": 0.0} if way == "selected" else {}
        args = BeamSeq2SeqConfig(**shared, beam_width=WIDTH, eval_strategy="epoch", **weight)
    model: Any = MarianMTModel.from_pretrained(base(prepared))
    trainer, before = prepared.trainer(model, args), time.process_time()
    trainer.train()
    seconds = time.process_time() - before
    costs = [entry["eval_cost"] for entry in trainer.state.log_history if "eval_cost" in entry]
    scores = prepared.test_scores(trainer.model)
    del scores["costs"]
    return {**scores, "seconds": seconds, "validation_costs": costs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/hugging_face_default"))
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    path = arguments.out / "results.json"
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    prepared = prepare(arguments.data, arguments.out)
    todo: list[tuple[str, int]] = [(w, seed) for seed in range(arguments.seeds) for w in WAYS]
    if "base" not in kept:
        kept["base"] = prepared.test_scores(MarianMTModel.from_pretrained(base(prepared)))
        del kept["base"]["costs"]
    for way, seed in todo:
        if (key := f"{way}-{seed}") not in kept:
            kept[key] = go_on(prepared, way, seed)
            path.write_text(json.dumps(kept))
            print(key, kept[key], flush=True)
    found = [{"way": key, "wer": row["wer"], "chrf": row["chrf"]} for key, row in kept.items()]
    print_table(found)
    content = {"machine": machine(), "rows": kept}
    (RESULTS / "hugging_face_default.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
