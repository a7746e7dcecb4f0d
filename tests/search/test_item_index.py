"""The trie of a catalogue is what plain Python says it is, and files bring it back."""

import re
import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.check import UsageError

TOKENS = st.integers(0, 3)
CATALOGUES = st.lists(st.lists(TOKENS, min_size=1, max_size=4).map(tuple), min_size=1, max_size=12)
END = 9


def prefixes(ids):
    return {one[:length] for one in ids for length in range(len(one) + 1)}


def followers(ids, prefix):
    size = len(prefix)
    return sorted({one[size] for one in ids if len(one) > size and one[:size] == prefix})


@given(CATALOGUES)
def test_every_prefix_is_a_node_and_every_node_has_its_children(ids):
    index, ended = bl.ItemIndex(ids, end=END), [(*one, END) for one in ids]
    trie, known = index.trie, prefixes(ended)
    assert trie.nodes == len(known)
    assert index.depth == max(map(len, ended))
    assert {trie.prefix(node) for node in range(trie.nodes)} == known
    children = trie.children(torch.arange(trie.nodes))
    for node in range(trie.nodes):
        legal = children.legal[node]
        assert children.tokens[node][legal].tolist() == followers(ended, trie.prefix(node))
        for child, token in zip(
            children.nodes[node][legal], children.tokens[node][legal], strict=True
        ):
            assert trie.prefix(int(child)) == (*trie.prefix(node), int(token))
            assert trie.parents[child] == node


@given(CATALOGUES, st.lists(TOKENS | st.sampled_from([END, 77, -1]), max_size=6))
def test_a_walk_finds_prefixes_and_nothing_else(ids, path):
    index, ended = bl.ItemIndex(ids, end=END), [(*one, END) for one in ids]
    (node,) = index.find([path]).tolist()
    if tuple(path) in prefixes(ended):
        assert index.trie.prefix(node) == tuple(path)
    else:
        assert node == -1


@given(CATALOGUES)
def test_items_are_found_by_their_ids_and_may_share_them(ids):
    index = bl.ItemIndex(ids, end=END)
    found = index.items_at(index.find([(*one, END) for one in ids]))
    assert found == [[i for i, other in enumerate(ids) if other == one] for one in ids]
    assert index.items_at(index.find([(), (77,)])) == [[], []]


def test_a_token_beyond_all_others_is_no_token_of_the_next_node():
    index = bl.ItemIndex([(0, 1), (2, 0)])
    assert index.trie.vocabulary == 3
    assert index.find([(3 + 1,), (0, 3), (0, 4), (6,)]).tolist() == [-1] * 4


def test_ranks_lead_to_the_same_nodes_as_tokens():
    index = bl.ItemIndex([(1, 5), (1, 7), (2, 5), (0, 9)])
    ranks = torch.tensor([[1, 1], [2, 0], [0, 0], [1, -1]])
    nodes = index.trie.descend(ranks).tolist()
    assert [index.trie.prefix(node) for node in nodes] == [(1, 7), (2, 5), (0, 9), (1,)]
    assert index.trie.token_to(torch.tensor(nodes)).tolist() == [7, 5, 9, 1]


def arrays(ids):
    return [np.array(ids[0]), torch.tensor(ids[1]), tuple(ids[2])]


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor, arrays])
def test_ids_may_be_lists_arrays_and_tensors(kind):
    ids = [[1, 2], [1, 3], [4, 2]]
    assert torch.equal(bl.ItemIndex(kind(ids)).leaves, bl.ItemIndex(ids).leaves)


def test_ids_may_come_from_a_generator():
    assert len(bl.ItemIndex((i, i + 1) for i in range(5))) == 5


@pytest.mark.parametrize(
    ("ids", "end", "message"),
    [
        ([], None, "at least one item, got none"),
        ([(1,), ()], None, "Item 1 must have an id of at least one token, got none"),
        ([(1,), (2, -3)], None, "Item 1 must have tokens .* got -3"),
        ([(1, 2), (2, 1.5)], None, "Item 1 must have tokens .* got 1.5"),
        ([(1, 2), ("a", "b")], None, "Item 1 must have tokens .* got 'a'"),
        ([(1,), (2, 1 << 31)], None, "Item 1 must have tokens .* got 2147483648"),
        ([(1,), (2, 1 << 70)], None, "Item 1 must have tokens"),
        ([(1,), "12"], None, "Item 1 must have a sequence of tokens as its id, got '12'"),
        ([(1,), 2], None, "Item 1 must have a sequence of tokens"),
        ([(1,), (2, 5)], 5, "`end` must be a token that no id has, got 5, .* item 1"),
        ([(1,)], -1, "`end` must be a whole number"),
        (
            [(3,), (1, 2, 3), (1, 2)],
            None,
            re.escape("item 2 has (1, 2) and item 1 has (1, 2, 3); give an `end`"),
        ),
    ],
)
def test_what_is_no_catalogue_is_refused(ids, end, message):
    with pytest.raises(UsageError, match=message):
        bl.ItemIndex(ids, end=end)


def test_an_end_makes_prefixes_legal():
    index = bl.ItemIndex([(1, 2, 3), (1, 2)], end=0)
    assert index.items_at(index.find([(1, 2, 0), (1, 2, 3, 0), (1, 2)])) == [[1], [0], []]


@pytest.mark.parametrize("end", [None, 7])
def test_a_file_brings_the_index_back(tmp_path, end):
    index = bl.ItemIndex([(1, 5), (1, 6), (1, 5), (0, 2)], end=end)
    index.save(tmp_path / "items.safetensors")
    again = bl.ItemIndex.load(str(tmp_path / "items.safetensors"))
    assert again.end == end
    for name in ("offsets", "tokens"):
        assert torch.equal(getattr(again.trie, name), getattr(index.trie, name))
    assert torch.equal(again.leaves, index.leaves)
    assert repr(again) == repr(index)
    assert [file.name for file in tmp_path.iterdir()] == ["items.safetensors"]


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "items.safetensors"
    bl.ItemIndex([(1, 5), (1, 6)]).save(path)
    path.write_bytes(path.read_bytes()[:-1] + b"\7")
    with pytest.raises(UsageError, match="items.safetensors: .* digest does not match"):
        bl.ItemIndex.load(path)


def test_files_of_other_things_are_refused(tmp_path):
    from beamlearn.data.sealed import seal

    path = tmp_path / "other"
    path.write_bytes(seal({"a": torch.zeros(1)}, "weights"))
    with pytest.raises(UsageError, match="got one of something else"):
        bl.ItemIndex.load(path)
    with pytest.raises(UsageError, match="no such file"):
        bl.ItemIndex.load(tmp_path / "none")


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_a_million_items_take_seconds():
    ids = np.random.default_rng(0).integers(0, 256, (10**6, 4))
    began = time.process_time()
    index = bl.ItemIndex(ids)
    assert time.process_time() - began < 20
    assert torch.equal(index.trie.walk(torch.from_numpy(ids[:1000])), index.leaves[:1000])


@settings(max_examples=20)
@given(CATALOGUES, st.data())
def test_allowed_tokens_are_those_that_some_id_goes_on_with(ids, data):
    index, ended = bl.ItemIndex(ids, end=END), [(*one, END) for one in ids]
    prefix = data.draw(st.sampled_from(sorted(prefixes(ended))))
    written = torch.tensor([5, *prefix])
    right = followers(ended, prefix) or [END]
    assert index.prefix_allowed_tokens_fn()(0, written) == right
    scores = torch.randn(2, 12)
    kept = index.logits_processor()(written.repeat(2, 1), scores)
    assert torch.equal(kept[:, right], scores[:, right])
    assert int((kept > -torch.inf).sum()) == 2 * len(right)


def test_what_is_no_prefix_can_only_end():
    index = bl.ItemIndex([(1, 2), (3, 4)])
    written = torch.tensor([[0, 1], [0, 4]])
    kept = index.logits_processor(end=6)(written, torch.zeros(2, 8))
    assert [row.nonzero()[:, 0].tolist() for row in kept > -torch.inf] == [[2], [6]]
    assert index.prefix_allowed_tokens_fn(end=6)(0, written[1]) == [6]


def test_the_end_of_outputs_is_asked_for():
    with pytest.raises(UsageError, match="`end` must be the token that comes after"):
        bl.ItemIndex([(1, 2)]).logits_processor()
    with pytest.raises(UsageError, match="`end` must be 3, .* got 4"):
        bl.ItemIndex([(1, 2)], end=3).prefix_allowed_tokens_fn(end=4)
