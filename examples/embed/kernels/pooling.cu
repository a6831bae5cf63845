// From the hidden states of tokens to one vector of length 1 per sentence.

#define LANES 32

// The mean over a sequence's tokens; sequence s owns the tokens starts[s] to starts[s+1], at least one.
// Grid: (hidden / block, sequences), rounded up; one thread per column, so a warp reads neighbouring floats.
extern "C" __global__ void mean_pool_f32(const float *__restrict__ hidden_states, const int *__restrict__ starts,
                                         float *__restrict__ pooled, unsigned int hidden)
{
    const unsigned int column = blockIdx.x * blockDim.x + threadIdx.x, sequence = blockIdx.y;
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
extern "C" __global__ void __launch_bounds__(LANES) l2_normalise_f32(float *rows, unsigned int hidden, float floor)
{
    __shared__ float partials[LANES];

    float *row = rows + size_t(blockIdx.x) * hidden;
    float sum = 0.0f;
    for (unsigned int i = threadIdx.x; i < hidden; i += LANES)
        sum = fmaf(row[i], row[i], sum);
    partials[threadIdx.x] = sum;
    __syncthreads();

    float square = 0.0f;
    for (unsigned int i = 0; i < LANES; ++i)
        square += partials[i];
    const float scale = 1.0f / fmaxf(sqrtf(square), floor);
    for (unsigned int i = threadIdx.x; i < hidden; i += LANES)
        row[i] *= scale;
}
