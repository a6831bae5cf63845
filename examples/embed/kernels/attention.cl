// Scaled dot-product attention within each sequence of a packed batch, every token seeing its whole sequence.
//
// qkv is [tokens][3][heads][32], context [tokens][heads][32]; sequence s owns the tokens starts[s] to starts[s+1].
// Block: exactly 32 threads, one query each. Grid: (longest sequence / 32 rounded up, heads, sequences).
// scale_log2 is log2(e) / sqrt(32): the softmax is taken in powers of two, which is the exponential the hardware has.
//
// Keys and values come through local memory 32 at a time, read by all threads at once (a broadcast). The softmax is
// kept running: when a larger score appears, what was summed so far is scaled down to it, so no score is stored.

#define HEAD_DIM 32
#define QUADS (HEAD_DIM / 4)
#define QUERIES 32
#define KEYS 32

kernel __attribute__((reqd_work_group_size(QUERIES, 1, 1))) void
attention_f32(global const float *restrict qkv, global const int *restrict starts, global float *restrict context,
              uint heads, float scale_log2)
{
    local float4 keys[KEYS][QUADS];
    local float4 values[KEYS][QUADS];

    const uint head = get_group_id(1), thread_index = get_local_id(0);
    const uint first = starts[get_group_id(2)], end = starts[get_group_id(2) + 1];
    const uint first_query = first + get_group_id(0) * QUERIES;
    if (first_query >= end)
        return; // The whole block: its sequence is shorter than the longest of the batch.

    const uint query = first_query + thread_index;
    const bool has_query = query < end;
    const size_t part_stride = (size_t)heads * QUADS, token_stride = 3 * part_stride;
    global const float4 *rows = (global const float4 *)qkv + head * QUADS;

    float4 q[QUADS], sum[QUADS];
    for (uint d = 0; d < QUADS; ++d) {
        q[d] = has_query ? rows[query * token_stride + d] * scale_log2 : (float4)(0.0f);
        sum[d] = (float4)(0.0f);
    }
    float largest = -INFINITY, total = 0.0f;

    for (uint start = first; start < end; start += KEYS) {
        const uint count = min((uint)KEYS, end - start);
        for (uint i = thread_index; i < count * QUADS; i += QUERIES) {
            global const float4 *row = rows + (start + i / QUADS) * token_stride + i % QUADS;
            keys[i / QUADS][i % QUADS] = row[part_stride];
            values[i / QUADS][i % QUADS] = row[2 * part_stride];
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        if (has_query) {
            for (uint key = 0; key < count; ++key) {
                float4 products = (float4)(0.0f);
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
                const float share = exp2(score - largest);
                total += share;
#pragma unroll
                for (uint d = 0; d < QUADS; ++d)
                    sum[d] = fma((float4)(share), values[key][d], sum[d]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (has_query) {
        global float4 *out = (global float4 *)context + query * part_stride + head * QUADS;
        const float scale = 1.0f / total;
        for (uint d = 0; d < QUADS; ++d)
            out[d] = sum[d] * scale;
    }
}
