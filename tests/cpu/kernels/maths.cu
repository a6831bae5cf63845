// The functions of CUDA's mathematics library: the compiler turns each into PTX of every kind.

extern "C" __global__ void maths_f32(const float *x, const float *y, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = x[i], b = y[i];
    float results[] = {
        sinf(a), cosf(a), tanf(a), expf(a), exp2f(a), exp10f(a), logf(b), log2f(b), log10f(b), log1pf(b),
        powf(b, a), tanhf(a), sinhf(a), coshf(a), atanf(a), atan2f(a, b), erff(a), cbrtf(a), rsqrtf(b), hypotf(a, b),
        fmodf(a, b), sqrtf(b), a / b, fmaf(a, b, 1.5f), floorf(a), roundf(a), expm1f(a),
    };
    for (int k = 0; k < sizeof(results) / sizeof(float); k++)
        out[k * n + i] = results[k];
}

extern "C" __global__ void maths_f64(const double *x, const double *y, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double a = x[i], b = y[i];
    double results[] = {
        sin(a), cos(a), tan(a), exp(a), log(b), pow(b, a), tanh(a), atan2(a, b), erf(a), cbrt(a), rsqrt(b),
        fmod(a, b), sqrt(b), a / b, fma(a, b, 1.5), exp2(a), log1p(b),
    };
    for (int k = 0; k < sizeof(results) / sizeof(double); k++)
        out[k * n + i] = results[k];
}

extern "C" __global__ void fast_f32(const float *x, const float *y, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = x[i], b = y[i];
    float results[] = {
        __sinf(a), __cosf(a), __expf(a), __logf(b), __fdividef(a, b), __frsqrt_rn(b), __tanhf(a), __log2f(b),
        __saturatef(a), __fadd_rz(a, b), __fmul_ru(a, b), __fmaf_rd(a, b, a), __fdiv_rd(a, b), __fsqrt_ru(b),
        __frcp_rz(b), __int2float_rd((int)a), __powf(b, a),
    };
    for (int k = 0; k < sizeof(results) / sizeof(float); k++)
        out[k * n + i] = results[k];
}
