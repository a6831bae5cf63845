// Kernels for devices that bind arguments one by one: what CUDA's suite has no words for.
#include <metal_stdlib>
using namespace metal;

constant uint FACTOR [[function_constant(0)]];
constant bool NEGATED [[function_constant(1)]];

kernel void specialised(device int *out [[buffer(0)]], constant uint &count [[buffer(1)]],
                        uint i [[thread_position_in_grid]])
{
    if (i >= count) return;
    int value = int(FACTOR * i + 1);
    out[i] = NEGATED ? -value : value;
}

// A value of any size: whoever binds it puts it where it fits.
kernel void echo_bytes(device uchar *out [[buffer(0)]], constant uchar *bytes [[buffer(1)]],
                       constant uint &count [[buffer(2)]], uint i [[thread_position_in_grid]],
                       uint step [[threads_per_grid]])
{
    for (uint at = i; at < count; at += step) out[at] = bytes[at];
}

// Each block turns its part round by way of local memory that is an argument.
kernel void reverse_local(device uint *values [[buffer(0)]], threadgroup uint *part [[threadgroup(0)]],
                          uint i [[thread_position_in_grid]], uint own [[thread_position_in_threadgroup]],
                          uint width [[threads_per_threadgroup]])
{
    part[own] = values[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    values[i] = part[width - 1 - own];
}

// Anything of a size: bytes are no type, so that each scalar of that size may be given.
struct Any8 { uchar bytes[1]; };
struct Any16 { uchar bytes[2]; };
struct Any32 { uchar bytes[4]; };
struct Any64 { uchar bytes[8]; };

kernel void any_8(device Any8 *out [[buffer(0)]], constant Any8 &value [[buffer(1)]],
                  uint i [[thread_position_in_grid]])
{
    if (i == 0) *out = value;
}

kernel void any_16(device Any16 *out [[buffer(0)]], constant Any16 &value [[buffer(1)]],
                   uint i [[thread_position_in_grid]])
{
    if (i == 0) *out = value;
}

kernel void any_32(device Any32 *out [[buffer(0)]], constant Any32 &value [[buffer(1)]],
                   uint i [[thread_position_in_grid]])
{
    if (i == 0) *out = value;
}

kernel void any_64(device Any64 *out [[buffer(0)]], constant Any64 &value [[buffer(1)]],
                   uint i [[thread_position_in_grid]])
{
    if (i == 0) *out = value;
}

// Two parameters that are only read, for one buffer behind both.
kernel void added(device uint *out [[buffer(0)]], const device uint *a [[buffer(1)]],
                  const device uint *b [[buffer(2)]], constant uint &count [[buffer(3)]],
                  uint i [[thread_position_in_grid]])
{
    if (i < count) out[i] = a[i] + b[i];
}
