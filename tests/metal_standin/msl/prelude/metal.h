// Metal's standard library as compute kernels use it, for C++ on the host.
//
// MSL_CHECK reads the user's text as it stands, with address spaces that are types of their own, and makes no code;
// without it the rewritten text is compiled (rewriting.py), where all memory is of one kind.
#pragma once

#include "types.h"

#include "vectors.h"

#include "math.h"

#include "integers.h"

#include "geometry.h"

#include "simdgroups.h"

#include "atomics.h"

#ifndef MSL_CHECK
#include "launching.h"
#endif

#include "keywords.h"
