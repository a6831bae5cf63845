// Layer normalisation of rows, alone or of the sum of a row and its residual.
//
// Block: exactly 64 threads, 16 to a row, so four rows to a block. Grid: rows / 4, rounded up.
// hidden is a multiple of 4. The output may be the input.
//
// Mean and variance are taken in two passes, because sum(x^2) - sum(x)^2 loses the digits that matter when the mean
// is large. Each reduction costs one barrier: every thread adds up its row's 16 partial sums by itself, which is
// cheaper than four halving steps with a barrier each.
#include <metal_stdlib>
using namespace metal;

#define LANES 16
#define ROWS 4

static float sum_of_partials(const threadgroup float *partials)
{
    float sum = 0.0f;
    for (uint i = 0; i < LANES; i += 4)
        sum += (partials[i] + partials[i + 1]) + (partials[i + 2] + partials[i + 3]);
    return sum;
}

static float sum_of_components(float4 v) { return (v.x + v.y) + (v.z + v.w); }

// Threadgroup memory is declared by the kernels and handed in: sums and squares, ROWS * LANES floats each.
template <bool WITH_RESIDUAL>
void normalise_rows(const device float *input, const device float *residual, const device float *gain,
                    const device float *bias, device float *output, uint rows, uint hidden, float epsilon,
                    threadgroup float *sums, threadgroup float *squares, uint block, uint thread_index)
{
    const uint lane = thread_index % LANES, slot = thread_index / LANES;
    const uint row = block * ROWS + slot;
    // Surplus threads of the last block stay for the barriers and touch no memory.
    const uint count = row < rows ? hidden / 4 : 0;
    const device float4 *x = reinterpret_cast<const device float4 *>(input + size_t(row) * hidden);
    const device float4 *r = reinterpret_cast<const device float4 *>(residual + size_t(row) * hidden);
    device float4 *y = reinterpret_cast<device float4 *>(output + size_t(row) * hidden);

    float sum = 0.0f;
    for (uint i = lane; i < count; i += LANES)
        sum += sum_of_components(WITH_RESIDUAL ? x[i] + r[i] : x[i]);
    sums[slot * LANES + lane] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float mean = sum_of_partials(sums + slot * LANES) / float(hidden);

    float square = 0.0f;
    for (uint i = lane; i < count; i += LANES) {
        const float4 away = (WITH_RESIDUAL ? x[i] + r[i] : x[i]) - mean;
        square += sum_of_components(away * away);
    }
    squares[slot * LANES + lane] = square;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float scale = rsqrt(sum_of_partials(squares + slot * LANES) / float(hidden) + epsilon);

    const device float4 *gains = reinterpret_cast<const device float4 *>(gain);
    const device float4 *biases = reinterpret_cast<const device float4 *>(bias);
    for (uint i = lane; i < count; i += LANES) {
        const float4 v = WITH_RESIDUAL ? x[i] + r[i] : x[i];
        y[i] = (v - mean) * scale * gains[i] + biases[i];
    }
}

[[max_total_threads_per_threadgroup(LANES * ROWS)]]
kernel void layer_norm_f32(const device float *input [[buffer(0)]], const device float *gain [[buffer(1)]],
                           const device float *bias [[buffer(2)]], device float *output [[buffer(3)]],
                           constant uint &rows [[buffer(4)]], constant uint &hidden [[buffer(5)]],
                           constant float &epsilon [[buffer(6)]], uint block [[threadgroup_position_in_grid]],
                           uint thread_index [[thread_position_in_threadgroup]])
{
    threadgroup float sums[ROWS * LANES];
    threadgroup float squares[ROWS * LANES];
    normalise_rows<false>(input, input, gain, bias, output, rows, hidden, epsilon, sums, squares, block, thread_index);
}

[[max_total_threads_per_threadgroup(LANES * ROWS)]]
kernel void add_layer_norm_f32(const device float *input [[buffer(0)]], const device float *residual [[buffer(1)]],
                               const device float *gain [[buffer(2)]], const device float *bias [[buffer(3)]],
                               device float *output [[buffer(4)]], constant uint &rows [[buffer(5)]],
                               constant uint &hidden [[buffer(6)]], constant float &epsilon [[buffer(7)]],
                               uint block [[threadgroup_position_in_grid]],
                               uint thread_index [[thread_position_in_threadgroup]])
{
    threadgroup float sums[ROWS * LANES];
    threadgroup float squares[ROWS * LANES];
    normalise_rows<true>(input, residual, gain, bias, output, rows, hidden, epsilon, sums, squares, block,
                         thread_index);
}
