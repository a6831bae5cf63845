// NVRTC brings no C library of its own; device code gets from this header what it can use, no more.
#pragma once
#define __bool_true_false_are_defined 1
