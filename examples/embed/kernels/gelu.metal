// GELU in its exact form, x * Phi(x), in place; BERT's "gelu" is this one, not the tanh approximation.
//
// One thread per value; grid and block of any size that covers count.
#include <metal_stdlib>
using namespace metal;

// Metal has no erf. Below 1 it is x times a polynomial of x^2; from there 1 - exp(-x^2) times a polynomial of
// 1 / (1 + x / 2), and from 4 on 1. Both are least-squares fits; the error stays below 1.2e-7.
static float error_function(float x)
{
    const float size = fabs(x), square = x * x;
    if (size < 1.0f) {
        float p = -0.00056541059f;
        p = fma(p, square, 0.0049232775f);
        p = fma(p, square, -0.026716385f);
        p = fma(p, square, 0.11280365f);
        p = fma(p, square, -0.37612349f);
        return x * fma(p, square, 1.1283791f);
    }
    if (size >= 4.0f)
        return copysign(1.0f, x);
    const float t = 1.0f / fma(0.5f, size, 1.0f);
    float p = -0.053540617f;
    p = fma(p, t, -0.057338737f);
    p = fma(p, t, 0.40383837f);
    p = fma(p, t, 0.10126825f);
    p = fma(p, t, 0.33084068f);
    p = fma(p, t, 0.27361816f);
    p = fma(p, t, 0.00060640875f);
    return copysign(1.0f - exp(-square) * p, x);
}

kernel void gelu_f32(device float *values [[buffer(0)]], constant uint &count [[buffer(1)]],
                     uint i [[thread_position_in_grid]])
{
    if (i < count) {
        const float x = values[i];
        values[i] = 0.5f * x * (1.0f + error_function(x * 0.70710678f));
    }
}
