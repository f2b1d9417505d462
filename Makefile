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

.PHONY: page page-check demo test test-look test-sweeps test-all durations fuzz test-cluster test-stores test-sklearn test-models sanitize kernels native-lint lint ruff ruff-format duplicates format types bench gallery docs dist release-check clean

demo: $(VENV)/.demo kernels
	$(BIN)/python -m icefield.cli.demo

# Bytecode is kept, whatever the environment says: many tests start Python anew.
unexport PYTHONDONTWRITEBYTECODE
# Two test processes on two cores: OpenMP's own threads would only wait for each other.
test test-look test-sweeps durations sanitize: export OMP_NUM_THREADS = 1
# A file's tests run in one process, where they share what they fitted; the longest files first (tests/run_order.py).
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

# What a change must pass first.
test: $(VENV)/.test kernels
	$(PYTEST) -m "not slow and not look"

# Pictures as stored, and pages in the system's Chromium; the site too where `make docs` built it.
test-look: $(VENV)/.look kernels
	$(PYTEST) -rs -m "look and not slow"

# The long sweeps; `make test-sweeps PART=1/2` runs one half of them.
test-sweeps: $(VENV)/.test kernels
	$(PYTEST) -m slow $(if $(PART),--part $(PART))

# Every test once.
test-all: test test-look test-sweeps

# Writes what each file costs to tests/durations.json, by which the longest go first.
durations: $(VENV)/.look kernels
	$(PYTEST) -m "not slow" --store-durations

# Damages files of every format that is read, in 50 ways each; see tests/fuzz.
fuzz: export OMP_NUM_THREADS = 1
fuzz: $(VENV)/.test kernels
	$(BIN)/python -m tests.fuzz all 50

# Real Dask, Spark, Spark Connect and Ray on this machine, in an environment of their own: each engine in a process of its
# own, one after another, in about ten minutes. What fails is run once more, and both runs are printed: an engine that starts or
# dies on a busy machine is late now and then. The contract needs no engine: `make test` holds it.
CLUSTERS := .venv-cluster
test-cluster: export OMP_NUM_THREADS = 1
test-cluster: $(CLUSTERS)/.cluster kernels-cluster
	@for file in $(filter-out tests/rows/distributed/test_contract.py,$(wildcard tests/rows/distributed/test_*.py)); do echo "== $$file"; \
	    timeout 600 $(CLUSTERS)/bin/python -m pytest -q -rs "$$file" || \
	    { echo "== once more: what failed"; timeout 300 $(CLUSTERS)/bin/python -m pytest -q -rs --lf "$$file"; } || exit 1; done

kernels-cluster: | $(CLUSTERS)/.cluster
	@$(CLUSTERS)/bin/python build_kernels.py >/dev/null

$(CLUSTERS)/.cluster: pyproject.toml
	test -d $(CLUSTERS) || $(PYTHON) -m venv $(CLUSTERS)
	$(CLUSTERS)/bin/python -m pip install --quiet --upgrade pip
	$(CLUSTERS)/bin/python -m pip install --quiet -e ".[cluster]"
	@touch $@

# An S3 server, Delta and Iceberg tables and an MLflow server on this machine, in an environment of their own, in about two minutes.
STORES := .venv-stores
test-stores: export OMP_NUM_THREADS = 1
test-stores: $(STORES)/.stores
	@$(STORES)/bin/python build_kernels.py >/dev/null
	$(STORES)/bin/python -m pytest -q -rs tests/stores

$(STORES)/.stores: pyproject.toml
	test -d $(STORES) || $(PYTHON) -m venv $(STORES)
	$(STORES)/bin/python -m pip install --quiet --upgrade pip
	$(STORES)/bin/python -m pip install --quiet -e ".[stores]"
	@touch $@

# The drop-in with another scikit-learn, in an environment of its own: the tests that version has for the two names, then
# ours. `make test-sklearn VERSION=1.7`; without VERSION the newest there is.
ifdef VERSION
SKLEARN := .venv-sklearn-$(VERSION)
SKLEARN_WANTED := "scikit-learn==$(VERSION).*"
else
SKLEARN := .venv-sklearn
SKLEARN_WANTED := scikit-learn
endif
# These two came before pandas 3 and call scipy in a way that later ones warn of.
SKLEARN_WANTED += $(if $(filter 1.5 1.6,$(VERSION)),"pandas<3" "scipy<1.15")
test-sklearn: export OMP_NUM_THREADS = 1
test-sklearn: $(SKLEARN)/.sklearn
	@$(SKLEARN)/bin/python build_kernels.py >/dev/null
	$(SKLEARN)/bin/python -m pytest -q -n 2 tests/test_sklearn.py tests/sklearn_suite

$(SKLEARN)/.sklearn: pyproject.toml
	test -d $(SKLEARN) || $(PYTHON) -m venv $(SKLEARN)
	$(SKLEARN)/bin/python -m pip install --quiet --upgrade pip
	$(SKLEARN)/bin/python -m pip install --quiet --upgrade -e ".[test-sklearn]" $(SKLEARN_WANTED)
	@touch $@

# Models of statsmodels, interpret, NGBoost, pyGAM, scikit-survival and quantile-forest, in an environment of their own.
MODELS := .venv-models
test-models: export OMP_NUM_THREADS = 1
test-models: $(MODELS)/.models
	@$(MODELS)/bin/python build_kernels.py >/dev/null
	$(MODELS)/bin/python -m pytest -q -rs tests/models/test_other_libraries.py tests/models/test_statsmodels.py

$(MODELS)/.models: pyproject.toml
	test -d $(MODELS) || $(PYTHON) -m venv $(MODELS)
	$(MODELS)/bin/python -m pip install --quiet --upgrade pip
	$(MODELS)/bin/python -m pip install --quiet -e ".[test-models]"
	@touch $@

# Compiles the kernels again where their sources changed; an editable install does not by itself. Status 3: there is
# no compiler, and a wheel brings one.
kernels: | $(VENV)/pyvenv.cfg
	@$(BIN)/python build_kernels.py >/dev/null 2>&1; if [ $$? -eq 3 ]; then \
	    $(BIN)/python -m pip install --quiet ziglang; fi; $(BIN)/python build_kernels.py >/dev/null

# The tests of the kernels and of the engine that runs them, with every access, operation and index checked.
SANITIZED := tests/kernels tests/engines/test_trees.py tests/engines/test_linked.py tests/engines/test_h_linked.py tests/engines/test_ale_differences.py \
    tests/engines/test_ale_sums.py tests/engines/test_additive_together.py tests/engines/test_training.py tests/audit/test_audits.py tests/audit/test_declared.py
sanitize: $(VENV)/.test
	@if ! command -v gcc >/dev/null; then echo "sanitize skipped: it needs gcc for its runtime"; else \
	    $(BIN)/python build_kernels.py --sanitize && \
	    LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	    ASAN_OPTIONS=detect_leaks=0:handle_abort=1 UBSAN_OPTIONS=print_stacktrace=1 ICEFIELD_KERNELS=sanitized \
	    $(BIN)/python -m pytest -q -n 2 -m "not slow and not other_processes" --unsampled $(SANITIZED); \
	fi

# Native code: one format (.clang-format), and what clang-tidy finds (.clang-tidy); two minutes of one core. CLANG_FORMAT and
# CLANG_TIDY name other versions of the tools.
NATIVE := src/icefield/kernels/native
CLANG_FORMAT ?= clang-format
CLANG_TIDY ?= clang-tidy
native-lint:
	@if ! command -v $(CLANG_FORMAT) >/dev/null || ! command -v $(CLANG_TIDY) >/dev/null; then \
	    echo "native-lint skipped: it needs clang-format and clang-tidy"; else \
	    $(CLANG_FORMAT) --dry-run --Werror $(NATIVE)/*.[ch]pp && \
	    $(CLANG_TIDY) --quiet $(NATIVE)/*.cpp -- -std=c++20 -I$(NATIVE) -DICEFIELD_CHECKED; \
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

# What a release must pass that a change need not; publishes nothing (.ci/release_check.py, and the version policy in CONTRIBUTING.md).
release-check: $(VENV)/.release
	$(BIN)/python .ci/release_check.py

# The script of every page, built from page/ into src/icefield/page; only who changes it needs Node. `page-check` runs its unit
# tests, builds it again and compares with what is committed.
NODE := cd page && npm ci --silent --no-audit --no-fund --ignore-scripts &&
page:
	$(NODE) node build.mjs

page-check:
	@if command -v npm >/dev/null; then $(NODE) node --test tests/ && node build.mjs --check; \
	    else echo "page-check skipped: there is no Node"; fi

clean:
	rm -rf $(VENV) $(CLUSTERS) $(STORES) $(MODELS) .venv-sklearn* page/node_modules build dist src/icefield/kernels/built demo_output gallery docs/generated .mypy_cache .pytest_cache .ruff_cache .hypothesis

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
