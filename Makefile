# Two commands on a fresh machine: `make demo` and `make test`. Each makes what it needs in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-all sanitize kernels lint format types bench gallery clean

demo: $(VENV)/.demo kernels
	$(BIN)/python -m icefield.demo

test: $(VENV)/.test kernels
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 -m "not slow"

test-all: $(VENV)/.test kernels
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2

# Compiles the kernels again where their sources changed; an editable install does not by itself. Status 3: there is
# no compiler, and a wheel brings one.
kernels: | $(VENV)/bin/python
	@$(BIN)/python build_kernels.py >/dev/null 2>&1; if [ $$? -eq 3 ]; then \
	    $(BIN)/python -m pip install --quiet ziglang; fi; $(BIN)/python build_kernels.py >/dev/null

# The tests of the kernels and of the engine that runs them, with every access and operation checked.
SANITIZED := tests/kernels tests/engines/test_trees.py tests/engines/test_moves.py tests/engines/test_training.py
sanitize: $(VENV)/.test
	@if ! command -v gcc >/dev/null; then echo "sanitize skipped: it needs gcc for its runtime"; else \
	    $(BIN)/python build_kernels.py --sanitize && \
	    LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 ICEFIELD_KERNELS=sanitized OMP_NUM_THREADS=1 \
	    $(BIN)/python -m pytest -q -n 2 -m "not slow and not other_processes" $(SANITIZED); \
	fi

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.lint
	$(BIN)/mypy

bench: $(VENV)/.bench kernels
	$(BIN)/python -m benchmarks

gallery: $(VENV)/.test kernels
	$(BIN)/python examples/gallery.py

clean:
	rm -rf $(VENV) build dist src/icefield/kernels/built demo_output gallery .mypy_cache .ruff_cache .hypothesis

# One stamp file per extra, so that a changed pyproject.toml installs again and nothing else does.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.%: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -e ".[$*]"
	@touch $@
