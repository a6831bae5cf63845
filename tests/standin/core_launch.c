/* A launch: what is refused at the call, and its parameters, read from the declared sizes at their alignment. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core_parts.h"

static uint64_t volume(const uint32_t extent[3]) { return (uint64_t)extent[0] * extent[1] * extent[2]; }

static int check_block(const struct core_launch *l, const struct function *f, int device)
{
    int limit = 0, registers = 0;
    uint64_t threads;
    for (int axis = 0; axis < 3; axis++) {
        enum core_attribute block = (enum core_attribute)(CORE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis);
        enum core_attribute grid = (enum core_attribute)(CORE_ATTRIBUTE_MAX_GRID_DIM_X + axis);
        if (!l->grid[axis] || (int64_t)l->grid[axis] > core_attribute(device, grid)) return CORE_INVALID_VALUE;
        if (!l->block[axis] || (int64_t)l->block[axis] > core_attribute(device, block)) return CORE_INVALID_VALUE;
        if (f->required_block[0] && l->block[axis] != f->required_block[axis]) return CORE_INVALID_VALUE;
    }
    threads = volume(l->block);
    if ((int64_t)threads > core_attribute(device, CORE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)) return CORE_INVALID_VALUE;
    if (core_facade.max_launch_threads && volume(l->grid) * threads > core_facade.max_launch_threads)
        return CORE_INVALID_VALUE;
    if (f->max_block[0] && threads > volume(f->max_block)) return CORE_INVALID_VALUE;
    core_function_attribute(l->function, CORE_FUNCTION_REGISTERS, &registers);
    if ((int64_t)threads * registers > core_attribute(device, CORE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK))
        return CORE_LAUNCH_OUT_OF_RESOURCES;
    core_function_attribute(l->function, CORE_FUNCTION_MAX_THREADS_PER_BLOCK, &limit);
    if ((int64_t)threads > limit) return CORE_LAUNCH_OUT_OF_RESOURCES;
    return CORE_OK;
}

static int check_cluster(const struct core_launch *l, const struct function *f, int device, uint32_t out[3])
{
    int limit = 0;
    memcpy(out, l->cluster, 3 * sizeof *out);
    if (f->required_cluster[0]) {
        if (out[0] && memcmp(out, f->required_cluster, 3 * sizeof *out)) return CORE_INVALID_CLUSTER_SIZE;
        memcpy(out, f->required_cluster, 3 * sizeof *out);
    }
    if (!out[0] && !out[1] && !out[2]) return CORE_OK;
    if (!core_attribute(device, CORE_ATTRIBUTE_CLUSTER_LAUNCH)) return CORE_NOT_SUPPORTED;
    for (int axis = 0; axis < 3; axis++)
        if (!out[axis] || l->grid[axis] % out[axis]) return CORE_INVALID_CLUSTER_SIZE;
    core_max_cluster(&limit, l->function);
    return volume(out) > (uint64_t)limit ? CORE_INVALID_CLUSTER_SIZE : CORE_OK;
}

static int read_parameters(const struct core_launch *l, const struct function *f, struct kernel_launch *k)
{
    k->nbytes = f->parameter_nbytes;
    k->parameters = calloc(1, f->parameter_nbytes + 1);
    k->pointers = calloc(f->parameter_count + 1, sizeof *k->pointers);
    if (l->parameters && l->block_data) return CORE_INVALID_VALUE;
    if (!f->parameter_count) return CORE_OK;
    if (l->block_data) {
        if (l->block_nbytes < f->parameter_nbytes) return CORE_INVALID_VALUE;
        memcpy(k->parameters, l->block_data, f->parameter_nbytes);
    } else if (!l->parameters) {
        return CORE_INVALID_VALUE;
    }
    for (unsigned i = 0; i < f->parameter_count; i++) {
        const struct core_parameter *p = &f->parameters[i];
        k->pointers[i] = k->parameters + p->offset;
        if (!l->parameters) continue;
        if (!l->parameters[i]) return CORE_INVALID_VALUE;
        if (p->align && (uintptr_t)l->parameters[i] % p->align) {
            core_violation("misaligned-parameter", "%s: parameter %u lies at %p and needs alignment %u", f->name, i,
                           l->parameters[i], p->align);
            return CORE_INVALID_VALUE;
        }
        memcpy(k->pointers[i], l->parameters[i], p->nbytes);
    }
    return CORE_OK;
}

static void name_memory(struct body *body, const struct function *f)
{
    for (unsigned i = 0; i < f->parameter_count; i++) {
        uint64_t value;
        if (f->parameters[i].nbytes != 8) continue;
        memcpy(&value, body->kernel.pointers[i], 8);
        if (memory_at(value)) body_names(body, value);
        else if (memory_was_freed(value))
            core_violation("use-after-free", "%s: parameter %u is %#" PRIx64 ", which was freed", f->name, i, value);
    }
}

int launch_body(const struct core_launch *l, struct context *context, struct body **out)
{
    struct function *f = object_find(l->function, KIND_FUNCTION);
    struct body *body;
    struct kernel_launch *k;
    uint32_t cluster[3];
    int code, device = context->device, dynamic = 0, resident = 0;
    *out = NULL;
    if (!f || f->object.context != context->object.handle) return CORE_INVALID_HANDLE;
    if ((code = check_block(l, f, device)) || (code = check_cluster(l, f, device, cluster))) return code;
    core_function_attribute(l->function, CORE_FUNCTION_MAX_DYNAMIC_SHARED, &dynamic);
    if ((int64_t)l->shared > dynamic) return CORE_INVALID_VALUE;
    if ((int64_t)f->parameter_nbytes > core_attribute(device, CORE_ATTRIBUTE_MAX_PARAMETER_NBYTES))
        return CORE_LAUNCH_OUT_OF_RESOURCES;
    if (l->cooperative) {
        if (!core_attribute(device, CORE_ATTRIBUTE_COOPERATIVE_LAUNCH)) return CORE_NOT_SUPPORTED;
        core_occupancy(&resident, l->function, (int)volume(l->block), l->shared);
        if (volume(l->grid) > (uint64_t)resident * (uint64_t)core_attribute(device, CORE_ATTRIBUTE_MULTIPROCESSOR_COUNT))
            return CORE_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    body = body_new(OP_KERNEL, context->object.handle);
    k = &body->kernel;
    k->function = f;
    module_hold(f->module);
    memcpy(k->grid, l->grid, sizeof k->grid);
    memcpy(k->block, l->block, sizeof k->block);
    memcpy(k->cluster, cluster, sizeof k->cluster);
    k->shared = l->shared;
    k->cooperative = l->cooperative;
    k->programmatic = l->programmatic;
    k->has_priority = l->has_priority;
    k->priority = l->priority;
    k->has_sync_domain = l->has_sync_domain;
    k->sync_domain = l->sync_domain;
    if ((code = read_parameters(l, f, k))) {
        body_drop(body);
        return code;
    }
    name_memory(body, f);
    *out = body;
    return CORE_OK;
}

int core_launch(const struct core_launch *l)
{
    struct stream *stream;
    struct body *body;
    int code = stream_resolve(l->stream, &stream);
    if (code) return code;
    if (stream->object.context != core_current()) return CORE_INVALID_HANDLE;
    if ((code = launch_body(l, stream_context(stream), &body))) return code;
    code = submit(stream, body);
    body_drop(body);
    return code;
}
