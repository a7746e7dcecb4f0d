"""One utterance, as two models hear it: what each says, and what became of the right reading."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...tasks.decoding import search
from ...tasks.tagging.model import Tagger
from ...tasks.tagging.sentences import TaggedSentences

SHORTEST, LONGEST = 6, 14


@dataclass(frozen=True)
class Reading:
    """What a model says of an utterance."""

    labels: tuple[str, ...]
    places: tuple[int | None, ...]
    """Where in its beam the right labels so far were, from 1, after each character."""

    @property
    def lowest(self) -> int:
        """The lowest place that the right labels had; 0 if they were lost."""
        return 0 if None in self.places else max(p for p in self.places if p is not None)


@dataclass(frozen=True)
class Example:
    """An utterance with its right labels and the readings of two models."""

    characters: tuple[str, ...]
    labels: tuple[str, ...]
    likelihood: Reading
    beam: Reading

    @property
    def recovered(self) -> bool:
        """Is the beam's reading right throughout, and the other one wrong twice or more?"""
        return self.beam.labels == self.labels and self.errors(self.likelihood) >= 2

    def errors(self, reading: Reading) -> int:
        """How many labels of a reading are wrong."""
        return wrong(self.labels, reading.labels)

    def to_json(self) -> dict[str, object]:
        """Everything, as a value for a JSON file."""
        readings = {"likelihood": self.likelihood, "beam": self.beam}
        return {
            "characters": self.characters,
            "labels": self.labels,
            **{name: vars(reading) for name, reading in readings.items()},
        }


def wrong(right: Sequence[str], found: Sequence[str]) -> int:
    """How many labels differ."""
    return sum(a != b for a, b in zip(right, found, strict=True))


@dataclass(frozen=True)
class Tally:
    """How many short utterances one model gets right and the other wrong twice or more."""

    beam: int
    """Right with the model trained with the beam."""
    likelihood: int
    """The other way round."""


def tally(
    test: TaggedSentences, likelihood: Sequence[tuple[str, ...]], beam: Sequence[tuple[str, ...]]
) -> Tally:
    """Count the utterances that could be examples, for either model."""
    shown = [i for i, heard in enumerate(test.words) if legible(heard)]
    errors = [[wrong(test.tags[i], labels[i]) for labels in (likelihood, beam)] for i in shown]
    return Tally(
        beam=sum(late >= 2 and trained == 0 for late, trained in errors),
        likelihood=sum(trained >= 2 and late == 0 for late, trained in errors),
    )


def choose(
    test: TaggedSentences,
    likelihood: tuple[Tagger, Sequence[tuple[str, ...]]],
    beam: tuple[Tagger, Sequence[tuple[str, ...]]],
    width: int,
) -> Example:
    """Find the utterance that shows best what a beam is for.

    Each model comes with the labels it found. Of the short utterances that the likelihood's
    model gets wrong twice or more and the beam's not at all, it is the one whose right reading
    had the lowest place in the beam on its way to the top. Where there is none, it is the
    utterance in which the beam's model is ahead by the most labels.
    """
    shown = [i for i, c in enumerate(test.words) if legible(c)] or list(range(len(test)))
    ahead = {
        i: wrong(test.tags[i], likelihood[1][i]) - wrong(test.tags[i], beam[1][i]) for i in shown
    }
    good = [i for i in shown if ahead[i] >= 2 and list(beam[1][i]) == test.tags[i]]
    places = good or [max(shown, key=lambda i: ahead[i])]
    some = test.take(places)
    readings = [
        [Reading(tuple(labels[i]), where) for i, where in zip(places, traced, strict=True)]
        for (tagger, labels) in (likelihood, beam)
        for traced in [list(follow(tagger, some, width))]
    ]
    examples = [
        Example(tuple(c), tuple(labels), *pair)
        for c, labels, *pair in zip(some.words, some.tags, *readings, strict=True)
    ]
    return max(examples, key=lambda e: (e.beam.lowest, sum(p != 1 for p in e.beam.places)))


def legible(characters: Sequence[str]) -> bool:
    """Is it short, and made of Chinese characters that most terminals can show?"""
    common = all(unicodedata.category(c) == "Lo" and ord(c) < 0x10000 for c in characters)
    return common and SHORTEST <= len(characters) <= LONGEST


def follow(tagger: Tagger, test: TaggedSentences, width: int) -> Iterator[tuple[int | None, ...]]:
    """The place of the right labels in the beam, after each character of each utterance."""
    result = search(tagger, [tagger.encode(words) for words in test.words], width)
    for labels, beams, nbest in zip(test.tags, result.beams, result.nbest, strict=True):
        right = tagger.lexicon.number_tags(labels).tolist()
        lists = [*beams[1:-1], [hypothesis.output for hypothesis in nbest]]
        yield tuple(
            found.index(right[:heard]) + 1 if right[:heard] in found else None
            for heard, found in enumerate(lists, 1)
        )


def words_of(characters: Sequence[str], labels: Sequence[str]) -> list[tuple[str, str]]:
    """Put characters together to words with tags.

    >>> words_of("旅行啊", ["B-vn", "I-vn", "I-y"])
    [('旅行', 'vn'), ('啊', 'y')]
    """
    words: list[tuple[str, str]] = []
    for character, label in zip(characters, labels, strict=True):
        head, _, kind = label.partition("-")
        if head == "I" and words and words[-1][1] == kind:
            words[-1] = (words[-1][0] + character, kind)
        else:
            words.append((character, kind))
    return words
