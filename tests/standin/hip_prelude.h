/* What CUDA C and HIP C need of ROCm's headers, as clang's builtins, so that clang alone compiles kernels for AMD's
 * GPUs: the qualifiers, the indices, the barrier. Given to clang with -include; no host code. */
#pragma once

typedef __SIZE_TYPE__ size_t;

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define __launch_bounds__(threads, ...) __attribute__((amdgpu_flat_work_group_size(1, threads)))

struct dim3 {
    unsigned x, y, z;
};

static __device__ inline dim3 prelude_thread()
{
    return {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()};
}
static __device__ inline dim3 prelude_block()
{
    return {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z()};
}
static __device__ inline dim3 prelude_extent()
{
    return {__builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
            __builtin_amdgcn_workgroup_size_z()};
}
static __device__ inline dim3 prelude_grid()
{
    return {__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(),
            __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y(),
            __builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z()};
}
#define threadIdx prelude_thread()
#define blockIdx prelude_block()
#define blockDim prelude_extent()
#define gridDim prelude_grid()

static __device__ inline void __syncthreads()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
static __device__ inline long long __double_as_longlong(double value) { return __builtin_bit_cast(long long, value); }
static __device__ inline void __trap() { __builtin_trap(); }

struct alignas(16) float4 {
    float x, y, z, w;
};
static __device__ inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static __device__ inline float __int_as_float(int bits) { return __builtin_bit_cast(float, bits); }
static __device__ inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static __device__ inline float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
static __device__ inline float sqrtf(float a) { return __builtin_sqrtf(a); }
static __device__ inline float rsqrtf(float a) { return 1.0f / __builtin_sqrtf(a); }
static __device__ inline float exp2f(float a) { return __builtin_exp2f(a); }
static __device__ inline float expf(float a) { return exp2f(a * 1.44269504f); }
static __device__ inline int min(int a, int b) { return a < b ? a : b; }
/* To six digits (Abramowitz and Stegun 7.1.26): nothing here runs, the executor has NVRTC's. */
static __device__ inline float erff(float a)
{
    float t = 1.0f / (1.0f + 0.3275911f * __builtin_fabsf(a));
    float sum = ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t;
    return __builtin_copysignf(1.0f - sum * expf(-a * a), a);
}
