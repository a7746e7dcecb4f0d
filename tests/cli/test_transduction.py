import gzip
import io
import json
import re
import shutil
import sys

import pytest
from tiny_pairs import MODELS, NETWORK, pairs, sources, tsv

from beamlearn import BeamTransducer
from beamlearn.cli.main import run

SIZES = {**NETWORK, "size": 16, "dropout": 0.0}
SMALL = [
    text for name, value in SIZES.items() for text in (f"--{name.replace('_', '-')}", str(value))
]


@pytest.fixture(autouse=True, scope="module")
def quick(module_without_shape_checks):
    """The command line runs without the tests' shape checks, as for users."""


def beamlearn(*arguments):
    return run([str(argument) for argument in arguments])


def train(folder, *arguments, text=None, words=True):
    path, out = folder / "train.tsv", folder / "run"
    path.write_text(tsv(pairs(30)) if text is None else text, encoding="utf-8")
    learning = ["--epochs", 1, "--learning-rate", 0.03, "--batch-size", 4, "--width", 3]
    tokens = ["--target-tokens", "words"] if words else []
    return beamlearn(
        "train", "transduce", "--train", path, "--out", out, *learning, *tokens, *SMALL, *arguments
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    assert train(folder, "--epochs", 5) == 0
    return folder / "run"


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "new.txt"
    path.write_text("abc\n\nno such\nabc\tignored\tthis, too\n", encoding="utf-8")
    return path


def one_sentence(capsys):
    told = capsys.readouterr().err
    assert "Traceback" not in told
    return " ".join(told.split())


def test_every_setting_is_an_option(capsys, monkeypatch):
    from beamlearn.tasks.transduction.settings import TransducerSettings

    monkeypatch.setenv("COLUMNS", "160")
    assert beamlearn("train", "transduce", "--help-all") == 0
    text = capsys.readouterr().out
    assert "beamlearn train transduce --train" in text
    for name in (*TransducerSettings.model_fields, "epochs", "train", "references"):
        assert f"--{name.replace('_', '-')}" in text


def test_training_says_how_good_it_is(tmp_path, capsys):
    assert train(tmp_path) == 0
    told = capsys.readouterr().err
    assert "27 pairs, source symbols: 4, target tokens: 8, " in told
    assert "validation wrong outputs " in told
    assert "validation, beam 1: wrong outputs " in told
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["task"] == "transduce"
    assert [result["width"] for result in metrics["results"]] == [1, 3]


def test_a_beam_for_what_is_meant_without_one(tmp_path, capsys):
    assert train(tmp_path, "--algorithm", "log_likelihood") == 0
    assert "log_likelihood is meant for a beam of 1, and is trained with one of 3" in (
        one_sentence(capsys)
    )


def test_a_training_that_is_over_says_so(tmp_path, capsys):
    assert train(tmp_path) == 0
    assert "is over" not in one_sentence(capsys)
    assert beamlearn("train", "transduce", "--out", tmp_path / "run", "--resume") == 0
    told = one_sentence(capsys)
    assert f"The training in {tmp_path / 'run'} is over. To train further, begin another" in told


def test_training_from_standard_input_cannot_be_resumed(tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("beamlearn.cli.jobs.train.train_model", interrupted)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(tsv(pairs(30)).encode())))
    given = ["--train", "-", "--out", tmp_path / "run", "--target-tokens", "words", *SMALL]
    assert beamlearn("train", "transduce", *given) == 130
    told = one_sentence(capsys)
    assert "if it is interrupted, it has to start over" in told
    assert "Interrupted. It has to start over." in told


def test_files_alone_are_enough(tmp_path):
    """The defaults are of a size for real data, so there are few pairs."""
    (tmp_path / "t.tsv").write_text("a\tx\nab\txy\n")
    out = tmp_path / "run"
    assert beamlearn("train", "transduce", "--train", tmp_path / "t.tsv", "--out", out) == 0
    config = json.loads((out / "config.json").read_text())
    assert config["transducer"]["target_tokens"] == "characters"
    assert config["learning"]["algorithm"] == "joint"


# --- predict -------------------------------------------------------------------------------------


def test_a_line_is_source_tab_output(trained, lines, capsys):
    assert beamlearn("predict", trained, lines) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["abc", "", "no such", "abc"]
    assert all(len(row) == 2 for row in rows)
    assert rows[0] == rows[3]
    assert [row[1] for row in rows] == BeamTransducer.load(trained).predict([r[0] for r in rows])


def test_a_source_may_be_given_as_text(trained, lines, capsys):
    assert beamlearn("predict", trained, "--text", "abc", "--text", "no such\nd") == 0
    assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == [
        "abc",
        "no such",
        "d",
    ]
    assert beamlearn("predict", trained, lines) == 0
    whole = capsys.readouterr().out
    assert beamlearn("predict", trained, lines, "--flush") == 0
    assert capsys.readouterr().out == whole


def test_a_source_that_does_not_fit_stands_alone(trained, tmp_path, capsys):
    path = tmp_path / "long.txt"
    path.write_text("abc\n" + "abcd" * 500 + "\nd\n")
    assert beamlearn("predict", trained, path, "--max-memory", 0.005) == 2
    out, told = capsys.readouterr()
    assert [line.count("\t") for line in out.splitlines()] == [1, 0, 1]
    assert f"{path}:2: A search may need 0.005 GB of memory" in " ".join(told.split())
    assert beamlearn("predict", trained, path, "--max-memory", 0.005, "--json") == 2
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["output"] is None for record in records] == [False, True, False]


def test_annotated_words_are_no_sources(trained, tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("# text = a\n1\ta" + "\t_" * 8 + "\n\n")
    assert beamlearn("predict", trained, path) == 2
    assert "one source on each line, but this is a CoNLL-U file" in one_sentence(capsys)


def test_n_best_lists_are_lines(trained, lines, tmp_path):
    out = tmp_path / "out.tsv"
    assert beamlearn("predict", trained, lines, "--nbest", 4, "-o", out) == 0
    rows = [line.split("\t") for line in out.read_text(encoding="utf-8").splitlines()]
    found = BeamTransducer.load(trained).predict_nbest(["abc", "", "no such", "abc"], n=4)
    assert [row[0] for row in rows] == ["abc"] * 4 + [""] * 4 + ["no such"] * 4 + ["abc"] * 4
    assert [row[1] for row in rows] == [way.output for ways in found for way in ways]
    for row, way in zip(rows, [way for ways in found for way in ways], strict=True):
        assert float(row[2]) == pytest.approx(way.score, abs=1e-5)
        assert float(row[3]) == pytest.approx(way.probability, abs=1e-5)


@pytest.mark.parametrize("nbest", [None, 2])
def test_json_lines(trained, lines, capsys, nbest):
    asked = [] if nbest is None else ["--nbest", nbest]
    assert beamlearn("predict", trained, lines, "--json", *asked) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["source"] for record in records] == ["abc", "", "no such", "abc"]
    for record in records:
        assert list(record) == ["source", "output", "confidence", "nbest"]
        assert len(record["nbest"]) == (nbest or 1)
        best = record["nbest"][0]
        assert list(best) == ["output", "score", "probability"]
        assert (best["output"], best["probability"]) == (record["output"], record["confidence"])


def test_standard_input_and_gzip(trained, lines, tmp_path, monkeypatch, capsys):
    data = lines.read_bytes()
    packed = tmp_path / "new.txt.gz"
    packed.write_bytes(gzip.compress(data))
    told = []
    for source, given in ((lines, b""), (packed, b""), ("-", data), ("-", gzip.compress(data))):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        assert beamlearn("predict", trained, source) == 0
        told.append(capsys.readouterr().out)
    assert len(set(told)) == 1
    assert beamlearn("predict", trained, lines, "-o", tmp_path / "out.tsv.gz") == 0
    assert gzip.decompress((tmp_path / "out.tsv.gz").read_bytes()).decode() == told[0]


def test_what_is_read_is_not_replaced(trained, lines, capsys):
    before = lines.read_bytes()
    assert beamlearn("predict", trained, lines, "-o", lines) == 2
    assert "--output must be another file than INPUT" in one_sentence(capsys)
    assert lines.read_bytes() == before


def samples(capsys, *arguments):
    assert beamlearn("predict", *arguments) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_samples(trained, lines, capsys):
    """Different outputs with their weights, the likeliest not always first."""
    found = samples(capsys, trained, lines, "--sample", 4)
    assert [record["source"] for record in found] == ["abc", "", "no such", "abc"]
    for record in found:
        outputs = [way["output"] for way in record["sample"]]
        assert len(set(outputs)) == len(outputs) == 4
        for way in record["sample"]:
            assert way["weight"] == pytest.approx(way["probability"] / way["inclusion"])
    assert found[0]["sample"] != found[3]["sample"]  # another number, another draw


def test_the_sample_of_a_line_depends_on_its_number_and_the_seed(trained, lines, tmp_path, capsys):
    found = samples(capsys, trained, lines, "--sample", 3)
    assert samples(capsys, trained, lines, "--sample", 3, "--seed", 0) == found
    assert samples(capsys, trained, lines, "--sample", 3, "--seed", 1) != found
    outputs = [[way["output"] for way in record["sample"]] for record in found]
    (tmp_path / "others.txt").write_text("d\nlonger than that\n\nabc\n", encoding="utf-8")
    for source, options in ((tmp_path / "others.txt", []), (lines, ["--flush"])):
        again = samples(capsys, trained, source, "--sample", 3, *options)[3]
        assert [way["output"] for way in again["sample"]] == outputs[3]
        for one, two in zip(again["sample"], found[3]["sample"], strict=True):
            assert one["weight"] == pytest.approx(two["weight"], rel=1e-4)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--seed", 1], "--seed goes with --sample, got it alone"),
        (["--sample", 2, "--nbest", 2], "--nbest goes with the best outputs, but --sample draws"),
        (["--sample", 2, "--width", 2], "--width goes with the best outputs, but --sample draws"),
    ],
)
def test_options_beside_a_sample(trained, lines, options, told, capsys):
    assert beamlearn("predict", trained, lines, *options) == 2
    assert told in one_sentence(capsys)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--normalize", "none"], "--normalize log_softmax, got None; train one"),
        (["--length-bonus", 0.5], "--length-bonus 0.0, got 0.5; train one"),
    ],
)
def test_samples_need_log_probabilities(options, told, lines, tmp_path, capsys):
    assert train(tmp_path, *options) == 0
    capsys.readouterr()
    assert beamlearn("predict", tmp_path / "run", lines, "--sample", 2) == 2
    assert told in one_sentence(capsys)


def test_nothing_to_predict(trained, tmp_path, capsys):
    (tmp_path / "empty").write_text("")
    for options in ([], ["--nbest", 2], ["--json"]):
        assert beamlearn("predict", trained, tmp_path / "empty", *options) == 0
        assert capsys.readouterr().out == ""


def test_marks_and_ends_of_lines(trained, tmp_path, capsys):
    (tmp_path / "dos.txt").write_bytes("\ufeffabc\r\nab\r\n".encode())
    assert beamlearn("predict", trained, tmp_path / "dos.txt") == 0
    text = capsys.readouterr().out
    assert [line.split("\t")[0] for line in text.split("\n")] == ["abc", "ab", ""]
    assert "\r" not in text


def test_outputs_that_no_line_can_hold(tmp_path, capsys):
    """They cannot come from files, but from lists in Python."""
    small = {"size": 8, "width": 2, "epochs": 8, "batch_size": 1, "learning_rate": 0.05}
    path = tmp_path / "new.txt"
    path.write_text("b\na\n")
    estimator = BeamTransducer(**small, dropout=0, length_factor=0, length_extra=1)
    estimator.fit(["a"] * 5, ["\t"] * 5)
    estimator.save(tmp_path / "run")
    assert estimator.predict(["a"]) == ["\t"]
    assert beamlearn("predict", tmp_path / "run", path) == 2
    assert "An output must have no tabs and line ends to be written" in one_sentence(capsys)
    assert beamlearn("predict", tmp_path / "run", path, "--json") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[1])["output"] == "\t"


@pytest.mark.parametrize("model", MODELS)
def test_long_sources(tmp_path, capsys, model):
    assert train(tmp_path, "--model", model, "--length-factor", 0, "--length-extra", 8) == 0
    path = tmp_path / "long.txt"
    path.write_text("abcd" * 500 + "\nab\n")
    capsys.readouterr()
    assert beamlearn("predict", tmp_path / "run", path) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [len(row[0]) for row in rows] == [2000, 2]
    assert all(len(row[1].split()) <= 8 for row in rows)


# --- evaluate ------------------------------------------------------------------------------------


def test_evaluate(trained, tmp_path, capsys):
    path = tmp_path / "test.tsv"
    path.write_text(tsv(pairs(8, seed=1)))
    assert beamlearn("evaluate", trained, path, "--width", "1,4") == 0
    table = capsys.readouterr().out
    for label in (
        "wrong outputs",
        "token errors",
        "no right output in the beam",
        "BLEU",
        "chrF",
        "cost increases / source",
        "search errors",
        "calibration error",
        "sources/s",
        "tokens/s",
    ):
        assert label in table
    assert beamlearn("evaluate", trained, path, "--width", "1,4", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["task"], found["examples"]) == ("transduce", 8)
    assert [result["width"] for result in found["results"]] == [1, 4]
    names = "wer cer bleu chrf cost oracle_wer increases_per_example search_error_rate"
    for result in found["results"]:
        assert {*names.split(), "calibration_error", "words_per_second"} <= result.keys()


def test_references_of_an_evaluation(trained, tmp_path, capsys):
    outputs = BeamTransducer.load(trained).predict(sources(6))
    path = tmp_path / "test.tsv"
    text = "".join(
        f"{one}\ta\n{one}\t{two}\n" for one, two in zip(sources(6), outputs, strict=True)
    )
    path.write_text(text)

    def found(*options):
        assert beamlearn("evaluate", trained, path, "--width", 3, "--json", *options) == 0
        told = json.loads(capsys.readouterr().out)
        return told["examples"], told["results"][0]["wer"]

    assert found()[0] == found("--references", "one")[0] == 12
    assert found()[1] > 0
    assert found("--references", "merged") == (len(set(sources(6))), 0)
    path.write_text("".join(f"{a}\ta\t{b}\n" for a, b in zip(sources(6), outputs, strict=True)))
    assert beamlearn("evaluate", trained, path) == 2
    assert "test.tsv:1: A line must have one tab" in one_sentence(capsys)
    assert found("--references", "several") == (6, 0)
    assert beamlearn("evaluate", trained, path, "--references", "many") == 2
    assert "Known: one, several, merged." in one_sentence(capsys)


def test_targets_of_another_kind_are_not_evaluated(trained, tmp_path, capsys):
    path = tmp_path / "other.tsv"
    path.write_text("ab\tA B\nb\tB\n")
    assert beamlearn("evaluate", trained, path) == 2
    told = one_sentence(capsys)
    assert "other.tsv: Expected target tokens such as '" in told
    assert "got 'A', 'B', of which the model knows none; use a file with targets like" in told
    path.write_text("ab\tA a\n")
    assert beamlearn("evaluate", trained, path) == 0
    path.write_text("ab\t\n")
    assert beamlearn("evaluate", trained, path) == 0


def test_other_options_are_refused(trained, tmp_path, capsys):
    path = trained.parent / "train.tsv"
    for option in ("--column", "--layout"):
        for command in ("predict", "evaluate"):
            assert beamlearn(command, trained, path, option, "upos") == 2
            assert one_sentence(capsys).endswith("which is 'transduce'; leave it out.")
    assert beamlearn("predict", trained, path, "--references", "one") == 2
    assert "No such option" in one_sentence(capsys)


# --- what can be wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "train.tsv: The file must have at least one pair, got none."),
        ("a b\nc d\n", "train.tsv: Every line must have a source and a target with a tab between"),
        ("a\tx\nb x\n", "train.tsv:2: A line must have a tab between source and target, but 'b x'"),
        ("a\tx\nb\ty\tz\n", "train.tsv:2: A line must have one tab, between source and target"),
        ("a\tx\n\nb\ty\n", "train.tsv:2: A line must have a source and a target with a tab"),
    ],
)
def test_wrong_lines_are_answered_with_file_and_line(trained, tmp_path, capsys, text, sentence):
    assert train(tmp_path, text=text) == 2
    assert sentence in one_sentence(capsys)
    assert not (tmp_path / "run").exists()
    assert beamlearn("evaluate", trained, tmp_path / "train.tsv") == 2
    assert sentence in one_sentence(capsys)


def test_other_wrong_input(tmp_path, capsys):
    for text, arguments, sentence in (
        ("a\tx\nb\t" + "y " * 9 + "\n", [], "train.tsv:2: A target may have 6 tokens, as length_"),
        (
            "a\tx\n",
            [],
            "examples are needed, got 1; name a validation file. (See --dev.)",
        ),
        ("a\t\nb\t\n", [], "The targets of the training data must have a token that occurs"),
        (None, ["--target-tokens", "wods"], "There is no kind of tokens called 'wods'. Did you"),
        (None, ["--target-tokens", "no.model"], "no.model: There is no such file"),
        (None, ["--model", "gru"], "'lstm' or 'transformer', got 'gru'"),
        (None, ["--cost", "bleu", "--insertion", 2], "--insertion is only for --cost edit, got"),
        (None, ["--model", "transformer", "--heads", 3], "--heads must divide --size"),
        (None, ["--dev", tmp_path / "none.tsv"], "none.tsv: There is no such file"),
    ):
        assert train(tmp_path, *arguments, text=text) == 2
        assert sentence in one_sentence(capsys)
        assert not (tmp_path / "run").exists()


def test_empty_sources_and_targets_are_data(tmp_path, capsys):
    assert train(tmp_path, text="\tx\na\t\nb\ty\n\t\n" * 3) == 0
    capsys.readouterr()
    assert beamlearn("evaluate", tmp_path / "run", tmp_path / "train.tsv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["examples"] == 12


def test_several_references(tmp_path, capsys):
    text = tsv(pairs(12, several=True))
    assert train(tmp_path, "--references", "several", text=text) == 0
    capsys.readouterr()
    assert beamlearn("evaluate", tmp_path / "run", tmp_path / "train.tsv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["examples"] == 12


def test_resume_needs_no_more_than_the_folder(trained, tmp_path, capsys):
    shutil.copytree(trained, tmp_path / "run")
    model = (trained / "model.safetensors").read_bytes()
    again = ["train", "transduce", "--out", tmp_path / "run", "--resume"]
    assert beamlearn(*again) == 0
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == model
    capsys.readouterr()
    assert beamlearn(*again, "--cost", "hamming") == 2
    assert "--cost was 'edit' when the training" in one_sentence(capsys)
    assert beamlearn("train", "tag", "--out", tmp_path / "run", "--resume") == 2
    assert "must be 'tag', got 'transduce'" in one_sentence(capsys)


@pytest.mark.slow
def test_any_metric_by_roll_outs(tmp_path, capsys, monkeypatch):
    (tmp_path / "wrong_lengths.py").write_text(
        "def cost(output, reference):\n    return abs(len(output) - len(reference))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    options = ["--beam-start", 0, "--roll-outs", 2, "--width", 2, "--length-factor", 1]
    assert train(tmp_path, "--cost", "rollout:wrong_lengths:cost", *options) == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["learning"]["roll_out"] == "learned"
    monkeypatch.delitem(sys.modules, "wrong_lengths")
    (tmp_path / "wrong_lengths.py").unlink()
    assert beamlearn("predict", tmp_path / "run", "--text", "abc") == 0  # no code of others runs
    capsys.readouterr()
    assert beamlearn("evaluate", tmp_path / "run", tmp_path / "train.tsv") == 2
    assert "must name a function that can be imported" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["lols", "aggrevate", "scheduled_sampling", "max_violation"])
def test_the_rest_of_the_family(algorithm, tmp_path):
    options = ["--width", 2 if algorithm == "max_violation" else 1, "--roll-outs", 3]
    assert train(tmp_path, "--algorithm", algorithm, *options) == 0


def test_a_metric_that_fails_is_named_with_its_example(tmp_path, capsys, monkeypatch):
    (tmp_path / "failing.py").write_text("def cost(output, reference):\n    return 1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert train(tmp_path, "--cost", "rollout:failing:cost", "--beam-start", 0) == 2
    said = capsys.readouterr().err
    assert re.search(r"--cost failed \(ZeroDivisionError.*\) for the output '.*' of '\w+'\.", said)


def test_outputs_match_a_pattern(trained, lines, tmp_path, capsys):
    out = tmp_path / "out.tsv"
    pattern = ["--pattern", "(a|k)+ b?"]
    assert beamlearn("predict", trained, lines, "-o", out, "--nbest", 2, *pattern) == 0
    found = [line.split("\t")[1] for line in out.read_text(encoding="utf-8").splitlines()]
    assert found
    assert all(re.fullmatch("[ak]( [ak])*( b)?", output) for output in found)
    assert beamlearn("predict", trained, lines, "--sample", 3, *pattern) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(
        re.fullmatch("[ak]( [ak])*( b)?", way["output"]) for row in rows for way in row["sample"]
    )


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("(a", "--pattern must be a regular expression over the symbols of outputs, got '(a', "),
        ("q", "where 'q' is no symbol of outputs at character 1; name one that occurs in them."),
    ],
)
def test_a_bad_pattern(trained, lines, capsys, pattern, sentence):
    assert beamlearn("predict", trained, lines, "--pattern", pattern) == 2
    assert sentence in one_sentence(capsys)


def test_a_pattern_that_some_sources_have_no_room_for(trained, lines, capsys):
    """They are named, and the others are answered."""
    assert beamlearn("predict", trained, lines, "--pattern", "a{6}") == 2
    told = capsys.readouterr()
    assert "abc\ta a a a a a\n" in told.out
    shown = " ".join(told.err.split())
    assert ":2: The output may have 4 tokens, but the shortest one that matches --pattern" in shown


def test_another_pattern_is_another_run(trained, tmp_path, capsys, monkeypatch):
    from beamlearn.prediction import outputs

    def killed(self, answer, end, own=outputs.Output.take):
        own(self, answer, end)
        raise KeyboardInterrupt

    path, out = tmp_path / "in.txt", tmp_path / "out.tsv"
    path.write_text("abc\n" * 3, encoding="utf-8")
    asked = ["predict", trained, path, "-o", out, "--window", 1]
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "SECONDS", 0.0)
        patch.setattr(outputs.Output, "take", killed)
        assert beamlearn(*asked, "--pattern", "a b") == 130
    for other in (["--pattern", "a"], []):
        assert beamlearn(*asked, *other, "--resume") == 2
        assert "to begin again, remove" in one_sentence(capsys)
    assert beamlearn(*asked, "--pattern", "a b", "--resume") == 0
    assert out.read_text(encoding="utf-8") == "abc\ta b\n" * 3
