// GELU in its exact form, x * Phi(x), in place; BERT's "gelu" is this one, not the tanh approximation.
//
// One thread per value; grid and block of any size that covers count.

extern "C" __global__ void gelu_f32(float *values, unsigned int count)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const float x = values[i];
        values[i] = 0.5f * x * (1.0f + erff(x * 0.70710678f));
    }
}
