// y = x * weight + bias, with x [rows][depth], weight [depth][columns], bias [columns], y [rows][columns].
//
// Block: exactly 64 threads. Grid: (columns / 64, rows / 32), both rounded up. columns and depth are multiples of 4.
//
// A block computes 32 x 64 outputs from tiles of 32 along the depth in shared memory; a thread keeps 4 x 8 of them in
// registers, so that twelve 16-byte loads from shared memory feed 128 multiply-adds. The eight columns of a thread
// are two runs of four, 32 apart: the eight threads that share a row then read 128 bytes in a row, without bank
// conflicts, and the four rows of a thread are neighbours, so that threads below the last row skip the arithmetic.

#define TILE_ROWS 32
#define TILE_COLUMNS 64
#define TILE_DEPTH 32
#define THREADS 64
#define THREAD_ROWS 4
// One more float4 per row: writing a tile by rows and reading it by columns then hits different banks.
#define X_STRIDE (TILE_DEPTH / 4 + 1)

__device__ void multiply_add(float4 &sum, float x, float4 w)
{
    sum.x = fmaf(x, w.x, sum.x);
    sum.y = fmaf(x, w.y, sum.y);
    sum.z = fmaf(x, w.z, sum.z);
    sum.w = fmaf(x, w.w, sum.w);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    matmul_bias_f32(const float *__restrict__ x, const float *__restrict__ weight, const float *__restrict__ bias,
                    float *__restrict__ y, unsigned int rows, unsigned int columns, unsigned int depth)
{
    __shared__ float4 x_tile[TILE_ROWS][X_STRIDE];
    __shared__ float4 weight_tile[TILE_DEPTH][TILE_COLUMNS / 4];

    const unsigned int first_row = blockIdx.y * TILE_ROWS, first_column = blockIdx.x * TILE_COLUMNS;
    const unsigned int thread_column = threadIdx.x % 8, thread_row = threadIdx.x / 8 * THREAD_ROWS;
    const bool has_rows = first_row + thread_row < rows;
    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    float4 left[THREAD_ROWS] = {zero, zero, zero, zero}, right[THREAD_ROWS] = {zero, zero, zero, zero};

    for (unsigned int start = 0; start < depth; start += TILE_DEPTH) {
#pragma unroll
        for (unsigned int i = threadIdx.x; i < TILE_ROWS * TILE_DEPTH / 4; i += THREADS) {
            const unsigned int row = i / (TILE_DEPTH / 4), quad = i % (TILE_DEPTH / 4);
            const bool inside = first_row + row < rows && start + quad * 4 < depth;
            x_tile[row][quad] = inside ? *reinterpret_cast<const float4 *>(x + size_t(first_row + row) * depth +
                                                                           start + quad * 4)
                                       : zero;
        }
#pragma unroll
        for (unsigned int i = threadIdx.x; i < TILE_DEPTH * TILE_COLUMNS / 4; i += THREADS) {
            const unsigned int k = i / (TILE_COLUMNS / 4), quad = i % (TILE_COLUMNS / 4);
            const bool inside = start + k < depth && first_column + quad * 4 < columns;
            weight_tile[k][quad] = inside ? *reinterpret_cast<const float4 *>(weight + size_t(start + k) * columns +
                                                                              first_column + quad * 4)
                                          : zero;
        }
        __syncthreads();

        if (has_rows) {
#pragma unroll 1
            for (unsigned int quad = 0; quad < TILE_DEPTH / 4; ++quad) {
                float4 xs[THREAD_ROWS];
#pragma unroll
                for (unsigned int i = 0; i < THREAD_ROWS; ++i)
                    xs[i] = x_tile[thread_row + i][quad];
#pragma unroll
                for (unsigned int k = 0; k < 4; ++k) {
                    const float4 w_left = weight_tile[quad * 4 + k][thread_column];
                    const float4 w_right = weight_tile[quad * 4 + k][8 + thread_column];
#pragma unroll
                    for (unsigned int i = 0; i < THREAD_ROWS; ++i) {
                        const float factor = k == 0 ? xs[i].x : k == 1 ? xs[i].y : k == 2 ? xs[i].z : xs[i].w;
                        multiply_add(left[i], factor, w_left);
                        multiply_add(right[i], factor, w_right);
                    }
                }
            }
        }
        __syncthreads();
    }

    const unsigned int left_column = first_column + thread_column * 4, right_column = left_column + 32;
#pragma unroll
    for (unsigned int i = 0; i < THREAD_ROWS; ++i) {
        const unsigned int row = first_row + thread_row + i;
        if (row < rows && left_column < columns) {
            const float4 b = *reinterpret_cast<const float4 *>(bias + left_column);
            *reinterpret_cast<float4 *>(y + size_t(row) * columns + left_column) =
                make_float4(left[i].x + b.x, left[i].y + b.y, left[i].z + b.z, left[i].w + b.w);
        }
        if (row < rows && right_column < columns) {
            const float4 b = *reinterpret_cast<const float4 *>(bias + right_column);
            *reinterpret_cast<float4 *>(y + size_t(row) * columns + right_column) =
                make_float4(right[i].x + b.x, right[i].y + b.y, right[i].z + b.z, right[i].w + b.w);
        }
    }
}
