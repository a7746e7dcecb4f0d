"""A tagger with fit and predict: the same network trained without and with its beam.

The tagger reads a stream: when it labels a word, it has not seen the next one. But the next word
decides whether "her" is a determiner ("her coat") or a pronoun ("her in town"). Greedy search must
guess. A beam can keep both readings until then. A model that was trained by greedy likelihood has
never seen a wrong reading, and cannot judge it when the next word comes. A model that was trained
with the beam has seen the wrong readings too, and learned to drop them.
"""

from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from beamlearn import BeamTagger

SENTENCES = """
I/PRON know/VERB her/DET brother/NOUN
I/PRON know/VERB her/PRON from/ADP school/NOUN
we/PRON saw/VERB her/DET garden/NOUN
we/PRON saw/VERB her/PRON in/ADP the/DET garden/NOUN
they/PRON found/VERB her/DET coat/NOUN
they/PRON found/VERB her/PRON at/ADP home/NOUN
you/PRON met/VERB her/DET father/NOUN
you/PRON met/VERB her/PRON yesterday/ADV
he/PRON sold/VERB her/DET car/NOUN
he/PRON told/VERB her/PRON everything/PRON
the/DET doctor/NOUN called/VERB her/DET mother/NOUN
the/DET doctor/NOUN called/VERB her/PRON twice/ADV
my/DET sister/NOUN likes/VERB her/DET old/ADJ school/NOUN
my/DET sister/NOUN likes/VERB her/PRON a/DET lot/NOUN
nobody/PRON believes/VERB her/DET story/NOUN
nobody/PRON believes/VERB her/PRON now/ADV
I/PRON like/VERB this/DET town/NOUN
I/PRON like/VERB this/PRON very/ADV much/ADV
we/PRON bought/VERB this/DET house/NOUN
we/PRON bought/VERB this/PRON in/ADP town/NOUN
they/PRON sold/VERB this/DET old/ADJ car/NOUN
they/PRON sold/VERB this/PRON at/ADP the/DET market/NOUN
she/PRON read/VERB this/DET book/NOUN
she/PRON read/VERB this/PRON yesterday/ADV
my/DET father/NOUN found/VERB this/DET letter/NOUN
my/DET father/NOUN found/VERB this/PRON in/ADP the/DET car/NOUN
everybody/PRON wants/VERB this/DET coat/NOUN
everybody/PRON wants/VERB this/PRON now/ADV
this/DET story/NOUN is/AUX old/ADJ
this/PRON is/AUX an/DET old/ADJ story/NOUN
this/DET garden/NOUN was/AUX beautiful/ADJ
this/PRON was/AUX a/DET garden/NOUN
that/DET car/NOUN is/AUX new/ADJ
that/PRON is/AUX a/DET new/ADJ car/NOUN
that/DET letter/NOUN was/AUX beautiful/ADJ
that/PRON was/AUX very/ADV kind/ADJ
I/PRON know/VERB that/DET house/NOUN
I/PRON know/VERB that/SCONJ she/PRON is/AUX kind/ADJ
we/PRON believe/VERB that/DET doctor/NOUN
we/PRON believe/VERB that/SCONJ he/PRON is/AUX new/ADJ
he/PRON told/VERB that/DET story/NOUN
he/PRON said/VERB that/SCONJ they/PRON found/VERB her/DET letter/NOUN
she/PRON knows/VERB that/DET old/ADJ town/NOUN
she/PRON knows/VERB that/SCONJ we/PRON bought/VERB the/DET house/NOUN
nobody/PRON knows/VERB that/DET book/NOUN
nobody/PRON knows/VERB that/SCONJ I/PRON met/VERB her/PRON twice/ADV
you/PRON said/VERB that/SCONJ you/PRON like/VERB this/DET market/NOUN
they/PRON believe/VERB that/SCONJ you/PRON saw/VERB this/PRON yesterday/ADV
"""
HELD_OUT = """
the/DET doctor/NOUN saw/VERB her/DET house/NOUN
the/DET doctor/NOUN saw/VERB her/PRON at/ADP the/DET market/NOUN
everybody/PRON likes/VERB her/DET book/NOUN
everybody/PRON likes/VERB her/PRON very/ADV much/ADV
I/PRON met/VERB her/DET sister/NOUN
I/PRON met/VERB her/PRON in/ADP town/NOUN
she/PRON bought/VERB this/DET car/NOUN
she/PRON bought/VERB this/PRON yesterday/ADV
my/DET brother/NOUN read/VERB this/DET letter/NOUN
my/DET brother/NOUN read/VERB this/PRON twice/ADV
this/DET doctor/NOUN is/AUX kind/ADJ
this/PRON is/AUX my/DET brother/NOUN
that/DET coat/NOUN was/AUX new/ADJ
that/PRON was/AUX my/DET coat/NOUN
you/PRON know/VERB that/DET market/NOUN
you/PRON know/VERB that/SCONJ he/PRON sold/VERB her/DET house/NOUN
they/PRON said/VERB that/SCONJ she/PRON told/VERB that/DET story/NOUN
we/PRON know/VERB that/SCONJ nobody/PRON believes/VERB this/DET letter/NOUN
"""


SMALL: dict[str, Any] = {
    "context": "streaming",
    "epochs": 16,
    "batch_size": 8,
    "learning_rate": 0.02,
    "min_count": 1,
    "affix_length": 0,
    "word_size": 16,
    "tag_size": 16,
    "history_size": 32,
}
Lists = list[list[str]]


def read(text: str) -> tuple[Lists, Lists]:
    """Words and labels of lines as above."""
    rows = [[token.split("/") for token in line.split()] for line in text.strip().splitlines()]
    words, labels = ([[pair[side] for pair in row] for row in rows] for side in (0, 1))
    return words, labels


def hard_words(words: Lists, right: Lists, found: Lists) -> str:
    """How many of the words that depend on the next one are labeled right."""
    hard = [
        label == guess
        for row in zip(words, right, found, strict=True)
        for word, label, guess in zip(*row, strict=True)
        if word in ("her", "this", "that")
    ]
    return f"{sum(hard)} of {len(hard)}"


def main() -> None:
    torch.set_num_threads(1)  # the tensors are small
    train, test = read(SENTENCES), read(HELD_OUT)
    # There are too few sentences to hold any out, so the training sentences also validate.
    greedy = BeamTagger(**SMALL, algorithm="log_likelihood").fit(*train, *train)
    beam = BeamTagger(**SMALL, algorithm="continue", width=4).fit(*train, *train)

    table = Table("trained by", "decoded", "words", "sentences", "her, this, that")
    rows = (("likelihood", greedy, 1), ("likelihood", greedy, 4), ("the beam", beam, 4))
    for name, tagger, width in rows:
        report = tagger.evaluate(*test, width=width)
        table.add_row(
            name,
            f"with a beam of {width}" if width > 1 else "greedily",
            f"{report.accuracy:.0%}",
            f"{report.sentence_accuracy:.0%}",
            hard_words(*test, tagger.predict(test[0], width=width)),
        )
    table.title = "Right on held-out sentences"
    Console(highlight=False).print(table)

    sentence = ["they", "know", "that", "she", "met", "her", "in", "town"]
    print("\nThe best three readings, and their shares of the beam:")
    for way in beam.predict_nbest([sentence], n=3)[0]:
        print(f"{way.probability:6.1%} ", *map("/".join, zip(sentence, way.tags, strict=True)))
    print("\nHow sure it is of each label:")
    (labels,), (shares,) = beam.predict([sentence]), beam.predict_confidence([sentence])
    for word, label, share in zip(sentence, labels, shares, strict=True):
        print(f"{share:6.1%}  {word}/{label}")


if __name__ == "__main__":
    main()
