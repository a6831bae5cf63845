// NVRTC brings no C library of its own; device code gets from this header what it can use, no more.
#pragma once
// printf is the compiler's own. Streams, files and the rest of stdio belong to the host.
#include <stddef.h>
