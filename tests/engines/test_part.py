"""Parts of some work."""

import pytest

from beamlearn.check import UsageError
from beamlearn.engines.part import Part


@pytest.mark.parametrize(("items", "parts"), [(7, 3), (3, 3), (2, 5), (0, 2), (6, 1)])
def test_all_parts_together_have_everything_once(items, parts):
    shares = [Part(number, parts).of(range(items)) for number in range(1, parts + 1)]
    assert sorted(item for share in shares for item in share) == list(range(items))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/", "/2", "1/0", "a/b", "1/2/3", "-1/2", ""])
def test_what_is_no_part_is_refused(text):
    with pytest.raises(UsageError, match="`part` must be a number from 1 to the number of parts"):
        Part.read(text)


def test_a_part_reads_what_it_writes():
    assert Part.read(str(Part(2, 8))) == Part(2, 8)
