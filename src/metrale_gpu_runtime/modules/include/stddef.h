// NVRTC brings no C library of its own; device code gets from this header what it can use, no more.
#pragma once
// size_t and offsetof's __builtin_offsetof are the compiler's own.
typedef decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr)) ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
struct alignas(16) max_align_t {
    long long widest_integer;
    double widest_float;
};
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
