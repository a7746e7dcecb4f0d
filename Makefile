# `make demo` and `make test` set everything up by themselves in .venv.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready
READY_FOR_DOCS := $(VENV)/.ready-docs

.PHONY: ready demo test quick check wheel docs benchmarks clean

ready: $(READY)

demo: $(READY)
	$(VENV)/bin/beamlearn demo --out build/demo

test: $(READY)
	$(VENV)/bin/python -m pytest -n 2 --dist worksteal -m ""

# All but the tests that train for longer.
quick: $(READY)
	$(VENV)/bin/python -m pytest -n 2 --dist worksteal

check: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

# Builds the source distribution and from it the wheel, looks at what is in them, installs the wheel
# in an environment of its own and runs a part of the tests there: from another folder and without
# this project's settings, so that they import the wheel. (`--no-compile`: Python compiles the few
# modules that are used, when they are.)
WHEEL_TESTS := search/test_beam_search.py losses/test_equations.py \
	reports/test_search_drawing.py cli/test_tagging.py
wheel: $(READY)
	rm -rf dist build/clean
	$(VENV)/bin/python -m build --outdir dist
	$(VENV)/bin/python .ci/distributions.py dist
	$(PYTHON) -m venv build/clean
	build/clean/bin/python -m pip install --quiet --no-compile -c constraints.txt \
		"$$(echo dist/*.whl)[pages]" pytest hypothesis beartype
	cd build && clean/bin/python -c "import beamlearn as bl; assert 'site-packages' in bl.__file__; assert sum(row.table == 1 for row in bl.ALGORITHMS.values()) == 8 and len(bl.losses.LOSSES) == 12; print('imported', bl.__name__, bl.__version__)"
	build/clean/bin/beamlearn --version
	cd build && clean/bin/python -m pytest -q -c /dev/null --rootdir ../tests \
		-p no:cacheprovider -o pythonpath=$(CURDIR)/tests --import-mode=importlib \
		-k "beam_search or batch_law or drawing or run_folder or round_trip or installed" \
		$(WHEEL_TESTS:%=../tests/%)

# Builds the site in build/site, and opens it in a browser where there is one.
docs: $(READY_FOR_DOCS)
	PYTHONPATH=docs $(VENV)/bin/python -m website build/site-source
	rm -rf build/site
	$(VENV)/bin/python -m sphinx -q -W --keep-going -E -c docs/website -d build/site-cache \
		build/site-source build/site
	$(VENV)/bin/python -m pytest -q -m "" tests/docs/test_site.py

benchmarks: $(READY)
	for name in weighted_pairs selection search_overhead training_round; do \
		$(VENV)/bin/python benchmarks/$$name.py || exit 1; done

$(READY): pyproject.toml constraints.txt
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --upgrade pip
	$(VENV)/bin/python -m pip install --quiet --no-compile -c constraints.txt -e ".[dev]"
	touch $(READY)

$(READY_FOR_DOCS): $(READY)
	$(VENV)/bin/python -m pip install --quiet -c constraints.txt -e ".[docs]"
	touch $(READY_FOR_DOCS)

clean:
	rm -rf $(VENV) build dist
