# The front door; the build itself is Meson's. `make help` says what there is.
BUILD = build

help:
	@echo "make run     set up, build, measure this machine (about a minute), write report.html"
	@echo "make test    set up, build, run the unit, command line, robustness and browser tests (half an hour on two CPUs)"
	@echo "make check   what a change must also pass: sanitizers, fuzzers, kernels for GPUs, lint (40 minutes)"
	@echo "make long    before a release: repetitive tests in full, all kernels for all generations of GPUs (10 minutes)"
	@echo "make lint    layout, words, includes, static analysis, compiling for aarch64 and macOS: a part of make check"
	@echo "make arm     built for aarch64, the tests that time nothing run under qemu (8 minutes)"
	@echo "make macos   compiled and linked for Macs with Apple's and Intel's processors; make lint has the first"
	@echo "make dist    archives that run on any Linux since 2014, in build-dist/; make dist-test runs them on old systems"
	@echo "make fuzz    hours of fuzzing, injected failures, interleavings and kills (tests/robust/README.md)"
	@echo "make bench   the numbers beside other tools, and what assay itself costs (bench/README.md)"
	@echo "make setup   install what is missing, nothing else"
	@echo "make clean   remove the build folders"

setup:
	@tools/setup.sh run

run: setup
	@BUILD=$(BUILD) tools/build.sh
	@BUILD=$(BUILD) tools/measure.sh

test:
	@tools/setup.sh test
	@python3 tools/run_tests.py test

check:
	@tools/setup.sh check
	@python3 tools/run_tests.py check

long:
	@tools/setup.sh check
	@python3 tools/run_tests.py long

lint:
	@tools/setup.sh check
	@python3 tools/run_tests.py lint

arm:
	@tools/setup.sh check
	@python3 tools/arm.py

macos:
	@tools/setup.sh check
	@python3 tools/macos.py

dist:
	@tools/setup.sh check
	@python3 tools/dist.py

dist-test:
	@tools/setup.sh check
	@python3 tools/dist_test.py

fuzz:
	@tools/setup.sh check
	@python3 tools/fuzz.py $(FUZZ)

bench: setup
	@BUILD=$(BUILD) tools/build.sh
	@python3 bench/bench.py --assay $(BUILD)/assay $(BENCH)

clean:
	rm -rf build build-*

.PHONY: help setup run test check long lint arm macos dist dist-test fuzz bench clean
