// The other of two modules with a kernel of the same name.
extern "C" __global__ void transform(unsigned int *out, const unsigned int *in, unsigned int count)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i] + 100;
}
