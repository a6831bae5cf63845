/* Streams: whose they are, and asking and waiting for them. */
#include <stdlib.h>

#include "core_parts.h"

static struct stream *first;
static uint64_t next_id = 1;

struct stream *streams_first(void) { return first; }
struct context *stream_context(struct stream *stream) { return context_of(stream->object.context); }

struct stream *stream_new(struct context *context, unsigned flags, int priority)
{
    struct stream *stream = calloc(1, sizeof *stream);
    stream->flags = flags;
    stream->priority = priority;
    stream->id = next_id++;
    stream->object.context = context->object.handle;
    stream->next = first;
    first = stream;
    return stream;
}

void stream_release(struct stream *stream)
{
    struct stream **at = &first;
    if (!stream->is_destroyed || stream->head || stream->holds || stream->is_busy) return;
    while (*at && *at != stream) at = &(*at)->next;
    if (*at) *at = stream->next;
    free(stream->capture_tail);
    free(stream);
}

static struct stream *per_thread(struct context *context)
{
    struct thread *self = thread_self();
    struct stream *stream;
    for (stream = first; stream; stream = stream->next)
        if (stream->thread == self->id && stream->object.context == context->object.handle && !stream->is_destroyed)
            return stream;
    stream = stream_new(context, 0, 0);
    stream->thread = self->id;
    return stream;
}

int stream_resolve(core_handle handle, struct stream **out)
{
    struct context *context = current_context();
    if (handle == CORE_STREAM_DEFAULT) handle = (core_handle)core_facade.default_stream;
    if (handle == CORE_STREAM_LEGACY || handle == CORE_STREAM_PER_THREAD) {
        if (!context) return CORE_INVALID_CONTEXT;
        *out = handle == CORE_STREAM_LEGACY ? context->legacy : per_thread(context);
        return CORE_OK;
    }
    *out = object_find(handle, KIND_STREAM);
    if (!*out) return CORE_INVALID_HANDLE;
    if (context_of((*out)->object.context)->sticky) return context_of((*out)->object.context)->sticky;
    return CORE_OK;
}

int core_stream_create(core_handle *out, unsigned flags, int priority)
{
    struct context *context = current_context();
    struct stream *stream;
    if (flags & ~(unsigned)CORE_STREAM_NON_BLOCKING) return CORE_INVALID_VALUE;
    if (priority > CORE_PRIORITY_LEAST) priority = CORE_PRIORITY_LEAST;
    if (priority < CORE_PRIORITY_GREATEST) priority = CORE_PRIORITY_GREATEST;
    stream = stream_new(context, flags, priority);
    object_add(&stream->object, KIND_STREAM, context->object.handle);
    *out = stream->object.handle;
    return CORE_OK;
}

static void destroy(struct stream *stream)
{
    capture_stream_destroyed(stream);
    if (stream->object.handle) object_remove(&stream->object);
    stream->is_destroyed = 1;
    stream_release(stream);
}

int core_stream_destroy(core_handle handle)
{
    struct stream *stream;
    if (handle <= CORE_STREAM_PER_THREAD) return CORE_INVALID_HANDLE;
    stream = object_find(handle, KIND_STREAM);
    if (!stream) return CORE_INVALID_HANDLE;
    destroy(stream);
    return CORE_OK;
}

int core_stream_synchronize(core_handle handle)
{
    struct stream *stream;
    int code = stream_resolve(handle, &stream);
    if (!code) code = capture_refuses_wait(stream);
    if (code) return code;
    if (stream->is_legacy) {
        /* Its end is the end of all blocking streams' earlier work. */
        struct body *barrier = body_new(OP_EMPTY, stream->object.context);
        code = submit(stream, barrier);
        body_drop(barrier);
        if (code) return code;
    }
    return run_stream(stream, UINT64_MAX);
}

int core_stream_query(core_handle handle)
{
    struct stream *stream;
    int code = stream_resolve(handle, &stream);
    if (!code) code = capture_refuses_wait(stream);
    if (code) return code;
    if (!stream->head) return stream_outcome(stream);
    run_step(stream);
    code = core_context_error(stream->object.context);
    return code ? code : CORE_NOT_READY;
}

int core_stream_context(core_handle handle, core_handle *out)
{
    struct stream *stream;
    int code = stream_resolve(handle, &stream);
    if (!code) *out = stream->object.context;
    return code;
}

int core_stream_flags(core_handle handle, unsigned *out)
{
    struct stream *stream;
    int code = stream_resolve(handle, &stream);
    if (!code) *out = stream->flags;
    return code;
}

int core_stream_priority(core_handle handle, int *out)
{
    struct stream *stream;
    int code = stream_resolve(handle, &stream);
    if (!code) *out = stream->priority;
    return code;
}

int core_stream_id(core_handle handle, uint64_t *out)
{
    struct stream *stream;
    int code = stream_resolve(handle, &stream);
    if (!code) *out = stream->id;
    return code;
}

int core_stream_call(core_handle handle, core_host_function function, void *argument, int is_callback)
{
    struct stream *stream;
    struct body *body;
    int code = stream_resolve(handle, &stream);
    if (code) return code;
    if (!function) return CORE_INVALID_VALUE;
    if (is_callback && stream->capture) { /* the older form cannot be captured */
        capture_invalidate(stream->capture, CORE_CAPTURE_UNSUPPORTED);
        return CORE_CAPTURE_UNSUPPORTED;
    }
    body = body_new(OP_HOST, stream->object.context);
    body->host.function = function;
    body->host.argument = argument;
    body->host.is_callback = is_callback;
    code = submit(stream, body);
    body_drop(body);
    return code;
}

int core_context_synchronize(void)
{
    struct context *context = current_context();
    core_handle handle = context->object.handle;
    int code = capture_refuses_context(handle), found = 0;
    if (code) return code;
    run_context(handle);
    for (struct stream *s = first; s; s = s->next)
        if (s->object.context == handle && (code = stream_outcome(s)) && !found) found = code;
    code = core_context_error(handle);
    return code ? code : found;
}

void streams_forget_context(core_handle context)
{
    struct event *event;
    struct module *module;
    struct stream *stream;
    uint32_t cursor = 0;
    run_context(context);
    for (;;) {
        for (stream = first; stream && (stream->object.context != context || stream->is_destroyed);)
            stream = stream->next;
        if (!stream) break;
        drop_queue(stream);
        destroy(stream);
    }
    while ((event = object_next(KIND_EVENT, &cursor)))
        if (event->object.context == context) core_event_destroy(event->object.handle);
    for (cursor = 0; (module = object_next(KIND_MODULE, &cursor));)
        if (module->object.context == context) core_module_unload(module->object.handle);
}

void streams_forget(void)
{
    struct event *event;
    uint32_t cursor = 0;
    while (first) {
        struct stream *stream = first;
        drop_queue(stream);
        first = stream->next;
        if (stream->object.handle) object_remove(&stream->object);
        free(stream->capture_tail);
        if (stream->holds || stream->is_busy) continue; /* somebody waits in it still: it is lost, not freed under them */
        free(stream);
    }
    while ((event = object_next(KIND_EVENT, &cursor))) core_event_destroy(event->object.handle);
}
