// From the hidden states of tokens to one vector of length 1 per sentence.

#define LANES 32

// The mean over a sequence's tokens; sequence s owns the tokens starts[s] to starts[s+1], at least one.
// Grid: (hidden / block, sequences), rounded up; one thread per column, so neighbours read neighbouring floats.
kernel void mean_pool_f32(global const float *restrict hidden_states, global const int *restrict starts,
                          global float *restrict pooled, uint hidden)
{
    const uint column = get_global_id(0), sequence = get_group_id(1);
    if (column >= hidden)
        return;
    const int first = starts[sequence], end = starts[sequence + 1];
    float sum = 0.0f;
    for (int token = first; token < end; ++token)
        sum += hidden_states[(size_t)token * hidden + column];
    pooled[(size_t)sequence * hidden + column] = sum / (float)(end - first);
}

// Scales each row to length 1, in place; a row shorter than floor is divided by floor instead, so zeros stay zeros.
// Grid: one block per row. Block: exactly 32 threads.
kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void l2_normalise_f32(global float *rows, uint hidden,
                                                                                float floor)
{
    local float partials[LANES];

    global float *row = rows + get_group_id(0) * (size_t)hidden;
    const uint lane = get_local_id(0);
    float sum = 0.0f;
    for (uint i = lane; i < hidden; i += LANES)
        sum = fma(row[i], row[i], sum);
    partials[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);

    float square = 0.0f;
    for (uint i = 0; i < LANES; ++i)
        square += partials[i];
    const float scale = 1.0f / fmax(sqrt(square), floor);
    for (uint i = lane; i < hidden; i += LANES)
        row[i] *= scale;
}
