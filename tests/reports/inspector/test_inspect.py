"""What is said of a search, as a page, as text, and on the command line."""

import html
import json
import shutil
import sys
from dataclasses import replace

import pytest
import torch
from inspected_runs import NASTY, inspected, runs

import beamlearn as bl
from beamlearn.cli.main import run as beamlearn
from beamlearn.learning.iterates import Mixture, learned_parameters
from beamlearn.reports.inspector import InputRequest, InspectedSearch, RequestError, inspect_input
from beamlearn.reports.inspector.inspected_search import Answer, difference, inspect_search
from beamlearn.reports.inspector.page import page
from beamlearn.reports.inspector.request import parse_query
from beamlearn.tasks.tagging.sentences import TaggedSentences
from beamlearn.tasks.tagging.task import TAGGING
from beamlearn.tasks.task import Subject

pytestmark = pytest.mark.usefixtures("module_without_shape_checks")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, module_without_shape_checks):
    return runs(tmp_path_factory.mktemp("inspected"))


@pytest.fixture(scope="module")
def both(folder):
    return inspected(folder, "one", "two")


def searches(run, width=2):
    """Every input of the file with its trajectory and what is said of it."""
    for number in range(run.size):
        subject = TAGGING.subject(run.model, run.data, number)
        with torch.no_grad():
            space = run.model.space([subject.example])
            trajectory = bl.beam_trajectory(space, run.model.scorer, width)
        yield subject, trajectory, run.inspect(InputRequest(width, number=number))


# --- what is said -------------------------------------------------------------------------------


def test_a_look_agrees_with_the_trajectory(both):
    errors = 0
    for run in both:
        for subject, trajectory, seen in searches(run):
            assert seen.subject.text == subject.text
            assert seen.answers[0].cost == float(trajectory.final_costs[0])
            assert seen.answers[0].score == pytest.approx(float(trajectory.final_scores[0]))
            assert sum(answer.share for answer in seen.answers) == pytest.approx(1)
            assert [drop.dropped.step - 1 for drop in seen.drops] == [
                step for step, rises in enumerate(trajectory.increased[0]) if rises
            ]
            errors += seen.regret > 0
            pairs = zip(seen.answers[0].text.split(), subject.right.split(), strict=True)
            wrong = sum(a != b for a, b in pairs)
            assert seen.regret == wrong - seen.history.least_cost
    assert errors > 0


def test_the_outcome_names_the_step_of_the_first_fall(both):
    outcomes = set()
    for _, _, seen in searches(both[0], width=1):
        if seen.regret == 0:
            assert "right" in seen.outcome or "no output" in seen.outcome
            assert seen.diagnosis is None
        else:
            step = seen.drops[0].dropped.step
            assert f"costs {seen.regret:.0f} more" in seen.outcome
            assert f"step {step} ({seen.subject.headings[step - 1]!r})" in seen.outcome
            assert seen.diagnosis.startswith(("Search error", "Model error"))
        outcomes.add(seen.outcome)
    assert len(outcomes) > 1


def test_whose_error_it_is_agrees_with_evaluate(both):
    run = both[0]
    examples = TAGGING.examples(run.model, run.data)
    batches = [[example] for example in examples]
    found = bl.evaluate(batches, run.model, run.model.scorer, 1, references=True)
    for error, (_, _, seen) in zip(found.search_errors, searches(run, width=1), strict=True):
        assert bool(error) == (seen.diagnosis or "").startswith("Search error")


def test_without_a_right_output_there_are_no_costs(both):
    seen = both[0].inspect(InputRequest(3, text="the dog saw"))
    assert seen.regret is None
    assert seen.diagnosis is None
    assert seen.drops == []
    assert "No reference was given" in seen.outcome
    assert len(seen.answers) == 3
    assert {answer.cost for answer in seen.answers} == {None}


def test_a_tag_that_does_not_exist_is_no_fault_of_the_search(both):
    run, strange = both[0], TaggedSentences([["the"]], [["NEW"]])
    seen = inspect_search(TAGGING, run.model, TAGGING.subject(run.model, strange, 0), 3)
    assert seen.regret == 0
    assert seen.outcome == "The output costs 1: no possible output costs less."


def test_right_tags_that_are_mistyped_are_refused(both):
    with pytest.raises(ValueError, match="no tag called 'NUON'. Did you mean 'NOUN'"):
        both[0].inspect(InputRequest(3, text="the dog", right="DET NUON"))


def test_verdicts():
    verdicts = [Answer("", 0.0, 1.0, *found).verdict for found in ((0.0, True), (1.0, True))]
    assert [*verdicts, Answer("", 0.0, 1.0, 2.0, False).verdict] == [
        *("right", "best possible", "wrong")
    ]


def test_a_drop_parts_what_both_share(both):
    drops = [drop for _, _, seen in searches(both[1], width=1) for drop in seen.drops]
    assert drops
    for drop in drops:
        assert drop.lost != drop.rival
        assert drop.lost[:1] != drop.rival[:1]
        assert f"ranked {drop.dropped.rank}" in drop.cause


def looked(following, scores, right, finish="pad"):
    """What is said of a search in a graph of words, with a beam of three."""
    space = bl.GraphSpace(
        "", lambda word: following.get(word, []), cost=lambda path: float(path[-1] != right)
    )
    scorer = bl.FunctionScorer(lambda path: scores[path[-1]])
    told = bl.beam_trajectory(space, scorer, 3, finish=finish).history()
    answers = [
        Answer(node.name, node.score, 1.0, node.cost, told.can_be_best(node))
        for node in told.beams[-1]
    ]
    return InspectedSearch(Subject([], "words", right), 3, told, tuple(answers), scores.get(right))


def test_a_complete_output_that_only_the_first_place_would_end():
    following = {"": ["a", "b"], "b": ["bb"]}
    scores = {"a": 1.0, "b": 2.0, "bb": 0.0}
    seen = looked(following, scores, "a", finish="first")
    (drop,) = seen.drops
    assert drop.dropped.node.name == "a"
    assert drop.cause.startswith("It was complete and ranked 2")
    assert seen.outcome.endswith("which left the beam at step 1.")
    assert seen.diagnosis.startswith(
        "Search error: the model scores a best possible output 1 and its"
    )


def test_one_output_ends_where_the_other_goes_on():
    short = looked({"": ["a"]}, {"a": 1.0}, "a")
    long = looked({"": ["a"], "a": ["ab"]}, {"a": 1.0, "ab": 1.0}, "ab")
    assert difference({"x": short, "y": long}) == (
        "They differ from step 2 on: x takes the end, y takes 'ab'."
    )
    assert difference({"x": long, "y": long}) == "Both reach the same output by the same steps."


def test_where_two_runs_differ(both):
    said = set()
    for number in range(both[0].size):
        found = inspect_input(both, InputRequest(1, number=number))
        one, two = (seen.path for seen in found.searches.values())
        places = [at for at, (a, b) in enumerate(zip(one, two, strict=True)) if a != b]
        if places:
            assert f"from step {places[0] + 1} " in found.difference
            assert f"one takes {one[places[0]]!r}" in found.difference
            assert f"two takes {two[places[0]]!r}" in found.difference
        else:
            assert found.difference.startswith("Both reach the same output")
        said.add(bool(places))
    assert said == {True, False}


def test_a_mixture_looks_with_the_iterate_of_the_example(folder):
    (run,) = inspected(folder, "one")
    before = learned_parameters(run.model.scorer)
    silent = {name: torch.zeros_like(value) for name, value in before.items()}
    run.model.mixture = Mixture(run.model.scorer, [before, silent])
    scores = {
        run.inspect(InputRequest(2, number=number)).answers[0].score == 0
        for number in range(run.size)
    }
    assert scores == {True, False}
    for name, value in learned_parameters(run.model.scorer).items():
        assert torch.equal(value, before[name])


def test_a_search_that_would_take_minutes_is_refused(both):
    with pytest.raises(RequestError, match="must be at most 10,000, got 400 times 26") as error:
        both[0].inspect(InputRequest(26, text="the " * 400))
    assert error.value.status == 413


# --- what can be asked --------------------------------------------------------------------------


def test_addresses_that_can_be_answered():
    assert parse_query("", 8, 5) == InputRequest(8, number=0)
    assert parse_query("", 8, 0) == InputRequest(8)
    assert parse_query("sentence=5&width=64", 8, 5) == InputRequest(64, number=4)
    assert parse_query("text=%E2%82%AC+a&right=&width=", 8, 5) == InputRequest(8, text="\u20ac a")
    assert parse_query("text=a&right=b", 8, 0) == InputRequest(8, text="a", right="b")


@pytest.mark.parametrize(
    ("query", "size", "status", "sentence"),
    [
        ("sentence=abc", 5, 400, "`sentence` must be a whole number from 1 to 5, got 'abc'"),
        ("sentence=0", 5, 400, "from 1 to 5"),
        ("sentence=6", 5, 400, "from 1 to 5"),
        ("sentence=\u0663", 5, 400, "from 1 to 5"),
        ("sentence=1", 0, 400, "`sentence` needs a file"),
        ("width=-1", 5, 400, "`width` must be a whole number from 1 to 64, got '-1'"),
        ("width=1e9", 5, 400, "from 1 to 64"),
        ("width=" + "9" * 5000, 5, 400, "from 1 to 64"),
        ("text=%zz", 5, 400, "two hexadecimal digits"),
        ("text=%", 5, 400, "two hexadecimal digits"),
        ("text=%ff", 5, 400, "UTF-8"),
        ("text=%ed%a0%80", 5, 400, "UTF-8"),
        ("text=a%00b", 5, 400, "control characters"),
        ("text=a%1b%5b31m", 5, 400, "control characters"),
        ("text=a&right=%00", 5, 400, "right output must not have control characters"),
        ("text=" + "a" * 2001, 5, 413, "2,000 characters and 500 words, got 2,001 and 1"),
        ("text=" + "a+" * 501, 5, 413, "500 words"),
        ("right=a", 5, 400, "`right` needs a `text`"),
        ("text=a&sentence=1", 5, 400, "got both"),
        ("width=1&width=2", 5, 400, "once"),
        ("sentenc=1", 5, 400, "Did you mean 'sentence'"),
        ("text=" + "a" * 60_000, 5, 414, "50,000 characters after the question mark"),
    ],
)
def test_addresses_that_cannot(query, size, status, sentence):
    with pytest.raises(RequestError, match=sentence) as error:
        parse_query(query, 8, size)
    assert error.value.status == status


# --- the page -----------------------------------------------------------------------------------


def test_what_the_page_shows(both):
    for number in range(both[0].size):
        found = inspect_input(both, InputRequest(2, number=number))
        text = html.unescape(page(both, [found]))
        for name, seen in found.searches.items():
            assert name in text
            assert seen.outcome in text
            assert seen.diagnosis is None or seen.diagnosis in text
            for drop in seen.drops:
                assert drop.cause in text
        assert found.difference in text
        assert "<form" not in text


def test_data_on_the_page_is_text(both):
    found = inspect_input(both, InputRequest(2, text=NASTY))
    found.searches["one"] = replace(
        found.searches["one"], subject=Subject(None, NASTY, right="<b> <b>")
    )
    text = page(both, [found], message=NASTY)
    assert "<img" not in text
    assert "<b>\n" not in text
    assert html.escape(NASTY) in text


def test_a_picture_that_is_too_large_is_left_out(both, monkeypatch):
    monkeypatch.setattr("beamlearn.reports.inspector.page.DRAWN", 3)
    text = page(both, [inspect_input(both, InputRequest(2, number=0))])
    assert "too large for a browser" in text
    assert '<figure class="search"' not in text


# --- the command --------------------------------------------------------------------------------


def test_text_tells_every_hypothesis(folder, capsys):
    assert beamlearn(["inspect", str(folder / "one"), "--text", "--sentence", "2"]) == 0
    text = capsys.readouterr().out
    (run,) = inspected(folder, "one")
    seen = run.inspect(InputRequest(3, number=1))
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert "Input 2 of 9" in text
    assert seen.outcome.split(",")[0] in " ".join(text.split())
    lines = text.splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith("step"))
    rows = [line for line in lines[begin + 1 :] if line[:1].isdigit() or line[:5] == "     "]
    assert len(rows) >= sum(map(len, seen.history.beams)) + len(seen.history.drops)


def test_text_of_the_typed_is_safe_for_terminals(folder, capsys):
    words = "[bold]the[/bold] \u4f60\u597d"
    arguments = ["inspect", str(folder / "one"), "--text", "--width", "2", "--typed", words]
    assert beamlearn([*arguments, "--right", "DET NOUN"]) == 0
    text = capsys.readouterr().out
    assert words in text
    assert beamlearn([*arguments[:-1], "a\x1b[31m"]) == 2
    assert "control characters" in capsys.readouterr().err


def test_two_runs_as_text(folder, capsys):
    one, two = folder / "one", folder / "two"
    assert beamlearn(["inspect", str(one), "--against", str(two), "--text"]) == 0
    text = capsys.readouterr().out
    assert text.count("beam of 3") == 2
    assert "They differ" in text or "same output" in text


def test_export_writes_one_page(folder, tmp_path):
    out = tmp_path / "page.html"
    arguments = ["--sentence", "2-4", "--export", str(out), "--against", str(folder / "two")]
    assert beamlearn(["inspect", str(folder / "one"), *arguments]) == 0
    text = out.read_text(encoding="utf-8")
    assert [f"Input {number} of 9" in text for number in range(1, 6)] == [0, 1, 1, 1, 0]
    assert text.count('<figure class="search"') == 6
    assert "<form" not in text
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_a_file_that_is_named(folder, capsys):
    file = folder / "data" / "train.conllu"
    assert beamlearn(["inspect", str(folder / "one"), str(file), "--text"]) == 0
    assert "Input 1 of 12" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--sentence", "0"], "--sentence must be a number from 1 to 9"),
        (["--sentence", "3-1"], "--sentence must be a number from 1 to 9"),
        (["--sentence", "x"], "--sentence must be a number from 1 to 9"),
        (["--right", "D"], "--right goes with --typed"),
        (["--typed", "a", "--sentence", "1"], "--sentence or --typed"),
        (["--typed", "the dog", "--right", "DET"], "Expected a right tag for each of the 2 words"),
        (["--typed", ""], "Expected words with spaces between them"),
        (["--export", "x.html"], "--text or --export"),
        (["--column", "upos"], "--column is for reading INPUT, got none"),
        (["--references", "one"], "--references is no option for the task"),
        (["no-such-file.conllu"], "There is no such file"),
    ],
)
def test_what_the_command_refuses(folder, capsys, arguments, sentence):
    assert beamlearn(["inspect", str(folder / "one"), "--text", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_runs_that_cannot_be_compared(folder, capsys):
    one = str(folder / "one")
    arguments = ["inspect", one, "--text", "--against"]
    assert beamlearn([*arguments, str(folder / "sounds")]) == 2
    assert "must be a run of the same task" in capsys.readouterr().err
    assert beamlearn([*arguments, one]) == 2
    assert "must be another run" in capsys.readouterr().err
    assert beamlearn(["inspect", one, "-", "--text", "--against", str(folder / "two")]) == 2
    assert "INPUT must be a file" in capsys.readouterr().err


def test_a_run_without_a_file_can_be_given_an_input(folder, capsys):
    run = ["inspect", str(folder / "sounds"), "--text"]
    assert beamlearn(run) == 2
    assert "INPUT or --typed must be given" in capsys.readouterr().err
    assert beamlearn([*run, "--sentence", "1"]) == 2
    assert "sounds has no validation file" in " ".join(capsys.readouterr().err.split())
    assert beamlearn([*run, "--typed", "abba", "--right", "a-b-a"]) == 2
    assert "of 'a-b-a' it knows none" in " ".join(capsys.readouterr().err.split())
    assert beamlearn([*run[:2], str(folder / "train.tsv"), "--text", "--typed", "abba"]) == 2
    assert "INPUT or --typed can be given, got both" in capsys.readouterr().err
    assert beamlearn([*run, "--typed", "abba", "--right", "a b: a"]) == 0
    assert "a b: a" in capsys.readouterr().out


def test_what_is_typed_needs_no_file(folder, tmp_path, capsys):
    shutil.copytree(folder / "one", tmp_path / "run")
    (tmp_path / "dev.conllu").write_text("damaged\n")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    config["data"]["dev"] = str(tmp_path / "dev.conllu")
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))
    run = ["inspect", str(tmp_path / "run"), "--text"]
    assert beamlearn(run) == 2
    assert "dev.conllu:1" in capsys.readouterr().err
    assert beamlearn([*run, "--typed", "the dog"]) == 0
    assert "input the dog" in " ".join(capsys.readouterr().out.split())


def test_a_server_needs_its_packages(folder, capsys, monkeypatch):
    monkeypatch.setattr("beamlearn.web.listening.find_spec", lambda name: None)
    assert beamlearn(["inspect", str(folder / "one"), "--no-open"]) == 2
    assert "pip install 'beamlearn[pages]'" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert beamlearn(["inspect", str(folder / "one"), "--text"]) == 0


def test_several_inputs_are_not_served(folder, capsys):
    assert beamlearn(["inspect", str(folder / "one"), "--no-open", "--sentence", "1-3"]) == 2
    assert "must be one number where a page is served" in capsys.readouterr().err
