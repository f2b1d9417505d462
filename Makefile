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

.PHONY: page page-check demo test test-all test-cluster sanitize kernels lint ruff ruff-format duplicates format types bench gallery docs dist clean

demo: $(VENV)/.demo kernels
	$(BIN)/python -m icefield.cli.demo

# Two test processes on two cores: OpenMP's own threads would only wait for each other.
test test-all sanitize: export OMP_NUM_THREADS = 1

test: $(VENV)/.test kernels
	$(BIN)/python -m pytest -q -n 2 -m "not slow"

test-all: $(VENV)/.test kernels
	$(BIN)/python -m pytest -q -n 2

# Real Dask, Spark, Spark Connect and Ray on this machine, in an environment of their own: each engine in a process of its
# own, one after another, in about ten minutes. What fails is run once more, and both runs are printed: an engine that starts or
# dies on a busy machine is late now and then.
CLUSTERS := .venv-cluster
test-cluster: export OMP_NUM_THREADS = 1
test-cluster: $(CLUSTERS)/.cluster kernels-cluster
	@for file in tests/clusters/test_*.py; do echo "== $$file"; \
	    timeout 600 $(CLUSTERS)/bin/python -m pytest -q -rs "$$file" || \
	    { echo "== once more: what failed"; timeout 300 $(CLUSTERS)/bin/python -m pytest -q -rs --lf "$$file"; } || exit 1; done

kernels-cluster: | $(CLUSTERS)/.cluster
	@$(CLUSTERS)/bin/python build_kernels.py >/dev/null

$(CLUSTERS)/.cluster: pyproject.toml
	test -d $(CLUSTERS) || $(PYTHON) -m venv $(CLUSTERS)
	$(CLUSTERS)/bin/python -m pip install --quiet --upgrade pip
	$(CLUSTERS)/bin/python -m pip install --quiet -e ".[cluster]"
	@touch $@

# Compiles the kernels again where their sources changed; an editable install does not by itself. Status 3: there is
# no compiler, and a wheel brings one.
kernels: | $(VENV)/pyvenv.cfg
	@$(BIN)/python build_kernels.py >/dev/null 2>&1; if [ $$? -eq 3 ]; then \
	    $(BIN)/python -m pip install --quiet ziglang; fi; $(BIN)/python build_kernels.py >/dev/null

# The tests of the kernels and of the engine that runs them, with every access and operation checked.
SANITIZED := tests/kernels tests/engines/test_trees.py tests/engines/test_linked.py tests/engines/test_crossed.py tests/engines/test_moves.py \
    tests/engines/test_local_moves.py tests/engines/test_additive_together.py tests/engines/test_training.py
sanitize: $(VENV)/.test
	@if ! command -v gcc >/dev/null; then echo "sanitize skipped: it needs gcc for its runtime"; else \
	    $(BIN)/python build_kernels.py --sanitize && \
	    LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 ICEFIELD_KERNELS=sanitized \
	    $(BIN)/python -m pytest -q -n 2 -m "not slow and not other_processes" $(SANITIZED); \
	fi

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

bench: $(VENV)/.bench kernels
	$(BIN)/python -m benchmarks

gallery: $(VENV)/.test kernels
	$(BIN)/python examples/gallery.py

# The documentation site, in build/site: warnings are errors, and every internal link is followed.
docs: export OMP_NUM_THREADS = 1
docs: $(VENV)/.docs kernels
	$(BIN)/python docs/_site/build.py

# A source archive and a wheel, in dist.
dist: $(VENV)/.dist
	$(BIN)/python -m build --outdir dist

# The script of every page, built from page/ into src/icefield/page; only who changes it needs Node. `page-check` runs its unit
# tests, builds it again and compares with what is committed.
NODE := cd page && npm ci --silent --no-audit --no-fund --ignore-scripts &&
page:
	$(NODE) node build.mjs

page-check:
	@if command -v npm >/dev/null; then $(NODE) node --test tests/ && node build.mjs --check; \
	    else echo "page-check skipped: there is no Node"; fi

clean:
	rm -rf $(VENV) $(CLUSTERS) page/node_modules build dist src/icefield/kernels/built demo_output gallery docs/generated .mypy_cache .ruff_cache .hypothesis

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
