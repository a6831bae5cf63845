// The kernels of the small examples for Metal: those of kernels.cu but for on_line, whose numbers are doubles, which
// Metal does not have.
#include <metal_stdlib>
using namespace metal;

kernel void vector_add(const device float *a [[buffer(0)]], const device float *b [[buffer(1)]],
                       device float *sum [[buffer(2)]], constant uint &count [[buffer(3)]],
                       uint i [[thread_position_in_grid]])
{
    if (i < count)
        sum[i] = a[i] + b[i];
}

kernel void scale(device float *values [[buffer(0)]], constant uint &count [[buffer(1)]],
                  constant float &factor [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    if (i < count)
        values[i] *= factor;
}

kernel void add_constant(device float *values [[buffer(0)]], constant uint &count [[buffer(1)]],
                         constant float &addend [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    if (i < count)
        values[i] += addend;
}

// The mistake of catch_an_overrun.py: `<=` writes one element too many.
kernel void fill_one_too_many(device float *values [[buffer(0)]], constant uint &count [[buffer(1)]],
                              constant float &value [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    if (i <= count)
        values[i] = value;
}
