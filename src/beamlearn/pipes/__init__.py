"""Components for pipelines of spaCy: taggers, parsers and entity recognizers of run folders.

spaCy imports `factories` for everybody who has both packages, so it loads little else.
"""

from importlib.util import find_spec

if find_spec("spacy") is None:
    raise ImportError(
        "beamlearn.pipes needs the package 'spacy', which is not installed; run "
        "`pip install 'beamlearn[spacy]'`."
    )
