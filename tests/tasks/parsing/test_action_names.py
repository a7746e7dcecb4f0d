from dataclasses import replace

import pytest
import tiny_trees

from beamlearn.search.beam_search import beam_search
from beamlearn.tasks.parsing.action_names import ActionNames

WORDS = ("the", "dog", "barks")
pytestmark = pytest.mark.usefixtures("no_shape_checks")


def paths(parser, width=4):
    """The actions of the n-best list of a sentence, and the arcs that they make."""
    result = beam_search(parser.space([parser.encode(WORDS)]), parser.scorer, width)
    for row, way in zip(result.trace.final_actions[0].tolist(), result.nbest[0], strict=True):
        yield [action for action in row if action >= 0], way.output


@pytest.mark.parametrize("system", tiny_trees.SYSTEMS)
def test_arcs_are_named_by_their_words(system):
    parser = tiny_trees.small(system=system)
    space = parser.space([parser.encode(WORDS)])
    for actions, output in paths(parser):
        arcs = {}
        for end in range(1, len(actions) + 1):
            kind, _, words = space.action_name(0, actions[:end]).partition(": ")
            assert words
            if " " in kind:
                head, _, dependent = words.rpartition(" → ")
                arcs[dependent] = (WORDS.index(head) + 1 if head else 0, kind.split()[1])
            else:
                assert words in WORDS
        assert [arcs[word] for word in WORDS] == list(output)


def test_names_do_not_depend_on_what_was_asked_before():
    parser = tiny_trees.small()
    shared = ActionNames(parser.system, parser.actions, WORDS)
    for actions, _ in paths(parser):
        alone = ActionNames(parser.system, parser.actions, WORDS)
        assert shared.name(actions) == alone.name(actions)


def test_without_words_actions_have_plain_names():
    parser = tiny_trees.small()
    nameless = replace(parser.encode(WORDS), words=())
    assert parser.space([nameless]).action_name(0, [0]) == "shift"
