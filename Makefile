# One list of verbs. Everything is built with one profile: a second one would build RocksDB again.
CARGO_TARGET_DIR ?= $(HOME)/.cache/tonnage-target
export CARGO_TARGET_DIR
# A toolchain that `make setup` has just put in place is found without a new shell.
export PATH := $(HOME)/.cargo/bin:$(PATH)

CARGO ?= cargo
PACKAGES = clang libclang-dev
# The oldest Rust that builds, and the one that rustup takes here.
RUST_MIN := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
TOOLCHAIN := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)

.DEFAULT_GOAL := help
.PHONY: help setup build demo lint test python java dist acceptance torture cluster cluster-test cluster-down bench doc pictures console clean

help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1	/' | while IFS="$$(printf '\t')" read -r verb what; do printf '  make %-12s %s\n' "$$verb" "$$what"; done

setup: ## Installs what the build needs and this machine lacks: clang, libclang, the Rust toolchain
	@if ! command -v clang++ >/dev/null || ! ls /usr/lib/llvm-*/lib/libclang*.so* /usr/lib/*/libclang*.so* >/dev/null 2>&1; then \
	  command -v apt-get >/dev/null || { echo "install clang and libclang (with headers) with the package manager of this machine, then try again" >&2; exit 1; }; \
	  sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  echo "installing $(PACKAGES)"; \
	  $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq $(PACKAGES); \
	fi
	@if ! command -v $(CARGO) >/dev/null; then \
	  command -v curl >/dev/null || { echo "install Rust $(RUST_MIN) or newer (https://rustup.rs), then try again" >&2; exit 1; }; \
	  echo "installing Rust $(TOOLCHAIN)"; \
	  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --no-modify-path --profile minimal --default-toolchain $(TOOLCHAIN) --component clippy --component rustfmt; \
	fi
	@{ $(CARGO) --version && $(CARGO) fmt --version && $(CARGO) clippy --version; } >/dev/null 2>&1 \
	  || rustup toolchain install $(TOOLCHAIN) --profile minimal --component clippy --component rustfmt \
	  || { echo "install Rust $(TOOLCHAIN) with rustfmt and clippy, then try again" >&2; exit 1; }
	@found=$$(rustc --version | cut -d' ' -f2) && \
	[ "$$(printf '%s\n' $(RUST_MIN) "$$found" | sort -V | head -n 1)" = $(RUST_MIN) ] \
	  || { echo "Rust $$found is too old: install $(RUST_MIN) or newer, then try again" >&2; exit 1; }

build: setup ## Builds the program and the libraries
	$(CARGO) build --release --workspace
	@echo "the program: $(CARGO_TARGET_DIR)/release/tonnage"

demo: setup ## Builds the library alone, then runs the story of a fleet on data that it makes itself
	$(CARGO) run --release -p tonnage-demo

lint: setup ## Format and lints, warnings denied
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings

test: setup lint ## Everything that CI checks: format, lints, all tests, doc tests
	@log=$$(mktemp) && TONNAGE_NOT_RUN=$$(mktemp) && export TONNAGE_NOT_RUN && \
	{ $(CARGO) test --release --workspace --no-fail-fast 2>&1; one=$$?; \
	  $(CARGO) build --release --workspace 2>&1; two=$$?; \
	  [ $$two != 0 ] || { crates/python/run-tests 2>&1; two=$$?; clients/griddb/run-tests 2>&1; two=$$((two | $$?)); clients/java/run-tests 2>&1; two=$$((two | $$?)); }; \
	  echo "exit $$((one | two))"; } | tee "$$log" | sed '/^exit [0-9]*$$/d'; \
	status=$$(sed -n 's/^exit \([0-9]*\)$$/\1/p' "$$log" | tail -n 1); \
	crates/testkit/summary "$$log" "$$TONNAGE_NOT_RUN"; \
	rm -f "$$log" "$$TONNAGE_NOT_RUN"; exit "$${status:-1}"

python: build ## Builds a wheel of the Python package into the target folder
	crates/python/build-wheel

java: build ## Builds the jars for Java into the target folder, and runs their tests
	TONNAGE_JAVA_TESTS=required clients/java/run-tests
	clients/java/lay-out-plugin $(CARGO_TARGET_DIR)/java $(CARGO_TARGET_DIR)/java/plugins
	@ls $(CARGO_TARGET_DIR)/java/tonnage-*/*.jar | grep -v tests.jar; ls -d $(CARGO_TARGET_DIR)/java/plugins/*

dist: python ## Builds what is handed out (tarball, Debian package, wheel, image), and tries each in a clean root
	deploy/dist/build $(CARGO_TARGET_DIR)/release/tonnage $(CARGO_TARGET_DIR)/wheels $(CARGO_TARGET_DIR)/dist
	deploy/dist/try $(CARGO_TARGET_DIR)/dist

acceptance: build ## Other people's clients against the server; needs Python and the network
	acceptance/run $(CARGO_TARGET_DIR)/release/tonnage

torture: build ## Power loss, I/O faults, damaged files, kills and races, for SECONDS (3600)
	$(CARGO_TARGET_DIR)/release/torture all --seconds $(or $(SECONDS),3600) --seed $(or $(SEED),1)

CLUSTER = $(CARGO_TARGET_DIR)/cluster

cluster: setup ## Three nodes of Cassandra on loopback addresses; needs Java 17 and, once, Maven
	@$(MAKE) --no-print-directory cluster-down
	$(CARGO) build --release --workspace --example cluster
	@mkdir -p $(CLUSTER) && : > $(CLUSTER)/log && \
	{ setsid nohup $(CARGO_TARGET_DIR)/release/examples/cluster 3 > $(CLUSTER)/log 2>&1 & echo $$! > $(CLUSTER)/pid; }; \
	while kill -0 "$$(cat $(CLUSTER)/pid)" 2>/dev/null && ! grep -q '^ready' $(CLUSTER)/log; do sleep 0.5; done; \
	cat $(CLUSTER)/log; grep -q '^ready' $(CLUSTER)/log

cluster-test: setup ## What takes 40 minutes and more on nodes of Cassandra: faults, levels, TLS, real data, all suites on three
	export TONNAGE_CASSANDRA_TESTS=required && failed=0 && \
	{ $(CARGO) test --release --workspace --no-fail-fast --test suite --test faults --test levels --test secure --test cluster -- --include-ignored --nocapture || failed=1; } && \
	{ TONNAGE_CASSANDRA_NODES=3 $(CARGO) test --release --workspace --test suite || failed=1; } && \
	{ TONNAGE_CASSANDRA_NODES=3 CARGO=$(CARGO) crates/cassandra/tests/store/run || failed=1; } && \
	exit $$failed

cluster-down: ## Ends the nodes of `make cluster`
	@if [ -f $(CLUSTER)/pid ]; then kill "$$(cat $(CLUSTER)/pid)" 2>/dev/null; rm -f $(CLUSTER)/pid; fi; true

bench: setup ## Measures; CONTRIBUTING says what and how
	$(CARGO) bench --workspace

doc: setup ## Builds the documentation of the libraries
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --workspace --no-deps

pictures: ## Draws the pictures of the documents again; needs graphviz
	@command -v dot >/dev/null || { echo "install graphviz, then try again" >&2; exit 1; }
	@for source in docs/pictures/*.dot; do dot -Tsvg -o "$${source%.dot}.svg" "$$source" || exit 1; done

console: ## Builds the page for browsers again; needs Node 20 and the network
	cd crates/console/web && npm ci --ignore-scripts=false && npx tsc --noEmit && node build.mjs

clean: ## Deletes everything that was built, RocksDB too
	$(CARGO) clean
