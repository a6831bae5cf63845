// OpenCL C: with -cl-kernel-arg-info clang writes names and types of the arguments.
kernel __attribute__((reqd_work_group_size(32, 3, 2)))
void blend(global const float *x, global ushort *out, uint n, double4 weights, local int *part)
{
    size_t i = __builtin_amdgcn_workitem_id_x();
    part[i] = (int)x[i];
    if (i < n) out[i] = (ushort)(part[i] + weights.x);
}
