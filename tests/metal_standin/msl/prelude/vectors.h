// Making vectors from scalars and other vectors; casts between them; vectors of bool.
#pragma once

namespace metal {

// A comparison of vectors is a vector of whole numbers to the host's compiler; here it becomes one of bool.
template <int N> struct __msl_bools {
    bool elements[N];
    __msl_bools() = default;
    __msl_bools(bool all) { for (int i = 0; i < N; i++) elements[i] = all; }
    template <class T> __msl_bools(vec<T, N> v) { for (int i = 0; i < N; i++) elements[i] = v[i] != 0; }
    bool &operator[](int i) { return elements[i]; }
    bool operator[](int i) const { return elements[i]; }
    __msl_bools operator!() const { __msl_bools r; for (int i = 0; i < N; i++) r[i] = !elements[i]; return r; }
};
#define MSL_BOOL_OPERATOR(OP) \
    template <int N> __msl_bools<N> operator OP(__msl_bools<N> a, __msl_bools<N> b) \
    { __msl_bools<N> r; for (int i = 0; i < N; i++) r[i] = a[i] OP b[i]; return r; }
MSL_BOOL_OPERATOR(&&)
MSL_BOOL_OPERATOR(||)
MSL_BOOL_OPERATOR(&)
MSL_BOOL_OPERATOR(|)
MSL_BOOL_OPERATOR(^)
MSL_BOOL_OPERATOR(==)
MSL_BOOL_OPERATOR(!=)
template <int N> struct __msl_shape<__msl_bools<N>> { using element = bool; static constexpr int count = N; };

template <class V, class A> inline void __msl_pour(V &to, int &at, const A &from)
{
    if constexpr (__msl_count<A> == 1)
        to[at++] = (__msl_element<V>)from;
    else
        for (int i = 0; i < __msl_count<A>; i++)
            to[at++] = (__msl_element<V>)from[i];
}

template <class T, int N, class... A> inline vec<T, N> __msl_make(A... from)
{
    constexpr int total = (0 + ... + __msl_count<A>);
    static_assert(((__msl_count<A> > 0) && ...), "a vector is made of scalars and vectors");
    vec<T, N> made;
    if constexpr (sizeof...(A) == 0) {
        for (int i = 0; i < N; i++) made[i] = 0;
    } else if constexpr (total == 1) {
        for (int i = 0; i < N; i++) made[i] = (T)(from, ...);
    } else {
        static_assert(total == N, "a vector needs as many components as it has, or one scalar");
        int at = 0;
        (__msl_pour(made, at, from), ...);
    }
    return made;
}
template <int N, class... A> inline __msl_bools<N> __msl_make_bools(A... from)
{
    constexpr int total = (0 + ... + __msl_count<A>);
    static_assert(total == N || total == 1, "a vector needs as many components as it has, or one scalar");
    __msl_bools<N> made;
    if constexpr (total == 1) {
        for (int i = 0; i < N; i++) made[i] = (bool)(from, ...);
    } else {
        int at = 0;
        (__msl_pour(made, at, from), ...);
    }
    return made;
}

// vec<T, N>(…), static_cast<float4>(…) and (float4)x convert each component; to the host's compiler they would keep
// the bits. rewriting.py writes them with these.
template <class V, class... A> inline V __msl_construct(A... from)
{
    if constexpr (__msl_is_vector<V>)
        return __msl_make<__msl_element<V>, __msl_count<V>>(from...);
    else
        return V(from...);
}
template <class V> struct __msl_caster {
    template <class A> inline V operator->*(A from) const { return __msl_construct<V>(from); }
};

template <class T, size_t N> struct array {
    T elements[N];
    constexpr T &operator[](size_t i) { return elements[i]; }
    constexpr const T &operator[](size_t i) const { return elements[i]; }
    constexpr size_t size() const { return N; }
};

template <class To, class From> inline To as_type(From from)
{
    static_assert(sizeof(To) == sizeof(From), "as_type needs types of one size");
    if constexpr (sizeof(To) == sizeof(From))
        return __builtin_bit_cast(To, from);
}

}

using metal::__msl_caster;
using metal::__msl_construct;
using metal::__msl_make;
using metal::__msl_make_bools;
using metal::as_type;
using bool2 = metal::__msl_bools<2>;
using bool3 = metal::__msl_bools<3>;
using bool4 = metal::__msl_bools<4>;
namespace metal { using ::bool2; using ::bool3; using ::bool4; }
