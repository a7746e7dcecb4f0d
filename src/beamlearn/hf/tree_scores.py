"""One pass of a model over trees of tokens, with a gradient."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from inspect import signature
from typing import Any, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle
from transformers import PreTrainedModel

from .modes import evaluating
from .reading import flush_right, takes
from .tree import TokenTree

Logits = Float[Tensor, "batch columns a"]
Inputs = Mapping[str, Tensor]
"""What a model reads before it writes: sources or prompts, with their masks."""
WITH_MASKS = ("eager", "sdpa")
"""Implementations of attention that can be told which tokens a token follows."""
CLOSE = 0.03
"""How far numbers may be apart by rounding, relative to their spread."""


class TreeScores(ABC):
    """Scores all nodes of trees in one forward pass.

    A model that can be told the place of every token, and which tokens it follows, reads a tree
    as it is: each node once. For any other the tree is cut into its paths. Which of the two a
    model can do is tried out once.

    Use it inside `placing`, and go back through the pass there, too: layers may be computed
    again then (gradient checkpointing).
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model
        self.depths: Int[Tensor, " columns"] | None = None
        """Those of the tree that was read last, for the hooks of `placing`."""
        self.reads_trees: bool | None = None
        """None: it was not tried out yet."""

    def __call__(self, model: nn.Module, inputs: Inputs, tree: TokenTree) -> Logits:
        """The logits of the token after each node; `model` may be wrapped for many processes."""
        if self.reads_trees is None:
            self.reads_trees = self.may_read_trees() and self._agrees(inputs)
        read = self.at_once if self.reads_trees else self.by_paths
        return read(model, inputs, tree)

    @abstractmethod
    def may_read_trees(self) -> bool:
        """Does the model take what it would have to be told?"""

    @abstractmethod
    def at_once(self, model: nn.Module, inputs: Inputs, tree: TokenTree) -> Logits:
        """Read the tree as it is."""

    @abstractmethod
    def by_paths(self, model: nn.Module, inputs: Inputs, tree: TokenTree) -> Logits:
        """Read the path to each leaf of the tree."""

    def hooks(self) -> list[RemovableHandle]:
        """Let the model place tokens by `depths`, where that is not None."""
        return []

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Trees can be read here."""
        hooks = self.hooks()
        try:
            yield
        finally:
            self.depths = None
            for hook in hooks:
                hook.remove()

    def _agrees(self, inputs: Inputs) -> bool:
        """Try out whether both ways give the same numbers, or the model refuses to read trees."""
        first = {name: value[:1] for name, value in inputs.items()}
        device = self.model.device
        tree = TokenTree.bare(torch.ones(1, dtype=torch.long, device=device))
        tree = tree.with_outputs(torch.tensor([[[1, 2, 3], [2, 1, 3]]], device=device))
        with torch.no_grad(), evaluating(self.model):
            two = self.by_paths(self.model, first, tree)
            try:
                one = self.at_once(self.model, first, tree)
            except (TypeError, ValueError, RuntimeError):
                return False
        return bool((one - two).abs().max() <= CLOSE * two.std())

    def _mask(
        self, seen: Bool[Tensor, "batch queries keys"]
    ) -> Float[Tensor, "batch 1 queries keys"]:
        """What attention adds to its weights, by what each token may see."""
        dtype = self.model.dtype
        mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
        return mask.masked_fill(~seen, torch.finfo(dtype).min)[:, None]


@final
class EncoderDecoderTreeScores(TreeScores):
    """Each source is encoded once, also for several paths."""

    def may_read_trees(self) -> bool:
        return self.model.config._attn_implementation in WITH_MASKS and any(self._placements())

    def at_once(self, model: nn.Module, inputs: Inputs, tree: TokenTree) -> Logits:
        self.depths = tree.depths
        logits: Tensor = model(
            **inputs,
            decoder_input_ids=tree.tokens,
            decoder_attention_mask=self._mask(tree.ancestors),
            use_cache=False,
        ).logits
        return logits

    def by_paths(self, model: nn.Module, inputs: Inputs, tree: TokenTree) -> Logits:
        self.depths = None
        paths, mask = tree.paths(), inputs.get("attention_mask")
        spread = {} if mask is None else {"attention_mask": mask[paths.owners]}
        with encoding_once(self.model.get_encoder(), mask, paths.owners):
            logits: Tensor = model(
                **{**inputs, **spread}, decoder_input_ids=paths.tokens, use_cache=False
            ).logits
        return logits[paths.row_of, tree.depths]

    def hooks(self) -> list[RemovableHandle]:
        return [
            module.register_forward_pre_hook(hook, with_kwargs=True)
            for module, hook in self._placements()
        ]

    def _placements(self) -> Iterator[tuple[nn.Module, Callable[..., Any]]]:
        """Where the decoder places tokens, and how to tell it other places."""
        decoder = self.model.get_decoder()  # type: ignore[no-untyped-call]  # theirs to type
        for module in decoder.modules():
            places = getattr(module, "embed_positions", None)
            if (
                isinstance(places, nn.Module)
                and "position_ids" in signature(places.forward).parameters
            ):
                yield places, self._place
            if hasattr(module, "_relative_position_bucket") and module.has_relative_attention_bias:
                yield module.relative_attention_bias, partial(self._place_relatively, module)

    def _place(self, module: nn.Module, args: Any, kwargs: Any) -> Any:
        """Models that count places (such as BART, Marian, Pegasus)."""
        return None if self.depths is None else (args, {**kwargs, "position_ids": self.depths})

    def _place_relatively(self, attention: Any, module: nn.Module, args: Any, kwargs: Any) -> Any:
        """Models that count how far tokens are apart (such as T5)."""
        if self.depths is None:
            return None
        apart = attention._relative_position_bucket(
            self.depths[None] - self.depths[:, None],
            bidirectional=False,
            num_buckets=attention.relative_attention_num_buckets,
            max_distance=attention.relative_attention_max_distance,
        )
        return (apart,), kwargs


@contextmanager
def encoding_once(
    encoder: nn.Module, mask: Int[Tensor, "batch symbols"] | None, owners: Int[Tensor, " rows"]
) -> Iterator[None]:
    """Let an encoder read each source once, and give it to all rows that it belongs to."""

    def before(_module: nn.Module, args: Any, kwargs: Any) -> Any:
        return args, kwargs if mask is None else {**kwargs, "attention_mask": mask}

    def after(_module: nn.Module, _args: Any, encoded: Any) -> Any:
        encoded.last_hidden_state = encoded.last_hidden_state.index_select(0, owners)
        return encoded

    with ExitStack() as stack:
        stack.callback(encoder.register_forward_pre_hook(before, with_kwargs=True).remove)
        stack.callback(encoder.register_forward_hook(after).remove)
        yield


@final
class CausalTreeScores(TreeScores):
    """Each prompt is read once; for several paths, with each of them."""

    def may_read_trees(self) -> bool:
        config = self.model.config
        kinds = getattr(config, "layer_types", None) or ["full_attention"]
        sees_all = all(kind == "full_attention" for kind in kinds)
        windowed = getattr(config, "sliding_window", None) and not hasattr(config, "layer_types")
        windowed = windowed or "local" in getattr(config, "attention_layers", ())  # GPT-Neo
        return (
            config._attn_implementation in WITH_MASKS
            and takes(self.model, "position_ids")
            and sees_all
            and not windowed
        )

    def at_once(self, model: nn.Module, inputs: Inputs, tree: TokenTree) -> Logits:
        prompts, there = flush_right(inputs["input_ids"], inputs["attention_mask"])
        before, after = prompts.shape[1] - 1, len(tree)
        # The root is the last token of the prompt.
        seen = torch.ones(before + after, before + after, dtype=torch.bool, device=prompts.device)
        seen = seen.tril().repeat(len(prompts), 1, 1)
        seen[:, before:, before:] = tree.ancestors
        seen[:, :, :before] &= there[:, None, :before].bool()
        seen |= torch.eye(before + after, dtype=torch.bool, device=prompts.device)
        lengths = there.sum(dim=-1, keepdim=True)
        places = torch.cat([there.cumsum(dim=-1)[:, :-1], lengths + tree.depths], dim=1) - 1
        kept = {"logits_to_keep": after} if takes(self.model, "logits_to_keep") else {}
        logits: Tensor = model(
            input_ids=torch.cat([prompts, tree.tokens[:, 1:]], dim=1),
            attention_mask=self._mask(seen),
            position_ids=places.clamp(min=0),
            use_cache=False,
            **kept,
        ).logits
        return logits[:, -after:]

    def by_paths(self, model: nn.Module, inputs: Inputs, tree: TokenTree) -> Logits:
        paths = tree.paths()
        prompts, there = flush_right(inputs["input_ids"], inputs["attention_mask"])
        prompts, there, rest = prompts[paths.owners], there[paths.owners], paths.tokens[:, 1:]
        mask = torch.cat([there, torch.ones_like(rest)], dim=1)
        extra = {}
        if takes(self.model, "position_ids"):
            extra["position_ids"] = (mask.cumsum(dim=-1) - 1).clamp(min=0)
        logits: Tensor = model(
            input_ids=torch.cat([prompts, rest], dim=1),
            attention_mask=mask,
            use_cache=False,
            **extra,
        ).logits
        return logits[paths.row_of, prompts.shape[1] - 1 + tree.depths]


def tree_scores_of(model: PreTrainedModel) -> TreeScores:
    """The way in which a model reads trees."""
    return (EncoderDecoderTreeScores if model.config.is_encoder_decoder else CausalTreeScores)(
        model
    )
