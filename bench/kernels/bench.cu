// The same four jobs as bench.cl, line by line: what is compared is the runtime, not the algorithm.

#define TILE 16

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, unsigned int count)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void softmax_rows(const float* x, float* y, unsigned int rows, unsigned int columns)
{
    unsigned int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float* from = x + (size_t)row * columns;
    float* to = y + (size_t)row * columns;
    float highest = from[0];
    for (unsigned int j = 1; j < columns; ++j)
        highest = fmaxf(highest, from[j]);
    float sum = 0.0f;
    for (unsigned int j = 0; j < columns; ++j) {
        float e = expf(from[j] - highest);
        to[j] = e;
        sum += e;
    }
    for (unsigned int j = 0; j < columns; ++j)
        to[j] /= sum;
}

extern "C" __global__ void reduce_sum(const float* x, float* partial, unsigned int count)
{
    __shared__ float sums[256];
    unsigned int t = threadIdx.x;
    unsigned int start = blockIdx.x * 2048 + t;
    float sum = 0.0f;
    for (unsigned int k = 0; k < 8; ++k) {
        unsigned int i = start + k * 256;
        if (i < count)
            sum += x[i];
    }
    sums[t] = sum;
    __syncthreads();
    for (unsigned int step = 128; step > 0; step /= 2) {
        if (t < step)
            sums[t] += sums[t + step];
        __syncthreads();
    }
    if (t == 0)
        partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void softmax_blocks(const float* x, float* y, unsigned int columns)
{
    __shared__ float shared[128];
    unsigned int t = threadIdx.x;
    const float* from = x + (size_t)blockIdx.x * columns;
    float* to = y + (size_t)blockIdx.x * columns;
    float highest = -3.402823466e38f;
    for (unsigned int j = t; j < columns; j += 128)
        highest = fmaxf(highest, from[j]);
    shared[t] = highest;
    __syncthreads();
    for (unsigned int step = 64; step > 0; step /= 2) {
        if (t < step)
            shared[t] = fmaxf(shared[t], shared[t + step]);
        __syncthreads();
    }
    highest = shared[0];
    __syncthreads();
    float sum = 0.0f;
    for (unsigned int j = t; j < columns; j += 128) {
        float e = expf(from[j] - highest);
        to[j] = e;
        sum += e;
    }
    shared[t] = sum;
    __syncthreads();
    for (unsigned int step = 64; step > 0; step /= 2) {
        if (t < step)
            shared[t] += shared[t + step];
        __syncthreads();
    }
    sum = shared[0];
    for (unsigned int j = t; j < columns; j += 128)
        to[j] /= sum;
}

extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, unsigned int n)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    unsigned int tx = threadIdx.x, ty = threadIdx.y;
    unsigned int column = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
    float sum = 0.0f;
    for (unsigned int k = 0; k < n; k += TILE) {
        tile_a[ty][tx] = a[row * n + k + tx];
        tile_b[ty][tx] = b[(k + ty) * n + column];
        __syncthreads();
        for (unsigned int i = 0; i < TILE; ++i)
            sum += tile_a[ty][i] * tile_b[i][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
