from beamlearn.tasks.transduction.marking import marked


def texts(parts, *, same):
    return [part.text for part in parts if part.same is same]


def test_letters_are_aligned_by_fewest_edits():
    found = marked("katz", ["cats"], letters=True)
    assert texts(found.output, same=False) == ["k", "z"]
    assert texts(found.right, same=False) == ["c", "s"]
    assert found.gap.join(part.text for part in found.output) == "katz"


def test_words_are_compared_with_the_nearest_reference():
    found = marked("k a t", ["x y z", "k a: t s"], letters=False)
    assert texts(found.output, same=False) == ["a"]
    assert texts(found.right, same=False) == ["a:", "s"]
    assert found.gap.join(part.text for part in found.right) == "k a: t s | x y z"


def test_other_references_of_letters_stand_apart():
    found = marked("ab", ["ab", "cd"], letters=True)
    assert "".join(part.text for part in found.right) == "ab | cd"
    assert texts(found.output, same=False) == []


def test_an_output_without_references_and_an_empty_one():
    assert [part.text for part in marked("a b", [], letters=False).output] == ["a b"]
    assert marked("", ["a"], letters=True).output == ()
