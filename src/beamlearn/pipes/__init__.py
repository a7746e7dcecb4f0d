"""Components for pipelines of spaCy: taggers, parsers and entity recognizers of run folders."""

from importlib.util import find_spec

if find_spec("spacy") is None:
    raise ImportError(
        "beamlearn.pipes needs the package 'spacy', which is not installed; run "
        "`pip install 'beamlearn[spacy]'`."
    )

from .component import BeamComponent as BeamComponent
from .factories import make_ner as make_ner
from .factories import make_parser as make_parser
from .factories import make_tagger as make_tagger
