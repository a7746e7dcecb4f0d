"""Trainers of the library transformers that train with the beam."""

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase, Seq2SeqTrainer, Trainer
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

from ..learning.denormals import flush_denormals
from .config import BeamArguments, BeamConfig, BeamSeq2SeqConfig
from .objective import BeamLosses, BeamObjective
from .string_costs import StringCost

if TYPE_CHECKING:
    from peft import PeftConfig


class WithBeam(Trainer):
    """What both trainers share: a loss that looks at beams, and what is logged of them."""

    config_class: type[Any]

    def __init__(
        self,
        model: PreTrainedModel,
        args: Any = None,
        *,
        cost: StringCost | None = None,
        peft_config: "PeftConfig | None" = None,
        **others: Any,
    ) -> None:
        if args is None:
            args = self.config_class(output_dir="tmp_trainer")
        if not isinstance(args, self.config_class):
            raise TypeError(
                f"`args` must be a {self.config_class.__name__}, got {type(args).__name__}."
            )
        self.beam: BeamArguments = args
        if others.get("compute_loss_func") is not None:
            raise ValueError(
                f"A {type(self).__name__} computes its own loss; leave `compute_loss_func` out, or "
                "train with a plain Trainer."
            )
        if peft_config is not None:
            model = _adapted(model, peft_config)
        super().__init__(model=model, args=args, **others)
        self.objective: BeamObjective = BeamObjective(
            self.accelerator.unwrap_model(self.model),
            args,
            _tokenizer(self.processing_class),
            cost=cost,
            label_smoothing=args.label_smoothing_factor,
        )
        self.seen: dict[str, list[Tensor]] = defaultdict(list)
        """What was seen since it was last logged, step by step."""

    def training_step(self, *given: Any, **named: Any) -> Tensor:
        with self.objective.tree_scores.placing(), flush_denormals():
            return super().training_step(*given, **named)

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Any:
        """The loss with the beam in steps that it takes part in; otherwise that of the Trainer."""
        references = inputs.pop("references", None)
        if return_outputs or not model.training or not self.beam_takes_part:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        if references is not None:
            inputs = {**inputs, "references": references}
        batch = self.objective.batch_of(inputs)
        step = self.state.global_step
        seed = (self.args.seed + step) * self.args.world_size + self.args.process_index
        incurred = self.objective(batch, model, round=step + 1, seed=seed)
        self._remember(incurred)
        total, weight = incurred.losses.sum(), self.beam.beam_weight
        if incurred.likelihoods is not None and weight is not None:
            total = incurred.likelihoods + weight * total
        return self._scaled(total, inputs["labels"], num_items_in_batch)

    @property
    def beam_takes_part(self) -> bool:
        """Does the beam take part in the step to come?"""
        since = self.state.global_step - round(self.beam.first_share * self.state.max_steps)
        return self.beam.beam_weight != 0 and since >= 0 and since % self.beam.beam_every == 0

    def evaluation_loop(self, dataloader: Any, *given: Any, **named: Any) -> Any:
        """That of the Trainer; then the mean cost of what the beam finds, as `eval_cost`."""
        output = super().evaluation_loop(dataloader, *given, **named)
        if self.beam.beam_evaluates and output.metrics is not None:
            prefix = named.get("metric_key_prefix", "eval")
            costs = [self._costs(inputs) for inputs in dataloader]
            if costs and (found := [cost for cost in costs if cost is not None]):
                output.metrics[f"{prefix}_cost"] = float(torch.cat(found).mean())
        return output

    def _costs(self, inputs: Any) -> Tensor | None:
        """What the outputs for a batch cost, in all processes; None where labels are not known."""
        inputs = self._prepare_inputs(inputs)
        if "labels" not in inputs:
            return None
        with flush_denormals():
            costs = self.objective.costs_of_best(self.objective.batch_of(inputs))
        gathered: Tensor = self.accelerator.gather_for_metrics(costs)
        return gathered

    def _evaluate(self, trial: Any, *given: Any, **named: Any) -> dict[str, float]:
        """That of the Trainer; weights that no step has changed can be the best, too."""
        metrics: dict[str, float] = super()._evaluate(trial, *given, **named)
        if self.args.load_best_model_at_end and self.state.global_step == 0:
            self._determine_best_metric(metrics, trial)
            folder = Path(self._get_output_dir(trial)) / f"{PREFIX_CHECKPOINT_DIR}-0"
            self.state.best_model_checkpoint = str(folder)
            assert self.model is not None
            self._save_checkpoint(self.model, trial)
        return metrics

    def log(self, logs: dict[str, float], *others: Any, **named: Any) -> None:
        """Add what was seen of the beams to the logs of training."""
        if "loss" in logs:
            for name, values in self.seen.items():
                mean = self.accelerator.gather(torch.stack(values).mean()).mean()
                logs[name] = round(float(mean), 4)
            self.seen.clear()
        super().log(logs, *others, **named)

    def _scaled(self, total: Tensor, labels: Tensor, items: Tensor | int | None) -> Tensor:
        """A loss per label, over as many batches as the Trainer counted them."""
        if not self.model_accepts_loss_kwargs or items is None:
            return total / (labels != -100).sum().clamp(min=1)  # the Trainer divides by batches
        loss: Tensor = total / items
        if self.args.average_tokens_across_devices:
            loss = loss * self.accelerator.num_processes
        return loss

    def _remember(self, incurred: BeamLosses) -> None:
        self.seen["beam_loss"].append(incurred.losses.detach().mean())
        self.seen["cost"].append(incurred.costs.mean())
        self.seen["increases"].append(incurred.increases.mean())
        self.seen["on_policy"].append(incurred.on_policy.mean())

    def _set_signature_columns_if_needed(self) -> None:
        """The Trainer drops columns that the model does not take; references are for the loss."""
        super()._set_signature_columns_if_needed()
        assert self._signature_columns is not None
        if "references" not in self._signature_columns:
            self._signature_columns.append("references")


class BeamSeq2SeqTrainer(WithBeam, Seq2SeqTrainer):
    """A `Seq2SeqTrainer` that trains an encoder-decoder with the beam.

    Every argument and setting of transformers means what it means there. Besides, `cost` is a
    function of an output and a reference as texts, for `beam_loss="minimum_risk"`; and
    `peft_config` trains an adapter in place of all weights.

    What is saved is an ordinary model, which generates without this library.
    """

    config_class = BeamSeq2SeqConfig


class BeamTrainer(WithBeam):
    """A `Trainer` that trains a causal model with the beam.

    Examples are those of causal language modeling: `input_ids` hold the prompt and then the
    output, and `labels` are -100 at the prompt. `cost` and `peft_config` are as for
    `BeamSeq2SeqTrainer`.
    """

    config_class = BeamConfig


def _adapted(model: PreTrainedModel, config: "PeftConfig") -> Any:
    """The model with an adapter."""
    try:
        from peft import get_peft_model
    except ImportError:
        raise ImportError(
            "`peft_config` needs the package 'peft', which is not installed; run "
            "`pip install peft`."
        ) from None
    return get_peft_model(model, config)


def _tokenizer(given: object) -> PreTrainedTokenizerBase | None:
    """The tokenizer of a processor, or what is one itself."""
    found = getattr(given, "tokenizer", given)
    return found if isinstance(found, PreTrainedTokenizerBase) else None
