from beamlearn.evaluation.label_errors import Confusion
from beamlearn.tasks.parsing.label_errors import label_errors
from beamlearn.tasks.parsing.tree import Tree

GOLD = [Tree((2, 3, 0, 3), ("det", "nsubj", "root", "obj")), Tree((0, 1), ("root", "obj"))]
FOUND = [Tree((2, 3, 0, 2), ("det", "obj", "root", "obj")), Tree((0, 1), ("root", "obj"))]


def test_relations_with_and_without_their_heads():
    found = label_errors(GOLD, FOUND)
    labeled = {one.label: one for one in found.scores["relation"]}
    heads = {one.label: one for one in found.scores["relation, head alone"]}
    obj, subject = labeled["obj"], labeled["nsubj"]
    assert (obj.gold, obj.predicted, obj.precision, obj.recall) == (2, 3, 1 / 3, 0.5)
    assert (subject.precision, subject.recall) == (0.0, 0.0)
    assert heads["nsubj"].recall == 1.0  # its head is right, its relation is not
    assert (heads["obj"].precision, heads["obj"].recall) == (2 / 3, 0.5)
    assert labeled["det"].f1 == heads["det"].f1 == 1.0
    assert found.confusions == [Confusion("nsubj", "obj", 1)]
