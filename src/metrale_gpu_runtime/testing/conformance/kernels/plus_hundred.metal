// The other of two modules with a kernel of the same name.
#include <metal_stdlib>
using namespace metal;

kernel void transform(device uint *out [[buffer(0)]], const device uint *in [[buffer(1)]],
                      constant uint &count [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    if (i < count) out[i] = in[i] + 100;
}
