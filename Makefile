# Everything Signpost needs is installed below, into .tools/ and node_modules/ or by rustup, pinned; the second run finds
# it without the network. `.ci/step` prints a line for each step, and keeps what the step prints in target/logs/.

NIGHTLY := nightly-2026-05-20
STABLE := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
# This machine as rustup names it, where rustup is there already. In a recipe: setup installs nothing that changes it.
HOST = $(shell rustup show 2>/dev/null | sed -n 's/^Default host: //p')

TOOLS := $(CURDIR)/.tools
# Installs Debian's packages where apt-get exists; otherwise prints their names and fails.
APT = command -v apt-get >/dev/null || { echo "Signpost needs these packages, by the names that Debian gives them: $(1)" >&2; exit 1; }; \
	apt-get update -qq && apt-get install -y -qq $(1)
WASM_RUSTUP := $(TOOLS)/rustup
# The toolchain that rust-toolchain.toml names must be installed: rustup may not be allowed to fetch it by itself.
STABLE_READY := $(TOOLS)/stable-$(STABLE)
NIGHTLY_READY := $(WASM_RUSTUP)/$(NIGHTLY)
# Each version has a folder, so that a new version here is installed.
WORKER_BUILD_VERSION := 0.8.7
WASM_BINDGEN_VERSION := 0.2.129
WORKER_BUILD := $(TOOLS)/worker-build-$(WORKER_BUILD_VERSION)/bin/worker-build
WASM_BINDGEN := $(TOOLS)/wasm-bindgen-$(WASM_BINDGEN_VERSION)/bin/wasm-bindgen
PIP_READY := $(TOOLS)/pip
# The stock library that tests verify callbacks with. The file that marks it as installed is named by a hash.
PYTHON_REQUIREMENTS := tests/verifiers/requirements.txt
PYTHON_READY := $(TOOLS)/python/.signpost-$(firstword $(shell sha256sum $(PYTHON_REQUIREMENTS)))
# schemathesis, which sends requests that openapi.yaml allows, and requests that it does not.
API_REQUIREMENTS := tests/e2e/api/requirements.txt
API_PYTHON_READY := $(TOOLS)/api-python/.signpost-$(firstword $(shell sha256sum $(API_REQUIREMENTS)))
# User-Agents of crawlers and people, which tests tell apart.
CRAWLERS_REQUIREMENTS := tests/corpora/requirements.txt
CRAWLERS_READY := $(TOOLS)/crawlers/.signpost-$(firstword $(shell sha256sum $(CRAWLERS_REQUIREMENTS)))
# Only `make audit` needs it, and only where its database can be reached.
CARGO_AUDIT_VERSION := 0.22.2
CARGO_AUDIT := $(TOOLS)/cargo-audit-$(CARGO_AUDIT_VERSION)/bin/cargo-audit
ADVISORIES := https://github.com/RustSec/advisory-db
# Only `make bench` needs these. wrk is Debian's, Hono comes with the npm packages.
OHA_VERSION := 1.16.0
OHA := $(TOOLS)/oha-$(OHA_VERSION)/bin/oha
BENCH_REQUIREMENTS := benches/requirements.txt
BENCH_PYTHON := $(TOOLS)/bench-python
BENCH_PYTHON_READY := $(BENCH_PYTHON)/.signpost-$(firstword $(shell sha256sum $(BENCH_REQUIREMENTS)))
# Only `make fuzz` needs these.
CARGO_FUZZ_VERSION := 0.13.2
CARGO_FUZZ := $(TOOLS)/cargo-fuzz-$(CARGO_FUZZ_VERSION)/bin/cargo-fuzz
FUZZ_TARGETS := $(shell sed -n 's/^name = "\([a-z_]*\)"$$/\1/p' tests/fuzz/Cargo.toml)
FUZZ_SECONDS := 60
# Only `make mutants` needs it.
CARGO_MUTANTS_VERSION := 27.0.0
CARGO_MUTANTS := $(TOOLS)/cargo-mutants-$(CARGO_MUTANTS_VERSION)/bin/cargo-mutants
# The target that reaches unsafe code of a crate: the ciphers pick their instructions.
FUZZ_UNSAFE := click_id
HONO := target/bench/hono.js
NPM_READY := node_modules/.signpost-$(firstword $(shell sha256sum package-lock.json))

# The two modules as they are deployed; with the benches' route; with places that panic when a test asks for it. The last
# two have folders of their own, so that neither is ever deployed.
BUNDLES := build/edge/index_bg.wasm build/origin/index_bg.wasm
BENCH_BUNDLES := target/bench/edge/index_bg.wasm target/bench/origin/index_bg.wasm
FAULTS_BUNDLES := target/faults/edge/index_bg.wasm target/faults/origin/index_bg.wasm

SHARED_SOURCES := $(shell find src/domain src/contract src/platform -name '*.rs' -o -name '*.txt' -o -name Cargo.toml) \
	Cargo.toml Cargo.lock Makefile package-lock.json
EDGE_SOURCES := $(SHARED_SOURCES) $(shell find src/edge -type f)
ORIGIN_SOURCES := $(SHARED_SOURCES) $(shell find src/origin src/pages src/dashboard src/console -type f) openapi.yaml

# worker-build takes the toolchain named `nightly`, and fetches its helpers unless it is told where they are. simd128 halves
# the report engine's time; every V8 since 2021 has it.
WASM_ENV = MAKEFLAGS= RUSTFLAGS=-Ctarget-feature=+simd128 RUSTUP_HOME=$(WASM_RUSTUP) RUSTUP_TOOLCHAIN=nightly \
	CARGO_TARGET_DIR=$(CURDIR)/target/wasm WASM_BINDGEN_BIN=$(WASM_BINDGEN) \
	WASM_OPT_BIN=$(CURDIR)/node_modules/.bin/wasm-opt ESBUILD_BIN=$$(echo $(CURDIR)/node_modules/@esbuild/*/bin/esbuild)

# worker-build's own -O takes five times as long as -O1, and its result is 4 % larger. Without names: they are a tenth of what an
# isolate loads, and a panic's message has its file and line.
ESBUILD = node_modules/.bin/esbuild
WASM_OPT = node_modules/.bin/wasm-opt --strip-debug -O1

.PHONY: help run test browser browsed browser-short browser-setup chaos tested lint-native lint-wasm lint-page compiled \
	native-tests tests audit fuzz fuzz-api fuzz-parsers fuzz-memory fuzz-build mutants bench bench-setup soak deploy crawlers \
	fmt clean build faults setup
.DELETE_ON_ERROR:

# A name and a command: `$(call step,Name,command)`.
step = @.ci/step '$(1)' '$(2)'

help:
	@echo 'make run     start Signpost on http://localhost:8787   PORT= STATE= VARS="NAME:value …"'
	@echo 'make test    formatting, lints, native tests, end-to-end tests on workerd, the dashboard in short   BROWSER=none'
	@echo 'make browser the dashboard in Chromium: tasks, states, accessibility, screenshots   BROWSER=none'
	@echo 'make chaos   the test that kills workerd at random, at length   KILLS=200 SEED=…'
	@echo 'make bench   speed, as ratios to yardsticks          ONLY="click …" ROUNDS=9'
	@echo 'make fuzz    random input for every parser   FUZZ_SECONDS=60 for each, API_SECONDS=300'
	@echo 'make fuzz-memory   the same for what reaches unsafe code, with AddressSanitizer'
	@echo 'make mutants changes of the rules that no test notices; about 50 minutes   RULES="click …"'
	@echo 'make audit   known vulnerabilities of the crates'
	@echo 'make soak    mixed traffic at the limit, then twice as much   MINUTES=10 OVERLOAD_SECONDS=60'
	@echo 'make deploy  wrangler deploy, the origin first (see docs/OPERATING.md, "Deploying")'
	@echo 'make fmt     format the sources'
	@echo 'make clean   remove what was built; the tools stay'

run:
	@.ci/steps build
	@exec fixtures/local/run.sh

test:
	@.ci/steps tested

tested: lint-native lint-wasm lint-page tests audit

lint-native: $(STABLE_READY)
	$(call step,Check format and lints,\
		cargo fmt --check && cargo clippy --quiet --locked --workspace --all-targets -- -D warnings)

lint-page: | $(NPM_READY)
	$(call step,Check types of the page,node_modules/.bin/tsc --noEmit --project src/dashboard && node_modules/.bin/tsc --noEmit --project src/console)

# In a folder of its own, because cargo locks the folder in which the Workers are built meanwhile.
lint-wasm: compiled $(NIGHTLY_READY)
	$(call step,Check lints of the Workers,$(WASM_ENV) CARGO_TARGET_DIR=$(CURDIR)/target/wasm-lints \
		cargo clippy --quiet --locked -p signpost-edge -p signpost-origin \
		--lib --target wasm32-unknown-unknown -- -D warnings)

# After the lints, which lock the same folder.
compiled: lint-native
	$(call step,Compile the tests,cargo test --quiet --locked --workspace --no-run)

# What needs no Worker, while the Workers are built.
native-tests: compiled | $(PYTHON_READY) $(NPM_READY) $(CRAWLERS_READY)
	$(call step,Run the unit tests,cargo test --quiet --locked --workspace --lib)
	$(call step,Run the tests on SQLite,cargo test --quiet --locked --no-fail-fast -p signpost-tests \
		--test catalog --test corpora --test origin --test verifiers)

# While the modules with faults are built, and before the tests on workerd, whose timers it would disturb.
browser-short: native-tests | build browser-setup
	$(call step,Walk the dashboard in short,$(call browse,tests/browser/short.test.mjs))

# These wait for workerd, timers and disks more than they compute.
tests: native-tests lint-wasm audit browser-short | build faults $(API_PYTHON_READY)
	$(call step,Run the tests on workerd,cargo test --quiet --locked --no-fail-fast -p signpost-tests \
		--test repository --test e2e -- --test-threads=8)

# The lock files against the known vulnerabilities, where their database can be reached; a test checks the licences.
audit: $(STABLE_READY)
	$(call step,Look for known vulnerabilities,\
		if timeout 20 git ls-remote --quiet $(ADVISORIES) HEAD >/dev/null 2>&1; then \
			MAKEFLAGS= make --no-print-directory $(CARGO_AUDIT); \
			for lock in Cargo.lock tests/fuzz/Cargo.lock; do $(CARGO_AUDIT) audit --url $(ADVISORIES) --file $$lock; done; \
		else echo "not done: $(ADVISORIES) cannot be reached from here"; fi)

browser:
	@.ci/steps browsed

# Screenshots of every page and state are in target/browser/screenshots/ afterwards.
browsed: | build browser-setup
	$(call step,Walk the dashboard,$(call browse,$(filter-out %/short.test.mjs,$(wildcard tests/browser/*.test.mjs))))

# Runs test files in Chromium, two at once. BROWSER=none leaves them out and says so.
browse = if [ "$(BROWSER)" = none ]; then echo "not done: the dashboard in a browser (BROWSER=none)"; \
	else node --test --test-concurrency=2 --test-reporter=spec $(1); fi

# After pip, since Debian's packages are not installed twice at once.
browser-setup: | $(NPM_READY) $(PIP_READY)
	@[ "$(BROWSER)" = none ] || command -v chromium >/dev/null || { $(call APT,chromium); }

# Prints the outcomes by kind of request; a failing run prints its SEED. Then it panics at every injection point, of which
# `make test` covers some.
chaos: KILLS ?= 200
chaos: build faults
	@SEED='$(SEED)' KILLS='$(KILLS)' cargo test --quiet --locked -p signpost-tests --test e2e security::chaos -- --nocapture
	@PANICS=1 cargo test --quiet --locked -p signpost-tests --test e2e security::panics -- --nocapture --test-threads=2

# schemathesis for so many seconds, with another seed each time; `make test` has a short run with one seed.
API_SECONDS := 300

fuzz-api: build
	API_SECONDS=$(API_SECONDS) cargo test --quiet --locked -p signpost-tests --test e2e schemathesis -- --nocapture

# Compiled before it runs: what cargo does would be in the way of the first figures.
bench: build bench-setup $(HONO) $(BENCH_BUNDLES)
	$(call step,Compile the benchmarks,cargo bench --quiet --locked -p signpost-benches --bench speed --no-run)
	@ONLY='$(ONLY)' ROUNDS='$(ROUNDS)' BROWSER='$(BROWSER)' OHA='$(OHA)' PYTHONPATH='$(BENCH_PYTHON)' \
		cargo bench --quiet --locked -p signpost-benches --bench speed

# Compiled before it runs, like the benches, whose profile it shares.
soak: build
	$(call step,Compile the soak test,cargo bench --quiet --locked -p signpost-benches --bench soak --no-run)
	@MINUTES='$(MINUTES)' OVERLOAD_SECONDS='$(OVERLOAD_SECONDS)' CLIENTS='$(CLIENTS)' \
		cargo bench --quiet --locked -p signpost-benches --bench soak

bench-setup: setup browser-setup $(OHA) $(BENCH_PYTHON_READY)
	@command -v wrk >/dev/null || { $(call APT,wrk); }

$(HONO): benches/yardsticks/hono.js package-lock.json | setup
	$(ESBUILD) $< --bundle --minify --format=esm --log-level=warning --outfile=$@

fuzz: fuzz-parsers fuzz-api

# The rules about money, changed one place at a time, each with the unit tests that have to notice: paths below src/domain/,
# then the tests. Copies of the sources are changed, never these.
RULES := conversions callbacks money click reports
mutants: $(CARGO_MUTANTS)
	@$(foreach rule,$(RULES),$(call mutate,$(rule),$(MUTATED_$(rule)),$(NOTICED_BY_$(rule))) && ) true

MUTATED_conversions := conversions/**
NOTICED_BY_conversions := conversions::
MUTATED_callbacks := callbacks/**
NOTICED_BY_callbacks := callbacks:: catalog::app
MUTATED_money := model/money.rs
NOTICED_BY_money := model::money
MUTATED_click := tracking/decision.rs tracking/signature.rs
NOTICED_BY_click := tracking::decision tracking::signature
MUTATED_reports := reporting/metric.rs reporting/numbers.rs reporting/engine/batch.rs
NOTICED_BY_reports := reporting::

# Fails if a change survived. One that makes a test run for ever is noticed, but hides survivors in the status.
define mutate
{ PROPTEST_CASES=64 $(CARGO_MUTANTS) mutants --config tests/mutants.toml --package signpost-domain --cap-lints true \
	--jobs 2 --timeout 60 --output target/mutants/$(1) $(foreach path,$(2),--file 'src/domain/$(path)') \
	-- --lib -- $(3); \
	case $$? in [023]) ! grep . target/mutants/$(1)/mutants.out/missed.txt ;; *) false ;; esac; }
endef

fuzz-parsers: fuzz-build
	@$(call fuzz,none,$(FUZZ_SECONDS),$(FUZZ_TARGETS))

# The same with AddressSanitizer, for what is not safe Rust all the way down.
fuzz-memory: $(CARGO_FUZZ)
	$(call fuzz_build,address)
	@$(call fuzz,address,$(FUZZ_SECONDS),$(FUZZ_UNSAFE))

fuzz-build: $(CARGO_FUZZ)
	$(call fuzz_build,none)

# A sanitizer. cargo-fuzz takes no --locked, so the lock file is checked before. Without cfg(fuzzing), which changes what
# crates do: what is fuzzed is what is deployed, with debug assertions and checked arithmetic.
define fuzz_build
cargo fetch --quiet --locked --target $(HOST) --manifest-path tests/fuzz/Cargo.toml
RUSTUP_HOME=$(WASM_RUSTUP) RUSTUP_TOOLCHAIN=nightly $(CARGO_FUZZ) build --fuzz-dir tests/fuzz \
	--target-dir target/fuzz/$(1) -s $(1) --no-cfg-fuzzing --codegen-units 16
endef

# Fuzzes one target after the other: sanitizer, seconds, targets.
define fuzz
printf '%s\n' $(3) | xargs -I{} tests/fuzz/run.sh target/fuzz/$(1)/$(HOST)/release target/fuzz $(2) {}
endef

# The origin first: the edge binds its objects.
deploy: | setup
	rm -rf build && $(MAKE) build
	npx wrangler deploy --env production --config src/origin/wrangler.toml
	npx wrangler deploy --env production

# After an update of `crawler-user-agents` in package.json: the list of names that the edge reads.
crawlers: setup
	cargo test --quiet --locked -p signpost-tests --test corpora -- --ignored write_the_list_of_crawlers

fmt: $(STABLE_READY)
	cargo fmt

clean:
	rm -rf build target

build: $(BUNDLES)
faults: $(FAULTS_BUNDLES)

# Builds a module: its name in the output, its crate, its feature. --panic-unwind: without it a panic in an object hangs its caller, and takes the
# memory of every object with it. worker-build takes the folder as seen from the crate.
bundle = $(call step,Build $(1),$(WASM_ENV) $(WORKER_BUILD) --release --panic-unwind --no-opt \
	--out-dir ../../$(@D) src/$(2) $(if $(3),-- --features $(3)) && $(WASM_OPT) $@ -o $@ && $(ESBUILD) src/$(2)/*.js --minify --log-level=warning --outdir=$(@D) \
	$(if $(findstring origin,$(2)),&& node src/pages/build.mjs $(@D)) && touch $@)

# One after the other: cargo locks the folder that they share, so that each crate is compiled once for both.
build/edge/index_bg.wasm: $(EDGE_SOURCES) | setup
	$(call bundle,the edge module,edge)
build/origin/index_bg.wasm: $(ORIGIN_SOURCES) | build/edge/index_bg.wasm
	$(call bundle,the origin module,origin)
target/faults/edge/index_bg.wasm: $(EDGE_SOURCES) | $(BUNDLES)
	$(call bundle,the edge module with faults,edge,faults)
target/faults/origin/index_bg.wasm: $(ORIGIN_SOURCES) | target/faults/edge/index_bg.wasm
	$(call bundle,the origin module with faults,origin,faults)
target/bench/edge/index_bg.wasm: $(EDGE_SOURCES) | $(BUNDLES)
	$(call bundle,the edge module for benchmarks,edge,bench)
target/bench/origin/index_bg.wasm: $(ORIGIN_SOURCES) | target/bench/edge/index_bg.wasm
	$(call bundle,the origin module for benchmarks,origin,bench)

setup: $(STABLE_READY) $(NIGHTLY_READY) $(WORKER_BUILD) $(WASM_BINDGEN) $(NPM_READY) $(PYTHON_READY) $(API_PYTHON_READY) \
	$(CRAWLERS_READY)

# The first step, before which nothing else starts.
$(STABLE_READY):
	@command -v rustup >/dev/null || { echo "Signpost needs rustup, see https://rustup.rs" >&2; exit 1; }
	$(call step,Install Rust $(STABLE),\
		command -v cc >/dev/null && command -v curl >/dev/null && command -v npm >/dev/null || \
			{ $(call APT,build-essential curl nodejs npm); }; \
		rustup toolchain install $(STABLE) --profile minimal -c clippy -c rustfmt --no-self-update; \
		mkdir -p $(TOOLS) && touch $@)

$(NIGHTLY_READY): | $(STABLE_READY)
	$(call step,Install Rust $(NIGHTLY),export RUSTUP_HOME=$(WASM_RUSTUP); \
		rustup toolchain install $(NIGHTLY) --profile minimal -c rust-src -c clippy -t wasm32-unknown-unknown --no-self-update; \
		ln -sfn $(NIGHTLY)-$(HOST) $(WASM_RUSTUP)/toolchains/nightly-$(HOST); \
		touch $@)

# The tools run for seconds and are built once: not optimised they take two seconds more of a build, and half the time to
# be built. They share a folder, since they share many crates.
QUICK := CARGO_TARGET_DIR=$(CURDIR)/target/tools CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16

$(WORKER_BUILD): | $(STABLE_READY)
	$(call step,Install worker-build,$(QUICK) cargo install worker-build --version $(WORKER_BUILD_VERSION) --locked \
		--root $(TOOLS)/worker-build-$(WORKER_BUILD_VERSION))

# Without --locked: the lock file of this version names a crate that is no longer served.
$(WASM_BINDGEN): | $(STABLE_READY) $(WORKER_BUILD)
	$(call step,Install wasm-bindgen,$(QUICK) cargo install wasm-bindgen-cli --version $(WASM_BINDGEN_VERSION) \
		--root $(TOOLS)/wasm-bindgen-$(WASM_BINDGEN_VERSION))

$(CARGO_AUDIT): | $(STABLE_READY)
	$(QUICK) cargo install cargo-audit --version $(CARGO_AUDIT_VERSION) --locked --no-default-features \
		--root $(TOOLS)/cargo-audit-$(CARGO_AUDIT_VERSION)

$(CARGO_FUZZ): | $(STABLE_READY) $(NIGHTLY_READY) $(PIP_READY)
	@command -v c++ >/dev/null || { $(call APT,g++); }
	$(QUICK) cargo install cargo-fuzz --version $(CARGO_FUZZ_VERSION) --locked \
		--root $(TOOLS)/cargo-fuzz-$(CARGO_FUZZ_VERSION)

$(CARGO_MUTANTS): | $(STABLE_READY)
	$(QUICK) cargo install cargo-mutants --version $(CARGO_MUTANTS_VERSION) --locked \
		--root $(TOOLS)/cargo-mutants-$(CARGO_MUTANTS_VERSION)

$(OHA): | $(STABLE_READY)
	$(QUICK) CARGO_PROFILE_RELEASE_OPT_LEVEL=2 cargo install oha --version $(OHA_VERSION) --locked --root $(TOOLS)/oha-$(OHA_VERSION)

# By the lock file's contents and not its age, which a checkout changes.
$(NPM_READY): | $(STABLE_READY)
	$(call step,Install the npm packages,npm ci --ignore-scripts --no-fund --no-audit && touch $@)

# One for all that need it, since Debian's packages are not installed twice at once.
$(PIP_READY): | $(STABLE_READY)
	@python3 -m pip --version >/dev/null 2>&1 || { $(call APT,python3 python3-pip); }
	@touch $@

$(PYTHON_READY): | $(PIP_READY)
	$(call step,Install the verifiers for callbacks,$(call pip_install,$(TOOLS)/python,$(PYTHON_REQUIREMENTS)) && touch $@)

$(CRAWLERS_READY): | $(PIP_READY)
	$(call step,Install User-Agents to test with,$(call pip_install,$(TOOLS)/crawlers,$(CRAWLERS_REQUIREMENTS)) && touch $@)

$(API_PYTHON_READY): | $(PIP_READY)
	$(call step,Install schemathesis,$(call pip_install,$(TOOLS)/api-python,$(API_REQUIREMENTS)) && touch $@)

$(BENCH_PYTHON_READY): | $(PIP_READY)
	$(call step,Install the yardsticks in Python,$(call pip_install,$(BENCH_PYTHON),$(BENCH_REQUIREMENTS)) && touch $@)

# A folder, and the requirements that are to be in it. --target: nothing of the machine's own Python changes, and Debian's
# pip allows no less.
pip_install = rm -rf $(1) && python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
	--require-hashes --target $(1) -r $(2)
