// Scaled dot-product attention within each sequence of a packed batch, every token seeing its whole sequence.
//
// qkv is [tokens][3][heads][32], context [tokens][heads][32]; sequence s owns the tokens starts[s] to starts[s+1].
// Block: exactly 32 threads, one query each. Grid: (longest sequence / 32 rounded up, heads, sequences).
// scale_log2 is log2(e) / sqrt(32): the softmax is taken in powers of two, which is the exponential the hardware has.
//
// Keys and values come through shared memory 32 at a time, read by all threads at once (a broadcast). The softmax is
// kept running: when a larger score appears, what was summed so far is scaled down to it, so no score is stored.

#define HEAD_DIM 32
#define QUADS (HEAD_DIM / 4)
#define QUERIES 32
#define KEYS 32

extern "C" __global__ void __launch_bounds__(QUERIES)
    attention_f32(const float *__restrict__ qkv, const int *__restrict__ starts, float *__restrict__ context,
                  unsigned int heads, float scale_log2)
{
    __shared__ float4 keys[KEYS][QUADS];
    __shared__ float4 values[KEYS][QUADS];

    const unsigned int head = blockIdx.y;
    const unsigned int first = starts[blockIdx.z], end = starts[blockIdx.z + 1];
    const unsigned int first_query = first + blockIdx.x * QUERIES;
    if (first_query >= end)
        return; // The whole block: its sequence is shorter than the longest of the batch.

    const unsigned int query = first_query + threadIdx.x;
    const bool has_query = query < end;
    const size_t part_stride = size_t(heads) * QUADS, token_stride = 3 * part_stride;
    const float4 *rows = reinterpret_cast<const float4 *>(qkv) + head * QUADS;

    float4 q[QUADS], sum[QUADS];
#pragma unroll
    for (unsigned int d = 0; d < QUADS; ++d) {
        const float4 v = has_query ? rows[query * token_stride + d] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        q[d] = make_float4(v.x * scale_log2, v.y * scale_log2, v.z * scale_log2, v.w * scale_log2);
        sum[d] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    float largest = __int_as_float(0xff800000), total = 0.0f; // Minus infinity: NVRTC defines no INFINITY.

    for (unsigned int start = first; start < end; start += KEYS) {
        const unsigned int count = min(KEYS, end - start);
        for (unsigned int i = threadIdx.x; i < count * QUADS; i += QUERIES) {
            const float4 *row = rows + (start + i / QUADS) * token_stride + i % QUADS;
            keys[i / QUADS][i % QUADS] = row[part_stride];
            values[i / QUADS][i % QUADS] = row[2 * part_stride];
        }
        __syncthreads();

        if (has_query) {
#pragma unroll 1
            for (unsigned int key = 0; key < count; ++key) {
                float4 dot = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
                for (unsigned int d = 0; d < QUADS; ++d) {
                    const float4 k = keys[key][d];
                    dot.x = fmaf(q[d].x, k.x, dot.x);
                    dot.y = fmaf(q[d].y, k.y, dot.y);
                    dot.z = fmaf(q[d].z, k.z, dot.z);
                    dot.w = fmaf(q[d].w, k.w, dot.w);
                }
                const float score = (dot.x + dot.y) + (dot.z + dot.w);
                if (score > largest) {
                    const float shrink = exp2f(largest - score);
                    largest = score;
                    total *= shrink;
#pragma unroll
                    for (unsigned int d = 0; d < QUADS; ++d)
                        sum[d] = make_float4(sum[d].x * shrink, sum[d].y * shrink, sum[d].z * shrink,
                                             sum[d].w * shrink);
                }
                const float weight = exp2f(score - largest);
                total += weight;
#pragma unroll
                for (unsigned int d = 0; d < QUADS; ++d) {
                    const float4 v = values[key][d];
                    sum[d].x = fmaf(weight, v.x, sum[d].x);
                    sum[d].y = fmaf(weight, v.y, sum[d].y);
                    sum[d].z = fmaf(weight, v.z, sum[d].z);
                    sum[d].w = fmaf(weight, v.w, sum[d].w);
                }
            }
        }
        __syncthreads();
    }

    if (has_query) {
        float4 *out = reinterpret_cast<float4 *>(context) + query * part_stride + head * QUADS;
        const float share = 1.0f / total;
#pragma unroll
        for (unsigned int d = 0; d < QUADS; ++d)
            out[d] = make_float4(sum[d].x * share, sum[d].y * share, sum[d].z * share, sum[d].w * share);
    }
}
