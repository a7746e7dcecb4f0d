import json

import pytest
from tiny_trees import sentences, small

from beamlearn.tasks.decoding import in_order
from beamlearn.tasks.parsing.actions import LOST
from beamlearn.tasks.parsing.decode import parse
from beamlearn.tasks.parsing.lexicon import ParsingLexicon
from beamlearn.tasks.parsing.sentences import ParsedSentences
from beamlearn.tasks.parsing.settings import ParserSettings
from beamlearn.tasks.parsing.tree import Tree
from beamlearn.training.settings import Learning

CROSSING = Tree((6, 3, 4, 0, 6, 4), ("nmod:of", "det", "nsubj", "root", "det", "obj"))
LIFTED = (4, 3, 4, 0, 6, 4)
WORDS = ["whom", "the", "dog", "saw", "a", "man"]


def names_of(parser, encoded):
    """The relations of an encoded tree as they are called."""
    lexicon = parser.lexicon
    return [
        None if head == LOST else (lexicon.relations if head else lexicon.root_relations)[number]
        for head, number in zip(encoded.heads.tolist(), encoded.relations.tolist(), strict=True)
    ]


def test_encode_marks_what_is_lifted():
    parser = small(crossing="encode")
    assert "nmod:of||obj" in parser.lexicon.relations
    found = parser.encode(WORDS, None, CROSSING)
    assert tuple(found.heads.tolist()) == LIFTED
    assert names_of(parser, found) == ["nmod:of||obj", *CROSSING.relations[1:]]
    assert found.projective
    assert parser.lexicon.plain_relations == ["det", "nmod:of", "nsubj", "obj", "punct", "root"]


def test_lift_marks_nothing():
    parser = small(crossing="lift")
    found = parser.encode(WORDS, None, CROSSING)
    assert tuple(found.heads.tolist()) == LIFTED
    assert names_of(parser, found) == list(CROSSING.relations)
    assert found.projective


@pytest.mark.parametrize("options", [{"crossing": "keep"}, {"system": "covington"}])
def test_keep_keeps_what_crosses(options):
    parser = small(**options)
    found = parser.encode(WORDS, None, CROSSING)
    assert tuple(found.heads.tolist()) == CROSSING.heads
    assert names_of(parser, found) == list(CROSSING.relations)
    assert not found.projective
    assert parser.encode(["a"], None, Tree((0,), ("root",))).projective


def test_rare_marks_are_left_out():
    data = sentences(8)  # two of them cross
    for count, kept in ((2, True), (3, False)):
        parser = small(data, mark_count=count)
        assert ("nmod:of||obj" in parser.lexicon.relations) == kept
        found = names_of(parser, parser.encode(WORDS, None, CROSSING))
        assert found[0] == ("nmod:of||obj" if kept else "nmod:of")


def test_marks_that_training_has_not_fall_back():
    """Also where training has the relation only with another mark."""
    tree = Tree(CROSSING.heads, (*CROSSING.relations[:5], "punct"))
    parser = small(crossing="encode")
    assert names_of(parser, parser.encode(WORDS, None, tree))[0] == "nmod:of"


def test_unknown_relations_are_lost_where_they_count():
    tree = Tree((2, 0), ("unheard", "root"))
    assert small().encode(["a", "b"], None, tree).heads.tolist() == [LOST, 0]
    assert small(cost="unlabeled").encode(["a", "b"], None, tree).heads.tolist() == [2, 0]


def test_relations_to_the_root_are_known_apart():
    parser = small()
    assert parser.lexicon.root_relations == ("root",)
    assert "root" not in parser.lexicon.relations
    swapped = parser.encode(["a", "b"], None, Tree((2, 0), ("root", "obj")))
    assert swapped.heads.tolist() == [LOST, LOST]


def test_marks_mean_nothing_to_those_who_do_not_encode():
    tree = Tree((0, 1, 1), ("root", "a||b", "b"))
    data = ParsedSentences([["x", "y", "z"]], [tree])
    for options in ({"crossing": "keep"}, {"crossing": "lift"}, {"system": "covington"}):
        parser = small(data, mark_count=5, **options)
        assert parser.lexicon.relations == ("a||b", "b")
        (found,) = in_order(parse(parser, data.words, None, 20, nbest=20))
        assert "a||b" in {relation for way in found.nbest for relation in way.tree.relations}


def test_what_auto_is():
    for system, keeps in (("arc-hybrid", False), ("covington", True)):
        found = ParserSettings(system=system)
        assert (found.keeps, found.encodes) == (keeps, not keeps)
        assert ParserSettings(**found.model_dump()) == found
    assert not ParserSettings(crossing="lift").encodes
    assert ParserSettings().resolved(Learning()).crossing == "encode"
    assert ParserSettings(system="covington").resolved(Learning()).crossing == "keep"
    with pytest.raises(ValueError, match="`crossing` must be keep for the system covington"):
        ParserSettings(system="covington", crossing="encode")


def test_tags_are_the_last_column():
    data = sentences(4, tagged=True)
    parser = small(data, tags="upos")
    found = parser.encode(["the", "new"], ["DET", "X"]).features
    assert found[:, -1].tolist() == [parser.lexicon.tag_numbers["DET"], 0]
    assert found.shape[1] == small(data).encode(["the", "new"]).features.shape[1] + 1


def test_json_keeps_the_lexicon():
    lexicon = small(sentences(8, tagged=True), tags="upos").lexicon
    assert ParsingLexicon.from_json(json.loads(json.dumps(lexicon.to_json()))) == lexicon
    with pytest.raises(ValueError, match="root_relations"):
        ParsingLexicon.from_json({"words": {}, "relations": []})
