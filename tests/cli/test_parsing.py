import io
import json
import shutil
import sys

import pytest
from tiny_trees import NETWORK as SIZES
from tiny_trees import conllu, sentences

from beamlearn.cli.main import run
from beamlearn.data.trees import fault
from beamlearn.tasks.parsing.tree import Tree

COMMENTED = """\
# sent_id = 1
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_
3\tstop\tstop\tVERB\tVB\tMood=Imp\t0\troot\t0:root\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t3:dep\t_
4\tNew York\tNew York\tPROPN\tNNP\t_\t3\tobj\t_\tGloss=city

1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_

"""
NETWORK = {**SIZES, "dropout": 0.0, "word_dropout": 0.0}
SMALL = [
    text for name, value in NETWORK.items() for text in (f"--{name.replace('_', '-')}", str(value))
]


@pytest.fixture(autouse=True, scope="module")
def quick(module_without_shape_checks):
    """The command line runs without the tests' shape checks, as for users."""


def beamlearn(*arguments):
    return run([str(argument) for argument in arguments])


def train(folder, *arguments, text=None):
    path, out = folder / "train.conllu", folder / "run"
    path.write_text(conllu(sentences(24, tagged=True)) if text is None else text, encoding="utf-8")
    learning = ["--epochs", 6, "--learning-rate", 0.05, "--batch-size", 4, "--width", 4]
    return beamlearn("train", "parse", "--train", path, "--out", out, *learning, *SMALL, *arguments)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    assert train(folder) == 0
    return folder / "run"


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagged")
    assert train(folder, "--tags", "upos", "--system", "covington", "--epochs", 1) == 0
    return folder / "run"


@pytest.fixture
def blind(tmp_path):
    path = tmp_path / "blind.conllu"
    path.write_text(conllu(sentences(6, seed=1), blind=True))
    return path


def trees(text):
    """The trees in CoNLL-U."""
    found = []
    for block in text.strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line[0].isdigit()]
        words = [row for row in rows if row[0].isdigit()]
        found.append(Tree(tuple(int(row[6]) for row in words), tuple(row[7] for row in words)))
    return found


def test_every_setting_is_an_option(capsys):
    from beamlearn.tasks.parsing.settings import ParserSettings

    assert beamlearn("train", "parse", "--help-all") == 0
    text = capsys.readouterr().out
    assert "beamlearn train parse --train" in text
    for name in (*ParserSettings.model_fields, "epochs", "train"):
        assert f"--{name.replace('_', '-')}" in text


def test_training_says_how_good_it_is(tmp_path, capsys):
    assert train(tmp_path, "--epochs", 1) == 0
    told = capsys.readouterr().err
    assert "21 sentences, relations: 6, " in told
    assert "validation attachment" in told
    assert "validation, beam 1: UAS " in told
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["task"] == "parse"
    assert [result["width"] for result in metrics["results"]] == [1, 4]


@pytest.mark.parametrize("kind", ["trained", "tagged"])
def test_samples(kind, tmp_path, capsys, request):
    run_folder, source = request.getfixturevalue(kind), tmp_path / "new.conllu"
    source.write_text(COMMENTED, encoding="utf-8")
    assert beamlearn("predict", run_folder, source, "--sample", 3) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert len(first["words"]) == 4
    for way in first["sample"]:
        assert fault(tuple(way["heads"])) is None
        assert len(way["relations"]) == 4
        assert 0 < way["probability"] <= way["weight"]
    assert second["sample"][0]["heads"] == [0]


@pytest.mark.parametrize("options", [[], ["--nbest", 3]])
@pytest.mark.parametrize(("mark", "line_end"), [("", "\n"), ("\ufeff", "\r\n")])
def test_predict_changes_heads_and_relations_alone(trained, tmp_path, options, mark, line_end):
    text = mark + COMMENTED.replace("\n", line_end)
    source, target = tmp_path / "in.conllu", tmp_path / "out.conllu"
    source.write_bytes(text.encode())
    assert beamlearn("predict", trained, source, "-o", target, *options) == 0
    lines = target.read_bytes().decode().split("\n")
    added = [line for line in lines if line.startswith("# parse_")]
    assert len(added) == (4 if options else 0)  # one word has one tree
    assert all(line.endswith(line_end[:-1]) for line in added)
    written = [line for line in lines if line not in added]
    for before, after in zip(text.split("\n"), written, strict=True):
        one, two = before.split("\t"), after.split("\t")
        assert one[:6] + one[8:] == two[:6] + two[8:]
        assert one[0].isdigit() or one == two
    found = trees("\n".join(line.rstrip("\r") for line in lines))
    assert [fault(tree.heads) for tree in found] == [None, None]


def test_predict_needs_no_trees(trained, blind, capsys):
    assert beamlearn("predict", trained, blind) == 0
    found = trees(capsys.readouterr().out)
    right = sentences(6, seed=1).trees
    arcs = [
        (a, b) == (c, d)
        for one, two in zip(found, right, strict=True)
        for a, b, c, d in zip(one.heads, one.relations, two.heads, two.relations, strict=True)
    ]
    assert sum(arcs) > 0.7 * len(arcs)


def test_n_best_lists_are_comments(trained, blind, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(blind.read_bytes())))
    assert beamlearn("predict", trained, "-", "--nbest", 3) == 0
    text = capsys.readouterr().out
    for block, best in zip(text.strip().split("\n\n"), trees(text), strict=True):
        first, *lines = block.split("\n")
        assert first.startswith("# sent_id")
        for rank in (1, 2, 3):
            name, _, value = lines[rank - 1].partition(" = ")
            assert name == f"# parse_{rank}"
            way = json.loads(value)
            assert (rank == 1) == (
                tuple(way["heads"]) == best.heads and way["relations"] == list(best.relations)
            )
            assert 0 < way["probability"] <= 1
        assert lines[3].startswith("1\t")


def test_new_lists_take_the_place_of_old_ones(trained, blind, tmp_path):
    files = [tmp_path / f"{n}.conllu" for n in (3, 2, 0)]
    assert beamlearn("predict", trained, blind, "-o", files[0], "--nbest", 3) == 0
    assert beamlearn("predict", trained, files[0], "-o", files[1], "--nbest", 2) == 0
    assert beamlearn("predict", trained, files[1], "-o", files[2]) == 0
    counts = [file.read_text().count("# parse_") for file in files]
    assert counts == [18, 12, 0]
    assert [file.read_text().count("# sent_id") for file in files] == [6, 6, 6]


def test_json_lines(trained, blind, capsys):
    assert beamlearn("predict", trained, blind, "--json", "--nbest", 2) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["words"] for record in records] == sentences(6, seed=1).words
    for record in records:
        assert len(record["nbest"]) == 2
        assert set(record["nbest"][0]) == {"heads", "relations", "score", "probability"}
        for name in ("heads", "relations"):
            assert record[name] == record["nbest"][0][name]
        assert len(record["confidence"]) == len(record["words"])
    assert beamlearn("predict", trained, blind, "--json") == 0
    alone = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(record["nbest"]) for record in alone] == [1] * 6
    for one, two in zip(alone, records, strict=True):
        for name, value in one["nbest"][0].items():
            expected = two["nbest"][0][name]
            assert value == (
                expected if name in ("heads", "relations") else pytest.approx(expected)
            )


@pytest.mark.slow
def test_very_short_and_very_long_sentences(trained, tmp_path, capsys):
    for words in (["Go"], ["the", "dog", "saw"] * 100):
        path = tmp_path / "in.conllu"
        rows = [f"{n}\t{word}\t" + "\t".join("_" * 8) for n, word in enumerate(words, 1)]
        path.write_text("\n".join([*rows, "", ""]))
        assert beamlearn("predict", trained, path, "--width", 2) == 0
        text = capsys.readouterr().out
        (tree,) = trees(text)
        assert len(tree) == len(words)
        assert fault(tree.heads) is None
        path.write_text(text)
        assert beamlearn("evaluate", trained, path, "--width", 2, "--json") == 0
        assert json.loads(capsys.readouterr().out)["results"][0]["las"] == 1


def test_nothing_to_parse(trained, tmp_path, capsys):
    (tmp_path / "in.conllu").write_text("# only a comment\n")
    assert beamlearn("predict", trained, tmp_path / "in.conllu", "--nbest", 2) == 0
    assert capsys.readouterr().out == "# only a comment\n"


def test_evaluate_at_several_widths(trained, capsys):
    path = trained.parent / "train.conllu"
    assert beamlearn("evaluate", trained, path, "--width", "1,4", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["task"], found["examples"]) == ("parse", 24)
    assert [result["width"] for result in found["results"]] == [1, 4]
    for result in found["results"]:
        assert result.keys() >= {
            *("uas", "las", "uas_without_punctuation", "las_without_punctuation", "conll18_las"),
            *("tree_accuracy", "increases_per_example", "search_error_rate"),
            *("calibration_error", "words_per_second"),
        }
        assert 0.7 < result["las"] <= result["uas"] <= 1
    assert beamlearn("evaluate", trained, path) == 0
    table = capsys.readouterr().out
    for words in ("beam 1", "beam 4", "LAS without punctuation", "CoNLL 2018", "search errors"):
        assert words in table


def test_a_parser_that_looks_at_tags_needs_them(tagged, blind, capsys):
    assert beamlearn("predict", tagged, blind) == 2
    assert "blind.conllu:2: This parser needs a tag in column UPOS" in one_sentence(capsys)
    blind.write_text(conllu(sentences(6, seed=1, tagged=True), blind=True))
    assert beamlearn("predict", tagged, blind) == 0
    assert all(fault(tree.heads) is None for tree in trees(capsys.readouterr().out))
    assert beamlearn("evaluate", tagged, tagged.parent / "train.conllu", "--width", 2) == 0


def test_a_warm_start_brings_its_tags(tagged, tmp_path):
    arguments = ["--train", tagged.parent / "train.conllu", "--warm-start", tagged, "--epochs", 1]
    assert beamlearn("train", "parse", *arguments, "--out", tmp_path / "run") == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["parser"]["tags"] == "upos"


def test_resume_needs_no_more_than_the_folder(trained, tmp_path, capsys):
    shutil.copytree(trained, tmp_path / "run")
    model = (trained / "model.safetensors").read_bytes()
    again = ["train", "parse", "--out", tmp_path / "run", "--resume"]
    assert beamlearn(*again) == 0
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == model
    capsys.readouterr()
    assert beamlearn(*again, "--system", "arc-eager") == 2
    assert "--system was 'arc-hybrid' when the training" in one_sentence(capsys)
    assert beamlearn("train", "tag", "--out", tmp_path / "run", "--resume") == 2
    assert "must be 'tag', got 'parse'" in one_sentence(capsys)


def one_sentence(capsys):
    told = capsys.readouterr().err
    assert "Traceback" not in told
    return " ".join(told.split())


def damaged(change):
    lines = COMMENTED.split("\n")
    number, head, relation = change
    fields = lines[number - 1].split("\t")
    fields[6:8] = [head, relation]
    lines[number - 1] = "\t".join(fields)
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "train.conllu: The file must have at least one sentence, got none"),
        (damaged((7, "0", "root")), "train.conllu:7: A tree must have one root, but words 3 and 4"),
        (damaged((5, "4", "x")), "train.conllu:3: A tree must have one root, but no word has"),
        (damaged((3, "2", "x")).replace("RB\t_\t3", "RB\t_\t1"), "they lead from 1 to 2 to 1"),
        (damaged((7, "9", "obj")), "train.conllu:7: A head must be the number of another word"),
        (damaged((4, "_", "_")), "train.conllu:4: A head must be the number of another word"),
        (damaged((4, "3", "_")), "train.conllu:4: Every word needs a relation to its head"),
        (damaged((4, "3", "a||b")), "train.conllu:4: A relation must not be empty, contain '||'"),
        ("the DET\ndog NOUN\n", "train.conllu:1: A CoNLL-U line must have 10 fields"),
    ],
)
def test_wrong_trees_are_answered_with_file_and_line(trained, tmp_path, capsys, text, sentence):
    assert train(tmp_path, text=text) == 2
    assert sentence in one_sentence(capsys)
    assert not (tmp_path / "run" / "config.json").exists()
    assert beamlearn("evaluate", trained, tmp_path / "train.conllu") == 2
    assert sentence in one_sentence(capsys)


def test_plain_text_is_parsed_into_conllu(trained, tagged, tmp_path, capsys):
    path = tmp_path / "in.txt"
    path.write_text("the dog saw\n")
    assert beamlearn("predict", trained, "--text", "the dog saw") == 0
    out, told = capsys.readouterr()
    lines = out.splitlines()
    assert (lines[0], lines[4]) == ("# text = the dog saw", "")
    assert [line.split("\t")[1] for line in lines[1:4]] == ["the", "dog", "saw"]
    assert "The text is split into words and punctuation marks" in told
    assert beamlearn("predict", trained, path, "--layout", "lines", "--flush") == 0
    assert capsys.readouterr().out == out
    assert beamlearn("predict", trained, path) == 2
    assert "in.txt:1: A CoNLL-U line must have 10 fields" in (told := one_sentence(capsys))
    assert "one sentence per line, predict with --layout lines." in told
    assert beamlearn("predict", tagged, "--text", "the dog saw") == 2
    assert "needs a tag in column UPOS for each word, which plain text" in one_sentence(capsys)


def test_a_tree_that_does_not_fit_is_left_out(trained, capsys):
    texts = ["--text", "the dog saw", "--text", "a " * 200]
    assert beamlearn("predict", trained, *texts, "--json", "--max-memory", 0.001) == 2
    out, told = capsys.readouterr()
    assert [json.loads(line)["heads"] is None for line in out.splitlines()] == [False, True]
    assert "--text:2: A search may need 0.001 GB" in told


@pytest.mark.parametrize("option", ["--column", "--layout"])
def test_options_of_taggers_are_refused(trained, capsys, option):
    path = trained.parent / "train.conllu"
    for command in ("predict", "evaluate") if option == "--column" else ("evaluate",):
        assert beamlearn(command, trained, path, option, "conllu") == 2
        assert one_sentence(capsys).endswith("which is 'parse'; leave it out.")
    assert train(path.parent, option, "upos") == 2
    assert f"No such option: {option}" in one_sentence(capsys)


def test_wrong_settings_are_answered_in_a_sentence(tmp_path, capsys):
    for arguments, sentence in (
        (["--system", "arc"], "'arc-hybrid', 'arc-eager', 'arc-standard' or 'covington'"),
        (["--system", "covington", "--crossing", "lift"], "--crossing must be keep for the system"),
        (["--tags", "xpos"], "train.conllu:2: This parser needs a tag in column XPOS"),
    ):
        assert train(tmp_path, *arguments) == 2
        assert sentence in one_sentence(capsys)


def test_trees_of_another_kind_are_not_evaluated(trained, tmp_path, capsys):
    path = tmp_path / "other.conllu"
    path.write_text("1\tGo\t_\t_\t_\t_\t0\tROOT\t_\t_\n")
    assert beamlearn("evaluate", trained, path) == 2
    assert "got ROOT, of which the model knows none; use a file" in one_sentence(capsys)


def test_how_far_a_parser_looks_ahead(tmp_path, capsys):
    assert train(tmp_path, "--lookahead", 1, "--epochs", 1) == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
    assert config["parser"]["lookahead"] == 1
    assert beamlearn("predict", tmp_path / "run", tmp_path / "train.conllu") == 0
    (tmp_path / "other").mkdir()
    assert train(tmp_path / "other", "--lookahead", 1, "--encoder", "convolution") == 2
    assert "--lookahead must be all for --encoder convolution" in capsys.readouterr().err


def test_a_broken_line_gets_no_advice_that_a_parser_cannot_follow(tmp_path, capsys):
    path = tmp_path / "short.conllu"
    path.write_text("1\tGo\n\n")
    assert beamlearn("train", "parse", "--train", path, "--out", tmp_path / "run") == 2
    told = capsys.readouterr().err
    assert "write '_' where there is no value." in told
    assert "layout" not in told
    assert beamlearn("train", "tag", "--train", path, "--out", tmp_path / "run") == 2
    assert "rename the file if it is not CoNLL-U. (See --layout.)" in capsys.readouterr().err
