// The kernels of the conformance suite for OpenCL: those of suite.cu, as far as OpenCL C has them.
//
// Where a device has no double, the eight bytes of one stand for it, which the kernels only pass on. Names are not
// mangled, and there are no variables that a host can reach, so that `table` is a constant.
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double wide;
#define BITS(value) as_ulong(value)
#else
typedef ulong wide;
#define BITS(value) (value)
#endif

// Not commutative, so that two launches in the wrong order show.
kernel void affine(global uint *values, uint count, uint factor, uint addend)
{
    uint i = get_global_id(0);
    if (i < count) values[i] = values[i] * factor + addend;
}

kernel void scale_add(global const float *x, global float *y, uint count, float factor)
{
    uint i = get_global_id(0);
    if (i < count) y[i] = factor * x[i] + y[i];
}

kernel void sum_i32(global const int *x, global int *out, uint count)
{
    if (get_global_id(0) != 0) return;
    int sum = 0;
    for (uint i = 0; i < count; i++) sum += x[i];
    *out = sum;
}

kernel void echo_8(global uchar *out, uchar value) { if (get_global_id(0) == 0) *out = value; }
kernel void echo_16(global ushort *out, ushort value) { if (get_global_id(0) == 0) *out = value; }
kernel void echo_32(global uint *out, uint value) { if (get_global_id(0) == 0) *out = value; }
kernel void echo_64(global ulong *out, ulong value) { if (get_global_id(0) == 0) *out = value; }
kernel void echo_f32(global float *out, float value) { if (get_global_id(0) == 0) *out = value; }
#ifdef cl_khr_fp64
kernel void echo_f64(global double *out, double value) { if (get_global_id(0) == 0) *out = value; }
#endif

struct TensorMap { uchar bytes[128]; };

// Small and wide arguments by turns: every one needs its own place. Written tightly: 1, 8, 2, 8, 4 bytes.
kernel void mixed(global uchar *out, uchar a, ulong b, ushort c, wide d, uint e)
{
    if (get_global_id(0) != 0) return;
    out[0] = a;
    for (uint i = 0; i < 8; i++) out[1 + i] = (uchar)(b >> (8 * i));
    for (uint i = 0; i < 2; i++) out[9 + i] = (uchar)(c >> (8 * i));
    ulong bits = BITS(d);
    for (uint i = 0; i < 8; i++) out[11 + i] = (uchar)(bits >> (8 * i));
    for (uint i = 0; i < 4; i++) out[19 + i] = (uchar)(e >> (8 * i));
}

kernel void tensor_map(global uchar *out, uchar before, struct TensorMap map, uchar after)
{
    uint i = get_global_id(0);
    if (i < 128) out[1 + i] = map.bytes[i];
    if (i == 0) { out[0] = before; out[129] = after; }
}

struct Gapped { char a; wide b; int c; };

kernel void gapped(global ulong *out, struct Gapped s)
{
    if (get_global_id(0) != 0) return;
    out[0] = (ulong)(long)s.a;
    out[1] = BITS(s.b);
    out[2] = (ulong)(long)s.c;
}

// Six words for every work-item: its work-group, its place in the work-group.
kernel void whereabouts(global uint *out)
{
    uint block = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
    uint place = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));
    uint size = get_local_size(0) * get_local_size(1) * get_local_size(2);
    global uint *mine = out + 6 * (size_t)(block * size + place);
    for (uint axis = 0; axis < 3; axis++) {
        mine[axis] = get_group_id(axis);
        mine[3 + axis] = get_local_id(axis);
    }
}

// Each work-group turns its part round by way of local memory whose length the launch says.
kernel void reverse_blocks(global uint *values, local uint *part)
{
    uint i = get_global_id(0);
    part[get_local_id(0)] = values[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    values[i] = part[get_local_size(0) - 1 - get_local_id(0)];
}

// OpenCL C says of a kernel how large its work-groups are exactly, not how large they are at most.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void at_most_64(global uint *out)
{
    out[get_global_id(0)] = get_global_id(0) + 7;
}

kernel void write_at(global int *out, long index, int value)
{
    if (get_global_id(0) == 0) out[index] = value;
}

// Reaches memory through memory: the launch names the table only. It holds addresses as numbers, for a parameter may
// not point to pointers before OpenCL C 2.0.
kernel void follow(global const ulong *table, uint count, uint value)
{
    uint i = get_global_id(0);
    if (i < count) ((global uint *)table[i])[0] = value + i;
}

kernel void is_null(global uint *out, global const void *pointer)
{
    if (get_global_id(0) == 0) *out = pointer == 0 ? 11 : 22;
}

// OpenCL C has no trap: a write 256 GiB before the buffer falls on memory that nobody has.
kernel void trap_if(global uint *out, uint flag)
{
    if (get_global_id(0) != 0) return;
    if (flag) {
        volatile global uint *nowhere = out - (1ul << 36);
        *nowhere = 1;
    }
    *out = 33;
}

constant uint table[3] = {301, 302, 303};

kernel void add_table(global uint *out)
{
    uint i = get_global_id(0);
    if (i < 3) out[i] = table[i] + 1;
}
