import json
import shutil
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import active_children

import pytest
import torch
from tiny import begin, conllu, contents, experiment, finish, load, part, sentences

from beamlearn.comparison import runner, trial
from beamlearn.comparison.runner import CompareError, Entry, compare, run_entries, run_entry
from beamlearn.evaluation.error_profile import ErrorProfile
from beamlearn.tasks import experiment as experiments
from beamlearn.tasks.decoding import evaluated
from beamlearn.tasks.tagging.task import TAGGING
from beamlearn.training.run import RunError
from beamlearn.training.settings import SettingsError

pytestmark = pytest.mark.usefixtures("no_shape_checks")


def entry(folder, name, widths=(1, 3), **learning):
    """One tiny training; its test file is beside those of the training."""
    chosen = experiment(folder, dev=4, **{"epochs": 2, **learning})
    test = conllu(folder / "test.conllu", sentences(5, seed=2))
    return Entry(name, chosen, widths, test)


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_compare(tmp_path):
    """Two that succeed and one that fails; then all again, when two are read back."""
    out = tmp_path / "out"
    one = entry(tmp_path / "one", "one", seed=1)
    two = entry(tmp_path / "two", "two", algorithm="dagger", width=None)
    bad = entry(tmp_path / "bad", "bad")
    (tmp_path / "bad" / "train.conllu").unlink()
    begun = begin(two.experiment, out / "two")
    part(begun, 4)  # interrupted
    found = {}
    match = r"1 of 3 entries failed \(bad\); bad: .*bad/train.conllu: There is no such file"
    with pytest.raises(CompareError, match=match) as error:  # noqa: PT012 (it fails at the end)
        for done, results in compare([bad, one, two], out, processes=2):
            found[done.name] = results
    assert "\n" not in str(error.value)
    assert list(error.value.failed) == ["bad"]
    assert sorted(found) == ["one", "two"]
    for results in found.values():
        assert [result["width"] for result in results] == [1, 3]
        assert all(0 <= result["accuracy"] <= 1 for result in results)
    for chosen in (one, two):
        finish(begin(chosen.experiment, tmp_path / f"{chosen.name}-alone"), seconds=60)
        alone, here = (contents(f) for f in (tmp_path / f"{chosen.name}-alone", out / chosen.name))
        assert alone == here
    before = files(out)
    for folder in ("one", "two"):
        (tmp_path / folder / "train.conllu").write_text("broken")
        (tmp_path / folder / "test.conllu").unlink()
    assert {done.name: results for done, results in compare([one, two], out, 1)} == found
    assert files(out) == before


def test_names_must_differ(tmp_path):
    entries = [entry(tmp_path, name) for name in ("a", "b", "a")]
    with pytest.raises(ValueError, match="names of their own, but two are called 'a'"):
        next(compare(entries, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_no_entries(tmp_path):
    assert list(compare([], tmp_path)) == []


def test_the_results_are_in_the_run_folder(tmp_path):
    chosen = entry(tmp_path, "a")
    results = run_entry(chosen, tmp_path / "run")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics == {"file": chosen.test, "examples": 5, "results": results}


def test_other_widths_or_files_are_tested_without_training_again(tmp_path):
    chosen = entry(tmp_path, "a")
    run_entry(chosen, tmp_path / "run")
    before = contents(tmp_path / "run")
    results = run_entry(replace(chosen, widths=(2,)), tmp_path / "run")
    assert [result["width"] for result in results] == [2]
    other = conllu(tmp_path / "other.conllu", sentences(7, seed=3))
    run_entry(replace(chosen, widths=(2,), test=other), tmp_path / "run")
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["examples"] == 7
    assert contents(tmp_path / "run") == before


def test_another_training_in_the_folder_is_not_taken_for_the_entry(tmp_path):
    run_entry(entry(tmp_path, "a"), tmp_path / "run")
    before = files(tmp_path / "run")
    with pytest.raises(RunError, match="`seed` was 0 when .* began, got 7; compare in"):
        run_entry(entry(tmp_path, "a", seed=7), tmp_path / "run")
    assert files(tmp_path / "run") == before


def test_warm_starts_are_read_back(tmp_path):
    run_entry(entry(tmp_path, "a"), tmp_path / "first")
    warm = entry(tmp_path, "b", warm_start=tmp_path / "first", network={"dropout": 0.6})
    results = run_entry(warm, tmp_path / "second")
    assert run_entry(warm, tmp_path / "second") == results


def test_the_layout_is_that_of_the_experiment(tmp_path):
    chosen = entry(tmp_path, "a")
    data = chosen.experiment.data.model_copy(update={"layout": "columns"})
    lines = ["the\tDET", "dog\tNOUN", ""] * 3
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.conllu").write_text("\n".join([*lines, ""]))
    data = data.model_copy(update={"column": "2"})
    columns = chosen.experiment.model_copy(update={"data": data})
    assert len(run_entry(replace(chosen, experiment=columns), tmp_path / "run")) == 2


def test_fitted_in_memory_there_is_nothing_to_train(tmp_path):
    chosen = entry(tmp_path, "a")
    nowhere = chosen.experiment.model_copy(update={"data": None})
    with pytest.raises(SettingsError, match="Training from files needs `data.train`"):
        run_entry(replace(chosen, experiment=nowhere), tmp_path / "run")


def test_who_asks_for_costs_gets_them_in_order(tmp_path):
    chosen = replace(entry(tmp_path, "a"), costs=True)
    results = run_entry(chosen, tmp_path / "run")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    for result, costs in zip(results, metrics["costs"], strict=True):
        assert sum(costs) / 5 == pytest.approx(result["cost"])
    profiles = [ErrorProfile.from_json(record) for record in metrics["profiles"]]
    assert [(one.width, one.examples) for one in profiles] == [(1, 5), (3, 5)]
    model, _ = load(tmp_path / "run")
    data = sentences(90, seed=4)  # of different lengths, and more than a batch
    examples = TAGGING.examples(model, data)
    together = evaluated(model, examples, 2).costs
    alone = [evaluated(model, [example], 2).costs for example in examples]
    assert torch.equal(together, torch.cat(alone))


def test_costs_are_those_of_the_test_file_as_it_is_now(tmp_path):
    chosen = replace(entry(tmp_path, "a"), costs=True)
    run_entry(replace(chosen, costs=False), tmp_path / "run")
    first = run_entry(chosen, tmp_path / "run")
    before = files(tmp_path / "run")
    assert run_entry(chosen, tmp_path / "run") == first
    assert files(tmp_path / "run") == before
    conllu(tmp_path / "test.conllu", sentences(5, seed=8))
    run_entry(chosen, tmp_path / "run")
    after = files(tmp_path / "run")
    changed = {path.name for path in after if after[path] != before.get(path)}
    assert "metrics.json" in changed


def test_profiles_that_are_missing_are_added_without_training(tmp_path):
    chosen = replace(entry(tmp_path, "a"), costs=True)
    run_entry(chosen, tmp_path / "run")
    before, path = contents(tmp_path / "run"), tmp_path / "run" / "metrics.json"
    metrics = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in metrics.items() if k != "profiles"}))
    run_entry(chosen, tmp_path / "run")
    assert json.loads(path.read_text())["profiles"] == metrics["profiles"]
    assert contents(tmp_path / "run") == before


@pytest.mark.slow
def test_who_stops_early_leaves_no_process_behind(tmp_path):
    """The long training is ended at once, and can go on."""
    short = entry(tmp_path / "short", "short", epochs=1)
    long = entry(tmp_path / "long", "long", epochs=100_000, patience=0)
    found = compare([short, long], tmp_path / "out", processes=2)
    assert next(found)[0].name == "short"
    found.close()
    assert not active_children()


class Inline(Executor):
    """Works at once, in this process; `troubles` come first, one for each submission."""

    def __init__(self, *troubles):
        self.troubles, self.submissions = list(troubles), []

    def submit(self, work, /, *values, **named):
        self.submissions.append(values[0].name)
        future = Future()
        trouble = self.troubles.pop(0) if self.troubles else None
        try:
            if trouble is not None:
                raise trouble
            future.set_result(work(*values, **named))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def quickly(monkeypatch):
    monkeypatch.setattr(trial, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(trial, "LONGEST_PAUSE", 0.01)


def test_any_executor_will_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entries, executor = [entry(tmp_path, "a"), entry(tmp_path, "b")], Inline()
    found = {one.name: results for one, results in compare(entries, "out", executor=executor)}
    assert executor.submissions == ["a", "b"]
    assert found == {one.name: run_entry(one, tmp_path / "out" / one.name) for one in entries}


def cached(folder, name):
    """A tiny training from a cache."""
    chosen = entry(folder, name, epochs=1)
    data = chosen.experiment.data.model_copy(update={"cache": "always"})
    return replace(chosen, experiment=chosen.experiment.model_copy(update={"data": data}))


def test_what_trainings_share_is_removed_when_all_are_done(tmp_path):
    out, entries = tmp_path / "out", [cached(tmp_path, "a"), cached(tmp_path, "b")]
    training = compare(entries, out, executor=Inline())
    next(training)
    assert list(out.glob("data.cache/*/about.json"))
    list(training)
    assert sorted(path.name for path in out.iterdir()) == ["a", "b"]


def test_what_trainings_share_stays_while_another_one_needs_it(tmp_path):
    out, others = tmp_path / "out", cached(tmp_path, "b")
    begin(others.experiment, out / "b", cache=out / "data.cache")
    list(compare([cached(tmp_path, "a")], out, executor=Inline()))
    assert list(out.glob("data.cache/*/about.json"))
    list(compare([others], out, executor=Inline()))
    assert not (out / "data.cache").exists()


def test_what_trainings_share_stays_if_one_has_failed(tmp_path):
    entries = [cached(tmp_path, "a"), replace(cached(tmp_path, "b"), test="nowhere.conllu")]
    with pytest.raises(CompareError, match="nowhere.conllu: There is no such file"):
        list(compare(entries, tmp_path / "out", executor=Inline()))
    assert list(tmp_path.glob("out/data.cache/*/about.json"))


def test_a_part_leaves_what_the_others_need(tmp_path):
    list(run_entries([cached(tmp_path, "a")], tmp_path / "out", executor=Inline()))
    assert list(tmp_path.glob("out/data.cache/*/about.json"))


def test_lost_workers_are_replaced(tmp_path, quickly):
    executor = Inline(BrokenProcessPool("killed"), None, CancelledError())
    found = compare([entry(tmp_path, "a"), entry(tmp_path, "b")], tmp_path, executor=executor)
    assert sorted(one.name for one, _ in found) == ["a", "b"]
    assert executor.submissions == ["a", "b", "a", "a"]


def test_an_executor_that_takes_no_work_is_given_up(tmp_path, quickly):
    class Broken(Executor):
        def submit(self, work, /, *values, **named):
            raise BrokenProcessPool("it is gone")

    heard = []
    with pytest.raises(CompareError, match="was lost 5 times .*it is gone"):
        list(
            compare(
                [entry(tmp_path, "a")],
                tmp_path,
                executor=Broken(),
                on_failure=lambda one, error: heard.append((one.name, type(error))),
            )
        )
    assert heard == [("a", trial.LostEntryError)]


def test_a_folder_that_is_busy_is_waited_for_and_its_results_are_read(tmp_path, quickly):
    """Another process holds it, and is done in the end."""
    chosen = entry(tmp_path, "a")
    expected = run_entry(chosen, tmp_path / "other")

    class Meanwhile(Inline):
        def submit(self, work, /, *values, **named):
            if len(self.submissions) < 3:
                with prepared.checkpointer.held():
                    return super().submit(work, *values, **named)
            if len(self.submissions) == 3:
                shutil.copytree(tmp_path / "other", values[1], dirs_exist_ok=True)
            return super().submit(work, *values, **named)

    prepared = begin(chosen.experiment, tmp_path / "out" / "a")
    executor = Meanwhile()
    assert [r for _, r in compare([chosen], tmp_path / "out", executor=executor)] == [expected]
    assert executor.submissions == ["a"] * 4


def test_errors_of_the_work_are_not_tried_again(tmp_path):
    chosen, executor = entry(tmp_path, "a"), Inline()
    (tmp_path / "train.conllu").unlink()
    with pytest.raises(CompareError, match="There is no such file"):
        list(compare([chosen], tmp_path / "out", executor=executor))
    assert executor.submissions == ["a"]


def test_who_leaves_early_cancels_what_has_not_begun(tmp_path):
    class Later(Inline):
        def submit(self, work, /, *values, **named):
            if not self.submissions:
                return super().submit(work, *values, **named)
            self.left = Future()
            return self.left

    executor = Later()
    found = compare([entry(tmp_path, "a"), entry(tmp_path, "b")], tmp_path, executor=executor)
    next(found)
    found.close()
    assert executor.left.cancelled()


def test_who_is_slower_to_begin_resumes(tmp_path, monkeypatch):
    """Another process makes the folder after this one has looked, and is killed."""
    chosen = entry(tmp_path, "a")
    run_entry(chosen, tmp_path / "alone")

    def slowly(*arguments):
        monkeypatch.undo()
        part(begin(*arguments[1:3]), 3)
        return experiments.begin(*arguments)

    monkeypatch.setattr(runner, "begin", slowly)
    run_entry(chosen, tmp_path / "run")
    assert contents(tmp_path / "run") == contents(tmp_path / "alone")


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda metrics: metrics.pop("results"),
        lambda metrics: metrics["results"][0].pop("width"),
        lambda metrics: metrics.update(results=3),
        lambda metrics: metrics.pop("fingerprint"),
        lambda metrics: metrics["costs"].pop(),
        lambda metrics: metrics["costs"][0].pop(),
    ],
)
def test_damaged_metrics_are_measured_again(tmp_path, change):
    one = replace(entry(tmp_path / "one", "one", epochs=1), costs=True)
    run_entry(one, tmp_path / "out")
    path = tmp_path / "out" / "metrics.json"
    before = json.loads(path.read_text())
    metrics = json.loads(path.read_text())
    change(metrics)
    path.write_text(json.dumps(metrics))
    run_entry(one, tmp_path / "out")
    assert json.loads(path.read_text())["costs"] == before["costs"]
