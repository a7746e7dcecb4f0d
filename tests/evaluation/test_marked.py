from beamlearn.evaluation.marked import Marked, Part, unmarked


def test_what_differs_is_marked_on_both_sides():
    found = Marked.of([("a", "a"), ("b", "x"), ("c", None), (None, "y")], gap="")
    assert found.right == (Part("a"), Part("b", same=False), Part("c", same=False))
    assert found.output == (Part("a"), Part("x", same=False), Part("y", same=False))
    assert found.gap == ""


def test_nothing_is_marked_where_nothing_is_compared():
    assert unmarked(None, ["a", "b"]) == Marked((), (Part("a"), Part("b")))
    assert unmarked("r", ["a"]).right == (Part("r"),)
