/* What the stand-in's HIP needs of hip_runtime_api.h, in our own words: numbers and layouts, no text of it.
 *
 * Layouts are those of ROCm 6 and 7 (R0600) on x86-64; tests/hip/test_standin.py reads them through AMD's bindings. */
#ifndef STANDIN_HIP_H
#define STANDIN_HIP_H

#include <stddef.h>
#include <stdint.h>

#include "core.h"

typedef void *hip_handle; /* hipStream_t, hipEvent_t, hipModule_t, …: pointers that are never looked into */

enum {
    HIP_SUCCESS = 0,
    HIP_INVALID_VALUE = 1,
    HIP_INVALID_CONFIGURATION = 9,
    HIP_NOT_READY = 600,
    HIP_LAUNCH_FAILURE = 719,
    HIP_UNKNOWN = 999,
    HIP_INVALID_CLUSTER_SIZE = 1054,
};

enum { HIP_MEMCPY_H2H, HIP_MEMCPY_H2D, HIP_MEMCPY_D2H, HIP_MEMCPY_D2D, HIP_MEMCPY_DEFAULT };

struct hip_dim3 {
    uint32_t x, y, z;
};

struct hip_kernel_node {
    struct hip_dim3 block;
    void **extra;
    void *function;
    struct hip_dim3 grid;
    void **parameters;
    unsigned shared;
};

struct hip_location {
    int type, id; /* 1: a device */
};
struct hip_allocation {
    int type, handle_type;
    struct hip_location location;
    void *win32;
    unsigned char flags[8];
};
struct hip_access {
    struct hip_location location;
    int flags; /* 0 none, 1 read, 3 read and write */
};

#define HIP_PROPERTIES_NBYTES 1472
enum { HIP_PROPERTIES_NAME = 0, HIP_PROPERTIES_TOTAL = 288, HIP_PROPERTIES_WARP = 308, HIP_PROPERTIES_ARCHITECTURE = 1160 };

/* hip_code.c: the code object in these bytes as a module. `nbytes` 0: found from its headers, as the driver does. */
int hip_module_from_code_object(core_handle *out, const void *image, const char *architecture);

/* hip_names.c */
const char *hip_error_name(int code);
const char *hip_error_text(int code);
int hip_code(int core_code); /* HIP's number for one of the core's */

#endif
