// The same four jobs as bench.cu, line by line: what is compared is the runtime, not the algorithm.

#define TILE 16

kernel void vector_add(global const float* a, global const float* b, global float* c, uint count)
{
    uint i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (i < count)
        c[i] = a[i] + b[i];
}

kernel void softmax_rows(global const float* x, global float* y, uint rows, uint columns)
{
    uint row = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (row >= rows)
        return;
    global const float* from = x + (size_t)row * columns;
    global float* to = y + (size_t)row * columns;
    float highest = from[0];
    for (uint j = 1; j < columns; ++j)
        highest = fmax(highest, from[j]);
    float sum = 0.0f;
    for (uint j = 0; j < columns; ++j) {
        float e = exp(from[j] - highest);
        to[j] = e;
        sum += e;
    }
    for (uint j = 0; j < columns; ++j)
        to[j] /= sum;
}

kernel void reduce_sum(global const float* x, global float* partial, uint count)
{
    local float sums[256];
    uint t = get_local_id(0);
    uint start = get_group_id(0) * 2048 + t;
    float sum = 0.0f;
    for (uint k = 0; k < 8; ++k) {
        uint i = start + k * 256;
        if (i < count)
            sum += x[i];
    }
    sums[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 128; step > 0; step /= 2) {
        if (t < step)
            sums[t] += sums[t + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        partial[get_group_id(0)] = sums[0];
}

kernel void softmax_blocks(global const float* x, global float* y, uint columns)
{
    local float shared[128];
    uint t = get_local_id(0);
    global const float* from = x + (size_t)get_group_id(0) * columns;
    global float* to = y + (size_t)get_group_id(0) * columns;
    float highest = -3.402823466e38f;
    for (uint j = t; j < columns; j += 128)
        highest = fmax(highest, from[j]);
    shared[t] = highest;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 64; step > 0; step /= 2) {
        if (t < step)
            shared[t] = fmax(shared[t], shared[t + step]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    highest = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (uint j = t; j < columns; j += 128) {
        float e = exp(from[j] - highest);
        to[j] = e;
        sum += e;
    }
    shared[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 64; step > 0; step /= 2) {
        if (t < step)
            shared[t] += shared[t + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum = shared[0];
    for (uint j = t; j < columns; j += 128)
        to[j] /= sum;
}

kernel void matmul_tiled(global const float* a, global const float* b, global float* c, uint n)
{
    local float tile_a[TILE][TILE];
    local float tile_b[TILE][TILE];
    uint tx = get_local_id(0), ty = get_local_id(1);
    uint column = get_group_id(0) * TILE + tx, row = get_group_id(1) * TILE + ty;
    float sum = 0.0f;
    for (uint k = 0; k < n; k += TILE) {
        tile_a[ty][tx] = a[row * n + k + tx];
        tile_b[ty][tx] = b[(k + ty) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; ++i)
            sum += tile_a[ty][i] * tile_b[i][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
