"""Files of users and of ids: what is read, how it is split, and what is refused."""

import json

import pytest
from tiny_catalogue import IDS, users

from beamlearn.data.text import DataError
from beamlearn.tasks.ranking.histories import read_histories
from beamlearn.tasks.ranking.item_ids import ItemIds


@pytest.fixture
def read(tmp_path):
    """Read texts as files of ids and of users."""

    def both(interactions, ids=IDS, **options):
        paths = tmp_path / "inter.json", tmp_path / "ids.json"
        for path, value in zip(paths, (interactions, ids), strict=True):
            path.write_text(value if isinstance(value, str) else json.dumps(value))
        return read_histories(str(paths[0]), ItemIds.read(str(paths[1])), **options)

    return both


def test_leave_one_out(read):
    data = read({"a": [1, 2, 3, 4, 5], "b": ["7", "8", "9"]})
    train, validation = data.split()
    assert (train.users, train.items, train.every) == (["a"], [("1", "2", "3")], True)
    assert validation.items == [("1", "2", "3", "4"), ("7", "8")]
    assert data.items == [("1", "2", "3", "4", "5"), ("7", "8", "9")]
    assert [data.every, validation.every] == [False, False]
    assert len({data.digest, train.digest, validation.digest}) == 3


def test_the_digest_knows_the_ids(read):
    changed = {**IDS, "0": ["<a_2>", "<b_2>", "<c_1>"]}
    assert read(users()).digest == read(users()).digest != read(users(), changed).digest


def test_ids_in_numbers():
    ids = ItemIds(("x", "y", "z"), (("q", "1"), ("p", "1"), ("q", "0")))
    assert ids.names == (("p", "q"), ("0", "1"))
    assert ids.paths.tolist() == [[1, 1], [0, 1], [1, 0]]
    assert ids.spell([1, 0]) == "q 0"
    assert ids.spell([0]) == "p"
    assert ItemIds.from_json(json.loads(json.dumps(ids.to_json()))) == ids


@pytest.mark.parametrize(
    ("interactions", "ids", "message"),
    [
        ({"a": [1, 2, 99]}, IDS, "inter.json: The user 'a' has the item '99', which has no id"),
        ({"a": [1, 2]}, IDS, "inter.json: .* at least 3 items, got 2 for the user 'a'"),
        ('{"a": [1, 2, 3],\n"a": [1, 2, 3]}', IDS, "Each user must come once, got 'a' twice"),
        ('{"a": [1, 2, 3],\n "b": [1, }', IDS, "inter.json:2: A JSON file was expected"),
        ("[1, 2]", IDS, "inter.json: An object with a list for each user was expected, got"),
        ("{}", IDS, "An object with a list for each user"),
        ({"a": 5}, IDS, "The user 'a' must have a list, got 5"),
        ({"a": [1, 2, None]}, IDS, "The user 'a' must have strings or whole numbers, got None"),
        (users(), {"1": ["x"], "2": ["x", "y"]}, "'1' has 1 and '2' has 2"),
        (users(), {"1": []}, "at least one, but the item '1' has 0"),
        (users(), {"1": [["x"]]}, "ids.json: The item '1' must have strings"),
        (users(), '{"1": ["x"], "1": ["y"]}', "ids.json: Each item must come once, got '1' twice"),
        (users(), '{"1": ', "ids.json:1: A JSON file was expected"),
    ],
)
def test_bad_input_is_named(read, interactions, ids, message):
    with pytest.raises(DataError, match=message):
        read(interactions, ids)
