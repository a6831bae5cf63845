#!/bin/sh
# Makes the code objects of this folder and of the conformance suite's kernels; needs clang-19 and lld-19 (apt-get
# install clang-19 lld-19). They are committed so that the tests of their readers need neither.
set -e
cd "$(dirname "$0")"
linker=$(mktemp -d)
trap 'rm -r "$linker"' EXIT
ln -s "$(command -v ld.lld-19)" "$linker/lld"
PATH="$PATH:$linker"
prelude=../../standin/hip_prelude.h
kernels=../../../src/metrale_gpu_runtime/testing/conformance/kernels
hip="clang-19 -x hip --cuda-device-only -nogpulib -nogpuinc -O2 -std=c++17 -include $prelude -cuid=tests"

$hip --no-gpu-bundle-output --offload-arch=gfx90a -o kernels.gfx90a.hsaco kernels.hip
$hip --no-gpu-bundle-output --offload-arch=gfx1100 -o kernels.gfx1100.hsaco kernels.hip
$hip --no-gpu-bundle-output --offload-arch=gfx90a:xnack+ -o kernels.gfx90a-xnack.hsaco kernels.hip
$hip --no-gpu-bundle-output --offload-arch=gfx90a -mcode-object-version=4 -o kernels.version4.hsaco kernels.hip
$hip --gpu-bundle-output --offload-arch=gfx90a:xnack- --offload-arch=gfx90a:xnack+ --offload-arch=gfx1100 \
    -o kernels.bundle.hsaco kernels.hip
$hip --gpu-bundle-output --offload-compress --offload-arch=gfx90a --offload-arch=gfx1100 \
    -o kernels.compressed.hsaco kernels.hip
clang-19 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx906 -nogpulib -O2 -cl-kernel-arg-info \
    -Xclang -finclude-default-header -o typed.gfx906.hsaco typed.cl
for name in suite doubled plus_hundred; do
    $hip --no-gpu-bundle-output --offload-arch=gfx1100 -o $name.gfx1100.hsaco $kernels/$name.cu
done
