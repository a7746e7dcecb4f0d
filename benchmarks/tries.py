"""Tries: building an index, keeping `generate` of transformers to it, and searching it.

Ids are four random tokens of 256, shifted by position, in a vocabulary of 32,128 tokens as T5 has.

`build`: an `ItemIndex`, and the nested dictionaries that people write, from the same tuples.
`constraint`: all five steps of a search of 8 inputs with 10 beams each: transformers' own
`PrefixConstrainedLogitsProcessor` with those dictionaries, the same with the function of the index,
and the logits processor of the index. Their scores must be equal.
`search`: `beam_search` over 100,000 items, 8 examples, with one action for each child against one
for each of 256 tokens, most of which are masked. They must find the same scores.
"""

from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import torch
from measure import interleave, print_table, report
from torch import Tensor
from transformers import PrefixConstrainedLogitsProcessor

import beamlearn as bl
from beamlearn.search.trie_constraint import AllowedTokens

LENGTH, TOKENS, VOCABULARY, END = 4, 256, 32_128, 1
INPUTS, BEAMS = 8, 10
SIZES = (10**3, 10**5, 10**6)
WIDTHS = (10, 50, 500)
Ids = list[tuple[int, ...]]


def catalogue(items: int) -> Ids:
    """Random ids; few are equal."""
    tokens = np.random.default_rng(items).integers(0, TOKENS, (items, LENGTH))
    return [tuple(one) for one in (tokens + 2 + TOKENS * np.arange(LENGTH)).tolist()]


def nested(ids: Ids) -> dict[int, Any]:
    """A trie of dictionaries, one item after another."""
    root: dict[int, Any] = {}
    for one in ids:
        node = root
        for token in one:
            node = node.setdefault(token, {})
    return root


def allowed(root: dict[int, Any]) -> Callable[[int, Tensor], list[int]]:
    """A `prefix_allowed_tokens_fn` over such a trie."""

    def tokens(_: int, input_ids: Tensor) -> list[int]:
        node = root
        for token in input_ids[1:].tolist():
            node = node.get(token, {})
        return list(node) or [END]

    return tokens


def steps(ids: Ids) -> list[tuple[Tensor, Tensor]]:
    """What a processor gets at each step: prefixes of ids, and scores."""
    generator = torch.Generator().manual_seed(0)
    chosen = torch.tensor([ids[i * 7 % len(ids)] for i in range(INPUTS * BEAMS)])
    prompt = torch.zeros(len(chosen), 1, dtype=torch.long)
    written = torch.cat([prompt, chosen], dim=1)
    scores = torch.randn(len(chosen), VOCABULARY, generator=generator)
    return [(written[:, : size + 1], scores) for size in range(LENGTH + 1)]


def processed(processor: Any, given: Sequence[tuple[Tensor, Tensor]]) -> list[Tensor]:
    return [processor(*one) for one in given]


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    began = process_time()
    made = make()
    return made, process_time() - began


def constraint_row(items: int) -> dict[str, Any]:
    ids = catalogue(items)
    index, building = timed(partial(bl.ItemIndex, ids))
    root, nesting = timed(partial(nested, ids))
    own: AllowedTokens = index.prefix_allowed_tokens_fn(END)
    given = steps(ids)
    processors = {
        "index": index.logits_processor(END),
        "dictionaries": PrefixConstrainedLogitsProcessor(allowed(root), BEAMS),
        "function": PrefixConstrainedLogitsProcessor(own, BEAMS),
    }
    found = [processed(one, given) for one in processors.values()]
    for other in found[1:]:
        if not all(torch.equal(*pair) for pair in zip(found[0], other, strict=True)):
            raise SystemExit("The constraints differ.")
    runs = {name: partial(processed, one, given) for name, one in processors.items()}
    timings = interleave(runs, seconds=4)
    tensors = (index.trie.offsets, index.trie.tokens, index.leaves)
    size = sum(one.numel() * one.element_size() for one in tensors)
    return {
        "items": items,
        "build": building,
        "build, dictionaries": nesting,
        "MB": size / 1e6,
        "ms": 1000 * timings["index"].seconds,
        "dictionaries / index": timings["dictionaries"].ratio,
        "function / index": timings["function"].ratio,
    }


class Dense(bl.SearchSpace[bl.TrieNodes]):
    """The same catalogue with one action for each token."""

    def __init__(self, index: bl.ItemIndex, examples: int) -> None:
        self.trie, self.examples = index.trie, examples
        table = torch.full((index.trie.nodes, TOKENS), -1)
        table[index.trie.parents[1:], index.trie.tokens] = torch.arange(1, index.trie.nodes)
        self.table = table

    def __len__(self) -> int:
        return self.examples

    def initial(self) -> bl.TrieNodes:
        return bl.TrieNodes(self.trie, torch.zeros(self.examples, 1, dtype=torch.long), 0)

    def expand(self, nodes: bl.TrieNodes) -> bl.Expansion:
        last = torch.tensor(nodes.depth == LENGTH - 1).view(1, 1, 1)
        return bl.Expansion(TOKENS, last, self.table[nodes.numbers] >= 0, last[..., 0])

    def advance(self, nodes: bl.TrieNodes, move: bl.Move) -> bl.TrieNodes:
        after = self.table[move.follow(nodes.numbers), move.actions].clamp(min=0)
        return bl.TrieNodes(self.trie, after, nodes.depth + 1)

    def outputs(self, examples: Sequence[int], actions: Sequence[Sequence[int]]) -> list[Any]:
        return [tuple(one) for one in actions]


class Table(bl.Scorer):
    """A state that is the sum of vectors, and a product with those of all tokens."""

    normalize = "log_softmax"

    def __init__(self, dense: bool, size: int = 64) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(1)
        self.dense, self.complete = dense, dense
        self.vectors = torch.randn(LENGTH, TOKENS, size, generator=generator)
        self.first = torch.randn(INPUTS, 1, size, generator=generator)

    def start(self, space: Any) -> Tensor:
        return self.first

    def score(self, memory: Tensor, nodes: bl.TrieNodes) -> Tensor:
        scores = memory @ self.vectors[nodes.depth].T / 8
        return scores if self.dense else scores.gather(-1, nodes.children.tokens)

    def advance(self, memory: Tensor, nodes: bl.TrieNodes, move: bl.Move) -> Tensor:
        return move.follow(memory) + self.vectors[nodes.depth - 1, nodes.tokens]


def search_rows(items: int = 10**5) -> list[dict[str, Any]]:
    tokens = np.random.default_rng(0).integers(0, TOKENS, (items, LENGTH))
    index = bl.ItemIndex(tokens)
    spaces: dict[str, tuple[bl.SearchSpace[Any], bl.Scorer]] = {
        "children": (bl.TrieSpace(index, [0] * INPUTS), Table(dense=False)),
        "tokens": (Dense(index, INPUTS), Table(dense=True)),
    }
    rows = []
    for width in WIDTHS:
        runs = {name: partial(bl.beam_search, *one, width) for name, one in spaces.items()}
        one, other = (run().nbest_scores for run in runs.values())
        if not torch.allclose(one, other, atol=1e-4):
            raise SystemExit("The searches differ.")
        timings = interleave(runs, seconds=4)
        ms = 1000 * timings["children"].seconds
        rows.append({"width": width, "ms": ms, "tokens / children": timings["tokens"].ratio})
    return rows


def main() -> None:
    torch.set_num_threads(1)
    search = search_rows()
    print_table(search)
    report("tries", [constraint_row(items) for items in SIZES], search=search)


if __name__ == "__main__":
    main()
