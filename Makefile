# Everything runs in a virtual environment in this folder; `make` creates it when needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Write compiled modules even if the shell disables it: without them every process starts seconds later.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: quickstart test check lint docs browser tour bench clean

quickstart: $(VENV)/.runtime
	$(BIN)/python quickstart.py

# Most tests spend their time compiling, so they use XLA's fastest compilation. A later XLA may no
# longer have the second flag and would then refuse to start with it.
QUICK = level=--xla_backend_optimization_level=0; older=--xla_cpu_use_fusion_emitters=false; \
	XLA_FLAGS=$$older $(BIN)/python -c "import jax; jax.devices()" 2> /dev/null || older=; \
	export XLA_FLAGS="$$XLA_FLAGS $$level $$older";

# One process runs all tests of a file, so that they share fixtures and compiled programs.
PYTEST = $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# All tests except those in a browser. The second line tests every package with the compiler that users have.
test: $(VENV)/.dev lint
	$(QUICK) $(PYTEST) -m "not learning and not browser and not default_compiler"
	$(PYTEST) -m "learning or default_compiler"

# The quick checks, for use while you work.
check: $(VENV)/.dev lint
	$(QUICK) $(PYTEST) -m "not slow and not learning and not browser and not default_compiler"

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Builds the site in site/; a broken link or anchor, or a page missing from the navigation, is an error.
# Not --quiet: MkDocs would then ignore its own warnings.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean
	@echo "the site is in site/; to read it, run python3 -m http.server --directory site and open http://localhost:8000"

# Tests the report and the site in a real browser: needs Chromium, which cannot be installed with pip.
browser: $(VENV)/.dev docs
	$(QUICK) $(PYTEST) -m browser

# Runs the notebook again and stores its outputs.
tour: $(VENV)/.dev
	$(BIN)/python docs/tools/run_notebook.py docs/tour.ipynb

# First checks that the plain implementation computes the same as ours, then measures how fast all are.
bench: $(VENV)/.bench
	$(BIN)/python -m pytest benchmarks
	$(BIN)/python benchmarks/replay.py
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) site

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "freqdyna needs Python 3.11 or newer; choose one with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(VENV)/bin/python
	@echo "installing freqdyna and its dependencies into $(VENV) (a minute or two) ..."
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
