// What the functions that rewriting.py adds behind a library are made of: how a thread gets its arguments, and what
// the types of a kernel's parameters are.
#pragma once

namespace metal {

template <int I, class F> struct __msl_parameter_type;
template <class R, class First, class... Rest> struct __msl_parameter_type<0, R(First, Rest...)> { using type = First; };
template <int I, class R, class First, class... Rest> struct __msl_parameter_type<I, R(First, Rest...)>
    : __msl_parameter_type<I - 1, R(Rest...)> {};

template <class P> struct __msl_bound { static_assert(sizeof(P) == 0, "a bound parameter is a pointer or a reference"); };
template <class T> struct __msl_bound<T *> {
    using target = T;
    static T *at(unsigned long address) { return (T *)address; }
};
template <class T> struct __msl_bound<T &> {
    using target = T;
    static T &at(unsigned long address) { return *(T *)address; }
};
template <class T> struct __msl_is_const { static constexpr bool value = false; };
template <class T> struct __msl_is_const<const T> { static constexpr bool value = true; };

// MTLDataType, of MTLArgument.h: each scalar's code is followed by those of its vectors of 2, 3 and 4.
template <class T> constexpr int __msl_scalar_code()
{
    return is_same_v<T, float> ? 3 : is_same_v<T, half> ? 16 : is_same_v<T, int> ? 29 : is_same_v<T, uint> ? 33
        : is_same_v<T, short> ? 37 : is_same_v<T, ushort> ? 41 : is_same_v<T, char> || is_same_v<T, signed char> ? 45
        : is_same_v<T, uchar> ? 49 : is_same_v<T, bool> ? 53 : is_same_v<T, long> || is_same_v<T, long long> ? 81
        : is_same_v<T, ulong> || is_same_v<T, unsigned long long> ? 85 : is_same_v<T, bfloat> ? 121 : 0;
}
template <class T> struct __msl_code {
    static constexpr int value = __msl_count<T> == 0 ? 1 : __msl_scalar_code<__msl_element<T>>() + __msl_count<T> - 1;
};
template <class T> struct __msl_code<T *> { static constexpr int value = 60; };
template <class T, unsigned long N> struct __msl_code<T[N]> { static constexpr int value = 2; };
template <class T> struct __msl_code<atomic<T>> { static constexpr int value = __msl_scalar_code<T>(); };
template <> struct __msl_code<void> { static constexpr int value = 0; };

template <class T> struct __msl_extent { static constexpr unsigned size = sizeof(T), alignment = alignof(T); };
template <> struct __msl_extent<void> { static constexpr unsigned size = 0, alignment = 1; };

template <class P> constexpr msl_parameter __msl_describe(const char *name, bool is_threadgroup, int index, bool is_used)
{
    using target = typename __msl_bound<P>::target;
    using plain = __msl_plain<target>;
    return {name, is_threadgroup, index, __msl_is_const<target>::value, __msl_code<plain>::value,
            __msl_extent<plain>::size, __msl_extent<plain>::alignment, is_used};
}

// A parameter without an index takes the lowest that no other has.
template <int N> struct __msl_indices {
    int at[N ? N : 1];
    constexpr __msl_indices(const int (&asked)[N ? N : 1]) : at{}
    {
        int next = 0;
        for (int i = 0; i < N; i++) {
            if (asked[i] >= 0) { at[i] = asked[i]; continue; }
            for (bool taken = true; taken;) {
                taken = false;
                for (int k = 0; k < N; k++) taken = taken || asked[k] == next;
                next += taken;
            }
            at[i] = next++;
        }
    }
};

template <class P> struct __msl_position {
    static constexpr int count = __msl_count<P>;
    static_assert((is_same_v<__msl_element<P>, uint> || is_same_v<__msl_element<P>, ushort>) && count <= 3,
                  "type of a position or extent in the grid must be ushort, uint or a vector of 2 or 3 of them");
    static P of(const uint (&xyz)[3])
    {
        if constexpr (count == 1) return (P)xyz[0];
        else { P p; for (int i = 0; i < count; i++) p[i] = (__msl_element<P>)xyz[i]; return p; }
    }
};
template <class P> struct __msl_index_value {
    static_assert(is_same_v<P, uint> || is_same_v<P, ushort>, "type of an index must be ushort or uint");
    static P of(uint index) { return (P)index; }
};
// MSL specification, kernel function input attributes: where several are vectors, they have one number of components.
template <class... P> constexpr bool __msl_components_agree()
{
    int seen = 0;
    bool agree = true;
    ((__msl_count<P> > 1 ? (agree = agree && (seen == 0 || seen == __msl_count<P>), seen = __msl_count<P>) : 0), ...);
    return agree;
}
inline uint __msl_simdgroups(const msl_thread *t)
{
    const uint *n = t->threads_per_threadgroup;
    return (n[0] * n[1] * n[2] + MSL_SIMD_WIDTH - 1) / MSL_SIMD_WIDTH;
}

}

// The threadgroup variables of kernel K: each takes its place when the library is loaded.
extern uint32_t __msl_static_nbytes[];
inline uint32_t __msl_reserve(unsigned k, uint32_t nbytes, uint32_t alignment)
{
    alignment = alignment < 16 ? 16 : alignment;
    const uint32_t at = (__msl_static_nbytes[k] + alignment - 1) / alignment * alignment;
    __msl_static_nbytes[k] = at + nbytes;
    return at;
}
template <unsigned K, int Id, class T> struct __msl_place { static const uint32_t at; };
template <unsigned K, int Id, class T> const uint32_t __msl_place<K, Id, T>::at = __msl_reserve(K, sizeof(T), alignof(T));
template <unsigned K, int Id, class T> inline T &__msl_threadgroup() { return *(T *)(msl_static_memory() + __msl_place<K, Id, T>::at); }

template <class T> inline T __msl_constant(uint32_t index) { T value; msl_read_constant(index, &value, sizeof value); return value; }
