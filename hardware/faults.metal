// The way in which a kernel fails on a Metal device: there is no trap, no assertion, and no alignment fault.
#include <metal_stdlib>
using namespace metal;

kernel void illegal_address(device uint *out [[buffer(0)]], uint thread_index [[thread_position_in_threadgroup]])
{
    out[(1ul << 40) + thread_index] = 7u;
}

kernel void healthy(device uint *out [[buffer(0)]], uint thread_index [[thread_position_in_threadgroup]])
{
    out[thread_index] = 7u + thread_index;
}
