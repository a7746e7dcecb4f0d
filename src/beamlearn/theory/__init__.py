"""The theorems as numbers: certificates, regret, and what bounds a loss."""
