// The way in which a kernel fails on an OpenCL device: the language has no trap and no assertion.

kernel void illegal_address(global uint *out)
{
    // 256 GiB before the buffer, where no memory of a device lies.
    volatile global uint *nowhere = out - (1ul << 36);
    nowhere[get_local_id(0)] = 7u;
}

kernel void healthy(global uint *out) { out[get_local_id(0)] = 7u + get_local_id(0); }
