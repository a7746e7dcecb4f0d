"""Transduction: turn a sequence into another one of any length."""
