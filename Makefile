# make run   from nothing to a running product with the demo loaded
# make test  from nothing to a passed test suite

.DEFAULT_GOAL := help
SHELL := /bin/sh
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
HOST = 127.0.0.1
PORT ?= 8000
TESTS ?= tests
# Three more than there are cores: tests also wait, for browsers, workers and the database.
PYTEST_WORKERS ?= $(shell $(PYTHON) -c "import os; print(len(os.sched_getaffinity(0)) + 3)")
FUZZ_FILES ?= 10000
FUZZ_IMPORTS ?= 2000
FUZZ_REQUESTS ?= 20000
FUZZ_SEED ?= 1
# Without compiled files every process of the tests compiles all of Assay and of the tests anew: 15 s of each.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help run test test-fast test-services fuzz lint types contracts migrations docs check bench lock format messages clean

help:
	@sed -n 's/^# \(make .*\)/\1/p; s/^\([a-z-]*\):.*## \(.*\)/make \1  \2/p' Makefile

$(VENV)/installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and f"Assay needs Python 3.11, found {sys.version.split()[0]} at {sys.executable}; name another with: make PYTHON=/path/to/python3.11")'
	@echo "Installing Assay's requirements into $(VENV) (once, one to some minutes) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	@touch $@

$(VENV)/installed-dev: requirements-dev.txt $(VENV)/installed
	@echo "Installing what the tests need into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.txt
	@$(BIN)/python scripts/ensure_chromium.py
	@touch $@

# The constraint keeps what is installed. Without the index or a copy pip fails in seconds, and the tests go on without.
$(VENV)/installed-torch: requirements-torch.txt $(VENV)/installed-dev
	@echo "Installing PyTorch's CPU build into $(VENV) (200 MB) ..."
	@if $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --timeout 15 --retries 1 --constraint requirements-dev.txt --requirement requirements-torch.txt; then touch $@; \
		else echo "Found no CPU build of PyTorch at https://download.pytorch.org/whl/cpu, nor its wheel in a folder named by PIP_FIND_LINKS: tests that train networks are skipped."; fi

run: $(VENV)/installed  ## start everything, the demo included; Ctrl-C stops it
	@DEBUG=1 ASSAY_DEMO=1 exec $(BIN)/python manage.py up --host $(HOST) --port $(PORT)

test: $(VENV)/installed-torch  ## run every test
	@$(BIN)/python -m pytest -n $(PYTEST_WORKERS) $(TESTS)

test-fast: $(VENV)/installed-torch  ## without browser, worker, and what took long the last time
	@$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --fast -m "not browser and not worker" $(TESTS)

test-services: $(VENV)/installed-dev  ## with real brokers, a pooler, several hosts and other PostgreSQLs; some minutes
	@$(BIN)/python scripts/ensure_services.py
	@$(BIN)/python -m pytest -n 0 --durations=0 tests/services

fuzz: $(VENV)/installed-dev  ## damaged files for every reader and import, damaged requests to every route
	@$(BIN)/python -m scripts.fuzz --files $(FUZZ_FILES) --imports $(FUZZ_IMPORTS) --requests $(FUZZ_REQUESTS) --seed $(FUZZ_SEED)

lint: $(VENV)/installed-dev  ## ruff and djade
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@git ls-files -z 'templates/*.html' 'templates/**/*.html' | xargs -0 $(BIN)/djade --target-version 5.2 --check

types: $(VENV)/installed-dev  ## mypy, strict, benchmarks included
	@SECRET_KEY=types-only DATABASE_URL=postgresql://types-only@127.0.0.1/none $(BIN)/mypy

contracts: $(VENV)/installed-dev  ## who may import whom
	@$(BIN)/lint-imports

migrations: $(VENV)/installed-dev  ## every model change has its migration
	@$(BIN)/python -m scripts.check_migrations

docs: $(VENV)/installed-dev  ## the documentation as a site in var/docs; fails on a broken link
	@$(BIN)/python -m scripts.docs

check: lint types contracts migrations docs  ## everything but the tests

format: $(VENV)/installed-dev  ## ruff and djade, in place
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .
	@git ls-files -z 'templates/*.html' 'templates/**/*.html' | xargs -0 $(BIN)/djade --target-version 5.2 || true

messages: $(VENV)/installed-dev  ## gather what is to be translated, and compile what has been
	@$(BIN)/python -m scripts.messages

bench: $(VENV)/installed-torch  ## measure, and write docs/benchmarks.md
	@$(BIN)/python -m benchmarks

lock: $(VENV)/installed-dev  ## requirements*.txt from pyproject.toml
	@$(BIN)/uv pip compile --quiet --python-version 3.11 pyproject.toml --output-file requirements.txt
	@$(BIN)/uv pip compile --quiet --python-version 3.11 pyproject.toml --group dev --constraint requirements.txt --output-file requirements-dev.txt

clean:  ## forget the virtual environment and caches; data in var/ stays
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
