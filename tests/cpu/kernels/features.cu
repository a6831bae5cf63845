// What kernels of all kinds lean on, a kernel per trait.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

namespace cg = cooperative_groups;

// ------------------------------------------------------------ warps

__device__ __forceinline__ int warp_sum(int value)
{
    for (int delta = 16; delta > 0; delta /= 2)
        value += __shfl_down_sync(0xffffffff, value, delta);
    return value;
}

extern "C" __global__ void warp_exchange(const int *in, int *out)
{
    int t = threadIdx.x, lane = t & 31, value = in[blockIdx.x * blockDim.x + t];
    int *row = out + (blockIdx.x * blockDim.x + t) * 12;
    row[0] = __shfl_sync(0xffffffff, value, (lane * 7 + 3) & 31);
    row[1] = __shfl_up_sync(0xffffffff, value, 5);
    row[2] = __shfl_down_sync(0xffffffff, value, 6, 16);
    row[3] = __shfl_xor_sync(0xffffffff, value, 9);
    row[4] = __shfl_sync(0xffffffff, value, lane / 2, 8);
    row[5] = __ballot_sync(0xffffffff, value & 4);
    row[6] = __all_sync(0xffffffff, value > -5) * 2 + __any_sync(0xffffffff, value == 77);
    row[7] = __match_any_sync(0xffffffff, value % 5);
    row[8] = __reduce_add_sync(0xffffffff, value);
    row[9] = __reduce_max_sync(0xffffffff, value);
    row[10] = warp_sum(value);
    int odd = 0;
    if (lane & 1)
        odd = __popc(__activemask()) * 100 + __popc(__ballot_sync(0xaaaaaaaa, lane > 10));
    row[11] = odd;
}

extern "C" __global__ void small_block_shuffle(const float *in, float *out)
{
    // A block of fewer than 32 threads that names all 32 lanes.
    float value = in[threadIdx.x];
    for (int mask = 4; mask > 0; mask /= 2)
        value += __shfl_xor_sync(0xffffffff, value, mask);
    out[threadIdx.x] = value;
}

// ------------------------------------------------------------ blocks

extern "C" __global__ void early_exit_scan(const int *in, int *out, int n)
{
    extern __shared__ int dynamic[];
    __shared__ int offset;
    int t = threadIdx.x;
    if (t == 0)
        offset = 1000 * (blockIdx.x + 1);
    if (t >= n)
        return; // the barriers below are met by fewer threads
    dynamic[t] = in[blockIdx.x * n + t];
    __syncthreads();
    for (int delta = 1; delta < n; delta *= 2) {
        int other = t >= delta ? dynamic[t - delta] : 0;
        __syncthreads();
        dynamic[t] += other;
        __syncthreads();
    }
    out[blockIdx.x * n + t] = dynamic[t] + offset;
}

extern "C" __global__ void transpose(const double *in, double *out, int width, int height)
{
    __shared__ double tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void votes_of_block(const int *in, int *out)
{
    int value = in[threadIdx.x];
    int count = __syncthreads_count(value > 3), all = __syncthreads_and(value > 0), any = __syncthreads_or(value == 9);
    if (threadIdx.x == 5)
        *out = count * 100 + all * 10 + any;
}

extern "C" __global__ void named_barriers(int *out)
{
    // Two roles: 64 producers arrive, 32 consumers wait for them.
    __shared__ int data[64];
    int t = threadIdx.x;
    if (t < 64) {
        data[t] = t * t;
        asm volatile("bar.arrive 3, 96;" ::: "memory");
    } else {
        asm volatile("bar.sync 3, 96;" ::: "memory");
        out[t - 64] = data[t - 64] + data[t - 32];
    }
}

// ------------------------------------------------------------ atomics

extern "C" __global__ void atomics(const int *in, int *ints, unsigned long long *wide, float *floats, double *doubles, int n)
{
    __shared__ int bins[8];
    __shared__ float total;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 8)
        bins[t] = 0;
    if (t == 0)
        total = 0;
    __syncthreads();
    if (i < n) {
        int value = in[i];
        atomicAdd(&bins[value & 7], 1);
        atomicAdd(&total, 0.5f);
        atomicAdd(&ints[8], value);
        atomicMin(&ints[9], value);
        atomicMax(&ints[10], value);
        atomicAnd(&ints[11], value | ~0xff);
        atomicOr(&ints[12], value & 0xf0);
        atomicXor(&ints[13], value);
        atomicInc((unsigned *)&ints[14], 6);
        atomicDec((unsigned *)&ints[15], 10);
        atomicAdd(wide, 1ull << (value & 31));
        atomicMax(wide + 1, (unsigned long long)value << 33);
        atomicAdd(floats, 0.25f);
        atomicAdd(doubles, 0.125);
        int old = ints[16], seen;
        do {
            seen = old;
            old = atomicCAS(&ints[16], seen, seen * 2 == 0 ? 3 : seen + 3);
        } while (old != seen);
    }
    __syncthreads();
    if (t < 8)
        atomicAdd(&ints[t], bins[t]);
    if (t == 0)
        atomicAdd(floats + 1, total);
}

extern "C" __global__ void spin_lock(int *lock, int *counter)
{
    // Every thread takes the lock; a holder may be interrupted by any other.
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            int old = *(volatile int *)counter;
            __threadfence();
            *(volatile int *)counter = old + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

extern "C" __global__ void chained_blocks(volatile int *flags, int *out)
{
    // Block n waits for block n - 1, thread 0 for the others' last.
    if (threadIdx.x == blockDim.x - 1) {
        while (blockIdx.x > 0 && flags[blockIdx.x - 1] == 0)
            ;
        __threadfence();
        out[blockIdx.x] = blockIdx.x == 0 ? 1 : out[blockIdx.x - 1] * 2 + 1;
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}

extern "C" __global__ void lock_step(const int *in, int *out)
{
    // The reduction of before Volta: no synchronisation within a warp.
    __shared__ volatile int values[64];
    int t = threadIdx.x;
    values[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) {
        values[t] += values[t + 32];
        values[t] += values[t + 16];
        values[t] += values[t + 8];
        values[t] += values[t + 4];
        values[t] += values[t + 2];
        values[t] += values[t + 1];
    }
    if (t == 0)
        out[blockIdx.x] = values[0];
}

// ------------------------------------------------------------ memory spaces

struct Nested { char tag; double scale; short counts[3]; float factor; };
struct Empty {};

__constant__ float table[5] = {1.5f, 2.5f, 3.5f, 4.5f, 5.5f};
__device__ int counters[3] = {10, 20, 30};
__device__ int *indirect = &counters[1];

extern "C" __global__ void parameters(Nested nested, Empty, bool flag, signed char small, double *out, unsigned short last)
{
    out[0] = nested.tag;
    out[1] = nested.scale;
    out[2] = nested.counts[(int)out[8]];
    out[3] = nested.factor;
    out[4] = flag;
    out[5] = small;
    out[6] = last;
    out[7] = table[threadIdx.x + 2] + counters[2] + *indirect;
}

extern "C" __global__ void local_arrays(const int *in, int *out, int rounds)
{
    int history[24];
    __shared__ int shared[64];
    int t = threadIdx.x;
    for (int k = 0; k < 24; k++)
        history[k] = in[t] * k;
    for (int round = 0; round < rounds; round++) {
        shared[t] = history[(in[t] + round) % 24];
        __syncthreads();
        history[(t + round) % 24] += shared[(t + 1) % blockDim.x];
        __syncthreads();
    }
    int sum = 0;
    for (int k = 0; k < 24; k++)
        sum = sum * 3 + history[k];
    out[t] = sum;
}

__device__ __noinline__ int through_pointer(const int *p, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += p[k] * (k + 1);
    return sum;
}

extern "C" __global__ void generic_pointers(const int *in, int *out)
{
    __shared__ int staged[32];
    __shared__ const int *choice;
    int own[4], t = threadIdx.x;
    staged[t] = in[t] + 100;
    for (int k = 0; k < 4; k++)
        own[k] = in[(t + k) % 32];
    if (t == 0)
        choice = in[0] & 1 ? staged : in;
    __syncthreads();
    const int *pointers[3] = {in, staged, own};
    out[t] = through_pointer(pointers[t % 3], 4) + through_pointer(choice + 8, 2);
}

__device__ __noinline__ float4 structures(float4 a, int2 b, float *side)
{
    *side = a.x * b.x;
    return make_float4(a.y + b.y, a.z * 2, a.w - 1, a.x);
}

extern "C" __global__ void calls(const float4 *in, float4 *out, float *sides)
{
    int t = threadIdx.x;
    float4 result = structures(in[t], make_int2(t, 3), sides + t);
    __syncthreads();
    out[t] = structures(result, make_int2(2, t), sides + 32 + t);
}

__device__ __noinline__ int meets_inside(int *shared, int value)
{
    shared[threadIdx.x] = value;
    __syncthreads();
    int result = shared[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    return result;
}

extern "C" __global__ void barrier_in_function(const int *in, int *out)
{
    __shared__ int shared[48];
    int a = in[threadIdx.x];
    int b = meets_inside(shared, a * 2);
    int c = meets_inside(shared, b + 1);
    out[threadIdx.x] = a * 10000 + b * 100 + c;
}

// ------------------------------------------------------------ control

extern "C" __global__ void branches(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int value = in[i], steps = 0;
    switch (value & 15) {
    case 0: value += 17; break;
    case 1: value *= 3; [[fallthrough]];
    case 2: value ^= 5; break;
    case 3: value = -value; break;
    case 7: value = value / 3; break;
    case 8: value = value % 7; break;
    case 9: value <<= 2; break;
    case 14: out[i] = 12345; return;
    default: value--;
    }
    while (value != 1 && steps < 60) {
        value = value & 1 ? 3 * value + 1 : value / 2;
        if (value < -1000)
            break;
        steps++;
    }
    out[i] = value * 100 + steps;
}

extern "C" __global__ void wide_division(const long long *a, const long long *b, long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[4 * i] = a[i] / b[i];
        out[4 * i + 1] = a[i] % b[i];
        out[4 * i + 2] = (unsigned long long)a[i] / (unsigned long long)b[i];
        out[4 * i + 3] = __mul64hi(a[i], b[i]);
    }
}

// ------------------------------------------------------------ halves

extern "C" __global__ void halves(const __half *a, const __half *b, __half *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half x = a[i], y = b[i];
    __half2 pair = __hfma2(__halves2half2(x, y), __halves2half2(y, x), __float2half2_rn(0.5f));
    __half results[] = {
        __hadd(x, y), __hsub(x, y), __hmul(x, y), __hfma(x, y, x), __hmax(x, y), __hmin(x, y), __hneg(x), __habs(x),
        __low2half(pair), __high2half(pair), __float2half(__half2float(x) * 3.0f), __hgt(x, y) ? x : y, hexp(x), hsqrt(__habs(y)),
        __int2half_rn(i * 37), __hdiv(x, y),
    };
    for (int k = 0; k < sizeof(results) / sizeof(__half); k++)
        out[k * n + i] = results[k];
}

extern "C" __global__ void bfloats(const float *a, const float *b, __nv_bfloat16 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat16 x = __float2bfloat16(a[i]), y = __float2bfloat16(b[i]);
    __nv_bfloat162 pair = __hmul2(__halves2bfloat162(x, y), __halves2bfloat162(y, y));
    __nv_bfloat16 results[] = {x, __hadd(x, y), __hmul(x, y), __hfma(x, y, y), __hmax(x, y), __low2bfloat16(pair),
                               __high2bfloat16(pair)};
    for (int k = 0; k < sizeof(results) / sizeof(__nv_bfloat16); k++)
        out[k * n + i] = results[k];
}

// ------------------------------------------------------------ libraries

extern "C" __global__ void cooperative(const int *in, int *out)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int value = in[block.thread_rank()];
    int sum = cg::reduce(tile, value, cg::plus<int>());
    block.sync();
    int shifted = tile.shfl(value, (tile.thread_rank() + 1) % 8);
    auto active = cg::coalesced_threads();
    out[block.thread_rank()] = sum * 1000 + shifted + (int)active.size() * 1000000;
}

extern "C" __global__ void cub_block(const int *in, int *sorted, int *sums, int *total)
{
    using Sort = cub::BlockRadixSort<int, 64, 2>;
    using Scan = cub::BlockScan<int, 64>;
    using Reduce = cub::BlockReduce<int, 64>;
    __shared__ union { Sort::TempStorage sort; Scan::TempStorage scan; Reduce::TempStorage reduce; } storage;
    int t = threadIdx.x, keys[2] = {in[2 * t], in[2 * t + 1]}, sum;
    Sort(storage.sort).Sort(keys);
    __syncthreads();
    sorted[2 * t] = keys[0];
    sorted[2 * t + 1] = keys[1];
    Scan(storage.scan).ExclusiveSum(in[t], sum);
    __syncthreads();
    sums[t] = sum;
    int all = Reduce(storage.reduce).Reduce(in[t], cuda::maximum<int>{});
    if (t == 0)
        *total = all;
}

// ------------------------------------------------------------ faults

extern "C" __global__ void traps(int *out, int bad)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    if (blockIdx.x * blockDim.x + threadIdx.x == bad)
        __trap();
}

extern "C" __global__ void recursive(int *out);
__device__ __noinline__ int depth_of(int n) { return n <= 1 ? 1 : depth_of(n - 1) + depth_of(n - 2); }
extern "C" __global__ void recursive(int *out) { *out = depth_of(*out); }

__device__ __noinline__ int plus_one(int x) { return x + 1; }
__device__ __noinline__ int plus_two(int x) { return x + 2; }
__device__ int (*functions[2])(int) = {plus_one, plus_two};
extern "C" __global__ void function_pointers(int *out) { *out = functions[*out & 1](*out); }
