import errno
import json
import os
import random
import subprocess
import sys

import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.data import atomic, lease
from beamlearn.data.lease import LeaseLostError
from beamlearn.data.sealed import DamagedError, seal, unseal
from beamlearn.training.run import BusyError, Checkpoint, Run, RunError, Trace

DTYPES = [
    torch.bool,
    torch.uint8,
    torch.int32,
    torch.int64,
    torch.bfloat16,
    torch.float16,
    torch.float32,
    torch.float64,
]


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", {"width": 8}, {"tags": ["D", "N"]})


def checkpoint(round):
    return Checkpoint(round, {"theta": torch.full((3,), float(round))}, {"best": 0.1 * round})


def same(one, two):
    """Equal names, types, shapes and bytes: NaN is itself, and -0 is not 0."""
    assert one.keys() == two.keys()
    for name, tensor in one.items():
        other = two[name]
        assert (tensor.dtype, tensor.shape) == (other.dtype, other.shape)
        raw = [t.detach().contiguous().flatten().view(torch.uint8) for t in (tensor, other)]
        assert torch.equal(*raw)


# --- create and open ----------------------------------------------------------------------------


def test_create_makes_what_open_finds(tmp_path):
    config = {"zeta": 1, "alpha": {"rate": 0.1 + 0.2}, "word": "smørrebrød\u2028粥"}
    Run.create(str(tmp_path / "deep" / "er" / "run"), config, {"tags": ["粥"]})
    run = Run.open(tmp_path / "deep" / "er" / "run")
    assert run.config == config
    assert list(run.config) == list(config)
    assert run.vocabulary == {"tags": ["粥"]}
    assert (run.load_metrics(), run.latest_checkpoint(), list(run.rounds())) == (None, None, [])


def test_json_is_written_to_be_read(run):
    run.save_metrics({"b": "ø", "a": [1]})
    text = (run.path / "metrics.json").read_text(encoding="utf-8")
    assert text == '{\n  "b": "ø",\n  "a": [\n    1\n  ]\n}\n'


def test_create_keeps_what_it_was_given_apart(tmp_path):
    config = {"list": [1]}
    run = Run.create(tmp_path, config, {})
    config["list"].append(2)
    assert run.config == {"list": [1]}


def test_create_accepts_empty_folders_and_what_a_killed_create_left(tmp_path):
    (tmp_path / ".config.json.0123abcd.tmp").write_text("{")
    (tmp_path / "vocabulary.json").write_text('{"old": 1}')
    (tmp_path / "lock").touch()
    run = Run.create(tmp_path, {}, {"new": 1})
    assert run.vocabulary == {"new": 1}
    with run.lock():
        assert not list(tmp_path.glob(".*"))


def test_create_refuses_a_run(run):
    with pytest.raises(RunError, match="already holds a run; resume it, or choose another"):
        Run.create(run.path, {"width": 1}, {})
    assert Run.open(run.path).config == {"width": 8}


@pytest.mark.parametrize("name", ["rounds.jsonl", "model.safetensors", "checkpoint"])
def test_create_refuses_parts_of_another_run(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(RunError, match=f"holds {name} of a run whose config.json is gone"):
        Run.create(tmp_path, {}, {})


@pytest.mark.parametrize("below", ["file", "file/run", "file/deep/run"])
def test_create_refuses_a_file(tmp_path, below):
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="must be a folder, but a file is in its place; choose"):
        Run.create(tmp_path / below, {}, {})


def test_create_leaves_nothing_when_the_config_cannot_be_written(tmp_path):
    with pytest.raises(RunError, match="config.json can hold only finite numbers.* 'rate' = nan"):
        Run.create(tmp_path / "run", {"nested": {"rate": float("nan")}}, {})
    assert not (tmp_path / "run").exists()


def test_config_comes_last(tmp_path, monkeypatch):
    written = []
    write = atomic.write_bytes
    monkeypatch.setattr(atomic, "write_bytes", lambda p, b: (written.append(p.name), write(p, b)))
    Run.create(tmp_path, {}, {})
    assert written == ["vocabulary.json", "config.json"]


def test_open_errors(tmp_path):
    with pytest.raises(RunError, match="There is no folder .*nowhere; give one"):
        Run.open(tmp_path / "nowhere")
    with pytest.raises(RunError, match="is not a run folder, as there is no config.json in it"):
        Run.open(tmp_path)
    config = tmp_path / "config.json"
    config.write_text('{\n  "width": 8,\n  oops\n}')
    with pytest.raises(RunError, match=r"config.json is not valid JSON \(.* line 3 column 3"):
        Run.open(tmp_path)
    config.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(RunError, match="config.json is not valid JSON .* in position 7"):
        Run.open(tmp_path)
    config.write_text("[1]")
    with pytest.raises(RunError, match="expected an object, got a list"):
        Run.open(tmp_path)
    config.write_text("{}")
    with pytest.raises(RunError, match="There is no .*vocabulary.json; restore it from a copy"):
        _ = Run.open(tmp_path).vocabulary


@pytest.mark.parametrize(
    ("value", "name"),
    [(float("inf"), "inf"), (torch.ones(1), "tensor"), ("\ud800", "ud800"), ({1}, "{1")],
)
def test_what_json_cannot_hold_is_named(run, value, name):
    with pytest.raises(RunError, match=f"metrics.json can hold only .*, got 'bad' = .*{name}.*"):
        run.save_metrics({"good": 1, "inner": {"bad": value}})
    with pytest.raises(RunError, match=f"rounds.jsonl can hold only .*, got 'bad' = .*{name}.*"):
        run.log({"round": 1, "bad": value})
    with pytest.raises(RunError, match=f"safetensors can hold only .*, got 'bad' = .*{name}.*"):
        run.save_checkpoint(Checkpoint(1, {}, {"bad": value}))
    assert sorted(os.listdir(run.path)) == ["config.json", "lock", "vocabulary.json"]


# --- tensors ------------------------------------------------------------------------------------


@st.composite
def tensors(draw):
    """Any bytes of any type, so with NaN, infinities and negative zeros."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    size = torch.empty(shape, dtype=dtype).nbytes
    raw = draw(st.binary(min_size=size, max_size=size))
    if dtype == torch.bool:
        raw = bytes(byte & 1 for byte in raw)
    flat = torch.tensor(list(raw), dtype=torch.uint8).view(dtype)
    return flat.reshape(shape)


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
numbers = st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(names, tensors(), max_size=4), st.dictionaries(names, plain, max_size=3))
def test_checkpoints_come_back_bit_for_bit(tmp_path_factory, state, facts):
    run = Run.create(tmp_path_factory.mktemp("run"), {}, {})
    run.save_checkpoint(Checkpoint(7, state, facts))
    found = run.latest_checkpoint()
    same(found.tensors, state)
    assert (found.round, found.facts) == (7, facts)
    assert repr(found.facts) == repr(facts)  # -0.0 == 0.0 and 1 == 1.0
    run.save_model(state)
    same(run.load_model(), state)


def test_layout_sharing_and_gradients_do_not_matter(run):
    base = torch.arange(12.0).reshape(3, 4)
    state = {
        "base": base,
        "again": base,
        "transposed": base.T,
        "column": base[:, 1],
        "expanded": base[0].expand(5, 4),
        "image": torch.rand(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        "parameter": torch.nn.Parameter(base),
    }
    run.save_model(state)
    found = run.load_model()
    same(found, state)
    assert len({tensor.data_ptr() for tensor in found.values()}) == len(state)
    for tensor in found.values():
        assert tensor.is_contiguous()
        assert not tensor.requires_grad
        assert tensor.device.type == "cpu"


def test_loaded_tensors_own_aligned_memory(run):
    run.save_model({"a": torch.ones(1, dtype=torch.uint8), "b": torch.ones(9), "c": torch.ones(())})
    found = run.load_model()
    for tensor in found.values():
        assert tensor.data_ptr() % 16 == 0
        assert tensor.untyped_storage().nbytes() == tensor.nbytes
    found["b"].zero_()
    assert run.load_model()["b"].sum() == 9


def test_equal_contents_give_equal_files():
    state = {"b": torch.ones(2), "a": torch.zeros(3, dtype=torch.bool)}
    once = seal(state, "{}")
    assert all(seal(dict(reversed(state.items())), "{}") == once for _ in range(8))


@pytest.fixture(scope="module")
def sealed():
    state = {"w": torch.tensor([1.0, -2.0]), "n": torch.tensor(3), "m": torch.tensor([True, False])}
    return seal(state, '{"best": 0.25}')


def test_every_truncation_is_found(tmp_path, sealed):
    path = tmp_path / "file"
    for length in range(len(sealed)):
        path.write_bytes(sealed[:length])
        with pytest.raises(DamagedError):
            unseal(path)
    path.write_bytes(sealed + b"\0")
    with pytest.raises(DamagedError):
        unseal(path)


@pytest.mark.parametrize("flip", [0x01, 0x20, 0xFF])
def test_every_changed_byte_is_found(tmp_path, sealed, flip):
    path = tmp_path / "file"
    for position in range(len(sealed)):
        changed = bytearray(sealed)
        changed[position] ^= flip
        path.write_bytes(changed)
        with pytest.raises(DamagedError):
            unseal(path)


@pytest.mark.parametrize(
    ("old", "new"), [(b'"w"', b'"v"'), (b"0.25", b"0.26"), (b'"I64"', b'"U64"'), (b"[2]", b"[1,2]")]
)
def test_the_digest_covers_names_note_types_and_shapes(tmp_path, sealed, old, new):
    size = int.from_bytes(sealed[:8], "little")
    header, payload = sealed[8 : 8 + size].rstrip(b" "), sealed[8 + size :]
    assert header.count(old) >= 1
    header = header.replace(old, new, 1)
    header += b" " * (-len(header) % 8)
    path = tmp_path / "file"
    path.write_bytes(len(header).to_bytes(8, "little") + header + payload)
    with pytest.raises(DamagedError, match="its digest does not match its contents"):
        unseal(path)


def test_the_model_of_a_run_that_has_none(run):
    with pytest.raises(RunError, match="There is no .*model.safetensors yet, .* ended; resume it"):
        run.load_model()


def test_a_damaged_model(run):
    path = run.path / "model.safetensors"
    run.save_model({"theta": torch.ones(3)})
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(RunError, match="model.safetensors is damaged .it cannot be read: .*copy"):
        run.load_model()
    path.write_bytes(whole[:-1] + b"\x01")
    with pytest.raises(RunError, match=r"is damaged \(its digest does not match its contents\)"):
        run.load_model()
    path.write_bytes(safetensors.torch.save({"theta": torch.ones(3)}))
    with pytest.raises(RunError, match=r"is damaged \(it carries no digest\); restore it"):
        run.load_model()


# --- checkpoints --------------------------------------------------------------------------------


def kept(run):
    return sorted(int(path.stem[6:]) for path in (run.path / "checkpoint").iterdir())


def test_the_two_newest_checkpoints_are_kept(run):
    for round in (1, 5, 99_999_999, 100_000_000):  # where names stop sorting like numbers
        run.save_checkpoint(checkpoint(round))
        assert run.latest_checkpoint().round == round
    assert kept(run) == [99_999_999, 100_000_000]


def damage(path, how):
    if how == "truncated":
        path.write_bytes(path.read_bytes()[:-3])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "tampered":
        path.write_bytes(path.read_bytes()[:-1] + b"\x07")
    elif how == "folder":
        path.unlink()
        path.mkdir()
    elif how == "model":
        path.write_bytes(seal({"theta": torch.ones(3)}))
    elif how == "renamed":
        path.write_bytes((path.parent / "round-00000001.safetensors").read_bytes())


@pytest.mark.parametrize("how", ["truncated", "empty", "tampered", "folder", "model", "renamed"])
def test_a_damaged_checkpoint_is_passed_over(run, how):
    for round in (1, 2):
        run.save_checkpoint(checkpoint(round))
    damage(run.path / "checkpoint" / "round-00000002.safetensors", how)
    told = []
    found = run.latest_checkpoint(told.append)
    assert found.round == 1
    same(found.tensors, checkpoint(1).tensors)
    (sentence,) = told
    assert "round-00000002.safetensors cannot be used (" in sentence
    assert sentence.endswith("going back to round 1 instead.")
    with pytest.warns(UserWarning, match="going back to round 1 instead"):
        run.latest_checkpoint()


def test_no_whole_checkpoint_is_an_error(run):
    for round in (1, 2):
        run.save_checkpoint(checkpoint(round))
    for path in (run.path / "checkpoint").iterdir():
        damage(path, "truncated")
    told = []
    with pytest.raises(RunError, match="No checkpoint in .* can be used, not even round-00000001"):
        run.latest_checkpoint(told.append)
    assert len(told) == 1


def test_going_back_deletes_what_was_passed_over(run):
    for round in (4, 8):
        run.save_checkpoint(checkpoint(round))
    damage(run.path / "checkpoint" / "round-00000008.safetensors", "tampered")
    run.save_checkpoint(checkpoint(5))
    assert kept(run) == [4, 5]
    assert run.latest_checkpoint().round == 5


def test_other_files_beside_checkpoints_are_left_alone(run):
    run.save_checkpoint(checkpoint(1))
    (run.path / "checkpoint" / "notes.txt").touch()
    run.save_checkpoint(checkpoint(2))
    assert run.latest_checkpoint().round == 2
    assert (run.path / "checkpoint" / "notes.txt").exists()


# --- log ----------------------------------------------------------------------------------------


def test_the_log_is_one_line_per_record(run):
    records = [{"round": 1, "loss": 0.1 + 0.2}, {"round": 2, "text": "a\nb\u2028c\x85d\r粥"}]
    for record in records:
        run.log(record)
    assert list(run.rounds()) == records
    assert (run.path / "rounds.jsonl").read_bytes().count(b"\n") == 2


def test_a_torn_last_line_is_left_out_and_then_removed(run):
    path = run.path / "rounds.jsonl"
    run.log({"round": 1})
    run.log({"round": 2, "text": "粥"})
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for length in range(len(whole)):
        expected = [{"round": 1}] if length >= first else []
        path.write_bytes(whole[:length])
        assert list(run.rounds()) == expected
        run.log({"round": 3})
        assert list(run.rounds()) == [*expected, {"round": 3}]
        path.write_bytes(whole[:length])
        run.rewind_log(9)
        assert path.read_bytes() == whole[: first if expected else 0]


def test_rewinding_drops_later_rounds(run):
    run.rewind_log(3)
    assert not (run.path / "rounds.jsonl").exists()
    for round in (1, 2, 2, 3, 4):
        run.log({"round": round, "loss": 1e-300})
    run.log({"note": "not of a round"})
    run.rewind_log(2)
    assert [record.get("round") for record in run.rounds()] == [1, 2, 2, None]
    run.rewind_log(0)
    assert list(run.rounds()) == [{"note": "not of a round"}]


@pytest.mark.parametrize("bad", ["{", "", "[1]", "NaN!"])
def test_a_bad_line_elsewhere_is_an_error(run, bad):
    path = run.path / "rounds.jsonl"
    path.write_text(f'{{"round": 1}}\n{bad}\n{{"round": 2}}\n')
    with pytest.raises(RunError, match="rounds.jsonl, line 2, is not valid JSON .*; fix it or"):
        list(run.rounds())
    with pytest.raises(RunError, match="line 2"):
        run.rewind_log(1)
    assert bad in path.read_text()


def test_metrics(run):
    run.save_metrics({"accuracy": 0.1 + 0.2})
    assert Run.open(run.path).load_metrics() == {"accuracy": 0.1 + 0.2}
    (run.path / "metrics.json").write_text("{")
    with pytest.raises(RunError, match="metrics.json is not valid JSON"):
        run.load_metrics()


# --- interrupted, and at once -------------------------------------------------------------------


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_write_leaves_the_old_file(run, monkeypatch, call, error):
    run.save_model({"theta": torch.ones(3)})
    before = sorted(os.listdir(run.path))

    def fail(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(type(error)):
            run.save_model({"theta": torch.zeros(3)})
    assert run.load_model()["theta"].sum() == 3
    assert sorted(os.listdir(run.path)) == before


def test_files_reach_the_disk_before_their_names_do(run, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append("fsync"), fsync(fd)))
    monkeypatch.setattr(os, "replace", lambda a, b: (calls.append("replace"), replace(a, b)))
    run.save_metrics({})
    assert calls[:2] == ["fsync", "replace"]


def test_new_files_get_the_usual_permissions(run):
    (run.path / "usual").touch()
    run.save_model({})
    modes = {(run.path / name).stat().st_mode for name in ("usual", "config.json")}
    assert (run.path / "model.safetensors").stat().st_mode in modes
    assert len(modes) == 1


def test_one_training_at_a_time(run):
    sentence = "Another process is training in .*run; wait for it to end, or choose another folder"
    with run.lock(), pytest.raises(RunError, match=sentence), Run.open(run.path).lock():
        pass
    with pytest.raises(KeyError), run.lock():
        raise KeyError
    with run.lock():
        pass


def test_two_processes_do_not_create_the_same_run(tmp_path):
    with atomic.try_lock(tmp_path / "lock") as held:
        assert held
        with pytest.raises(RunError, match="Another process"):
            Run.create(tmp_path, {}, {})
    assert Run.create(tmp_path, {}, {}).config == {}


HOLDER = """
import sys
from pathlib import Path
from beamlearn.data.atomic import try_lock
with try_lock(Path(sys.argv[1])) as held:
    print(held, flush=True)
    sys.stdin.read()
"""


def test_a_killed_process_releases_its_lock(run):
    command = [sys.executable, "-c", HOLDER, str(run.path / "lock")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "True\n"
        with pytest.raises(RunError, match="Another process is training"), run.lock():
            pass
        holder.kill()
        holder.wait()
    with run.lock():
        assert run.config == {"width": 8}


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP])
def test_file_systems_without_locks_are_protected_by_leases(run, monkeypatch, number):
    fcntl = pytest.importorskip("fcntl")

    def fails(*_):
        raise OSError(number, "no locks")

    monkeypatch.setattr(fcntl, "flock", fails)
    with run.lock(), pytest.raises(BusyError), Run.open(run.path).lock():
        pass
    with run.lock():
        run.log({"round": 1})
    assert list(run.rounds()) == [{"round": 1}]


def test_what_another_machine_has_taken_over_is_not_written(run, monkeypatch):
    with run.lock():
        run.log({"round": 1})
        run.lease.path.unlink()  # as the other machine does
        monkeypatch.setattr(lease, "STALE", 0.0)
        for write in (
            lambda: run.log({"round": 2}),
            lambda: run.save_model({}),
            lambda: run.save_checkpoint(checkpoint(2)),
            lambda: run.save_metrics({}),
        ):
            with pytest.raises(LeaseLostError, match="another has taken over"):
                write()
    assert [record["round"] for record in run.rounds()] == [1]
    assert run.trace().checkpoint == ""
    run.save_metrics({})  # without the lock, nobody asks


def test_traces_show_that_somebody_went_on(run):
    traces = [run.trace()]
    run.log({"round": 1})
    traces.append(run.trace())
    run.save_checkpoint(checkpoint(1))
    traces.append(run.trace())
    run.save_checkpoint(checkpoint(2))
    traces.append(run.trace())
    assert traces[0] == Trace()
    assert len(set(traces)) == 4
    assert Run.open(run.path).trace() == traces[-1]


def test_the_lock_sweeps_up_after_killed_writers(run):
    run.save_checkpoint(checkpoint(1))
    left = [".model.safetensors.00.tmp", "checkpoint/.round-00000002.safetensors.00.tmp"]
    left.append(".metrics.json.00.tmp")
    for name in left:
        (run.path / name).touch()
    with run.lock():
        assert not any((run.path / name).exists() for name in left)


TRAINING = """
import os, signal, sys, time
import torch
from beamlearn.training.run import Checkpoint, Run
torch.set_num_threads(1)

def train(path, progress):
    run = Run.open(path)
    with run.lock():
        found = run.latest_checkpoint()
        done = found.round if found else 0
        run.rewind_log(done)
        while True:
            done += 1
            state = {"theta": torch.full((2000,), float(done))}
            run.log({"round": done, "text": "x" * 500})
            run.save_model(state)
            run.save_metrics({"round": done, "text": "x" * 500})
            run.save_checkpoint(Checkpoint(done, state, {"done": done}))
            os.write(progress, b".")

for line in sys.stdin:  # one process imports torch; each training is a fork of it
    rounds, delay, path = line.rstrip("\\n").split(" ", 2)
    seen, progress = os.pipe()
    if not (child := os.fork()):
        train(path, progress)
    os.close(progress)
    for _ in range(int(rounds)):
        os.read(seen, 1)
    time.sleep(float(delay))
    os.kill(child, signal.SIGKILL)
    print(os.waitpid(child, 0)[1], flush=True)
    os.close(seen)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_killed_at_any_moment_everything_is_readable(run):
    moments = random.Random(0)
    command = [sys.executable, "-W", "ignore", "-c", TRAINING]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    reached = 0
    with subprocess.Popen(command, **pipes) as trainer:
        for trial in range(16):
            rounds = trial % 2  # every other one is killed while it starts
            trainer.stdin.write(f"{rounds} {moments.uniform(0, 0.05)} {run.path}\n")
            trainer.stdin.flush()
            assert trainer.stdout.readline() == "9\n"  # killed, and not ended by an error
            before, reached = reached, check_readable(run.path, reached)
            assert reached >= before + rounds
        trainer.stdin.close()


def check_readable(path, reached):
    run = Run.open(path)
    told = []
    found = run.latest_checkpoint(told.append)
    assert told == []
    if found is None:
        assert reached == 0
        return 0
    assert found.round >= reached
    assert found.facts == {"done": found.round}
    assert set(found.tensors["theta"].tolist()) == {found.round}
    (model,) = set(run.load_model()["theta"].tolist())
    assert model in (found.round, found.round + 1)
    assert run.load_metrics()["round"] in (found.round, found.round + 1)
    logged = [record["round"] for record in run.rounds()]
    assert logged in (list(range(1, found.round + extra)) for extra in (1, 2))
    json.loads((path / "vocabulary.json").read_text())
    return found.round


@pytest.mark.parametrize("text", ["1e999", "NaN", r'"\ud800"'])
def test_what_is_never_written_is_no_vocabulary(tmp_path, text):
    run = Run.create(tmp_path, {}, {"tags": [1]})
    (tmp_path / "vocabulary.json").write_text(f'{{"tags": [{text}]}}')
    with pytest.raises(RunError, match="vocabulary.json"):
        _ = Run.open(run.path).vocabulary


@pytest.mark.parametrize("text", ["[" * 20_000, '{"a":' * 20_000])
def test_brackets_without_end(run, text):
    for name in ("config.json", "metrics.json"):
        (run.path / name).write_text(text)
    with pytest.raises(RunError, match="config.json is not valid JSON .*nested too deeply"):
        Run.open(run.path)
    with pytest.raises(RunError, match="metrics.json is not valid JSON .*nested too deeply"):
        run.load_metrics()


@pytest.mark.parametrize(
    "name", ["metrics.json", "decoding.json", "rounds.jsonl", "model.safetensors"]
)
def test_a_folder_in_place_of_a_file(run, name):
    (run.path / name).mkdir()
    with pytest.raises(RunError, match=f"{name} (must be a file|is damaged)"):
        (run.load_metrics(), run.load_decoding(), list(run.rounds()), run.load_model())


ROUND = {"round": 1, "width": 2, "examples": 1, "loss": 0.5, "cost": 0, "increases": 0}
EACH = {"losses": [0.5], "costs": [0], "optima": [0], "steps": [3], "on_policy": [True]}
VALIDATION = {"round": 1, "epoch": 1, "validation_cost": 0.5, "best": True}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (ROUND, "`on_policy` is missing"),
        ({**ROUND, "on_policy": 1, "loss": "low"}, "`loss` must be a number, got 'low'"),
        ({**ROUND, "on_policy": 1, "round": True}, "`round` must be a number, got True"),
        ({**ROUND, "on_policy": 1, "each": []}, "`each` must be an object"),
        ({**ROUND, "on_policy": 1, "each": {**EACH, "steps": [1, 2]}}, "`each.steps` must have"),
        ({**ROUND, "on_policy": 1, "each": {**EACH, "costs": [None]}}, "`each.costs` must be a"),
        ({**ROUND, "on_policy": 1, "each": {**EACH, "on_policy": [1]}}, "`each.on_policy` must"),
        ({**ROUND, "on_policy": 1, "each": EACH, "beta": "x"}, "`beta` must be a number"),
        ({**VALIDATION, "best": 1}, "`best` must be true or false, got 1"),
        ({**VALIDATION, "epoch": None}, "`epoch` must be a number, got None"),
        ({"round": [1]}, "`round` must be a number"),
    ],
)
def test_a_line_of_the_log_that_no_training_wrote(run, record, reason):
    run.log(VALIDATION)
    run.log({**ROUND, "on_policy": 1, "each": EACH, "beta": None})
    assert len(list(run.rounds())) == 2
    run.log(record)
    for read in (lambda: list(run.rounds()), lambda: run.rewind_log(1)):
        with pytest.raises(RunError, match=f"rounds.jsonl, line 3, is not what .*{reason}"):
            read()
