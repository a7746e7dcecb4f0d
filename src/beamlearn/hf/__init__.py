"""Models of the library transformers, searched and trained with this library's beams."""

from importlib.util import find_spec

if find_spec("transformers") is None:
    raise ImportError(
        "beamlearn.hf needs the package 'transformers', which is not installed; run "
        "`pip install beamlearn[hf]`."
    )

from .batches import Batch as Batch
from .batches import WithReferences as WithReferences
from .config import BeamArguments as BeamArguments
from .config import BeamConfig as BeamConfig
from .config import BeamSeq2SeqConfig as BeamSeq2SeqConfig
from .costs import TokenCosts as TokenCosts
from .diverse_beam_search import diverse_beam_search as diverse_beam_search
from .generation import BeamDecoderOnlyOutput as BeamDecoderOnlyOutput
from .generation import BeamEncoderDecoderOutput as BeamEncoderDecoderOutput
from .generation import generate as generate
from .objective import BeamLosses as BeamLosses
from .objective import BeamObjective as BeamObjective
from .rules import Rules as Rules
from .rules import rules_of as rules_of
from .scorer import HuggingFaceScorer as HuggingFaceScorer
from .search import Generated as Generated
from .search import beam_search as beam_search
from .space import HuggingFaceSpace as HuggingFaceSpace
from .token_texts import TokenTexts as TokenTexts
from .trainable_scorer import TrainableScorer as TrainableScorer
from .trainer import BeamSeq2SeqTrainer as BeamSeq2SeqTrainer
from .trainer import BeamTrainer as BeamTrainer
