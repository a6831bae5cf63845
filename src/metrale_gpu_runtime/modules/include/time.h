// NVRTC brings no C library of its own; device code gets from this header what it can use, no more.
#pragma once
// clock and clock_t are the compiler's own.
#include <stddef.h>
