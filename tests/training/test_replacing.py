import os

import pytest

from beamlearn.training.run import Run, RunError, left_aside, replacing


@pytest.fixture
def old(tmp_path):
    run = Run.create(tmp_path / "run", {"task": "tag", "which": "old"}, {})
    run.log({"round": 1})
    return run.path


def create(path, which="new"):
    return Run.create(path, {"task": "tag", "which": which}, {})


def test_the_new_run_takes_the_place_of_the_old_one(old):
    with replacing(old):
        assert left_aside(old) == old.with_name("run.replaced")
        create(old)
    assert Run.open(old).config["which"] == "new"
    assert list(Run.open(old).rounds()) == []
    assert left_aside(old) is None
    assert os.listdir(old.parent) == ["run"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("begun", [False, True])
def test_the_old_run_comes_back_if_no_other_can_be_begun(old, error, begun):
    def fail():
        if begun:
            create(old)
        raise error

    with pytest.raises(error), replacing(old):
        fail()
    assert Run.open(old).config["which"] == "old"
    assert list(Run.open(old).rounds()) == [{"round": 1}]
    assert os.listdir(old.parent) == ["run"]


def test_a_killed_process_leaves_the_old_run_beside(old):
    child = os.fork()
    if not child:
        with replacing(old):
            os._exit(0)
    os.waitpid(child, 0)
    aside = left_aside(old)
    assert Run.open(aside).config["which"] == "old"
    create(old)
    with pytest.raises(RunError, match=r"run.replaced must not exist, .* rename it to keep it"):
        replacing(old).__enter__()
    assert (Run.open(old).config["which"], Run.open(aside).config["which"]) == ("new", "old")


@pytest.mark.parametrize(
    ("names", "removed", "message"),
    [
        (["thesis.tex"], (), "must hold nothing but a run .* got thesis.tex; move that elsewhere"),
        ([], ("vocabulary.json",), "must be a run folder if it is to be replaced"),
        ([], ("config.json",), "must be a run folder if it is to be replaced"),
    ],
)
def test_a_folder_with_other_things_is_left_alone(old, names, removed, message):
    for name in names:
        (old / name).touch()
    for name in removed:
        (old / name).unlink()
    before = sorted(os.listdir(old))
    with pytest.raises(RunError, match=message), replacing(old):
        raise AssertionError
    assert sorted(os.listdir(old)) == before


def test_a_config_of_something_else_is_not_a_run(tmp_path):
    for name in ("config.json", "vocabulary.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(RunError, match="must be a run folder"), replacing(tmp_path):
        raise AssertionError


def test_a_run_in_training_is_not_replaced(old):
    with (
        Run.open(old).lock(),
        pytest.raises(RunError, match="Another process is training"),
        replacing(old),
    ):
        raise AssertionError
    assert Run.open(old).config["which"] == "old"
