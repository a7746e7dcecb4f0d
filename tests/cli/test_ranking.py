"""Every command works with rankers."""

import json
import math

import pytest
from tiny_catalogue import IDS, SMALL, users, write

from beamlearn.cli.main import run


@pytest.fixture(autouse=True, scope="module")
def quick(module_without_shape_checks):
    """The command line runs without the tests' shape checks, as for users."""


def beamlearn(*arguments):
    return run([str(argument) for argument in arguments])


def train(folder, *arguments, **files):
    inter, ids = write(folder, **files)
    out = folder / "run"
    return beamlearn(
        "train", "rank", "--train", inter, "--ids", ids, "--out", out, *SMALL, *arguments
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    assert train(folder, "--epochs", 15, "--patience", 0) == 0
    return folder


def one_sentence(capsys):
    told = capsys.readouterr().err
    assert "Traceback" not in told
    return " ".join(told.split())


def test_training_says_what_it_learns_from(tmp_path, capsys):
    assert train(tmp_path, "--epochs", 1, "--limit", 5) == 0
    told = capsys.readouterr().err
    assert "5 users, items: 13, nodes: 28, " in told
    assert "NDCG at 10" in told
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["task"] == "rank"
    vocabulary = json.loads((tmp_path / "run" / "vocabulary.json").read_text())
    assert vocabulary["items"] == IDS


def test_evaluation_is_on_the_last_items(trained, capsys):
    inter = trained / "inter.json.gz"
    assert beamlearn("evaluate", trained / "run", inter, "--width", "1,20", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["task"], record["examples"]) == ("rank", 12)
    greedy, wide = record["results"]
    assert wide["recall_at_5"] > 0.9
    assert wide["recall_at_10"] >= wide["recall_at_5"]
    assert 0 < wide["ndcg_at_5"] <= wide["ndcg_at_10"] <= 1
    assert greedy["recall_at_10"] == pytest.approx(1 - greedy["cost"])
    assert 0 < wide["mrr"] <= 1


def test_the_numbers_are_those_of_the_predicted_lists(trained, tmp_path, capsys):
    """Recall, NDCG and MRR again, in plain Python, from what `predict` writes."""
    shorter = {user: items[:-1] for user, items in users().items()}
    inter, _ = write(tmp_path, shorter)
    beamlearn("predict", trained / "run", inter, "--nbest", 10, "--width", 20, "--json")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    ranks = []
    for line, (user, items) in zip(lines, users().items(), strict=True):
        assert line["user"] == user
        shown = dict.fromkeys(tuple(IDS[one["item"]]) for one in line["nbest"])
        right = tuple(IDS[str(items[-1])])
        ranks.append(list(shown).index(right) + 1 if right in shown else None)
    beamlearn("evaluate", trained / "run", trained / "inter.json.gz", "--width", 20, "--json")
    (found,) = json.loads(capsys.readouterr().out)["results"]
    five = [rank for rank in ranks if rank is not None and rank <= 5]
    assert found["recall_at_5"] == pytest.approx(len(five) / 12)
    assert found["ndcg_at_5"] == pytest.approx(sum(1 / math.log2(r + 1) for r in five) / 12)


def test_predictions_are_lines_of_user_and_item(trained, capsys):
    assert beamlearn("predict", trained / "run", trained / "inter.json.gz") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == list(users())
    nexts = [str((i + 6) % 12) for i in range(12)]
    right = sum(row[1] == item for row, item in zip(rows, nexts, strict=True))
    assert right >= 9


def test_lists_and_typed_histories(trained, capsys):
    texts = ["--text", "3 4 5", "--text", "1"]
    assert beamlearn("predict", trained / "run", *texts, "--nbest", 13, "--width", 40) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["1"] * 13 + ["2"] * 13
    assert sorted(row[1] for row in rows[:13]) == sorted(IDS)
    assert rows[0][1] == "6"
    shares = [float(row[3]) for row in rows[:13]]
    assert shares == sorted(shares, reverse=True)


def test_a_history_that_does_not_fit_stands_alone(trained, tmp_path, capsys):
    inter, _ = write(tmp_path, {"ann": [1, 2], "ben": [3] * 5000, "cid": [4]})
    small = ["predict", trained / "run", inter, "--max-memory", 0.001]
    assert beamlearn(*small) == 2
    out, told = capsys.readouterr()
    assert [line.split("\t")[0] for line in out.splitlines()] == ["ann", "ben", "cid"]
    assert [line.count("\t") for line in out.splitlines()] == [1, 0, 1]
    told = " ".join(told.split())
    assert f"{inter}: A search may need 0.001 GB of memory, but the history of the user 'ben'" in (
        told
    )
    assert "leave out its oldest items, use a smaller --width, or raise --max-memory." in told
    assert beamlearn(*small, "--json") == 2
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["item"] is None for record in records] == [False, True, False]
    assert (records[1]["confidence"], records[1]["nbest"]) == (None, [])
    beamlearn("predict", trained / "run", "--text", "4", "--json")
    alone = json.loads(capsys.readouterr().out)
    assert alone["item"] == records[2]["item"]


def test_a_wide_beam_needs_memory(trained, capsys):
    wide = ["predict", trained / "run", "--text", "4", "--width", 2000, "--max-memory", 0.001]
    assert beamlearn(*wide) == 2
    assert "use a smaller --width" in one_sentence(capsys)


def test_a_training_goes_on_and_starts_warm(trained, tmp_path, capsys):
    inter, ids = trained / "inter.json.gz", trained / "ids.json"
    files = ["--train", inter, "--ids", ids]
    warm = ["--warm-start", trained / "run", "--epochs", 1, "--batch-size", 4]
    assert beamlearn("train", "rank", *files, "--out", tmp_path / "warm", *warm) == 0
    assert beamlearn("train", "rank", "--out", tmp_path / "warm", "--resume") == 0
    assert "is over" in capsys.readouterr().err
    other = {**IDS, "0": ["<a_0>", "<b_1>", "<c_0>"]}
    _, ids = write(tmp_path, ids=other)
    files = ["--train", inter, "--ids", ids]
    assert beamlearn("train", "rank", *files, "--out", tmp_path / "other", *warm) == 2
    assert "must have the same items with the same ids" in one_sentence(capsys)


def test_a_list_is_trained_for_with_a_final_width(tmp_path):
    beam = ["--algorithm", "joint", "--width", 6, "--final-width", 3, "--beam-start", 0]
    assert train(tmp_path, *beam, "--epochs", 1) == 0


def test_other_users_to_validate_on(tmp_path, capsys):
    folder = tmp_path / "dev"
    folder.mkdir()
    dev, _ = write(folder, users(5, 4))
    assert train(tmp_path, "--dev", dev, "--epochs", 1) == 0
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["examples"] == 5


def test_diagnosis_and_inspection(trained, tmp_path, capsys):
    inter = trained / "inter.json.gz"
    assert beamlearn("diagnose", trained / "run", inter, "--widths", "1,4,8") == 0
    told = capsys.readouterr().out
    assert "NDCG at 10" in told
    assert "fell out of the beam" in told
    assert beamlearn("inspect", trained / "run", inter, "--sentence", 2, "--text") == 0
    told = capsys.readouterr().out
    assert "1 2 3 4 5" in told
    assert "<a_0> <b_2> <c_1>" in told  # item 6, which is right
    page = tmp_path / "page.html"
    typed = ["--typed", "3 4 5", "--right", "6", "--export", page]
    assert beamlearn("inspect", trained / "run", *typed) == 0
    assert "&lt;a_0&gt;" in page.read_text() or "<a_0>" in page.read_text()
    assert beamlearn("evaluate", trained / "run", inter, "--errors") == 0
    assert "recall at 10" in capsys.readouterr().out


@pytest.mark.slow
def test_comparison_and_report(trained, tmp_path, capsys):
    inter, ids = trained / "inter.json.gz", trained / "ids.json"
    out = tmp_path / "cmp"
    files = ["--train", inter, "--ids", ids, "--test", inter, "--out", out]
    grid = ["--seeds", 1, "--widths", 4, "--epochs", 1, "--processes", 1]
    assert beamlearn("compare", "rank", *files, *grid, "--size", 8) == 0
    assert "NDCG at 10" in capsys.readouterr().out
    assert beamlearn("report", trained / "run", "--test", inter) == 0


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"interactions": {"a": [1, 2, 99, 3]}}, "The user 'a' has the item '99'"),
        ({"interactions": {"a": [1, 2]}}, "at least 3 items, got 2 for the user 'a'"),
        ({"interactions": {"a": [1, 2, 3]}}, "at least 4 items to learn from"),
        ({"ids": {"1": ["x"], "2": ["x", "y"]}}, "ids.json: All ids must have equally many"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, capsys, files, message):
    assert train(tmp_path, **files) == 2
    assert message in one_sentence(capsys)
    assert not (tmp_path / "run").exists()


def test_ids_are_required(tmp_path, capsys):
    inter, _ = write(tmp_path)
    assert beamlearn("train", "rank", "--train", inter, "--out", tmp_path / "run") == 2
    assert "--ids" in one_sentence(capsys)


def test_unknown_items_are_refused(trained, tmp_path, capsys):
    inter, _ = write(tmp_path, {"a": [1, 2, 99]})
    for command in ("evaluate", "predict"):
        assert beamlearn(command, trained / "run", inter) == 2
        assert "The user 'a' has the item '99', which has no id" in one_sentence(capsys)
    assert beamlearn("predict", trained / "run", "--text", "1 x") == 2
    assert "such as '0', got 'x'" in one_sentence(capsys)
    assert beamlearn("predict", trained / "run", "--text", " ") == 2
    assert "at least one item, got none" in one_sentence(capsys)
