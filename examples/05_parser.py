"""A dependency parser with fit and predict, and how sure it is of each arc.

Who has the telescope in "I saw the man with the telescope"? The head of the last word may be the
verb (I used it to see) or the noun (the man has it). The parser learns from a few sentences of both
kinds. For most words they are clear: you eat with a spoon, and the soup has the mushrooms. For the
telescope they are not, and both trees are in the final beam.
"""

from typing import Any

import torch

from beamlearn import BeamParser

TREEBANK = """
she/2/nsubj ate/0/root the/4/det soup/2/obj with/7/case a/7/det spoon/2/obl
she/2/nsubj ate/0/root the/4/det soup/2/obj with/7/case the/7/det mushrooms/4/nmod
he/2/nsubj ate/0/root the/4/det salad/2/obj with/7/case the/7/det fork/2/obl
he/2/nsubj ate/0/root the/4/det salad/2/obj with/7/case the/7/det olives/4/nmod
I/2/nsubj cut/0/root the/4/det bread/2/obj with/7/case the/7/det knife/2/obl
I/2/nsubj cut/0/root the/4/det bread/2/obj with/7/case the/7/det seeds/4/nmod
they/2/nsubj cut/0/root the/4/det rope/2/obj with/7/case a/7/det saw/2/obl
they/2/nsubj cut/0/root the/4/det rope/2/obj with/7/case the/7/det knot/4/nmod
we/2/nsubj opened/0/root the/4/det door/2/obj with/7/case a/7/det key/2/obl
we/2/nsubj opened/0/root the/4/det door/2/obj with/7/case the/7/det sign/4/nmod
she/2/nsubj opened/0/root the/4/det box/2/obj with/7/case the/7/det knife/2/obl
she/2/nsubj opened/0/root the/4/det box/2/obj with/7/case the/7/det letters/4/nmod
he/2/nsubj drew/0/root the/4/det house/2/obj with/7/case the/7/det pencil/2/obl
he/2/nsubj drew/0/root the/4/det house/2/obj with/7/case a/7/det garden/4/nmod
I/2/nsubj drew/0/root the/4/det girl/2/obj with/7/case a/7/det pencil/2/obl
I/2/nsubj drew/0/root the/4/det girl/2/obj with/7/case the/7/det scarf/4/nmod
they/2/nsubj painted/0/root the/4/det chair/2/obj with/7/case a/7/det brush/2/obl
they/2/nsubj painted/0/root the/4/det chair/2/obj with/7/case the/7/det cushion/4/nmod
we/2/nsubj painted/0/root the/4/det door/2/obj with/7/case the/7/det brush/2/obl
we/2/nsubj painted/0/root the/4/det door/2/obj with/7/case a/7/det sign/4/nmod
she/2/nsubj fixed/0/root the/4/det chair/2/obj with/7/case the/7/det hammer/2/obl
she/2/nsubj fixed/0/root the/4/det chair/2/obj with/7/case a/7/det cushion/4/nmod
he/2/nsubj fixed/0/root the/4/det box/2/obj with/7/case a/7/det hammer/2/obl
he/2/nsubj fixed/0/root the/4/det box/2/obj with/7/case the/7/det letters/4/nmod
I/2/nsubj watched/0/root the/4/det birds/2/obj with/7/case a/7/det telescope/2/obl
I/2/nsubj watched/0/root the/4/det girl/2/obj with/7/case the/7/det scarf/4/nmod
they/2/nsubj watched/0/root the/4/det man/2/obj with/7/case the/7/det telescope/2/obl
they/2/nsubj watched/0/root the/4/det man/2/obj with/7/case a/7/det beard/4/nmod
we/2/nsubj saw/0/root the/4/det birds/2/obj with/7/case the/7/det telescope/2/obl
we/2/nsubj saw/0/root the/4/det house/2/obj with/7/case a/7/det garden/4/nmod
she/2/nsubj saw/0/root the/4/det house/2/obj with/7/case a/7/det telescope/2/obl
she/2/nsubj saw/0/root the/4/det man/2/obj with/7/case the/7/det telescope/4/nmod
she/2/nsubj saw/0/root the/4/det birds/2/obj
the/2/det man/3/nsubj ate/0/root
they/2/nsubj opened/0/root the/4/det box/2/obj
the/2/det girl/3/nsubj drew/0/root the/5/det house/3/obj
I/2/nsubj know/0/root the/4/det man/2/obj with/7/case the/7/det beard/4/nmod
he/2/nsubj knows/0/root the/4/det girl/2/obj with/7/case the/7/det telescope/4/nmod
"""
HELD_OUT = """
he/2/nsubj cut/0/root the/4/det bread/2/obj with/7/case the/7/det saw/2/obl
we/2/nsubj cut/0/root the/4/det bread/2/obj with/7/case the/7/det olives/4/nmod
they/2/nsubj drew/0/root the/4/det birds/2/obj with/7/case a/7/det brush/2/obl
she/2/nsubj drew/0/root the/4/det man/2/obj with/7/case a/7/det beard/4/nmod
I/2/nsubj opened/0/root the/4/det box/2/obj with/7/case a/7/det hammer/2/obl
he/2/nsubj opened/0/root the/4/det door/2/obj with/7/case the/7/det knot/4/nmod
we/2/nsubj fixed/0/root the/4/det door/2/obj with/7/case the/7/det knife/2/obl
I/2/nsubj saw/0/root the/4/det girl/2/obj with/7/case a/7/det scarf/4/nmod
they/2/nsubj ate/0/root the/4/det bread/2/obj with/7/case a/7/det fork/2/obl
she/2/nsubj painted/0/root the/4/det house/2/obj with/7/case the/7/det garden/4/nmod
"""


SMALL: dict[str, Any] = {
    "width": 4,
    "epochs": 8,
    "batch_size": 4,
    "learning_rate": 0.02,
    "min_count": 1,
    "affix_length": 0,
    "max_characters": 0,
    "word_size": 24,
    "encoder_size": 32,
    "encoder_layers": 1,
    "hidden_size": 64,
    "history_size": 32,
    "action_size": 16,
}
Words = list[str]
Arcs = list[tuple[int, str]]


def read(text: str) -> tuple[list[Words], list[Arcs]]:
    """Words and trees of lines as above."""
    rows = [[token.split("/") for token in line.split()] for line in text.strip().splitlines()]
    words = [[word for word, _, _ in row] for row in rows]
    return words, [[(int(head), relation) for _, head, relation in row] for row in rows]


def draw(words: Words, arcs: Arcs, shares: list[float], head: int = 0, depth: int = 0) -> None:
    """Print a tree, every word below its head, with the share of the beam that agrees."""
    for number, (word, arc, share) in enumerate(zip(words, arcs, shares, strict=True), 1):
        if arc[0] == head:
            print(f"{share:6.1%}  {'  ' * depth + word:16} {arc[1]}")
            draw(words, arcs, shares, number, depth + 1)


def main() -> None:
    torch.set_num_threads(1)  # the tensors are small
    train, test = read(TREEBANK), read(HELD_OUT)
    # There are too few sentences to hold any out, so the training sentences also validate.
    parser = BeamParser(**SMALL).fit(*train, *train)
    report = parser.evaluate(*test)
    print(
        f"On held-out sentences {report.attachment.las:.0%} of all words have their right head and "
        f"relation, and {report.attachment.tree_accuracy:.0%} of the trees are right."
    )

    sentence = ["I", "saw", "the", "man", "with", "the", "telescope"]
    print("\nThe best tree, and how sure the parser is of each arc:")
    (arcs,), (shares,) = parser.predict([sentence]), parser.predict_confidence([sentence])
    draw(sentence, arcs, shares)
    print("\nThe head of the telescope in the best three trees:")
    for way in parser.predict_nbest([sentence], n=3)[0]:
        head, relation = way.arcs[-1]
        above = sentence[head - 1] if head else "the root"
        print(f"{way.probability:6.1%}  {above} ({relation})")


if __name__ == "__main__":
    main()
