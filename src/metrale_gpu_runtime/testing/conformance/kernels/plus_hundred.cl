// The other of two modules with a kernel of the same name.
kernel void transform(global uint *out, global const uint *in, uint count)
{
    uint i = get_global_id(0);
    if (i < count) out[i] = in[i] + 100;
}
