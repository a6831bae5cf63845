// GELU in its exact form, x * Phi(x), in place; BERT's "gelu" is this one, not the tanh approximation.
//
// One thread per value; grid and block of any size that covers count.

kernel void gelu_f32(global float *values, uint count)
{
    const uint i = get_global_id(0);
    if (i < count) {
        const float x = values[i];
        values[i] = 0.5f * x * (1.0f + erf(x * 0.70710678f));
    }
}
