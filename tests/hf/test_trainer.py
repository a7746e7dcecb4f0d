"""Trainers: what they train, and that all settings of transformers mean what they mean there."""

import copy
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from tiny_transformers import CAUSAL, make, tokenizer
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    DataCollatorForSeq2Seq,
    HfArgumentParser,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
)

from beamlearn import hf

pytestmark = pytest.mark.usefixtures("no_shape_checks")
WORDS = tokenizer([f"w{number}" for number in range(37)])
QUIET = {
    "report_to": "none",
    "save_strategy": "no",
    "disable_tqdm": True,
    "use_cpu": True,
    "logging_steps": 1,
    "max_steps": 3,
    "per_device_train_batch_size": 4,
    "learning_rate": 1e-2,
}


def blank(kind):
    """Without dropout, so that trainings can be compared."""
    model = make(kind)
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
        elif isinstance(getattr(part, "dropout", None), float):
            part.dropout = 0.0
    return model


def examples(model, count=8):
    """Words backwards, one of a few lengths each."""
    generator = torch.Generator().manual_seed(5)
    end, rows = model.generation_config.eos_token_id, []
    for number in range(count):
        words = torch.randint(5, 30, (1 + number % 3,), generator=generator).tolist()
        answer = [*words[::-1], end]
        if model.config.is_encoder_decoder:
            rows.append({"input_ids": [*words, end], "labels": answer})
        else:
            prompt = [*words, 31]
            labels = [-100] * len(prompt) + answer
            rows.append({"input_ids": prompt + answer, "labels": labels})
    return [{**row, "attention_mask": [1] * len(row["input_ids"])} for row in rows]


def parts(kind):
    causal = kind in CAUSAL
    return (
        (hf.BeamTrainer, hf.BeamConfig) if causal else (hf.BeamSeq2SeqTrainer, hf.BeamSeq2SeqConfig)
    )


def trainer(kind, folder, *, model=None, data=None, others=None, **settings):
    made, config = parts(kind)
    model = blank(kind) if model is None else model
    data = examples(model) if data is None else data
    arguments = config(output_dir=str(folder), **{**QUIET, "beam_start": 0.0, **settings})
    given = model if model.config.is_encoder_decoder else None
    others = {"data_collator": DataCollatorForSeq2Seq(WORDS, model=given), **(others or {})}
    return made(model, args=arguments, train_dataset=data, **others)


def losses(found):
    return [entry["loss"] for entry in found.state.log_history if "loss" in entry]


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def assert_close(one, two, atol=2e-5):
    torch.testing.assert_close(weights(one.model), weights(two.model), atol=atol, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["t5", "bart", "llama"])
def test_training_lowers_costs_and_saves_an_ordinary_model(kind, tmp_path):
    learner = trainer(kind, tmp_path, max_steps=25, logging_steps=5)
    learner.train()
    logs = [entry for entry in learner.state.log_history if "loss" in entry]
    assert logs[-1]["loss"] < logs[0]["loss"]
    assert logs[-1]["cost"] < logs[0]["cost"]
    assert {"beam_loss", "increases", "on_policy"} <= logs[0].keys()
    learner.save_model()
    auto = AutoModelForSeq2SeqLM if kind != "llama" else AutoModelForCausalLM
    again = auto.from_pretrained(tmp_path)
    assert torch.equal(weights(again), weights(learner.model))
    prompt = torch.tensor([[7, 8, 31 if kind == "llama" else 1]])
    assert again.generate(prompt, num_beams=4, max_new_tokens=4).shape[0] == 1


@pytest.mark.parametrize("kind", ["marian", "gpt2"])
def test_without_weight_it_is_the_trainer_of_transformers(kind, tmp_path):
    plain = trainer(kind, tmp_path, beam_weight=0.0)
    plain.train()
    late = trainer(kind, tmp_path, beam_start=1.0)
    late.train()
    assert torch.equal(weights(late.model), weights(plain.model))
    assert "cost" not in plain.state.log_history[0]
    if kind == "marian":
        settings = Seq2SeqTrainingArguments(output_dir=str(tmp_path), **QUIET)
        model = blank(kind)
        collate = DataCollatorForSeq2Seq(WORDS)
        theirs = Seq2SeqTrainer(
            model, args=settings, train_dataset=examples(model), data_collator=collate
        )
        theirs.train()
        assert torch.equal(weights(theirs.model), weights(plain.model))


@pytest.mark.parametrize("kind", ["t5", "qwen2"])
def test_the_likelihood_is_that_of_transformers(kind, tmp_path):
    """With a weight of next to nothing, weights become those of plain training."""
    smooth = {"label_smoothing_factor": 0.1, "optim": "sgd"}
    plain = trainer(kind, tmp_path, beam_weight=0.0, **smooth)
    plain.train()
    nearly = trainer(kind, tmp_path, beam_weight=1e-9, **smooth)
    nearly.train()
    assert losses(nearly) == pytest.approx(losses(plain), abs=1e-5)
    assert_close(nearly, plain)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["t5", "bart", "llama"])
def test_layers_may_be_computed_twice(kind, tmp_path):
    one = trainer(kind, tmp_path, optim="sgd")
    one.train()
    two = trainer(kind, tmp_path, optim="sgd", gradient_checkpointing=True)
    two.train()
    assert losses(two) == pytest.approx(losses(one), abs=1e-5)
    assert_close(two, one)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["t5", "llama"])
def test_batches_may_be_accumulated(kind, tmp_path):
    """All labels of the accumulated batches weigh the same."""
    sizes = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4}
    one = trainer(kind, tmp_path, optim="sgd", per_device_train_batch_size=8)
    one.train()
    two = trainer(kind, tmp_path, optim="sgd", **sizes)
    two.train()
    if one.model_accepts_loss_kwargs:
        assert losses(two) == pytest.approx(losses(one), abs=1e-4)
        assert_close(two, one)
    else:  # as in transformers: a mean of means
        assert losses(two) == pytest.approx(losses(one), rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["t5", "llama"])
def test_an_adapter_is_trained_alone(kind, tmp_path):
    peft = pytest.importorskip("peft")
    targets = ["q", "v"] if kind == "t5" else ["q_proj", "v_proj"]
    task = "SEQ_2_SEQ_LM" if kind == "t5" else "CAUSAL_LM"
    lora = peft.LoraConfig(r=2, target_modules=targets, task_type=task, lora_dropout=0.0)
    model = blank(kind)
    before = copy.deepcopy(model.state_dict())
    learner = trainer(kind, tmp_path, model=model, others={"peft_config": lora}, max_steps=10)
    learner.train()
    assert losses(learner)[-1] < losses(learner)[0]
    assert learner.objective.tree_scores.reads_trees
    for name, value in learner.model.get_base_model().state_dict().items():
        if "lora" not in name:
            assert torch.equal(value, before[name.replace(".base_layer", "")]), name
    learner.save_model()
    again = peft.PeftModel.from_pretrained(blank(kind), tmp_path)
    prompt = torch.tensor([[7, 8, 1]])
    settings = {"num_beams": 2, "max_new_tokens": 4}
    learner.model.eval()
    expected = learner.model.generate(input_ids=prompt, **settings)
    assert torch.equal(again.eval().generate(input_ids=prompt, **settings), expected)


class Kill(TrainerCallback):
    """Ends a training in the middle, as somebody with a signal would."""

    def on_step_end(self, args, state, control, **others):
        if state.global_step == 5:
            raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bart", "gpt2"])
def test_a_killed_training_goes_on_to_the_same_weights(kind, tmp_path):
    """Across the step at which the beam joins, with coins thrown and dropout drawn."""
    settings = {
        "max_steps": 8,
        "save_strategy": "steps",
        "save_steps": 2,
        "beam_start": 0.5,
        "beam_strategy": "interpolate",
        "beam_beta": 0.5,
    }
    whole = trainer(kind, tmp_path / "whole", model=make(kind), **settings)
    whole.train()
    killed = trainer(kind, tmp_path / "killed", model=make(kind), **settings)
    killed.add_callback(Kill())
    with pytest.raises(KeyboardInterrupt):
        killed.train()
    resumed = trainer(kind, tmp_path / "killed", model=make(kind), **settings)
    resumed.train(resume_from_checkpoint=True)
    assert resumed.state.global_step == 8
    assert torch.equal(weights(resumed.model), weights(whole.model))
    assert ["cost" in e for e in whole.state.log_history if "loss" in e] == [False] * 4 + [True] * 4


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["oracle", "stop", "reset", "continue"])
@pytest.mark.parametrize("cost", ["edit", "hamming", "exact", "bleu", "chrf"])
def test_strategies_and_costs(strategy, cost, tmp_path):
    settings = {"beam_strategy": strategy, "beam_cost": cost, "max_steps": 1}
    learner = trainer("t5", tmp_path, others={"processing_class": WORDS}, **settings)
    learner.train()
    assert losses(learner)[0] > 0


@pytest.mark.slow
def test_the_beam_alone(tmp_path):
    learner = trainer("llama", tmp_path, beam_weight=None, max_steps=30, logging_steps=10)
    learner.train()
    logs = [entry for entry in learner.state.log_history if "loss" in entry]
    assert logs[-1]["beam_loss"] < logs[0]["beam_loss"]


@pytest.mark.parametrize("number", ["loss", None])
def test_training_ends_with_the_best_weights_the_first_among_them(number, tmp_path):
    """A rate of 1 ruins the model at once, though its outputs may become cheaper."""
    model = blank("t5")
    data, before = examples(model), weights(model).clone()
    evaluated = {"eval_strategy": "steps", "eval_steps": 1, "save_strategy": "steps"}
    ruined = {"learning_rate": 1.0, "metric_for_best_model": number, **evaluated}
    learner = trainer("t5", tmp_path, model=model, others={"eval_dataset": data}, **ruined)
    learner.train()
    name = f"eval_{number or 'cost'}"
    found = [entry[name] for entry in learner.state.log_history if name in entry]
    assert len(found) == 4
    assert learner.state.best_metric == min(found) < max(found)
    assert learner.evaluate()[name] == pytest.approx(min(found))
    if number == "loss":
        assert min(found) == found[0]
        assert torch.equal(weights(learner.model), before)


@pytest.mark.parametrize("kind", ["bart", "gpt2"])
def test_the_cost_of_evaluation_is_that_of_its_beams(kind, tmp_path):
    learner = trainer(kind, tmp_path, beam_width=2, per_device_eval_batch_size=3)
    rows = examples(learner.model)[:7]
    found = learner.evaluate(eval_dataset=rows)["eval_cost"]
    costs = []
    for row in rows:  # alone, without padding
        batch = learner.objective.batch_of(learner.data_collator([row]))
        costs += learner.objective(batch).costs.tolist()
    assert found == pytest.approx(sum(costs) / len(costs))
    learner.beam.beam_evaluates = False
    assert "eval_cost" not in learner.evaluate(eval_dataset=rows)


def test_what_is_kept_can_be_chosen(tmp_path):
    made = partial(hf.BeamConfig, output_dir=str(tmp_path), report_to="none")
    assert not made().load_best_model_at_end
    assert not made(eval_strategy="epoch", save_strategy="no").load_best_model_at_end
    assert not made(eval_strategy="epoch", load_best_model_at_end=False).load_best_model_at_end
    usual = made(eval_strategy="steps", eval_steps=30)
    assert usual.load_best_model_at_end
    assert usual.save_steps == 30
    assert usual.metric_for_best_model == "cost"
    assert made(eval_strategy="epoch", metric_for_best_model="bleu").greater_is_better
    assert made(eval_strategy="epoch", beam_evaluates=False).metric_for_best_model == "loss"


def test_by_default_the_beam_joins_after_two_thirds(tmp_path):
    learner = trainer("bart", tmp_path, max_steps=3, beam_start=None)
    learner.train()
    steps = [entry for entry in learner.state.log_history if "loss" in entry]
    assert ["cost" in entry for entry in steps] == [False, False, True]
    assert hf.BeamArguments(beam_weight=None).first_share == 0


def test_every_other_step(tmp_path):
    learner = trainer("bart", tmp_path, beam_every=2, beam_start=0.25, max_steps=8)
    learner.train()
    steps = [entry for entry in learner.state.log_history if "loss" in entry]
    assert ["cost" in e for e in steps] == [False, False, True, False, True, False, True, False]


def test_several_references(tmp_path):
    model = blank("t5")
    data = [
        {**row, "references": [row["labels"], [9, 9, 1]][: 1 + number % 2]}
        for number, row in enumerate(examples(model))
    ]
    collate = hf.WithReferences(DataCollatorForSeq2Seq(WORDS))
    learner = trainer("t5", tmp_path, model=model, data=data, others={"data_collator": collate})
    learner.train()
    alone = trainer("t5", tmp_path)
    alone.train()
    assert losses(learner)[0] != pytest.approx(losses(alone)[0], abs=1e-6)
    assert learner.evaluate(data)["eval_loss"] > 0


@pytest.mark.parametrize("kind", ["t5", "llama"])
def test_risk_by_a_function_of_texts(kind, tmp_path):
    asked = []

    def cost(output, reference):
        asked.append((output, reference))
        return float(abs(len(output) - len(reference)))

    learner = trainer(
        kind,
        tmp_path,
        others={"processing_class": WORDS, "cost": cost},
        beam_loss="minimum_risk",
        beam_weight=0.5,
        max_steps=5,
    )
    learner.train()
    assert len(asked) > 5 * 4
    assert all(isinstance(text, str) for pair in asked for text in pair)
    logs = [entry for entry in learner.state.log_history if "loss" in entry]
    assert logs[0]["beam_loss"] > 0


@pytest.mark.parametrize("kind", ["t5", "llama"])
@pytest.mark.parametrize("strategy", ["continue", "reset"])
def test_any_loss_by_roll_outs_of_a_function_of_texts(kind, strategy, tmp_path):
    def cost(output, reference):
        return float(abs(len(output) - len(reference)))

    learner = trainer(
        kind,
        tmp_path,
        others={"processing_class": WORDS, "cost": cost},
        beam_strategy=strategy,
        beam_width=2,
        beam_roll_outs=3,
        beam_weight=0.5,
        max_steps=2,
    )
    learner.train()
    logs = [entry for entry in learner.state.log_history if "loss" in entry]
    assert logs[0]["beam_loss"] > 0
    assert logs[0]["cost"] == int(logs[0]["cost"] * 16) / 16


def test_a_cost_that_fails_ends_the_training_with_its_example(tmp_path):
    def cost(output, reference):
        return float("nan")

    others = {"processing_class": WORDS, "cost": cost}
    learner = trainer("t5", tmp_path, others=others, beam_loss="minimum_risk")
    with pytest.raises(ValueError, match="finite number, got nan at example 0 of the batch"):
        learner.train()
    learner = trainer("t5", tmp_path, others=others, beam_width=2, beam_roll_outs=2)
    with pytest.raises(ValueError, match="^`cost` must .* got nan at example . of the batch"):
        learner.train()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_width": 0}, "`beam_width` must be"),
        ({"beam_loss": "margin"}, "beam_loss .*margin_last"),
        ({"beam_cost": "ter"}, "'ter'"),
        ({"beam_strategy": "follow"}, "'follow'"),
        ({"beam_strategy": "interpolate"}, "give both or neither"),
        ({"beam_beta": 0.5}, "give both or neither"),
        ({"beam_weight": -1.0}, "at least 0, got -1"),
        ({"beam_start": 2.0}, "from 0 to 1, got 2"),
        ({"beam_every": 0}, "at least 1, got 0"),
        ({"beam_extra_tokens": -1}, "at least 0, got -1"),
        ({"beam_best": "none"}, "'none'"),
    ],
)
def test_settings_that_cannot_be_meant(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        hf.BeamSeq2SeqConfig(output_dir=str(tmp_path), **QUIET, **settings)


def test_arguments_that_do_not_fit(tmp_path):
    with pytest.raises(TypeError, match="must be a BeamSeq2SeqConfig, got Seq2SeqTrainingArg"):
        hf.BeamSeq2SeqTrainer(
            blank("t5"), args=Seq2SeqTrainingArguments(output_dir=str(tmp_path), **QUIET)
        )
    with pytest.raises(ValueError, match="leave `compute_loss_func` out"):
        trainer("t5", tmp_path, others={"compute_loss_func": lambda *_: 0})
    with pytest.raises(ValueError, match="`cost` needs a tokenizer"):
        trainer("t5", tmp_path, others={"cost": lambda *_: 0}, beam_loss="minimum_risk")


def test_settings_can_be_given_on_a_command_line(tmp_path):
    parser = HfArgumentParser(hf.BeamSeq2SeqConfig)
    line = ["--output_dir", str(tmp_path), "--beam_width", "6", "--beam_weight", "0.2"]
    (config,) = parser.parse_args_into_dataclasses([*line, "--report_to", "none"])
    assert (config.beam_width, config.beam_weight, config.generation_num_beams) == (6, 0.2, 6)


TWO = """
import sys
from functools import partial
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import torch
torch.set_num_threads(1)
import test_trainer as t
learner = t.trainer("llama", sys.argv[2], optim="sgd", per_device_train_batch_size=2)
learner.train()
if learner.is_world_process_zero():
    torch.save(t.weights(learner.accelerator.unwrap_model(learner.model)), sys.argv[2] + "/w.pt")
"""


@pytest.mark.slow
def test_two_processes_train_as_one(tmp_path):
    script = tmp_path / "two.py"
    script.write_text(TWO)
    here = Path(__file__).parent
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2"]
    launch += ["--master_addr=127.0.0.1", "--master_port=0", "--rdzv-backend=c10d"]
    launch += ["--rdzv-endpoint=127.0.0.1:0", str(script), str(here), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), str(here.parent)])}
    done = subprocess.run(
        launch, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    alone = trainer("llama", tmp_path, optim="sgd", per_device_train_batch_size=4)
    alone.train()
    both = torch.load(tmp_path / "w.pt", weights_only=True)
    torch.testing.assert_close(both, weights(alone.model), atol=2e-5, rtol=1e-4)
    assert not torch.equal(both, weights(blank("llama")))


HALF = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
torch.set_num_threads(1)
import test_trainer as t
learner = t.trainer("bart", sys.argv[2], bf16=True)
learner.train()
print("losses", *t.losses(learner))
"""


@pytest.mark.slow
def test_half_precision_is_close(tmp_path):
    """In a process of its own, as some processors stop at instructions that others have."""
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), str(here.parent)])}
    done = subprocess.run(
        [sys.executable, "-c", HALF, str(here), str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode == -signal.SIGILL:
        pytest.skip("this processor cannot compute in bfloat16")
    assert done.returncode == 0, done.stderr[-2000:]
    whole = trainer("bart", tmp_path)
    whole.train()
    found = [float(loss) for loss in done.stdout.partition("losses ")[2].split()]
    assert found == pytest.approx(losses(whole), rel=0.02)
    assert found != losses(whole)
