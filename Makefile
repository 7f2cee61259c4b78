# Two commands are enough: `make run` measures, `make test` shows that it can be trusted. `make help` lists the rest.
#
#   .venv/.deps   Python packages of the product, at the versions of requirements.lock
#   .venv/.ok     the native module, built from rust/ into python/iosonde/engine/
#   .venv/.lab    the distribution for labs, packages/iosonde-lab, which the product works without
#   .venv/.dev    what tests and lint need besides
# Paths are relative, so that a checkout may lie anywhere; nothing is installed outside this directory.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

TARGET ?= build/target
NODES ?= 1,2
STORE ?= iosonde-store
REPORT ?= iosonde-report.html
# A slow target ends the measurement early, after whole trials; the same command then goes on.
RUN_OPTIONS ?= --budget 55s
BENCH_OPTIONS ?=
# A checkout of another version, with its .venv, whose CPU time is measured beside today's.
BEFORE ?=
PYTEST_OPTIONS ?=
# One more than there are CPUs: some tests wait for a file system that hangs.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
TRUTH_OPTIONS ?=
FAULTS_OPTIONS ?=
LAB_FAULTS_OPTIONS ?=

# The first Python that is new enough; PYTHON=… chooses another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

PY := .venv/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check --no-input --constraint requirements.lock
IOSONDE := .venv/bin/iosonde
RUST_OLDEST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' rust/Cargo.toml)
RUST := $(shell find rust -name '*.rs' -o -name Cargo.toml)
LAB := packages/iosonde-lab
NFS_MOUNT := $(shell find $(LAB)/nfs-mount -name '*.rs' -o -name Cargo.toml)
# Each a distribution of its own.
PACKAGES := $(patsubst %/pyproject.toml,%,$(wildcard packages/*/pyproject.toml))
PACKAGE_TESTS := $(wildcard packages/*/tests/unit)

# `cargo` may be rustup's proxy while HOME is another user's or empty: its toolchains then lie beside it.
ifeq ($(RUSTUP_HOME)$(wildcard $(HOME)/.rustup),)
RUSTUP_BESIDE := $(shell d=$$(dirname "$$(command -v cargo)")/../../.rustup && cd "$$d" 2>/dev/null && pwd)
ifneq ($(RUSTUP_BESIDE),)
export RUSTUP_HOME := $(RUSTUP_BESIDE)
endif
endif

# Images of containers set it to stay small; here every process that a test starts would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run quick test test-long test-docs test-rooms test-mpi test-nodes test-lab test-lab-law lab-deps lab-hdfs test-faults test-faults-breaks test-faults-lab \
	test-faults-ci test-browser test-postgres truth bench golden published lint lock wheels release clean \
	setup

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{printf "%-20s%s\n", $$1, $$2}'

run: .venv/.ok ## measure TARGET (a scratch directory here) on 1 and 2 ranks; summary; HTML page
	@mkdir -p build "$(dir $(REPORT))"
	@test "$(TARGET)" != build/target || mkdir -p build/target
	@$(IOSONDE) run --target "$(TARGET)" --nodes "$(NODES)" --store "$(STORE)" $(RUN_OPTIONS)
	@$(IOSONDE) report "$(STORE)" --output "$(REPORT)"

quick: .venv/.dev ## the fast tests, on every save: no processes, no load on the disk
	@$(PY) -m pytest --quick tests/unit tests/commands $(PACKAGE_TESTS) $(PYTEST_OPTIONS)

test: .venv/.dev ## unit and golden tests, then the engine's own
	@PATH="$$PWD/.venv/bin:$$PATH" $(PY) -m pytest -m 'not long' -n $(WORKERS) --dist worksteal tests/unit tests/commands tests/golden tests/property tests/truth $(PACKAGE_TESTS) $(PYTEST_OPTIONS)
	@echo "testing: native engine (cargo test)"
	@cargo test --quiet --locked --no-default-features

test-long: .venv/.dev ## the others: simulations, campaigns that are killed, every command asked in every way (about 20 min)
	@PATH="$$PWD/.venv/bin:$$PATH" $(PY) -m pytest -m long -n auto --dist worksteal tests/unit tests/commands tests/golden tests/property tests/truth $(PACKAGE_TESTS) $(PYTEST_OPTIONS)

test-docs: .venv/.dev ## every example in README.md, docs/ and examples/ runs, and says what it shows; questions that people asked are answered
	@PATH="$$PWD/.venv/bin:$$PATH" $(PY) -m pytest -n auto --dist worksteal tests/docs tests/field $(PYTEST_OPTIONS)

# Commands that wait for a file system use no CPU, so more run at once than there are CPUs.
test-rooms: .venv/.dev ## every command on a new account, as a plain user, with unlike experiments, on a file system that hangs (about 5 min; as root: all)
	@PATH="$$PWD/.venv/bin:$$PATH" $(PY) -m pytest -n 8 --dist worksteal tests/rooms $(PYTEST_OPTIONS)

test-mpi: .venv/.dev ## tests with real MPI ranks
	@PATH="$$PWD/.venv/bin:$$PATH" command -v mpiexec >/dev/null || \
		{ echo "missing: mpiexec; install it with: $(PY) -m pip install '.[mpich]'"; exit 1; }
	@PATH="$$PWD/.venv/bin:$$PATH" $(PY) -m pytest tests/mpi --ignore tests/mpi/nodes $(PYTEST_OPTIONS)

# Nodes are network name spaces, so it takes root; what a machine lacks is named, and its tests are shown as skipped.
test-nodes: .venv/.dev ## ranks on many nodes and 256 on one: ssh-like hosts, a Slurm made here (about 6 min, root)
	@test "$$(id -u)" = 0 || { echo "missing: root, to make network name spaces; run it as root"; exit 1; }
	@PATH="$$PATH:/usr/sbin:/sbin"; \
		for need in ip:iproute2 nsenter:util-linux slurmctld:slurm-wlm munged:munge mpiexec.openmpi:openmpi-bin \
		iperf3:iperf3; do \
		command -v $${need%%:*} >/dev/null || echo "missing: $${need%%:*}; install it with: apt install $${need#*:}"; done
	@PATH="$$PWD/.venv/bin:$$PATH" $(PY) -m pytest tests/mpi/nodes $(PYTEST_OPTIONS)

# The lab's own NFS client, for kernels that have none; the product does not need it.
.venv/bin/iosonde-nfs-mount: Cargo.toml Cargo.lock $(NFS_MOUNT) | .venv/.deps
	@echo "building: iosonde-nfs-mount (about 60 s, once)"
	@cargo build --quiet --locked --release --package iosonde-nfs-mount
	@install target/release/iosonde-nfs-mount $@

# Hosts are name spaces with loop disks and real servers: as root; file systems whose packages are missing are skipped.
# Labs mostly wait for their disks and links, so two are up at once; where a rate is held against the law, one is.
test-lab: .venv/.dev .venv/bin/iosonde-nfs-mount ## emulated clusters with real file systems on them, faults and all (as root; about 8 min; PYTEST_OPTIONS="-m ''": the slow ones, too)
	@test "$$(id -u)" = 0 || { echo "missing: root, to make hosts, links and disks; run it as root"; exit 1; }
	@PATH="$$PWD/.venv/bin:$$PATH" $(PY) -c "$$LAB_MISSING"
	@cargo test --quiet --locked --package iosonde-nfs-mount
	@PATH="$$PWD/.venv/bin:$$PATH:/usr/sbin:/sbin" $(PY) -m pytest -n 2 --dist loadfile -m 'not slow' $(LAB)/tests/lab \
		--ignore $(LAB)/tests/lab/test_lab_law.py $(PYTEST_OPTIONS)
	@PATH="$$PWD/.venv/bin:$$PATH:/usr/sbin:/sbin" $(PY) -m pytest -m 'not slow' $(LAB)/tests/lab/test_lab_law.py $(PYTEST_OPTIONS)

# Streams of seconds, one set-up after another; LAW_FIGURES=FILE keeps what was measured.
test-lab-law: .venv/.dev ## the bound against what is measured in labs, in every set-up (as root; about 25 min)
	@test "$$(id -u)" = 0 || { echo "missing: root, to make hosts, links and disks; run it as root"; exit 1; }
	@PATH="$$PWD/.venv/bin:$$PATH:/usr/sbin:/sbin" $(PY) -m pytest $(LAB)/tests/lab/test_lab_law.py $(PYTEST_OPTIONS)

lab-deps: .venv/.lab .venv/bin/iosonde-nfs-mount ## what labs need: iosonde-lab, its NFS client, the Debian packages of its file systems (as root)
	@packages=$$(PATH="$$PWD/.venv/bin:$$PATH" $(PY) -c "$$LAB_PACKAGES"); test -n "$$packages" || { echo "all packages of labs are there"; exit 0; }; \
		echo "apt-get install $$packages"; \
		test "$$(id -u)" = 0 || { echo "missing: root, to install them; run it as root"; exit 1; }; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends $$packages >/dev/null

# Maven compares what it brings with the checksums that the repository has for it.
lab-hdfs: .venv/.lab .venv/bin/iosonde-nfs-mount ## Hadoop's jars for labs of HDFS, by Maven (65 MB; needs java, maven, rpcbind, curl)
	@for need in java:default-jre-headless mvn:maven rpcbind:rpcbind curl:curl; do \
		command -v $${need%:*} >/dev/null || PATH="$$PATH:/usr/sbin:/sbin" command -v $${need%:*} >/dev/null || \
			{ echo "missing: $${need%:*}; install it with: apt install $${need#*:}"; exit 1; }; done
	@mvn --quiet --batch-mode --strict-checksums --file examples/lab/hadoop/pom.xml \
		org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory=$$PWD/.venv/share/iosonde/hadoop

define LAB_MISSING
from iosonde_lab import api as lab
found = lab.listing()
if found.why_not: print("missing:", found.why_not)
if found.missing: print(f"missing for every lab: apt install {' '.join(found.missing)}, or make lab-deps")
for one in found.possible:
    if one.missing: print(f"missing for {one.name}: {one.how_to_install}")
endef
export LAB_MISSING

define LAB_PACKAGES
from iosonde_lab import api as lab
print(*lab.listing().packages)
endef
export LAB_PACKAGES

# Each campaign has name spaces of its own, so nothing of it can be left here; FUSE targets and nodes take root.
test-faults: .venv/.dev ## 500 campaigns hit by faults at random, 200 in a lab, and what held (FAULTS_OPTIONS='--seed S'; about 60 min)
	@test -n "$(FAULTS_OPTIONS)" || \
		PATH="$$PWD/.venv/bin:$$PATH" $(PY) -m pytest -n 2 --dist worksteal tests/faults $(PYTEST_OPTIONS)
	@PATH="$$PWD/.venv/bin:$$PATH:/usr/sbin:/sbin" PYTHONPATH=tests:python $(PY) -m faults.campaign $(FAULTS_OPTIONS)
	@test -n "$(FAULTS_OPTIONS)" || $(MAKE) --no-print-directory test-faults-breaks test-faults-lab

test-faults-breaks: .venv/.dev ## attempts to break survey, lab, import, store and serve, and what held (BREAKS_OPTIONS='--seed S --parts survey,labs'; root; about 20 min)
	@PATH="$$PWD/.venv/bin:$$PATH:/usr/sbin:/sbin" PYTHONPATH=tests:python $(PY) -m faults.breaks.runner $(BREAKS_OPTIONS)

test-faults-lab: .venv/.dev ## 200 campaigns on a real GlusterFS in a lab, hit by its faults (LAB_FAULTS_OPTIONS='--seed S'; root)
	@PATH="$$PWD/.venv/bin:$$PATH:/usr/sbin:/sbin" PYTHONPATH=$(LAB)/tests/lab:python $(PY) -m random_faults $(LAB_FAULTS_OPTIONS)

test-faults-ci: .venv/.dev ## 35 of them, each kind once, always the same ones, and the tests of what inflicts them
	@PATH="$$PWD/.venv/bin:$$PATH" $(PY) -m pytest --quick -n 2 --dist worksteal tests/faults $(PYTEST_OPTIONS)
	@$(MAKE) --no-print-directory test-faults FAULTS_OPTIONS='--campaigns 35 --seed 11 $(FAULTS_OPTIONS)'
	@$(MAKE) --no-print-directory test-faults-breaks BREAKS_OPTIONS=--quick

test-browser: .venv/.dev ## the page in a real browser
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
		command -v google-chrome >/dev/null || \
		{ echo "missing: chromium; install it with: apt install chromium"; exit 1; }
	@$(PY) -c 'import playwright' 2>/dev/null || $(PIP) 'playwright>=1.49,<2'
	@$(PY) -m pytest tests/browser $(PYTEST_OPTIONS)

# The server is started by the tests, as a user without rights, on a socket in a directory of its own.
test-postgres: .venv/.dev ## the index of runs in a real PostgreSQL
	@PATH="$$PATH:$$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)"; for need in initdb postgres; do \
		command -v $$need >/dev/null || { echo "missing: $$need; install it with: apt install postgresql"; exit 1; }; done; \
		PATH="$$PATH" $(PY) -m pytest tests/postgres $(PYTEST_OPTIONS)

# TRUTH_OPTIONS='--only compare --table docs/method/truth.md'; it writes nothing unless it is asked to.
truth: .venv/.dev ## every command's verdicts held against data with a known answer (TRUTH_OPTIONS=--quick for a tenth of the draws)
	@PYTHONPATH=tests:python $(PY) -m truth.bench $(TRUTH_OPTIONS)

# Peers of `watch`, for benches alone: without what they ask for besides, as each pins another NumPy. Without a network the
# bench names what is missing.
build/detectors: benches/requirements-detectors.txt | .venv/.deps
	@rm -rf $@
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-input --no-deps --target $@ --requirement $< && touch $@ || \
		{ rm -rf $@; echo "not installed: other detectors of changes; the bench goes on without them"; }

# Rivals of `run --find best`, for benches alone, as above; irace is taken where R has it.
build/racers: benches/requirements-racers.txt | .venv/.deps
	@rm -rf $@
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-input --no-deps --target $@ --requirement $< && touch $@ || \
		{ rm -rf $@; echo "not installed: other searches for the best setting; the bench goes on without them"; }

bench: .venv/.dev build/detectors build/racers ## ratios against fio and others, side by side (BENCH_OPTIONS=--quick for a look)
	@$(PY) benches/bench.py $(BENCH_OPTIONS)
	@$(PY) benches/bench_coverage.py $(BENCH_OPTIONS)
	@$(PY) benches/bench_against.py $(BENCH_OPTIONS)
	@$(PY) benches/bench_hyperfine.py $(BENCH_OPTIONS)
	@$(PY) benches/bench_false_alarms.py $(BENCH_OPTIONS)
	@$(PY) benches/bench_watch.py $(BENCH_OPTIONS)
	@$(PY) benches/bench_detectors.py $(BENCH_OPTIONS)
	@$(PY) benches/bench_race.py $(BENCH_OPTIONS)
	@$(PY) benches/bench_advice.py $(BENCH_OPTIONS)
	@$(PY) benches/bench_page.py $(BENCH_OPTIONS)
	@$(PY) benches/bench_import.py $(BENCH_OPTIONS)
	@$(PY) benches/bench_cpu.py $(BENCH_OPTIONS) $(if $(BEFORE),--before "$(BEFORE)")

golden: .venv/.dev ## record golden texts and the output shown in docs again; read the diff
	@$(PY) tests/option_tables.py
	@$(PY) tests/stub.py
	@$(PY) tests/console.py README.md docs tests/golden $(LAB)/tests/golden
	@$(PY) tests/answers.py
	@$(PY) tests/notebook.py docs/examples/*.ipynb
	@$(PY) tests/rooms_figure.py

published: .venv/.dev ## compare published numbers with docs/results; DOCUMENT=NAME prints one document
	@$(if $(DOCUMENT),$(if $(wildcard examples/published/$(DOCUMENT).yaml),,echo "no document '$(DOCUMENT)'; there are: \
		$(notdir $(basename $(wildcard examples/published/*.yaml)))" >&2; exit 2))
	@$(if $(DOCUMENT),$(IOSONDE) compare examples/published/$(DOCUMENT).yaml,$(PY) docs/reproductions/verdicts.py)

lint: .venv/.dev ## ruff, mypy --strict, rustfmt, clippy
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@echo "checking types: mypy --strict of python/iosonde and packages (about 20 s, then 2)"
	@$(PY) -m mypy
	@cargo fmt --version >/dev/null 2>&1 && cargo fmt --check || \
		{ ! cargo fmt --version >/dev/null 2>&1 && echo "not checked: rustfmt is not installed"; }
	@cargo clippy --version >/dev/null 2>&1 && \
		PYO3_PYTHON="$$PWD/$(PY)" cargo clippy --quiet --locked --workspace --all-targets -- -D warnings || \
		{ ! cargo clippy --version >/dev/null 2>&1 && echo "not checked: clippy is not installed"; }

lock: .venv/.dev ## pin the newest versions that pyproject.toml allows (requirements.lock, Cargo.lock)
	@$(PY) -m pip install --quiet --disable-pip-version-check --dry-run --ignore-installed \
		--report build/lock.json '.[dev,mpich]' 'maturin>=1.9,<2'
	@{ echo '# The versions that CI tests. Made by `make lock` from the ranges in pyproject.toml.'; \
		$(PY) -c "import json; print(*sorted('{name}=={version}'.format(**p['metadata']).lower() for p in \
		json.load(open('build/lock.json'))['install'] if p['metadata']['name'] != 'iosonde'), sep='\n')"; \
		} >build/requirements.lock && mv build/requirements.lock requirements.lock
	@cargo update --quiet

# The wheel is for every Python from 3.11 and every glibc from 2.17 (zig links against that one); the sdist beside it.
wheels: .venv/.dev ## build/dist: wheels and sources, tried in an empty environment without Rust (about 5 min)
	@$(PIP) 'ziglang>=0.13,<1'
	@rm -rf build/dist
	@PATH="$$PWD/.venv/bin:$$PATH" maturin build --quiet --locked --release --zig --compatibility manylinux2014 --out build/dist
	@PATH="$$PWD/.venv/bin:$$PATH" maturin sdist --out build/dist >/dev/null
	@for package in $(PACKAGES); do \
		(cd "$$package" && "$(CURDIR)/$(PY)" -m hatchling build --directory "$(CURDIR)/build/dist" >/dev/null) || exit; done
	@$(PY) tools/try_wheel.py build/dist

release: .venv/.dev ## VERSION=0.2.0: write it everywhere, run the tests, build the wheels, commit and tag
	@test -n "$(VERSION)" || { echo "which version? make release VERSION=0.2.0"; exit 1; }
	@test -z "$$(git status --porcelain)" || { echo "commit or remove what is not committed"; exit 1; }
	@$(PY) tools/set_version.py "$(VERSION)"
	@$(MAKE) --no-print-directory setup lint test wheels
	@git commit --quiet --all --message "Release $(VERSION)" && git tag --annotate --message "iosonde $(VERSION)" "$(VERSION)"
	@echo "tagged $(VERSION); publish it with: git push --follow-tags, and the files in build/dist"

clean: ## remove what make built; results (iosonde-store, reports) stay
	@rm -rf .venv target build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	@rm -f python/iosonde/engine/_native*.so
	@find python packages tests benches -name __pycache__ -type d -prune -exec rm -rf {} +

setup: .venv/.dev ## everything that run and test need, and nothing more

# The first line that a machine which lacks something prints is what to install.
define NEED
@test -n "$(PYTHON)" || { echo "missing: Python 3.11 or newer; install it with: apt install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "missing: Python's venv; install it with: apt install python3-venv"; exit 1; }
	@command -v cc >/dev/null || { echo "missing: a C compiler; install it with: apt install gcc libc6-dev"; exit 1; }
	@command -v cargo >/dev/null || { echo "missing: Rust $(RUST_OLDEST) or newer; install it from https://rustup.rs"; exit 1; }
	@cargo --version 2>/dev/null | awk -v oldest=$(RUST_OLDEST) \
		'{split($$2, v, "."); split(oldest, o, "."); ok = v[1] > o[1] || v[2] + 0 >= o[2] + 0} END {exit !ok}' || \
		{ echo "missing: Rust $(RUST_OLDEST) or newer ($$(cargo --version 2>&1 | head -n 1)); install it from https://rustup.rs"; exit 1; }
endef

# `$(call REQUIREMENTS,mpich)`: what pyproject.toml asks for, with an extra, as words that pip understands.
REQUIREMENTS = $(PY) -c "import sys, tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
	print(*p['dependencies'], *(r for e in sys.argv[1:] for r in p['optional-dependencies'][e]), sep='\n')" $(1)

# `$(call BUILD_BACKEND,DIRECTORY)`: what a package is built with.
BUILD_BACKEND = $(PY) -c "import sys, tomllib; p = tomllib.load(open(sys.argv[1] + '/pyproject.toml', 'rb')); \
	print(*p['build-system']['requires'], sep='\n')" $(1)

# Without an mpiexec, or without a library that mpi4py can load, MPICH comes from its wheel. A site's own MPI is never
# shadowed.
MPI_WORKS = command -v mpiexec >/dev/null && \
	$(PY) -c 'import mpi4py; mpi4py.rc.initialize = False; import mpi4py.MPI' 2>/dev/null

.venv/.deps: pyproject.toml requirements.lock
	$(NEED)
	@echo "setting up: Python packages (about 60 s, once)"
	@mkdir -p build
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@$(call REQUIREMENTS,) >build/requirements.txt
	@$(PIP) 'maturin>=1.9,<2' --requirement build/requirements.txt
	@$(MPI_WORKS) || { $(call REQUIREMENTS,mpich) >build/requirements.txt && $(PIP) --requirement build/requirements.txt; }
	@touch $@

.venv/.ok: .venv/.deps Cargo.toml Cargo.lock $(RUST)
	$(NEED)
	@echo "setting up: native engine (about 40 s, once)"
	@PATH="$$PWD/.venv/bin:$$PATH" MATURIN_PEP517_ARGS=--locked $(PIP) --no-build-isolation --no-deps --editable .
	@touch $@

# Without a network where its build backend is there: no isolated environment is made.
.venv/.lab: $(LAB)/pyproject.toml requirements.lock | .venv/.ok
	@echo "setting up: iosonde-lab"
	@$(call BUILD_BACKEND,$(LAB)) >build/requirements-lab.txt
	@$(PIP) --requirement build/requirements-lab.txt
	@$(PIP) --no-build-isolation --no-deps --editable $(LAB)
	@touch $@

# Tests run with one MPI, whatever the machine has besides; `make test-nodes` takes others where they are.
.venv/.dev: .venv/.deps .venv/.lab $(PACKAGES:%=%/pyproject.toml) | .venv/.ok
	@echo "setting up: what tests need (about 15 s, once)"
	@$(call REQUIREMENTS,dev mpich) >build/requirements-dev.txt
	@$(PIP) --requirement build/requirements-dev.txt
	@$(PIP) --no-build-isolation --no-deps $(PACKAGES:%=--editable ./%)
	@touch $@
