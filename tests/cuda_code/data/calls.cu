// Calls a function that defines.cu has.
extern "C" __device__ float twice(float x);
extern "C" __global__ void apply(float* values, int count) {
  if (threadIdx.x < count) values[threadIdx.x] = twice(values[threadIdx.x]);
}
