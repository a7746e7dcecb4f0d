"""Folders of small Hugging Face models with their tokenizers, and pairs for them."""

import torch
from tiny_pairs import pairs
from tiny_transformers import blank, make, tokenizer
from tokenizers.processors import TemplateProcessing

from beamlearn.hf.pretrained import Pretrained
from beamlearn.hf.quiet import quiet
from beamlearn.hf.transducer import HuggingFaceTransducer
from beamlearn.tasks.transduction.settings import TransducerSettings

FEW = ["a", "b", "k", "d", "t", "a:", "b:", "k:", "d:", "t:", "c"]
"""The words of pairs."""
WORDS = [*FEW, *(f"w{number}" for number in range(26))]
"""One for each number of the small models that is not special."""
NUMBERS = {word: number for number, word in enumerate(WORDS, 3)}


def spaced(data):
    """The sources of pairs with a space after each letter, as one token is a word."""
    return type(data)([" ".join(text) for text in data.sources], data.references, data.places)


def folder(path, kind="t5", *, apart=True, **tokens):
    """Write a model, whose log-probabilities lie `apart` if asked for, and its tokenizer."""
    torch.manual_seed(0)
    with quiet():
        (make(kind) if apart else blank(kind)).save_pretrained(path)
        ended(**tokens).save_pretrained(path)
    return path


def ended(words=WORDS, most=None):
    """A tokenizer that puts an end after every text."""
    found = tokenizer(words)
    found.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    if most is not None:
        found.model_max_length = most
    return found


def transducer(kind="t5", model=None, words=WORDS, **settings):
    """A model in memory, in evaluation mode."""
    chosen = TransducerSettings(hf="nowhere", normalize="log_softmax", **settings)
    model = make(kind) if model is None else model
    found = HuggingFaceTransducer(chosen, Pretrained(model, ended(words)), "cpu")
    found.scorer.eval()
    return found


def examples(model, count=6, several=False):
    """Pairs in numbers."""
    data = spaced(pairs(count, several=several))
    return [model.encode(*pair) for pair in zip(data.sources, data.references, strict=True)]
