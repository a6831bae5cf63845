/* Stream capture: what becomes a graph, what may not be asked meanwhile, and how a capture is spoiled. */
#include <stdlib.h>
#include <string.h>

#include "core_parts.h"

#define CAPTURE_ROOM 256
static struct capture *active[CAPTURE_ROOM];
static unsigned active_count;
static uint64_t next_id = 1;

static struct capture *capture_with(uint64_t id)
{
    for (unsigned i = 0; i < active_count; i++)
        if (active[i]->id == id) return active[i];
    return NULL;
}

void capture_invalidate(struct capture *capture, int code)
{
    if (!capture->invalid_code) capture->invalid_code = code;
}

int capture_check_unsafe(void)
{
    struct thread *self = thread_self();
    int found = 0;
    if (self->capture_mode == CORE_CAPTURE_RELAXED) return CORE_OK;
    for (unsigned i = 0; i < active_count; i++) {
        struct capture *c = active[i];
        int is_own = c->thread == self->id && c->mode != CORE_CAPTURE_RELAXED;
        int is_global = c->mode == CORE_CAPTURE_GLOBAL && self->capture_mode == CORE_CAPTURE_GLOBAL;
        if (!is_own && !is_global) continue;
        capture_invalidate(c, CORE_CAPTURE_UNSUPPORTED);
        found = 1;
    }
    if (found) core_violation("unsafe-in-capture", "the call spoils a capture");
    return found ? CORE_CAPTURE_UNSUPPORTED : CORE_OK;
}

int capture_refuses_wait(struct stream *stream)
{
    if (!stream->capture) return capture_check_unsafe();
    capture_invalidate(stream->capture, CORE_CAPTURE_UNSUPPORTED);
    core_violation("unsafe-in-capture", "a capturing stream was waited for or asked");
    return CORE_CAPTURE_UNSUPPORTED;
}

int capture_refuses_context(core_handle context)
{
    int found = 0;
    for (struct stream *s = streams_first(); s; s = s->next)
        if (s->capture && s->object.context == context) {
            capture_invalidate(s->capture, CORE_CAPTURE_UNSUPPORTED);
            found = 1;
        }
    if (!found) return capture_check_unsafe();
    core_violation("unsafe-in-capture", "a context with a capturing stream was waited for");
    return CORE_CAPTURE_UNSUPPORTED;
}

int capture_of_legacy(struct stream *legacy)
{
    int found = 0;
    for (struct stream *s = streams_first(); s; s = s->next)
        if (s->capture && s->object.context == legacy->object.context && !(s->flags & CORE_STREAM_NON_BLOCKING)) {
            capture_invalidate(s->capture, CORE_CAPTURE_IMPLICIT);
            found = 1;
        }
    return found ? CORE_CAPTURE_IMPLICIT : CORE_OK;
}

/* ------------------------------------------------ the ends of a capture */

static void set_tail(struct stream *stream, const core_handle *nodes, unsigned count)
{
    core_handle *copy = count ? malloc(count * sizeof *copy) : NULL;
    if (count) memcpy(copy, nodes, count * sizeof *copy);
    free(stream->capture_tail);
    stream->capture_tail = copy;
    stream->capture_tail_count = count;
}

int core_capture_begin(core_handle handle, enum core_capture_mode mode)
{
    struct stream *stream;
    struct capture *capture;
    int code = stream_resolve(handle, &stream);
    if (code) return code;
    if (mode > CORE_CAPTURE_RELAXED) return CORE_INVALID_VALUE;
    if (stream->is_legacy) return CORE_CAPTURE_UNSUPPORTED;
    if (stream->capture || active_count == CAPTURE_ROOM) return CORE_ILLEGAL_STATE;
    capture = calloc(1, sizeof *capture);
    capture->id = next_id++;
    capture->thread = thread_self()->id;
    capture->mode = mode;
    capture->origin = stream;
    core_graph_create(&capture->graph_handle);
    capture->graph = object_peek(capture->graph_handle, KIND_GRAPH);
    active[active_count++] = capture;
    stream->capture = capture;
    set_tail(stream, NULL, 0);
    return CORE_OK;
}

static void finish(struct capture *capture)
{
    for (struct stream *s = streams_first(); s; s = s->next)
        if (s->capture == capture) {
            s->capture = NULL;
            set_tail(s, NULL, 0);
        }
    for (unsigned i = 0; i < active_count; i++)
        if (active[i] == capture) {
            active[i] = active[--active_count];
            break;
        }
    free(capture);
}

static void mark_reached(struct node *node, unsigned char *reached)
{
    unsigned at = 0;
    while (node->graph->nodes[at] != node) at++;
    if (reached[at]) return;
    reached[at] = 1;
    for (unsigned i = 0; i < node->dependency_count; i++) mark_reached(node->dependencies[i], reached);
}

static int is_joined(struct capture *capture)
{
    unsigned char *reached = calloc(capture->graph->count + 1, 1);
    int joined = 1;
    for (unsigned i = 0; i < capture->origin->capture_tail_count; i++)
        mark_reached(object_peek(capture->origin->capture_tail[i], KIND_NODE), reached);
    for (struct stream *s = streams_first(); s && joined; s = s->next) {
        if (s->capture != capture || s == capture->origin) continue;
        for (unsigned i = 0; i < s->capture_tail_count && joined; i++) {
            struct node *node = object_peek(s->capture_tail[i], KIND_NODE);
            unsigned at = 0;
            while (capture->graph->nodes[at] != node) at++;
            joined = reached[at];
        }
    }
    free(reached);
    return joined;
}

int core_capture_end(core_handle handle, core_handle *out)
{
    struct stream *stream;
    struct capture *capture;
    int code = stream_resolve(handle, &stream);
    *out = 0;
    if (code) return code;
    if (!(capture = stream->capture)) return CORE_ILLEGAL_STATE;
    if (capture->origin != stream) {
        capture_invalidate(capture, CORE_CAPTURE_UNMATCHED);
        return CORE_CAPTURE_UNMATCHED;
    }
    if (capture->mode != CORE_CAPTURE_RELAXED && capture->thread != thread_self()->id) return CORE_CAPTURE_WRONG_THREAD;
    code = capture->invalid_code ? CORE_CAPTURE_INVALIDATED : is_joined(capture) ? CORE_OK : CORE_CAPTURE_UNJOINED;
    if (code) core_graph_destroy(capture->graph_handle);
    else *out = capture->graph_handle;
    finish(capture);
    return code;
}

void capture_stream_destroyed(struct stream *stream)
{
    struct capture *capture = stream->capture;
    if (!capture) return;
    core_violation("unsafe-in-capture", "a capturing stream was destroyed");
    capture_invalidate(capture, CORE_CAPTURE_UNSUPPORTED);
    stream->capture = NULL;
    set_tail(stream, NULL, 0);
    if (capture->origin == stream) {
        core_graph_destroy(capture->graph_handle);
        finish(capture);
    }
}

void captures_forget_context(core_handle context)
{
    for (unsigned i = active_count; i-- > 0;)
        if (i < active_count && active[i]->origin->object.context == context) {
            core_graph_destroy(active[i]->graph_handle);
            finish(active[i]);
        }
}

void captures_forget(void)
{
    while (active_count) finish(active[0]);
}

/* ------------------------------------------------ what is captured */

int capture_add(struct stream *stream, enum core_node_kind kind, struct body *body, struct graph *child)
{
    struct capture *capture = stream->capture;
    core_handle node;
    int code;
    if (capture->invalid_code) return CORE_CAPTURE_INVALIDATED;
    code = graph_add(capture->graph, kind, body, child, stream->capture_tail, stream->capture_tail_count, &node);
    if (!code) set_tail(stream, &node, 1);
    return code;
}

int capture_record(struct stream *stream, struct event *event)
{
    if (stream->capture->invalid_code) return CORE_CAPTURE_INVALIDATED;
    event_set_record(event, NULL);
    event->capture_id = stream->capture->id;
    event->node_count = stream->capture_tail_count;
    free(event->nodes);
    event->nodes = event->node_count ? malloc(event->node_count * sizeof *event->nodes) : NULL;
    if (event->node_count) memcpy(event->nodes, stream->capture_tail, event->node_count * sizeof *event->nodes);
    return CORE_OK;
}

int capture_wait(struct stream *stream, struct event *event)
{
    struct capture *from = capture_with(event->capture_id), *to = stream->capture;
    if (!event->capture_id) {
        if (to->invalid_code) return CORE_CAPTURE_INVALIDATED;
        if (!event->record) return CORE_OK; /* never recorded: nothing to wait for */
        capture_invalidate(to, CORE_CAPTURE_ISOLATION);
        return CORE_CAPTURE_ISOLATION;
    }
    if (!from) return CORE_CAPTURED_EVENT;
    if (from->invalid_code) return CORE_CAPTURE_INVALIDATED;
    if (stream->is_legacy) {
        capture_invalidate(from, CORE_CAPTURE_IMPLICIT);
        return CORE_CAPTURE_IMPLICIT;
    }
    if (to && to != from) {
        capture_invalidate(from, CORE_CAPTURE_MERGE);
        capture_invalidate(to, CORE_CAPTURE_MERGE);
        return CORE_CAPTURE_MERGE;
    }
    if (!to) {
        stream->capture = from;
        set_tail(stream, event->nodes, event->node_count);
        return CORE_OK;
    }
    for (unsigned i = 0; i < event->node_count; i++) {
        unsigned known = 0;
        while (known < stream->capture_tail_count && stream->capture_tail[known] != event->nodes[i]) known++;
        if (known < stream->capture_tail_count) continue;
        stream->capture_tail = realloc(stream->capture_tail, (known + 1) * sizeof *stream->capture_tail);
        stream->capture_tail[stream->capture_tail_count++] = event->nodes[i];
    }
    return CORE_OK;
}

/* ------------------------------------------------ asking */

int core_capture_status(core_handle handle, int *status)
{
    struct core_capture_info info;
    int code = core_capture_info(handle, &info);
    if (!code) *status = info.status;
    return code;
}

int core_capture_info(core_handle handle, struct core_capture_info *out)
{
    struct stream *stream;
    int code = stream_resolve(handle, &stream);
    memset(out, 0, sizeof *out);
    if (code) return code;
    if (stream->is_legacy) return capture_of_legacy(stream);
    if (!stream->capture) return CORE_OK;
    if (stream->capture->invalid_code) {
        out->status = CORE_CAPTURE_STATUS_INVALIDATED;
        return CORE_OK;
    }
    *out = (struct core_capture_info){CORE_CAPTURE_ACTIVE, stream->capture->id, stream->capture->graph_handle,
                                      stream->capture_tail, stream->capture_tail_count};
    return CORE_OK;
}

int core_capture_exchange(int *mode)
{
    struct thread *self = thread_self();
    int before = self->capture_mode;
    if (*mode < CORE_CAPTURE_GLOBAL || *mode > CORE_CAPTURE_RELAXED) return CORE_INVALID_VALUE;
    self->capture_mode = *mode;
    *mode = before;
    return CORE_OK;
}

int core_capture_set_dependencies(core_handle handle, const core_handle *nodes, unsigned count, int replace)
{
    struct stream *stream;
    int code = stream_resolve(handle, &stream);
    if (code) return code;
    if (!stream->capture) return CORE_ILLEGAL_STATE;
    if (stream->capture->invalid_code) return CORE_CAPTURE_INVALIDATED;
    for (unsigned i = 0; i < count; i++) {
        struct node *node = object_find(nodes[i], KIND_NODE);
        if (!node || node->graph != stream->capture->graph) return CORE_INVALID_VALUE;
    }
    if (replace) {
        set_tail(stream, nodes, count);
        return CORE_OK;
    }
    stream->capture_tail = realloc(stream->capture_tail,
                                   (stream->capture_tail_count + count + 1) * sizeof *stream->capture_tail);
    for (unsigned i = 0; i < count; i++) stream->capture_tail[stream->capture_tail_count++] = nodes[i];
    return CORE_OK;
}
