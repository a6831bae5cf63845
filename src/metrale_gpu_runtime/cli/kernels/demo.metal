// The kernels of `metrale-gpu demo` for Metal, which compiles them on the machine it runs on.
#include <metal_stdlib>
using namespace metal;

kernel void scale_add(const device float *x [[buffer(0)]], device float *y [[buffer(1)]],
                      constant uint &count [[buffer(2)]], constant float &factor [[buffer(3)]],
                      uint i [[thread_position_in_grid]])
{
    if (i < count)
        y[i] = factor * x[i] + y[i];
}

// The mistake of the demo: `<=` writes one element too many.
kernel void fill_one_too_many(device float *y [[buffer(0)]], constant uint &count [[buffer(1)]],
                              constant float &value [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    if (i <= count)
        y[i] = value;
}
