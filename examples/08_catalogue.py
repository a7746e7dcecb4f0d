"""A bookshop: recommend books by writing where they stand.

A book has an id of three tokens: its shelf, its board and its place. So a shop of any size is
searched in three steps, each among the few ways that are left. Readers have a favorite subject and
a favorite decade. One book is just right for them, and two others would do.

Everything that is needed to search a catalogue is here: `bl.ItemIndex` holds the ids,
`bl.TrieSpace` is the search space with its costs, a scorer has the weights, and
`bl.ranking_metrics` measures the lists.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn

import beamlearn as bl

SHELVES, BOARDS, PLACES = 8, 6, 5
Reader = tuple[int, int]  # subject and decade


def books() -> list[tuple[int, int, int]]:
    """The ids of all books; some places are empty."""
    places = [(s, b, p) for s in range(SHELVES) for b in range(BOARDS) for p in range(PLACES)]
    return [place for place in places if sum(place) % 7]


def liked(reader: Reader, ids: Sequence[tuple[int, int, int]]) -> dict[int, float]:
    """What a reader wants: the books on one board, in the order in which they stand."""
    subject, decade = reader
    there = [item for item, place in enumerate(ids) if place[:2] == (subject, decade)]
    return dict(zip(there, (1.0, 0.5, 0.25), strict=False))


@dataclass(frozen=True)
class Bookshop:
    """The task: readers in, search spaces out."""

    index: bl.ItemIndex
    ids: Sequence[tuple[int, int, int]]

    def space(self, readers: Sequence[Reader]) -> bl.TrieSpace:
        targets = [liked(reader, self.ids) for reader in readers]
        return bl.TrieSpace(self.index, targets, inputs=torch.tensor(list(readers)))


class Bookseller(bl.Scorer):
    """Scores the next token by the reader and the tokens so far."""

    normalize = "log_softmax"

    def __init__(self, size: int = 32) -> None:
        super().__init__()
        self.subjects, self.decades = nn.Embedding(SHELVES, size), nn.Embedding(BOARDS, size)
        self.tokens = nn.ModuleList(nn.Embedding(SHELVES, size) for _ in range(3))
        self.outputs = nn.ModuleList(nn.Linear(size, SHELVES) for _ in range(3))

    def start(self, space: bl.TrieSpace) -> Tensor:
        subject, decade = space.inputs.unbind(dim=-1)
        both: Tensor = self.subjects(subject) + self.decades(decade)
        return both[:, None]

    def score(self, memory: Tensor, nodes: bl.TrieNodes) -> Tensor:
        scores: Tensor = self.outputs[nodes.depth](memory.tanh())
        return scores.gather(-1, nodes.children.tokens)  # one action for each child

    def advance(self, memory: Tensor, nodes: bl.TrieNodes, move: bl.Move) -> Tensor:
        after: Tensor = move.follow(memory) + self.tokens[nodes.depth - 1](nodes.tokens)
        return after


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    ids = books()
    shop, seller = Bookshop(bl.ItemIndex(ids), ids), Bookseller()
    print(shop.index)
    readers = [(subject, decade) for subject in range(SHELVES) for decade in range(BOARDS)]
    order = torch.Generator().manual_seed(0)
    batches = list(bl.minibatches(readers, size=16, epochs=25, generator=order))
    optimizer = torch.optim.Adam(seller.parameters(), lr=0.02)
    list(bl.learn(batches, shop, seller, optimizer, loss="log_loss_neighbors", width=4))

    targets = [liked(reader, ids) for reader in readers]
    for width in (1, 4, 16):
        found = bl.beam_search(shop.space(readers), seller, width)
        items = [[ids.index(one.output) for one in nbest] for nbest in found.nbest]
        print(f"beam {width:>2}: {bl.ranking_metrics(items, targets, k=3)}")
    print(f"A reader of subject 2 who likes decade 3 gets {found.nbest[readers.index((2, 3))][0]}")

    with TemporaryDirectory() as folder:
        shop.index.save(f"{folder}/books.safetensors")
        again = bl.ItemIndex.load(f"{folder}/books.safetensors")
    print(f"On that board are the books {again.items_at(again.find([(2, 3, 0), (2, 3, 1)]))}")


if __name__ == "__main__":
    main()
