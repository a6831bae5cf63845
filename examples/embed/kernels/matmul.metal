// y = x * weight + bias, with x [rows][depth], weight [depth][columns], bias [columns], y [rows][columns].
//
// Block: exactly 64 threads. Grid: (columns / 64, rows / 32), both rounded up. columns and depth are multiples of 4.
//
// A block computes 32 x 64 outputs from tiles of 32 along the depth in threadgroup memory; a thread keeps 4 x 8 of them
// in registers, so that twelve 16-byte loads from threadgroup memory feed 128 multiply-adds. The eight columns of a
// thread are two runs of four, 32 apart: the eight threads that share a row then read 128 bytes in a row, and the four
// rows of a thread are neighbours, so that threads below the last row skip the arithmetic.
#include <metal_stdlib>
using namespace metal;

#define TILE_ROWS 32
#define TILE_COLUMNS 64
#define TILE_DEPTH 32
#define THREADS 64
#define THREAD_ROWS 4
// One more float4 per row: writing a tile by rows and reading it by columns then hits different banks.
#define X_STRIDE (TILE_DEPTH / 4 + 1)

static float4 multiply_add(float4 sum, float x, float4 w) { return fma(float4(x), w, sum); }

[[max_total_threads_per_threadgroup(THREADS)]]
kernel void matmul_bias_f32(const device float *x [[buffer(0)]], const device float *weight [[buffer(1)]],
                            const device float *bias [[buffer(2)]], device float *y [[buffer(3)]],
                            constant uint &rows [[buffer(4)]], constant uint &columns [[buffer(5)]],
                            constant uint &depth [[buffer(6)]], uint2 block [[threadgroup_position_in_grid]],
                            uint thread_index [[thread_index_in_threadgroup]])
{
    threadgroup float4 x_tile[TILE_ROWS][X_STRIDE];
    threadgroup float4 weight_tile[TILE_DEPTH][TILE_COLUMNS / 4];

    const uint first_row = block.y * TILE_ROWS, first_column = block.x * TILE_COLUMNS;
    const uint thread_column = thread_index % 8, thread_row = thread_index / 8 * THREAD_ROWS;
    const bool has_rows = first_row + thread_row < rows;
    const float4 zero = float4(0.0f);

    float4 left[THREAD_ROWS] = {zero, zero, zero, zero}, right[THREAD_ROWS] = {zero, zero, zero, zero};

    for (uint start = 0; start < depth; start += TILE_DEPTH) {
        for (uint i = thread_index; i < TILE_ROWS * TILE_DEPTH / 4; i += THREADS) {
            const uint row = i / (TILE_DEPTH / 4), quad = i % (TILE_DEPTH / 4);
            const bool inside = first_row + row < rows && start + quad * 4 < depth;
            x_tile[row][quad] = zero;
            if (inside)
                x_tile[row][quad] = *reinterpret_cast<const device float4 *>(x + size_t(first_row + row) * depth +
                                                                             start + quad * 4);
        }
        for (uint i = thread_index; i < TILE_DEPTH * TILE_COLUMNS / 4; i += THREADS) {
            const uint k = i / (TILE_COLUMNS / 4), quad = i % (TILE_COLUMNS / 4);
            const bool inside = start + k < depth && first_column + quad * 4 < columns;
            weight_tile[k][quad] = zero;
            if (inside)
                weight_tile[k][quad] = *reinterpret_cast<const device float4 *>(
                    weight + size_t(start + k) * columns + first_column + quad * 4);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);

        if (has_rows) {
            for (uint quad = 0; quad < TILE_DEPTH / 4; ++quad) {
                float4 xs[THREAD_ROWS];
                for (uint i = 0; i < THREAD_ROWS; ++i)
                    xs[i] = x_tile[thread_row + i][quad];
#pragma unroll
                for (uint k = 0; k < 4; ++k) {
                    const float4 w_left = weight_tile[quad * 4 + k][thread_column];
                    const float4 w_right = weight_tile[quad * 4 + k][8 + thread_column];
#pragma unroll
                    for (uint i = 0; i < THREAD_ROWS; ++i) {
                        left[i] = multiply_add(left[i], xs[i][k], w_left);
                        right[i] = multiply_add(right[i], xs[i][k], w_right);
                    }
                }
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }

    const uint left_column = first_column + thread_column * 4, right_column = left_column + 32;
    for (uint i = 0; i < THREAD_ROWS; ++i) {
        const uint row = first_row + thread_row + i;
        if (row < rows && left_column < columns)
            *reinterpret_cast<device float4 *>(y + size_t(row) * columns + left_column) =
                left[i] + *reinterpret_cast<const device float4 *>(bias + left_column);
        if (row < rows && right_column < columns)
            *reinterpret_cast<device float4 *>(y + size_t(row) * columns + right_column) =
                right[i] + *reinterpret_cast<const device float4 *>(bias + right_column);
    }
}
