/* Events: places in a stream's order, and times on the virtual clock. */
#include <stdlib.h>

#include "core_parts.h"

void event_set_record(struct event *event, struct record *record)
{
    record_drop(event->record);
    event->record = record;
}

int core_event_create(core_handle *out, unsigned flags)
{
    struct event *event;
    if (flags & ~7u) return CORE_INVALID_VALUE;
    if ((flags & CORE_EVENT_INTERPROCESS) && !(flags & CORE_EVENT_NO_TIMING)) return CORE_INVALID_VALUE;
    event = calloc(1, sizeof *event);
    event->flags = flags;
    object_add(&event->object, KIND_EVENT, current_context()->object.handle);
    *out = event->object.handle;
    return CORE_OK;
}

int core_event_destroy(core_handle handle)
{
    struct event *event = object_find(handle, KIND_EVENT);
    if (!event) return CORE_INVALID_HANDLE;
    record_drop(event->record);
    object_remove(&event->object);
    free(event->nodes);
    free(event);
    return CORE_OK;
}

int core_event_record(core_handle handle, core_handle stream_handle, int external)
{
    struct event *event = object_find(handle, KIND_EVENT);
    struct stream *stream;
    struct record *record;
    int code;
    if (!event) return CORE_INVALID_HANDLE;
    if ((code = stream_resolve(stream_handle, &stream))) return code;
    if (event->object.context != stream->object.context) return CORE_INVALID_HANDLE;
    if (stream->capture) {
        if (external) {
            struct body *body = body_new(OP_RECORD, stream->object.context);
            body->event = handle;
            code = submit(stream, body);
            body_drop(body);
            return code;
        }
        return capture_record(stream, event);
    }
    if (external) return CORE_INVALID_VALUE; /* only inside of a capture, as documented */
    if (stream->is_legacy && (code = capture_of_legacy(stream))) return code;
    event->capture_id = 0;
    record = record_new(stream);
    queue_record(stream, record);
    event_set_record(event, record);
    return CORE_OK;
}

int core_stream_wait_event(core_handle stream_handle, core_handle handle, int external)
{
    /* The event may be of another context or device than the stream: it says nothing of the context that is meant. */
    struct event *event = object_peek(handle, KIND_EVENT);
    struct stream *stream;
    int code;
    if (!event) {
        object_find(handle, KIND_EVENT);
        return CORE_INVALID_HANDLE;
    }
    if ((code = stream_resolve(stream_handle, &stream))) return code;
    if (stream->capture && external) {
        struct body *body = body_new(OP_WAIT, stream->object.context);
        body->event = handle;
        code = submit(stream, body);
        body_drop(body);
        return code;
    }
    if (stream->capture || event->capture_id) return capture_wait(stream, event);
    if (stream->is_legacy && (code = capture_of_legacy(stream))) return code;
    if (event->record && !event->record->is_done) queue_wait(stream, event->record);
    return CORE_OK;
}

/* What became of the work in front of the event; told once. */
static int outcome(struct record *record)
{
    int code = record->code;
    struct stream *stream = object_peek(record->stream_handle, KIND_STREAM);
    record->code = 0;
    if (code && stream && !core_is_sticky(code)) stream->pending_code = 0;
    return code;
}

int core_event_query(core_handle handle)
{
    struct event *event = object_find(handle, KIND_EVENT);
    if (!event) return CORE_INVALID_HANDLE;
    if (event->capture_id) return CORE_CAPTURED_EVENT;
    if (!event->record) return CORE_OK;
    if (event->record->is_done) return outcome(event->record);
    if (event->record->stream) run_step(event->record->stream);
    return CORE_NOT_READY;
}

int core_event_synchronize(core_handle handle)
{
    struct event *event = object_find(handle, KIND_EVENT);
    struct record *record;
    int code;
    if (!event) return CORE_INVALID_HANDLE;
    if (event->capture_id) return CORE_CAPTURED_EVENT;
    if (!(record = event->record)) return CORE_OK;
    record->references++;
    run_record(record);
    code = outcome(record);
    record_drop(record);
    return code;
}

int core_event_elapsed(float *ms, core_handle start_handle, core_handle end_handle)
{
    struct event *start = object_find(start_handle, KIND_EVENT), *end = object_find(end_handle, KIND_EVENT);
    if (!start || !end) return CORE_INVALID_HANDLE;
    if (start->object.context != end->object.context) return CORE_INVALID_HANDLE;
    if (start->flags & CORE_EVENT_NO_TIMING || end->flags & CORE_EVENT_NO_TIMING) return CORE_INVALID_HANDLE;
    if (start->capture_id || end->capture_id) return CORE_CAPTURED_EVENT;
    if (!start->record || !end->record) return CORE_INVALID_HANDLE;
    if (!start->record->is_done || !end->record->is_done) return CORE_NOT_READY;
    *ms = (float)((double)((int64_t)end->record->time_ns - (int64_t)start->record->time_ns) / 1e6);
    return CORE_OK;
}
