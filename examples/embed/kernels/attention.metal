// Scaled dot-product attention within each sequence of a packed batch, every token seeing its whole sequence.
//
// qkv is [tokens][3][heads][32], context [tokens][heads][32]; sequence s owns the tokens starts[s] to starts[s+1].
// Block: exactly 32 threads, one query each. Grid: (longest sequence / 32 rounded up, heads, sequences).
// scale_log2 is log2(e) / sqrt(32): the softmax is taken in powers of two, which is the exponential the hardware has.
//
// Keys and values come through threadgroup memory 32 at a time, read by all threads at once (a broadcast). The softmax
// is kept running: when a larger score appears, what was summed so far is scaled down to it, so no score is stored.
#include <metal_stdlib>
using namespace metal;

#define HEAD_DIM 32
#define QUADS (HEAD_DIM / 4)
#define QUERIES 32
#define KEYS 32

[[max_total_threads_per_threadgroup(QUERIES)]]
kernel void attention_f32(const device float *qkv [[buffer(0)]], const device int *starts [[buffer(1)]],
                          device float *context [[buffer(2)]], constant uint &heads [[buffer(3)]],
                          constant float &scale_log2 [[buffer(4)]], uint3 block [[threadgroup_position_in_grid]],
                          uint thread_index [[thread_index_in_threadgroup]])
{
    threadgroup float4 keys[KEYS][QUADS];
    threadgroup float4 values[KEYS][QUADS];

    const uint head = block.y;
    const uint first = starts[block.z], end = starts[block.z + 1];
    const uint first_query = first + block.x * QUERIES;
    if (first_query >= end)
        return; // The whole block: its sequence is shorter than the longest of the batch.

    const uint query = first_query + thread_index;
    const bool has_query = query < end;
    const size_t part_stride = size_t(heads) * QUADS, token_stride = 3 * part_stride;
    const device float4 *rows = reinterpret_cast<const device float4 *>(qkv) + head * QUADS;

    float4 q[QUADS], sum[QUADS];
    for (uint d = 0; d < QUADS; ++d) {
        q[d] = float4(0.0f);
        if (has_query)
            q[d] = rows[query * token_stride + d] * scale_log2;
        sum[d] = float4(0.0f);
    }
    float largest = -INFINITY, total = 0.0f;

    for (uint start = first; start < end; start += KEYS) {
        const uint count = min(uint(KEYS), end - start);
        for (uint i = thread_index; i < count * QUADS; i += QUERIES) {
            const device float4 *row = rows + (start + i / QUADS) * token_stride + i % QUADS;
            keys[i / QUADS][i % QUADS] = row[part_stride];
            values[i / QUADS][i % QUADS] = row[2 * part_stride];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);

        if (has_query) {
            for (uint key = 0; key < count; ++key) {
                float4 products = float4(0.0f);
#pragma unroll
                for (uint d = 0; d < QUADS; ++d)
                    products = fma(q[d], keys[key][d], products);
                const float score = (products.x + products.y) + (products.z + products.w);
                if (score > largest) {
                    const float shrink = exp2(largest - score);
                    largest = score;
                    total *= shrink;
#pragma unroll
                    for (uint d = 0; d < QUADS; ++d)
                        sum[d] *= shrink;
                }
                const float weight = exp2(score - largest);
                total += weight;
#pragma unroll
                for (uint d = 0; d < QUADS; ++d)
                    sum[d] = fma(float4(weight), values[key][d], sum[d]);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }

    if (has_query) {
        device float4 *out = reinterpret_cast<device float4 *>(context) + query * part_stride + head * QUADS;
        const float share = 1.0f / total;
        for (uint d = 0; d < QUADS; ++d)
            out[d] = sum[d] * share;
    }
}
