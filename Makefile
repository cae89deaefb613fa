# SPDX-License-Identifier: MIT OR Apache-2.0
# The thin front of the CMake build: `make demo` and `make check` work on a fresh Debian 12 machine.
.PHONY: all dist deps deps-check demo check check-quick bench nightly coverage fuzz install format clean
.DEFAULT_GOAL := all

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BUILD := build/release
FUZZ_SECONDS ?= 15

all: deps ## build the programs and the libraries
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target programs

dist: deps ## build them with kernels for every card from compute capability 7.5 on (build/dist; half an hour of one core)
	cmake --preset dist
	cmake --build --preset dist -j $(JOBS)

deps: ## install what the build needs, from Debian packages (root or sudo), if it is missing
	@tools/install-deps.sh build

deps-check:
	@tools/install-deps.sh build check

demo: all ## prove SHA-256 of 256 bits, a Filecoin sector of 2KiB, then both kinds by the daemon
	@tools/demo.sh $(BUILD)

check: deps-check ## all tests: release, CUZK_VERIFY, sanitizers, aarch64, fuzz corpora
	@tools/check.sh $(JOBS) $(FUZZ_SECONDS)

check-quick: deps-check ## the release build's tests only
	cmake --preset release
	cmake --build --preset release -j $(JOBS)
	ctest --preset release -j $$((4 * $(JOBS)))

bench: all ## time the primitives and whole proofs; results as CSV in build/bench
	cmake --build --preset release -j $(JOBS)
	@tools/bench.sh $(BUILD)

nightly: deps-check ## the long tests: big sizes, every fixture, 10 minutes of fuzzing per decoder
	@CUZK_NIGHTLY=1 tools/check.sh $(JOBS) 600

coverage: deps-check ## line coverage of the tests, as a table and HTML in build/coverage
	@tools/coverage.sh $(JOBS)

fuzz: deps-check ## run each fuzz target for FUZZ_SECONDS
	@tools/fuzz.sh $(FUZZ_SECONDS)

install: all ## install programs, libraries, headers, pkg-config file, systemd units under PREFIX
	cmake --install $(BUILD) --prefix $(PREFIX)

format: ## clang-format over the tree
	git ls-files '*.c' '*.h' '*.cu' '*.cuh' | grep -v _consts.h | xargs clang-format -i

clean:
	rm -rf build

help:
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t 14
