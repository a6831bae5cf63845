// Functions of floating-point numbers. What Metal does not offer (erf, lgamma, cbrt, …) is not here either.
#pragma once

namespace metal {

// One function for float, for the 16-bit types by way of float, and component by component for vectors.
#define MSL_MATH_1(NAME, X, BODY) \
    inline float NAME(float X) { return BODY; } \
    inline half NAME(half x) { return (half)NAME((float)x); } \
    inline bfloat NAME(bfloat x) { return (bfloat)NAME((float)x); } \
    template <class T, int N> inline vec<T, N> NAME(vec<T, N> x) \
    { vec<T, N> r; for (int i = 0; i < N; i++) r[i] = NAME((T)x[i]); return r; }
#define MSL_MATH_2(NAME, X, Y, BODY) \
    inline float NAME(float X, float Y) { return BODY; } \
    inline half NAME(half x, half y) { return (half)NAME((float)x, (float)y); } \
    inline bfloat NAME(bfloat x, bfloat y) { return (bfloat)NAME((float)x, (float)y); } \
    template <class T, int N> inline vec<T, N> NAME(vec<T, N> x, vec<T, N> y) \
    { vec<T, N> r; for (int i = 0; i < N; i++) r[i] = NAME((T)x[i], (T)y[i]); return r; }
#define MSL_FLOAT_TEST(NAME, BODY) \
    inline bool NAME(float x) { return BODY; } \
    inline bool NAME(half h) { return NAME((float)h); } \
    inline bool NAME(bfloat h) { return NAME((float)h); } \
    template <class T, int N> inline __msl_bools<N> NAME(vec<T, N> x) \
    { __msl_bools<N> r; for (int i = 0; i < N; i++) r[i] = NAME((T)x[i]); return r; }

MSL_MATH_1(acos, x, __builtin_acosf(x))
MSL_MATH_1(acosh, x, __builtin_acoshf(x))
MSL_MATH_1(asin, x, __builtin_asinf(x))
MSL_MATH_1(asinh, x, __builtin_asinhf(x))
MSL_MATH_1(atan, x, __builtin_atanf(x))
MSL_MATH_1(atanh, x, __builtin_atanhf(x))
MSL_MATH_1(ceil, x, __builtin_ceilf(x))
MSL_MATH_1(cos, x, __builtin_cosf(x))
MSL_MATH_1(cosh, x, __builtin_coshf(x))
MSL_MATH_1(cospi, x, __builtin_cosf(3.14159265358979f * x))
MSL_MATH_1(exp, x, __builtin_expf(x))
MSL_MATH_1(exp2, x, __builtin_exp2f(x))
MSL_MATH_1(exp10, x, __builtin_exp10f(x))
MSL_MATH_1(fabs, x, __builtin_fabsf(x))
MSL_MATH_1(floor, x, __builtin_floorf(x))
MSL_MATH_1(fract, x, __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f))
MSL_MATH_1(log, x, __builtin_logf(x))
MSL_MATH_1(log2, x, __builtin_log2f(x))
MSL_MATH_1(log10, x, __builtin_log10f(x))
MSL_MATH_1(rint, x, __builtin_rintf(x))
MSL_MATH_1(round, x, __builtin_roundf(x))
MSL_MATH_1(rsqrt, x, 1.0f / __builtin_sqrtf(x))
MSL_MATH_1(sin, x, __builtin_sinf(x))
MSL_MATH_1(sinh, x, __builtin_sinhf(x))
MSL_MATH_1(sinpi, x, __builtin_sinf(3.14159265358979f * x))
MSL_MATH_1(sqrt, x, __builtin_sqrtf(x))
MSL_MATH_1(tan, x, __builtin_tanf(x))
MSL_MATH_1(tanh, x, __builtin_tanhf(x))
MSL_MATH_1(tanpi, x, __builtin_tanf(3.14159265358979f * x))
MSL_MATH_1(trunc, x, __builtin_truncf(x))
MSL_MATH_1(saturate, x, __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f))
MSL_MATH_1(sign, x, x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x == 0.0f ? x : 0.0f)

MSL_MATH_2(atan2, y, x, __builtin_atan2f(y, x))
MSL_MATH_2(copysign, x, y, __builtin_copysignf(x, y))
MSL_MATH_2(divide, x, y, x / y)
MSL_MATH_2(fdim, x, y, __builtin_fdimf(x, y))
MSL_MATH_2(fmax, x, y, __builtin_fmaxf(x, y))
MSL_MATH_2(fmin, x, y, __builtin_fminf(x, y))
MSL_MATH_2(fmod, x, y, __builtin_fmodf(x, y))
MSL_MATH_2(nextafter, x, y, __builtin_nextafterf(x, y))
MSL_MATH_2(pow, x, y, __builtin_powf(x, y))
MSL_MATH_2(powr, x, y, x < 0.0f ? __builtin_nanf("") : __builtin_powf(x, y))
MSL_MATH_2(step, edge, x, x < edge ? 0.0f : 1.0f)

MSL_FLOAT_TEST(isfinite, __builtin_isfinite(x))
MSL_FLOAT_TEST(isinf, __builtin_isinf(x))
MSL_FLOAT_TEST(isnan, __builtin_isnan(x))
MSL_FLOAT_TEST(isnormal, __builtin_isnormal(x))
MSL_FLOAT_TEST(signbit, __builtin_signbit(x))

inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
// The product of two halves and the sum are exact enough in float to be rounded once.
inline half fma(half a, half b, half c) { return (half)((float)a * (float)b + (float)c); }
template <int N> inline vec<float, N> fma(vec<float, N> a, vec<float, N> b, vec<float, N> c) { return __builtin_elementwise_fma(a, b, c); }
template <int N> inline vec<half, N> fma(vec<half, N> a, vec<half, N> b, vec<half, N> c)
{ vec<half, N> r; for (int i = 0; i < N; i++) r[i] = fma((half)a[i], (half)b[i], (half)c[i]); return r; }

#define MSL_MIX(T) \
    inline T mix(T x, T y, T a) { return x + (y - x) * a; } \
    template <int N> inline vec<T, N> mix(vec<T, N> x, vec<T, N> y, vec<T, N> a) { return x + (y - x) * a; } \
    template <int N> inline vec<T, N> mix(vec<T, N> x, vec<T, N> y, T a) { return x + (y - x) * a; } \
    inline T smoothstep(T low, T high, T x) { T t = saturate((x - low) / (high - low)); return t * t * ((T)3 - (T)2 * t); }
MSL_MIX(float)
MSL_MIX(half)

inline float ldexp(float x, int exponent) { return __builtin_ldexpf(x, exponent); }
inline int ilogb(float x) { return __builtin_ilogbf(x); }
#define MSL_TWO_RESULTS(SPACE) \
    inline float modf(float x, SPACE float &whole) { whole = __builtin_truncf(x); return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - whole, x); } \
    inline float frexp(float x, SPACE int &exponent) { int e = 0; float f = __builtin_frexpf(x, &e); exponent = e; return f; } \
    inline float sincos(float x, SPACE float &cosine) { cosine = __builtin_cosf(x); return __builtin_sinf(x); }
MSL_TWO_RESULTS()
#ifdef MSL_CHECK
MSL_TWO_RESULTS(MSL_DEVICE)
MSL_TWO_RESULTS(MSL_THREADGROUP)
#endif

namespace precise { using namespace metal; }
namespace fast { using namespace metal; }

}
