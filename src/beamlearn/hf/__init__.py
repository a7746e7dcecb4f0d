"""Encoder-decoders of the library transformers, searched by this library's beams."""

from importlib.util import find_spec

if find_spec("transformers") is None:
    raise ImportError(
        "beamlearn.hf needs the package 'transformers', which is not installed; run "
        "`pip install beamlearn[hf]`."
    )

from .rules import Rules as Rules
from .rules import rules_of as rules_of
from .scorer import HuggingFaceScorer as HuggingFaceScorer
from .search import Generated as Generated
from .search import beam_search as beam_search
from .space import HuggingFaceSpace as HuggingFaceSpace
