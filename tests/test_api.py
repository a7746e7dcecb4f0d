"""The front door: the names that users' code rests on, and an import without extras."""

import inspect
import subprocess
import sys

import beamlearn as bl

PUBLIC = {
    "ALGORITHMS",
    "Algorithm",
    "Average",
    "BestOnValidation",
    "BruteForceOracle",
    "BeamParser",
    "BeamTagger",
    "BeamTransducer",
    "Certificate",
    "Evaluation",
    "Expansion",
    "Finish",
    "FollowTheLeader",
    "FunctionScorer",
    "GraphSpace",
    "GraphTask",
    "Hindsight",
    "Hypothesis",
    "LinearScorer",
    "Mixture",
    "Move",
    "Neighbors",
    "NumberedSpace",
    "Oracle",
    "OracleCheck",
    "ParallelScorer",
    "ProjectedGradient",
    "Reservoir",
    "Round",
    "Scorer",
    "SearchResult",
    "SearchSpace",
    "Task",
    "Trajectory",
    "Visits",
    "baselines",
    "beam_search",
    "beam_trajectory",
    "best_in_hindsight",
    "certify",
    "check_oracle",
    "evaluate",
    "exhaustive_search",
    "incurred",
    "interpolation_alphas",
    "learn",
    "loss_bound",
    "losses",
    "minibatches",
    "on_policy_losses",
    "pooled_search",
    "regret",
    "select",
    "select_iterate",
    "strategies",
    "trajectory_bound",
}


def test_public_names():
    names = {
        name
        for name, value in vars(bl).items()
        if not name.startswith("_")
        and not (inspect.ismodule(value) and name not in ("baselines", "losses", "strategies"))
    }
    # `learn` and `evaluate` are functions that share their names with their modules.
    assert names == PUBLIC


def test_everything_public_is_documented():
    for name in PUBLIC - {"ALGORITHMS", "Finish", "baselines", "losses", "strategies"}:
        assert inspect.getdoc(getattr(bl, name)), name


def test_import_needs_no_extra():
    code = "import sys; sys.modules['networkx'] = None; import beamlearn; print('ok')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "ok\n", done.stderr
