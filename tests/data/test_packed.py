"""Lists of strings in files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.data import atomic
from beamlearn.data.packed import PackedItems, PackedLists, Packing, taken

LISTS = [["a", "b"], [], ["b"], ["ü\u2028", "", "a", "a"]]


def packed(folder, lists, parts=2, name="words"):
    with Packing(folder, name) as packing:
        for start in range(parts):
            cut = len(lists) * start // parts, len(lists) * (start + 1) // parts
            packing.add(lists[cut[0] : cut[1]])
    return PackedLists.open(folder, name)


def test_what_is_packed_is_read_again(tmp_path):
    found = packed(tmp_path, LISTS)
    assert list(found) == LISTS
    assert found[-1] == LISTS[-1]
    assert found.lengths.tolist() == [2, 0, 1, 4]
    assert found.strings == ["a", "b", "ü\u2028", ""]
    assert isinstance(found.numbers, np.memmap)
    with pytest.raises(IndexError):
        found[4]


@given(lists=st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"])))))
def test_any_lists_are_read_again(lists, tmp_path_factory):
    assert list(packed(tmp_path_factory.mktemp("packed"), lists)) == lists


def test_some_of_them_stay_packed(tmp_path):
    found = packed(tmp_path, LISTS)
    some = found.take([3, 0, 0])
    assert list(some) == [LISTS[3], LISTS[0], LISTS[0]]
    assert some.lengths.tolist() == [4, 2, 2]
    assert list(some[1:]) == [LISTS[0], LISTS[0]]
    assert list(some.take([0])) == [LISTS[3]]
    assert list(found.take([])) == []


def test_items_are_made_of_the_lists_at_their_place(tmp_path):
    lists = packed(tmp_path, LISTS), packed(tmp_path, LISTS[::-1], name="others")
    made = [(*one, *other) for one, other in zip(LISTS, LISTS[::-1], strict=True)]
    items = PackedItems(lambda one, other: (*one, *other), *lists)
    assert list(items) == made
    assert items[-1] == made[-1]
    assert list(items.take([2, 0])) == [made[2], made[0]]
    assert list(items[1:][1:]) == made[2:]
    with pytest.raises(IndexError):
        items[4]


def test_what_is_packed_stays_packed_when_some_is_taken(tmp_path):
    found = packed(tmp_path, LISTS)
    some = taken(found, range(1, 3))
    assert isinstance(some, PackedLists)
    assert list(some) == taken(LISTS, range(1, 3)) == LISTS[1:3]


def test_two_of_them_share_a_folder(tmp_path):
    words, tags = packed(tmp_path, LISTS), packed(tmp_path, [["X"]], name="tags")
    assert (list(words), list(tags)) == (LISTS, [["X"]])


def test_what_was_broken_off_cannot_be_opened(tmp_path):
    with pytest.raises(KeyError), Packing(tmp_path, "words") as packing:  # noqa: PT012
        packing.add(LISTS)
        raise KeyError
    with pytest.raises(FileNotFoundError):
        PackedLists.open(tmp_path, "words")


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    class Full:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def write(self, _):
            raise OSError(28, "No space left on device")

    packing = Packing(tmp_path, "words")
    packing.file = Full(packing.file)
    with pytest.raises(atomic.DiskFullError, match="no space left on the disk to write"), packing:
        packing.add(LISTS)
