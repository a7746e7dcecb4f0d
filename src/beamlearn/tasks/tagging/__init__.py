"""Tagging: a label for each word of a sentence, from left to right."""
