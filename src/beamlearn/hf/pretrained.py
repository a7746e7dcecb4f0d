"""A model and its tokenizer: read from a folder, kept as data, and written to a folder."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    GenerationConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from ..data import atomic
from ..training.settings import SettingsError
from .model_files import GENERATION, ModelFiles
from .quiet import quiet

SAFE: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""Nothing is downloaded, and no code comes with a model."""
UNREADABLE = (OSError, ValueError, KeyError, ImportError, SafetensorError, StrictDataclassError)
"""What transformers raises where files do not hold what they should."""
OF_TOKENIZERS = ("tokenizer*", "vocab*", "*.model", "merges.txt")
"""Names of files of which a tokenizer has at least one."""


@final
@dataclass(frozen=True)
class Pretrained:
    """A model and the tokenizer that its numbers belong to."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase

    @classmethod
    def read(cls, folder: str | Path) -> "Pretrained":
        """Read what `save_pretrained` wrote; a sentence if that is not all there."""
        path = Path(folder)
        if not (path / "config.json").is_file():
            wrong = "has no config.json" if path.is_dir() else "does not exist"
            raise SettingsError(
                "`hf` must be a folder with a Hugging Face model and its tokenizer, as "
                f"`save_pretrained` writes it, but {path} {wrong}; download a model to a folder "
                "first."
            )
        if not any(file for name in OF_TOKENIZERS for file in path.glob(name)):
            raise SettingsError(
                f"{path} must be a folder with a model and its tokenizer, but it has no "
                "tokenizer; save it there with `tokenizer.save_pretrained`."
            )
        with quiet():
            found = cls(_read_model(path), _read_tokenizer(path))
        return found.checked(path)

    @classmethod
    def from_files(cls, files: ModelFiles) -> "Pretrained":
        """Build the same again, with random weights; ValueError if that cannot be."""
        with TemporaryDirectory() as name, quiet(), torch.random.fork_rng(devices=[]):
            path = files.write(Path(name))
            try:
                config = AutoConfig.from_pretrained(path, **SAFE)
                model = _kind(config).from_config(config, trust_remote_code=False)
                model.generation_config = GenerationConfig.from_pretrained(path, GENERATION)
                return cls(model, AutoTokenizer.from_pretrained(path, **SAFE))
            except (OSError, KeyError, TypeError) as error:
                raise ValueError(f"no model can be built from these files ({error})") from error

    def checked(self, path: Path) -> "Pretrained":
        """The same; refuse a tokenizer that is not the model's."""
        output = self.model.get_output_embeddings()  # type: ignore[no-untyped-call]  # theirs
        known, scored = len(self.tokenizer), output.weight.shape[0]
        if known > scored:
            raise SettingsError(
                f"{path} must be a folder with a model and its own tokenizer, but its "
                f"tokenizer has {known} tokens, and the model only {scored}; use the tokenizer "
                "that it was trained with, or `model.resize_token_embeddings`."
            )
        return self

    def files(self) -> ModelFiles:
        """Everything but the weights, as data."""
        with TemporaryDirectory() as name, quiet():
            self.model.config.save_pretrained(name)
            self.model.generation_config.save_pretrained(name)
            self.tokenizer.save_pretrained(name)
            return ModelFiles.read(Path(name))

    def write(self, folder: Path, generation: Mapping[str, Any]) -> None:
        """Write an ordinary folder of transformers, as a whole or not at all.

        `generation` changes its generation config.
        """
        folder = folder.resolve()
        aside = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
        atomic.make_folder(aside)
        try:
            with quiet(), atomic.needing_space(folder):
                self.model.save_pretrained(aside)
                self.tokenizer.save_pretrained(aside)
                config = GenerationConfig.from_pretrained(aside)
                config.update(**generation)  # type: ignore[no-untyped-call]  # theirs
                config.save_pretrained(aside)
            aside.replace(folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _kind(config: Any) -> Any:
    """What makes models of a configuration."""
    return AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM


def _read_model(path: Path) -> PreTrainedModel:
    """The model with its weights, in float32."""
    try:
        config = AutoConfig.from_pretrained(path, **SAFE)
        model, info = _kind(config).from_pretrained(
            path, dtype=torch.float32, use_safetensors=True, output_loading_info=True, **SAFE
        )
    except RuntimeError as error:
        raise SettingsError(
            f"{path} must hold weights that fit its config.json, but they do not; restore one of "
            "the two from a copy."
        ) from error
    except UNREADABLE as error:
        raise SettingsError(
            f"{path} must hold a model that writes text (an encoder-decoder or a causal "
            "model) of a kind that transformers knows without code from elsewhere, with its "
            f"weights in safetensors, but it cannot be loaded ({_first_line(error)})."
        ) from error
    if info["missing_keys"]:
        raise SettingsError(
            f"{path} must hold all weights of a {type(model).__name__}, but "
            f"{min(info['missing_keys'])} is missing; save the model that writes text."
        )
    found: PreTrainedModel = model
    return found


def _read_tokenizer(path: Path) -> PreTrainedTokenizerBase:
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(path, **SAFE)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise SettingsError(
            f"The tokenizer in {path} cannot be loaded ({_first_line(error)}); save it again "
            "with `tokenizer.save_pretrained`."
        ) from error
    return tokenizer


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")
