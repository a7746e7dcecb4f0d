import errno
import io
import json
import re
import subprocess
import sys

import pytest
from shared_data import shared

from beamlearn.cli.main import run
from beamlearn.data import atomic
from beamlearn.tasks import decoding_width
from beamlearn.training.run import Run

COMMENTED = """\
# sent_id = 1
# text = Don't stop New York
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tstop\tstop\tVERB\tVB\t_\t0\troot\t_\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t3:dep\t_
4\tNew York\tNew York\tPROPN\tNNP\tNumber=Sing\t3\tobj\t_\tGloss=city

# a comment between
1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_

"""
SMALL = ["--word-size", "8", "--affix-size", "8", "--history-size", "8", "--encoder-size", "8"]


@pytest.fixture(autouse=True)
def quick(no_shape_checks):
    """The command line runs without the tests' shape checks, as for users."""


def beamlearn(*arguments):
    return run([str(argument) for argument in arguments])


def train(folder, *arguments, text=COMMENTED * 6, name="train.conllu"):
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    out = folder / "run"
    return beamlearn(
        "train", "tag", "--train", path, "--out", out, "--epochs", 2, *SMALL, *arguments
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    assert train(folder) == 0
    return folder / "run"


def test_samples(trained, tmp_path, capsys):
    source = tmp_path / "new.conllu"
    source.write_text(COMMENTED, encoding="utf-8")
    assert beamlearn("predict", trained, source, "--sample", 3) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["words"] == ["Do", "n't", "stop", "New York"]
    assert all(len(way["tags"]) == 4 for way in first["sample"])
    assert len({tuple(way["tags"]) for way in first["sample"]}) == 3
    assert len(second["sample"][0]["tags"]) == 1
    assert all(0 < way["inclusion"] <= 1 for way in first["sample"])


def test_help_has_an_example_for_every_command(capsys):
    for command in (["train", "tag"], ["predict"], ["evaluate"], ["demo"]):
        assert beamlearn(*command, "--help") == 0
        assert f"beamlearn {' '.join(command)}" in capsys.readouterr().out
    assert beamlearn("--help") == 0
    assert beamlearn("--version") == 0
    assert "beamlearn 0." in capsys.readouterr().out


def test_every_setting_is_an_option(capsys):
    from beamlearn.tasks.tagging.settings import TaggerSettings, TaggingFiles
    from beamlearn.training.settings import Learning

    beamlearn("train", "tag", "--help-all")
    text = capsys.readouterr().out
    for model in (TaggingFiles, Learning, TaggerSettings):
        for name in model.model_fields:
            assert f"--{name.replace('_', '-')}" in text


def test_training_writes_a_run_folder(trained):
    names = {path.name for path in trained.iterdir()}
    assert {
        "config.json",
        "vocabulary.json",
        "rounds.jsonl",
        "model.safetensors",
        "metrics.json",
        "checkpoint",
    } <= names
    lines = [json.loads(line) for line in (trained / "rounds.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines if "epoch" in line] == [1, 2]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_predict_changes_the_predicted_column_alone(trained, tmp_path, line_end, mark):
    text = mark + COMMENTED.replace("\n", line_end)
    source, target = tmp_path / "in.conllu", tmp_path / "out.conllu"
    source.write_bytes(text.encode())
    assert beamlearn("predict", trained, source, "-o", target) == 0
    written = target.read_bytes().decode()
    assert len(written.split("\n")) == len(text.split("\n"))
    for before, after in zip(text.split("\n"), written.split("\n"), strict=True):
        one, two = before.split("\t"), after.split("\t")
        assert one[:3] + one[4:] == two[:3] + two[4:]
        assert one[0].isdigit() or one == two


def test_predict_reads_standard_input(trained, monkeypatch, capsys):
    bytes_in = io.TextIOWrapper(io.BytesIO(COMMENTED.encode()))
    monkeypatch.setattr(sys, "stdin", bytes_in)
    assert beamlearn("predict", trained, "-", "--width", 2) == 0
    assert capsys.readouterr().out.count("\n") == COMMENTED.count("\n")


def test_predict_lists_the_n_best(trained, tmp_path, capsys):
    source = tmp_path / "in.conllu"
    source.write_text(COMMENTED)
    assert beamlearn("predict", trained, source, "--nbest", 3) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert first["words"] == ["Do", "n't", "stop", "New York"]
    assert len(first["nbest"]) == 3
    assert first["nbest"][0]["tags"] == first["tags"]
    assert first["nbest"][0]["probability"] >= first["nbest"][1]["probability"]
    assert all(0 < value <= 1 for value in first["confidence"])


def test_predict_empty_input(trained, tmp_path, capsys):
    source = tmp_path / "in.conllu"
    source.write_text("")
    assert beamlearn("predict", trained, source) == 0
    assert capsys.readouterr().out == ""


def test_predict_words_alone_in_a_column_file(trained, tmp_path, capsys):
    source = tmp_path / "in.txt"
    source.write_text("Go\n\nDo\nn't\n")
    assert beamlearn("predict", trained, source) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["Go", "", "Do", "n't"]
    assert all(len(line.split("\t")) == 2 for line in lines if line)


@pytest.mark.parametrize("source", ["text", "lines"])
def test_predict_splits_plain_text(trained, tmp_path, capsys, source):
    path = tmp_path / "in.txt"
    path.write_text("Do stop!\n\nGo\n")
    given = ["--text", "Do stop!", "--text", "Go"]
    given = given if source == "text" else [path, "--layout", "lines"]
    assert beamlearn("predict", trained, *given) == 0
    out, told = capsys.readouterr()
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[0] for row in rows] == ["Do", "stop", "!", "", "Go", ""]
    assert {len(row) for row in rows if row[0]} == {2}
    assert told.endswith(
        "The text is split into words and punctuation marks (--tokenizer chooses another way).\n"
    )
    assert beamlearn("predict", trained, *given, "--tokenizer", "blanks", "--json") == 0
    out, told = capsys.readouterr()
    assert [json.loads(line)["words"] for line in out.splitlines()] == [["Do", "stop!"], ["Go"]]
    assert told.endswith("The text is split at blanks.\n")


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("The dog barks\n", "'The dog barks'"),
        ("The dog barks\nIt barks\n", None),
        ("dog\tD AO G\ncat\tK AE T\n", r"'dog\tD AO G'"),
    ],
)
def test_predict_refuses_what_is_no_column_of_words(trained, tmp_path, capsys, text, got):
    path = tmp_path / "in.txt"
    path.write_text(text)
    assert beamlearn("predict", trained, path) == 2
    out, told = capsys.readouterr()
    assert out == ""
    if got is None:
        assert "in.txt:2: Every line must have as many columns as the first, 3" in told
        assert "predict reads plain text with --layout lines" in told
        return
    assert (
        f"in.txt:1: Expected a word on each line, and maybe its tag, such as AUX, got {got}; "
        in told
    )
    assert "give --layout lines if each line is a sentence" in told
    assert beamlearn("predict", trained, path, "--layout", "columns") == 0


def test_predict_keeps_to_the_columns_of_training(tmp_path, capsys):
    text = "Anna x B-PER\nran y O\n\n" * 12
    assert train(tmp_path, "--column", 3, text=text, name="ner.txt") == 0
    path = tmp_path / "in.txt"
    for text, status in (
        ("Anna\nran\n", 0),
        ("Anna x\nran y\n", 0),
        ("Anna x O\n", 0),
        ("Anna x _\n", 0),
        ("Anna x z\n", 2),
    ):
        path.write_text(text)
        assert beamlearn("predict", tmp_path / "run", path) == status
    assert "such as B-PER, got 'Anna x z'" in capsys.readouterr().err


def test_single_characters_are_what_such_a_tagger_reads(tmp_path, capsys):
    assert train(tmp_path, "--column", 2, text="側\tB\n邊\tI\n\n" * 9, name="t.tsv") == 0
    (tmp_path / "in.txt").write_text("側邊冇\n人\n乜嘢\n")
    capsys.readouterr()
    assert beamlearn("predict", tmp_path / "run", tmp_path / "in.txt") == 2
    told = capsys.readouterr().err
    assert "in.txt:1: Expected one character on each line" in told
    assert "got '側邊冇'; give --layout lines" in told
    assert beamlearn("predict", tmp_path / "run", "--text", "側邊冇 人") == 0
    out, told = capsys.readouterr()
    assert [line[:1] for line in out.splitlines()] == ["側", "邊", "冇", "人", ""]
    assert "into characters, as every word of the training data is one character." in told


def test_every_sentence_is_answered_at_once(trained, capsys, monkeypatch):
    heard = []

    class Typed(io.RawIOBase):
        """Hears what was answered whenever another line is asked for."""

        lines = iter([b"Go\n", b"\n", b"Do\nstop\n", b"\n", b"Go\n"])

        def readable(self):
            return True

        def readinto(self, room):
            heard.append(capsys.readouterr().out)
            line = next(self.lines, b"")
            room[: len(line)] = line
            return len(line)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Typed())))
    assert beamlearn("predict", trained, "-", "--flush") == 0
    heard.append(capsys.readouterr().out)
    assert [part.split("\t")[0] for part in heard if part] == ["Go", "Do", "Go"]
    assert heard[2].startswith("Go\t")


def test_a_terminal_is_answered_at_once(monkeypatch):
    from beamlearn.cli.jobs.predict import is_live

    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert not is_live("-", "-", None)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    assert is_live("-", "-", None)
    assert not is_live("-", "-", False)
    assert not is_live("f", "-", None)
    assert not is_live("-", "f", None)


def test_a_sentence_that_does_not_fit_is_left_as_it_is(trained, tmp_path, capsys):
    path = tmp_path / "in.txt"
    path.write_text("Go\n\n" + "Do\n" * 300 + "\nGo\n")
    small = ["--max-memory", 0.001, "--width", 2]
    assert beamlearn("predict", trained, path, *small) == 2
    out, told = capsys.readouterr()
    lines = out.splitlines()
    assert [line.split("\t")[0] for line in lines] == path.read_text().splitlines()
    assert ["\t" in line for line in lines] == [True, *[False] * 302, True]
    assert "in.txt:3: A search may need 0.001 GB of memory" in told
    assert "or raise --max-memory." in told
    assert beamlearn("predict", trained, path, *small, "--json") == 2
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["tags"] is None for record in records] == [False, True, False]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Give a file as INPUT, or --text, got neither."),
        (["in.txt", "--text", "a"], "Give a file as INPUT, or --text, got both."),
        (["--text", "a", "--layout", "conllu"], "--layout must be lines with --text, got conllu"),
        (["-", "--flush", "-o", "f"], "--flush is only for standard output, got --output f"),
        (["--text", "a", "--tokenizer", "word"], "no tokenizer called 'word'. Did you mean"),
        (["in.txt", "--layout", "line"], "no layout called 'line'. Did you mean 'lines'"),
    ],
)
def test_what_predict_cannot_read(trained, capsys, arguments, sentence):
    assert beamlearn("predict", trained, *arguments) == 2
    assert sentence in capsys.readouterr().err


def test_evaluate_prints_one_json_object(trained, capsys):
    path = trained.parent / "train.conllu"
    assert beamlearn("evaluate", trained, path, "--width", "1,2", "--json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert found["task"] == "tag"
    assert found["examples"] == 12
    assert [result["width"] for result in found["results"]] == [1, 2]
    for result in found["results"]:
        assert {
            "accuracy",
            "cost",
            "increases_per_example",
            "search_error_rate",
            "calibration_error",
            "words_per_second",
        } <= result.keys()
        assert 0 <= result["accuracy"] <= 1


def test_evaluate_prints_a_table(trained, capsys):
    assert beamlearn("evaluate", trained, trained.parent / "train.conllu") == 0
    text = capsys.readouterr().out
    assert "beam 8" in text
    assert "unknown words" not in text or "%" in text


def test_bio_columns_have_span_f1_and_constraints(tmp_path, capsys):
    text = "Anna B-PER\nLee I-PER\nran O\n\n" * 20
    assert train(tmp_path, "--column", 2, "--constrained", text=text, name="ner.txt") == 0
    assert "span F1" in capsys.readouterr().err
    assert beamlearn("evaluate", tmp_path / "run", tmp_path / "ner.txt", "--json") == 0
    assert "f1" in json.loads(capsys.readouterr().out)["results"][0]


def test_constraints_need_bio(tmp_path, capsys):
    assert train(tmp_path, "--constrained") == 2
    assert "--constrained needs BIO tags" in capsys.readouterr().err
    assert not (tmp_path / "run" / "config.json").exists()


def test_resume_needs_no_more_than_the_folder(tmp_path, capsys):
    assert train(tmp_path) == 0
    model = (tmp_path / "run" / "model.safetensors").read_bytes()
    assert beamlearn("train", "tag", "--out", tmp_path / "run", "--resume") == 0
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == model
    assert beamlearn("train", "tag", "--out", tmp_path / "run", "--resume", "--width", 3) == 2
    assert "--width was" in capsys.readouterr().err


def test_settings_come_from_toml_and_the_command_line_wins(tmp_path):
    (tmp_path / "settings.toml").write_text(
        '[learning]\nalgorithm = "bso"\nepochs = 1\nwidth = "1:2"\n'
        '[tagger]\ncontext = "streaming"\n'
    )
    assert train(tmp_path, "--config", tmp_path / "settings.toml", "--width", 2) == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["learning"]["algorithm"] == "bso"
    assert config["learning"]["width"] == "2"
    assert config["learning"]["epochs"] == 2
    assert config["tagger"]["context"] == "streaming"


def test_the_linear_model_trains(tmp_path, capsys):
    assert train(tmp_path, "--model", "linear", "--buckets", 4096, "--learning-rate", 0.1) == 0
    path = tmp_path / "train.conllu"
    assert beamlearn("evaluate", tmp_path / "run", path, "--json", "--width", 2) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["accuracy"] > 0.9


def test_a_likelihood_model_is_a_warm_start(tmp_path, capsys):
    first = tmp_path / "first"
    assert train(tmp_path, "--algorithm", "log_likelihood") == 0
    (tmp_path / "run").rename(first)
    assert train(tmp_path, "--warm-start", first, "--dropout", 0.5) == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["tagger"]["normalize"] == "log_softmax"
    assert config["tagger"]["dropout"] == 0.5
    capsys.readouterr()
    (tmp_path / "run").rename(tmp_path / "second")
    assert train(tmp_path, "--warm-start", first, "--tag-size", 3) == 2
    assert "--tag-size must be 64 as in the run that is the warm start" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--loss", "log_los_beam"], "Did you mean 'log_loss_beam'"),
        (["--algorithm", "laso"], "There is no algorithm called 'laso'"),
        (
            ["--width", "0"],
            "--width must be a whole number of at least 1, or two as in",
        ),
        (["--strategy", "interpolate"], "--beta goes with the strategy interpolate"),
        (["--column", "lemma"], "There is no column called 'lemma'"),
        (["--context", "both"], "'streaming' or 'sentence'"),
        (["--device", "abacus"], "--device must be one that PyTorch has here"),
        (["--dev", "nowhere.conllu"], "nowhere.conllu"),
        (["--epochs", "many"], "--epochs"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
        (["--warm-start", "nowhere"], "There is no folder nowhere"),
    ],
)
def test_wrong_settings_are_answered_in_a_sentence(tmp_path, capsys, arguments, sentence):
    assert train(tmp_path, *arguments) == 2
    error = capsys.readouterr().err
    assert sentence in " ".join(error.split())
    assert "Traceback" not in error
    assert not (tmp_path / "run" / "config.json").exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "at least one sentence, got none"),
        ("1\tDo\tdo\tAUX\n\n", "train.conllu:1"),
        (COMMENTED.replace("3\tobj", "9\tobj") + COMMENTED, None),
    ],
)
def test_wrong_data_is_answered_with_file_and_line(tmp_path, capsys, text, sentence):
    column = "upos" if sentence else "supertag"
    assert train(tmp_path, "--column", column, text=text) == 2
    error = capsys.readouterr().err
    assert (sentence or "train.conllu:8") in " ".join(error.split())


def test_missing_and_foreign_folders(tmp_path, capsys):
    assert beamlearn("predict", tmp_path / "none", "x") == 2
    assert "There is no folder" in capsys.readouterr().err
    assert beamlearn("evaluate", tmp_path, "x") == 2
    assert "not a run folder" in " ".join(capsys.readouterr().err.split())
    assert beamlearn("train", "tag", "--out", tmp_path / "new") == 2
    assert "--train is required but missing; set it.\n" in capsys.readouterr().err


def test_an_unexpected_failure_is_a_sentence_with_status_1(trained, monkeypatch, capsys):
    def fail(*_):
        raise RuntimeError("out of paper")

    monkeypatch.setattr("beamlearn.cli.jobs.predict.load", fail)
    assert beamlearn("predict", trained, "x") == 1
    assert capsys.readouterr().err == "RuntimeError: out of paper\n"


@pytest.mark.slow
def test_the_installed_command_runs():
    found = subprocess.run(
        [sys.executable, "-m", "beamlearn", "evaluate", "nowhere", "x"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert found.returncode == 2
    assert found.stderr.startswith("There is no folder nowhere")
    assert found.stdout == ""


def test_real_round_trip(trained, tmp_path):
    source, target = shared("ud-english-ewt") / "dev.conllu.gz", tmp_path / "out.conllu"
    assert beamlearn("predict", trained, source, "-o", target, "--width", 1) == 0
    import gzip

    before = gzip.decompress(source.read_bytes()).decode().split("\n")
    after = target.read_text(encoding="utf-8").split("\n")
    assert len(before) == len(after)
    for one, two in zip(before, after, strict=True):
        fields, written = one.split("\t"), two.split("\t")
        assert fields[:3] + fields[4:] == written[:3] + written[4:]


def test_resume_compares_values_not_their_spelling(tmp_path, capsys):
    path = tmp_path / "settings.toml"
    path.write_text('[learning]\nclip = 5\n[tagger]\nnormalize = "auto"\ndropout = 0\n')
    assert train(tmp_path, "--config", path) == 0
    again = ["train", "tag", "--out", tmp_path / "run", "--resume", "--config"]
    assert beamlearn(*again, path) == 0
    for text, sentence in (
        ("[learning]\nclip = 4\n", "settings.toml: `clip` was 5.0 when the training"),
        ("[learning]\nepoch = 1\n", "Did you mean 'epochs'"),
        ("[learnin]\nepochs = 1\n", "Did you mean 'learning'"),
        ("data = 3\n", "`data` must be a table"),
        ("[data]\ntrain = 3\n", "data.train"),
    ):
        path.write_text(text)
        capsys.readouterr()
        assert beamlearn(*again, path) == 2
        assert sentence in capsys.readouterr().err
    assert beamlearn(*again[:-1], "--warm-start", tmp_path) == 2
    assert "--warm-start was not given" in capsys.readouterr().err


def test_resume_needs_a_run_unless_one_can_begin(tmp_path, capsys):
    assert beamlearn("train", "tag", "--out", tmp_path / "none", "--resume") == 2
    assert "There is no folder" in capsys.readouterr().err
    assert train(tmp_path, "--resume") == 0


def test_brackets_in_names_are_no_markup(tmp_path, capsys):
    assert train(tmp_path, "--out", tmp_path / "r[bold]") == 0
    assert "r[bold]. Next" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made(tmp_path, capsys):
    assert train(tmp_path, "--out", "/dev/null/run") == 2
    assert "--out" in capsys.readouterr().err


def test_divergence_is_told(tmp_path, capsys):
    assert train(tmp_path, "--learning-rate", 1e30, "--batch-size", 2) == 2
    found = capsys.readouterr().err
    # Which number is the first that is not finite depends on how the processor rounds.
    found_at = r"Training diverged after round \d: in round \d the (scorer|gradient) .* example 0"
    assert re.search(found_at, found)
    assert found.endswith("start again with a smaller --learning-rate or --clip.\n")
    assert beamlearn("train", "tag", "--resume", "--out", tmp_path / "run") == 2
    assert re.search(found_at, capsys.readouterr().err)  # the folder can still be read


def test_after_divergence_the_best_epoch_can_be_used(tmp_path, capsys, monkeypatch):
    from beamlearn.training.trainer import Training

    def spoiled(training, coins):
        prepare(training, coins)
        if training.validated == 1:
            next(training.scorer.parameters()).data.fill_(float("nan"))

    prepare = Training.prepare_round
    monkeypatch.setattr(Training, "prepare_round", spoiled)
    assert train(tmp_path) == 2
    assert "Training diverged after round" in capsys.readouterr().err
    assert beamlearn("predict", tmp_path / "run", tmp_path / "train.conllu") == 0
    monkeypatch.undo()
    assert beamlearn("train", "tag", "--resume", "--out", tmp_path / "run") == 0


@pytest.mark.parametrize(
    "options",
    [
        ["--context", "sentence", "--lookahead", 2],
        ["--context", "streaming", "--lookahead", "all"],
        ["--model", "linear", "--vectors", "x"],
        ["--model", "linear", "--encoder", "lstm"],
    ],
)
def test_options_without_effect_are_refused(tmp_path, capsys, options):
    assert train(tmp_path, *options) == 2
    assert "leave" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--lookahead", 2, "--encoder", "lstm"], ("streaming", 2)),
        (["--context", "streaming"], ("streaming", 0)),
        (["--lookahead", "all"], ("sentence", "all")),
    ],
)
def test_how_far_a_tagger_looks_ahead(tmp_path, options, kept):
    assert train(tmp_path, *options, "--epochs", 1) == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
    assert (config["tagger"]["context"], config["tagger"]["lookahead"]) == kept
    assert beamlearn("train", "tag", "--out", tmp_path / "run", "--resume", *options) == 0
    assert beamlearn("evaluate", tmp_path / "run", tmp_path / "train.conllu") == 0


def test_a_lookahead_is_a_number_of_words(tmp_path, capsys):
    assert train(tmp_path, "--lookahead", "far") == 2
    expected = "--lookahead must be a whole number of at least 0, or all, got 'far'"
    assert expected in " ".join(capsys.readouterr().err.split())


def test_words_are_no_labels(tmp_path, capsys):
    assert train(tmp_path, "--column", 2) == 2
    assert "holds the words or their ids" in capsys.readouterr().err


def test_constraints_refuse_the_older_scheme(tmp_path, capsys):
    text = "Anna I-PER\nLee I-PER\nran O\n\nBo I-PER\nAl B-PER\n\n" * 9
    assert train(tmp_path, "--column", 2, "--constrained", text=text, name="ner.txt") == 2
    assert "16 of 25 spans in the training data begin with I-" in capsys.readouterr().err


def test_a_column_number_means_another_column_in_another_layout(tmp_path, trained, capsys):
    text = "Anna x B-PER\nran y O\n\n" * 12
    assert train(tmp_path, "--column", 3, text=text, name="ner.txt") == 0
    source = trained.parent / "train.conllu"
    capsys.readouterr()
    assert beamlearn("predict", tmp_path / "run", source) == 2
    assert "--column must be given" in capsys.readouterr().err
    assert beamlearn("predict", tmp_path / "run", source, "--column", "xpos") == 0


def test_labels_of_another_kind_are_not_evaluated(trained, capsys):
    path = trained.parent / "train.conllu"
    assert beamlearn("evaluate", trained, path, "--column", "xpos") == 2
    assert "got NNP, RB, VB, of which the model knows none" in capsys.readouterr().err


def test_the_demo_spares_what_is_not_its_own(tmp_path, capsys):
    (tmp_path / "train.tsv").write_text("mine")
    assert beamlearn("demo", "--out", tmp_path) == 2
    assert "must be a new folder" in capsys.readouterr().err
    assert (tmp_path / "train.tsv").read_text() == "mine"


def test_standard_input_cannot_be_resumed(tmp_path, monkeypatch, capsys):
    text = io.TextIOWrapper(io.BytesIO((COMMENTED * 6).encode()))
    monkeypatch.setattr(sys, "stdin", text)
    out = tmp_path / "run"
    assert beamlearn("train", "tag", "--train", "-", "--out", out, "--epochs", 1, *SMALL) == 0
    assert beamlearn("train", "tag", "--out", out, "--resume") == 2
    assert "standard input, which cannot be read again" in capsys.readouterr().err


def test_the_width_that_training_found_is_used_unless_one_is_given(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(decoding_width, "smallest_good_width", lambda losses, trained: 4)
    assert train(tmp_path, "--algorithm", "log_likelihood") == 0
    told = capsys.readouterr().err
    for width in (1, 2, 4, 8, 16):
        assert re.search(rf"validation, beam {width}: accuracy \d+\.\d\d%, [\d,]+ words/s", told)
    assert "The model is decoded with a beam of 4 unless --width says otherwise" in told
    model, file = tmp_path / "run", tmp_path / "train.conllu"
    assert json.loads((model / "decoding.json").read_text())["width"] == 4
    assert beamlearn("predict", model, file, "--json") == 0
    captured = capsys.readouterr()
    assert captured.err.count("Decoding with a beam of 4") == 1
    assert beamlearn("predict", model, file, "--json", "--width", 4) == 0
    assert capsys.readouterr() == (captured.out, "")
    assert beamlearn("evaluate", model, file, "--json") == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [result["width"] for result in results] == [1, 4]
    assert beamlearn("inspect", model, file, "--text") == 0
    assert "beam of 4" in " ".join(capsys.readouterr().out.split())  # long paths wrap


def test_widths_of_a_large_validation_file_are_measured_on_a_sample(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(decoding_width, "MOST", 1)
    dev = tmp_path / "dev.conllu"
    dev.write_text(COMMENTED)
    assert train(tmp_path, "--dev", dev, "--width", 2, "--epochs", 1) == 0
    told = capsys.readouterr().err
    assert "On 1 of the 2 validation examples:\n  beam 1: accuracy" in told
    assert "validation, beam 2: accuracy" in told


def test_overwrite_replaces_a_run(tmp_path, capsys):
    assert train(tmp_path, "--epochs", 1) == 0
    assert train(tmp_path, "--epochs", 1) == 2
    assert "(See --resume and --overwrite and --out.)" in capsys.readouterr().err
    assert train(tmp_path, "--epochs", 1, "--seed", 7, "--overwrite", "--column", "nonsense") == 2
    before = json.loads((tmp_path / "run" / "config.json").read_text())
    assert before["learning"]["seed"] == 0
    assert train(tmp_path, "--epochs", 1, "--seed", 7, "--overwrite") == 0
    after = json.loads((tmp_path / "run" / "config.json").read_text())
    assert after["learning"]["seed"] == 7
    assert {path.name for path in tmp_path.iterdir()} == {"run", "train.conllu"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--resume"], "--resume or --overwrite can be given, got both"),
        (["--warm-start", "{out}"], "--warm-start must be another folder than --out"),
    ],
)
def test_what_overwrite_does_not_go_with(trained, capsys, options, message):
    given = [one.format(out=trained) for one in options]
    assert train(trained.parent, "--overwrite", *given) == 2
    assert message in capsys.readouterr().err


def test_a_run_that_was_set_aside_is_not_forgotten(tmp_path, capsys):
    aside = tmp_path / "run.replaced"
    aside.mkdir()
    (aside / "config.json").write_text("{}")
    assert train(tmp_path, "--overwrite") == 2
    assert f"rename {aside}, which is the old run, back to" in capsys.readouterr().err


def test_one_sentence_is_not_some_sentences(tmp_path, capsys):
    dev = tmp_path / "dev.conllu"
    dev.write_text("1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n\n")
    text = dev.read_text()
    assert train(tmp_path, "--dev", dev, "--epochs", 1, "--min-count", 1, text=text) == 0
    told = capsys.readouterr().err
    assert "1 sentence, 1 tag, " in told
    assert " of 1 validation example" in told


def test_a_full_disk_during_training(tmp_path, capsys, monkeypatch):
    real, path = Run.save_model, tmp_path / "run" / "model.safetensors"

    def full(self, *more):
        with atomic.needing_space(path):
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Run, "save_model", full)
        assert train(tmp_path, "--epochs", 1) == 1
    told = capsys.readouterr().err
    assert f"There is no space left on the disk to write {path} " in told
    assert "free some space, and try again. The same command with --resume goes on." in told
    assert Run.save_model is real
    assert train(tmp_path, "--epochs", 1, "--resume") == 0


def test_standard_output_on_a_full_disk(trained, tmp_path, capsys, monkeypatch):
    source = tmp_path / "in.conllu"
    source.write_text(COMMENTED)

    def full(text):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("beamlearn.cli.jobs.predicting.print_text", full)
    assert beamlearn("predict", trained, source) == 1
    assert "The output cannot be written (No space left on device)" in capsys.readouterr().err


def test_a_file_that_the_system_refuses_is_named_in_a_sentence(trained, monkeypatch, capsys):
    def fail(*_):
        raise PermissionError(errno.EACCES, "Permission denied", "a/file")

    monkeypatch.setattr("beamlearn.cli.jobs.predict.load", fail)
    assert beamlearn("predict", trained, "x") == 1
    assert capsys.readouterr().err.startswith(
        "a/file cannot be read or written (Permission denied)"
    )
