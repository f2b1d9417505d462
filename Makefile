# Two commands on a fresh machine: `make demo` and `make test`. Each makes what it needs in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-all lint format types bench gallery clean

demo: $(VENV)/.demo
	$(BIN)/python -m icefield.cli.demo

test: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 -m "not slow"

test-all: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.lint
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

gallery: $(VENV)/.test
	$(BIN)/python examples/gallery.py

clean:
	rm -rf $(VENV) build dist demo_output gallery .mypy_cache .ruff_cache .hypothesis

# One stamp file per extra, so that a changed pyproject.toml installs again and nothing else does.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.%: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -e ".[$*]"
	@touch $@
