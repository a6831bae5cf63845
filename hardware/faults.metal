// The way in which a kernel fails on a Metal device: there is no trap, no assertion, and no alignment fault.
#include <metal_stdlib>
using namespace metal;

kernel void illegal_address(device uint *out [[buffer(0)]], uint thread_index [[thread_position_in_threadgroup]])
{
    // 128 GiB on: within the 40 bits that Apple's GPUs address, where no buffer lies. What is beyond them could wrap
    // and meet the buffer itself.
    out[(1ul << 35) + thread_index] = 7u;
}

kernel void healthy(device uint *out [[buffer(0)]], uint thread_index [[thread_position_in_threadgroup]])
{
    out[thread_index] = 7u + thread_index;
}
