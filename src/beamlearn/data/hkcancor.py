"""HKCanCor: transcribed Cantonese conversations with part-of-speech tags (CC BY 4.0)."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from itertools import pairwise

from .text import DataError, bare, read_lines

Utterance = list[tuple[str, str]]
"""Words with their tags."""
FOLDER = "pycantonese/data/hkcancor/"
PUNCTUATION = "w"


def read_hkcancor() -> dict[str, list[Utterance]]:
    """Read the utterances of each recording from the files of the distribution `pycantonese`.

    58 recordings, 16,162 utterances and 153,654 words, including 28,262 punctuation marks, which
    have the tag "w". In the files, only the first word of a foreign name has its tag; here all
    of them do. The package itself is not imported.

    K. K. Luke and May L. Y. Wong (2015), The Hong Kong Cantonese Corpus: Design and Uses.
    """
    try:
        carrier = distribution("pycantonese")
    except PackageNotFoundError as error:
        raise DataError(
            "HKCanCor is read from the package 'pycantonese', which is not installed; run "
            "`pip install 'beamlearn[demo]'`."
        ) from error
    inside = (f for f in carrier.files or [] if f.as_posix().startswith(FOLDER))
    paths = {f.stem: str(f.locate()) for f in inside if f.suffix == ".cha"}
    if not paths:
        raise DataError(
            "HKCanCor is read from pycantonese 2.4.1, but the installed version "
            f"{carrier.version} does not contain it; run `pip install 'beamlearn[demo]'`."
        )
    return {name: parse(read_lines(path), path) for name, path in sorted(paths.items())}


def parse(lines: Sequence[str], path: str) -> list[Utterance]:
    """Find the utterances of a file in the CHAT format: a line "*..." and a line "%mor" each."""
    found = []
    tiers = [*tiers_of(lines), (len(lines), "", [])]
    for (line, name, words), (_, below, items) in pairwise(tiers):
        if not name.startswith("*"):
            continue
        if below != "%mor:" or len(words) != len(items):
            raise DataError(
                f"{path}:{line}: An utterance needs a line '%mor:' below it with an item for each "
                f"of its {len(words)} words, got {len(items) if below == '%mor:' else 'none'}; "
                "reinstall pycantonese 2.4.1."
            )
        found.append(tagged(words, items))
    return found


def tiers_of(lines: Sequence[str]) -> list[tuple[int, str, list[str]]]:
    """The lines of a file with those that continue them: number, name and items."""
    tiers: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(lines, 1):
        name, _, rest = bare(line, number).partition("\t")
        if name:
            tiers.append((number, name, rest.split()))
        elif tiers:
            tiers[-1][2].extend(rest.split())
    return tiers


def tagged(words: Sequence[str], items: Sequence[str]) -> Utterance:
    """Give each word the tag of its item, "tag|pronunciation".

    >>> tagged(["Hong", "Kong", "U", "嘅", "."], ["xjnt|Hong", "Kong", "U0", "u|ge3", "."])
    [('Hong', 'xjnt'), ('Kong', 'xjnt'), ('U', 'xjnt'), ('嘅', 'u'), ('.', 'w')]
    """
    utterance: Utterance = []
    for word, item in zip(words, items, strict=True):
        tag, bar, _ = item.partition("|")
        if not bar:  # a mark, or the next word of a name
            named = utterance and any(character.isalnum() for character in item)
            tag = utterance[-1][1] if named else PUNCTUATION
        utterance.append((word, tag))
    return utterance


def characters(utterance: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Cut words into characters: "B-" and the tag on the first of a word, "I-" on the others.

    >>> characters([("旅行", "vn"), ("啊", "y"), ("?", "w")])
    (['旅', '行', '啊', '?'], ['B-vn', 'I-vn', 'B-y', 'B-w'])
    """
    cut = [character for word, _ in utterance for character in word]
    labels = [
        f"{'I' if place else 'B'}-{tag}" for word, tag in utterance for place in range(len(word))
    ]
    return cut, labels
