// Functions of whole numbers, and those that numbers of every kind share: min, max, clamp, select.
#pragma once

namespace metal {

template <class T> using __msl_scalar = __msl_if<__msl_is_scalar<T>, T>;
template <class T> using __msl_whole = __msl_if<__is_integral(T), T>;

// As Metal's overloads, these take two operands of one type: max(x, 0) of a float is refused as ambiguous there.
template <class T> inline __msl_scalar<T> min(T a, T b)
{
    if constexpr (__msl_is_floating<T>) return (T)__builtin_fminf((float)a, (float)b);
    else return b < a ? b : a;
}
template <class T> inline __msl_scalar<T> max(T a, T b)
{
    if constexpr (__msl_is_floating<T>) return (T)__builtin_fmaxf((float)a, (float)b);
    else return a < b ? b : a;
}
template <class T> inline __msl_scalar<T> clamp(T x, T low, T high) { return min(max(x, low), high); }
template <class T> inline __msl_scalar<T> min3(T a, T b, T c) { return min(a, min(b, c)); }
template <class T> inline __msl_scalar<T> max3(T a, T b, T c) { return max(a, max(b, c)); }
template <class T> inline __msl_scalar<T> median3(T a, T b, T c) { return max(min(a, b), min(max(a, b), c)); }
template <class T> inline __msl_scalar<T> abs(T x) { return x < (T)0 ? (T)-x : __msl_is_floating<T> ? (T)(x + (T)0) : x; }
template <> inline float abs(float x) { return __builtin_fabsf(x); }
template <> inline half abs(half x) { return (half)__builtin_fabsf((float)x); }
template <class T> inline __msl_scalar<T> select(T no, T yes, bool which) { return which ? yes : no; }

template <class T> inline __msl_whole<T> absdiff(T a, T b) { return a < b ? b - a : a - b; }
template <class T> struct numeric_limits;
template <class T> inline __msl_whole<T> addsat(T a, T b)
{ T sum; return !__builtin_add_overflow(a, b, &sum) ? sum : a < (T)0 ? numeric_limits<T>::min() : numeric_limits<T>::max(); }
template <class T> inline __msl_whole<T> subsat(T a, T b)
{ T difference; return !__builtin_sub_overflow(a, b, &difference) ? difference : !__is_signed(T) || a < (T)0 ? numeric_limits<T>::min() : numeric_limits<T>::max(); }
template <class T> inline __msl_whole<T> hadd(T a, T b) { return (a & b) + ((a ^ b) >> 1); }
template <class T> inline __msl_whole<T> rhadd(T a, T b) { return (a | b) - ((a ^ b) >> 1); }
template <class T> inline __msl_whole<T> mulhi(T a, T b)
{
    if constexpr (__is_signed(T)) return (T)((__int128)a * b >> 8 * sizeof(T));
    else return (T)((unsigned __int128)a * b >> 8 * sizeof(T));
}
template <class T> inline __msl_whole<T> mad24(T a, T b, T c) { return a * b + c; }
template <class T> inline __msl_whole<T> mul24(T a, T b) { return a * b; }
template <class T> inline __msl_whole<T> madhi(T a, T b, T c) { return mulhi(a, b) + c; }
template <class T> inline unsigned long __msl_bits(T x) { return (unsigned long)x & (sizeof(T) == 8 ? ~0ul : (1ul << 8 * sizeof(T)) - 1); }
template <class T> inline __msl_whole<T> clz(T x) { return x == 0 ? (T)(8 * sizeof(T)) : (T)(__builtin_clzl(__msl_bits(x)) - (64 - 8 * (int)sizeof(T))); }
template <class T> inline __msl_whole<T> ctz(T x) { return x == 0 ? (T)(8 * sizeof(T)) : (T)__builtin_ctzl(__msl_bits(x)); }
template <class T> inline __msl_whole<T> popcount(T x) { return (T)__builtin_popcountl(__msl_bits(x)); }
template <class T> inline __msl_whole<T> reverse_bits(T x) { return (T)__builtin_elementwise_bitreverse(x); }
template <class T> inline __msl_whole<T> rotate(T x, T by)
{
    const unsigned width = 8 * sizeof(T), n = (unsigned)by % width;
    const unsigned long bits = __msl_bits(x);
    return n == 0 ? x : (T)(bits << n | bits >> (width - n));
}
template <class T> inline __msl_whole<T> extract_bits(T x, uint offset, uint bits)
{
    const unsigned width = 8 * sizeof(T);
    if (bits == 0) return 0;
    const T up = (T)(__msl_bits(x) << (width - bits - offset));
    return (T)(up >> (width - bits));
}
template <class T> inline __msl_whole<T> insert_bits(T base, T insert, uint offset, uint bits)
{
    const unsigned long mask = (bits == 64 ? ~0ul : (1ul << bits) - 1) << offset;
    return (T)((__msl_bits(base) & ~mask) | (__msl_bits(insert) << offset & mask));
}

#define MSL_BY_COMPONENT_1(NAME) \
    template <class T, int N> inline vec<T, N> NAME(vec<T, N> x) { vec<T, N> r; for (int i = 0; i < N; i++) r[i] = NAME((T)x[i]); return r; }
#define MSL_BY_COMPONENT_2(NAME) \
    template <class T, int N> inline vec<T, N> NAME(vec<T, N> x, vec<T, N> y) \
    { vec<T, N> r; for (int i = 0; i < N; i++) r[i] = NAME((T)x[i], (T)y[i]); return r; }
#define MSL_BY_COMPONENT_3(NAME) \
    template <class T, int N> inline vec<T, N> NAME(vec<T, N> x, vec<T, N> y, vec<T, N> z) \
    { vec<T, N> r; for (int i = 0; i < N; i++) r[i] = NAME((T)x[i], (T)y[i], (T)z[i]); return r; }
MSL_BY_COMPONENT_1(abs)
MSL_BY_COMPONENT_1(clz)
MSL_BY_COMPONENT_1(ctz)
MSL_BY_COMPONENT_1(popcount)
MSL_BY_COMPONENT_1(reverse_bits)
MSL_BY_COMPONENT_2(min)
MSL_BY_COMPONENT_2(max)
MSL_BY_COMPONENT_2(absdiff)
MSL_BY_COMPONENT_2(addsat)
MSL_BY_COMPONENT_2(subsat)
MSL_BY_COMPONENT_2(hadd)
MSL_BY_COMPONENT_2(mulhi)
MSL_BY_COMPONENT_2(rotate)
MSL_BY_COMPONENT_3(clamp)
MSL_BY_COMPONENT_3(min3)
MSL_BY_COMPONENT_3(max3)
MSL_BY_COMPONENT_3(median3)
template <class T, int N> inline vec<T, N> min(vec<T, N> x, T y) { return min(x, (vec<T, N>)y); }
template <class T, int N> inline vec<T, N> max(vec<T, N> x, T y) { return max(x, (vec<T, N>)y); }
template <class T, int N> inline vec<T, N> clamp(vec<T, N> x, T low, T high) { return clamp(x, (vec<T, N>)low, (vec<T, N>)high); }

// The mask of a select is a comparison (whole numbers to the host's compiler) or a vector of bool.
template <class T, int N, class M> inline vec<T, N> select(vec<T, N> no, vec<T, N> yes, vec<M, N> which)
{ vec<T, N> r; for (int i = 0; i < N; i++) r[i] = which[i] ? yes[i] : no[i]; return r; }
template <class T, int N> inline vec<T, N> select(vec<T, N> no, vec<T, N> yes, __msl_bools<N> which)
{ vec<T, N> r; for (int i = 0; i < N; i++) r[i] = which[i] ? yes[i] : no[i]; return r; }
template <class M, int N> inline bool all(vec<M, N> v) { bool r = true; for (int i = 0; i < N; i++) r = r && v[i]; return r; }
template <class M, int N> inline bool any(vec<M, N> v) { bool r = false; for (int i = 0; i < N; i++) r = r || v[i]; return r; }
template <int N> inline bool all(__msl_bools<N> v) { bool r = true; for (int i = 0; i < N; i++) r = r && v[i]; return r; }
template <int N> inline bool any(__msl_bools<N> v) { bool r = false; for (int i = 0; i < N; i++) r = r || v[i]; return r; }
inline bool all(bool v) { return v; }
inline bool any(bool v) { return v; }

#define MSL_WHOLE_LIMITS(T, LOW, HIGH) \
    template <> struct numeric_limits<T> { \
        static constexpr T max() { return HIGH; } static constexpr T min() { return LOW; } static constexpr T lowest() { return LOW; } \
        static constexpr bool is_signed = __is_signed(T), is_integer = true; };
MSL_WHOLE_LIMITS(char, -128, 127)
MSL_WHOLE_LIMITS(uchar, 0, 255)
MSL_WHOLE_LIMITS(short, -32768, 32767)
MSL_WHOLE_LIMITS(ushort, 0, 65535)
MSL_WHOLE_LIMITS(int, -2147483647 - 1, 2147483647)
MSL_WHOLE_LIMITS(uint, 0, 4294967295u)
MSL_WHOLE_LIMITS(long, -9223372036854775807l - 1, 9223372036854775807l)
MSL_WHOLE_LIMITS(ulong, 0, 18446744073709551615ul)
#define MSL_FLOAT_LIMITS(T, HIGH, LEAST, EPSILON) \
    template <> struct numeric_limits<T> { \
        static constexpr T max() { return (T)HIGH; } static constexpr T lowest() { return (T)-HIGH; } static constexpr T min() { return (T)LEAST; } \
        static constexpr T epsilon() { return (T)EPSILON; } static constexpr T infinity() { return (T)__builtin_inff(); } \
        static constexpr T quiet_NaN() { return (T)__builtin_nanf(""); } static constexpr bool is_signed = true, is_integer = false; };
MSL_FLOAT_LIMITS(float, __FLT_MAX__, __FLT_MIN__, __FLT_EPSILON__)
MSL_FLOAT_LIMITS(half, 65504.0f, 6.103515625e-05f, 9.765625e-04f)
MSL_FLOAT_LIMITS(bfloat, 3.38953139e38f, 1.17549435e-38f, 0.0078125f)

}
