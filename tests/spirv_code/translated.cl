// Every kind of parameter that a translator makes: translated.spv is this, by clang and llvm-spirv (see build.sh).
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
struct Pair { char tag; double weight; int count; };
struct Wide { float3 where; float radius; };

kernel void mixed(global float *y, const global float4 *x, constant int *table, local double *tile, float scale,
                  uint count, uchar small, half low, long far, ulong3 lanes, struct Pair pair, struct Wide wide)
{
    size_t i = get_global_id(0);
    if (i < count)
        y[i] = x[i].y * scale + table[0] + (float)tile[0] + small + low + far + lanes.z + (float)pair.weight + wide.radius;
}

kernel void __attribute__((reqd_work_group_size(32, 2, 1))) fixed(global uint *out, read_only image2d_t picture)
{
    out[get_global_id(0)] = (uint)get_image_width(picture);
}

kernel void __attribute__((work_group_size_hint(64, 1, 1))) nothing(void) {}
