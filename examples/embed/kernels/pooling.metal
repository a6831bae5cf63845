// From the hidden states of tokens to one vector of length 1 per sentence.
#include <metal_stdlib>
using namespace metal;

#define LANES 32

// The mean over a sequence's tokens; sequence s owns the tokens starts[s] to starts[s+1], at least one.
// Grid: (hidden / block, sequences), rounded up; one thread per column, so a simdgroup reads neighbouring floats.
kernel void mean_pool_f32(const device float *hidden_states [[buffer(0)]], const device int *starts [[buffer(1)]],
                          device float *pooled [[buffer(2)]], constant uint &hidden [[buffer(3)]],
                          uint2 at [[thread_position_in_grid]])
{
    const uint column = at.x, sequence = at.y;
    if (column >= hidden)
        return;
    const int first = starts[sequence], end = starts[sequence + 1];
    float sum = 0.0f;
    for (int token = first; token < end; ++token)
        sum += hidden_states[size_t(token) * hidden + column];
    pooled[size_t(sequence) * hidden + column] = sum / float(end - first);
}

// Scales each row to length 1, in place; a row shorter than floor is divided by floor instead, so zeros stay zeros.
// Grid: one block per row. Block: exactly 32 threads.
[[max_total_threads_per_threadgroup(LANES)]]
kernel void l2_normalise_f32(device float *rows [[buffer(0)]], constant uint &hidden [[buffer(1)]],
                             constant float &floor [[buffer(2)]], uint index [[threadgroup_position_in_grid]],
                             uint lane [[thread_position_in_threadgroup]])
{
    threadgroup float partials[LANES];

    device float *row = rows + size_t(index) * hidden;
    float sum = 0.0f;
    for (uint i = lane; i < hidden; i += LANES)
        sum = fma(row[i], row[i], sum);
    partials[lane] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);

    float square = 0.0f;
    for (uint i = 0; i < LANES; ++i)
        square += partials[i];
    const float scale = 1.0f / max(sqrt(square), floor);
    for (uint i = lane; i < hidden; i += LANES)
        row[i] *= scale;
}
