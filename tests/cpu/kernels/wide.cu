// Numbers of 128 bits: NVRTC's own division mixes the flag of subtractions with additions.
typedef unsigned __int128 u128;

__device__ void put(unsigned long long *out, u128 value)
{
    out[0] = (unsigned long long)value;
    out[1] = (unsigned long long)(value >> 64);
}

extern "C" __global__ void wide(const unsigned long long *numbers, unsigned long long *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const unsigned long long *n = numbers + 4 * i;
    unsigned long long *o = out + 12 * i;
    u128 a = (u128)n[0] << 64 | n[1], b = (u128)n[2] << 64 | n[3];
    put(o, a * b);
    put(o + 2, a / b);
    put(o + 4, a % b);
    put(o + 6, a - b);
    put(o + 8, (u128)((__int128)a / (__int128)b));
    put(o + 10, (u128)((__int128)a >> (n[3] & 127)));
}
