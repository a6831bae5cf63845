/* What a test may ask of a stand-in beyond the driver's own calls. Plain C types, for ctypes.
 *
 * None of these is a call of the driver: they work at any time, on any thread, and are not journalled.
 */
#ifndef STANDIN_CONTROL_H
#define STANDIN_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#define STANDIN_EXPORT __attribute__((visibility("default")))

struct standin_call {      /* one line of the journal */
    uint64_t serial;       /* counts calls since the last reset, from 1 */
    uint64_t thread;       /* the system's number of the thread */
    const char *name;      /* of the entry point, without a version */
    uint64_t context;      /* current when it was called */
    uint64_t owner;        /* of the handles it was given; 0: none of them has one */
    int32_t code;          /* what it returned */
    int32_t owner_matches; /* 1, 0, or -1 where there was no owner */
};

struct standin_launch {    /* one accepted launch */
    uint64_t ordinal;      /* counts launches since the last reset, from 1; graph replays too */
    uint64_t thread, context, stream, module, function;
    uint64_t exec;         /* the executable graph it came from; 0 for none */
    const char *kernel;    /* valid until the next reset */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared;
    int32_t cooperative, programmatic, has_priority, priority, has_sync_domain, sync_domain;
    int32_t device;
    uint32_t parameter_nbytes;
};

struct standin_violation {
    uint64_t serial, thread;
    const char *kind;      /* "misaligned-parameter" */
    const char *call;      /* the entry point */
    char detail[200];
};

struct standin_range {     /* memory that kernels may use */
    uint64_t address, nbytes, id;
    int32_t kind, device;
    int32_t access;        /* 1 read, 3 read and write */
    int32_t reserved;
};

struct standin_global {
    const char *name;
    uint64_t address, nbytes;
    int32_t is_constant, reserved;
};

struct standin_module {
    uint64_t handle, context;
    const void *image;
    uint64_t image_nbytes;
    const char *executable; /* PTX text, or NULL */
    uint64_t executable_nbytes;
    const struct standin_global *globals;
    uint64_t global_count;
};

struct standin_execution {
    const struct standin_module *module;
    const struct standin_launch *launch;
    const uint8_t *parameters;
};

/* What runs kernels. Each is called without the core's lock, one at a time, on whatever thread makes the work run;
 * `load` and `unload` frame a module's life. `launch` returns 0 or the code of the fault. */
typedef int32_t (*standin_load_function)(const struct standin_module *module);
typedef int32_t (*standin_launch_function)(const struct standin_execution *execution);

STANDIN_EXPORT void standin_reset(void);        /* as loaded: nothing is alive, settings are the environment's */
STANDIN_EXPORT void standin_deinitialize(void); /* every call returns 4 from now on, until standin_reset */
STANDIN_EXPORT int64_t standin_get(const char *name);
STANDIN_EXPORT int standin_set(const char *name, int64_t value); /* 0; 1 for an unknown name */
STANDIN_EXPORT const char *standin_text(const char *name);
STANDIN_EXPORT int standin_set_text(const char *name, const char *value);
STANDIN_EXPORT const char *standin_setting_name(unsigned index);   /* NULL past the last */
STANDIN_EXPORT const char *standin_attribute_name(unsigned index); /* NULL past the last */
STANDIN_EXPORT int64_t standin_attribute(int device, const char *name); /* INT64_MIN for an unknown name */
STANDIN_EXPORT int standin_set_attribute(int device, const char *name, int64_t value); /* device -1: all */
STANDIN_EXPORT int standin_set_function(const char *kernel, const char *attribute, int64_t value); /* "registers", ... */

STANDIN_EXPORT void standin_fail_call(const char *entry, uint64_t nth, uint64_t count, int code);
STANDIN_EXPORT void standin_fail_launch(uint64_t nth, int code);
STANDIN_EXPORT int standin_fail_context(uint64_t context, int code); /* at once, for ever */
STANDIN_EXPORT void standin_clear_faults(void);
STANDIN_EXPORT int standin_set_absent(const char *names); /* separated by commas; for lookups from now on */

STANDIN_EXPORT uint64_t standin_call_count(const char *entry); /* NULL or "": of all */
STANDIN_EXPORT uint64_t standin_calls(struct standin_call *out, uint64_t room); /* the last ones, oldest first */
STANDIN_EXPORT uint64_t standin_launch_count(void);
STANDIN_EXPORT uint64_t standin_launches(struct standin_launch *out, uint64_t room);
STANDIN_EXPORT uint64_t standin_launch_parameters(uint64_t ordinal, uint8_t *out, uint64_t room);
STANDIN_EXPORT uint64_t standin_violation_count(const char *kind); /* NULL or "": of all */
STANDIN_EXPORT uint64_t standin_violations(struct standin_violation *out, uint64_t room);
/* `kind`: context stream event module host_memory memory pool physical reservation graph exec mapping;
 * `what`: created destroyed live. */
STANDIN_EXPORT uint64_t standin_count(const char *kind, const char *what);
STANDIN_EXPORT uint64_t standin_queued(void); /* operations that have not run */
STANDIN_EXPORT uint64_t standin_clock_ns(void);
STANDIN_EXPORT void standin_clear_journal(void);

STANDIN_EXPORT uint64_t standin_memory_version(void); /* changes when the next list does */
/* What kernels of a context may use; how many there are. */
STANDIN_EXPORT uint64_t standin_ranges(uint64_t context, struct standin_range *out, uint64_t room);
STANDIN_EXPORT void standin_set_executor(standin_load_function load, standin_load_function unload,
                                         standin_launch_function launch);

#endif
