# The front door. CMake does the building; this file installs what is missing and names the jobs.
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
CMAKE_FLAGS ?=

.PHONY: all deps deps-test deps-lint test wheel check-long check-arm coverage demo bench lint format fuzz install clean

all: deps
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_FLAGS) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@cmake --build $(BUILD) -j $(JOBS)

deps:
	@tools/install-packages build
deps-test:
	@tools/install-packages build test
	@tools/install-packages browser || echo "without chromium the tests of the report in a browser are skipped"
deps-lint:
	@tools/install-packages build lint

test: deps-test
	@tests/run

wheel: deps
	@tools/install-packages wheel
	@tools/wheel build/wheel

check-long: deps-test
	@tests/run --long

coverage: deps-test
	@cmake -S . -B build/coverage -DCOGNATE_COVERAGE=ON >/dev/null
	@cmake --build build/coverage -j $(JOBS) --target cognate-cli unit >/dev/null
	@find build/coverage -name '*.gcda' -delete
	@build/coverage/unit | tail -n 1
	@tests/cli/run build/coverage/cognate | tail -n 1
	@tests/coverage.py build/coverage

check-arm: all
	@tools/check-arm

demo: all
	@tools/install-packages demo
	@tools/demo

bench: all
	@tools/install-packages bench
	@bench/run

lint: deps-lint
	@tools/lint

format: deps-lint
	@tools/lint --fix

fuzz: deps-test
	@fuzz/run

install: all
	@cmake --install $(BUILD)

clean:
	rm -rf build
