"""Runs in repositories of the Hugging Face Hub: there with `push`, back by their names."""
