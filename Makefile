# Two commands on a fresh machine: `make demo` and `make test`. Each makes what it needs in .venv.
# On Windows, run them in a shell that has make, such as Git's bash; CONTRIBUTING.md says what to do without.
VENV := .venv
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := $(VENV)/Scripts
else
PYTHON ?= python3
BIN := $(VENV)/bin
endif

.PHONY: demo test test-all lint ruff ruff-format duplicates format types bench gallery dist clean

demo: $(VENV)/.demo
	$(BIN)/python -m icefield.cli.demo

# Two test processes on two cores: OpenMP's own threads would only wait for each other.
test test-all: export OMP_NUM_THREADS = 1

test: $(VENV)/.test
	$(BIN)/python -m pytest -q -n 2 -m "not slow"

test-all: $(VENV)/.test
	$(BIN)/python -m pytest -q -n 2

lint: ruff ruff-format duplicates

ruff: $(VENV)/.lint
	$(BIN)/ruff check .

ruff-format: $(VENV)/.lint
	$(BIN)/ruff format --check .

duplicates: $(VENV)/.lint
	$(BIN)/pylint src/icefield

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.lint
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

gallery: $(VENV)/.test
	$(BIN)/python examples/gallery.py

# A source archive and a wheel, in dist.
dist: $(VENV)/.dist
	$(BIN)/python -m build --outdir dist

clean:
	rm -rf $(VENV) build dist demo_output gallery .mypy_cache .ruff_cache .hypothesis

# One stamp file per extra, so that a changed pyproject.toml installs again and nothing else does.
$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# The oldest release of every dependency that pyproject.toml allows: `PIP_CONSTRAINT=.venv/lowest.txt make test`
# in a fresh clone tests with them.
$(VENV)/lowest.txt: pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/python -m uv pip compile --quiet --resolution lowest-direct --extra test --output-file $@ pyproject.toml

$(VENV)/.%: pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet -e ".[$*]"
	@touch $@
