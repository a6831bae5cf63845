/* Loaded code: kernels with their parameters and limits, variables in device memory. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core_parts.h"

/* ------------------------------------------------ what a test says of a kernel */

static struct override { const char *kernel, *attribute; int64_t value; } overrides[128];
static unsigned override_count;
static const char *const attribute_names[CORE_FUNCTION_ATTRIBUTE_COUNT] = {
    "max_threads_per_block", "static_shared", "constant", "local", "registers", "code_version", "binary_version",
    "max_dynamic_shared", "carveout", "non_portable_cluster",
};

int standin_set_function(const char *kernel, const char *attribute, int64_t value)
{
    unsigned i;
    int known = 0;
    for (i = 0; i < CORE_FUNCTION_ATTRIBUTE_COUNT; i++) known |= !strcmp(attribute_names[i], attribute);
    if (!known || override_count == sizeof overrides / sizeof *overrides) return 1;
    pthread_mutex_lock(&core_lock);
    overrides[override_count++] = (struct override){name_kept(kernel), name_kept(attribute), value};
    pthread_mutex_unlock(&core_lock);
    return 0;
}

int64_t function_override(const char *kernel, const char *attribute, int64_t otherwise)
{
    for (unsigned i = override_count; i-- > 0;)
        if (!strcmp(overrides[i].kernel, kernel) && !strcmp(overrides[i].attribute, attribute)) return overrides[i].value;
    return otherwise;
}

/* ------------------------------------------------ building */

int core_module_create(core_handle *out, const void *image, size_t nbytes, const char *executable, size_t executable_nbytes)
{
    struct module *module = calloc(1, sizeof *module);
    object_add(&module->object, KIND_MODULE, current_context()->object.handle);
    module->references = 1;
    module->image = malloc(nbytes + 1);
    memcpy(module->image, image, nbytes);
    if (executable) {
        module->executable = malloc(executable_nbytes + 1);
        memcpy(module->executable, executable, executable_nbytes);
        module->executable[executable_nbytes] = 0;
    }
    module->seen = (struct standin_module){module->object.handle, module->object.context, module->image, nbytes, module->executable,
                                           executable ? executable_nbytes : 0, NULL, 0};
    *out = module->object.handle;
    return CORE_OK;
}

static int thread_limit(const struct function *f, int device)
{
    int64_t limit = core_attribute(device, CORE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    int64_t warp = core_attribute(device, CORE_ATTRIBUTE_WARP_SIZE);
    int64_t registers = function_override(f->name, "registers", f->attributes[CORE_FUNCTION_REGISTERS]);
    const uint32_t *bound = f->required_block[0] ? f->required_block : f->max_block;
    if (bound[0] && (int64_t)bound[0] * bound[1] * bound[2] < limit) limit = (int64_t)bound[0] * bound[1] * bound[2];
    if (registers) {
        /* Registers are given out by whole warps, the same number to each of four partitions. */
        int64_t warps = core_attribute(device, CORE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK) / (registers * warp) / 4 * 4;
        if (warps * warp < limit) limit = warps * warp;
    }
    return (int)limit;
}

int core_module_add_kernel(core_handle handle, const struct core_kernel *kernel)
{
    struct module *module = object_find(handle, KIND_MODULE);
    struct function *f;
    if (!module) return CORE_INVALID_HANDLE;
    f = calloc(1, sizeof *f);
    f->module = module;
    f->name = strdup(kernel->name);
    f->parameter_count = kernel->parameter_count;
    f->parameters = calloc(kernel->parameter_count + 1, sizeof *f->parameters);
    if (kernel->parameter_count)
        memcpy(f->parameters, kernel->parameters, kernel->parameter_count * sizeof *f->parameters);
    for (unsigned i = 0; i < f->parameter_count; i++)
        if (f->parameters[i].offset + f->parameters[i].nbytes > f->parameter_nbytes)
            f->parameter_nbytes = f->parameters[i].offset + f->parameters[i].nbytes;
    memcpy(f->required_block, kernel->required_block, sizeof f->required_block);
    memcpy(f->max_block, kernel->max_block, sizeof f->max_block);
    memcpy(f->required_cluster, kernel->required_cluster, sizeof f->required_cluster);
    f->attributes[CORE_FUNCTION_STATIC_SHARED] = (int)kernel->static_shared;
    f->attributes[CORE_FUNCTION_CONSTANT] = (int)kernel->constant;
    f->attributes[CORE_FUNCTION_LOCAL] = (int)kernel->local;
    f->attributes[CORE_FUNCTION_REGISTERS] = kernel->registers ? (int)kernel->registers : (int)core_setting("registers");
    f->attributes[CORE_FUNCTION_CODE_VERSION] = kernel->code_version;
    f->attributes[CORE_FUNCTION_BINARY_VERSION] = kernel->binary_version;
    f->attributes[CORE_FUNCTION_MAX_DYNAMIC_SHARED] =
        (int)core_attribute(context_of(module->object.context)->device, CORE_ATTRIBUTE_MAX_SHARED_PER_BLOCK) -
        (int)kernel->static_shared;
    if (f->attributes[CORE_FUNCTION_MAX_DYNAMIC_SHARED] < 0) f->attributes[CORE_FUNCTION_MAX_DYNAMIC_SHARED] = 0;
    f->attributes[CORE_FUNCTION_CARVEOUT] = -1;
    object_add(&f->object, KIND_FUNCTION, module->object.context);
    module->functions = realloc(module->functions, (module->function_count + 1) * sizeof *module->functions);
    module->functions[module->function_count++] = f;
    return CORE_OK;
}

int core_module_add_global(core_handle handle, const char *name, size_t nbytes, size_t align, int is_constant)
{
    struct module *module = object_find(handle, KIND_MODULE);
    size_t n;
    struct allocation *a;
    int code;
    (void)align; /* allocations are aligned to more than any variable */
    if (!module) return CORE_INVALID_HANDLE;
    if (!(a = memory_new(nbytes, CORE_MEMORY_GLOBAL, context_of(module->object.context), is_constant != 0,
                         &code))) return code;
    memset(a->raw, 0, nbytes);
    n = module->seen.global_count;
    module->globals = realloc(module->globals, (n + 1) * sizeof *module->globals);
    module->global_memory = realloc(module->global_memory, (n + 1) * sizeof *module->global_memory);
    module->globals[n] = (struct standin_global){strdup(name), a->base, nbytes, is_constant, 0};
    module->global_memory[n] = a;
    module->seen.globals = module->globals;
    module->seen.global_count = n + 1;
    return CORE_OK;
}

static struct standin_global *global_named(struct module *module, const char *name)
{
    for (size_t i = 0; i < module->seen.global_count; i++)
        if (!strcmp(module->globals[i].name, name)) return &module->globals[i];
    return NULL;
}

int core_module_initialize(core_handle handle, const char *name, const void *data, size_t nbytes)
{
    struct module *module = object_find(handle, KIND_MODULE);
    struct standin_global *global = module ? global_named(module, name) : NULL;
    if (!global || nbytes > global->nbytes) return CORE_INVALID_VALUE;
    memcpy((void *)(uintptr_t)global->address, data, nbytes);
    return CORE_OK;
}

int core_module_ready(core_handle handle)
{
    struct module *module = object_find(handle, KIND_MODULE);
    if (!module) return CORE_INVALID_HANDLE;
    module->is_ready = 1;
    executor_tell(executor_load, module);
    return CORE_OK;
}

/* ------------------------------------------------ ends */

void module_hold(struct module *module) { module->references++; }

void module_drop(struct module *module)
{
    if (--module->references) return;
    for (unsigned i = 0; i < module->function_count; i++) {
        free(module->functions[i]->name);
        free(module->functions[i]->parameters);
        free(module->functions[i]);
    }
    for (size_t i = 0; i < module->seen.global_count; i++) {
        memory_drop(module->global_memory[i]);
        free((char *)module->globals[i].name);
    }
    free(module->functions);
    free(module->globals);
    free(module->global_memory);
    free(module->image);
    free(module->executable);
    free(module);
}

int queue_uses_module(struct module *module)
{
    for (struct stream *s = streams_first(); s; s = s->next)
        for (struct op *op = s->head; op; op = op->next)
            for (unsigned i = 0; i < op->count; i++)
                if (op->bodies[i]->kind == OP_KERNEL && op->bodies[i]->kernel.function->module == module) return 1;
    return 0;
}

int core_module_unload(core_handle handle)
{
    struct module *module = object_find(handle, KIND_MODULE);
    if (!module) return CORE_INVALID_HANDLE;
    if (queue_uses_module(module)) core_violation("free-in-use", "a module is unloaded while its kernels are queued");
    if (module->is_ready) executor_tell(executor_unload, module);
    module->is_unloaded = 1;
    for (unsigned i = 0; i < module->function_count; i++) object_remove(&module->functions[i]->object);
    for (size_t i = 0; i < module->seen.global_count; i++) {
        memory_hold(module->global_memory[i]);
        memory_kill(module->global_memory[i]);
    }
    object_remove(&module->object);
    module_drop(module);
    return CORE_OK;
}

void modules_forget(void)
{
    struct module *module;
    uint32_t cursor = 0;
    while ((module = object_next(KIND_MODULE, &cursor))) core_module_unload(module->object.handle);
    override_count = 0;
}

/* ------------------------------------------------ asking */

core_handle core_module_context(core_handle handle)
{
    struct module *module = object_peek(handle, KIND_MODULE);
    return module ? module->object.context : 0;
}

int core_module_function(core_handle *out, core_handle handle, const char *name)
{
    struct module *module = object_find(handle, KIND_MODULE);
    if (!module) return CORE_INVALID_HANDLE;
    for (unsigned i = 0; i < module->function_count; i++)
        if (!strcmp(module->functions[i]->name, name)) {
            *out = module->functions[i]->object.handle;
            return CORE_OK;
        }
    return CORE_NOT_FOUND;
}

int core_module_function_count(unsigned *out, core_handle handle)
{
    struct module *module = object_find(handle, KIND_MODULE);
    if (!module) return CORE_INVALID_HANDLE;
    *out = module->function_count;
    return CORE_OK;
}

int core_module_functions(core_handle *out, unsigned count, core_handle handle)
{
    struct module *module = object_find(handle, KIND_MODULE);
    if (!module) return CORE_INVALID_HANDLE;
    for (unsigned i = 0; i < count && i < module->function_count; i++) out[i] = module->functions[i]->object.handle;
    return CORE_OK;
}

int core_module_global(core_address *address, size_t *nbytes, core_handle handle, const char *name)
{
    struct module *module = object_find(handle, KIND_MODULE);
    struct standin_global *global;
    if (!module) return CORE_INVALID_HANDLE;
    if (!(global = global_named(module, name))) return CORE_NOT_FOUND;
    if (address) *address = global->address;
    if (nbytes) *nbytes = global->nbytes;
    return CORE_OK;
}

int core_function_module(core_handle *out, core_handle handle)
{
    struct function *f = object_find(handle, KIND_FUNCTION);
    if (!f) return CORE_INVALID_HANDLE;
    *out = f->module->object.handle;
    return CORE_OK;
}

int core_function_name(const char **out, core_handle handle)
{
    struct function *f = object_find(handle, KIND_FUNCTION);
    if (!f) return CORE_INVALID_HANDLE;
    *out = f->name;
    return CORE_OK;
}

int core_function_parameter(core_handle handle, size_t index, size_t *offset, size_t *nbytes)
{
    struct function *f = object_find(handle, KIND_FUNCTION);
    if (!f) return CORE_INVALID_HANDLE;
    if (index >= f->parameter_count) return CORE_INVALID_VALUE;
    if (offset) *offset = f->parameters[index].offset;
    if (nbytes) *nbytes = f->parameters[index].nbytes;
    return CORE_OK;
}

int core_function_attribute(core_handle handle, enum core_function_attribute attribute, int *out)
{
    struct function *f = object_find(handle, KIND_FUNCTION);
    int value;
    if (!f) return CORE_INVALID_HANDLE;
    if (attribute >= CORE_FUNCTION_ATTRIBUTE_COUNT) return CORE_INVALID_VALUE;
    value = attribute == CORE_FUNCTION_MAX_THREADS_PER_BLOCK
                ? thread_limit(f, context_of(f->object.context)->device) : f->attributes[attribute];
    *out = (int)function_override(f->name, attribute_names[attribute], value);
    return CORE_OK;
}

int core_function_attribute_set(core_handle handle, enum core_function_attribute attribute, int value)
{
    struct function *f = object_find(handle, KIND_FUNCTION);
    int fixed = 0;
    if (!f) return CORE_INVALID_HANDLE;
    switch (attribute) {
    case CORE_FUNCTION_MAX_DYNAMIC_SHARED:
        core_function_attribute(handle, CORE_FUNCTION_STATIC_SHARED, &fixed);
        if (value < 0 || value + fixed > core_attribute(context_of(f->object.context)->device,
                                                        CORE_ATTRIBUTE_MAX_SHARED_PER_BLOCK_OPTIN))
            return CORE_INVALID_VALUE;
        break;
    case CORE_FUNCTION_CARVEOUT:
        if (value < -1 || value > 100) return CORE_INVALID_VALUE;
        break;
    case CORE_FUNCTION_NON_PORTABLE_CLUSTER:
        if (value != 0 && value != 1) return CORE_INVALID_VALUE;
        break;
    default: return CORE_INVALID_VALUE;
    }
    f->attributes[attribute] = value;
    return CORE_OK;
}

static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

int core_occupancy(int *out, core_handle handle, int block_threads, size_t dynamic_shared)
{
    struct function *f = object_find(handle, KIND_FUNCTION);
    int device, registers = 0, fixed = 0, limit = 0;
    int64_t warp, warps, blocks, shared;
    if (!f) return CORE_INVALID_HANDLE;
    if (block_threads < 1) return CORE_INVALID_VALUE;
    device = context_of(f->object.context)->device;
    core_function_attribute(handle, CORE_FUNCTION_REGISTERS, &registers);
    core_function_attribute(handle, CORE_FUNCTION_STATIC_SHARED, &fixed);
    core_function_attribute(handle, CORE_FUNCTION_MAX_THREADS_PER_BLOCK, &limit);
    warp = core_attribute(device, CORE_ATTRIBUTE_WARP_SIZE);
    warps = (block_threads + warp - 1) / warp;
    shared = fixed + (int64_t)dynamic_shared + core_attribute(device, CORE_ATTRIBUTE_RESERVED_SHARED_PER_BLOCK);
    blocks = at_most(core_attribute(device, CORE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
                     core_attribute(device, CORE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / (warps * warp));
    if (registers)
        blocks = at_most(blocks, core_attribute(device, CORE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) /
                                     (registers * warps * warp));
    if (shared) blocks = at_most(blocks, core_attribute(device, CORE_ATTRIBUTE_MAX_SHARED_PER_MULTIPROCESSOR) / shared);
    if (block_threads > limit) blocks = 0;
    *out = core_setting("occupancy") && blocks ? (int)core_setting("occupancy") : (int)blocks;
    return CORE_OK;
}

int core_max_cluster(int *out, core_handle handle)
{
    struct function *f = object_find(handle, KIND_FUNCTION);
    if (!f) return CORE_INVALID_HANDLE;
    if (!core_attribute(context_of(f->object.context)->device, CORE_ATTRIBUTE_CLUSTER_LAUNCH)) return CORE_NOT_SUPPORTED;
    *out = (int)core_setting("max_cluster") * (f->attributes[CORE_FUNCTION_NON_PORTABLE_CLUSTER] ? 2 : 1);
    return CORE_OK;
}
