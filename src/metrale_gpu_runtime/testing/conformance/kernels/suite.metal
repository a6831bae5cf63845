// The kernels of the conformance suite for Metal: those of suite.cu, as far as Metal has them.
//
// Metal has no double: echo_f64 is not here, and where the others have a double among their arguments stand the eight
// bytes of one, which the kernels only pass on. Names are not mangled, and there are no variables that a host can
// reach, so that `table` is a constant.
#include <metal_stdlib>
using namespace metal;

// Not commutative, so that two launches in the wrong order show.
kernel void affine(device uint *values [[buffer(0)]], constant uint &count [[buffer(1)]],
                   constant uint &factor [[buffer(2)]], constant uint &addend [[buffer(3)]],
                   uint i [[thread_position_in_grid]])
{
    if (i < count) values[i] = values[i] * factor + addend;
}

kernel void scale_add(const device float *x [[buffer(0)]], device float *y [[buffer(1)]],
                      constant uint &count [[buffer(2)]], constant float &factor [[buffer(3)]],
                      uint i [[thread_position_in_grid]])
{
    if (i < count) y[i] = factor * x[i] + y[i];
}

kernel void sum_i32(const device int *x [[buffer(0)]], device int *out [[buffer(1)]],
                    constant uint &count [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    if (i != 0) return;
    int sum = 0;
    for (uint k = 0; k < count; k++) sum += x[k];
    *out = sum;
}

kernel void echo_8(device uchar *out [[buffer(0)]], constant uchar &value [[buffer(1)]],
                   uint i [[thread_position_in_grid]])
{
    if (i == 0) *out = value;
}

kernel void echo_16(device ushort *out [[buffer(0)]], constant ushort &value [[buffer(1)]],
                    uint i [[thread_position_in_grid]])
{
    if (i == 0) *out = value;
}

kernel void echo_32(device uint *out [[buffer(0)]], constant uint &value [[buffer(1)]],
                    uint i [[thread_position_in_grid]])
{
    if (i == 0) *out = value;
}

kernel void echo_64(device ulong *out [[buffer(0)]], constant ulong &value [[buffer(1)]],
                    uint i [[thread_position_in_grid]])
{
    if (i == 0) *out = value;
}

kernel void echo_f32(device float *out [[buffer(0)]], constant float &value [[buffer(1)]],
                     uint i [[thread_position_in_grid]])
{
    if (i == 0) *out = value;
}

struct TensorMap { uchar bytes[128]; };

// Small and wide arguments by turns: every one needs its own place.
kernel void mixed(device uchar *out [[buffer(0)]], constant uchar &a [[buffer(1)]], constant ulong &b [[buffer(2)]],
                  constant ushort &c [[buffer(3)]], constant ulong &d [[buffer(4)]], constant uint &e [[buffer(5)]],
                  uint i [[thread_position_in_grid]])
{
    if (i != 0) return;
    out[0] = a;
    for (uint k = 0; k < 8; k++) out[1 + k] = (uchar)(b >> (8 * k));
    for (uint k = 0; k < 2; k++) out[9 + k] = (uchar)(c >> (8 * k));
    for (uint k = 0; k < 8; k++) out[11 + k] = (uchar)(d >> (8 * k));
    for (uint k = 0; k < 4; k++) out[19 + k] = (uchar)(e >> (8 * k));
}

kernel void tensor_map(device uchar *out [[buffer(0)]], constant uchar &before [[buffer(1)]],
                       constant TensorMap &map [[buffer(2)]], constant uchar &after [[buffer(3)]],
                       uint i [[thread_position_in_grid]])
{
    if (i < 128) out[1 + i] = map.bytes[i];
    if (i == 0) { out[0] = before; out[129] = after; }
}

struct Gapped { char a; ulong bits_of_b; int c; };

kernel void gapped(device ulong *out [[buffer(0)]], constant Gapped &s [[buffer(1)]],
                   uint i [[thread_position_in_grid]])
{
    if (i != 0) return;
    out[0] = (ulong)(long)s.a;
    out[1] = s.bits_of_b;
    out[2] = (ulong)(long)s.c;
}

// Six words for every thread: its threadgroup, its place in the threadgroup.
kernel void whereabouts(device uint *out [[buffer(0)]], uint3 group [[threadgroup_position_in_grid]],
                        uint3 groups [[threadgroups_per_grid]], uint3 at [[thread_position_in_threadgroup]],
                        uint3 size [[threads_per_threadgroup]])
{
    uint block = group.x + groups.x * (group.y + groups.y * group.z);
    uint place = at.x + size.x * (at.y + size.y * at.z);
    device uint *mine = out + 6 * (size_t)(block * (size.x * size.y * size.z) + place);
    mine[0] = group.x; mine[1] = group.y; mine[2] = group.z;
    mine[3] = at.x; mine[4] = at.y; mine[5] = at.z;
}

// Each threadgroup turns its part round by way of threadgroup memory whose length the launch says.
kernel void reverse_blocks(device uint *values [[buffer(0)]], threadgroup uint *part [[threadgroup(0)]],
                           uint i [[thread_position_in_grid]], uint at [[thread_position_in_threadgroup]],
                           uint size [[threads_per_threadgroup]])
{
    part[at] = values[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    values[i] = part[size - 1 - at];
}

[[max_total_threads_per_threadgroup(64)]]
kernel void at_most_64(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    out[i] = i + 7;
}

kernel void write_at(device int *out [[buffer(0)]], constant long &index [[buffer(1)]],
                     constant int &value [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    if (i == 0) out[index] = value;
}

// A pointer in memory is a member of a structure: a parameter may not point to pointers.
struct Reference { device uint *to; };

// Reaches memory through memory: the launch names the table only.
kernel void follow(const device Reference *table [[buffer(0)]], constant uint &count [[buffer(1)]],
                   constant uint &value [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    if (i < count) table[i].to[0] = value + i;
}

kernel void is_null(device uint *out [[buffer(0)]], const device void *pointer [[buffer(1)]],
                    uint i [[thread_position_in_grid]])
{
    if (i == 0) *out = pointer == nullptr ? 11 : 22;
}

// Metal has no trap: a write 256 GiB before the buffer falls on memory that nobody has.
kernel void trap_if(device uint *out [[buffer(0)]], constant uint &flag [[buffer(1)]],
                    uint i [[thread_position_in_grid]])
{
    if (i != 0) return;
    if (flag != 0) {
        volatile device uint *nowhere = out - (1ul << 36);
        *nowhere = 1;
    }
    *out = 33;
}

constant uint table[3] = {301, 302, 303};

kernel void add_table(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    if (i < 3) out[i] = table[i] + 1;
}
