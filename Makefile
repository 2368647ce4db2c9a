# The front door; the build itself is Meson's. `make help` says what there is.
BUILD = build

help:
	@echo "make run     set up, build, measure this machine (about a minute), write report.html"
	@echo "make test    set up, build in several ways, run every test"
	@echo "make lint    layout, modules, words, static analysis, compiling for aarch64 and for other GPUs"
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
	@python3 tools/run_tests.py gcc asan tsan kernels

lint:
	@tools/setup.sh test
	@python3 tools/run_tests.py format clocks layers words tidy aarch64 all-kernels

fuzz:
	@tools/setup.sh test
	@python3 tools/fuzz.py $(FUZZ)

bench: setup
	@BUILD=$(BUILD) tools/build.sh
	@python3 bench/bench.py --assay $(BUILD)/assay $(BENCH)

clean:
	rm -rf build build-*

.PHONY: help setup run test lint fuzz bench clean
