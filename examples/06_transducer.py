"""A transducer with fit and predict: how numbers are read aloud.

"342" becomes "three hundred forty-two". There are more or fewer words than characters, and the word
for a digit depends on its position. The transducer learns from some of the numbers with three
digits, and then reads others.
"""

import random
from typing import Any

import torch

from beamlearn import BeamTransducer

WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
"""
SMALL, TENS = WORDS.split()[:20], WORDS.split()[20:]
SETTINGS: dict[str, Any] = {
    "target_tokens": "words",
    "width": 3,
    "epochs": 6,
    "batch_size": 10,
    "learning_rate": 0.02,
    "size": 48,
    "dropout": 0.0,
    "length_extra": 3,
}


def aloud(number: int) -> str:
    """A number below 1,000 in words; hyphens are words of their own."""
    if number < 20:
        return SMALL[number]
    if number < 100:
        rest = f" - {SMALL[number % 10]}" if number % 10 else ""
        return TENS[number // 10 - 2] + rest
    rest = f" {aloud(number % 100)}" if number % 100 else ""
    return f"{SMALL[number // 100]} hundred{rest}"


def printed(text: str) -> str:
    """The words as they are printed."""
    return text.replace(" - ", "-")


def main() -> None:
    torch.set_num_threads(1)  # the tensors are small
    numbers = list(range(100, 1000))
    random.Random(0).shuffle(numbers)
    sources, targets = [str(n) for n in numbers], [aloud(n) for n in numbers]
    known, dev, new = slice(320), slice(320, 360), slice(360, 560)
    transducer = BeamTransducer(**SETTINGS)
    transducer.fit(sources[known], targets[known], sources[dev], targets[dev])

    report = transducer.evaluate(sources[new], targets[new])
    print(f"Of {len(sources[new])} numbers never seen, {1 - report.wer:.0%} are read right:")
    for source in sources[560:564]:
        print(f"{source}  {printed(transducer.predict([source])[0])}")

    print("\nThe best outputs for 317, and their shares of the beam:")
    for way in transducer.predict_nbest(["317"], n=3)[0]:
        print(f"{way.probability:6.1%}  {printed(way.output)}")


if __name__ == "__main__":
    main()
