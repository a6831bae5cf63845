#!/bin/sh
# Makes the binaries here anew: Debian's clang-15, llvm-spirv-15 and spirv-tools.
set -e
cd "$(dirname "$0")"
clang-15 -target spir64-unknown-unknown -cl-std=CL2.0 -Xclang -finclude-default-header -O1 -emit-llvm -c translated.cl -o translated.bc
llvm-spirv-15 translated.bc -o translated.spv
rm translated.bc
spirv-as --target-env spv1.2 handmade.spvasm -o handmade.spv
