/* What the files of the CUDA facade share: how an entry point is written, and the two ends of an image. */
#ifndef STANDIN_CUDA_H
#define STANDIN_CUDA_H

#include <cuda.h>

#include "core.h"

#define HANDLE(x) ((core_handle)(uintptr_t)(x))
#define OUT(x) ((core_handle *)(void *)(x))
#define ADDRESS(x) ((core_address *)(void *)(x))

/* The whole of an entry point: enter, do, leave. The expression gives a code. */
#define CALL(needs, expression)                                                      \
    do {                                                                             \
        struct core_call call_;                                                      \
        int code_ = core_enter(&call_, __func__, (needs));                           \
        if (!code_) code_ = (expression);                                            \
        return (CUresult)core_leave(&call_, code_);                                  \
    } while (0)
/* The same for what fits in no expression; the block sets `code`. */
#define BEGIN(needs)                                                                 \
    struct core_call call_;                                                          \
    int code = core_enter(&call_, __func__, (needs));                                \
    if (code) return (CUresult)core_leave(&call_, code)
#define END return (CUresult)core_leave(&call_, code)
#define REFUSE(condition, with) \
    if (condition) return (CUresult)core_leave(&call_, (with))

#define INIT CORE_NEEDS_INIT
#define CONTEXT CORE_NEEDS_CONTEXT
#define UNSAFE (CORE_NEEDS_CONTEXT | CORE_UNSAFE_IN_CAPTURE)

/* Reads an image (PTX text, cubin, fatbin or its wrapper) into a new module of the current context. What a compiler
 * would say goes to `log`. */
int image_load(core_handle *out, const void *image, char *log, size_t log_room);
int launch_from_config(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra,
                       struct core_launch *out);

struct entry_point { const char *name; void *function; };
struct entry_alias { const char *name, *target; };
struct error_name { int code; const char *name; };
extern const struct entry_point entry_points[];   /* generated from cuda.h, sorted; ends with {0, 0} */
extern const struct entry_alias entry_aliases[];  /* what cuda.h maps plain names to */
extern const struct error_name error_names[];
int standin_missing(const char *name);

#endif
