"""Named entities so few that a training takes a moment."""

from beamlearn.cli.main import run
from beamlearn.tasks.tagging.sentences import TaggedSentences

SENTENCES = TaggedSentences(
    [["in", "New", "York", "he", "met", "Anna"], ["Anna", "left"], ["York", "met", "Anna"]],
    [["O", "B-LOC", "I-LOC", "O", "O", "B-PER"], ["B-PER", "O"], ["B-PER", "O", "B-PER"]],
)
SMALL = (
    *("--context", "streaming", "--word-size", "4", "--affix-size", "4", "--history-size", "8"),
    *("--min-count", "1", "--width", "2", "--epochs", "2", "--learning-rate", "0.02"),
)


def write_entities(path):
    """Write the sentences in two columns."""
    rows = (
        "".join(f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True))
        for words, tags in zip(SENTENCES.words, SENTENCES.tags, strict=True)
    )
    path.write_text("\n".join(rows), encoding="utf-8")
    return str(path)


def train_entities(folder):
    """Train for two epochs, and validate on the same sentences; return the run folder."""
    file = write_entities(folder / "entities.tsv")
    given = ("--train", file, "--dev", file, "--column", "2", "--out", str(folder / "entities"))
    assert run(["train", "tag", *given, *SMALL]) == 0
    return folder / "entities"
