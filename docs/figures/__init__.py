"""The figures of the documentation, made by code: `PYTHONPATH=docs python -m figures`."""
