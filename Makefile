# make run    sets everything up and serves the app on http://127.0.0.1:7860/
# make test   sets everything up and runs all checks and tests
# make check  ruff, mypy --strict and the import rules
PYTHON ?= python3
BIN := .venv/bin
INPUTS := pyproject.toml constraints.txt
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt

.PHONY: run test check browser weights lock clean

run: .venv/installed weights
	$(BIN)/python app.py serve

# Two workers, a file each, in the order in which they are collected: browser tests come last.
test: check weights browser
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

check: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/python -m pytest tests/test_structure.py

weights: .venv/installed
	$(BIN)/python app.py models fetch starter

browser: .venv/tested
	$(BIN)/python tests/browser/install.py

.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Redraft needs Python 3.11 or newer. Say which: make PYTHON=/path/to/python3.12 run"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check --quiet pip==26.3
	touch $@

.venv/installed: .venv/python $(INPUTS)
	@echo "Installing pinned packages; the first time this takes some minutes."
	$(PIP) -e .
	touch $@

.venv/tested: .venv/installed
	$(PIP) -e '.[test]'
	touch $@

# After changing the dependencies in pyproject.toml: a new set of pins from a new environment.
lock:
	rm -rf .venv
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -e '.[test]'
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' > constraints.txt

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache
