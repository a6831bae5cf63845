/* What single PTX instructions mean where that takes more than an instruction of LLVM.
 *
 * Linked as LLVM IR into every kernel's module and inlined there; written so that loops over threads can be vectorised:
 * selections instead of branches, no tables. Half, bfloat and smaller floats come and go as their bits: LLVM's own
 * conversions would call library functions that the JIT cannot resolve.
 *
 * Rounding arguments are constants once inlined: 0 to nearest even, 1 toward zero, 2 down, 3 up.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include "abi.h"

#include <time.h>

enum { RN, RZ, RM, RP };

typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned __int128 u128;

static inline u32 bits32(float x) { u32 b; __builtin_memcpy(&b, &x, 4); return b; }
static inline float float32(u32 b) { float x; __builtin_memcpy(&x, &b, 4); return x; }
static inline u64 bits64(double x) { u64 b; __builtin_memcpy(&b, &x, 8); return b; }
static inline double float64(u64 b) { double x; __builtin_memcpy(&x, &b, 8); return x; }

#define CANONICAL_NAN32 0x7fffffffu
#define CANONICAL_NAN16 0x7fffu

/* ---------------------------------------------------------------- flushing, saturation, min and max */

float ptx_ftz_f32(float x)
{
    u32 b = bits32(x);
    return float32((b & 0x7f800000u) == 0 ? b & 0x80000000u : b);
}

/* NaN and everything below become +0. */
float ptx_sat_f32(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
double ptx_sat_f64(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }

/* Equal operands differ at most in the sign of zero: or-ing the bits finds a minus, and-ing a plus. */
float ptx_min_f32(float a, float b)
{
    float less = a < b ? a : b;
    less = b != b ? a : less;
    less = a == b ? float32(bits32(a) | bits32(b)) : less;
    return a != a && b != b ? float32(CANONICAL_NAN32) : less;
}

float ptx_max_f32(float a, float b)
{
    float more = a > b ? a : b;
    more = b != b ? a : more;
    more = a == b ? float32(bits32(a) & bits32(b)) : more;
    return a != a && b != b ? float32(CANONICAL_NAN32) : more;
}

float ptx_min_nan_f32(float a, float b) { return a != a || b != b ? float32(CANONICAL_NAN32) : ptx_min_f32(a, b); }
float ptx_max_nan_f32(float a, float b) { return a != a || b != b ? float32(CANONICAL_NAN32) : ptx_max_f32(a, b); }

double ptx_min_f64(double a, double b)
{
    double less = a < b ? a : b;
    less = b != b ? a : less;
    return a == b ? float64(bits64(a) | bits64(b)) : less;
}

double ptx_max_f64(double a, double b)
{
    double more = a > b ? a : b;
    more = b != b ? a : more;
    return a == b ? float64(bits64(a) & bits64(b)) : more;
}

/* ---------------------------------------------------------------- directed rounding */

static inline double next_up64(double x)
{
    u64 b = bits64(x);
    return x == 0.0 ? float64(1) : float64(b >> 63 ? b - 1 : b + 1);
}

static inline double next_down64(double x) { return -next_up64(-x); }

/* The f32 in direction `mode` of the exact value near + rest, where near is its rounding to double, so that what is
 * between two doubles lies in rest: comparing rest with the (exact) distance of near to its rounding decides. */
static inline float directed32(double near, double rest, u32 mode)
{
    float r = (float)near;
    double above = (double)r - near;
    u32 b = bits32(r), is_negative = b >> 31;
    /* Of a value that f32 rounds to zero the sign is in near. */
    u32 down_if_zero = 0x80000001u, up_if_zero = 1;
    u32 down = b << 1 ? (is_negative ? b + 1 : b - 1) : down_if_zero;
    u32 up = b << 1 ? (is_negative ? b - 1 : b + 1) : up_if_zero;
    int moves_down = (mode == RM || (mode == RZ && near > 0.0)) && above > rest;
    int moves_up = (mode == RP || (mode == RZ && near < 0.0)) && above < rest;
    return float32(moves_down ? down : moves_up ? up : b);
}

/* The same for double: `r` is the nearest double, `rest` has the sign of exact - r. */
static inline double directed64(double r, double rest, u32 mode)
{
    if (mode == RZ)
        mode = r > 0.0 || (r == 0.0 && rest > 0.0) ? RM : RP;
    if (mode == RM && rest < 0.0)
        return next_down64(r);
    if (mode == RP && rest > 0.0)
        return next_up64(r);
    return r;
}

/* What a + b lost in rounding (Knuth; exact unless something overflows, which two f32 cannot bring about). */
static inline double sum_rest32(double a, double b, double sum)
{
    double b_part = sum - a;
    return (a - (sum - b_part)) + (b - b_part);
}

/* The same for any doubles (Dekker; exact when the larger comes first). */
static inline double sum_rest(double a, double b, double sum)
{
    double large = __builtin_fabs(a) >= __builtin_fabs(b) ? a : b;
    double small = __builtin_fabs(a) >= __builtin_fabs(b) ? b : a;
    return small - (sum - large);
}

/* An exact sum of zero of two different zeros, or of x and -x, is -0 when rounding down. */
static inline int is_down_zero(double a, double b, double sum, u32 mode)
{
    return mode == RM && sum == 0.0 && !(bits64(a) >> 63 == 0 && bits64(b) >> 63 == 0);
}

float ptx_add_f32(float a, float b, u32 mode)
{
    double x = a, y = b, sum = x + y;
    float r = directed32(sum, sum_rest32(x, y, sum), mode);
    return is_down_zero(x, y, sum, mode) ? -0.0f : r;
}

float ptx_mul_f32(float a, float b, u32 mode) { return directed32((double)a * (double)b, 0.0, mode); }

float ptx_fma_f32(float a, float b, float c, u32 mode)
{
    double product = (double)a * (double)b, addend = c, sum = product + addend;
    float r = directed32(sum, sum_rest32(product, addend, sum), mode);
    return is_down_zero(product, addend, sum, mode) ? -0.0f : r;
}

static inline double sign_of(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0; }

float ptx_div_f32(float a, float b, u32 mode)
{
    double x = a, y = b, quotient = x / y;
    /* Only the sign of the rest matters where quotient is an f32; elsewhere `above` is far larger than this. */
    double rest = sign_of(__builtin_fma(-quotient, y, x)) * sign_of(y) * 0x1p-300;
    return directed32(quotient, __builtin_isinf(y) ? 0.0 : rest, mode);
}

float ptx_sqrt_f32(float a, u32 mode)
{
    double x = a, root = __builtin_sqrt(x);
    return directed32(root, sign_of(__builtin_fma(-root, root, x)) * 0x1p-300, mode);
}

static inline int is_finite64(double x) { return (bits64(x) & 0x7ff0000000000000u) != 0x7ff0000000000000u; }

/* The nearest sum overflowed although the operands are finite: the exact value is beyond the largest double. */
static inline double overflowed64(double infinity, u32 mode) { return directed64(infinity, -infinity, mode); }

double ptx_add_f64(double a, double b, u32 mode)
{
    double sum = a + b;
    if (!is_finite64(a) || !is_finite64(b))
        return sum;
    if (is_down_zero(a, b, sum, mode))
        return -0.0;
    if (!is_finite64(sum))
        return overflowed64(sum, mode);
    return directed64(sum, sum_rest(a, b, sum), mode);
}

double ptx_mul_f64(double a, double b, u32 mode)
{
    double product = a * b;
    if (!is_finite64(a) || !is_finite64(b))
        return product;
    if (!is_finite64(product))
        return overflowed64(product, mode);
    if (a == 0.0 || b == 0.0)
        return product;
    /* Near the smallest doubles the rest would be lost to underflow: compare at a larger scale. */
    if (__builtin_fabs(product) < 0x1p-900) {
        double rest = __builtin_fma(a * 0x1p600, b * 0x1p600, -(product * 0x1p600 * 0x1p600));
        /* A product rounded to zero keeps its sign in the operands. */
        return directed64(product, product == 0.0 ? sign_of(a) * sign_of(b) : rest, mode);
    }
    return directed64(product, __builtin_fma(a, b, -product), mode);
}

/* A finite double that is not zero is mantissa * 2^exponent, with a mantissa of 53 bits. */
static inline u64 mantissa_of(double x, int *exponent)
{
    u64 b = bits64(x), fraction = b & 0xfffffffffffffu;
    int biased = (int)(b >> 52 & 0x7ff);
    *exponent = (biased ? biased : 1) - 1075;
    if (biased)
        return fraction | 0x10000000000000u;
    int shift = __builtin_clzll(fraction) - 11;
    *exponent -= shift;
    return fraction << shift;
}

/* The sign of |x| - |y * z|, exactly, where y is x / z rounded (so that both sides have about one size). */
static inline int compare_product(double x, double y, double z)
{
    int ex, ey, ez;
    u64 mx = mantissa_of(x, &ex), my = mantissa_of(y, &ey), mz = mantissa_of(z, &ez);
    u128 left = (u128)mx << (ex - (ey + ez)), right = (u128)my * mz;
    return left > right ? 1 : left < right ? -1 : 0;
}

double ptx_div_f64(double a, double b, u32 mode)
{
    double quotient = a / b;
    if (!is_finite64(a) || !is_finite64(b) || a == 0.0 || b == 0.0)
        return quotient;
    double sign = sign_of(a) * sign_of(b);
    if (!is_finite64(quotient))
        return overflowed64(quotient, mode);
    if (quotient == 0.0)
        return directed64(quotient, sign, mode);
    return directed64(quotient, sign * compare_product(a, quotient, b), mode);
}

double ptx_sqrt_f64(double a, u32 mode)
{
    double root = __builtin_sqrt(a);
    if (!is_finite64(a) || !(a > 0.0))
        return root;
    double x = a, r = root;
    if (a < 0x1p-900) {
        x = a * 0x1p600;
        r = root * 0x1p300;
    }
    return directed64(root, __builtin_fma(-r, r, x), mode);
}

float ptx_f32_f64(double x, u32 mode) { return directed32(x, 0.0, mode); }

/* Integers of up to 32 bits are exact as doubles. */
float ptx_f32_s32(s32 x, u32 mode) { return directed32((double)x, 0.0, mode); }
float ptx_f32_u32(u32 x, u32 mode) { return directed32((double)x, 0.0, mode); }

/* 64-bit integers: all but the upper `kept` bits are cut off, and `up` tells whether one in the last place is added. */
static inline u64 cut(u64 magnitude, int kept, int up)
{
    int extra = magnitude ? 64 - __builtin_clzll(magnitude) - kept : 0;
    if (extra <= 0)
        return magnitude;
    u64 low = ((u64)1 << extra) - 1, head = magnitude & ~low;
    return magnitude & low && up ? head + low + 1 : head;
}

/* Cut magnitudes convert exactly, except the one that carried out of 64 bits. */
static inline double cut_to_double(u64 magnitude, int kept, int negative, u32 mode)
{
    int up = mode == (negative ? RM : RP);
    u64 whole = cut(magnitude, kept, up);
    double x = whole < magnitude && up ? 0x1p64 : (double)whole;
    return negative ? -x : x;
}

float ptx_f32_s64(s64 x, u32 mode) { return (float)cut_to_double(x < 0 ? -(u64)x : (u64)x, 24, x < 0, mode); }
float ptx_f32_u64(u64 x, u32 mode) { return (float)cut_to_double(x, 24, 0, mode); }
double ptx_f64_s64(s64 x, u32 mode) { return cut_to_double(x < 0 ? -(u64)x : (u64)x, 53, x < 0, mode); }
double ptx_f64_u64(u64 x, u32 mode) { return cut_to_double(x, 53, 0, mode); }

/* ---------------------------------------------------------------- halves: f16 and bf16 as bits */

float ptx_f32_bf16(u16 h) { return float32((u32)h << 16); }

float ptx_f32_f16(u16 h)
{
    /* As if f32, the exponent is too small by 112; only infinity and NaN need more than that. */
    u32 magnitude = (u32)(h & 0x7fff) << 13;
    u32 finite = bits32(float32(magnitude) * 0x1p112f);
    u32 b = magnitude >= 0x7c00u << 13 ? magnitude | 0x7f800000u : finite;
    return float32(b | (u32)(h & 0x8000) << 16);
}

static inline u16 f16_nearest(float x)
{
    u32 b = bits32(x) & 0x7fffffffu, sign = bits32(x) >> 16 & 0x8000u;
    /* Below 2^-14 adding 0.5 rounds to the last place that f16 has there. */
    u32 tiny = bits32(float32(b) + 0.5f) - 0x3f000000u;
    u32 normal = (b - (112u << 23) + 0xfffu + (b >> 13 & 1u)) >> 13;
    u32 h = b < 0x38800000u ? tiny : normal;
    h = b >= 0x47800000u ? 0x7c00u : h;
    return (u16)(b > 0x7f800000u ? CANONICAL_NAN16 : h | sign);
}

static inline u16 bf16_nearest(float x)
{
    u32 b = bits32(x);
    u32 h = (b + 0x7fffu + (b >> 16 & 1u)) >> 16;
    return (u16)((b & 0x7fffffffu) > 0x7f800000u ? CANONICAL_NAN16 : h);
}

static inline u16 next_up16(u16 h) { return h & 0x8000 ? (h == 0x8000 ? 1 : h - 1) : h + 1; }
static inline u16 next_down16(u16 h) { return next_up16(h ^ 0x8000) ^ 0x8000; }

/* From the nearest half `h`, which equals `y`, to the one in direction `mode` of x. */
static inline u16 directed16(u16 h, float y, float x, u32 mode)
{
    if (mode == RZ)
        mode = x > 0.0f ? RM : RP;
    if (mode == RM && y > x)
        return next_down16(h);
    if (mode == RP && y < x)
        return next_up16(h);
    return h;
}

u16 ptx_f16_f32(float x, u32 mode) { u16 h = f16_nearest(x); return directed16(h, ptx_f32_f16(h), x, mode); }
u16 ptx_bf16_f32(float x, u32 mode) { u16 h = bf16_nearest(x); return directed16(h, ptx_f32_bf16(h), x, mode); }

/* Rounding to odd keeps in the last bit that something was lost, so that a second rounding comes out right. */
static inline float odd32(double x)
{
    float r = (float)x;
    u32 b = bits32(r);
    double d = r;
    int inexact = d != x && x == x;
    u32 inward = __builtin_fabs(d) > __builtin_fabs(x) ? b - 1 : b + 1;
    return float32(inexact && (b & 1) == 0 ? inward : b);
}

static inline double odd_sum(double a, double b)
{
    double sum = a + b, rest = sum_rest(a, b, sum);
    u64 bits = bits64(sum);
    u64 moved = (rest > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1;
    int inexact = rest < 0.0 || rest > 0.0;
    return float64(inexact && (bits & 1) == 0 ? moved : bits);
}

u16 ptx_f16_f64(double x, u32 mode) { return ptx_f16_f32(odd32(x), mode); }
u16 ptx_bf16_f64(double x, u32 mode) { return ptx_bf16_f32(odd32(x), mode); }

#define SIGN16(h) ((u16)((h) & 0x8000u))
#define MAGNITUDE16(h) ((u16)((h) & 0x7fffu))

/* f32 holds sums of two halves well enough to round twice; products are exact in double, fused sums are made odd. */
#define HALF(type, smallest_normal, infinity)                                                                         \
    u16 ptx_ftz_##type(u16 h) { return MAGNITUDE16(h) < smallest_normal ? SIGN16(h) : h; }                            \
    static inline int is_nan_##type(u16 h) { return MAGNITUDE16(h) > infinity; }                                      \
    static inline u16 round_##type(float x) { return type##_nearest(x); }                                             \
    u16 ptx_add_##type(u16 a, u16 b) { return round_##type(ptx_f32_##type(a) + ptx_f32_##type(b)); }                  \
    u16 ptx_sub_##type(u16 a, u16 b) { return round_##type(ptx_f32_##type(a) - ptx_f32_##type(b)); }                  \
    u16 ptx_mul_##type(u16 a, u16 b)                                                                                  \
    {                                                                                                                 \
        return round_##type(odd32((double)ptx_f32_##type(a) * (double)ptx_f32_##type(b)));                            \
    }                                                                                                                 \
    u16 ptx_fma_##type(u16 a, u16 b, u16 c)                                                                           \
    {                                                                                                                 \
        double product = (double)ptx_f32_##type(a) * (double)ptx_f32_##type(b);                                       \
        return round_##type(odd32(odd_sum(product, (double)ptx_f32_##type(c))));                                      \
    }                                                                                                                 \
    u16 ptx_neg_##type(u16 a) { return a ^ 0x8000; }                                                                  \
    u16 ptx_abs_##type(u16 a) { return MAGNITUDE16(a); }                                                              \
    u16 ptx_min_##type(u16 a, u16 b) { return round_##type(ptx_min_f32(ptx_f32_##type(a), ptx_f32_##type(b))); }      \
    u16 ptx_max_##type(u16 a, u16 b) { return round_##type(ptx_max_f32(ptx_f32_##type(a), ptx_f32_##type(b))); }      \
    u16 ptx_min_nan_##type(u16 a, u16 b)                                                                              \
    {                                                                                                                 \
        return is_nan_##type(a) || is_nan_##type(b) ? CANONICAL_NAN16 : ptx_min_##type(a, b);                         \
    }                                                                                                                 \
    u16 ptx_max_nan_##type(u16 a, u16 b)                                                                              \
    {                                                                                                                 \
        return is_nan_##type(a) || is_nan_##type(b) ? CANONICAL_NAN16 : ptx_max_##type(a, b);                         \
    }                                                                                                                 \
    u16 ptx_min_xorsign_##type(u16 a, u16 b)                                                                          \
    {                                                                                                                 \
        return ptx_min_##type(MAGNITUDE16(a), MAGNITUDE16(b)) | SIGN16(a ^ b);                                        \
    }                                                                                                                 \
    u16 ptx_max_xorsign_##type(u16 a, u16 b)                                                                          \
    {                                                                                                                 \
        return ptx_max_##type(MAGNITUDE16(a), MAGNITUDE16(b)) | SIGN16(a ^ b);                                        \
    }                                                                                                                 \
    u16 ptx_min_nan_xorsign_##type(u16 a, u16 b)                                                                      \
    {                                                                                                                 \
        return is_nan_##type(a) || is_nan_##type(b) ? CANONICAL_NAN16 : ptx_min_xorsign_##type(a, b);                 \
    }                                                                                                                 \
    u16 ptx_max_nan_xorsign_##type(u16 a, u16 b)                                                                      \
    {                                                                                                                 \
        return is_nan_##type(a) || is_nan_##type(b) ? CANONICAL_NAN16 : ptx_max_xorsign_##type(a, b);                 \
    }                                                                                                                 \
    u16 ptx_sat_##type(u16 a) { return round_##type(ptx_sat_f32(ptx_f32_##type(a))); }                                \
    u16 ptx_relu_##type(u16 a) { return is_nan_##type(a) ? CANONICAL_NAN16 : SIGN16(a) ? 0 : a; }                     \
    u16 ptx_satfinite_##type(u16 a) { return MAGNITUDE16(a) == infinity ? a - 1 : a; }

HALF(f16, 0x0400, 0x7c00)
HALF(bf16, 0x0080, 0x7f80)

float ptx_relu_f32(float x) { return x != x ? float32(CANONICAL_NAN32) : x > 0.0f ? x : 0.0f; }

/* ---------------------------------------------------------------- smaller floats */

/* tf32 keeps 10 bits of the fraction. */
static inline float tf32(float x, u32 rounded)
{
    u32 magnitude = bits32(x) & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return float32(CANONICAL_NAN32);
    return float32(rounded & ~0x1fffu);
}

float ptx_tf32_rna(float x) { return tf32(x, bits32(x) + 0x1000u); }
float ptx_tf32_rn(float x) { return tf32(x, bits32(x) + 0xfffu + (bits32(x) >> 13 & 1u)); }
float ptx_tf32_rz(float x) { return tf32(x, bits32(x)); }

/* To nearest even with `places` bits cut off the fraction; below `smallest` the last place is that of `aligner`. */
static inline u32 cut_fraction(u32 b, int places, u32 rebias, float smallest, float aligner)
{
    u32 tiny = bits32(float32(b) + aligner) - bits32(aligner);
    u32 half = ((u32)1 << (places - 1)) - 1;
    u32 normal = (b - rebias + half + (b >> places & 1u)) >> places;
    return float32(b) < smallest ? tiny : normal;
}

uint8_t ptx_e4m3_f32(float x, u32 relu)
{
    u32 b = bits32(x) & 0x7fffffffu, sign = bits32(x) >> 24 & 0x80u;
    u32 bounded = b > bits32(448.0f) ? bits32(448.0f) : b;
    u32 e = cut_fraction(bounded, 20, 120u << 23, 0x1p-6f, 0x1p14f) | sign;
    if (b > 0x7f800000u)
        return 0x7f;
    return (uint8_t)(relu && sign ? 0 : e);
}

uint8_t ptx_e5m2_f32(float x, u32 relu)
{
    u32 b = bits32(x) & 0x7fffffffu, sign = bits32(x) >> 24 & 0x80u;
    u32 bounded = b > bits32(57344.0f) ? bits32(57344.0f) : b;
    u32 e = cut_fraction(bounded, 21, 112u << 23, 0x1p-14f, 0x1p7f) | sign;
    if (b > 0x7f800000u)
        return 0x7f;
    return (uint8_t)(relu && sign ? 0 : e);
}

u16 ptx_f16_e4m3(uint8_t e)
{
    float x = float32((u32)(e & 0x7f) << 20) * 0x1p120f;
    return (u16)((e & 0x7f) == 0x7f ? CANONICAL_NAN16 : f16_nearest(x) | (u32)(e & 0x80) << 8);
}

u16 ptx_f16_e5m2(uint8_t e) { return (u16)((e & 0x7f) > 0x7c ? CANONICAL_NAN16 : (u32)e << 8); }

/* ---------------------------------------------------------------- approximations
 * PTX gives bounds; what is here lies well inside of them. Multiply and add may be fused where the CPU can: the
 * results are not exact either way, and a library call per step would cost more than it brings.
 */
#pragma STDC FP_CONTRACT ON

/* 2^x within 1 ulp. */
float ptx_ex2_f32(float x)
{
    float y = x < -151.0f ? -151.0f : x;
    y = y > 129.0f ? 129.0f : y;
    /* Adding 1.5 * 2^23 leaves the nearest integer in the low bits, also when x is NaN, which no cast allows. */
    float shifted = y + 0x1.8p23f;
    s32 n = (s32)(bits32(shifted) - bits32(0x1.8p23f));
    float f = y - (shifted - 0x1.8p23f);
    float p = 0x1.ffcbfcp-17f;
    p = p * f + 0x1.430912p-13f;
    p = p * f + 0x1.5d87fep-10f;
    p = p * f + 0x1.3b2ab6p-7f;
    p = p * f + 0x1.c6b08ep-5f;
    p = p * f + 0x1.ebfbep-3f;
    p = p * f + 0x1.62e43p-1f;
    p = p * f + 1.0f;
    /* Two steps, so that subnormal results are rounded once and 2^128 becomes infinity. */
    s32 half = n >> 1;
    return p * float32((u32)(half + 127) << 23) * float32((u32)(n - half + 127) << 23);
}

float ptx_lg2_f32(float x)
{
    double d = x;
    u64 b = bits64(d), around = b - bits64(0x1.6a09e667f3bcdp-1);
    s64 exponent = (s64)around >> 52;
    double m = float64(b - ((u64)exponent << 52));
    double z = (m - 1.0) / (m + 1.0), w = z * z;
    double p = 0x1.0c9a84994022dp-2; /* 2 / ln 2 divided by 11, 9, … 1 */
    p = p * w + 0x1.484b13d7c02a9p-2;
    p = p * w + 0x1.a61762a7aded9p-2;
    p = p * w + 0x1.2776c50ef9bfep-1;
    p = p * w + 0x1.ec709dc3a03fdp-1;
    p = p * w + 0x1.71547652b82fep+1;
    float r = (float)((double)(s32)exponent + p * z);
    r = x == 0.0f ? -__builtin_inff() : r;
    r = x == __builtin_inff() ? x : r;
    return x >= 0.0f ? r : float32(CANONICAL_NAN32);
}

/* x minus a multiple of pi/2, which is told modulo 4. Exact enough for |x| < 2^20. */
static inline double reduced(double x, u32 *quadrant)
{
    double shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p52;
    double n = shifted - 0x1.8p52;
    *quadrant = (u32)bits64(shifted) & 3u;
    return (x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34;
}

static inline double sine_near_zero(double x)
{
    double w = x * x;
    double p = -0x1.ae64567f544e4p-26;
    p = p * w + 0x1.71de3a556c734p-19;
    p = p * w + -0x1.a01a01a01a01ap-13;
    p = p * w + 0x1.1111111111111p-7;
    p = p * w + -0x1.5555555555555p-3;
    return x + x * (w * p);
}

static inline double cosine_near_zero(double x)
{
    double w = x * x;
    double p = 0x1.1eed8eff8d898p-29;
    p = p * w + -0x1.27e4fb7789f5cp-22;
    p = p * w + 0x1.a01a01a01a01ap-16;
    p = p * w + -0x1.6c16c16c16c17p-10;
    p = p * w + 0x1.5555555555555p-5;
    p = p * w + -0.5;
    return 1.0 + w * p;
}

double sin(double);
double cos(double);

float ptx_sin_f32(float x)
{
    if (!(__builtin_fabsf(x) < 0x1p20f))
        return (float)sin((double)x);
    u32 quadrant;
    double r = reduced(x, &quadrant);
    double value = quadrant & 1 ? cosine_near_zero(r) : sine_near_zero(r);
    /* The sign of zero is lost in the reduction. */
    return x == 0.0f ? x : (float)(quadrant & 2 ? -value : value);
}

float ptx_cos_f32(float x)
{
    if (!(__builtin_fabsf(x) < 0x1p20f))
        return (float)cos((double)x);
    u32 quadrant;
    double r = reduced(x, &quadrant);
    double value = quadrant & 1 ? sine_near_zero(r) : cosine_near_zero(r);
    return (float)(quadrant == 1 || quadrant == 2 ? -value : value);
}

float ptx_tanh_f32(float x)
{
    double t = __builtin_fabsf(x);
    t = t > 12.0 ? 12.0 : t;
    double y = t * 0x1.71547652b82fep+1;
    double shifted = y + 0x1.8p52;
    double f = (y - (shifted - 0x1.8p52)) * 0x1.62e42fefa39efp-1;
    double e = 0x1.a01a01a01a01ap-13;
    e = e * f + 0x1.6c16c16c16c17p-10;
    e = e * f + 0x1.1111111111111p-7;
    e = e * f + 0x1.5555555555555p-5;
    e = e * f + 0x1.5555555555555p-3;
    e = e * f + 0.5;
    e = e * f + 1.0;
    e = e * f + 1.0;
    e = float64(bits64(e) + (bits64(shifted) << 52));
    double w = t * t;
    double small = t + t * w * (-0x1.5555555555555p-2 + w * (0x1.1111111111111p-3 - w * 0x1.ba1ba1ba1ba1cp-5));
    double value = t < 0.125 ? small : 1.0 - 2.0 / (e + 1.0);
    float r = __builtin_copysignf((float)value, x);
    return x != x ? float32(CANONICAL_NAN32) : r;
}

#pragma STDC FP_CONTRACT OFF

float ptx_rsqrt_f32(float x) { return 1.0f / __builtin_sqrtf(x); }
double ptx_rsqrt_f64(double x) { return 1.0 / __builtin_sqrt(x); }

/* The .approx.ftz forms of f64: only the upper 32 bits take part, in and out; subnormals are zeros. */
static inline double upper_half(double x)
{
    u64 b = bits64(x) & 0xffffffff00000000u;
    return float64((b & 0x7ff0000000000000u) == 0 ? b & 0x8000000000000000u : b);
}

static inline double upper_result(double x) { return x != x ? float64(0x7fffffff00000000u) : upper_half(x); }

double ptx_rcp_approx_ftz_f64(double x) { return upper_result(1.0 / upper_half(x)); }
double ptx_rsqrt_approx_ftz_f64(double x) { return upper_result(1.0 / __builtin_sqrt(upper_half(x))); }

/* ---------------------------------------------------------------- bit fields */

u32 ptx_bfe_u32(u32 a, u32 position, u32 length)
{
    position &= 255;
    length &= 255;
    u32 field = position < 32 ? a >> (position & 31) : 0;
    return length < 32 ? field & (((u32)1 << (length & 31)) - 1) : field;
}

u64 ptx_bfe_u64(u64 a, u32 position, u32 length)
{
    position &= 255;
    length &= 255;
    u64 field = position < 64 ? a >> (position & 63) : 0;
    return length < 64 ? field & (((u64)1 << (length & 63)) - 1) : field;
}

/* Past the top the field is filled with the sign of a. */
u32 ptx_bfe_s32(u32 a, u32 position, u32 length)
{
    position &= 255;
    length &= 255;
    s32 field = (s32)a >> (position < 31 ? position : 31);
    u32 unused = length < 32 ? 32 - length : 0;
    return length == 0 ? 0 : (u32)((s32)((u32)field << (unused & 31)) >> (unused & 31));
}

u64 ptx_bfe_s64(u64 a, u32 position, u32 length)
{
    position &= 255;
    length &= 255;
    s64 field = (s64)a >> (position < 63 ? position : 63);
    u32 unused = length < 64 ? 64 - length : 0;
    return length == 0 ? 0 : (u64)((s64)((u64)field << (unused & 63)) >> (unused & 63));
}

u32 ptx_bfi_b32(u32 a, u32 b, u32 position, u32 length)
{
    position &= 255;
    length &= 255;
    u32 field = length < 32 ? ((u32)1 << (length & 31)) - 1 : ~(u32)0;
    u32 mask = position < 32 ? field << (position & 31) : 0;
    return (b & ~mask) | (a << (position & 31) & mask);
}

u64 ptx_bfi_b64(u64 a, u64 b, u32 position, u32 length)
{
    position &= 255;
    length &= 255;
    u64 field = length < 64 ? ((u64)1 << (length & 63)) - 1 : ~(u64)0;
    u64 mask = position < 64 ? field << (position & 63) : 0;
    return (b & ~mask) | (a << (position & 63) & mask);
}

static inline u32 ones_from(u32 position) { return position < 32 ? ~(u32)0 << (position & 31) : 0; }

u32 ptx_bmsk_clamp_b32(u32 a, u32 b)
{
    /* A sum that wraps is past the top as well. */
    u32 end = b < 32 && a < 32 ? a + b : 32;
    return ones_from(a) & ~ones_from(end);
}

u32 ptx_bmsk_wrap_b32(u32 a, u32 b) { return ptx_bmsk_clamp_b32(a & 31, b & 31); }

u32 ptx_szext_clamp_u32(u32 a, u32 b) { return a & ~ones_from(b); }
u32 ptx_szext_wrap_u32(u32 a, u32 b) { return ptx_szext_clamp_u32(a, b & 31); }

u32 ptx_szext_clamp_s32(u32 a, u32 b)
{
    u32 outside = ones_from(b);
    u32 sign = b != 0 && b < 32 ? a >> ((b - 1) & 31) & 1 : 0;
    return (a & ~outside) | (sign ? outside : 0);
}

u32 ptx_szext_wrap_s32(u32 a, u32 b) { return ptx_szext_clamp_s32(a, b & 31); }

/* The place of the n-th set bit from `base` on, upward for n > 0, downward for n < 0. */
u32 ptx_fns(u32 mask, u32 base, u32 offset)
{
    s32 n = (s32)offset, step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;
    if (n == 0)
        return base < 32 && mask >> base & 1 ? base : ~(u32)0;
    for (s64 position = base; position >= 0 && position < 32; position += step)
        if (mask >> position & 1 && --left == 0)
            return (u32)position;
    return ~(u32)0;
}

/* ---------------------------------------------------------------- prmt: bytes chosen out of eight */

static inline u32 byte_of(u64 bytes, u32 selector) { return (u32)(bytes >> (selector & 7) * 8) & 0xff; }

u32 ptx_prmt(u32 a, u32 b, u32 selectors)
{
    u64 bytes = (u64)b << 32 | a;
    u32 result = 0;
    for (u32 n = 0; n < 4; n++) {
        u32 selector = selectors >> n * 4 & 15, byte = byte_of(bytes, selector);
        u32 sign = byte & 0x80 ? 0xff : 0;
        result |= (selector & 8 ? sign : byte) << n * 8;
    }
    return result;
}

#define PRMT(mode, n0, n1, n2, n3)                                                                                    \
    u32 ptx_prmt_##mode(u32 a, u32 b, u32 c)                                                                          \
    {                                                                                                                 \
        u64 bytes = (u64)b << 32 | a;                                                                                 \
        c &= 3;                                                                                                       \
        return byte_of(bytes, n0) | byte_of(bytes, n1) << 8 | byte_of(bytes, n2) << 16 | byte_of(bytes, n3) << 24;    \
    }

PRMT(f4e, c, c + 1, c + 2, c + 3)
PRMT(b4e, c, c - 1, c - 2, c - 3)
PRMT(rc8, c, c, c, c)
PRMT(ecl, c > 0 ? c : 0, c > 1 ? c : 1, c > 2 ? c : 2, 3)
PRMT(ecr, 0, c < 1 ? c : 1, c < 2 ? c : 2, c < 3 ? c : 3)
PRMT(rc16, (c & 1) * 2, (c & 1) * 2 + 1, (c & 1) * 2, (c & 1) * 2 + 1)

/* ---------------------------------------------------------------- atomics of floats */

/* Replaces the old value by `next` of it until nobody came in between; gives the old one. */
#define ATOMIC(name, type, bits_type, from_bits, to_bits, next)                                                       \
    type name(void *place, type value)                                                                                \
    {                                                                                                                 \
        bits_type *cell = place;                                                                                      \
        bits_type seen = __atomic_load_n(cell, __ATOMIC_RELAXED);                                                     \
        for (;;) {                                                                                                    \
            type old = from_bits(seen);                                                                               \
            bits_type wanted = to_bits(next);                                                                         \
            if (__atomic_compare_exchange_n(cell, &seen, wanted, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))              \
                return old;                                                                                           \
        }                                                                                                             \
    }

#define SAME(x) (x)
#define BOTH(operation, a, b) ((u32)operation((u16)(a), (u16)(b)) | (u32)operation((u16)((a) >> 16), (u16)((b) >> 16)) << 16)

ATOMIC(ptx_atom_add_f32, float, u32, float32, bits32, ptx_ftz_f32(ptx_ftz_f32(old) + ptx_ftz_f32(value)))
ATOMIC(ptx_atom_add_f64, double, u64, float64, bits64, old + value)
ATOMIC(ptx_atom_add_f16, u16, u16, SAME, SAME, ptx_add_f16(old, value))
ATOMIC(ptx_atom_add_bf16, u16, u16, SAME, SAME, ptx_add_bf16(old, value))
ATOMIC(ptx_atom_add_f16x2, u32, u32, SAME, SAME, BOTH(ptx_add_f16, old, value))
ATOMIC(ptx_atom_add_bf16x2, u32, u32, SAME, SAME, BOTH(ptx_add_bf16, old, value))
ATOMIC(ptx_atom_min_f16, u16, u16, SAME, SAME, ptx_min_f16(old, value))
ATOMIC(ptx_atom_max_f16, u16, u16, SAME, SAME, ptx_max_f16(old, value))
ATOMIC(ptx_atom_min_bf16, u16, u16, SAME, SAME, ptx_min_bf16(old, value))
ATOMIC(ptx_atom_max_bf16, u16, u16, SAME, SAME, ptx_max_bf16(old, value))
ATOMIC(ptx_atom_min_f16x2, u32, u32, SAME, SAME, BOTH(ptx_min_f16, old, value))
ATOMIC(ptx_atom_max_f16x2, u32, u32, SAME, SAME, BOTH(ptx_max_f16, old, value))
ATOMIC(ptx_atom_min_bf16x2, u32, u32, SAME, SAME, BOTH(ptx_min_bf16, old, value))
ATOMIC(ptx_atom_max_bf16x2, u32, u32, SAME, SAME, BOTH(ptx_max_bf16, old, value))

/* ---------------------------------------------------------------- clocks */

static inline u64 nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

/* A clock of 1 GHz. */
u64 ptx_clock64(void) { return nanoseconds(CLOCK_MONOTONIC); }
u64 ptx_globaltimer(void) { return nanoseconds(CLOCK_REALTIME); }

/* ---------------------------------------------------------------- warps of a kernel that runs a block at a time
 *
 * `active` and `alive` hold a byte per thread that takes part and that has not ended; null where all do. Values come
 * and go in arrays with an element per thread; a stride of 0 stands for one value for all. The results of threads that
 * do not take part stay as they are.
 */

u64 ptx_count(const uint8_t *active, u64 count)
{
    u32 total = 0;
    for (u64 i = 0; i < count; i++)
        total += active[i];
    return total;
}

static inline u32 lanes_of(const uint8_t *bytes, u64 base, u64 count)
{
    u32 left = count - base < 32 ? (u32)(count - base) : 32, lanes = 0;
    if (!bytes)
        return left < 32 ? ((u32)1 << left) - 1 : ~(u32)0;
    for (u32 lane = 0; lane < left; lane++)
        lanes |= (u32)bytes[base + lane] << lane;
    return lanes;
}

static inline void place_of(const Launch *launch, u64 linear, u32 *place)
{
    u64 nx = launch->block[0], ny = launch->block[1];
    place[0] = (u32)(linear % nx);
    place[1] = (u32)(linear / nx % ny);
    place[2] = (u32)(linear / nx / ny);
}

/* A lane that bar.warp.sync names has not come and has not ended. It may still come to another one, but what it does
 * before that is not done yet. */
static __attribute__((noinline, cold)) u32 divergent_operation(Launch *launch, Block *block, u64 base, u32 here, u32 mask,
                                                               u32 op, u32 alive, u32 site)
{
    u32 place[3];
    place_of(launch, base + (u32)__builtin_ctz(here), place);
    record_fault(launch, block, place[0], place[1], place[2], FAULT_DIVERGENT_WARP_OP, ACCESS_NONE, site, 0, 0);
    u32 detail[4] = {here, mask, op, ~alive};
    for (int i = 0; i < 4; i++)
        launch->fault.detail[i] = detail[i];
    return 1;
}

#define FOR_WARPS(base, here)                                                                                          \
    for (u64 base = 0; base < count; base += 32)                                                                       \
        for (u32 here = lanes_of(active, base, count), once = 1; once && here; once = 0)

/* A lane that a mask names but that runs elsewhere is not waited for: it never comes to this very place. Its value is
 * open in PTX; what is out of range gets the own value, and so does who asks for this one. */

/* shfl: `values` hold each thread's own; predicates may be null. */
static inline void shuffle(const uint8_t *active, u64 count, u32 op, const u32 *values, const u32 *b, u64 b_stride,
                           const u32 *c, u64 c_stride, u32 *results, uint8_t *predicates)
{
    FOR_WARPS(base, here) {
        u32 lanes = count - base < 32 ? (u32)(count - base) : 32;
        for (u32 lane = 0; lane < lanes; lane++) {
            u64 i = base + lane;
            u32 delta = b[i * b_stride] & 31, control = c[i * c_stride], clamp = control & 31;
            u32 segment = control >> 8 & 31, first = lane & segment, last = first | (clamp & ~segment);
            s32 source = op == WARP_SHFL_UP     ? (s32)lane - (s32)delta
                         : op == WARP_SHFL_DOWN ? (s32)(lane + delta)
                         : op == WARP_SHFL_BFLY ? (s32)(lane ^ delta)
                                                : (s32)(first | (delta & ~segment));
            int inside = op == WARP_SHFL_UP ? source >= (s32)last : source <= (s32)last;
            int there = inside && (here >> (source & 31) & 1);
            u32 value = values[there ? base + (u32)source : i];
            if (here >> lane & 1) {
                results[i] = value;
                if (predicates)
                    predicates[i] = (uint8_t)inside;
            }
        }
    }
}

/* Out of line, since vectorised once for each mode is enough. */
#define SHUFFLE(mode, op)                                                                                              \
    __attribute__((noinline)) void ptx_block_shfl_##mode(const uint8_t *active, u64 count, const u32 *values,          \
                                                         const u32 *b, u64 b_stride, const u32 *c, u64 c_stride,       \
                                                         u32 *results, uint8_t *predicates)                            \
    {                                                                                                                  \
        if ((b_stride | c_stride) == 0)                                                                                \
            shuffle(active, count, op, values, b, 0, c, 0, results, predicates);                                       \
        else                                                                                                           \
            shuffle(active, count, op, values, b, b_stride, c, c_stride, results, predicates);                         \
    }

SHUFFLE(up, WARP_SHFL_UP)
SHUFFLE(down, WARP_SHFL_DOWN)
SHUFFLE(bfly, WARP_SHFL_BFLY)
SHUFFLE(idx, WARP_SHFL_IDX)

/* vote, match, redux, activemask, elect and bar.warp.sync: one result for those of a warp that take part, except for
 * elect's predicate. `values` are 64 bits wide for match, null where there are none. */
__attribute__((noinline)) u32 ptx_block_warp(Launch *launch, Block *block, const uint8_t *active, const uint8_t *alive, u64 count, u32 op, u32 mask,
                   u32 site, const u64 *values, u32 *results, uint8_t *predicates)
{
    FOR_WARPS(base, here) {
        if (op == WARP_SYNC) {
            u32 living = lanes_of(alive, base, count);
            if (mask & living & ~here)
                return divergent_operation(launch, block, base, here, mask, op, living, site);
            continue;
        }
        u32 part = mask == MASK_CONVERGED || (here & mask) == 0 ? here : here & mask;
        u32 leader = (u32)__builtin_ctz(part), set = 0, result = 0, predicate = 0;
        u64 first = values ? values[base + leader] : 0;
        if (op >= WARP_VOTE_ALL && op <= WARP_VOTE_BALLOT)
            for (u32 lane = 0; lane < 32; lane++)
                if (part >> lane & 1)
                    set |= (u32)(values[base + lane] != 0) << lane;
        switch (op) {
        case WARP_VOTE_ALL: result = predicate = set == part; break;
        case WARP_VOTE_ANY: result = predicate = set != 0; break;
        case WARP_VOTE_UNI: result = predicate = set == 0 || set == part; break;
        case WARP_VOTE_BALLOT: result = set; break;
        case WARP_ACTIVEMASK: result = here; break;
        case WARP_ELECT: result = leader; break;
        case WARP_MATCH_ALL:
            for (u32 lane = 0; lane < 32; lane++)
                if (part >> lane & 1)
                    set |= (u32)(values[base + lane] == first) << lane;
            predicate = set == part;
            result = predicate ? part : 0;
            break;
        case WARP_MATCH_ANY: break;
        default:
            result = (u32)first;
            for (u32 lane = leader + 1; lane < 32; lane++) {
                if (!(part >> lane & 1))
                    continue;
                u32 value = (u32)values[base + lane];
                switch (op) {
                case WARP_REDUX_ADD: result += value; break;
                case WARP_REDUX_MIN_U32: result = value < result ? value : result; break;
                case WARP_REDUX_MAX_U32: result = value > result ? value : result; break;
                case WARP_REDUX_MIN_S32: result = (s32)value < (s32)result ? value : result; break;
                case WARP_REDUX_MAX_S32: result = (s32)value > (s32)result ? value : result; break;
                case WARP_REDUX_AND: result &= value; break;
                case WARP_REDUX_OR: result |= value; break;
                default: result ^= value; break;
                }
            }
        }
        for (u32 lane = 0; lane < 32; lane++) {
            if (!(here >> lane & 1))
                continue;
            if (op == WARP_MATCH_ANY) {
                result = 0;
                for (u32 other = 0; other < 32; other++)
                    if (part >> other & 1)
                        result |= (u32)(values[base + other] == values[base + lane]) << other;
                predicate = result != 0;
            }
            if (op == WARP_ELECT)
                predicate = lane == leader;
            if (results)
                results[base + lane] = result;
            if (predicates)
                predicates[base + lane] = (uint8_t)predicate;
        }
    }
    return 0;
}

/* bar.red: the result that all get. */
u32 ptx_block_reduction(const uint8_t *active, u64 count, u32 op, const u64 *values)
{
    u64 here = 0, set = 0;
    for (u64 i = 0; i < count; i++) {
        u64 one = active ? active[i] : 1;
        here += one;
        set += one & (values[i] != 0);
    }
    return op == BARRIER_RED_AND ? set == here : op == BARRIER_RED_OR ? set != 0 : (u32)set;
}

void ptx_fill_u8(const uint8_t *active, u64 count, u32 value, uint8_t *results)
{
    for (u64 i = 0; i < count; i++)
        if (!active || active[i])
            results[i] = value != 0;
}

void ptx_fill_u32(const uint8_t *active, u64 count, u32 value, u32 *results)
{
    for (u64 i = 0; i < count; i++)
        if (!active || active[i])
            results[i] = value;
}

/* ---------------------------------------------------------------- checked accesses */

typedef struct Span { u64 base, end; } Span;

static inline Span legal(u64 base, u64 end) { return (Span){base, end}; }

/* The memory that holds an access that missed the last range found, or an empty span after the fault is recorded.
 * `what` is the access of abi.h in its low byte and, above it, where the block remembers the range (or too much for
 * that); the access is aligned to its size, which is a power of two. */
__attribute__((noinline, cold)) Span ptx_find_global(Launch *launch, Block *block, u32 x, u32 y, u32 z, u64 address,
                                                     u64 nbytes, u32 what, u32 site)
{
    u32 kind = FAULT_MISALIGNED, access = what & 0xff, slot = what >> 8;
    if ((address & (nbytes - 1)) == 0) {
        const Range *range = find_range(launch, address, nbytes);
        if (range && (access == ACCESS_READ || range->flags & 1)) {
            if (slot < KNOWN_RANGES) {
                block->known[2 * slot] = ~range->base;
                block->known[2 * slot + 1] = ~range->end;
            }
            return legal(range->base, range->end);
        }
        kind = range ? FAULT_READ_ONLY : FAULT_OUT_OF_BOUNDS;
    }
    record_fault(launch, block, x, y, z, kind, access, site, address, nbytes);
    return legal(0, 0);
}

/* The same for a generic address, which may also lie in shared, local or parameter memory. */
__attribute__((noinline, cold)) Span ptx_find_generic(Launch *launch, Block *block, u32 x, u32 y, u32 z, u64 address,
                                                      u64 nbytes, u32 what, u32 site, u64 local, u64 local_nbytes,
                                                      u64 params_nbytes)
{
    if ((address & (nbytes - 1)) == 0) {
        u64 shared = (u64)block->shared, params = (u64)launch->params;
        if (address - shared < launch->shared_nbytes && nbytes <= launch->shared_nbytes - (address - shared))
            return legal(shared, shared + launch->shared_nbytes);
        if (address - local < local_nbytes && nbytes <= local_nbytes - (address - local))
            return legal(local, local + local_nbytes);
        if ((what & 0xff) == ACCESS_READ && address - params < params_nbytes && nbytes <= params_nbytes - (address - params))
            return legal(params, params + params_nbytes);
    }
    return ptx_find_global(launch, block, x, y, z, address, nbytes, what, site);
}
