// Control flow that not all threads share, in the shapes that running a block at a time has to get right.

extern "C" __global__ void nested_loops(const int *counts, const int *values, int *out, int n)
{
    // Both loops end for each thread at another time; values go in, around and out of them.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int total = 1, last = -1;
    for (int a = 0; a < counts[i]; a++) {
        int inner = values[(i + a) % n];
        while (inner > 3) {
            total = total * 31 + inner;
            inner = inner % 2 ? inner - 3 : inner / 2;
        }
        last = inner + a;
        if (total % 7 == 0)
            continue;
        total += a;
        if (total % 97 == 5)
            break;
    }
    out[2 * i] = total;
    out[2 * i + 1] = last;
}

extern "C" __global__ void two_sides(const int *in, int *out, int rounds)
{
    // Each side loops as often as all threads agree; both change the same variable, one of them another that lives on.
    __shared__ int staged[96];
    int t = threadIdx.x, value = in[blockIdx.x * blockDim.x + t], extra = t;
    staged[t] = value;
    __syncthreads();
    if (value & 1) {
        for (int k = 0; k < rounds; k++)
            value += staged[(t + k) % blockDim.x] * k;
    } else {
        for (int k = 1; k < rounds + 3; k++) {
            value ^= staged[(t * k) % blockDim.x] + k;
            extra = k;
        }
    }
    __syncthreads();
    out[(blockIdx.x * blockDim.x + t) * 2] = value;
    out[(blockIdx.x * blockDim.x + t) * 2 + 1] = extra;
}

extern "C" __global__ void strided(const float *in, float *out, int columns)
{
    // The loops of every row-wise kernel: threads begin apart and advance together, forwards, backwards, by pointer.
    __shared__ float sums[64];
    const float *row = in + blockIdx.x * columns;
    int t = threadIdx.x;
    float sum = 0;
    for (int j = t; j < columns; j += blockDim.x)
        sum += row[j] * (j + 1);
    for (int j = columns - 1 - t; j >= 0; j -= blockDim.x)
        sum += row[j];
    const float *p = row + t, *end = row + columns;
    while (p < end) {
        sum += *p * 2;
        p += blockDim.x;
    }
    sums[t] = sum;
    __syncthreads();
    float total = 0;
    for (int k = 0; k < blockDim.x; k++)
        total += sums[k];
    for (int j = t; j < columns; j += blockDim.x)
        out[blockIdx.x * columns + j] = row[j] + total;
}

extern "C" __global__ void one_thread(const int *in, int *out, int n)
{
    // One thread works, then a few, then every second one: far fewer than the block has.
    __shared__ int results[3];
    int t = threadIdx.x;
    if (t < 3)
        results[t] = 0;
    __syncthreads();
    if (t == 5) {
        int total = 0;
        for (int k = 0; k < n; k++)
            total = total * 3 + in[k];
        results[0] = total;
    }
    if (t < 3) {
        int total = t;
        for (int k = t; k < n; k += 3)
            total ^= in[k] << t;
        atomicAdd(&results[1], total);
    }
    __syncthreads();
    int steps = 0;
    for (int x = in[t % n] & 63; x != 1 && steps < 40 && x > 0; steps++)
        x = x & 1 ? 3 * x + 1 : x / 2;
    out[blockIdx.x * blockDim.x + t] = results[0] + results[1] * 7 + steps;
}

extern "C" __global__ void first_warp(const float *in, float *out)
{
    // The block reduction that everybody writes: shuffles of all, then of the first warp alone.
    __shared__ float partial[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float value = in[blockIdx.x * blockDim.x + t];
    for (int delta = 16; delta > 0; delta /= 2)
        value += __shfl_down_sync(0xffffffff, value, delta);
    if (lane == 0)
        partial[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
        for (int delta = 16; delta > 0; delta /= 2)
            value += __shfl_down_sync(0xffffffff, value, delta);
        if (lane == 0)
            out[blockIdx.x] = value;
    }
}

extern "C" __global__ void per_block(const float *__restrict__ scales, const float *__restrict__ in, float *out, int n)
{
    // What all threads of a block read is read once; blocks past the end must not read it at all.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float scale = scales[blockIdx.x];
    float sum = 0;
    for (int k = 0; k < (int)scales[blockIdx.x]; k++)
        sum += in[i] * k;
    out[i] = sum + scale;
}

extern "C" __global__ void leaving_a_loop(const int *in, int *out, int rounds)
{
    // Threads end inside of a loop that the others go on with, barriers included.
    __shared__ int shared[80];
    int t = threadIdx.x, value = in[blockIdx.x * blockDim.x + t];
    shared[t] = value;
    for (int k = 0; k < rounds; k++) {
        __syncthreads();
        if (value == k) {
            out[blockIdx.x * blockDim.x + t] = -k;
            return;
        }
        shared[t] += k;
    }
    out[blockIdx.x * blockDim.x + t] = shared[t];
}

extern "C" __global__ void votes_in_loops(const int *in, unsigned *out)
{
    // Warps leave a loop by their own votes, at different times; inside, lanes vote under a branch.
    int t = threadIdx.x, value = in[blockIdx.x * blockDim.x + t];
    unsigned history = 0, turns = 0;
    while (__any_sync(0xffffffff, value > 0)) {
        unsigned odd = __ballot_sync(0xffffffff, value & 1);
        history = history * 5 + __popc(odd);
        int from_next = __shfl_sync(0xffffffff, value, (t + 1) % 32);
        value = value / 2 - (from_next == 0);
        turns++;
    }
    out[(blockIdx.x * blockDim.x + t) * 2] = history;
    out[(blockIdx.x * blockDim.x + t) * 2 + 1] = turns;
}

extern "C" __global__ void cube(int *out)
{
    // Three dimensions that are no powers of two; the linear number decides warps.
    __shared__ int sums[8];
    int linear = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (linear < 8)
        sums[linear] = 0;
    __syncthreads();
    atomicAdd(&sums[linear / 32], threadIdx.x * 100 + threadIdx.y * 10 + threadIdx.z);
    int up = __shfl_up_sync(0xffffffff, linear, 3);
    __syncthreads();
    int *row = out + (((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * 105 + linear) * 3;
    row[0] = sums[linear / 32];
    row[1] = up;
    row[2] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z;
}

extern "C" __global__ void barrier_for_some(int *out)
{
    // Those that do not come to the barrier have ended when the others wait: that is enough.
    __shared__ int shared[64];
    int t = threadIdx.x;
    if (t < 40) {
        shared[t] = t * 3;
        __syncthreads();
        out[t] = shared[39 - t];
    } else {
        out[t] = -1;
    }
}

extern "C" __global__ void missing_lane(int *out)
{
    // Lane 3 never comes to a shuffle that names it, but ends.
    int t = threadIdx.x, value = t;
    if (t % 32 != 3 || blockIdx.x == 0)
        value = __shfl_xor_sync(0xffffffff, value, 1);
    out[blockIdx.x * blockDim.x + t] = value;
}
