"""Parts of a comparison."""

import pytest

from beamlearn.comparison.part import Part
from beamlearn.training.settings import SettingsError


@pytest.mark.parametrize(("items", "parts"), [(7, 3), (3, 3), (2, 5), (0, 2), (6, 1)])
def test_all_parts_together_have_everything_once(items, parts):
    shares = [Part(number, parts).of(range(items)) for number in range(1, parts + 1)]
    assert sorted(item for share in shares for item in share) == list(range(items))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/", "/2", "1/0", "a/b", "1/2/3", "-1/2", ""])
def test_what_is_no_part_is_refused(text):
    with pytest.raises(SettingsError, match="`part` must be the number of a part and how many"):
        Part.read(text)


def test_a_part_reads_what_it_writes():
    assert Part.read(str(Part(2, 8))) == Part(2, 8)
