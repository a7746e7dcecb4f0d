"""Transduction: turn a sequence into another one, of whatever length."""
