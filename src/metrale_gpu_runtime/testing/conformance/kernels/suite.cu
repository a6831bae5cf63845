// The kernels of the conformance suite. Each can tell: swapped fields, a lost last element, a block that never ran.
// bodies.py says the same in Python, for backends that run no code.
#include <stdint.h>

static __device__ __forceinline__ uint32_t global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Not commutative, so that two launches in the wrong order show.
extern "C" __global__ void affine(uint32_t *values, uint32_t count, uint32_t factor, uint32_t addend)
{
    uint32_t i = global_id();
    if (i < count) values[i] = values[i] * factor + addend;
}

extern "C" __global__ void scale_add(const float *x, float *y, uint32_t count, float factor)
{
    uint32_t i = global_id();
    if (i < count) y[i] = factor * x[i] + y[i];
}

extern "C" __global__ void sum_i32(const int32_t *x, int32_t *out, uint32_t count)
{
    if (global_id() != 0) return;
    int32_t sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += x[i];
    *out = sum;
}

extern "C" __global__ void echo_8(uint8_t *out, uint8_t value) { if (global_id() == 0) *out = value; }
extern "C" __global__ void echo_16(uint16_t *out, uint16_t value) { if (global_id() == 0) *out = value; }
extern "C" __global__ void echo_32(uint32_t *out, uint32_t value) { if (global_id() == 0) *out = value; }
extern "C" __global__ void echo_64(uint64_t *out, uint64_t value) { if (global_id() == 0) *out = value; }
extern "C" __global__ void echo_f32(float *out, float value) { if (global_id() == 0) *out = value; }
extern "C" __global__ void echo_f64(double *out, double value) { if (global_id() == 0) *out = value; }

struct alignas(64) TensorMap { uint8_t bytes[128]; };

// Small and wide arguments by turns: every one needs its own offset. Written tightly: 1, 8, 2, 8, 4 bytes.
extern "C" __global__ void mixed(uint8_t *out, uint8_t a, uint64_t b, uint16_t c, double d, uint32_t e)
{
    if (global_id() != 0) return;
    out[0] = a;
    for (int i = 0; i < 8; i++) out[1 + i] = (uint8_t)(b >> (8 * i));
    for (int i = 0; i < 2; i++) out[9 + i] = (uint8_t)(c >> (8 * i));
    uint64_t bits = __double_as_longlong(d);
    for (int i = 0; i < 8; i++) out[11 + i] = (uint8_t)(bits >> (8 * i));
    for (int i = 0; i < 4; i++) out[19 + i] = (uint8_t)(e >> (8 * i));
}

extern "C" __global__ void tensor_map(uint8_t *out, uint8_t before, const __grid_constant__ TensorMap map, uint8_t after)
{
    uint32_t i = global_id();
    if (i < 128) out[1 + i] = map.bytes[i];
    if (i == 0) { out[0] = before; out[129] = after; }
}

struct Gapped { char a; double b; int c; };

extern "C" __global__ void gapped(uint64_t *out, Gapped s)
{
    if (global_id() != 0) return;
    out[0] = (uint64_t)(int64_t)s.a;
    out[1] = __double_as_longlong(s.b);
    out[2] = (uint64_t)(int64_t)s.c;
}

// Six words for every thread: its block, its place in the block.
extern "C" __global__ void whereabouts(uint32_t *out)
{
    uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    uint32_t *mine = out + 6 * (size_t)(block * (blockDim.x * blockDim.y * blockDim.z) + thread);
    mine[0] = blockIdx.x; mine[1] = blockIdx.y; mine[2] = blockIdx.z;
    mine[3] = threadIdx.x; mine[4] = threadIdx.y; mine[5] = threadIdx.z;
}

// Each block turns its part round by way of dynamic shared memory.
extern "C" __global__ void reverse_blocks(uint32_t *values)
{
    extern __shared__ uint32_t part[];
    uint32_t i = global_id();
    part[threadIdx.x] = values[i];
    __syncthreads();
    values[i] = part[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(64) at_most_64(uint32_t *out) { out[global_id()] = global_id() + 7; }

extern "C" __global__ void write_at(int32_t *out, int64_t index, int32_t value)
{
    if (global_id() == 0) out[index] = value;
}

// Reaches memory through memory: the launch names the table only.
extern "C" __global__ void follow(uint32_t *const *table, uint32_t count, uint32_t value)
{
    uint32_t i = global_id();
    if (i < count) table[i][0] = value + i;
}

extern "C" __global__ void is_null(uint32_t *out, const void *pointer)
{
    if (global_id() == 0) *out = pointer == nullptr ? 11 : 22;
}

extern "C" __global__ void trap_if(uint32_t *out, uint32_t flag)
{
    if (global_id() != 0) return;
    if (flag) __trap();
    *out = 33;
}

extern "C" { __device__ uint32_t table[3] = {301, 302, 303}; }

extern "C" __global__ void add_table(uint32_t *out)
{
    uint32_t i = global_id();
    if (i < 3) out[i] = table[i] + 1;
}

// As C++ names it: _Z7mangledPji.
__global__ void mangled(uint32_t *out, int value) { if (global_id() == 0) *out = (uint32_t)value; }
