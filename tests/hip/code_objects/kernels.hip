// Kernels whose metadata can tell: different sizes side by side, a structure, hidden arguments, a C++ name.
struct Pair {
    double first;
    char second;
};

extern "C" __global__ void scale(float *out, const float *in, unsigned n, float factor, unsigned char flag, Pair pair)
{
    extern __shared__ float scratch[];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    scratch[i & 7] = in[i];
    if (i < n) out[i] = scratch[i & 7] * factor + flag + float(pair.first) + pair.second;
}

__device__ int counter = 41;

template <typename T> __global__ void add(T *values, T step) { values[threadIdx.x] += step; }
template __global__ void add<double>(double *, double);

extern "C" __global__ __launch_bounds__(96) void nothing() {}

extern "C" __global__ void tables(unsigned *out)
{
    __shared__ unsigned part[33];
    part[threadIdx.x % 33] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[(threadIdx.x + 5) % 33];
}
