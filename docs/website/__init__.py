"""How the documentation site is made; `make docs` runs it."""
