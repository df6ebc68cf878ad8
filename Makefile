# The recipes below install everything Signpost needs, pinned, into .tools/ and node_modules/ or by rustup. A second run
# needs no network. `.ci/step` prints a line for each step, and keeps the step's output in target/logs/.

NIGHTLY := nightly-2026-05-20
STABLE := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
# This machine's target as rustup names it, if rustup is installed. Evaluated in recipes; no setup step changes it.
HOST = $(shell rustup show 2>/dev/null | sed -n 's/^Default host: //p')

TOOLS := $(CURDIR)/.tools
# Installs Debian packages as root. For other users, or without apt-get, it prints the command and fails.
APT = [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { \
	echo "Signpost needs packages, of Debian: apt-get install $(1)" >&2; exit 1; }; \
	apt-get update -qq && apt-get install -y -qq --no-install-recommends $(1)
PACKAGES_READY := $(TOOLS)/packages
# The Workers' compiler, the only one that `make run` needs. In a folder of its own, because it also builds std.
WASM_RUSTUP := $(TOOLS)/rustup
NIGHTLY_READY := $(WASM_RUSTUP)/$(NIGHTLY)
# The tests' compiler. It is installed explicitly, because rustup may not install rust-toolchain.toml's by itself.
STABLE_READY := $(TOOLS)/stable-$(STABLE)
# Writes the JavaScript that loads a Worker's module.
GLUE := $(TOOLS)/glue/release/glue
PIP_READY := $(TOOLS)/pip
# The stock library with which tests verify callbacks. The name of the file that marks it as installed has a hash.
PYTHON_REQUIREMENTS := tests/verifiers/requirements.txt
PYTHON_READY := $(TOOLS)/python/.signpost-$(firstword $(shell sha256sum $(PYTHON_REQUIREMENTS)))
# Two spreadsheet programs that open an export: SheetJS from npm, and Debian's Gnumeric.
SHEETS_READY := tests/verifiers/node_modules/.signpost-$(firstword $(shell sha256sum tests/verifiers/package-lock.json))
# schemathesis, which sends requests that openapi.yaml allows, and requests that it does not.
API_REQUIREMENTS := tests/e2e/api/requirements.txt
API_PYTHON_READY := $(TOOLS)/api-python/.signpost-$(firstword $(shell sha256sum $(API_REQUIREMENTS)))
# Linters, generators and a mock server, which read the API's documents.
OPENAPI_NPM_READY := tests/openapi/node_modules/.signpost-$(firstword $(shell sha256sum tests/openapi/package-lock.json))
OPENAPI_REQUIREMENTS := tests/openapi/requirements.txt
OPENAPI_PYTHON_READY := $(TOOLS)/openapi-python/.signpost-$(firstword $(shell sha256sum $(OPENAPI_REQUIREMENTS)))
# Builds the documentation site; nothing else needs it.
DOCS_READY := docs/site/node_modules/.signpost-$(firstword $(shell sha256sum docs/site/package-lock.json))
# Builds and checks the package of the client in Python; the client in TypeScript needs nothing besides.
CLIENTS_REQUIREMENTS := clients/python/tests/requirements.txt
CLIENTS_PYTHON_READY := $(TOOLS)/clients-python/.signpost-$(firstword $(shell sha256sum $(CLIENTS_REQUIREMENTS)))
# User-Agents of crawlers and people, which tests tell apart.
CRAWLERS_REQUIREMENTS := tests/corpora/requirements.txt
CRAWLERS_READY := $(TOOLS)/crawlers/.signpost-$(firstword $(shell sha256sum $(CRAWLERS_REQUIREMENTS)))
# Checks the alert rules. It comes from Debian's package prometheus; without that package they are not checked.
PROMTOOL := $(TOOLS)/promtool
# A test runs it in front of Signpost, if the machine has no other.
NGINX := $(TOOLS)/nginx
# Only `make audit` needs it, and only if its database can be reached.
CARGO_AUDIT_VERSION := 0.22.2
CARGO_AUDIT := $(TOOLS)/cargo-audit-$(CARGO_AUDIT_VERSION)/bin/cargo-audit
ADVISORIES := https://github.com/RustSec/advisory-db
# The yardstick for reports, and the database of a recipe in the documentation.
DUCKDB_REQUIREMENTS := benches/requirements.txt
DUCKDB := $(TOOLS)/duckdb
DUCKDB_READY := $(DUCKDB)/.signpost-$(firstword $(shell sha256sum $(DUCKDB_REQUIREMENTS)))
# Only `make bench` needs these. wrk is Debian's, Hono comes with the npm packages.
OHA_VERSION := 1.16.0
OHA := $(TOOLS)/oha-$(OHA_VERSION)/bin/oha
# Only `make fuzz` needs these.
CARGO_FUZZ_VERSION := 0.13.2
CARGO_FUZZ := $(TOOLS)/cargo-fuzz-$(CARGO_FUZZ_VERSION)/bin/cargo-fuzz
FUZZ_TARGETS := $(shell sed -n 's/^name = "\([a-z_]*\)"$$/\1/p' tests/fuzz/Cargo.toml)
FUZZ_SECONDS := 60
# Only `make mutants` needs it.
CARGO_MUTANTS_VERSION := 27.0.0
CARGO_MUTANTS := $(TOOLS)/cargo-mutants-$(CARGO_MUTANTS_VERSION)/bin/cargo-mutants
# The fuzz target that reaches a crate's unsafe code: the ciphers choose the processor's instructions.
FUZZ_UNSAFE := click_id
HONO := target/bench/hono.js
# First the packages that running needs, then all of them.
NPM_LOCK := $(firstword $(shell sha256sum package-lock.json))
NPM_RUN_READY := node_modules/.signpost-run-$(NPM_LOCK)
NPM_READY := node_modules/.signpost-$(NPM_LOCK)

# The two Workers as they are deployed, with the benches' route, and with code that panics when a test asks for it. The
# last two variants have folders of their own, so that neither is ever deployed.
BUNDLES := build/edge/index_bg.wasm build/origin/index_bg.wasm
BENCH_BUNDLES := target/bench/edge/index_bg.wasm target/bench/origin/index_bg.wasm
FAULTS_BUNDLES := target/faults/edge/index_bg.wasm target/faults/origin/index_bg.wasm
# A made-up next release, which tests deploy beside this one.
NEXT_BUNDLES := target/next/edge/index_bg.wasm target/next/origin/index_bg.wasm
NEXT_PATCH := tests/e2e/releases/next.patch

SHARED_SOURCES := $(shell find src/domain src/contract src/platform -name '*.rs' -o -name '*.txt' -o -name Cargo.toml) \
	Cargo.toml Cargo.lock Makefile
EDGE_SOURCES := $(SHARED_SOURCES) $(shell find src/edge -name '*.rs' -o -name Cargo.toml)
ORIGIN_SOURCES := $(SHARED_SOURCES) $(shell find src/origin -name '*.rs' -o -name Cargo.toml) openapi.yaml
BUNDLING := src/bundle/bundle.sh $(GLUE) package-lock.json
PAGES := $(shell find src/web -type f -not -path "*/generated/*")
# The pages' types, generated from the API's documents; only tsc reads them.
API_TYPES := $(patsubst %,src/web/shared/generated/%.d.ts,openapi openapi-dashboard)

# -Cpanic=unwind needs a std of its own. Without unwinding, a panic in an object hangs its caller, and every object
# loses its memory. simd128 halves the report engine's time; every V8 since 2021 supports it.
WASM_ENV = RUSTUP_HOME=$(WASM_RUSTUP) RUSTUP_TOOLCHAIN=$(NIGHTLY) WASM_BINDGEN_USE_JS_SYS=1 \
	RUSTFLAGS="-Ctarget-feature=+simd128 -Cpanic=unwind"
WASM_CARGO = --quiet --locked --lib --target wasm32-unknown-unknown -Zbuild-std=std,panic_unwind
ESBUILD = node_modules/.bin/esbuild

.PHONY: help run test tested lint-native lint-page compiled native-tests browser-short tests verify verified lint-wasm \
	verify-native verify-workerd verify-documents docs documentation clients verify-clients client-types audit \
	browser browsed browser-setup server-setup chaos fuzz fuzz-api fuzz-parsers fuzz-memory fuzz-build mutants bench \
	bench-setup soak deploy secrets preflight rollback release backup restore crawlers fmt clean build faults next
.DELETE_ON_ERROR:

# Takes a name and a command: `$(call step,Name,command)`. A `suite` must not compile anything.
step = @.ci/step '$(1)' '$(2)'
suite = @COMPILES=no .ci/step '$(1)' '$(2)'

help:
	@echo 'make run     start Signpost on http://localhost:8787   PORT= STATE= VARS="NAME:value …"'
	@echo 'make test    format, lints, unit tests, tests on SQLite and on workerd, the pages in short   BROWSER=none'
	@echo 'make verify  what takes longer: panics, kills, overload, scale, properties, all pages, stock tools   KILLS=200 …'
	@echo 'make clients the clients in TypeScript and Python, against Signpost and a faulty server, and their packages'
	@echo 'make docs    the documentation as a site in build/docs/, which a local run has at /docs   DOCS_EDIT_URL='
	@echo 'make browser the pages in Chromium: tasks, states, accessibility, screenshots   BROWSER=none'
	@echo 'make chaos   the test that kills workerd at random, at length   KILLS=200 SEED=…'
	@echo 'make bench   speed, as ratios to yardsticks          ONLY="click …" ROUNDS=9'
	@echo 'make fuzz    random input for every parser   FUZZ_SECONDS=60 for each, API_SECONDS=300'
	@echo 'make fuzz-memory   the same for what reaches unsafe code, with AddressSanitizer'
	@echo 'make mutants changes of the rules that no test notices; about 50 minutes   RULES="click …"'
	@echo 'make audit   known vulnerabilities of the crates'
	@echo 'make soak    mixed traffic at the limit, then twice as much   MINUTES=10 OVERLOAD_SECONDS=60'
	@echo 'make deploy  check everything, build, deploy to Cloudflare, then make preflight   PLAN=paid the first time'
	@echo 'make secrets draw the secrets of a new deployment and set them, or set kept ones   TO=file or FROM=file'
	@echo 'make preflight     check every host of the deployment   OPERATOR_TOKEN and METRICS_TOKEN in the environment'
	@echo 'make rollback      deploy an earlier version of both Workers again   TO=commit'
	@echo 'make release check everything at length, then tag this commit as the version in Cargo.toml'
	@echo 'make backup  copy all objects of plain workerd while it runs   TO=folder STATE=.state'
	@echo 'make restore restore a backup, or one object of it   FROM=folder STATE=empty ERASED=old, or OBJECT=outbox-10000001-0'
	@echo 'make fmt     format the sources'
	@echo 'make clean   remove what was built; the tools stay'

run:
	@.ci/steps build
	@exec fixtures/local/run.sh

test:
	@.ci/steps tested

tested: lint-native lint-page native-tests browser-short tests

lint-native: $(STABLE_READY)
	$(call step,Check format and lints,\
		cargo fmt --check && cargo clippy --quiet --locked --workspace --all-targets -- -D warnings)

$(API_TYPES): src/web/shared/generated/%.d.ts: %.yaml openapi.yaml | $(NPM_READY)
	@node_modules/.bin/openapi-typescript $< --default-non-nullable=false --root-types --root-types-no-schema-prefix --output $@ >/dev/null

lint-page: $(API_TYPES) | $(NPM_READY)
	$(call step,Check the pages,node_modules/.bin/biome check --error-on-warnings && \
		node_modules/.bin/tsc --noEmit --project src/web/dashboard && node_modules/.bin/tsc --noEmit --project src/web/console)

# Every call of cargo selects the same packages. With others, cargo would unify their features differently and compile
# them again. `.ci/step` fails a step in which that happens.
CARGO_TEST = cargo --config "target.\"cfg(all())\".runner=[\"$(CURDIR)/.ci/test\"]" test --locked --workspace --no-fail-fast
NATIVE := --lib --test catalog --test corpora --test origin --test verifiers
ON_WORKERD := --test repository --test e2e
# These are left to `make verify`.
AT_LENGTH := at_scale:: backups:: reports::scale:: security::panics:: security::chaos:: security::crowd:: overload:: \
	releases:: rewards::kills:: rewards::duckdb:: ten_thousand_conversions schemathesis wake_an_idle_isolate spreadsheets::

# The test of licences reads every crate, even those that only a build of the tests for WebAssembly would use.
FETCH = cargo fetch --quiet --locked --target wasm32-unknown-unknown

# Runs after the lints, because both lock the same folder.
compiled: lint-native
	$(call step,Compile the tests,$(FETCH) && $(CARGO_TEST) $(NATIVE) $(ON_WORKERD) --no-run)

# The tests that need no Worker.
native-tests: compiled | $(PYTHON_READY) $(NPM_READY) $(CRAWLERS_READY)
	$(call suite,Run the tests without workerd,$(CARGO_TEST) $(NATIVE) -- $(AT_LENGTH:%=--skip %))

# Runs before the tests on workerd, because it would disturb their timers.
browser-short: compiled | build browser-setup
	$(call step,Walk the pages in short,$(call browse,tests/browser/short.test.mjs))

# More threads than cores, because these tests mostly wait for workerd and timers.
tests: native-tests browser-short | build
	$(call suite,Run the tests on workerd,$(CARGO_TEST) $(ON_WORKERD) -- --test-threads=12 $(AT_LENGTH:%=--skip %))

# The length of the tests of `make verify`. `.ci/run` sets shorter ones. An empty PANICS, API_SECONDS or CASES is short.
KILLS ?= 200
PANICS ?= 1
API_SECONDS ?= 300
CASES ?= 512

verify:
	@.ci/steps verified

verified: lint-wasm audit verify-documents verify-clients verify-native verify-workerd browsed

lint-wasm: | build
	$(call step,Check lints of the Workers,RUSTUP_HOME=$(WASM_RUSTUP) rustup component add clippy --toolchain $(NIGHTLY) && \
		$(WASM_ENV) cargo clippy --target-dir target/wasm-lints $(WASM_CARGO) -p signpost-edge -p signpost-origin -- -D warnings)

# All native tests again, with CASES cases for each property. If CASES is empty, only those that `make test` leaves out.
verify-native: compiled | $(PYTHON_READY) $(CRAWLERS_READY) $(SHEETS_READY)
	$(call suite,Run the tests without workerd at length,$(if $(CASES),PROPTEST_CASES=$(CASES)) \
		$(CARGO_TEST) $(NATIVE)$(if $(CASES),, -- $(AT_LENGTH)))

# Runs alone, because other steps would disturb its timers.
verify-workerd: compiled verify-native lint-wasm verify-documents verify-clients browsed audit | build faults next $(API_PYTHON_READY) $(DUCKDB_READY)
	$(call suite,Run the tests on workerd at length,KILLS=$(KILLS) PANICS=$(PANICS) API_SECONDS=$(API_SECONDS) \
		$(CARGO_TEST) $(ON_WORKERD) -- --test-threads=4 $(AT_LENGTH))

# Runs stock tools on the API's documents and on the Worker's configuration, builds the documentation of the crates, and
# checks the site.
verify-documents: compiled | build browser-setup $(NPM_READY) $(OPENAPI_NPM_READY) $(OPENAPI_PYTHON_READY) $(PROMTOOL) $(DOCS_READY) server-setup
	$(call step,Document the crates,RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --workspace --no-deps)
	$(call step,Run stock tools on the API documents,node --test --test-reporter=spec tests/openapi/tools.test.mjs)
	$(call step,Deploy to a stub of Cloudflare,\
		node --test --test-reporter=spec $(filter-out %/server.test.mjs,$(wildcard tests/deploy/*.test.mjs)))
	$(call step,Run Signpost on a server behind nginx,node --test --test-reporter=spec tests/deploy/server.test.mjs)
	$(call step,Check the alert rules,[ ! -x $(PROMTOOL) ] || { $(PROMTOOL) check rules fixtures/prometheus/alerts.yaml && \
		cd fixtures/prometheus && $(PROMTOOL) test rules alerts.test.yaml; })
	$(call step,Read the documentation site,$(call browse,tests/docs/site.test.mjs))

docs:
	@.ci/steps documentation

documentation: | $(DOCS_READY)
	$(call step,Build the documentation,npm run --silent --prefix docs/site build)

clients:
	@.ci/steps verify-clients

# Checks the published clients: their types, their tests, and their packages in empty projects.
verify-clients: | build $(NPM_READY) $(CLIENTS_PYTHON_READY)
	$(call step,Test the client in TypeScript,node clients/types.mjs --check && npm run --silent --prefix clients/typescript build && \
		node --test --test-reporter=spec clients/typescript/tests/*.test.mjs)
	$(call step,Test the client in Python,PYTHONPATH=$(CURDIR)/clients/python/src:$(TOOLS)/clients-python \
		python3 -B -m unittest discover -s clients/python/tests)

# To run after a change of the parts of openapi.yaml that the clients use.
client-types: | $(NPM_READY)
	@node clients/types.mjs

# Checks the lock files for known vulnerabilities, if the database can be reached. A test checks the licences.
audit: | $(NIGHTLY_READY)
	$(call step,Look for known vulnerabilities,\
		if timeout 20 git ls-remote --quiet $(ADVISORIES) HEAD >/dev/null 2>&1; then \
			MAKEFLAGS= make --no-print-directory $(CARGO_AUDIT); \
			for lock in Cargo.lock src/bundle/Cargo.lock tests/fuzz/Cargo.lock; do $(CARGO_AUDIT) audit --url $(ADVISORIES) --file $$lock; done; \
		else echo "not done: $(ADVISORIES) cannot be reached from here"; fi)

browser:
	@.ci/steps browsed

# Runs alone in `make verify`, like the tests on workerd. Screenshots of all states are in target/browser/screenshots/.
browsed: | build browser-setup $(if $(filter verified,$(MAKECMDGOALS)),lint-wasm verify-documents verify-clients verify-native)
	$(call step,Walk the dashboard,$(call browse,$(LONGEST) $(filter-out %/short.test.mjs $(LONGEST),$(wildcard tests/browser/*.test.mjs))))

# The slowest file starts first: at the end it would run alone.
LONGEST := tests/browser/states.test.mjs

# Runs test files in Chromium, three at once. BROWSER=none leaves them out and says so.
browse = if [ "$(BROWSER)" = none ]; then echo "not done: the dashboard in a browser (BROWSER=none)"; \
	else node --test --test-concurrency=3 --test-reporter=spec $(1); fi

# Runs after pip's installation, because apt-get cannot run twice at once.
browser-setup: | $(NPM_READY) $(PIP_READY)
	$(if $(filter none,$(BROWSER))$(shell command -v chromium-headless-shell),,$(call step,Install Chromium,$(call APT,chromium-headless-shell)))

# Prints the outcomes by kind of request; a failing run prints its SEED. Then it panics at every injection point.
chaos: build faults $(STABLE_READY)
	@SEED='$(SEED)' KILLS='$(KILLS)' $(CARGO_TEST) --test e2e -- security::chaos --nocapture
	@PANICS=1 $(CARGO_TEST) --test e2e -- security::panics --nocapture --test-threads=2

# Runs schemathesis for API_SECONDS, with another seed each time.
fuzz-api: build $(STABLE_READY) $(API_PYTHON_READY)
	API_SECONDS=$(API_SECONDS) $(CARGO_TEST) --test e2e -- schemathesis --nocapture

# Compiles the benchmarks before they run, because compiling would distort the first figures.
bench: build bench-setup $(HONO) $(BENCH_BUNDLES)
	$(call step,Compile the benchmarks,cargo bench --quiet --locked -p signpost-benches --bench speed --no-run)
	@ONLY='$(ONLY)' ROUNDS='$(ROUNDS)' BEFORE='$(BEFORE)' BROWSER='$(BROWSER)' OHA='$(OHA)' PYTHONPATH='$(DUCKDB)' \
		cargo bench --quiet --locked -p signpost-benches --bench speed

# Compiles the test before it runs, like the benches. Both share a profile.
soak: build $(STABLE_READY)
	$(call step,Compile the soak test,cargo bench --quiet --locked -p signpost-benches --bench soak --no-run)
	@MINUTES='$(MINUTES)' OVERLOAD_SECONDS='$(OVERLOAD_SECONDS)' CLIENTS='$(CLIENTS)' \
		cargo bench --quiet --locked -p signpost-benches --bench soak

bench-setup: browser-setup $(STABLE_READY) $(OHA) $(DUCKDB_READY)
	@command -v wrk >/dev/null || { $(call APT,wrk); }

$(HONO): benches/yardsticks/hono.js package-lock.json | $(NPM_READY)
	$(ESBUILD) $< --bundle --minify --format=esm --log-level=warning --outfile=$@

fuzz: fuzz-parsers fuzz-api

# Mutates the rules about money in one place at a time, and runs the unit tests that have to notice. Each rule has its
# paths below src/domain/ and its tests. Only copies of the sources are changed.
RULES := conversions callbacks money click reports
mutants: $(STABLE_READY) $(CARGO_MUTANTS)
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

# Fails if a mutant survived. A mutant that makes a test run forever is noticed, but its exit status hides survivors.
define mutate
{ PROPTEST_CASES=64 $(CARGO_MUTANTS) mutants --config tests/mutants.toml --package signpost-domain --cap-lints true \
	--jobs 2 --timeout 60 --output target/mutants/$(1) $(foreach path,$(2),--file 'src/domain/$(path)') \
	-- --lib -- $(3); \
	case $$? in [023]) ! grep . target/mutants/$(1)/mutants.out/missed.txt ;; *) false ;; esac; }
endef

fuzz-parsers: fuzz-build
	@$(call fuzz,none,$(FUZZ_SECONDS),$(FUZZ_TARGETS))

# The same with AddressSanitizer, for the targets that reach unsafe code.
fuzz-memory: $(STABLE_READY) $(CARGO_FUZZ)
	$(call fuzz_build,address)
	@$(call fuzz,address,$(FUZZ_SECONDS),$(FUZZ_UNSAFE))

fuzz-build: $(STABLE_READY) $(CARGO_FUZZ)
	$(call fuzz_build,none)

# Takes a sanitizer. cargo-fuzz has no --locked, so the lock file is checked first. Without cfg(fuzzing), which would
# change crates, the fuzzed code is the deployed code, with debug assertions and checked arithmetic.
define fuzz_build
cargo fetch --quiet --locked --target $(HOST) --manifest-path tests/fuzz/Cargo.toml
RUSTUP_HOME=$(WASM_RUSTUP) RUSTUP_TOOLCHAIN=$(NIGHTLY) $(CARGO_FUZZ) build --fuzz-dir tests/fuzz \
	--target-dir target/fuzz/$(1) -s $(1) --no-cfg-fuzzing --codegen-units 16
endef

# Fuzzes one target after the other: sanitizer, seconds, targets.
define fuzz
printf '%s\n' $(3) | xargs -I{} tests/fuzz/run.sh target/fuzz/$(1)/$(HOST)/release target/fuzz $(2) {}
endef

# Names the commit of a deployed version, for `make rollback`. Cloudflare accepts 25 characters.
COMMIT = $(or $(shell git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null),unknown)

# Checks everything before it builds or changes anything. Deploys the origin first: the edge binds the origin's objects.
deploy: | $(NPM_READY)
	@PLAN='$(PLAN)' node src/deploy/main.mjs check
	rm -rf build target/wasm/*.wasm && $(MAKE) build
	npx wrangler deploy --env production --tag '$(COMMIT)' --config src/origin/wrangler.toml
	npx wrangler deploy --env production --tag '$(COMMIT)'
	@node src/deploy/main.mjs preflight

secrets: | $(NPM_READY)
	@TO='$(TO)' FROM='$(FROM)' node src/deploy/main.mjs secrets

preflight: | $(NPM_READY)
	@node src/deploy/main.mjs preflight

rollback: | $(NPM_READY)
	@TO='$(TO)' node src/deploy/main.mjs rollback
	@node src/deploy/main.mjs preflight

# The goals that must succeed before the tag is made.
CHECKS ?= test verify
release:
	@CHECKS='$(CHECKS)' .ci/release

# Both are also called without make, as `python3 fixtures/local/backup.py`.
backup:
	@python3 fixtures/local/backup.py backup --state '$(or $(STATE),.state)' --to '$(TO)'

restore:
	@python3 fixtures/local/backup.py restore --from '$(FROM)' --state '$(or $(STATE),.state)' \
		$(if $(OBJECT),--object '$(OBJECT)') $(if $(ERASED),--erased '$(ERASED)')

# To run after an update of `crawler-user-agents` in package.json. Writes the list of names that the edge reads.
crawlers: $(NPM_READY) $(CRAWLERS_READY) $(STABLE_READY)
	cargo test --quiet --locked --workspace --test corpora -- --ignored write_the_list_of_crawlers

fmt: $(STABLE_READY) $(NPM_READY)
	cargo fmt
	node_modules/.bin/biome check --write

clean:
	rm -rf build target

build: $(BUNDLES)
faults: $(FAULTS_BUNDLES)
next: $(NEXT_BUNDLES)

# Takes a Worker's crate and a variant. Workers compile one after the other, because cargo locks their shared folder.
# One call for both would unify the features of crates: the edge would have the origin's exact floats, and 14 KiB more.
compile = $(call step,Compile the $(1)$(if $(2), with $(2)),$(WASM_ENV) cargo build --release --target-dir target/wasm \
	$(WASM_CARGO) -p signpost-$(1) $(VARIANT_$(2)) && cp target/wasm/wasm32-unknown-unknown/release/$(1).wasm $@)
VARIANT_faults := --features faults
VARIANT_bench := --features bench
VARIANT_next := --manifest-path target/next/Cargo.toml

target/wasm/edge.wasm: $(EDGE_SOURCES) | $(NIGHTLY_READY)
	$(call compile,edge)
target/wasm/origin.wasm: $(ORIGIN_SOURCES) | target/wasm/edge.wasm
	$(call compile,origin)
target/wasm/edge-faults.wasm: $(EDGE_SOURCES) | $(BUNDLES)
	$(call compile,edge,faults)
target/wasm/origin-faults.wasm: $(ORIGIN_SOURCES) | target/wasm/edge-faults.wasm
	$(call compile,origin,faults)
target/wasm/edge-next.wasm: target/next/Cargo.toml | $(FAULTS_BUNDLES)
	$(call compile,edge,next)
target/wasm/origin-next.wasm: target/next/Cargo.toml | target/wasm/edge-next.wasm
	$(call compile,origin,next)
target/wasm/edge-bench.wasm: $(EDGE_SOURCES) | $(BUNDLES)
	$(call compile,edge,bench)
target/wasm/origin-bench.wasm: $(ORIGIN_SOURCES) | target/wasm/edge-bench.wasm
	$(call compile,origin,bench)

# The made-up next release has a version of its own, which cargo writes into the copy's lock file.
target/next/Cargo.toml: $(EDGE_SOURCES) $(ORIGIN_SOURCES) $(NEXT_PATCH)
	@rm -rf target/next && mkdir -p target/next
	@cp -r src Cargo.toml Cargo.lock openapi.yaml target/next && ln -s ../../tests ../../benches target/next
	$(call step,Patch the sources to the next release,patch --directory=target/next --strip=1 <$(NEXT_PATCH) && \
		cargo update --quiet --offline --workspace --manifest-path $@)

bundle = $(call step,Bundle the $(1)$(if $(2), with $(2)),GLUE=$(GLUE) src/bundle/bundle.sh $< $(1) $(@D))

build/edge/index_bg.wasm: target/wasm/edge.wasm $(wildcard src/edge/*.js) $(BUNDLING) | $(NPM_RUN_READY)
	$(call bundle,edge)
build/origin/index_bg.wasm: target/wasm/origin.wasm $(wildcard src/origin/*.js) $(BUNDLING) $(PAGES) | build/edge/index_bg.wasm
	$(call bundle,origin)
target/faults/edge/index_bg.wasm: target/wasm/edge-faults.wasm $(wildcard src/edge/*.js) $(BUNDLING)
	$(call bundle,edge,faults)
target/faults/origin/index_bg.wasm: target/wasm/origin-faults.wasm $(wildcard src/origin/*.js) $(BUNDLING) $(PAGES)
	$(call bundle,origin,faults)
target/next/edge/index_bg.wasm: target/wasm/edge-next.wasm $(wildcard src/edge/*.js) $(BUNDLING)
	$(call bundle,edge,next)
target/next/origin/index_bg.wasm: target/wasm/origin-next.wasm $(wildcard src/origin/*.js) $(BUNDLING) $(PAGES)
	$(call bundle,origin,next)
target/bench/edge/index_bg.wasm: target/wasm/edge-bench.wasm $(wildcard src/edge/*.js) $(BUNDLING)
	$(call bundle,edge,bench)
target/bench/origin/index_bg.wasm: target/wasm/origin-bench.wasm $(wildcard src/origin/*.js) $(BUNDLING) $(PAGES)
	$(call bundle,origin,bench)

# Compiles beside the Workers, at a lower priority.
$(GLUE): src/bundle/glue.rs src/bundle/Cargo.toml src/bundle/Cargo.lock | $(NIGHTLY_READY)
	$(call step,Compile the bundler,RUSTUP_HOME=$(WASM_RUSTUP) RUSTUP_TOOLCHAIN=$(NIGHTLY) nice cargo build --quiet --release \
		--locked --manifest-path src/bundle/Cargo.toml --target-dir $(TOOLS)/glue && touch $@)

# The first step installs the tools that the other steps cannot install themselves.
$(PACKAGES_READY):
	@command -v rustup >/dev/null || { echo "Signpost needs rustup, see https://rustup.rs" >&2; exit 1; }
	@for name in cc curl npm patch python3; do command -v $$name >/dev/null || \
		{ $(call APT,build-essential curl nodejs npm patch python3 python3-pip) && break || exit 1; }; done
	@mkdir -p $(TOOLS) && touch $@

$(NIGHTLY_READY): | $(PACKAGES_READY)
	$(call step,Install Rust $(NIGHTLY),export RUSTUP_HOME=$(WASM_RUSTUP); \
		rustup toolchain install $(NIGHTLY) --profile minimal -c rust-src -t wasm32-unknown-unknown --no-self-update; touch $@)

$(STABLE_READY): | $(PACKAGES_READY)
	$(call step,Install Rust $(STABLE),\
		rustup toolchain install $(STABLE) --profile minimal -c clippy -c rustfmt --no-self-update; touch $@)

# These tools run for seconds, so they are not optimised, and compile in half the time. They share a folder for crates.
QUICK := RUSTUP_HOME=$(WASM_RUSTUP) RUSTUP_TOOLCHAIN=$(NIGHTLY) CARGO_TARGET_DIR=$(CURDIR)/target/tools \
	CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16

$(CARGO_AUDIT): | $(NIGHTLY_READY)
	$(QUICK) cargo install cargo-audit --version $(CARGO_AUDIT_VERSION) --locked --no-default-features \
		--root $(TOOLS)/cargo-audit-$(CARGO_AUDIT_VERSION)

$(CARGO_FUZZ): | $(NIGHTLY_READY) $(PIP_READY)
	@command -v c++ >/dev/null || { $(call APT,g++); }
	$(QUICK) cargo install cargo-fuzz --version $(CARGO_FUZZ_VERSION) --locked \
		--root $(TOOLS)/cargo-fuzz-$(CARGO_FUZZ_VERSION)

$(CARGO_MUTANTS): | $(NIGHTLY_READY)
	$(QUICK) cargo install cargo-mutants --version $(CARGO_MUTANTS_VERSION) --locked \
		--root $(TOOLS)/cargo-mutants-$(CARGO_MUTANTS_VERSION)

$(OHA): | $(NIGHTLY_READY)
	$(QUICK) CARGO_PROFILE_RELEASE_OPT_LEVEL=2 cargo install oha --version $(OHA_VERSION) --locked --root $(TOOLS)/oha-$(OHA_VERSION)

# Depends on the lock file's contents and not on its age, because a checkout changes the age.
$(NPM_RUN_READY): | $(PACKAGES_READY)
	$(call step,Install the npm packages,npm ci --omit=dev --ignore-scripts --no-fund --no-audit && touch $@)

# Adds packages and removes none, because a bundle that uses them may be running.
$(NPM_READY): | $(NPM_RUN_READY)
	$(call step,Install the npm packages of the tests,\
		npm install --no-save --ignore-scripts --no-fund --no-audit && touch $(NPM_RUN_READY) $@)

# One target for everything that needs pip, because apt-get cannot run twice at once.
$(PIP_READY): | $(PACKAGES_READY)
	@python3 -m pip --version >/dev/null 2>&1 || { $(call APT,python3-pip); }
	@touch $@

$(PYTHON_READY): | $(PIP_READY)
	$(call step,Install the verifiers for callbacks,$(call pip_install,$(TOOLS)/python,$(PYTHON_REQUIREMENTS)) && touch $@)

$(CRAWLERS_READY): | $(PIP_READY)
	$(call step,Install User-Agents to test with,$(call pip_install,$(TOOLS)/crawlers,$(CRAWLERS_REQUIREMENTS)) && touch $@)

$(API_PYTHON_READY): | $(PIP_READY)
	$(call step,Install schemathesis,$(call pip_install,$(TOOLS)/api-python,$(API_REQUIREMENTS)) && touch $@)

$(OPENAPI_NPM_READY): | $(NPM_READY)
	$(call step,Install stock tools for the API documents,cd tests/openapi && \
		npm ci --ignore-scripts --no-fund --no-audit && touch $(CURDIR)/$@)

$(DOCS_READY): | $(PACKAGES_READY)
	$(call step,Install what builds the documentation,cd docs/site && \
		npm ci --ignore-scripts --no-fund --no-audit && touch $(CURDIR)/$@)

# Runs after Chromium's installation, because apt-get cannot run twice at once.
$(SHEETS_READY): | browser-setup
	$(call step,Install spreadsheets,command -v ssconvert >/dev/null || { $(call APT,gnumeric); }; cd tests/verifiers && \
		npm ci --ignore-scripts --no-fund --no-audit && touch $(CURDIR)/$@)

# Runs after the other Debian packages, because apt-get cannot run twice at once.
$(PROMTOOL): | $(SHEETS_READY)
	$(call step,Install promtool,$(call unpack,prometheus,usr/bin/promtool,$@))

# Runs after promtool's installation, because apt-get cannot run twice at once. systemd is only for its tools. nginx is
# not installed, because Debian would start it.
server-setup: | $(PROMTOOL)
	$(if $(shell command -v systemd-socket-activate >/dev/null && command -v openssl),,\
		$(call step,Install tools of systemd,($(call APT,openssl systemd)) || \
			echo "not done: it needs root and the packages openssl and systemd of Debian"))
	$(if $(shell command -v nginx || ls $(NGINX) 2>/dev/null),,\
		$(call step,Install nginx,$(call unpack,nginx,usr/sbin/nginx,$(NGINX))))

# Takes a package of Debian, a program in it, and where to put it. Without root the program is missing, and the test
# that needs it says so.
unpack = mkdir -p $(TOOLS)/unpacked && cd $(TOOLS)/unpacked && \
	[ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get download -qq $(1) && \
	dpkg-deb --fsys-tarfile $(1)_*.deb | tar -xO ./$(2) >program && chmod +x program && mv program $(3); \
	rm -rf $(TOOLS)/unpacked; [ -x $(3) ] || echo "not done: it needs root and the package $(1) of Debian"

$(OPENAPI_PYTHON_READY): | $(PIP_READY)
	$(call step,Install generators of clients,$(call pip_install,$(TOOLS)/openapi-python,$(OPENAPI_REQUIREMENTS)) && touch $@)

$(CLIENTS_PYTHON_READY): | $(PIP_READY)
	$(call step,Install what packs and checks the client in Python,$(call pip_install,$(TOOLS)/clients-python,$(CLIENTS_REQUIREMENTS)) && touch $@)

$(DUCKDB_READY): | $(PIP_READY)
	$(call step,Install DuckDB,$(call pip_install,$(DUCKDB),$(DUCKDB_REQUIREMENTS)) && touch $@)

# Takes a folder, and the requirements to install into it. --target leaves the machine's own Python unchanged, and
# Debian's pip refuses to install without it.
pip_install = rm -rf $(1) && python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
	--require-hashes --target $(1) -r $(2)
