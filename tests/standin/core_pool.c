/* Stream-ordered allocation: pools, and frees that wait their turn in a stream. */
#include <inttypes.h>
#include <stdlib.h>

#include "core_parts.h"

static core_handle defaults[MAX_DEVICES], chosen[MAX_DEVICES];

static struct pool *pool_new(int device)
{
    struct pool *pool = calloc(1, sizeof *pool);
    pool->device = device;
    object_add(&pool->object, KIND_POOL, 0);
    return pool;
}

int core_pool_default(core_handle *out, int device)
{
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    if (!core_attribute(device, CORE_ATTRIBUTE_MEMORY_POOLS)) return CORE_NOT_SUPPORTED;
    if (!object_peek(defaults[device], KIND_POOL)) {
        struct pool *pool = pool_new(device);
        pool->is_default = 1;
        defaults[device] = pool->object.handle;
    }
    *out = defaults[device];
    return CORE_OK;
}

int core_pool_current(core_handle *out, int device)
{
    if (core_is_device(device) && object_peek(chosen[device], KIND_POOL)) {
        *out = chosen[device];
        return CORE_OK;
    }
    return core_pool_default(out, device);
}

int core_pool_set(int device, core_handle handle)
{
    struct pool *pool = object_find(handle, KIND_POOL);
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    if (!pool || pool->device != device) return CORE_INVALID_VALUE;
    chosen[device] = handle;
    return CORE_OK;
}

int core_pool_create(core_handle *out, int device)
{
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    if (!core_attribute(device, CORE_ATTRIBUTE_MEMORY_POOLS)) return CORE_NOT_SUPPORTED;
    *out = pool_new(device)->object.handle;
    return CORE_OK;
}

int core_pool_destroy(core_handle handle)
{
    struct pool *pool = object_find(handle, KIND_POOL);
    if (!pool || pool->is_default) return CORE_INVALID_VALUE;
    if (pool->used) core_violation("pool-destroyed-in-use", "%" PRIu64 " bytes of it are allocated", pool->used);
    object_remove(&pool->object);
    if (!pool->used) free(pool); /* else what was allocated from it still names it */
    return CORE_OK;
}

int core_pool_threshold(core_handle handle, uint64_t *get, const uint64_t *set)
{
    struct pool *pool = object_find(handle, KIND_POOL);
    if (!pool) return CORE_INVALID_VALUE;
    if (set) pool->threshold = *set;
    if (get) *get = pool->threshold;
    return CORE_OK;
}

int core_pool_figures(core_handle handle, uint64_t *used, uint64_t *high)
{
    struct pool *pool = object_find(handle, KIND_POOL);
    if (!pool) return CORE_INVALID_VALUE;
    if (used) *used = pool->used;
    if (high) *high = pool->high;
    return CORE_OK;
}

int core_pool_trim(core_handle handle, size_t keep)
{
    (void)keep; /* nothing is kept: what is freed goes back at once */
    return object_find(handle, KIND_POOL) ? CORE_OK : CORE_INVALID_VALUE;
}

int core_alloc_async(core_address *out, size_t nbytes, core_handle handle, core_handle stream_handle)
{
    struct stream *stream;
    struct context *context;
    struct allocation *a;
    struct pool *pool;
    struct body *body;
    int code = stream_resolve(stream_handle, &stream);
    if (code) return code;
    context = stream_context(stream);
    if (!core_attribute(context->device, CORE_ATTRIBUTE_MEMORY_POOLS)) return CORE_NOT_SUPPORTED;
    if (!handle && (code = core_pool_current(&handle, context->device))) return code;
    if (!(pool = object_find(handle, KIND_POOL))) return CORE_INVALID_VALUE;
    if (!(a = memory_new(nbytes, CORE_MEMORY_POOL, context, 0, &code))) return code;
    a->pool = pool;
    pool->used += nbytes;
    if (pool->used > pool->high) pool->high = pool->used;
    *out = a->base;
    body = body_new(OP_ALLOC, context->object.handle);
    body->allocation = a;
    memory_hold(a);
    if (stream->capture) a->owned_by_graph = 1;
    code = submit(stream, body);
    body_drop(body);
    return code;
}

int core_free_async(core_address address, core_handle stream_handle)
{
    struct stream *stream;
    struct allocation *a;
    struct body *body;
    int code = stream_resolve(stream_handle, &stream);
    if (code) return code;
    if (!address) return CORE_OK;
    a = memory_based_at(address);
    if (!a || (a->kind != CORE_MEMORY_POOL && a->kind != CORE_MEMORY_DEVICE && a->kind != CORE_MEMORY_MANAGED) ||
        a->free_is_queued) {
        core_violation(memory_was_freed(address) || (a && a->free_is_queued) ? "double-free" : "free-of-unknown",
                       "%#" PRIx64 " is no allocation", address);
        return CORE_INVALID_VALUE;
    }
    core_owned_by(a->context);
    /* In a graph the free is a node, that happens at every replay. */
    if (!stream->capture) a->free_is_queued = 1;
    body = body_new(OP_FREE, stream_context(stream)->object.handle);
    body->allocation = a;
    memory_hold(a);
    code = submit(stream, body);
    body_drop(body);
    return code;
}

void pools_forget(void)
{
    struct pool *pool;
    uint32_t cursor = 0;
    while ((pool = object_next(KIND_POOL, &cursor))) object_remove(&pool->object);
    for (int d = 0; d < MAX_DEVICES; d++) defaults[d] = chosen[d] = 0;
}
