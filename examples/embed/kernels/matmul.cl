// y = x * weight + bias, with x [rows][depth], weight [depth][columns], bias [columns], y [rows][columns].
//
// Block: exactly 64 threads. Grid: (columns / 64, rows / 32), both rounded up. columns and depth are multiples of 4.
//
// A block computes 32 x 64 outputs from tiles of 32 along the depth in local memory; a thread keeps 4 x 8 of them in
// registers, so that twelve 16-byte loads from local memory feed 128 multiply-adds. The eight columns of a thread are
// two runs of four, 32 apart: the eight threads that share a row then read 128 bytes in a row, and the four rows of a
// thread are neighbours, so that threads below the last row skip the arithmetic.

#define TILE_ROWS 32
#define TILE_COLUMNS 64
#define TILE_DEPTH 32
#define THREADS 64
#define THREAD_ROWS 4
// One more float4 per row: writing a tile by rows and reading it by columns then hits different banks.
#define X_STRIDE (TILE_DEPTH / 4 + 1)

kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void
matmul_bias_f32(global const float *restrict x, global const float *restrict weight, global const float *restrict bias,
                global float *restrict y, uint rows, uint columns, uint depth)
{
    local float4 x_tile[TILE_ROWS][X_STRIDE];
    local float4 weight_tile[TILE_DEPTH][TILE_COLUMNS / 4];

    const uint thread_index = get_local_id(0);
    const uint first_row = get_group_id(1) * TILE_ROWS, first_column = get_group_id(0) * TILE_COLUMNS;
    const uint thread_column = thread_index % 8, thread_row = thread_index / 8 * THREAD_ROWS;
    const bool has_rows = first_row + thread_row < rows;

    float4 left[THREAD_ROWS], right[THREAD_ROWS];
    for (uint i = 0; i < THREAD_ROWS; ++i)
        left[i] = right[i] = (float4)(0.0f);

    for (uint start = 0; start < depth; start += TILE_DEPTH) {
        for (uint i = thread_index; i < TILE_ROWS * TILE_DEPTH / 4; i += THREADS) {
            const uint row = i / (TILE_DEPTH / 4), quad = i % (TILE_DEPTH / 4);
            const bool inside = first_row + row < rows && start + quad * 4 < depth;
            x_tile[row][quad] =
                inside ? *(global const float4 *)(x + (size_t)(first_row + row) * depth + start + quad * 4)
                       : (float4)(0.0f);
        }
        for (uint i = thread_index; i < TILE_DEPTH * TILE_COLUMNS / 4; i += THREADS) {
            const uint k = i / (TILE_COLUMNS / 4), quad = i % (TILE_COLUMNS / 4);
            const bool inside = start + k < depth && first_column + quad * 4 < columns;
            weight_tile[k][quad] =
                inside ? *(global const float4 *)(weight + (size_t)(start + k) * columns + first_column + quad * 4)
                       : (float4)(0.0f);
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        if (has_rows) {
            for (uint quad = 0; quad < TILE_DEPTH / 4; ++quad) {
                float4 xs[THREAD_ROWS];
#pragma unroll
                for (uint i = 0; i < THREAD_ROWS; ++i)
                    xs[i] = x_tile[thread_row + i][quad];
#pragma unroll
                for (uint k = 0; k < 4; ++k) {
                    const float4 w_left = weight_tile[quad * 4 + k][thread_column];
                    const float4 w_right = weight_tile[quad * 4 + k][8 + thread_column];
#pragma unroll
                    for (uint i = 0; i < THREAD_ROWS; ++i) {
                        const float4 factor = (float4)(k == 0 ? xs[i].x : k == 1 ? xs[i].y : k == 2 ? xs[i].z : xs[i].w);
                        left[i] = fma(factor, w_left, left[i]);
                        right[i] = fma(factor, w_right, right[i]);
                    }
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    const uint left_column = first_column + thread_column * 4, right_column = left_column + 32;
    for (uint i = 0; i < THREAD_ROWS; ++i) {
        const uint row = first_row + thread_row + i;
        if (row < rows && left_column < columns)
            *(global float4 *)(y + (size_t)row * columns + left_column) =
                left[i] + *(global const float4 *)(bias + left_column);
        if (row < rows && right_column < columns)
            *(global float4 *)(y + (size_t)row * columns + right_column) =
                right[i] + *(global const float4 *)(bias + right_column);
    }
}
