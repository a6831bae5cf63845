// The kernels of the small examples for OpenCL; on_line is there where the device has double.

kernel void vector_add(global const float *a, global const float *b, global float *sum, uint count)
{
    uint i = get_global_id(0);
    if (i < count)
        sum[i] = a[i] + b[i];
}

kernel void scale(global float *values, uint count, float factor)
{
    uint i = get_global_id(0);
    if (i < count)
        values[i] *= factor;
}

kernel void add_constant(global float *values, uint count, float addend)
{
    uint i = get_global_id(0);
    if (i < count)
        values[i] += addend;
}

// The mistake of catch_an_overrun.py: `<=` writes one element too many.
kernel void fill_one_too_many(global float *values, uint count, float value)
{
    uint i = get_global_id(0);
    if (i <= count)
        values[i] = value;
}

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

struct Line {
    char axis;
    double slope;
    int offset;
};

kernel void on_line(global const double *x, global double *y, uint count, struct Line line)
{
    uint i = get_global_id(0);
    if (i < count)
        y[i] = line.slope * x[i] + line.offset + (line.axis == 'y' ? 0.5 : 0.0);
}
#endif
