"""Is one way of training better than another, or lucky? Transducers, several seeds of each.

    python benchmarks/paired.py TEST RUN... --against RUN... [--width 8] [--bleu]

TEST is a file of pairs; there are as many runs on one side as on the other. Every run transduces
it with a beam of `--width`, and the mean over the first runs is compared with that over the others,
in percent of wrong outputs (`--bleu`: in points of corpus BLEU, by sacrebleu). p is the share of
random exchanges, line by line, of what the two ways of training came to, after which they differ by
at least as much.
"""

import argparse
from pathlib import Path

import torch
from jaxtyping import Float
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor

from beamlearn.evaluation.significance import FLIPS, sign_flip_test
from beamlearn.tasks.decoding import in_order
from beamlearn.tasks.experiment import load
from beamlearn.tasks.transduction.decode import transduce
from beamlearn.tasks.transduction.pairs import Pairs, read_pairs
from beamlearn.tasks.transduction.task import TRANSDUCTION


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("test", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--against", type=Path, nargs="+", required=True)
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--bleu", action="store_true")
    arguments = parser.parse_args()
    if len(arguments.runs) != len(arguments.against):
        parser.error("there must be as many runs as runs to compare them with")
    torch.set_num_threads(1)
    test = read_pairs(arguments.test)
    ours, theirs = (
        [outputs(run, test, arguments.width) for run in runs]
        for runs in (arguments.runs, arguments.against)
    )
    compare = compare_bleu if arguments.bleu else compare_wrong
    mine, other, p = compare(ours, theirs, [right[0] for right in test.references])
    print(f"{mine:.2f} against {other:.2f}: {mine - other:+.2f}, p = {p:.4f}")


def outputs(run: Path, test: Pairs, width: int) -> list[str]:
    """What one run makes of the sources."""
    model, _ = load(TRANSDUCTION, run)
    return [one.output for one in in_order(transduce(model, test.sources, width))]


def compare_wrong(
    ours: list[list[str]], theirs: list[list[str]], right: list[str]
) -> tuple[float, float, float]:
    """Both shares of wrong outputs, in percent, and p."""
    mine, other = (
        torch.tensor([[text != r for text, r in zip(one, right, strict=True)] for one in many])
        .double()
        .mean(dim=0)
        for many in (ours, theirs)
    )
    p = sign_flip_test((mine - other)[None])
    return 100 * float(mine.mean()), 100 * float(other.mean()), float(p)


def compare_bleu(
    ours: list[list[str]], theirs: list[list[str]], right: list[str]
) -> tuple[float, float, float]:
    """Both BLEU, and p; the runs of a line are exchanged together, each with its counterpart."""
    mine, other = (torch.stack([counts(one, right) for one in many]) for many in (ours, theirs))
    found, against = float(bleu(mine.sum(dim=1)).mean()), float(bleu(other.sum(dim=1)).mean())
    generator = torch.Generator().manual_seed(0)
    swap = torch.randint(2, (FLIPS, len(right)), generator=generator).double()
    one, two = swap @ other + (1 - swap) @ mine, swap @ mine + (1 - swap) @ other
    apart = (bleu(one) - bleu(two)).mean(dim=0).abs()
    as_far = int((apart >= abs(found - against)).sum())
    return found, against, (1 + as_far) / (1 + FLIPS)


def counts(texts: list[str], right: list[str]) -> Float[Tensor, "lines 10"]:
    """Right and all n-grams (n = 1 to 4) of each line, its length, and that of the reference."""
    metric = BLEU(effective_order=True)
    scores = [metric.sentence_score(text, [r]) for text, r in zip(texts, right, strict=True)]
    return torch.tensor(
        [[*s.counts, *s.totals, s.sys_len, s.ref_len] for s in scores], dtype=torch.float64
    )


def bleu(sums: Float[Tensor, "*shape 10"]) -> Float[Tensor, "*shape"]:
    """Corpus BLEU, in percent, of counts that were added up."""
    correct, total, length, reference = sums.split((4, 4, 1, 1), dim=-1)
    brevity = (1 - reference / length).clamp(max=0.0)[..., 0]
    found: Tensor = 100 * (brevity + (correct / total).log().mean(dim=-1)).exp()
    return found


if __name__ == "__main__":
    main()
