"""Does the beam help a Hugging Face model that likelihood has trained? With transformers' Trainer.

    python benchmarks/hugging_face.py DATA [--out runs/hugging_face] [--only g2p,translation]
                                           [--seeds 3]

DATA is a folder with the folders `g2p-sigmorphon2021` and `mt-multi30k-en-de`. For each of the two
tasks a tokenizer is trained, and a small Marian model by likelihood until its validation loss is
flat. From these weights, for the same processor time and with each seed, it goes on by further
likelihood and with `BeamSeq2SeqTrainer`, the beam in each step. Everything is decoded with
`model.generate`, beam 4, without this library, on test data that chose nothing. Interrupt it at any
time; called again, it goes on after the last training that was complete.
"""

import argparse
import gzip
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from measure import RESULTS, machine, print_table
from sacrebleu import CHRF, corpus_bleu
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    DataCollatorForSeq2Seq,
    MarianConfig,
    MarianMTModel,
    PreTrainedTokenizerFast,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

from beamlearn.evaluation.significance import sign_flip_test
from beamlearn.hf import BeamSeq2SeqConfig, BeamSeq2SeqTrainer

SPECIAL = ["<pad>", "</s>", "<unk>"]
WIDTH = 4
Pair = tuple[str, str]


@dataclass(frozen=True)
class Task:
    """One data set, and how long a model learns from it."""

    folder: str
    parts: tuple[str, str, str]
    spelled: bool
    """Are the tokens of a source its characters? Else both sides are cut into subwords."""
    base_epochs: int
    base_rate: float
    beam_steps: int
    """How long the beam goes on; likelihood has as many steps as take the same time."""
    rate: float
    batch: int = 64


TASKS = {
    "g2p": Task(
        "g2p-sigmorphon2021",
        ("dut.train.tsv.gz", "dut.dev.tsv.gz", "dut.test.tsv.gz"),
        spelled=True,
        base_epochs=25,
        base_rate=1e-3,
        beam_steps=500,
        rate=1e-4,
        batch=32,
    ),
    "translation": Task(
        "mt-multi30k-en-de",
        ("train.tok.tsv.gz", "val.tok.tsv.gz", "test2016.tok.tsv.gz"),
        spelled=False,
        base_epochs=10,
        base_rate=1e-3,
        beam_steps=80,
        rate=5e-5,
    ),
}
WAYS = ("likelihood", "beam")


def read(path: Path, task: Task) -> list[Pair]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        pairs = [tuple(line.rstrip("\n").split("\t")[:2]) for line in lines]
    return [(" ".join(one) if task.spelled else one, two) for one, two in pairs]


def tokenizer_of(pairs: Sequence[Pair], task: Task, folder: Path) -> PreTrainedTokenizerFast:
    """Trained once."""
    if not folder.exists():
        texts = [side for pair in pairs for side in pair]
        learning: dict[str, Any] = {"vocab_size": 6000, "special_tokens": SPECIAL}
        if task.spelled:
            tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
            tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
            trainer: Any = trainers.WordLevelTrainer(**learning)
        else:
            tokenizer = Tokenizer(models.BPE())
            tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
            tokenizer.decoder = decoders.Metaspace()
            trainer = trainers.BpeTrainer(**learning, show_progress=False)
        tokenizer.train_from_iterator(texts, trainer)
        whole = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # theirs to type
            tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
        )
        whole.save_pretrained(folder)
    found: PreTrainedTokenizerFast = PreTrainedTokenizerFast.from_pretrained(folder)
    return found


def rows(pairs: Sequence[Pair], tokenizer: PreTrainedTokenizerFast) -> list[dict[str, Any]]:
    """Pairs in token ids, both sides with an end."""
    end = tokenizer.eos_token_id
    sources, targets = (
        tokenizer([pair[side] for pair in pairs], add_special_tokens=False)["input_ids"]
        for side in (0, 1)
    )
    return [
        {"input_ids": [*one, end], "labels": [*two, end]}
        for one, two in zip(sources, targets, strict=True)
    ]


def untrained(tokenizer: PreTrainedTokenizerFast) -> Any:
    torch.manual_seed(0)
    return MarianMTModel(
        MarianConfig(
            vocab_size=len(tokenizer),
            d_model=128,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=512,
            decoder_ffn_dim=512,
            init_std=0.1,
            max_position_embeddings=128,
            scale_embedding=True,
            pad_token_id=0,
            eos_token_id=1,
            decoder_start_token_id=0,
            forced_eos_token_id=None,
        )
    )


def settings(task: Task, out: Path, seed: int, **more: Any) -> dict[str, Any]:
    return {
        "output_dir": str(out),
        "per_device_train_batch_size": task.batch,
        "per_device_eval_batch_size": 256,
        "train_sampling_strategy": "group_by_length",
        "seed": seed,
        "use_cpu": True,
        "report_to": "none",
        "disable_tqdm": True,
        "logging_steps": 50,
        "save_total_limit": 2,
        **more,
    }


@dataclass(frozen=True)
class Prepared:
    """A task with its data in token ids."""

    task: Task
    tokenizer: PreTrainedTokenizerFast
    train: list[dict[str, Any]]
    dev: list[dict[str, Any]]
    test: list[Pair]
    out: Path

    def trainer(self, model: Any, args: Any) -> Any:
        kind: Any = BeamSeq2SeqTrainer if isinstance(args, BeamSeq2SeqConfig) else Seq2SeqTrainer
        return kind(
            model,
            args=args,
            train_dataset=self.train,
            eval_dataset=self.dev,
            processing_class=self.tokenizer,
            data_collator=DataCollatorForSeq2Seq(self.tokenizer, model),
        )

    def base(self) -> Path:
        """The folder of the model that likelihood has trained."""
        folder, task = self.out / "base", self.task
        if not folder.exists():
            args = Seq2SeqTrainingArguments(
                **settings(
                    task,
                    self.out / "base-checkpoints",
                    0,
                    learning_rate=task.base_rate,
                    num_train_epochs=task.base_epochs,
                    warmup_steps=400,
                    eval_strategy="epoch",
                    save_strategy="epoch",
                    load_best_model_at_end=True,
                )
            )
            trainer = self.trainer(untrained(self.tokenizer), args)
            begun = any((self.out / "base-checkpoints").glob("checkpoint-*"))
            trainer.train(resume_from_checkpoint=begun)
            trainer.save_model(str(folder))
        return folder

    def go_on(self, way: str, seed: int, steps: int) -> tuple[Any, float]:
        """From the base, in one of the two ways; the model, and its processor time."""
        task = self.task
        shared = settings(
            task,
            self.out / f"{way}-{seed}",
            seed,
            learning_rate=task.rate,
            max_steps=steps,
            save_strategy="no",
        )
        args = (
            BeamSeq2SeqConfig(**shared, beam_width=WIDTH, beam_start=0.0)
            if way == "beam"
            else Seq2SeqTrainingArguments(**shared)
        )
        model = MarianMTModel.from_pretrained(self.base())
        trainer, before = self.trainer(model, args), time.process_time()
        trainer.train()
        return model, time.process_time() - before

    def test_scores(self, model: Any) -> dict[str, Any]:
        """What `generate` finds, and what is wrong with it."""
        model.eval()
        sources = rows(self.test, self.tokenizer)
        outputs: list[str] = []
        for start in range(0, len(sources), 100):
            batch = self.tokenizer.pad(
                [{"input_ids": row["input_ids"]} for row in sources[start : start + 100]],
                return_tensors="pt",
            )
            found = model.generate(**batch, num_beams=WIDTH, max_new_tokens=80, do_sample=False)
            outputs += self.tokenizer.batch_decode(found, skip_special_tokens=True)
        right = [target for _, target in self.test]
        chrf, each = CHRF(), zip(outputs, right, strict=True)
        wrong = [float(one != two) for one, two in zip(outputs, right, strict=True)]
        return {
            "wer": sum(wrong) / len(wrong),
            "bleu": corpus_bleu(outputs, [right], tokenize="none", force=True).score,
            "chrf": chrf.corpus_score(outputs, [right]).score,
            "length": sum(map(len, outputs)) / sum(map(len, right)),
            "costs": wrong
            if self.task.spelled
            else [-chrf.sentence_score(one, [two]).score for one, two in each],
        }


def prepare(name: str, data: Path, out: Path) -> Prepared:
    task = TASKS[name]
    train, dev, test = (read(data / task.folder / part, task) for part in task.parts)
    tokenizer = tokenizer_of(train, task, out / name / "tokenizer")
    ids = [rows(pairs, tokenizer) for pairs in (train, dev)]
    return Prepared(task, tokenizer, ids[0], ids[1], test, out / name)


def equal_steps(prepared: Prepared) -> int:
    """How many steps of likelihood take as long as those with the beam."""
    times = {way: prepared.go_on(way, 9, 12)[1] for way in WAYS}
    return round(prepared.task.beam_steps * times["beam"] / times["likelihood"])


def run(name: str, data: Path, out: Path, seeds: int) -> None:
    """All trainings of a task; what is kept is not run again."""
    path = out / name / "results.json"
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    prepared = prepare(name, data, out)

    def keep(key: str, value: Any) -> None:
        kept[key] = value
        path.write_text(json.dumps(kept))
        shown = {k: v for k, v in value.items() if k != "costs"} if key != "steps" else value
        print(name, key, shown, flush=True)

    if "base" not in kept:
        model = MarianMTModel.from_pretrained(prepared.base())
        keep("base", prepared.test_scores(model))
    if "steps" not in kept:
        keep("steps", equal_steps(prepared))
    for seed in range(seeds):
        for way in WAYS:
            if (key := f"{way}-{seed}") not in kept:
                steps = prepared.task.beam_steps if way == "beam" else kept["steps"]
                model, seconds = prepared.go_on(way, seed, steps)
                keep(key, {**prepared.test_scores(model), "seconds": seconds})


def report(out: Path) -> None:
    """The table, with a paired test of the two ways over the test examples."""
    found: list[dict[str, Any]] = []
    for name in TASKS:
        path = out / name / "results.json"
        kept = json.loads(path.read_text()) if path.exists() else {}
        ways = {
            way: [kept[key] for key in sorted(kept) if key.startswith(f"{way}-")] for way in WAYS
        }
        for way, several in {"base": [kept[k] for k in ("base",) if k in kept], **ways}.items():
            if several:
                means = {
                    key: sum(one[key] for one in several) / len(several)
                    for key in ("wer", "bleu", "chrf", "length", "seconds")
                    if key in several[0]
                }
                by_seed = [round(one["wer" if name == "g2p" else "bleu"], 4) for one in several]
                row = {"task": name, "way": way, "seconds": 0.0, **means, "by_seed": by_seed}
                found.append({**row, "p": p_value(ways) if way == "beam" else None})
    print_table(found)
    content = {"machine": machine(), "rows": found}
    (RESULTS / "hugging_face.json").write_text(json.dumps(content, indent=1) + "\n")


def p_value(ways: dict[str, list[dict[str, Any]]]) -> float | None:
    """Of the beam against likelihood, over the seeds that both have."""
    seeds = min(map(len, ways.values()))
    if not seeds:
        return None
    one, two = (
        torch.tensor([kept["costs"] for kept in ways[way][:seeds]], dtype=torch.float64).mean(dim=0)
        for way in WAYS
    )
    return float(sign_flip_test((two - one)[None]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/hugging_face"))
    parser.add_argument("--only", default=",".join(TASKS), help="tasks, separated by commas")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for name in arguments.only.split(","):
        run(name, arguments.data, arguments.out, arguments.seeds)
    report(arguments.out)


if __name__ == "__main__":
    main()
