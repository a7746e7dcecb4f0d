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
"""`TABLE_1`: the rows of the paper's Table 1."""
_LOLS = tuple(
    f"lols_{roll_in}_{roll_out}"
    for roll_in in ("reference", "mixture", "learned")
    for roll_out in ("reference", "mixture", "learned")
)
FAMILY_NAMES = ("searn", "aggrevate", "lols", *_LOLS, "scheduled_sampling", "max_violation")
"""`TABLE_2`: the rest of the family."""
BASELINE_NAMES = ("optimal_completion", "minimum_risk", "minimum_risk_sampled")
"""`BASELINES`, and their losses."""
DEFAULT_ALGORITHM = "joint"
"""The name of `JOINT`."""
ROW_NAMES = (DEFAULT_ALGORITHM, *ALGORITHM_NAMES, *FAMILY_NAMES, *BASELINE_NAMES)
"""`ROWS`."""
STRATEGY_NAMES = (
    "oracle",
    "stop",
    "reset",
    "continue",
    "interpolate",
    "max_violation",
    "sample",
)
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
