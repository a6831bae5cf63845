#!/bin/sh
# Makes the binaries of this folder. They were made by nvcc 13.0 (V13.0.88) on x86-64; tests do not run this.
set -e
cd "$(dirname "$0")"
for arch in sm_75 sm_90 sm_90a sm_100 sm_100a sm_100f sm_121; do nvcc -cubin -arch=$arch -o one.$arch.cubin one.cu; done
nvcc -cubin -arch=sm_90 -o kernels.cubin kernels.cu
nvcc -ptx -arch=compute_90 -o kernels.ptx kernels.cu
# Debug information holds the folder that the compiler ran in.
mkdir -p /src && cp debug.cu /src && (cd /src && nvcc -cubin -G -arch=sm_90 -o debug.cubin debug.cu) && cp /src/debug.cubin .
nvcc -ptx -arch=compute_90a -o one.sm_90a.ptx one.cu
nvcc -ptx -arch=compute_100f -o one.sm_100f.ptx one.cu
nvcc -fatbin -o one.fatbin -gencode arch=compute_80,code=[sm_80,compute_80] -gencode arch=compute_90a,code=sm_90a \
  -gencode arch=compute_100f,code=[sm_100f,compute_100f] one.cu
nvcc -fatbin --no-compress -o one.plain.fatbin -gencode arch=compute_80,code=[sm_80,compute_80] one.cu
nvcc -fatbin -o one.lto.fatbin -gencode arch=compute_90,code=lto_90 one.cu
nvcc -ptx -rdc=true -arch=compute_90 -o calls.ptx calls.cu
nvcc -cubin -rdc=true -arch=sm_90 -o calls.cubin calls.cu
nvcc -ptx -rdc=true -arch=compute_90 -o defines.ptx defines.cu
nvcc -cubin -rdc=true -arch=sm_90 -o defines.cubin defines.cu
nvcc -fatbin -rdc=true -arch=sm_90 -o defines.fatbin defines.cu
nvcc -c -rdc=true -arch=sm_90 -o defines.o defines.cu
ar rcsD defines.a defines.o
# defines.ltoir is NVRTC 13.0's nvrtcGetLTOIR under -dlto -rdc=true -arch=sm_90.
