from rapidfuzz.distance import Levenshtein

from beamlearn.evaluation.label_errors import Confusion
from beamlearn.tasks.transduction.label_errors import aligned, label_errors, nearest

OUTPUTS = [["k", "a", "t", "u"], ["d"]]
REFERENCES = [[["x", "y"], ["k", "a:", "t"]], [["d", "o", "g"]]]


def test_tokens_are_aligned_with_the_nearest_reference():
    found = label_errors(OUTPUTS, REFERENCES)
    assert set(found.confusions) == {
        *(Confusion("a:", "a", 1), Confusion(None, "u", 1)),
        *(Confusion("o", None, 1), Confusion("g", None, 1)),
    }
    scores = {one.label: one for one in found.scores["token"]}
    assert (scores["t"].precision, scores["t"].recall) == (1.0, 1.0)
    assert (scores["u"].gold, scores["u"].predicted) == (0, 1)
    assert (scores["o"].gold, scores["o"].predicted) == (1, 0)
    assert "x" not in scores


def test_an_alignment_has_as_many_differences_as_edits():
    pairs = [("kitten", "sitting"), ("", "ab"), ("ab", ""), ("abc", "abc")]
    for right, output in pairs:
        found = list(aligned(right, output))
        assert sum(a != b for a, b in found) == Levenshtein.distance(right, output)
        assert "".join(a or "" for a, _ in found) == right
        assert "".join(b or "" for _, b in found) == output


def test_of_equally_near_references_the_first_is_taken():
    assert nearest(["a"], [["b"], ["c"]]) == ["b"]
