// NVRTC brings no C library of its own; device code gets from this header what it can use, no more.
#pragma once
// memcpy and memset are the compiler's own. The str… functions belong to the host.
#include <stddef.h>
