// Atomic operations on device and threadgroup memory, relaxed as Metal's are.
#pragma once

namespace metal {

enum memory_order { memory_order_relaxed };

template <class T> struct atomic {
    static_assert(is_same_v<T, int> || is_same_v<T, uint> || is_same_v<T, ulong> || is_same_v<T, float> || is_same_v<T, bool>,
                  "an atomic is of int, uint, ulong, float or bool");
    T __value;
};
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<ulong> atomic_ulong;
typedef atomic<float> atomic_float;
typedef atomic<bool> atomic_bool;

// The bits of a float are exchanged and compared as those of a whole number.
template <class T> struct __msl_bits_of { using type = T; };
template <> struct __msl_bits_of<float> { using type = uint; };
template <class T> using __msl_as_bits = typename __msl_bits_of<T>::type;
#define MSL_PLACE(T, object) ((__msl_as_bits<T> *)(unsigned long)&(object)->__value)
#define MSL_BITS(T, value) __builtin_bit_cast(__msl_as_bits<T>, (T)(value))

template <class T> struct __msl_itself { using type = T; };
template <class T> using __msl_operand = typename __msl_itself<T>::type;

template <class T, class F> inline T __msl_change(__msl_as_bits<T> *place, F changed)
{
    __msl_as_bits<T> before = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(place, &before, MSL_BITS(T, changed(__builtin_bit_cast(T, before))), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return __builtin_bit_cast(T, before);
}

#define MSL_FETCH(SPACE, NAME, WHERE, COMBINE) \
    template <class T> inline __msl_if<WHERE, T> atomic_fetch_##NAME##_explicit(volatile SPACE atomic<T> *object, __msl_operand<T> b, memory_order) \
    { return __msl_change<T>(MSL_PLACE(T, object), [b](T a) -> T { return COMBINE; }); }
#define MSL_ATOMICS(SPACE) \
    template <class T> inline T atomic_load_explicit(const volatile SPACE atomic<T> *object, memory_order) \
    { return __builtin_bit_cast(T, __atomic_load_n(MSL_PLACE(T, object), __ATOMIC_RELAXED)); } \
    template <class T> inline void atomic_store_explicit(volatile SPACE atomic<T> *object, __msl_operand<T> value, memory_order) \
    { __atomic_store_n(MSL_PLACE(T, object), MSL_BITS(T, value), __ATOMIC_RELAXED); } \
    template <class T> inline T atomic_exchange_explicit(volatile SPACE atomic<T> *object, __msl_operand<T> value, memory_order) \
    { return __builtin_bit_cast(T, __atomic_exchange_n(MSL_PLACE(T, object), MSL_BITS(T, value), __ATOMIC_RELAXED)); } \
    template <class T> inline bool atomic_compare_exchange_weak_explicit(volatile SPACE atomic<T> *object, T *expected, __msl_operand<T> value, memory_order, memory_order) \
    { \
        __msl_as_bits<T> bits = MSL_BITS(T, *expected); \
        const bool done = __atomic_compare_exchange_n(MSL_PLACE(T, object), &bits, MSL_BITS(T, value), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        *expected = __builtin_bit_cast(T, bits); \
        return done; \
    } \
    MSL_FETCH(SPACE, add, (!is_same_v<T, bool>), a + b) \
    MSL_FETCH(SPACE, sub, (!is_same_v<T, bool>), a - b) \
    MSL_FETCH(SPACE, min, (__is_integral(T) && !is_same_v<T, bool>), b < a ? b : a) \
    MSL_FETCH(SPACE, max, (__is_integral(T) && !is_same_v<T, bool>), a < b ? b : a) \
    MSL_FETCH(SPACE, and, (__is_integral(T) && !is_same_v<T, bool>), a & b) \
    MSL_FETCH(SPACE, or, (__is_integral(T) && !is_same_v<T, bool>), a | b) \
    MSL_FETCH(SPACE, xor, (__is_integral(T) && !is_same_v<T, bool>), a ^ b)
MSL_ATOMICS(MSL_DEVICE)
#ifdef MSL_CHECK
MSL_ATOMICS(MSL_THREADGROUP)
#endif

}
