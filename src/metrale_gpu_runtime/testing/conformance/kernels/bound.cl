// Kernels for devices that bind arguments one by one: what CUDA's suite has no words for.

// Each work-group turns its part round by way of local memory that is an argument.
kernel void reverse_local(global uint *values, local uint *part)
{
    uint i = get_global_id(0), own = get_local_id(0);
    part[own] = values[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    values[i] = part[get_local_size(0) - 1 - own];
}

// Anything of a size: bytes are no type, so that each scalar of that size may be given.
struct Any8 { uchar bytes[1]; };
struct Any16 { uchar bytes[2]; };
struct Any32 { uchar bytes[4]; };
struct Any64 { uchar bytes[8]; };

kernel void any_8(global struct Any8 *out, struct Any8 value) { if (get_global_id(0) == 0) *out = value; }
kernel void any_16(global struct Any16 *out, struct Any16 value) { if (get_global_id(0) == 0) *out = value; }
kernel void any_32(global struct Any32 *out, struct Any32 value) { if (get_global_id(0) == 0) *out = value; }
kernel void any_64(global struct Any64 *out, struct Any64 value) { if (get_global_id(0) == 0) *out = value; }

// Two parameters that are only read, for one buffer behind both.
kernel void added(global uint *out, global const uint *a, global const uint *b, uint count)
{
    uint i = get_global_id(0);
    if (i < count) out[i] = a[i] + b[i];
}
