"""The front door: the names that users' code rests on, and an import without extras."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import beamlearn as bl

PUBLIC = {
    "ALGORITHMS",
    "Algorithm",
    "Automaton",
    "Average",
    "BestOnValidation",
    "BruteForceOracle",
    "BeamParser",
    "BeamTagger",
    "BeamTransducer",
    "Certificate",
    "ConstrainedSpace",
    "Constraint",
    "Evaluation",
    "Expansion",
    "Finish",
    "FollowTheLeader",
    "FunctionScorer",
    "GraphSpace",
    "GraphTask",
    "Hindsight",
    "Hypothesis",
    "ItemIndex",
    "JOINT",
    "LinearScorer",
    "Mixture",
    "Move",
    "Neighbors",
    "NumberedSpace",
    "Oracle",
    "OracleCheck",
    "ParallelScorer",
    "PathScorer",
    "ProjectedGradient",
    "RankingMetrics",
    "Reservoir",
    "RightPath",
    "RolloutOracle",
    "Round",
    "SampleResult",
    "SampledOutput",
    "Scorer",
    "SearchResult",
    "SearchSpace",
    "StepsLeft",
    "Task",
    "Trajectory",
    "TrieNodes",
    "TrieSpace",
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
    "ranking_metrics",
    "regret",
    "select",
    "select_iterate",
    "stochastic_beam_search",
    "strategies",
    "trajectory_bound",
}


def test_public_names():
    assert set(bl.__all__) == PUBLIC
    assert set(dir(bl)) >= PUBLIC


def test_the_stub_lists_what_there_is():
    stub = ast.parse(Path(bl.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    listed = {alias.asname: (node.module, alias.name) for node in imports for alias in node.names}
    assert listed.keys() == PUBLIC
    for name, (module, original) in listed.items():
        assert name == original
        source = import_module(f"beamlearn.{module}" if module else f"beamlearn.{name}")
        assert getattr(bl, name) is (getattr(source, name) if module else source)


def test_functions_are_not_hidden_by_modules_of_the_same_name():
    """Importing a module sets its name on the package that it is in."""
    import beamlearn.evaluation.evaluate
    import beamlearn.learning.learn
    import beamlearn.search.beam_search  # noqa: F401 (importing is the test)

    assert callable(bl.evaluate)
    assert callable(bl.learn)
    assert callable(bl.beam_search)


def test_a_name_that_there_is_not():
    with pytest.raises(AttributeError, match="beam_serach"):
        _ = bl.beam_serach


def test_everything_public_is_documented():
    for name in PUBLIC - {"ALGORITHMS", "Finish", "baselines", "losses", "strategies"}:
        assert inspect.getdoc(getattr(bl, name)), name


@pytest.mark.slow
def test_import_needs_no_extra():
    code = (
        "import sys; sys.modules['networkx'] = None; import beamlearn as bl; "
        "[getattr(bl, name) for name in bl.__all__]; print('ok')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "ok\n", done.stderr
