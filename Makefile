# Each target sets up what it needs in .venv. PYTHON chooses the interpreter, TORCH the release (2.13.0 unless you say otherwise).
PYTHON ?= python3
TORCH ?= 2.13.0
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: golden demo test conformance lint wheel-check bench field-cases models clean help

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check torch==$(TORCH) numpy
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[models,test,lint]'
	@touch $@

demo: $(VENV)/ready  ## compile real models for the simulated accelerator and compare with eager
	$(BIN)/python examples/demo.py

test: $(VENV)/ready  ## the test suite
	$(BIN)/python -m pytest -n $(JOBS) tests

lint: $(VENV)/ready  ## ruff, mypy strict, pyright
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

conformance: $(VENV)/ready  ## every OpInfo against eager, five dtypes, held against the golden lists; resumable, parallel
	for dtype in float32 bfloat16 int64 bool complex64; do \
	  $(BIN)/bringup conformance --dtypes $$dtype --jobs $(JOBS) --timeout 3600 --journal .conformance/$$dtype.jsonl --expect tests/golden/conformance_$$dtype.txt || exit 1; \
	done

golden: $(VENV)/ready  ## the same on the required kernels, accepted as the golden lists that the tests hold against the code
	for dtype in float32 bfloat16 int64 bool complex64; do \
	  $(BIN)/bringup conformance --dtypes $$dtype --jobs $(JOBS) --timeout 3600 --journal .conformance/$$dtype.jsonl --accept tests/golden/conformance_$$dtype.txt || exit 1; \
	done

models: $(VENV)/ready  ## the transformers architectures against eager
	$(BIN)/bringup models --jobs $(JOBS)

bench: $(VENV)/ready  ## step and first-call times as ratios to eager and aot_eager
	$(BIN)/python benchmarks/steps.py

wheel-check: $(VENV)/ready  ## build the wheel, install it elsewhere, compile a model from outside the checkout
	$(BIN)/python tests/check_wheel.py --torch $(TORCH)

clean:  ## remove what the targets above made
	rm -rf $(VENV) dist .conformance
