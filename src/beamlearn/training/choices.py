"""The names that settings choose from: plain text, so that `--help` loads no torch.

A test keeps them equal to the tables that they are the keys of.
"""

from typing import Literal

ALGORITHM_NAMES = (
    "log_likelihood",
    "dagger",
    "early_update",
    "laso_perceptron",
    "laso_margin",
    "bso",
    "globally_normalized",
    "continue",
)
"""`ALGORITHMS`: the rows of the paper's Table 1."""
BASELINE_NAMES = ("optimal_completion", "minimum_risk", "minimum_risk_sampled")
"""`BASELINES`, and their losses."""
DEFAULT_ALGORITHM = "joint"
"""The name of `JOINT`."""
ROW_NAMES = (DEFAULT_ALGORITHM, *ALGORITHM_NAMES, *BASELINE_NAMES)
"""`ROWS`."""
STRATEGY_NAMES = ("oracle", "stop", "reset", "continue", "interpolate", "sample")
"""`STRATEGIES`."""
LOSS_NAMES = (
    "perceptron_first",
    "perceptron_last",
    "margin_last",
    "cost_sensitive_margin_last",
    "upper_bound",
    "log_loss_beam",
    "log_loss_neighbors",
    "cost_sensitive_margin_beam",
    "softmax_margin_beam",
    "weighted_pairs_all",
    "weighted_pairs_bipartite",
    "weighted_pairs_hybrid",
    *BASELINE_NAMES,
)
"""`SURROGATES`: the twelve losses, and those of the baselines."""
Policy = Literal["best", "average", "mixture", "selected"]
"""The best on validation; the average of the iterates; many of them; the one with a bound."""
