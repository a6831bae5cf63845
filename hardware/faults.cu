// One kernel for each way in which a kernel fails on a device.
#include <assert.h>

extern "C" __global__ void illegal_address(unsigned *out) { out[(1ull << 40) + threadIdx.x] = 7u; }
extern "C" __global__ void misaligned_address(unsigned *out)
{
    *(volatile unsigned *)((char *)out + 2 + 4 * threadIdx.x) = 7u;
}
extern "C" __global__ void trapped(unsigned *out) { if (threadIdx.x == 3) asm volatile("trap;"); out[threadIdx.x] = 7u; }
extern "C" __global__ void failed_assertion(unsigned *out) { assert(out == nullptr); }
extern "C" __global__ void healthy(unsigned *out) { out[threadIdx.x] = 7u + threadIdx.x; }
