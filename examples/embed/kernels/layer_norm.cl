// Layer normalisation of rows, alone or of the sum of a row and its residual.
//
// Block: exactly 64 threads, 16 to a row, so four rows to a block. Grid: rows / 4, rounded up.
// hidden is a multiple of 4. The output may be the input.
//
// Mean and variance are taken in two passes, because sum(x^2) - sum(x)^2 loses the digits that matter when the mean
// is large. Each reduction costs one barrier: every thread adds up its row's 16 partial sums by itself, which is
// cheaper than four halving steps with a barrier each.

#define LANES 16
#define ROWS 4

inline float sum_of_components(float4 v) { return (v.x + v.y) + (v.z + v.w); }

inline float sum_of_partials(local const float *partials)
{
    float sum = 0.0f;
    for (uint i = 0; i < LANES; i += 4)
        sum += (partials[i] + partials[i + 1]) + (partials[i + 2] + partials[i + 3]);
    return sum;
}

// What both kernels do, `VALUE(i)` being what is normalised: barriers inside of called functions are not for every
// compiler.
#define NORMALISE_ROWS(VALUE)                                                                                          \
    local float sums[ROWS][LANES];                                                                                     \
    local float squares[ROWS][LANES];                                                                                  \
    const uint lane = get_local_id(0) % LANES, slot = get_local_id(0) / LANES;                                         \
    const uint row = get_group_id(0) * ROWS + slot;                                                                    \
    /* Surplus threads of the last block stay for the barriers and touch no memory. */                                 \
    const uint count = row < rows ? hidden / 4 : 0;                                                                    \
    const size_t first = (size_t)row * (hidden / 4);                                                                   \
                                                                                                                       \
    float sum = 0.0f;                                                                                                  \
    for (uint i = lane; i < count; i += LANES)                                                                         \
        sum += sum_of_components(VALUE(first + i));                                                                    \
    sums[slot][lane] = sum;                                                                                            \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    const float mean = sum_of_partials(sums[slot]) / hidden;                                                           \
                                                                                                                       \
    float square = 0.0f;                                                                                               \
    for (uint i = lane; i < count; i += LANES) {                                                                       \
        const float4 away = VALUE(first + i) - mean;                                                                   \
        square += sum_of_components(away * away);                                                                      \
    }                                                                                                                  \
    squares[slot][lane] = square;                                                                                      \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    const float scale = 1.0f / sqrt(sum_of_partials(squares[slot]) / hidden + epsilon);                                \
                                                                                                                       \
    for (uint i = lane; i < count; i += LANES)                                                                         \
        ((global float4 *)output)[first + i] = (VALUE(first + i) - mean) * scale * ((global const float4 *)gain)[i] +  \
                                               ((global const float4 *)bias)[i];

#define INPUT(i) (((global const float4 *)input)[i])
#define INPUT_AND_RESIDUAL(i) (((global const float4 *)input)[i] + ((global const float4 *)residual)[i])

kernel __attribute__((reqd_work_group_size(LANES *ROWS, 1, 1))) void
layer_norm_f32(global const float *input, global const float *gain, global const float *bias, global float *output,
               uint rows, uint hidden, float epsilon)
{
    NORMALISE_ROWS(INPUT)
}

kernel __attribute__((reqd_work_group_size(LANES *ROWS, 1, 1))) void
add_layer_norm_f32(global const float *input, global const float *residual, global const float *gain,
                   global const float *bias, global float *output, uint rows, uint hidden, float epsilon)
{
    NORMALISE_ROWS(INPUT_AND_RESIDUAL)
}
