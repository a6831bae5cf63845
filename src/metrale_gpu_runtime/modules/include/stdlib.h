// NVRTC brings no C library of its own; device code gets from this header what it can use, no more.
#pragma once
// malloc, free and abs are the compiler's own. The three short names come with a host's stdlib.h.
#include <stddef.h>
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
