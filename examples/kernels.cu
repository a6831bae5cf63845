// The kernels of the small examples. Compiled to kernels.ptx, so that the examples need no CUDA compiler.

extern "C" __global__ void vector_add(const float* a, const float* b, float* sum, unsigned int count)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        sum[i] = a[i] + b[i];
}

extern "C" __global__ void scale(float* values, unsigned int count, float factor)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] *= factor;
}

extern "C" __global__ void add_constant(float* values, unsigned int count, float constant)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] += constant;
}

// The mistake of catch_an_overrun.py: `<=` writes one element too many.
extern "C" __global__ void fill_one_too_many(float* values, unsigned int count, float value)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= count)
        values[i] = value;
}

struct Line
{
    char axis;
    double slope;
    int offset;
};

extern "C" __global__ void on_line(const double* x, double* y, unsigned int count, Line line)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] = line.slope * x[i] + line.offset + (line.axis == 'y' ? 0.5 : 0.0);
}
