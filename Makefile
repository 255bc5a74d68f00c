# Everything runs in a virtual environment of this folder; `make` sets it up when needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: quickstart test lint docs browser tour bench clean

quickstart: $(VENV)/.runtime
	$(BIN)/python quickstart.py

# Most tests compile more than they compute: they get XLA's quickest compilation. The second flag may
# go in a later XLA, which would refuse to start with it.
QUICK = level=--xla_backend_optimization_level=0; older=--xla_cpu_use_fusion_emitters=false; \
	XLA_FLAGS=$$older $(BIN)/python -c "import jax; jax.devices()" 2> /dev/null || older=; \
	export XLA_FLAGS="$$XLA_FLAGS $$level $$older";

# The tests of a file are run by one process: they share fixtures and compiled programs.
test: $(VENV)/.dev lint
	$(QUICK) $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder \
		-m "not learning and not browser"
	$(BIN)/python -m pytest -n auto -m learning

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The site, into site/; a broken link or anchor, or a page left out of the navigation, is an error.
# Not --quiet: MkDocs then overlooks its own warnings.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean
	@echo "the site is in site/; to read it: python3 -m http.server --directory site, then http://localhost:8000"

# Report and site in a real browser: needs Chromium, which no package of Python's brings.
browser: $(VENV)/.dev docs
	$(QUICK) $(BIN)/python -m pytest -n auto -m browser

# Runs the notebook anew and keeps its outputs.
tour: $(VENV)/.dev
	$(BIN)/python docs/tools/run_notebook.py docs/tour.ipynb

# First that the plain implementation computes the same as ours, then how fast all are.
bench: $(VENV)/.bench
	$(BIN)/python -m pytest benchmarks
	$(BIN)/python benchmarks/replay.py
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) site

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "freqdyna needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(VENV)/bin/python
	@echo "installing freqdyna and what it needs into $(VENV) (a minute or two) ..."
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	@echo "installing MkDocs into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[docs]'
	@touch $@ $(VENV)/.runtime

$(VENV)/.bench: pyproject.toml | $(VENV)/.dev
	@echo "installing the libraries to compare with into $(VENV) (PyTorch is large) ..."
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[bench]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "installing freqdyna and its test tools into $(VENV) (a minute or two) ..."
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.docs $(VENV)/.runtime
