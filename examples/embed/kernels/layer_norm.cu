// Layer normalisation of rows, alone or of the sum of a row and its residual.
//
// Block: exactly 64 threads, 16 to a row, so four rows to a block. Grid: rows / 4, rounded up.
// hidden is a multiple of 4. The output may be the input.
//
// Mean and variance are taken in two passes, because sum(x^2) - sum(x)^2 loses the digits that matter when the mean
// is large. Each reduction costs one barrier: every thread adds up its row's 16 partial sums by itself, which is
// cheaper than four halving steps with a barrier each. The loops stay rolled: a row of 384 is six steps, so unrolled
// ones would be mostly code that makes compilation on a CPU slow.

#define LANES 16
#define ROWS 4

__device__ float sum_of_partials(const float4 *partials)
{
    const float4 a = partials[0], b = partials[1], c = partials[2], d = partials[3];
    return ((a.x + a.y) + (a.z + a.w)) + ((b.x + b.y) + (b.z + b.w)) +
           (((c.x + c.y) + (c.z + c.w)) + ((d.x + d.y) + (d.z + d.w)));
}

__device__ float4 add(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

template <bool WITH_RESIDUAL>
__device__ void normalise_rows(const float *input, const float *residual, const float *__restrict__ gain,
                               const float *__restrict__ bias, float *output, unsigned int rows, unsigned int hidden,
                               float epsilon)
{
    __shared__ float4 sums[ROWS][LANES / 4];
    __shared__ float4 squares[ROWS][LANES / 4];

    const unsigned int lane = threadIdx.x % LANES, slot = threadIdx.x / LANES;
    const unsigned int row = blockIdx.x * ROWS + slot;
    // Surplus threads of the last block stay for the barriers and touch no memory.
    const unsigned int count = row < rows ? hidden / 4 : 0;
    const float4 *x = reinterpret_cast<const float4 *>(input + size_t(row) * hidden);
    const float4 *r = reinterpret_cast<const float4 *>(residual + size_t(row) * hidden);
    float4 *y = reinterpret_cast<float4 *>(output + size_t(row) * hidden);

    float sum = 0.0f;
#pragma unroll 1
    for (unsigned int i = lane; i < count; i += LANES) {
        const float4 v = WITH_RESIDUAL ? add(x[i], r[i]) : x[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    reinterpret_cast<float *>(sums[slot])[lane] = sum;
    __syncthreads();
    const float mean = sum_of_partials(sums[slot]) / hidden;

    float square = 0.0f;
#pragma unroll 1
    for (unsigned int i = lane; i < count; i += LANES) {
        const float4 v = WITH_RESIDUAL ? add(x[i], r[i]) : x[i];
        const float a = v.x - mean, b = v.y - mean, c = v.z - mean, d = v.w - mean;
        square += (a * a + b * b) + (c * c + d * d);
    }
    reinterpret_cast<float *>(squares[slot])[lane] = square;
    __syncthreads();
    const float scale = rsqrtf(sum_of_partials(squares[slot]) / hidden + epsilon);

    const float4 *gains = reinterpret_cast<const float4 *>(gain);
    const float4 *biases = reinterpret_cast<const float4 *>(bias);
#pragma unroll 1
    for (unsigned int i = lane; i < count; i += LANES) {
        const float4 v = WITH_RESIDUAL ? add(x[i], r[i]) : x[i];
        const float4 g = gains[i], b = biases[i];
        y[i] = make_float4((v.x - mean) * scale * g.x + b.x, (v.y - mean) * scale * g.y + b.y,
                           (v.z - mean) * scale * g.z + b.z, (v.w - mean) * scale * g.w + b.w);
    }
}

extern "C" __global__ void __launch_bounds__(LANES *ROWS)
    layer_norm_f32(const float *input, const float *__restrict__ gain, const float *__restrict__ bias, float *output,
                   unsigned int rows, unsigned int hidden, float epsilon)
{
    normalise_rows<false>(input, input, gain, bias, output, rows, hidden, epsilon);
}

extern "C" __global__ void __launch_bounds__(LANES *ROWS)
    add_layer_norm_f32(const float *input, const float *residual, const float *__restrict__ gain,
                       const float *__restrict__ bias, float *output, unsigned int rows, unsigned int hidden,
                       float epsilon)
{
    normalise_rows<true>(input, residual, gain, bias, output, rows, hidden, epsilon);
}
