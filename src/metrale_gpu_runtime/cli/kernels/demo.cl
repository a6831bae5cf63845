// The kernels of `metrale-gpu demo` for OpenCL, whose drivers compile them on the machine they run on.

kernel void scale_add(global const float *x, global float *y, uint count, float factor)
{
    uint i = get_global_id(0);
    if (i < count)
        y[i] = factor * x[i] + y[i];
}

// The mistake of the demo: `<=` writes one element too many.
kernel void fill_one_too_many(global float *y, uint count, float value)
{
    uint i = get_global_id(0);
    if (i <= count)
        y[i] = value;
}
