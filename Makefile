# Everything runs in a virtual environment in this folder; `make` creates it when needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Write compiled modules even if the shell disables it: without them every process starts seconds later.
unexport PYTHONDONTWRITEBYTECODE
# The tested version of every package. Set to nothing, `make CONSTRAINTS= ...` installs the newest releases.
CONSTRAINTS ?= constraints.txt
# uv installs in seconds what takes pip minutes. pip installs where uv cannot: uv does not read pip's
# configuration, so it may not find the packages. Build constraints are for setuptools, which builds this package.
PIP = $(if $(CONSTRAINTS),PIP_CONSTRAINT=$(CONSTRAINTS) PIP_BUILD_CONSTRAINT=$(CONSTRAINTS)) \
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check
UV = $(BIN)/python -m uv pip install --quiet --python $(BIN)/python \
	$(if $(CONSTRAINTS),--constraint $(CONSTRAINTS) --build-constraint $(CONSTRAINTS))
INSTALL = sh -c '{ $(PIP) uv && $(UV) --editable "$$1"; } 2> /dev/null || $(PIP) --editable "$$1"' install
# Follows the command above, for platforms on which a tested version does not exist.
OR_HINT = || { echo "if a tested version does not exist for this platform, try: make CONSTRAINTS= $(MAKECMDGOALS)"; exit 1; }

.PHONY: quickstart test most-tests compiler-tests check quick-tests lint docs browser ray bench bench-samples faults wheel constraints newest clean

quickstart: $(VENV)/.runtime
	$(BIN)/python quickstart.py

# Most tests spend their time compiling, so they use XLA's fastest compilation. A later XLA may no
# longer have the other flags and would then refuse to start with them.
QUICK = level=--xla_backend_optimization_level=0; \
	older="--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"; \
	XLA_FLAGS=$$older $(BIN)/python -c "import jax; jax.devices()" 2> /dev/null || older=; \
	export XLA_FLAGS="$$XLA_FLAGS $$level $$older";

# One process runs all tests of a file, so that they share fixtures and compiled programs.
PYTEST = $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# The first import of a module compiles it: here once, instead of at the same time in each process of the tests.
$(VENV)/.bytecode: $(VENV)/.dev
	@$(BIN)/python -m pytest --collect-only -p no:xdist > /dev/null || true
	@touch $@

# All tests except those in a browser and on a Ray cluster. The three parts run side by side, because each of them waits at times.
test: $(VENV)/.dev
	@$(MAKE) --no-print-directory --jobs=3 lint most-tests compiler-tests

most-tests: $(VENV)/.dev $(VENV)/.bytecode
	@echo "most tests, with quick compilation ..."
	@$(QUICK) $(PYTEST) -m "not learning and not browser and not ray and not default_compiler"

# Tests that train until something is learned, and some of every package, with the compiler that users have.
compiler-tests: $(VENV)/.dev $(VENV)/.bytecode
	@echo "tests of learning, with the compiler that users have; printed at the end ..."
	@mkdir -p .pytest_cache
	@$(PYTEST) -n 0 -m "learning or default_compiler" > .pytest_cache/compiler-tests.log 2>&1; \
		code=$$?; cat .pytest_cache/compiler-tests.log; exit $$code

# The quick checks, for use while you work; side by side, because the type checker uses one core.
check: $(VENV)/.dev
	@$(MAKE) --no-print-directory --jobs=2 lint quick-tests

quick-tests: $(VENV)/.dev
	@echo "the quick tests ..."
	@$(QUICK) $(PYTEST) -m "not slow and not learning and not browser and not ray and not default_compiler"

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
	@echo "tests in Chromium ..."
	@$(QUICK) $(PYTEST) -m browser

# Sweeps on a real Ray cluster on this machine: needs a machine that is not busy, because of time-outs in Ray.
ray: $(VENV)/.dev
	@echo "tests on a Ray cluster ..."
	@$(QUICK) $(PYTEST) -n 0 -m ray

# Environment steps that er and others need: hours on two cores; what runs/samples has is not trained again.
bench-samples: $(VENV)/.bench
	$(BIN)/python benchmarks/samples.py train
	$(BIN)/python benchmarks/samples.py time
	$(BIN)/python benchmarks/samples.py collect
	$(BIN)/python benchmarks/samples.py show

# First checks that the plain implementation computes the same as ours, then measures how fast all are.
bench: $(VENV)/.bench
	$(BIN)/python -m pytest benchmarks
	$(BIN)/python benchmarks/replay.py
	$(BIN)/python benchmarks/run.py --peers

# Kills runs, damages files and fills disks at random, and counts what comes of it; SEED= repeats one.
MINUTES ?= 30
faults: $(VENV)/.dev
	$(BIN)/python -m faults.run --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) --out results/faults.json

# Builds wheel and sdist in dist/, and uses the wheel where nothing else is installed: make wheel PYTHON=python3.13
wheel: $(VENV)/.runtime
	rm -rf dist
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/python -m uv build --quiet --out-dir dist
	$(PYTHON) -m venv dist/venv
	dist/venv/bin/python -m pip install --quiet "$$(echo dist/*.whl)[report]"
	cd dist && set -e && PATH="$$PWD/venv/bin:$$PATH" && freqdyna --version && \
	for algorithm in er dyna; do \
		freqdyna train --algorithm $$algorithm --env CartPole-v1 --seeds 2 --steps 1200 --eval-every 400 --out $$algorithm; \
		freqdyna resume $$algorithm --steps 1600; \
	done && freqdyna compare er dyna && freqdyna report er dyna --out report.html && ls -l

# Updates constraints.txt to the newest releases; run the tests before you commit it.
constraints:
	rm -rf .venv-newest
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install --quiet --upgrade setuptools
	$(MAKE) VENV=.venv-newest CONSTRAINTS= .venv-newest/.dev
	{ echo "# The tested version of every package, made by: make constraints"; \
		.venv-newest/bin/python -m pip freeze --all --exclude-editable --exclude pip; } > constraints.txt

# All tests with the newest releases instead of the tested ones, in an environment of its own.
newest:
	rm -rf .venv-newest
	$(MAKE) VENV=.venv-newest CONSTRAINTS= test

clean:
	rm -rf $(VENV) .venv-newest site

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "freqdyna needs Python 3.11 or newer; choose one with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	@echo "installing freqdyna and its dependencies into $(VENV) (a minute or two) ..."
	@$(INSTALL) '.[report]' $(OR_HINT)
	@touch $@

$(VENV)/.docs: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	@echo "installing MkDocs into $(VENV) ..."
	@$(INSTALL) '.[docs]' $(OR_HINT)
	@touch $@ $(VENV)/.runtime

$(VENV)/.bench: pyproject.toml $(CONSTRAINTS) | $(VENV)/.dev
	@echo "installing the libraries to compare with into $(VENV) (PyTorch is large) ..."
	@$(INSTALL) '.[bench]' $(OR_HINT)
	@touch $@

$(VENV)/.dev: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	@echo "installing freqdyna and its test tools into $(VENV) (a minute or two) ..."
	@$(INSTALL) '.[dev]' $(OR_HINT)
	@touch $@ $(VENV)/.docs $(VENV)/.runtime
