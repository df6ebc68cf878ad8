# Everything Signpost needs is installed below, into .tools/ and node_modules/ or by rustup, pinned; the second run
# finds it without the network.

NIGHTLY := nightly-2026-05-20
HOST := $(shell uname -m)-unknown-linux-gnu
STABLE := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)

TOOLS := $(CURDIR)/.tools
APT := apt-get update -qq && apt-get install -y -qq
WASM_RUSTUP := $(TOOLS)/rustup
# The toolchain that rust-toolchain.toml names must be one that is there: rustup may not be allowed to fetch it by itself.
STABLE_READY := $(TOOLS)/stable-$(STABLE)
NIGHTLY_READY := $(WASM_RUSTUP)/$(NIGHTLY)
# A folder a version: a new version here is installed, and not taken for the one that is there.
WORKER_BUILD_VERSION := 0.8.7
WASM_BINDGEN_VERSION := 0.2.129
WORKER_BUILD := $(TOOLS)/worker-build-$(WORKER_BUILD_VERSION)/bin/worker-build
WASM_BINDGEN := $(TOOLS)/wasm-bindgen-$(WASM_BINDGEN_VERSION)/bin/wasm-bindgen
PIP_READY := $(TOOLS)/pip
# The library that the tests of callbacks ask for a second opinion; by the contents of its requirements.
PYTHON_REQUIREMENTS := tests/verifiers/requirements.txt
PYTHON_READY := $(TOOLS)/python/.signpost-$(firstword $(shell sha256sum $(PYTHON_REQUIREMENTS)))
# What sends Signpost what its document allows, and what it does not.
API_REQUIREMENTS := tests/e2e/api/requirements.txt
API_PYTHON_READY := $(TOOLS)/api-python/.signpost-$(firstword $(shell sha256sum $(API_REQUIREMENTS)))
# What only `make audit` needs, and only where there is a database to ask.
CARGO_AUDIT_VERSION := 0.22.2
CARGO_AUDIT := $(TOOLS)/cargo-audit-$(CARGO_AUDIT_VERSION)/bin/cargo-audit
ADVISORIES := https://github.com/RustSec/advisory-db
# What only `make bench` needs. wrk is Debian's, Hono comes with the npm packages.
OHA_VERSION := 1.16.0
OHA := $(TOOLS)/oha-$(OHA_VERSION)/bin/oha
BENCH_REQUIREMENTS := benches/requirements.txt
BENCH_PYTHON := $(TOOLS)/bench-python
BENCH_PYTHON_READY := $(BENCH_PYTHON)/.signpost-$(firstword $(shell sha256sum $(BENCH_REQUIREMENTS)))
# What only `make fuzz-parsers` and its shorter form need.
CARGO_FUZZ_VERSION := 0.13.2
CARGO_FUZZ := $(TOOLS)/cargo-fuzz-$(CARGO_FUZZ_VERSION)/bin/cargo-fuzz
FUZZ_TARGETS := $(shell sed -n 's/^name = "\([a-z_]*\)"$$/\1/p' tests/fuzz/Cargo.toml)
FUZZ_SECONDS := 60
# Those that reach unsafe code of a crate: rkyv reads archives in place, and the ciphers pick their instructions.
FUZZ_UNSAFE := snapshots click_id
HONO := target/bench/hono.js
BENCH_BUNDLE := target/bench/build/index_bg.wasm
FAULTS_BUNDLE := target/faults/build/index_bg.wasm
NPM_READY := node_modules/.signpost-$(firstword $(shell sha256sum package-lock.json))
BUNDLE := build/index_bg.wasm

SOURCES := $(shell find src -name '*.rs') src/edge/entry.js build.rs openapi.yaml Cargo.toml Cargo.lock Makefile package-lock.json

# worker-build takes the toolchain named `nightly`, and fetches its helpers unless it is told where they are. simd128 halves
# what the report engine takes; every V8 since 2021 has it.
WASM_ENV := MAKEFLAGS= RUSTFLAGS='-C target-feature=+simd128' RUSTUP_HOME=$(WASM_RUSTUP) RUSTUP_TOOLCHAIN=nightly CARGO_TARGET_DIR=$(CURDIR)/target/wasm \
	WASM_BINDGEN_BIN=$(WASM_BINDGEN) \
	WASM_OPT_BIN=$(CURDIR)/node_modules/.bin/wasm-opt \
	ESBUILD_BIN=$(CURDIR)/node_modules/@esbuild/linux-x64/bin/esbuild

# wasm-opt is two thirds of a build's time for 3 % of its size: `make deploy` takes it, `make test WASM_FLAGS=` tests it.
WASM_FLAGS := --no-opt

.PHONY: help run test chaos check lint-native lint-wasm compiled audit fuzz fuzz-api fuzz-parsers fuzz-memory fuzz-brief fuzz-build bench bench-setup soak deploy fmt clean build setup
.DELETE_ON_ERROR:

help:
	@echo 'make run     start Signpost on 127.0.0.1:8787   PORT= STATE= VARS="NAME:value …"'
	@echo 'make test    formatting, lints, native tests, end-to-end tests on workerd'
	@echo 'make chaos   the test that kills workerd at random, at length   KILLS=200 SEED=…'
	@echo 'make bench   speed, as ratios to yardsticks          ONLY="click …" ROUNDS=9'
	@echo 'make fuzz    what comes from outside, against its properties   FUZZ_SECONDS=60 for each, API_SECONDS=300'
	@echo 'make fuzz-memory   the same for what reaches unsafe code, with AddressSanitizer'
	@echo 'make audit   known vulnerabilities of what it is built from'
	@echo 'make soak    mixed traffic at the limit, then twice as much   MINUTES=10 OVERLOAD_SECONDS=60'
	@echo 'make deploy  wrangler deploy (see the README first)'
	@echo 'make fmt     format the sources'
	@echo 'make clean   remove what was built; the tools stay'

run: build
	@exec fixtures/local/run.sh

# Two at a time up to the tests: optimising the module and building the tools keep one core busy each. The tests wait for
# workerd, timers and disks more than they compute.
test:
	@$(MAKE) --no-print-directory --jobs=2 check build $(FAULTS_BUNDLE) compiled fuzz-build audit
	cargo test --quiet --locked --lib --bins
	cargo test --quiet --locked --test '*' -- --test-threads=8
	@$(MAKE) --no-print-directory fuzz-brief

# Prints what each kind of request came to; a run that fails says which SEED brings it back. Then every place panics of
# which `make test` tries some.
chaos: KILLS ?= 200
chaos: build $(FAULTS_BUNDLE)
	@SEED='$(SEED)' KILLS='$(KILLS)' cargo test --quiet --locked --test e2e security::chaos -- --nocapture
	@PANICS=1 cargo test --quiet --locked --test e2e security::panics -- --nocapture --test-threads=2

check: lint-native lint-wasm

lint-native: $(STABLE_READY)
	cargo fmt --check
	cargo clippy --quiet --locked --all-targets -- -D warnings

lint-wasm: $(NIGHTLY_READY)
	$(WASM_ENV) cargo clippy --quiet --locked --lib --target wasm32-unknown-unknown -- -D warnings

# After the lints, which hold the same folder's lock.
compiled: lint-native
	cargo test --quiet --locked --no-run

# The lock files against the known vulnerabilities, where their database can be had; licences are a test of their own.
audit: $(STABLE_READY)
	@if timeout 20 git ls-remote --quiet $(ADVISORIES) HEAD >/dev/null 2>&1; \
	then $(MAKE) --no-print-directory $(CARGO_AUDIT) && \
		for lock in Cargo.lock tests/fuzz/Cargo.lock; do $(CARGO_AUDIT) audit --url $(ADVISORIES) --file $$lock || exit 1; done; \
	else echo 'audit: not done, $(ADVISORIES) cannot be reached from here'; fi

# schemathesis for so many seconds, with another seed each time; `make test` has a short run with one seed.
API_SECONDS := 300

fuzz-api: build
	API_SECONDS=$(API_SECONDS) cargo test --quiet --locked --test e2e schemathesis -- --nocapture

# Compiled before it runs: what cargo does would be in the way of the first figures.
bench: build bench-setup $(HONO) $(BENCH_BUNDLE)
	cargo bench --quiet --locked --bench speed --no-run
	@ONLY='$(ONLY)' ROUNDS='$(ROUNDS)' OHA='$(OHA)' PYTHONPATH='$(BENCH_PYTHON)' cargo bench --quiet --locked --bench speed

# Compiled before it runs, like the benches, whose profile it shares.
soak: build
	cargo bench --quiet --locked --bench soak --no-run
	@MINUTES='$(MINUTES)' OVERLOAD_SECONDS='$(OVERLOAD_SECONDS)' CLIENTS='$(CLIENTS)' cargo bench --quiet --locked --bench soak

bench-setup: setup $(OHA) $(BENCH_PYTHON_READY)
	@command -v wrk >/dev/null || { $(APT) wrk; }

$(OHA): | $(STABLE_READY)
	$(QUICK) CARGO_PROFILE_RELEASE_OPT_LEVEL=2 cargo install oha --version $(OHA_VERSION) --locked --root $(TOOLS)/oha-$(OHA_VERSION)

$(HONO): benches/yardsticks/hono.js package-lock.json | setup
	node_modules/.bin/esbuild $< --bundle --minify --format=esm --log-level=warning --outfile=$@

# With what only benches may reach. In a folder of its own, so that it is never deployed.
$(BENCH_BUNDLE): $(SOURCES) $(BUNDLE) | setup
	$(WASM_ENV) $(WORKER_BUILD) --release --panic-unwind $(WASM_FLAGS) --out-dir target/bench/build . -- --features bench
	cp src/edge/entry.js target/bench/build/
	@touch $@

# With places that panic when a test asks for it. In a folder of its own, so that it is never deployed; and after the one
# that is, since cargo leaves what it links in the same place.
$(FAULTS_BUNDLE): $(SOURCES) $(BUNDLE) | setup
	$(WASM_ENV) $(WORKER_BUILD) --release --panic-unwind $(WASM_FLAGS) --out-dir target/faults/build . -- --features faults
	cp src/edge/entry.js target/faults/build/
	@touch $@

fuzz: fuzz-parsers fuzz-api

fuzz-parsers: fuzz-build
	@$(call fuzz,none,target/fuzz,$(FUZZ_SECONDS),1,$(FUZZ_TARGETS))

# The same with AddressSanitizer, for what is not safe Rust all the way down.
fuzz-memory: $(CARGO_FUZZ)
	$(call fuzz_build,address)
	@$(call fuzz,address,target/fuzz,$(FUZZ_SECONDS),1,$(FUZZ_UNSAFE))

# A few seconds each, and nothing left over from earlier runs: what `make test` can spend.
fuzz-brief: fuzz-build
	@rm -rf target/fuzz/brief
	@$(call fuzz,none,target/fuzz/brief,2,$(shell nproc),$(FUZZ_TARGETS))

fuzz-build: $(CARGO_FUZZ)
	$(call fuzz_build,none)

# A sanitizer. cargo-fuzz takes no --locked, so the lock file is checked before. Without cfg(fuzzing), by which crates change
# what they do: what is fuzzed is what is deployed, with debug assertions and checked arithmetic.
define fuzz_build
cargo fetch --quiet --locked --target $(HOST) --manifest-path tests/fuzz/Cargo.toml
RUSTUP_HOME=$(WASM_RUSTUP) RUSTUP_TOOLCHAIN=nightly $(CARGO_FUZZ) build --fuzz-dir tests/fuzz \
	--target-dir target/fuzz/$(1) -s $(1) --no-cfg-fuzzing --codegen-units 16
endef

# A sanitizer, where to keep what is found, seconds, how many at once, and targets.
define fuzz
printf '%s\n' $(5) | xargs -P$(4) -I{} tests/fuzz/run.sh target/fuzz/$(1)/$(HOST)/release $(2) $(3) {}
endef

# Built anew, so that no bundle of a quick turn is deployed.
deploy: | setup
	rm -rf build && $(MAKE) build WASM_FLAGS=
	npx wrangler deploy --env production

fmt: $(STABLE_READY)
	cargo fmt

clean:
	rm -rf build target

build: $(BUNDLE)

# --panic-unwind: without it a panic in an object hangs its caller, and takes the memory of every object with it.
$(BUNDLE): $(SOURCES) | setup
	$(WASM_ENV) $(WORKER_BUILD) --release --panic-unwind $(WASM_FLAGS)
	cp src/edge/entry.js build/
	@touch $@

setup: $(STABLE_READY) $(NIGHTLY_READY) $(WORKER_BUILD) $(WASM_BINDGEN) $(NPM_READY) $(PYTHON_READY) $(API_PYTHON_READY)

$(STABLE_READY):
	@[ "$(HOST)" = x86_64-unknown-linux-gnu ] && [ "$$(uname -s)" = Linux ] || \
		{ echo 'Signpost is built and tested on Linux, x86-64' >&2; exit 1; }
	@command -v rustup >/dev/null || { echo 'Signpost needs rustup, see https://rustup.rs' >&2; exit 1; }
	@command -v cc >/dev/null && command -v curl >/dev/null && command -v npm >/dev/null || \
		{ $(APT) build-essential curl nodejs npm; }
	rustup toolchain install $(STABLE) --profile minimal -c clippy -c rustfmt --no-self-update
	@mkdir -p $(TOOLS) && touch $@

$(NIGHTLY_READY): | $(STABLE_READY)
	RUSTUP_HOME=$(WASM_RUSTUP) rustup toolchain install $(NIGHTLY) --profile minimal -c rust-src -c clippy \
		-t wasm32-unknown-unknown --no-self-update
	ln -sfn $(NIGHTLY)-$(HOST) $(WASM_RUSTUP)/toolchains/nightly-$(HOST)
	@touch $@

# The tools run for seconds and are built once: not optimised they take two seconds more of a build, and half the time to
# be built. In one folder, since they are built from much that is the same.
QUICK := CARGO_TARGET_DIR=$(CURDIR)/target/tools CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16

$(WORKER_BUILD): | $(STABLE_READY)
	$(QUICK) cargo install worker-build --version $(WORKER_BUILD_VERSION) --locked \
		--root $(TOOLS)/worker-build-$(WORKER_BUILD_VERSION)

$(CARGO_AUDIT): | $(STABLE_READY)
	$(QUICK) cargo install cargo-audit --version $(CARGO_AUDIT_VERSION) --locked --no-default-features \
		--root $(TOOLS)/cargo-audit-$(CARGO_AUDIT_VERSION)

$(CARGO_FUZZ): | $(STABLE_READY) $(NIGHTLY_READY) $(PIP_READY)
	@command -v c++ >/dev/null || { $(APT) g++; }
	$(QUICK) cargo install cargo-fuzz --version $(CARGO_FUZZ_VERSION) --locked \
		--root $(TOOLS)/cargo-fuzz-$(CARGO_FUZZ_VERSION)

# Without --locked: the lock file of this version names a crate that is no longer served.
$(WASM_BINDGEN): | $(STABLE_READY)
	$(QUICK) cargo install wasm-bindgen-cli --version $(WASM_BINDGEN_VERSION) \
		--root $(TOOLS)/wasm-bindgen-$(WASM_BINDGEN_VERSION)

# By the lock file's contents and not its age, which a checkout changes.
$(NPM_READY): | $(STABLE_READY)
	npm ci --ignore-scripts --no-fund --no-audit
	@mkdir -p $(TOOLS) && touch $@

# One for all that need it, since Debian's packages are not installed twice at once.
$(PIP_READY): | $(STABLE_READY)
	@python3 -m pip --version >/dev/null 2>&1 || { $(APT) python3 python3-pip; }
	@touch $@

# --target: nothing of the machine's own Python changes, and Debian's pip allows no less.
$(PYTHON_READY): | $(PIP_READY)
	$(call pip_install,$(TOOLS)/python,$(PYTHON_REQUIREMENTS))
	@touch $@

$(API_PYTHON_READY): | $(PIP_READY)
	$(call pip_install,$(TOOLS)/api-python,$(API_REQUIREMENTS))
	@touch $@

$(BENCH_PYTHON_READY): | $(PIP_READY)
	$(call pip_install,$(BENCH_PYTHON),$(BENCH_REQUIREMENTS))
	@touch $@

# A folder, and the requirements that are to be in it.
define pip_install
rm -rf $(1)
python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --require-hashes \
	--target $(1) -r $(2)
endef
