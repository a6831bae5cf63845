/* Contexts: the primary one of each device, made ones, each thread's stack of them, and who may reach whose memory. */
#include <stdlib.h>
#include <string.h>

#include "core_parts.h"

static struct context *primaries[MAX_DEVICES];
static unsigned primary_flags[MAX_DEVICES];
static uint64_t next_id = 1;

struct context *context_of(core_handle handle) { return object_peek(handle, KIND_CONTEXT); }

core_handle core_current(void)
{
    struct thread *self = thread_self();
    return self->depth ? self->stack[self->depth - 1] : 0;
}

struct context *current_context(void)
{
    struct context *context = context_of(core_current());
    return context && context->is_alive ? context : NULL;
}

static struct context *context_new(int device, unsigned flags)
{
    struct context *context = calloc(1, sizeof *context);
    object_add(&context->object, KIND_CONTEXT, 0);
    context->device = device;
    context->flags = flags;
    context->id = next_id++;
    return context;
}

static void begin_life(struct context *context)
{
    context->is_alive = 1;
    context->legacy = stream_new(context, 0, 0);
    context->legacy->is_legacy = 1;
}

/* All that lies in it goes with it. What is queued first runs, as it would on a device before a destruction. */
static void end_life(struct context *context)
{
    core_handle handle = context->object.handle;
    struct core_call *call = thread_self()->call, given = call ? *call : (struct core_call){0};
    captures_forget_context(handle);
    streams_forget_context(handle);
    memory_forget_context(handle);
    /* The caller has named none of the handles that went with it. */
    if (call) call->owner = given.owner, call->owner_matches = given.owner_matches;
    context->legacy = NULL;
    context->peer_count = 0;
    context->is_alive = 0;
}

int core_primary_retain(core_handle *out, int device)
{
    struct context *context;
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    if (!(context = primaries[device])) {
        context = primaries[device] = context_new(device, primary_flags[device]);
        context->is_primary = 1;
    }
    if (!context->is_alive) begin_life(context);
    context->retains++;
    *out = context->object.handle;
    return CORE_OK;
}

int core_primary_release(int device)
{
    struct context *context;
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    context = primaries[device];
    if (!context || !context->retains) {
        core_violation("context-released-twice", "the primary context of device %d is not retained", device);
        return CORE_INVALID_CONTEXT;
    }
    if (!--context->retains) end_life(context);
    return CORE_OK;
}

int core_primary_reset(int device)
{
    struct context *context;
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    context = primaries[device];
    if (context && context->is_alive) {
        int retains = context->retains;
        end_life(context);
        context->retains = retains;
        if (retains) begin_life(context);
    }
    return CORE_OK;
}

int core_primary_state(int device, unsigned *flags, int *active)
{
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    *flags = primary_flags[device];
    *active = primaries[device] && primaries[device]->is_alive;
    return CORE_OK;
}

int core_primary_set_flags(int device, unsigned flags)
{
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    primary_flags[device] = flags;
    if (primaries[device]) primaries[device]->flags = flags;
    return CORE_OK;
}

int core_context_create(core_handle *out, unsigned flags, int device)
{
    struct context *context;
    int code;
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    context = context_new(device, flags);
    begin_life(context);
    if ((code = core_push(context->object.handle))) return code;
    *out = context->object.handle;
    return CORE_OK;
}

int core_context_destroy(core_handle handle)
{
    struct thread *self = thread_self();
    struct context *context = object_find(handle, KIND_CONTEXT);
    if (!context || context->is_primary) return CORE_INVALID_CONTEXT;
    end_life(context);
    if (self->depth && self->stack[self->depth - 1] == handle) self->depth--;
    object_remove(&context->object);
    free(context);
    return CORE_OK;
}

int core_push(core_handle handle)
{
    struct thread *self = thread_self();
    if (!handle || !object_find(handle, KIND_CONTEXT)) return CORE_INVALID_CONTEXT;
    if (self->depth == STACK_DEPTH) return CORE_INVALID_VALUE;
    self->stack[self->depth++] = handle;
    return CORE_OK;
}

int core_pop(core_handle *out)
{
    struct thread *self = thread_self();
    if (!self->depth) {
        core_violation("context-stack-underflow", "a thread popped more contexts than it pushed");
        return CORE_INVALID_CONTEXT;
    }
    self->depth--;
    if (out) *out = self->stack[self->depth];
    return CORE_OK;
}

int core_set_current(core_handle handle)
{
    struct thread *self = thread_self();
    if (!handle) {
        if (self->depth) self->depth--;
        return CORE_OK;
    }
    if (!object_find(handle, KIND_CONTEXT)) return CORE_INVALID_CONTEXT;
    if (!self->depth) self->depth = 1;
    self->stack[self->depth - 1] = handle;
    return CORE_OK;
}

int core_context_device(core_handle handle, int *out)
{
    struct context *context = context_of(handle);
    if (!context) return CORE_INVALID_CONTEXT;
    *out = context->device;
    return CORE_OK;
}

int core_context_flags(core_handle handle, unsigned *out)
{
    struct context *context = context_of(handle);
    if (!context) return CORE_INVALID_CONTEXT;
    *out = context->flags;
    return CORE_OK;
}

int core_context_id(core_handle handle, uint64_t *out)
{
    struct context *context = context_of(handle);
    if (!context) return CORE_INVALID_CONTEXT;
    *out = context->id;
    return CORE_OK;
}

int core_context_error(core_handle handle)
{
    struct context *context = context_of(handle);
    return context ? context->sticky : CORE_OK;
}

void context_lost(core_handle handle, int code)
{
    struct context *context = context_of(handle);
    if (context && !context->sticky) context->sticky = code;
}

int standin_fail_context(uint64_t handle, int code)
{
    int found;
    pthread_mutex_lock(&core_lock);
    found = context_of(handle) != NULL;
    context_lost(handle, code);
    pthread_mutex_unlock(&core_lock);
    return !found;
}

/* ------------------------------------------------ peers */

int core_can_access_peer(int *out, int device, int peer)
{
    if (!core_is_device(device) || !core_is_device(peer)) return CORE_INVALID_DEVICE;
    *out = device != peer && core_attribute(device, CORE_ATTRIBUTE_PEER_ACCESS) &&
           core_attribute(peer, CORE_ATTRIBUTE_PEER_ACCESS);
    return CORE_OK;
}

int contexts_are_peers(struct context *from, int device)
{
    for (unsigned i = 0; i < from->peer_count; i++) {
        struct context *peer = context_of(from->peers[i]);
        if (peer && peer->device == device) return 1;
    }
    return 0;
}

int core_enable_peer(core_handle handle)
{
    struct context *context = current_context(), *peer = context_of(handle);
    int possible = 0;
    if (!context || !peer || !peer->is_alive) return CORE_INVALID_CONTEXT;
    core_can_access_peer(&possible, context->device, peer->device);
    if (context == peer) return CORE_INVALID_CONTEXT;
    if (!possible) return CORE_PEER_ACCESS_UNSUPPORTED;
    for (unsigned i = 0; i < context->peer_count; i++)
        if (context->peers[i] == handle) return CORE_PEER_ACCESS_ALREADY_ENABLED;
    if (context->peer_count == sizeof context->peers / sizeof *context->peers) return CORE_OUT_OF_MEMORY;
    context->peers[context->peer_count++] = handle;
    memory_changed();
    return CORE_OK;
}

int core_disable_peer(core_handle handle)
{
    struct context *context = current_context();
    if (!context || !context_of(handle)) return CORE_INVALID_CONTEXT;
    for (unsigned i = 0; i < context->peer_count; i++)
        if (context->peers[i] == handle) {
            context->peers[i] = context->peers[--context->peer_count];
            memory_changed();
            return CORE_OK;
        }
    return CORE_PEER_ACCESS_NOT_ENABLED;
}

void contexts_forget(void)
{
    struct context *context;
    uint32_t cursor = 0;
    while ((context = object_next(KIND_CONTEXT, &cursor))) {
        object_remove(&context->object);
        free(context);
    }
    memset(primaries, 0, sizeof primaries);
    memset(primary_flags, 0, sizeof primary_flags);
}
