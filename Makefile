# Everything a newcomer or CI needs. `make demo` and `make test` work on a bare machine with Python 3.11+.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

# Compiled loops are cached under a name made of their sources: numba does not notice an edit in another file.
export NUMBA_CACHE_DIR := $(CURDIR)/.numba_cache/$(shell cat src/rosenblatt/loops/*.py | cksum | cut -d' ' -f1)

.PHONY: demo test check format bench docs clean

demo: $(VENV)/demo
	$(BIN)/rosenblatt demo -o out

test: $(VENV)/test
	$(BIN)/python -m pytest -n auto

check: $(VENV)/check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/docs
	$(BIN)/sphinx-build --fail-on-warning --quiet -b html docs docs/_build/html
	@echo docs/_build/html/index.html

clean:
	rm -rf $(VENV) .numba_cache .pytest_cache .mypy_cache .ruff_cache .hypothesis out

# One stamp for each set of packages, so that nothing is installed twice.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"

$(VENV)/demo: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable ".[report]"
	@touch $@

$(VENV)/test $(VENV)/check $(VENV)/bench $(VENV)/docs: $(VENV)/%: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable . --group $*
	@touch $@
