"""Predictions for inputs of any size: window by window, and in many processes."""
