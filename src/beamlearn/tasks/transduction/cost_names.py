"""The names of costs: plain text, so that `--help` loads no torch."""

COSTS = ("edit", "hamming", "exact", "bleu", "chrf")
"""Those with completion costs of their own (`oracles`)."""
PREFIX = "rollout:"
"""What the name of a cost begins with if it is only known for whole outputs (`text_costs`)."""
ROLLED_OUT = ("chrf", "bleu", "rouge-l", "exact")
"""What may follow it, beside a function of one's own."""
