/* Deferred execution: what is queued runs when somebody waits or asks, with what it depends on and nothing else. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core_parts.h"

static uint64_t next_order = 1;
uint64_t clock_ns = 1000;

/* ------------------------------------------------ bodies */

struct body *body_new(enum op_kind kind, core_handle context)
{
    struct body *body = calloc(1, sizeof *body);
    body->references = 1;
    body->kind = kind;
    body->context = context;
    return body;
}

struct body *body_hold(struct body *body)
{
    body->references++;
    return body;
}

void body_drop(struct body *body)
{
    if (!body || --body->references) return;
    if (body->kind == OP_KERNEL) {
        free(body->kernel.parameters);
        free(body->kernel.pointers);
        if (body->kernel.function) module_drop(body->kernel.function->module);
    }
    if (body->allocation) {
        if (body->kind == OP_ALLOC && body->allocation->owned_by_graph) memory_kill(body->allocation);
        memory_drop(body->allocation);
    }
    free(body->staged);
    free(body->memory_ids);
    free(body->memory_bases);
    free(body);
}

void body_names(struct body *body, core_address address)
{
    struct allocation *a = memory_at(address);
    if (!a) return;
    body->memory_ids = realloc(body->memory_ids, (body->memory_count + 1) * sizeof *body->memory_ids);
    body->memory_bases = realloc(body->memory_bases, (body->memory_count + 1) * sizeof *body->memory_bases);
    body->memory_ids[body->memory_count] = a->id;
    body->memory_bases[body->memory_count++] = a->base;
}

/* ------------------------------------------------ records */

struct record *record_new(struct stream *stream)
{
    struct record *record = calloc(1, sizeof *record);
    record->references = 1;
    record->stream = stream;
    record->stream_handle = stream->object.handle;
    return record;
}

void record_drop(struct record *record)
{
    if (record && !--record->references) free(record);
}

/* ------------------------------------------------ queueing */

static void advance(struct stream *stream);


void submit_op(struct stream *stream, struct op *op)
{
    unsigned room = 0;
    for (unsigned i = 0; i < op->count; i++) room += op->bodies[i]->memory_count;
    op->holds = room ? malloc(room * sizeof *op->holds) : NULL;
    for (unsigned i = 0; i < op->count; i++)
        for (unsigned k = 0; k < op->bodies[i]->memory_count; k++) {
            struct allocation *a = memory_at(op->bodies[i]->memory_bases[k]);
            if (!a || a->id != op->bodies[i]->memory_ids[k]) {
                core_violation("use-after-free", "an operation uses what was at %#" PRIx64 " and is freed",
                               op->bodies[i]->memory_bases[k]);
                continue;
            }
            memory_hold(a);
            op->holds[op->hold_count++] = a;
        }
    op->order = next_order++;
    if (stream->tail) stream->tail->next = op;
    else stream->head = op;
    stream->tail = op;
    stream->length++;
    for (unsigned i = 0; i < op->count; i++)
        if (op->bodies[i]->kind == OP_HOST && core_setting("driver_thread")) {
            driver_thread_wake(stream);
            break;
        }
    stream->holds++;
    while (stream->length > (unsigned)core_setting("queue_depth")) advance(stream);
    stream->holds--;
}

static struct op *op_new(enum op_kind kind, unsigned count)
{
    struct op *op = calloc(1, sizeof *op);
    op->kind = kind;
    op->count = count;
    if (count) {
        op->bodies = calloc(count, sizeof *op->bodies);
        op->launches = calloc(count, sizeof *op->launches);
        op->faults = calloc(count, sizeof *op->faults);
        op->records = calloc(count, sizeof *op->records);
    }
    return op;
}

/* A replay records and awaits events when it is launched, as calls on a stream do, node by node: who waits for the event
 * afterwards waits for this replay, and a recording made later is not waited for. */
static struct record *record_of_replay(struct stream *stream, const struct body *body)
{
    struct event *event = object_peek(body->event, KIND_EVENT);
    struct record *record;
    if (!event) {
        core_violation("use-after-free", "a graph %s an event that was destroyed", body->kind == OP_RECORD ? "records" : "awaits");
        return NULL;
    }
    if (body->kind == OP_WAIT) {
        record = event->record;
        if (record) record->references++;
        return record;
    }
    record = record_new(stream);
    record->references++;
    event_set_record(event, record);
    return record;
}

static void record_reached(struct record *record, int code)
{
    record->is_done = 1;
    record->stream = NULL;
    record->time_ns = clock_ns;
    record->code = code;
}

static void add_body(struct op *op, unsigned at, struct body *body, struct stream *stream, core_handle exec)
{
    op->bodies[at] = body_hold(body);
    if (body->kind != OP_KERNEL) return;
    journal_launch(&body->kernel, stream, exec, &op->launches[at]);
    op->faults[at] = fault_of_launch(op->launches[at].ordinal);
}

struct op *op_of_replay(struct stream *stream, struct body **bodies, unsigned count, core_handle exec)
{
    struct op *op = op_new(OP_GRAPH, count);
    for (unsigned i = 0; i < count; i++) {
        add_body(op, i, bodies[i], stream, exec);
        if (bodies[i]->kind == OP_RECORD || bodies[i]->kind == OP_WAIT) op->records[i] = record_of_replay(stream, bodies[i]);
    }
    return op;
}

int submit(struct stream *stream, struct body *body)
{
    static const enum core_node_kind kinds[] = {
        [OP_KERNEL] = CORE_NODE_KERNEL, [OP_COPY] = CORE_NODE_COPY, [OP_FILL] = CORE_NODE_FILL, [OP_HOST] = CORE_NODE_HOST,
        [OP_ALLOC] = CORE_NODE_ALLOC, [OP_FREE] = CORE_NODE_FREE, [OP_EMPTY] = CORE_NODE_EMPTY,
        [OP_RECORD] = CORE_NODE_EVENT_RECORD, [OP_WAIT] = CORE_NODE_WAIT_EVENT,
    };
    struct op *op;
    int code;
    if (stream->capture) return capture_add(stream, kinds[body->kind], body, NULL);
    if (stream->is_legacy && (code = capture_of_legacy(stream))) return code;
    op = op_new(body->kind, 1);
    add_body(op, 0, body, stream, 0);
    submit_op(stream, op);
    return CORE_OK;
}

void queue_record(struct stream *stream, struct record *record)
{
    struct op *op = op_new(OP_RECORD, 0);
    op->record = record;
    record->references++;
    submit_op(stream, op);
}

void queue_wait(struct stream *stream, struct record *record)
{
    struct op *op = op_new(OP_WAIT, 0);
    op->record = record;
    record->references++;
    submit_op(stream, op);
}

/* ------------------------------------------------ running */

static void copy_rows(const struct body *body)
{
    const struct core_copy *c = &body->copy;
    unsigned char *dst = (unsigned char *)(uintptr_t)c->dst;
    const unsigned char *src = body->staged ? body->staged : (const unsigned char *)(uintptr_t)c->src;
    for (size_t row = 0; row < c->height; row++) memmove(dst + row * c->dst_pitch, src + row * c->src_pitch, c->width);
    clock_ns += c->width * c->height / 16;
}

static void fill_rows(const struct body *body)
{
    unsigned char *dst = (unsigned char *)(uintptr_t)body->fill.dst;
    for (size_t row = 0; row < body->fill.height; row++, dst += body->fill.pitch) {
        if (body->fill.width == 1) memset(dst, (int)body->fill.value, body->fill.count);
        else
            for (size_t i = 0; i < body->fill.count; i++)
                memcpy(dst + i * body->fill.width, &body->fill.value, body->fill.width);
    }
    clock_ns += body->fill.count * body->fill.width * body->fill.height / 32;
}

static void call_host(const struct body *body, core_handle stream, int code)
{
    struct thread *self = thread_self();
    self->in_callback++;
    pthread_mutex_unlock(&core_lock);
    if (body->host.is_callback) body->host.function(stream, code, body->host.argument);
    else ((void (*)(void *))(void *)body->host.function)(body->host.argument);
    pthread_mutex_lock(&core_lock);
    if (self->in_callback) self->in_callback--; /* a reset meanwhile made the thread new */
}

static int execute_body(struct body *body, struct stream *stream, const struct standin_launch *launch, struct record *record, int fault)
{
    switch (body->kind) {
    case OP_KERNEL:
        if (fault) return fault;
        return execute_kernel(body->kernel.function->module, launch, body->kernel.parameters);
    case OP_COPY: copy_rows(body); break;
    case OP_FILL: fill_rows(body); break;
    case OP_HOST: call_host(body, stream->object.handle, CORE_OK); break;
    case OP_ALLOC:
        body->allocation->is_alive_in_graph = 1;
        memory_changed();
        break;
    case OP_FREE:
        if (body->allocation->owned_by_graph) body->allocation->is_alive_in_graph = 0, memory_changed();
        else memory_kill(body->allocation);
        break;
    case OP_RECORD: /* of a graph */
        if (record) record_reached(record, CORE_OK);
        break;
    case OP_WAIT:
        if (record) run_record(record);
        break;
    default: break;
    }
    return CORE_OK;
}

static void finish(struct stream *stream, struct op *op, int code)
{
    if (code && core_is_sticky(code)) context_lost(stream->object.context, code);
    else if (code && !stream->pending_code) stream->pending_code = code;
    if (op->kind == OP_RECORD || op->kind == OP_GRAPH) {
        int lost = core_context_error(stream->object.context), outcome = lost ? lost : stream->pending_code;
        if (op->record) record_reached(op->record, outcome);
        for (unsigned i = 0; i < op->count; i++) {
            if (op->records[i] && op->bodies[i]->kind == OP_RECORD && !op->records[i]->is_done)
                record_reached(op->records[i], outcome);
            record_drop(op->records[i]);
        }
    }
    stream->head = op->next;
    stream->length--;
    if (!stream->head) stream->tail = NULL;
    for (unsigned i = 0; i < op->hold_count; i++) memory_drop(op->holds[i]);
    for (unsigned i = 0; i < op->count; i++) body_drop(op->bodies[i]);
    record_drop(op->record);
    free(op->holds);
    free(op->bodies);
    free(op->launches);
    free(op->faults);
    free(op->records);
    free(op);
    pthread_cond_broadcast(&core_changed);
}

static void run_op(struct stream *stream, struct op *op)
{
    int code = core_context_error(stream->object.context), lost = code != 0;
    stream->is_busy = 1;
    for (unsigned i = 0; i < op->count; i++) {
        struct body *body = op->bodies[i];
        clock_ns += (uint64_t)core_setting("clock_step_ns");
        if (!code) code = execute_body(body, stream, &op->launches[i], op->records[i], op->faults[i]);
        else if (body->kind == OP_HOST && body->host.is_callback) call_host(body, stream->object.handle, code);
    }
    if (!op->count) clock_ns += (uint64_t)core_setting("clock_step_ns");
    stream->is_busy = 0;
    finish(stream, op, lost ? CORE_OK : code);
}

static int is_for_driver_thread(const struct op *op)
{
    if (!core_setting("driver_thread") || is_driver_thread()) return 0;
    for (unsigned i = 0; i < op->count; i++)
        if (op->bodies[i]->kind == OP_HOST) return 1;
    return 0;
}

static struct stream *first_obstacle(struct stream *stream, const struct op *op)
{
    struct context *context = stream_context(stream);
    struct stream *legacy = context ? context->legacy : NULL;
    if (op->kind == OP_WAIT && !op->record->is_done) return op->record->stream;
    if (stream->is_legacy) {
        for (struct stream *s = streams_first(); s; s = s->next)
            if (s != stream && s->object.context == stream->object.context && !(s->flags & CORE_STREAM_NON_BLOCKING) &&
                s->head && s->head->order < op->order)
                return s;
    } else if (!(stream->flags & CORE_STREAM_NON_BLOCKING) && legacy && legacy->head && legacy->head->order < op->order) {
        return legacy;
    }
    return NULL;
}

/* One step: the head of the stream, or of what stands in its way (orders only fall on that path). */
static void advance(struct stream *stream)
{
    for (;;) {
        struct op *op = stream->head;
        struct stream *obstacle;
        if (!op) return;
        if (stream->is_busy) break;
        if ((obstacle = first_obstacle(stream, op))) {
            stream = obstacle;
            continue;
        }
        if (is_for_driver_thread(op)) {
            driver_thread_wake(stream);
            break;
        }
        stream->holds++;
        run_op(stream, op);
        stream->holds--;
        stream_release(stream);
        return;
    }
    pthread_cond_wait(&core_changed, &core_lock);
}

void run_step(struct stream *stream) { advance(stream); }

int stream_outcome(struct stream *stream)
{
    int code = core_context_error(stream->object.context);
    if (code) return code;
    code = stream->pending_code;
    stream->pending_code = 0;
    return code;
}

int run_stream(struct stream *stream, uint64_t until)
{
    int code;
    if (until == UINT64_MAX) until = next_order - 1;
    stream->holds++;
    while (stream->head && stream->head->order <= until) advance(stream);
    code = stream_outcome(stream);
    stream->holds--;
    stream_release(stream);
    return code;
}

void run_record(struct record *record)
{
    record->references++;
    while (!record->is_done && record->stream) advance(record->stream);
    record_drop(record);
}

static void run_those(core_handle context)
{
    uint64_t until = next_order - 1;
    struct stream *s;
    do {
        for (s = streams_first(); s; s = s->next)
            if ((!context || s->object.context == context) && s->head && s->head->order <= until &&
                !(s->is_busy && !context)) {
                advance(s);
                break; /* the list may have changed */
            }
    } while (s);
}

void run_context(core_handle context) { run_those(context); }
void run_everything(void) { run_those(0); }

void drop_queue(struct stream *stream)
{
    while (stream->head && !stream->is_busy) {
        struct op *op = stream->head;
        int before = stream->pending_code;
        finish(stream, op, CORE_OK);
        stream->pending_code = before;
    }
}

uint64_t queue_length(void)
{
    uint64_t n = 0;
    for (struct stream *s = streams_first(); s; s = s->next)
        for (struct op *op = s->head; op; op = op->next) n++;
    return n;
}

uint64_t standin_queued(void)
{
    uint64_t n;
    pthread_mutex_lock(&core_lock);
    n = queue_length();
    pthread_mutex_unlock(&core_lock);
    return n;
}

uint64_t standin_clock_ns(void) { return clock_ns; }
