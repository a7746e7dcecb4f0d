"""Estimators: fit and predict, as scikit-learn's do, and usable with its tools."""

from .parser import BeamParser as BeamParser
from .tagger import BeamTagger as BeamTagger
from .transducer import BeamTransducer as BeamTransducer
