# Everything a newcomer or CI needs. `make demo` and `make test` work on a bare machine with Python 3.11+.
PYTHON ?= python3
# Each target installs what it needs here; `make docs VENV=.venv-docs` builds the pages in an environment of their own.
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
# What builds is pinned as well: the packages that pip, and those that `build` installs to build ours.
export PIP_BUILD_CONSTRAINT := $(CURDIR)/constraints.txt
# How often the slow tests kill or interrupt a process.
KILLS ?= 1000

# Compiled loops are cached under a name made of their sources: numba does not notice an edit in another file.
export NUMBA_CACHE_DIR := $(CURDIR)/.numba_cache/$(shell cat src/rosenblatt/loops/*.py $$(grep -rl 'loops\._jit' --include='*.py' src/rosenblatt | sort) | cksum | cut -d' ' -f1)

# On all cores; the slowest ten tests are named at the end.
PYTEST = $(BIN)/python -m pytest -n auto --durations=10

.PHONY: demo test test-gpu test-slow test-all test-bugs check format bench docs docs-check web web-check package clean

demo: $(VENV)/demo
	$(BIN)/rosenblatt demo -o out

# The tests that find a broken change within minutes. They need neither Node nor a browser.
test: $(VENV)/test
	$(PYTEST)

# The other tests alone: long ones, and those of the lab page, which need Node, `make web` and Chromium.
test-slow: $(VENV)/test
	KILLS=$(KILLS) $(PYTEST) -m slow --hypothesis-profile=full

# The tests that need an NVIDIA GPU; without one they are skipped, and say so.
test-gpu: $(VENV)/test
	$(BIN)/python -m pytest tests/probes/test_gpu.py

# Both in one run, with more examples for each property.
test-all: $(VENV)/test
	KILLS=$(KILLS) $(PYTEST) -m "slow or not slow" --hypothesis-profile=full

# Whether `make test` catches bugs: some are planted one by one in a copy of the tree.
test-bugs: $(VENV)/test
	$(BIN)/python scripts/plant_bugs.py

check: $(VENV)/check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs src examples benchmarks/README.md
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[bi]*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

format: $(VENV)/check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/bench
	$(BIN)/python -m benchmarks

# Every page is read anew: Sphinx forgets warnings, and words of the search, of pages that did not change.
docs: $(VENV)/docs
	$(BIN)/sphinx-build --fresh-env --fail-on-warning --quiet -b html docs docs/_build/html
	@echo docs/_build/html/index.html

# What CI asks of the site: every page loads, fits a phone, and gives axe nothing to find.
docs-check: docs web/node_modules
	cd web && BROWSER=$$(command -v chromium || command -v google-chrome) node site.mjs ../docs/_build/html

# The lab page is one file in the package; npm and node are needed only to change it.
web: web/node_modules
	cd web && npm run --silent types && npm run --silent test && npm run --silent build

# What CI asks of the page: its types are right, its tests pass, and it was built from these sources.
web-check: web/node_modules
	cd web && npm run --silent types && npm run --silent test && npm run --silent build .build/page
	cmp web/.build/page/index.html src/rosenblatt/lab/index.html

web/node_modules: web/package.json web/package-lock.json
	cd web && npm ci --silent --no-fund --no-audit
	@touch $@

# The wheel is built from the sdist, and each is tried in an empty environment, outside of this folder. Then the notebooks
# of the lectures run there, with the package and Jupyter's kernel alone.
package: $(VENV)/package
	rm -rf dist
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m build --quiet
	for file in dist/*.tar.gz dist/*.whl; do \
	  rm -rf $(VENV)-empty && $(PYTHON) -m venv $(VENV)-empty && \
	  $(VENV)-empty/bin/python -m pip --disable-pip-version-check install --quiet -c constraints.txt $$file && \
	  $(VENV)-empty/bin/python scripts/smoke.py || exit 1; \
	done
	$(VENV)-empty/bin/python -m pip --disable-pip-version-check install --quiet -c constraints.txt ipykernel nbclient
	$(VENV)-empty/bin/python scripts/run_notebooks.py && rm -rf $(VENV)-empty

clean:
	rm -rf .venv .venv-* .nox .numba_cache .pytest_cache .mypy_cache .ruff_cache .hypothesis dist out docs/_build docs/gallery docs/look_up/reference

# One stamp for each set of packages, so that nothing is installed twice.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip

$(VENV)/demo: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

$(VENV)/test $(VENV)/check $(VENV)/bench $(VENV)/docs $(VENV)/package: $(VENV)/%: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable . --group $*
	@touch $@
