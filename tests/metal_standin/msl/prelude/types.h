// Scalars, vectors, packed vectors and the few type traits that the library itself needs.
#pragma once

#include "../msl_abi.h"

#ifdef MSL_CHECK
#define MSL_DEVICE __attribute__((address_space(1)))
#define MSL_CONSTANT const __attribute__((address_space(2)))
#define MSL_THREADGROUP __attribute__((address_space(3)))
#else
#define MSL_DEVICE
#define MSL_CONSTANT const
#define MSL_THREADGROUP
#endif

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
typedef __bf16 bfloat;

typedef signed char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef long int64_t;
// uint32_t and uint64_t are in msl_abi.h; size_t and ptrdiff_t follow.
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef unsigned long uintptr_t;
typedef long intptr_t;

// 1.5h is a half, 1.5bf a bfloat; the host's compiler lets no such ending be defined, so rewriting.py writes 1.5_b.
constexpr half operator""h(long double value) { return (half)value; }
constexpr bfloat operator""_b(long double value) { return (bfloat)value; }

namespace metal {

template <class T, int N> using vec = T __attribute__((ext_vector_type(N)));

template <bool Condition, class T = void> struct __msl_enable_if {};
template <class T> struct __msl_enable_if<true, T> { using type = T; };
template <bool Condition, class T = void> using __msl_if = typename __msl_enable_if<Condition, T>::type;

template <class T> struct __msl_plain_type { using type = T; };
template <class T> struct __msl_plain_type<const T> { using type = T; };
template <class T> struct __msl_plain_type<volatile T> { using type = T; };
template <class T> struct __msl_plain_type<const volatile T> { using type = T; };
template <class T> using __msl_plain = typename __msl_plain_type<T>::type;

template <class A, class B> constexpr bool is_same_v = __is_same(A, B);
template <class T> constexpr bool __msl_is_floating =
    is_same_v<T, float> || is_same_v<T, half> || is_same_v<T, bfloat>;
template <class T> constexpr bool is_floating_point_v = __msl_is_floating<T>;
template <class T> constexpr bool is_integral_v = __is_integral(T);
template <class T> constexpr bool is_signed_v = __is_signed(T);
template <class T> constexpr bool __msl_is_scalar = __msl_is_floating<T> || __is_integral(T);

template <bool Condition, class A, class B> struct conditional { using type = A; };
template <class A, class B> struct conditional<false, A, B> { using type = B; };
template <bool Condition, class A, class B> using conditional_t = typename conditional<Condition, A, B>::type;
template <bool Condition, class T = void> using enable_if = __msl_enable_if<Condition, T>;
template <bool Condition, class T = void> using enable_if_t = __msl_if<Condition, T>;
template <class T, T Value> struct integral_constant { static constexpr T value = Value; };
template <class A, class B> struct is_same { static constexpr bool value = __is_same(A, B); };

// The shape of any argument: a scalar, a vector of N, or something else.
template <class T> struct __msl_shape { using element = T; static constexpr int count = __msl_is_scalar<T> ? 1 : 0; };
template <class T, int N> struct __msl_shape<vec<T, N>> {
    using element = T;
    static constexpr int count = N;
};
template <class T> using __msl_element = typename __msl_shape<__msl_plain<T>>::element;
template <class T> constexpr int __msl_count = __msl_shape<__msl_plain<T>>::count;
template <class T> constexpr bool __msl_is_vector = (__msl_count<T> > 1);

// A vector without padding, aligned as its element is.
template <class T, int N> struct __msl_packed {
    T elements[N];
    __msl_packed() = default;
    __msl_packed(vec<T, N> from) { for (int i = 0; i < N; i++) elements[i] = from[i]; }
    operator vec<T, N>() const { vec<T, N> to; for (int i = 0; i < N; i++) to[i] = elements[i]; return to; }
    T &operator[](int i) { return elements[i]; }
    const T &operator[](int i) const { return elements[i]; }
};
template <class T> struct __msl_packed<T, 2> {
    T x, y;
    __msl_packed() = default;
    __msl_packed(vec<T, 2> v) : x(v.x), y(v.y) {}
    __msl_packed(T a, T b) : x(a), y(b) {}
    operator vec<T, 2>() const { vec<T, 2> v; v.x = x; v.y = y; return v; }
    T &operator[](int i) { return (&x)[i]; }
    const T &operator[](int i) const { return (&x)[i]; }
};
template <class T> struct __msl_packed<T, 3> {
    T x, y, z;
    __msl_packed() = default;
    __msl_packed(vec<T, 3> v) : x(v.x), y(v.y), z(v.z) {}
    __msl_packed(T a, T b, T c) : x(a), y(b), z(c) {}
    operator vec<T, 3>() const { vec<T, 3> v; v.x = x; v.y = y; v.z = z; return v; }
    T &operator[](int i) { return (&x)[i]; }
    const T &operator[](int i) const { return (&x)[i]; }
};
template <class T> struct __msl_packed<T, 4> {
    T x, y, z, w;
    __msl_packed() = default;
    __msl_packed(vec<T, 4> v) : x(v.x), y(v.y), z(v.z), w(v.w) {}
    __msl_packed(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
    operator vec<T, 4>() const { vec<T, 4> v; v.x = x; v.y = y; v.z = z; v.w = w; return v; }
    T &operator[](int i) { return (&x)[i]; }
    const T &operator[](int i) const { return (&x)[i]; }
};
template <class T, int N> struct __msl_shape<__msl_packed<T, N>> {
    using element = T;
    static constexpr int count = N;
};

}

#define MSL_EACH_ELEMENT(EACH) \
    EACH(char) EACH(uchar) EACH(short) EACH(ushort) EACH(int) EACH(uint) EACH(long) EACH(ulong) EACH(half) EACH(float) EACH(bfloat)

#define MSL_VECTORS(T) \
    typedef metal::vec<T, 2> T##2; typedef metal::vec<T, 3> T##3; typedef metal::vec<T, 4> T##4;
MSL_EACH_ELEMENT(MSL_VECTORS)
#ifdef MSL_CHECK
// The check makes no code, and a class could not be read from memory of another address space. Sizes are compared when
// the text is compiled.
#define MSL_PACKED(T) \
    typedef T packed_##T##2 __attribute__((ext_vector_type(2), aligned(sizeof(T)))); \
    typedef T packed_##T##3 __attribute__((ext_vector_type(3), aligned(sizeof(T)))); \
    typedef T packed_##T##4 __attribute__((ext_vector_type(4), aligned(sizeof(T))));
#else
#define MSL_PACKED(T) \
    typedef metal::__msl_packed<T, 2> packed_##T##2; typedef metal::__msl_packed<T, 3> packed_##T##3; \
    typedef metal::__msl_packed<T, 4> packed_##T##4;
#endif
MSL_EACH_ELEMENT(MSL_PACKED)
// Copies by which a declarator that starts with a parenthesis is written (rewriting.py).
#define MSL_NAMED(T) typedef T##2 __msl_##T##2; typedef T##3 __msl_##T##3; typedef T##4 __msl_##T##4;
MSL_EACH_ELEMENT(MSL_NAMED)
#define MSL_INTO_METAL(T) \
    using ::T##2; using ::T##3; using ::T##4; using ::packed_##T##2; using ::packed_##T##3; using ::packed_##T##4;
namespace metal {
MSL_EACH_ELEMENT(MSL_INTO_METAL)
using ::uchar; using ::ushort; using ::uint; using ::ulong; using ::half; using ::bfloat; using ::size_t;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t;
using ::uint32_t; using ::uint64_t; using ::ptrdiff_t;
}
