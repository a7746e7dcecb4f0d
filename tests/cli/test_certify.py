"""`beamlearn certify`, and the policies that it speaks of."""

import json

import pytest
import torch
from tiny import conllu, sentences

from beamlearn.cli.main import run
from beamlearn.learning.iterates import split_states
from beamlearn.theory.certificate import certify
from beamlearn.theory.rerun import iterate_losses, rebuild_training
from beamlearn.theory.run_certificate import RunCertificate
from beamlearn.training.run import Run

PROVEN = [
    *("--model", "linear", "--buckets", 512, "--context", "streaming", "--loss", "upper_bound"),
    *("--optimizer", "gradient", "--learning-rate", 0.5, "--radius", 4, "--width", 2),
    *("--epochs", 1, "--batch-size", 4, "--stream"),
]


@pytest.fixture(autouse=True)
def quick(no_shape_checks):
    """The command line runs without the tests' shape checks, as for users."""


def beamlearn(*arguments):
    return run([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return {
        "train": conllu(folder / "train.conllu", sentences(120)),
        "dev": conllu(folder / "dev.conllu", sentences(20, seed=1)),
        "test": conllu(folder / "test.conllu", sentences(40, seed=2)),
    }


def train(files, out, *more):
    given = ("--train", files["train"], "--dev", files["dev"], "--out", out)
    assert beamlearn("train", "tag", *given, *PROVEN, *more) == 0
    return out


@pytest.fixture(scope="module")
def proven(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("proven") / "run"
    return train(files, out, "--reduction", "mean", "--mixture", 5, "--average")


def told(capsys, *arguments):
    assert beamlearn("certify", *arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_the_certificate_is_that_of_the_logged_losses(proven, capsys):
    found = told(capsys, proven, "--clip", 1, "--delta", 0.1)["certificate"]
    losses = [
        loss for r in Run.open(proven).rounds() if "each" in r for loss in r["each"]["losses"]
    ]
    assert len(losses) == found["rounds"] == 120
    assert found == json.loads(
        json.dumps(certify(losses, upper=1.0, delta=0.1, clip=True).to_json())
    )
    assert found["statement"] == "Theorem 3"


def test_losses_are_those_of_the_iterates_before_their_updates(proven):
    """The loss of a kept iterate on the batch of its own round is what was logged."""
    certified_run = RunCertificate.open(proven)
    batches = rebuild_training(certified_run).batches(0)
    for number, state in certified_run.iterates.items():
        found = iterate_losses(certified_run, state, [batches[number - 1]])
        place = certified_run.examples_before(number)
        assert found == pytest.approx(certified_run.logged.losses[place : place + len(found)])


def test_a_bound_follows_from_the_radius(proven, capsys):
    found = told(capsys, proven)["certificate"]
    assert (
        found["upper"]
        == RunCertificate.open(proven).largest_loss()
        >= max(RunCertificate.open(proven).logged.losses)
    )
    assert found["vacuous"] == (found["bound"] >= found["upper"])


def test_a_run_after_some_of_its_examples(proven, capsys):
    whole, part = RunCertificate.open(proven), RunCertificate.open(proven).first(50)
    assert len(part.logged) == 52  # the end of a round of four
    assert part.logged.losses == whole.logged.losses[:52]
    assert max(part.iterates) <= 13
    assert told(capsys, proven, "--clip", 1, "--examples", 50)["certificate"]["rounds"] == 52


def test_in_words(proven, capsys):
    assert beamlearn("certify", proven, "--clip", 1) == 0
    text = capsys.readouterr().out
    for part in (
        "With probability",
        "Theorem 3, 120 examples",
        "independent draws",
        "the expected cost",
    ):
        assert part in text


@pytest.mark.slow
def test_regret_selection_test_loss_and_figure(proven, files, capsys, tmp_path):
    figure = tmp_path / "bound.svg"
    found = told(
        capsys, proven, "--clip", 3, "--regret", "--select", "--test", files["test"],
        *("--figure", figure),
    )  # fmt: skip
    split = found["regret"]
    assert split["certified"]
    assert split["epsilon_lower"] <= split["epsilon_upper"] <= split["loss"] + 1e-6
    assert found["selection"]["round"] in RunCertificate.open(proven).iterates
    assert found["test_loss"] > 0
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    results = {}
    for policy in ("best", "average", "mixture", "selected"):
        assert beamlearn("evaluate", proven, files["test"], "--policy", policy, "--json") == 0
        results[policy] = json.loads(capsys.readouterr().out)["results"][-1]["accuracy"]
    assert beamlearn("evaluate", proven, files["test"], "--mixture", "--json") == 0
    again = json.loads(capsys.readouterr().out)["results"][-1]["accuracy"]
    assert again == results["mixture"]
    assert min(results.values()) > 0.5


def test_a_mixture_predicts_what_its_iterates_predict(proven, files, capsys):
    from beamlearn.learning.seeds import seed_of
    from beamlearn.tasks.decoding import in_order
    from beamlearn.tasks.experiment import load
    from beamlearn.tasks.tagging.decode import tag
    from beamlearn.tasks.tagging.task import TAGGING

    model, experiment = load(TAGGING, proven)
    words = TAGGING.read(files["test"], experiment).words
    mixed, _ = load(TAGGING, proven, policy="mixture")
    found = in_order(tag(mixed, words, 2))
    iterates = list(split_states(Run.open(proven).load_model("mixture")).values())
    for number, sentence in enumerate(words):
        model.scorer.load_state_dict(iterates[seed_of(0, "example", number) % len(iterates)])
        assert in_order(tag(model, [sentence], 2))[0].tags == found[number].tags


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--epochs", 2], "all but the first of its 2 epochs saw their examples again"),
        (["--no-stream"], "not taken in random order"),
        (["--width", "1:2"], "the width went from 1 to 2"),
        (["--model", "neural", "--dropout", 0.1], "with dropout the recorded losses are not"),
    ],
)
def test_runs_that_the_theorems_say_nothing_about(files, tmp_path, capsys, more, reason):
    out = train(files, tmp_path / "run", *more)
    capsys.readouterr()
    assert beamlearn("certify", out, "--clip", 1) == 2
    error = capsys.readouterr().err
    assert "The theorems do not apply to" in error
    assert reason in error


def test_first_weights_that_saw_the_examples(files, proven, tmp_path, capsys):
    out = train(files, tmp_path / "run", "--warm-start", proven)
    capsys.readouterr()
    assert beamlearn("certify", out, "--clip", 1) == 2
    assert "first weights come from another training" in capsys.readouterr().err


def test_losses_above_the_bound(proven, capsys):
    assert beamlearn("certify", proven, "--upper", 0.001) == 2
    assert "--upper" in capsys.readouterr().err
    assert beamlearn("certify", proven, "--upper", 1, "--clip", 1) == 2
    assert "--upper or --clip can be given, got both; leave out one" in capsys.readouterr().err
    for option, value in (("--clip", "-1"), ("--clip", "nan"), ("--upper", "-1")):
        assert beamlearn("certify", proven, option, value) == 2
        required = f"{option} must be a finite number of at least 0, got {float(value)}.\n"
        assert capsys.readouterr().err == required


def test_a_changed_file_is_noticed(files, tmp_path, capsys):
    copy = tmp_path / "train.conllu"
    with open(files["train"], encoding="utf-8") as file:
        text = file.read()
    copy.write_text(text, encoding="utf-8")
    out = train({**files, "train": str(copy)}, tmp_path / "run", "--mixture", 3)
    copy.write_text(text + text, encoding="utf-8")
    capsys.readouterr()
    for option in ("--select", "--regret"):
        assert beamlearn("certify", out, "--clip", 1, option) == 2
        assert "is not what the training" in capsys.readouterr().err


def test_losses_that_cannot_be_found_again(files, tmp_path, capsys):
    out = train(files, tmp_path / "run", "--mixture", 3)
    log = out / "rounds.jsonl"
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if "each" in line:
            line["each"]["losses"] = [loss + 0.5 for loss in line["each"]["losses"]]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    capsys.readouterr()
    assert beamlearn("certify", out, "--clip", 9, "--select") == 2
    assert "repeated, must give the losses that were logged" in capsys.readouterr().err


def test_a_log_with_a_missing_round(files, tmp_path, capsys):
    out = train(files, tmp_path / "run")
    log = out / "rounds.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join(lines[:5] + lines[6:]), encoding="utf-8")
    capsys.readouterr()
    assert beamlearn("certify", out, "--clip", 1) == 2
    assert "not the log of one pass" in capsys.readouterr().err


def test_constraints_and_stop_leave_losses_unbounded(files, tmp_path, capsys):
    out = train(files, tmp_path / "run", "--strategy", "stop")
    capsys.readouterr()
    assert beamlearn("certify", out) == 2
    assert "a strategy that goes to the end" in capsys.readouterr().err


def test_first_weights_are_put_into_the_ball(files):
    from tiny import training

    from beamlearn.learning.learn import Round

    steps = training(optimizer="gradient", radius=0.1, learning_rate=1.0)
    weights = torch.cat([p.detach().flatten() for p in steps.scorer.parameters()])
    assert float(weights.norm()) == pytest.approx(0.1)
    assert isinstance(next(iter(steps)), Round)


def test_no_iterate_so_early(files, tmp_path, capsys):
    out = train(files, tmp_path / "run", "--mixture", 1)
    number = next(iter(RunCertificate.open(out).iterates))
    capsys.readouterr()
    if number > 1:
        assert beamlearn("certify", out, "--clip", 1, "--examples", 1, "--select") == 2
        assert "None of the iterates kept" in capsys.readouterr().err
    assert beamlearn("certify", out, "--clip", 1, "--figure", "bound.gif") == 2
    assert "--figure must end in" in capsys.readouterr().err


def test_nothing_bounds_the_losses(files, tmp_path, capsys):
    out = tmp_path / "run"
    given = ("--train", files["train"], "--dev", files["dev"], "--out", out)
    plain = ("--model", "linear", "--buckets", 512, "--stream", "--epochs", 1)
    assert beamlearn("train", "tag", *given, *plain) == 0
    capsys.readouterr()
    assert beamlearn("certify", out) == 2
    assert "got a run without a known bound" in capsys.readouterr().err
    assert beamlearn("certify", out, "--upper", 1000) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "statement"),
    [
        (["--strategy", "stop"], "Theorem 4"),
        (["--strategy", "reset"], "Theorem 4"),
        (["--strategy", "oracle"], "Theorem 4"),
        (["--strategy", "interpolate", "--beta", "0.5:0"], "Equation 30"),
    ],
)
def test_each_strategy_has_its_theorem(files, tmp_path, capsys, more, statement):
    out = train(files, tmp_path / "run", *more)
    capsys.readouterr()
    found = told(capsys, out, "--clip", 5)["certificate"]
    assert found["statement"] == statement
    assert found["roll_in_gap"] > 0


def test_flags_that_are_missing(files, tmp_path, capsys):
    out = train(files, tmp_path / "run", "--strategy", "reset")
    log = out / "rounds.jsonl"
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line.get("each", {}).pop("on_policy", None)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    capsys.readouterr()
    assert beamlearn("certify", out, "--clip", 5) == 2
    assert "lacks the on-policy flags that reset needs" in capsys.readouterr().err


def test_policies_that_were_not_kept(files, tmp_path, capsys):
    out = train(files, tmp_path / "run")
    for policy, remedy in (
        ("mixture", "--mixture 32"),
        ("average", "--average"),
        ("selected", "certify the run and select one"),
    ):
        assert beamlearn("evaluate", out, files["test"], "--policy", policy) == 2
        assert remedy in capsys.readouterr().err
    assert beamlearn("evaluate", out, files["test"], "--policy", "bets") == 2
    assert "best" in capsys.readouterr().err


def test_a_killed_run_keeps_the_same_iterates(files, proven, tmp_path):
    from beamlearn.learning.learn import Round
    from beamlearn.tasks.experiment import begin, read_experiment, resume
    from beamlearn.tasks.tagging.task import TAGGING
    from beamlearn.training.trainer import fit

    experiment = read_experiment(TAGGING, Run.open(proven))
    prepared = begin(TAGGING, experiment, tmp_path / "run")
    for event in prepared.training:
        if isinstance(event, Round) and event.number == 13:
            prepared.checkpointer.save(prepared.training)
        if isinstance(event, Round) and event.number == 17:
            break
    again = resume(TAGGING, tmp_path / "run")
    with again.checkpointer.run.lock():
        fit(again.training, again.checkpointer)
    for policy in ("best", "average", "mixture"):
        one, two = (Run.open(path).load_model(policy) for path in (proven, tmp_path / "run"))
        assert one.keys() == two.keys()
        assert all(one[name].equal(two[name]) for name in one)
