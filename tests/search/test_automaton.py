"""Automata accept what a plain acceptor accepts, and never lead into a dead end."""

import re
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.check import UsageError
from beamlearn.search.steps_left import StepsLeft

ACTIONS = 3
LONGEST = 4


@st.composite
def tables(draw):
    states = draw(st.integers(1, 5))
    row = st.lists(st.integers(-1, states - 1), min_size=ACTIONS, max_size=ACTIONS)
    table = draw(st.lists(row, min_size=states, max_size=states))
    return table, draw(st.sets(st.integers(0, states - 1)))


def accepts(table, accepting, actions):
    """By the book."""
    state = 0
    for action in actions:
        state = table[state][action]
        if state < 0:
            return False
    return state in accepting


def words(longest, actions=ACTIONS):
    return [word for n in range(longest + 1) for word in product(range(actions), repeat=n)]


@given(tables())
def test_it_accepts_what_the_table_says(case):
    table, accepting = case
    longest = len(table) - 1  # a shortest output visits no state twice
    if not any(accepts(table, accepting, word) for word in words(longest)):
        with pytest.raises(UsageError, match="must accept at least one output, got one that"):
            bl.Automaton(table, accepting)
        return
    automaton = bl.Automaton(table, accepting)
    inside = [word for word in words(LONGEST) if accepts(table, accepting, word)]
    assert [word for word in words(LONGEST) if automaton.accepts(word)] == inside
    found = [len(word) for word in words(longest) if accepts(table, accepting, word)]
    assert automaton.shortest == min(found)


def walked(automaton, prefix, left=None):
    """Legal and final actions after a prefix, and whether it can be reached legally."""
    state, reached = automaton.start(1), True
    for place, action in enumerate(prefix):
        now = None if left is None else StepsLeft(*(torch.tensor([n - place]) for n in left))
        reached = reached and bool(automaton.legal(state, now)[0, 0, action])
        taken = torch.tensor([[action]])
        none = torch.zeros_like(taken, dtype=torch.bool)
        move = bl.Move(None, torch.zeros_like(taken), taken, stays=none, finished=none)
        state = automaton.advance(state, move)
    rest = None if left is None else StepsLeft(*(torch.tensor([n - len(prefix)]) for n in left))
    return reached, automaton.legal(state, rest)[0, 0], automaton.final(state)[0, 0]


@given(tables(), st.integers(1, LONGEST), st.integers(1, LONGEST))
def test_legal_steps_can_be_completed_in_time(case, one, two):
    """A step is legal if and only if an output of an allowed length begins with it."""
    fewest, most = sorted((one, two))
    try:
        automaton = bl.Automaton(*case)
    except UsageError:
        return
    outputs = [w for w in words(most) if len(w) >= fewest and accepts(*case, w)]
    for prefix in words(most - 1):
        if not any(o[: len(prefix)] == prefix for o in outputs if len(o) > len(prefix)):
            continue
        reached, legal, final = walked(automaton, prefix, (fewest, most))
        assert reached
        for action in range(ACTIONS):
            begun = (*prefix, action)
            longer = [o for o in outputs if len(o) > len(begun) and o[: len(begun)] == begun]
            assert bool(legal[action]) == bool(longer)
            assert bool(final[action]) == accepts(*case, begun)


@given(tables())
def test_without_limits_every_legal_step_can_be_completed(case):
    try:
        automaton = bl.Automaton(*case)
    except UsageError:
        return
    enough = words(len(case[0]))
    for prefix in words(2):
        reached, legal, _ = walked(automaton, prefix)
        for action in range(ACTIONS) if reached else ():
            begun = (*prefix, action)
            live = any(accepts(*case, (*begun, *rest)) for rest in enough)
            assert bool(legal[action]) == live


@given(tables())
def test_ends_follow_outputs(case):
    table, accepting = case
    try:
        automaton = bl.Automaton(table, accepting)
    except UsageError:
        return
    ended = automaton.ended_by(0)
    for word in words(LONGEST - 1):
        whole = word[-1:] == (0,) and 0 not in word[:-1] and accepts(*case, word[:-1])
        assert ended.accepts(word) == whole


def test_batches_are_rows():
    automaton = bl.Automaton.from_regex("a{2,3}b|c+", "abc")
    states = torch.tensor([[0, 1], [2, 0], [1, 1]])
    left = StepsLeft(torch.tensor([1, 2, 1]), torch.tensor([2, 4, 9]))
    for row in range(3):
        alone = StepsLeft(left.fewest[row : row + 1], left.most[row : row + 1])
        one = automaton.legal(states[row : row + 1], alone)[0]
        assert torch.equal(automaton.legal(states, left)[row], one)
        assert torch.equal(automaton.final(states)[row], automaton.final(states[row : row + 1])[0])


PATTERNS = [
    "", "a", "ab|c", "(ab)*", "a+b?", "[ab]{2}", "[^a]*", "a{2,}", "a{,2}b", "(a|b){1,3}c", ".*b.",
    "a.c", r"\w+", r"[\w]b", r"\W?a", "(?:a|)b", "((a|b)*c)*", "[a-b]c", "[]a]", "[^]a]", "[a-]b",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_mean_what_they_mean_in_python(pattern):
    letters = "abc-\n"
    automaton = bl.Automaton.from_regex(pattern, letters)
    for word in words(4, len(letters)):
        text = "".join(letters[action] for action in word)
        assert automaton.accepts(word) == bool(re.fullmatch(pattern, text)), text


def syntax():
    atoms = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^b]", "[a-c]", "()"])
    return st.recursive(
        atoms,
        lambda part: st.one_of(
            st.tuples(part, part).map("".join),
            st.tuples(part, part).map(lambda two: f"(?:{two[0]}|{two[1]})"),
            st.tuples(part, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{,2}", "{1,}"])).map(
                lambda two: f"(?:{two[0]}){two[1]}"
            ),
        ),
        max_leaves=5,
    )


@given(syntax())
def test_generated_patterns_mean_what_they_mean_in_python(pattern):
    automaton = bl.Automaton.from_regex(pattern, "abc")
    for word in words(4):
        text = "".join("abc"[action] for action in word)
        assert automaton.accepts(word) == bool(re.fullmatch(pattern, text)), text


@given(syntax(), st.lists(st.text("abc", max_size=3), min_size=1, max_size=4), st.booleans())
def test_symbols_of_several_letters(pattern, symbols, begin):
    """Also where they have another text at the beginning of an output."""
    symbols = ["a", "b", "c", *symbols]
    first = [symbol[1:] if begin else symbol for symbol in symbols]
    try:
        automaton = bl.Automaton.from_regex(pattern, symbols, first=first)
    except UsageError:
        assert begin
        return
    for word in words(3, len(symbols)):
        parts = [first[word[0]], *(symbols[action] for action in word[1:])] if word else []
        expected = all(parts) and bool(re.fullmatch(pattern, "".join(parts)))
        assert automaton.accepts(word) == expected


@pytest.mark.parametrize(
    ("pattern", "letters"),
    [
        ("DET? (ADJ|NOUN)* NOUN", "D?(A|N)*N"),
        ("[DET NOUN]+ .", "[DN]+."),
        ("[^ DET]{2}", "[^D]{2}"),
        (" DET|NOUN {2} ", "D|N{2}"),
    ],
)
def test_patterns_of_words(pattern, letters):
    names, short = ["DET", "ADJ", "NOUN"], "DAN"
    automaton = bl.Automaton.from_regex(pattern, names, words=True)
    for word in words(4):
        text = "".join(short[action] for action in word)
        assert automaton.accepts(word) == bool(re.fullmatch(letters, text))


def test_words_with_marks():
    automaton = bl.Automaton.from_regex(r"a\: \.+ B-X", ["a:", ".", "B-X"], words=True)
    assert automaton.accepts([0, 1, 1, 2])


def test_an_empty_word_is_nothing():
    automaton = bl.Automaton.from_regex(".+", ["", "x"], words=True)
    assert automaton.accepts([1])
    assert not automaton.accepts([0])


def test_bio_is_that_of_spans():
    tags = ["O", "B-X", "I-X", "B-Y", "I-Y", "I-Z"]
    automaton = bl.Automaton.bio(tags)

    def proper(word):
        names = [tags[action] for action in word]
        return all(
            not tag.startswith("I-") or before[2:] == tag[2:]
            for before, tag in zip(["O", *names], names, strict=False)
        )

    for word in words(3, len(tags)):
        assert automaton.accepts(word) == proper(word)


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("a(b", r"where a group begins that has no end at character 2; add a \)\."),
        ("a)b", "where a group ends that has not begun at character 2;"),
        ("*a", r"where \* has nothing to repeat at character 1;"),
        ("a**", r"where \* has nothing to repeat at character 3;"),
        ("a{2", "where a repetition has no proper numbers at character 2;"),
        ("a{3,2}", "where a repetition has no proper numbers at character 2;"),
        ("a{}", "where a repetition has no proper numbers at character 2;"),
        ("[ab", "where a class begins that has no end at character 1;"),
        ("[b-a]", "where a range does not go from a character to a later one at character 2;"),
        ("[xyz]", "where a class stands for no symbol of outputs at character 1;"),
        ("ax", "where 'x' is no symbol of outputs at character 2; name one that occurs in them."),
        ("^a", r"where \^ is not needed, as whole outputs are matched at character 1;"),
        ("a}", "where a } has no beginning at character 2; put a backslash before it."),
        (r"\ba", r"where \\b has no meaning at character 1;"),
        ("a\\", "where a backslash has nothing after it at character 2; write it twice."),
        ("(?=a)", "where a group has a meaning of its own at character 1; use plain groups."),
        ("(" * 31 + "a" + ")" * 31, "more than 30 groups stand in each other"),
        ("a{9999}", "must be small enough for an automaton of 5,000 states, but 'a{9999\\}'"),
        ("(a|b)*a(a|b){14}", "must be small enough for an automaton of 5,000 states"),
    ],
)
def test_bad_patterns(pattern, sentence):
    with pytest.raises(UsageError, match=sentence):
        bl.Automaton.from_regex(pattern, "ab")


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("NOUM", "where 'NOUM' is no symbol of outputs at character 1;"),
        ("[NOUN VREB]", "where 'VREB' is no symbol of outputs at character 7;"),
        ("[NOUN *]", r"where '\*' has no meaning at character 7; put a backslash before it\."),
        ("NOUN\\", "a backslash has nothing after it"),
    ],
)
def test_bad_patterns_of_words(pattern, sentence):
    with pytest.raises(UsageError, match=sentence):
        bl.Automaton.from_regex(pattern, ["NOUN", "VERB"], words=True)


def test_symbols_that_cannot_be_told_apart():
    with pytest.raises(UsageError, match="must be different where patterns name them, got 'a' twi"):
        bl.Automaton.from_regex("a", ["a", "a"], words=True)


def test_a_pattern_that_no_symbols_can_spell():
    with pytest.raises(UsageError, match="must match an output that can be written with the symb"):
        bl.Automaton.from_regex("ab", ["ab c", "cb"])


@pytest.mark.parametrize(
    ("table", "accepting", "sentence"),
    [
        ([[0], [0, 1]], [0], "got the shape of rows of several lengths"),
        ([], [], r"with a number for each action, got the shape \[0\]"),
        ([[2]], [0], "with 1 states must have numbers from -1 to 0, got 2"),
        ([[-2]], [0], "from -1 to 0, got -2"),
        ([[0]], [1], "`accepting` must have numbers of states from 0 to 0, got 1"),
    ],
)
def test_bad_tables(table, accepting, sentence):
    with pytest.raises(UsageError, match=sentence):
        bl.Automaton(table, accepting)


def test_it_moves_to_devices():
    automaton = bl.Automaton.from_regex("ab*", "ab").to("meta")
    assert automaton.next.device.type == "meta"
    assert automaton.actions == 2
