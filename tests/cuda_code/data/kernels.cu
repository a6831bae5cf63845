// Kernels whose parameters and block sizes differ in every field.
struct Settings { float gain; double bias; char mode; };
struct Large { char bytes[20000]; };

extern "C" __global__ void __launch_bounds__(192) scale(
    float* out, const float* in, float factor, int count, Settings settings, unsigned short offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i] * factor + settings.bias + offset;
}
template <typename T> __global__ void fill(T* out, T value, long long count) {
  if (threadIdx.x < count) out[threadIdx.x] = value;
}
template __global__ void fill<double>(double*, double, long long);
extern "C" __global__ void __block_size__((32, 3, 1)) fixed(int* out, char step) { out[threadIdx.x] = step; }
extern "C" __global__ void large(Large large, int* out) { *out = large.bytes[threadIdx.x]; }
extern "C" __global__ void bare() {}
