// The kernels of `metrale-gpu demo`. Compiled to demo.ptx, which the package carries.

extern "C" __global__ void scale_add(const float* x, float* y, unsigned int count, float factor)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] = factor * x[i] + y[i];
}

// The mistake of the demo: `<=` writes one element too many.
extern "C" __global__ void fill_one_too_many(float* y, unsigned int count, float value)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= count)
        y[i] = value;
}
