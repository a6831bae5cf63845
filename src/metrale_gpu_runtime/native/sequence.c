/* A sequence of launches as one native call: every image and every address made once, slots written where they stand.
 *
 * While the driver reads the images, with the interpreter lock let go of, they are written by nobody: a second call
 * meanwhile is Python's, which makes images of its own. A driver without C calls is given one launch after the other, by
 * its targets, and the books are kept as for single launches.
 */
#include "core.h"

#include <string.h>

typedef struct Run Run;

typedef struct {
    Plan *plan;
    LaunchConfig config;
    unsigned char *image;
    void **parameters;
    PyObject *site;
    uint32_t *named; /* what it names whatever the slots are, by its numbers in the run */
    uint32_t named_count;
} Item;

/* One place of a slot in an image. */
typedef struct {
    uint32_t item, argument;
} SlotPlace;

/* All places of one slot that want one kind of value. */
typedef struct {
    PyObject *name, *allocation; /* the memory that it was last set to */
    uint8_t wanted, nbytes;
    bool is_set;
    uint64_t accepted; /* a bit for each code that was found to fit all the places */
    uint32_t count;
    SlotPlace *places; /* in the order of the launches */
    unsigned char bytes[16];
} Variant;

/* Memory that launches name whatever the slots are: its last one in the sequence is `mark`. */
typedef struct {
    PyObject *allocation;
    uint32_t mark;
} Named;

/* One call of a sequence: what was queued under which numbers, and the slots' values then. */
typedef struct {
    PyObject_HEAD
    Run *run;
    int64_t stream, sequence, ordinal; /* of the launch before the first */
    uint32_t count;                    /* how many were queued */
    unsigned char *values;             /* 16 bytes for each variant */
} RunCall;

/* The last calls' launches that blocks name, for one stream: a later call of the sequence there takes their place. */
typedef struct {
    PyObject_HEAD
    RunCall *latest;
} Holder;

typedef struct {
    PyObject_HEAD
    Holder *holder;
    uint32_t item;
} Mark;

/* What an operation took the place of in a block's book. */
typedef struct {
    BlockState *block;
    PyObject *operation, *former_use, *former_last; /* a former one may be NULL */
} Change;

struct Run {
    PyObject_HEAD
    Gate *gate;
    uint32_t count, variant_count, named_count, mark_count, kernel_count;
    Item *items;
    void *memory;
    Variant *variants;
    Named *named;
    uint32_t *mark_items; /* the launch of each mark */
    KernelState **kernels;
    uint32_t *shared_mem; /* the most that a launch of each kernel asks for */
    LaneState *lane;      /* the stream of the last call, which the marks are for */
    Holder *holder;
    Mark **marks;
    Change *changes; /* of the call that is being made */
    uint32_t change_count, change_room;
    bool is_busy;
    Recorded *recorded; /* all launches as one command of the driver's; or NULL */
};

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    Run *run; /* NULL: Python makes every call */
    PyObject *gpu, *remembered;
    bool is_stale;
} SequenceState;

static PyTypeObject Run_Type, Holder_Type;
extern PyTypeObject RunCall_Type, Mark_Type, SequenceState_Type;
static PyObject *sequence_plainly, *issue_rest;

/* ---------------------------------------------------------------- a launch of a call, on demand */

static Record *record_of(RunCall *call, uint32_t at)
{
    Run *run = call->run;
    Item *item = &run->items[at];
    Record *record = record_new();
    if (!record) return NULL;
    uint32_t nbytes = item->plan->nbytes;
    record->code = NULL;
    record->facts = NULL;
    if (nbytes > sizeof record->small) {
        unsigned char *image = PyMem_Malloc(nbytes);
        if (!image) {
            Py_DECREF(record);
            PyErr_NoMemory();
            return NULL;
        }
        record->image = image;
    }
    memcpy(record->image, item->image, nbytes);
    for (uint32_t each = 0; each < run->variant_count; each++) {
        Variant *variant = &run->variants[each];
        for (uint32_t place = 0; place < variant->count; place++)
            if (variant->places[place].item == at)
                memcpy(record->image + item->plan->offsets[variant->places[place].argument],
                       call->values + 16 * (size_t)each, variant->nbytes);
    }
    record->nbytes = nbytes;
    record->facts = Py_NewRef(item->plan->facts);
    record->site = Py_NewRef(item->site);
    record->stream = call->stream;
    record->sequence = call->sequence + 1 + (at < call->count ? at : (int64_t)call->count - 1);
    record->ordinal = call->ordinal + 1 + at;
    record->config = item->config;
    return record;
}

static void run_call_dealloc(RunCall *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->run);
    PyMem_Free(self->values);
    PyObject_GC_Del(self);
}

static int run_call_traverse(RunCall *self, visitproc visit, void *arg)
{
    Py_VISIT(self->run);
    return 0;
}

PyTypeObject RunCall_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.RunCall",
    .tp_doc = "One call of a sequence.",
    .tp_basicsize = sizeof(RunCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)run_call_dealloc,
    .tp_traverse = (traverseproc)run_call_traverse,
};

static void holder_dealloc(Holder *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->latest);
    PyObject_GC_Del(self);
}

static int holder_traverse(Holder *self, visitproc visit, void *arg)
{
    Py_VISIT(self->latest);
    return 0;
}

static PyTypeObject Holder_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.Holder",
    .tp_basicsize = sizeof(Holder),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)holder_dealloc,
    .tp_traverse = (traverseproc)holder_traverse,
};

static void mark_dealloc(Mark *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->holder);
    PyObject_GC_Del(self);
}

static int mark_traverse(Mark *self, visitproc visit, void *arg)
{
    Py_VISIT(self->holder);
    return 0;
}

/* A mark is read as the launch that it stands for. */
static Record *mark_record(Mark *mark)
{
    IN_CORE;
    if (mark->holder->latest) return record_of(mark->holder->latest, mark->item);
    PyErr_SetString(PyExc_AttributeError, "a launch that was not made");
    return NULL;
}

static PyObject *mark_getattro(PyObject *self, PyObject *name)
{
    Record *record = mark_record((Mark *)self);
    if (!record) return NULL;
    PyObject *value = PyObject_GetAttr((PyObject *)record, name);
    Py_DECREF(record);
    return value;
}

static PyObject *mark_str(PyObject *self)
{
    Record *record = mark_record((Mark *)self);
    if (!record) return NULL;
    PyObject *text = record_str((PyObject *)record);
    Py_DECREF(record);
    return text;
}

PyTypeObject Mark_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.LaunchMark",
    .tp_doc = "A launch of a sequence's last call on a stream.",
    .tp_basicsize = sizeof(Mark),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)mark_dealloc,
    .tp_traverse = (traverseproc)mark_traverse,
    .tp_getattro = mark_getattro,
    .tp_str = mark_str,
};

/* ---------------------------------------------------------------- calls in a ring */

static int64_t run_call_last(PyObject *entry) { return ((RunCall *)entry)->sequence + ((RunCall *)entry)->count; }

/* Puts the launches of calls in the place of the calls, the latest of all launches as far as there is room. */
static int ring_expand(Ring *ring)
{
    bool has_calls = false;
    for (uint32_t at = 0; at < ring->count; at++)
        has_calls |= Py_TYPE(ring->entries[(ring->start + at) % RING_LENGTH]) == &RunCall_Type;
    if (!has_calls) return 0;
    PyObject *entries[RING_LENGTH];
    uint32_t room = RING_LENGTH;
    /* From the latest back. Nothing of the ring changes before all is made. */
    for (uint32_t at = ring->count; at-- && room;) {
        PyObject *entry = ring->entries[(ring->start + at) % RING_LENGTH];
        if (Py_TYPE(entry) != &RunCall_Type) {
            entries[--room] = Py_NewRef(entry);
            continue;
        }
        RunCall *call = (RunCall *)entry;
        for (uint32_t launch = call->count; launch-- && room;) {
            PyObject *record = (PyObject *)record_of(call, launch);
            if (!record) {
                while (room < RING_LENGTH) Py_DECREF(entries[room++]);
                return -1;
            }
            entries[--room] = record;
        }
    }
    PyObject *former[RING_LENGTH];
    uint32_t former_count = ring->count;
    for (uint32_t at = 0; at < former_count; at++) former[at] = ring->entries[(ring->start + at) % RING_LENGTH];
    ring->start = 0;
    ring->count = RING_LENGTH - room;
    memcpy(ring->entries, entries + room, ring->count * sizeof *entries);
    for (uint32_t at = 0; at < former_count; at++) Py_DECREF(former[at]);
    return 0;
}

/* ---------------------------------------------------------------- the call */

/* Whether a value of this code may stand in all places of a variant: as Python checks it, once. */
static bool accepts(Run *run, Variant *variant, uint8_t code)
{
    if (LIKELY(variant->accepted >> code & 1)) return true;
    for (uint32_t at = 0; at < variant->count; at++) {
        Item *item = &run->items[variant->places[at].item];
        uint8_t codes[MOST_ARGUMENTS];
        memcpy(codes, item->plan->codes, item->plan->count);
        if (!may_stand(code, codes[variant->places[at].argument])) return false;
        codes[variant->places[at].argument] = code;
        KernelState *kernel = NULL;
        for (uint32_t each = 0; each < run->kernel_count && !kernel; each++)
            for (uint32_t plan = 0; plan < run->kernels[each]->plan_count; plan++)
                if (run->kernels[each]->plans[plan] == item->plan) kernel = run->kernels[each];
        Plan *plan = kernel ? find_plan(kernel, codes, item->plan->count) : NULL;
        if (!plan || !is_same_layout(plan, item->plan)) return false;
    }
    variant->accepted |= (uint64_t)1 << code;
    return true;
}

typedef struct {
    unsigned char bytes[16];
    BlockState *block;
    PyObject *value;
} SlotValue;

/* The memory that was named before; the caller lets go of it. */
static PyObject *write_variant(Run *run, Variant *variant, const SlotValue *value)
{
    memcpy(variant->bytes, value->bytes, 16);
    for (uint32_t at = 0; at < variant->count; at++) {
        Item *item = &run->items[variant->places[at].item];
        void *place = item->parameters[variant->places[at].argument];
        if (variant->nbytes == 8)
            memcpy(place, value->bytes, 8);
        else if (variant->nbytes == 4)
            memcpy(place, value->bytes, 4);
        else
            memcpy(place, value->bytes, variant->nbytes);
    }
    PyObject *former = variant->allocation;
    variant->allocation = Py_XNewRef(value->block ? allocation_of(value->value) : NULL);
    variant->is_set = true;
    return former;
}

/* `former` is what was set before, for the caller to let go of: that may run anything. */
static int remember_slot(SequenceState *self, PyObject *name, PyObject *value, PyObject **former)
{
    *former = Py_XNewRef(PyDict_GetItemWithError(self->remembered, name));
    if (!*former && PyErr_Occurred()) return -1;
    return PyDict_SetItem(self->remembered, name, value);
}

/* A holder and marks for calls on this stream. */
static int take_lane(Run *run, LaneState *lane)
{
    Holder *holder = PyObject_GC_New(Holder, &Holder_Type);
    Mark **marks = PyMem_Calloc(run->mark_count + 1, sizeof *marks);
    if (!holder || !marks) {
        Py_XDECREF(holder);
        PyMem_Free(marks);
        PyErr_NoMemory();
        return -1;
    }
    holder->latest = NULL;
    PyObject_GC_Track(holder);
    for (uint32_t at = 0; at < run->mark_count; at++) {
        Mark *mark = PyObject_GC_New(Mark, &Mark_Type);
        if (!mark) {
            while (at--) Py_DECREF(marks[at]);
            PyMem_Free(marks);
            Py_DECREF(holder);
            return -1;
        }
        mark->holder = (Holder *)Py_NewRef(holder);
        mark->item = run->mark_items[at];
        PyObject_GC_Track(mark);
        marks[at] = mark;
    }
    Mark **former = run->marks;
    Holder *former_holder = run->holder;
    run->marks = marks;
    run->holder = holder;
    Py_XSETREF(run->lane, (LaneState *)Py_NewRef(lane));
    for (uint32_t at = 0; at < run->count; at++) run->items[at].config.stream = (void *)(uintptr_t)lane->raw;
    for (uint32_t at = 0; former && at < run->mark_count; at++) Py_DECREF(former[at]);
    PyMem_Free(former);
    Py_XDECREF(former_holder);
    return 0;
}

/* One with nothing queued. */
static RunCall *run_call_new(Run *run)
{
    RunCall *call = PyObject_GC_New(RunCall, &RunCall_Type);
    if (!call) return NULL;
    call->run = (Run *)Py_NewRef(run);
    call->values = NULL;
    call->stream = call->sequence = call->ordinal = 0;
    call->count = 0;
    PyObject_GC_Track(call);
    if (run->variant_count && !(call->values = PyMem_Malloc(16 * (size_t)run->variant_count))) {
        Py_DECREF(call);
        PyErr_NoMemory();
        return NULL;
    }
    return call;
}

/* The call that comes next on this stream, with the slots as they are now. */
static void run_call_begin(RunCall *call, LaneState *lane)
{
    Run *run = call->run;
    call->stream = lane->handle;
    call->sequence = lane->issued;
    call->ordinal = run->gate->ordinal;
    call->count = run->count;
    for (uint32_t at = 0; at < run->variant_count; at++) memcpy(call->values + 16 * (size_t)at, run->variants[at].bytes, 16);
}

/* Makes all launches of kernel objects, each after its arguments were set. As call_driver_for_all. */
static uint32_t call_kernel_objects_for_all(Run *run, LaneState *lane, int *code, enum answer_kind *kind)
{
    Gate *gate = run->gate;
    uint32_t made = 0, ready = 0;
    size_t arguments = 0;
    *kind = NOT_ENTERED;
    *code = -1;
    for (uint32_t at = 0; at < run->count; at++) arguments += run->items[at].plan->count;
    Bound **bounds = PyMem_Calloc(run->count, sizeof *bounds);
    uint64_t *handles = gate->memory ? PyMem_Calloc(arguments + 1, sizeof *handles) : NULL, *own = handles;
    if (!bounds || (gate->memory && !handles)) goto end; /* Python meets the same */
    for (; ready < run->count; ready++) {
        Item *item = &run->items[ready];
        if (gate->memory && !find_handles(gate, item->plan, item->image, own)) goto end;
        if (!(bounds[ready] = bound_of(item->plan))) {
            PyErr_Clear();
            goto end;
        }
        if (own) own += item->plan->count;
    }
    own = handles;
    PyThreadState *thread = PyEval_SaveThread();
    for (; made < run->count; made++) {
        Item *item = &run->items[made];
        const Extents *e = (const Extents *)&item->config;
        *kind = NOT_ENTERED;
        if (UNLIKELY((*code = set_arguments(gate, item->plan, bounds[made], item->image, own, e->shared_mem)))) break;
        *kind = REFUSED;
        if (UNLIKELY((*code = enqueue_bound(gate, lane, bounds[made], e)))) break;
        flush_at_times(gate, lane);
        *kind = NO_ANSWER;
        if (own) own += item->plan->count;
    }
    PyEval_RestoreThread(thread);
end:
    while (ready) Py_DECREF(bounds[--ready]);
    PyMem_Free(bounds);
    PyMem_Free(handles);
    return made;
}

/* Makes all launches as the one command that the driver has recorded. False: it did not take it, and each is to be made.
 * `former` is set to what is not used again, for the caller to let go of. */
static bool call_recorded_for_all(Run *run, LaneState *lane, Recorded **former)
{
    Recorded *recorded = (Recorded *)Py_NewRef(run->recorded);
    bool is_over, is_made = enqueue_recorded(run->gate, lane, recorded, run->count, &is_over);
    *former = recorded;
    if (is_over && run->recorded == recorded) { /* nobody closed the sequence meanwhile */
        run->recorded = NULL;
        Py_DECREF(recorded);
    }
    return is_made;
}

/* Makes all launches. How many the driver took; `code` is its answer to the one after them. */
static uint32_t call_driver_for_all(Run *run, uint64_t current, int *code, enum answer_kind *kind)
{
    Gate *gate = run->gate;
    bool is_current = current == gate->context;
    uint32_t made = 0;
    *kind = NO_ANSWER;
    *code = 0;
    PyThreadState *thread = PyEval_SaveThread();
    if (!is_current && (*code = enter_context(gate, gate->enter, gate->context))) {
        *kind = NOT_ENTERED;
        PyEval_RestoreThread(thread);
        return 0;
    }
    for (; made < run->count; made++) {
        Item *item = &run->items[made];
        *code = ask_launch(gate, item->plan, &item->config, item->parameters);
        if (UNLIKELY(*code)) break;
    }
    if (UNLIKELY(*code)) *kind = REFUSED;
    if (!is_current) {
        int second = leave_context(gate, current);
        if (second && !*code) {
            *kind = NOT_RESTORED;
            *code = second;
            made--;
        }
    }
    PyEval_RestoreThread(thread);
    return made;
}

/* ---------------------------------------------------------------- what is noted, and taken back */

/* Notes an operation as a block's last, with what it took the place of. */
static outcome change_block(Run *run, BlockState *block, int64_t stream, PyObject *operation)
{
    Uses *uses = (Uses *)block->uses;
    PyObject *use = NULL;
    for (uint32_t at = 0; at < uses->count && !use; at++)
        if (use_at(uses, at)->stream == stream) use = use_at(uses, at)->operation;
    if (LIKELY(use == operation && block->last_use == operation)) return DONE; /* as the call before left it */
    if (run->change_count == run->change_room) {
        uint32_t room = run->change_room ? run->change_room * 2 : 16;
        Change *changes = PyMem_Realloc(run->changes, room * sizeof *changes);
        if (!changes) {
            PyErr_NoMemory();
            return FAILED;
        }
        run->changes = changes;
        run->change_room = room;
    }
    Change change = {(BlockState *)Py_NewRef(block), Py_NewRef(operation), Py_XNewRef(use), Py_XNewRef(block->last_use)};
    run->changes[run->change_count++] = change;
    if (use_block(block, stream, operation) != DONE) return FAILED;
    used_last(&block, 1, operation);
    return DONE;
}

static void change_drop(Change *change)
{
    Py_DECREF(change->block);
    Py_DECREF(change->operation);
    Py_XDECREF(change->former_use);
    Py_XDECREF(change->former_last);
}

/* Lets blocks' books be as they were before the changes from `first` on, but for what others have noted meanwhile. */
static void undo_changes(Run *run, int64_t stream, uint32_t first)
{
    while (run->change_count > first) {
        Change change = run->changes[--run->change_count];
        Uses *uses = (Uses *)change.block->uses;
        for (uint32_t at = 0; at < uses->count; at++) {
            Use *use = use_at(uses, at);
            if (use->stream != stream || use->operation != change.operation) continue;
            if (change.former_use)
                use->operation = Py_NewRef(change.former_use);
            else
                uses_take(uses, at);
            Py_DECREF(change.operation);
            break;
        }
        if (change.block->last_use == change.operation) {
            change.block->last_use = Py_XNewRef(change.former_last);
            Py_DECREF(change.operation);
        }
        change_drop(&change);
    }
}

/* All that one launch names, with what its slots stand for; what two arguments name is there twice. -1: too much. */
static int64_t blocks_of_item(Run *run, uint32_t at, BlockState **blocks)
{
    Item *item = &run->items[at];
    uint32_t count = 0;
    if (item->named_count > MOST_ARGUMENTS) return -1;
    for (uint32_t each = 0; each < item->named_count; each++)
        if (item->named[each] < run->named_count) /* closing the sequence lets go of them */
            blocks[count++] = block_of(run->named[item->named[each]].allocation);
    for (uint32_t each = 0; each < run->variant_count; each++) {
        Variant *variant = &run->variants[each];
        for (uint32_t place = 0; variant->allocation && place < variant->count; place++)
            if (variant->places[place].item == at) blocks[count++] = block_of(variant->allocation);
    }
    return count;
}

/* The driver refused a launch of the call: the ones from it on were never made, and those before it are noted one by
 * one. `former` is the call before, whose launches the marks are again. */
static outcome take_rest_back(Run *run, RunCall *call, RunCall *former, LaneState *lane, uint32_t first_change)
{
    undo_changes(run, lane->handle, first_change);
    if (!run->holder) return DONE; /* closed meanwhile */
    RunCall *latest = run->holder->latest;
    run->holder->latest = (RunCall *)Py_XNewRef(former);
    Py_DECREF(latest);
    for (uint32_t at = 0; at < call->count; at++) {
        BlockState *blocks[MOST_ARGUMENTS * 2];
        int64_t count = blocks_of_item(run, at, blocks);
        Record *record = count > 0 ? record_of(call, at) : NULL;
        for (int64_t each = 0; record && each < count; each++) {
            if (use_block(blocks[each], lane->handle, (PyObject *)record) != DONE) {
                Py_DECREF(record);
                return FAILED;
            }
        }
        if (record) used_last(blocks, (uint32_t)count, (PyObject *)record);
        if (count > 0 && !record) return FAILED;
        Py_XDECREF(record);
    }
    return DONE;
}

/* Whether another argument names a block in a later launch of the very call that is being noted. */
static bool is_used_later(BlockState *block, Run *run, LaneState *lane, int64_t sequence, uint32_t item)
{
    PyObject *last = block->last_use;
    if (!last) return false;
    if (Py_TYPE(last) == &Mark_Type) return ((Mark *)last)->holder == run->holder && ((Mark *)last)->item > item;
    return Py_TYPE(last) == &Record_Type && ((Record *)last)->stream == lane->handle &&
           ((Record *)last)->sequence > sequence;
}

/* ---------------------------------------------------------------- a driver without C calls */

/* One launch of a call, as a single one is made. PYTHON: it is the plain core's, and so are those after it. */
static outcome submit_item(Run *run, LaneState *lane, RunCall *call, uint32_t at)
{
    Gate *gate = run->gate;
    Item *item = &run->items[at];
    BlockState *blocks[MOST_ARGUMENTS * 2];
    int64_t count = blocks_of_item(run, at, blocks);
    if (UNLIKELY(count < 0 || !gate_is_open(gate) || !lane->is_plain)) return PYTHON;
    for (int64_t each = 0; each < count; each++)
        if (UNLIKELY(!is_usable(blocks[each], lane))) return PYTHON;
    call->count = at + 1;
    Record *record = record_of(call, at);
    if (!record) return FAILED;
    record->sequence = lane->issued + 1;
    record->ordinal = ++gate->ordinal;
    for (int64_t each = 0; each < count; each++) Py_INCREF(blocks[each]);
    outcome result = use_blocks(blocks, (uint32_t)count, lane->handle, (PyObject *)record);
    if (UNLIKELY(result == PYTHON) && gate->ordinal == record->ordinal) gate->ordinal--;
    if (result == DONE) {
        ring_push((Ring *)lane->ring, (PyObject *)record);
        result = submit_launch(gate, lane, item->plan, (const Extents *)&item->config, record, blocks, (uint32_t)count);
    } else {
        record->sequence = lane->issued;
    }
    for (int64_t each = 0; each < count; each++) Py_DECREF(blocks[each]);
    Py_DECREF(record);
    return result;
}

/* With the lane's lock. A target may do anything: what ends the core's part is looked at before each launch. */
static outcome submit_all(SequenceState *self, Run *run, LaneState *lane, RunCall *call, uint32_t *rest)
{
    outcome result = DONE;
    for (uint32_t at = 0; at < run->count && result == DONE; at++) {
        result = self->run == run ? submit_item(run, lane, call, at) : PYTHON;
        if (result == PYTHON) *rest = at;
    }
    return result == PYTHON ? DONE : result;
}

#define MOST_VARIANTS 64

/* `rest` is set to the first launch that Python has to make, where the driver refused one. */
static outcome run_now(SequenceState *self, LaneState *lane, PyObject *const *values, PyObject *names, uint32_t *rest)
{
    Run *run = self->run;
    Gate *gate = run->gate;
    if (gate->launch || gate->enqueue ? !lane->has_raw || (gate->enqueue && !lane->counts) : !gate->keeper) return PYTHON;
    if (run->variant_count > MOST_VARIANTS || run->is_busy) return PYTHON;
    /* What is read below is borrowed from what another thread may change while this one waits. */
    if (UNLIKELY(lock_is_anothers((Lock *)lane->lock))) return PYTHON;
    for (uint32_t at = 0; at < run->kernel_count; at++) {
        KernelState *kernel = run->kernels[at];
        if (!kernel->module->is_loaded || run->shared_mem[at] > kernel->allowed_shared_mem) return PYTHON;
    }
    SlotValue given[MOST_VARIANTS];
    uint64_t is_given = 0;
    /* What Python has set comes first, then what this call gives. */
    for (uint32_t at = 0; self->is_stale && at < run->variant_count; at++) {
        Variant *variant = &run->variants[at];
        PyObject *value = self->remembered ? PyDict_GetItemWithError(self->remembered, variant->name) : NULL;
        if (!value) {
            if (PyErr_Occurred()) return FAILED;
            continue;
        }
        uint8_t code = read_into(gate, variant->wanted, value, given[at].bytes, &given[at].block);
        if (code == CODE_NONE || !accepts(run, variant, code)) return PYTHON;
        given[at].value = value;
        is_given |= (uint64_t)1 << at;
    }
    Py_ssize_t name_count = names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t name = 0; name < name_count; name++) {
        PyObject *word = PyTuple_GET_ITEM(names, name);
        if (is_name(word, stream_name)) continue;
        if (UNLIKELY(!PyUnicode_CheckExact(word))) return PYTHON; /* whose hash may be anything */
        bool is_known = false;
        for (uint32_t at = 0; at < run->variant_count; at++) {
            Variant *variant = &run->variants[at];
            if (!is_name(word, variant->name)) continue;
            uint8_t code = read_into(gate, variant->wanted, values[name], given[at].bytes, &given[at].block);
            if (code == CODE_NONE || !accepts(run, variant, code)) return PYTHON;
            given[at].value = values[name];
            is_given |= (uint64_t)1 << at;
            is_known = true;
        }
        if (!is_known) return PYTHON;
    }
    for (uint32_t at = 0; at < run->variant_count; at++)
        if (!run->variants[at].is_set && !(is_given >> at & 1)) return PYTHON;

    Lock *lock = (Lock *)lane->lock;
    if (UNLIKELY(!lock_take(lock, PyThreadState_Get()))) return FAILED;
    outcome result = PYTHON;
    Py_INCREF(run); /* closing the sequence lets go of it: from another thread, or from what the collector finalises */
    /* What the call puts something else in the place of is let go of at the end: a finaliser may do anything. */
    PyObject *former_values[MOST_VARIANTS], *former_memory[MOST_VARIANTS];
    PyObject *read_from = self->is_stale ? Py_XNewRef(self->remembered) : NULL; /* nobody changes one that is held */
    uint32_t former_count = 0, memory_count = 0, first_change = run->change_count;
    RunCall *call = NULL, *former = NULL;
    Recorded *former_recorded = NULL;
    bool is_taken = false, is_begun = false;
    const bool was_stale = self->is_stale;
    if (UNLIKELY(run->is_busy || self->run != run)) goto end;
    /* Making objects may run the collector, and with it finalisers and other threads: their calls are Python's meanwhile,
     * and only what is looked at behind that is known. */
    run->is_busy = is_taken = true;
    self->is_stale = false;
    result = FAILED;
    if (run->lane != lane && take_lane(run, lane) < 0) goto end;
    if (name_count && own_dict(&self->remembered) < 0) goto end;
    call = run_call_new(run);
    if (!call) goto end;
    result = PYTHON;
    if (UNLIKELY(self->run != run || self->is_stale || run->lane != lane)) goto end;
    if (UNLIKELY(!gate_is_open(gate))) goto end;
    if (UNLIKELY(!lane->is_plain)) goto end;
    for (uint32_t at = 0; at < run->named_count; at++)
        if (UNLIKELY(!is_usable(block_of(run->named[at].allocation), lane))) goto end;
    for (uint32_t at = 0; at < run->variant_count; at++) {
        BlockState *block = is_given >> at & 1 ? given[at].block
                            : run->variants[at].allocation ? block_of(run->variants[at].allocation)
                                                           : NULL;
        if (UNLIKELY(block && !is_usable(block, lane))) goto end;
    }
    uint64_t current = 0;
    if (gate->launch && UNLIKELY(gate->query(&current))) goto end;

    /* From here on it is made: nothing below is Python's to decide. */
    result = FAILED;
    for (Py_ssize_t name = 0; name < name_count; name++) {
        PyObject *word = PyTuple_GET_ITEM(names, name);
        if (is_name(word, stream_name)) continue;
        if (remember_slot(self, word, values[name], &former_values[former_count++]) < 0) goto end;
    }
    for (uint32_t at = 0; at < run->variant_count; at++)
        if (is_given >> at & 1) former_memory[memory_count++] = write_variant(run, &run->variants[at], &given[at]);
    run_call_begin(call, lane);
    is_begun = true;
    if (!gate->launch && !gate->enqueue) {
        result = submit_all(self, run, lane, call, rest);
        goto end;
    }
    former = run->holder->latest;
    run->holder->latest = (RunCall *)Py_NewRef(call);
    for (uint32_t at = 0; at < run->named_count; at++)
        if (change_block(run, block_of(run->named[at].allocation), lane->handle,
                         (PyObject *)run->marks[run->named[at].mark]) != DONE)
            goto failed;
    for (uint32_t at = 0; at < run->variant_count; at++) {
        Variant *variant = &run->variants[at];
        if (!variant->allocation) continue;
        BlockState *block = block_of(variant->allocation);
        uint32_t item = variant->places[variant->count - 1].item;
        if (is_used_later(block, run, lane, call->sequence + 1 + item, item)) continue;
        /* No mark: the next call may have other memory here, and this one's launch is its last then. */
        Record *record = record_of(call, item);
        outcome used = record ? change_block(run, block, lane->handle, (PyObject *)record) : FAILED;
        Py_XDECREF(record);
        if (used != DONE) goto failed;
    }
    gate->ordinal += run->count;
    ring_push((Ring *)lane->ring, (PyObject *)call);
    int code = 0;
    enum answer_kind kind = NO_ANSWER;
    uint32_t made = run->count;
    if (gate->launch)
        made = call_driver_for_all(run, current, &code, &kind);
    else if (!run->recorded || !call_recorded_for_all(run, lane, &former_recorded))
        made = call_kernel_objects_for_all(run, lane, &code, &kind);
    lane->issued = call->sequence + made;
    gate->native_count += made;
    result = DONE;
    if (UNLIKELY(kind != NO_ANSWER)) {
        call->count = made;
        if (take_rest_back(run, call, former, lane, first_change) != DONE) result = FAILED;
        if (gate->ordinal == call->ordinal + run->count) gate->ordinal = call->ordinal + made;
        *rest = made;
        answer.function = run->items[made].plan->function;
        answer.kind = kind == NOT_ENTERED ? NO_ANSWER : kind;
        answer.code = code;
    }
    goto end;
failed:
    call->count = 0;
    undo_changes(run, lane->handle, first_change);
end:
    while (is_taken && run->change_count > first_change) { /* while the run is ours: another call has changes of its own */
        Change change = run->changes[--run->change_count];
        change_drop(&change);
    }
    if (is_taken) run->is_busy = false;
    if (!is_begun) self->is_stale |= was_stale; /* nothing was written */
    lock_give(lock);
    Py_XDECREF(call);
    Py_XDECREF(former);
    Py_XDECREF(former_recorded);
    Py_DECREF(run);
    Py_XDECREF(read_from);
    while (former_count) Py_XDECREF(former_values[--former_count]);
    while (memory_count) Py_XDECREF(former_memory[--memory_count]);
    return result;
}

static PyObject *sequence_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    IN_CORE;
    SequenceState *self = (SequenceState *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    outcome result = PYTHON;
    uint32_t rest = UINT32_MAX;
    PyObject *stream = Py_None;
    if (LIKELY(self->run && !count && !self->run->gate->closed)) {
        for (Py_ssize_t at = 0; names && at < PyTuple_GET_SIZE(names); at++)
            if (is_name(PyTuple_GET_ITEM(names, at), stream_name)) stream = args[at];
        LaneState *lane = lane_of(self->run->kernels[0], stream);
        if (lane) result = run_now(self, lane, args, names, &rest);
    }
    if (LIKELY(result == DONE)) {
        if (LIKELY(rest == UINT32_MAX)) Py_RETURN_NONE;
        PyObject *first = PyLong_FromUnsignedLong(rest);
        PyObject *returned = first ? PyObject_CallMethodObjArgs(callable, issue_rest, first, stream, NULL) : NULL;
        Py_XDECREF(first);
        forget_answer();
        return returned;
    }
    if (result == FAILED) return NULL;
    return call_plainly(callable, sequence_plainly, args, count, names);
}

/* ---------------------------------------------------------------- making it */

static int run_traverse(Run *self, visitproc visit, void *arg)
{
    Py_VISIT(self->gate);
    Py_VISIT(self->lane);
    Py_VISIT(self->holder);
    for (uint32_t at = 0; at < self->count; at++) Py_VISIT(self->items[at].plan);
    for (uint32_t at = 0; at < self->variant_count; at++) Py_VISIT(self->variants[at].allocation);
    for (uint32_t at = 0; at < self->named_count; at++) Py_VISIT(self->named[at].allocation);
    for (uint32_t at = 0; at < self->kernel_count; at++) Py_VISIT(self->kernels[at]);
    for (uint32_t at = 0; self->marks && at < self->mark_count; at++) Py_VISIT(self->marks[at]);
    return 0;
}

/* Breaks the cycle through the marks and the latest call; the rest is needed to name launches of the past. */
static int run_clear(Run *self)
{
    Holder *holder = self->holder;
    Mark **marks = self->marks;
    self->holder = NULL;
    self->marks = NULL;
    Py_CLEAR(self->lane);
    for (uint32_t at = 0; marks && at < self->mark_count; at++) Py_DECREF(marks[at]);
    PyMem_Free(marks);
    Py_XDECREF(holder);
    return 0;
}

static void run_dealloc(Run *self)
{
    PyObject_GC_UnTrack(self);
    run_clear(self);
    for (uint32_t at = 0; at < self->count; at++) {
        Py_XDECREF(self->items[at].plan);
        Py_XDECREF(self->items[at].site);
        PyMem_Free(self->items[at].parameters);
        PyMem_Free(self->items[at].named);
    }
    while (self->change_count) change_drop(&self->changes[--self->change_count]);
    PyMem_Free(self->changes);
    for (uint32_t at = 0; at < self->variant_count; at++) {
        Py_XDECREF(self->variants[at].name);
        Py_XDECREF(self->variants[at].allocation);
        PyMem_Free(self->variants[at].places);
    }
    for (uint32_t at = 0; at < self->named_count; at++) Py_XDECREF(self->named[at].allocation);
    for (uint32_t at = 0; at < self->kernel_count; at++) Py_XDECREF(self->kernels[at]);
    PyMem_Free(self->items);
    PyMem_Free(self->variants);
    PyMem_Free(self->named);
    PyMem_Free(self->mark_items);
    PyMem_Free(self->kernels);
    PyMem_Free(self->shared_mem);
    PyMem_Free(self->memory);
    Py_XDECREF(self->recorded);
    Py_XDECREF(self->gate);
    PyObject_GC_Del(self);
}

static PyTypeObject Run_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.Run",
    .tp_basicsize = sizeof(Run),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)run_dealloc,
    .tp_traverse = (traverseproc)run_traverse,
    .tp_clear = (inquiry)run_clear,
};

/* The sequence is gone or closed: its past launches can still be named, but hold no memory. */
static void run_let_go(Run *self)
{
    run_clear(self);
    Py_CLEAR(self->recorded);
    for (uint32_t at = 0; at < self->variant_count; at++) Py_CLEAR(self->variants[at].allocation);
    while (self->named_count) {
        PyObject *last = self->named[--self->named_count].allocation;
        Py_DECREF(last);
    }
    while (self->kernel_count) {
        KernelState *last = self->kernels[--self->kernel_count];
        Py_DECREF(last);
    }
}

static void sequence_drop_run(SequenceState *self)
{
    Run *run = self->run;
    self->run = NULL;
    if (!run) return;
    run_let_go(run);
    Py_DECREF(run);
}

/* The number of the mark for a launch; a new one where it has none yet. */
static uint32_t mark_for(Run *run, uint32_t item, uint32_t *mark_of_item)
{
    if (mark_of_item[item] == UINT32_MAX) {
        mark_of_item[item] = run->mark_count;
        run->mark_items[run->mark_count++] = item;
    }
    return mark_of_item[item];
}

static int run_add_item(Run *run, PyObject *launch, PyObject *latest, size_t *nbytes)
{
    PyObject *kernel_object, *codes, *image, *allocations, *site, *slots;
    Extents e;
    if (!PyArg_ParseTuple(launch, "O!(IIIIIII)SSO!UO!", &KernelState_Type, &kernel_object, &e.grid[0], &e.grid[1],
                          &e.grid[2], &e.block[0], &e.block[1], &e.block[2], &e.shared_mem, &codes, &image,
                          &PyTuple_Type, &allocations, &site, &PyTuple_Type, &slots))
        return -1;
    KernelState *kernel = (KernelState *)kernel_object;
    Plan *plan = NULL;
    if (PyBytes_GET_SIZE(codes) <= MOST_ARGUMENTS)
        plan = find_plan(kernel, (const uint8_t *)PyBytes_AS_STRING(codes), (uint32_t)PyBytes_GET_SIZE(codes));
    if (!plan || !e.grid[0] || !e.grid[1] || !e.grid[2] || PyBytes_GET_SIZE(image) != (Py_ssize_t)plan->nbytes) return 1;
    Gate *gate = kernel->gate;
    if ((plan->needs_shared_mem && !e.shared_mem) || (gate->enqueue && !plan->form)) return 1;
    if (!gate->aliased_writes) { /* whether memory given twice is written is Python's to know */
        for (uint32_t at = 0; at < plan->count; at++)
            for (Py_ssize_t slot = 0; slot < PyTuple_GET_SIZE(slots) && plan->codes[at] >= CODE_POINTER; slot++) {
                PyObject *each = PyTuple_GET_ITEM(slots, slot);
                if (PyTuple_Check(each) && PyTuple_GET_SIZE(each) &&
                    PyLong_AsUnsignedLong(PyTuple_GET_ITEM(each, 0)) == at)
                    return 1;
            }
        for (Py_ssize_t one = 1; one < PyTuple_GET_SIZE(allocations); one++)
            for (Py_ssize_t other = 0; other < one; other++)
                if (PyTuple_GET_ITEM(allocations, one) == PyTuple_GET_ITEM(allocations, other)) return 1;
    }
    uint32_t at = run->count;
    Item *item = &run->items[at];
    item->parameters = PyMem_Calloc(plan->count + 1, sizeof(void *));
    if (!item->parameters) {
        PyErr_NoMemory();
        return -1;
    }
    item->plan = (Plan *)Py_NewRef(plan);
    item->site = Py_NewRef(site);
    memcpy(&item->config, &e, sizeof e);
    run->count++;
    *nbytes += (plan->nbytes + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    uint32_t each = 0;
    while (each < run->kernel_count && run->kernels[each] != kernel) each++;
    if (each == run->kernel_count) {
        run->kernels[run->kernel_count++] = (KernelState *)Py_NewRef(kernel);
        run->gate = run->gate ? run->gate : (Gate *)Py_NewRef(kernel->gate);
    }
    if (e.shared_mem > run->shared_mem[each]) run->shared_mem[each] = e.shared_mem;
    PyObject *number = PyLong_FromUnsignedLong(at);
    for (Py_ssize_t named = 0; number && named < PyTuple_GET_SIZE(allocations); named++) {
        PyObject *allocation = PyTuple_GET_ITEM(allocations, named);
        if (Py_TYPE(allocation) != known.allocation) {
            Py_DECREF(number);
            return 1;
        }
        if (PyDict_SetItem(latest, allocation, number) < 0) Py_CLEAR(number);
    }
    if (!number) return -1;
    Py_DECREF(number);
    for (Py_ssize_t slot = 0; slot < PyTuple_GET_SIZE(slots); slot++) {
        unsigned argument;
        PyObject *name;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(slots, slot), "IU", &argument, &name)) return -1;
        if (argument >= plan->count) {
            PyErr_SetString(PyExc_ValueError, "a slot beyond the arguments");
            return -1;
        }
        uint8_t wanted = plan->codes[argument];
        uint32_t which = 0;
        while (which < run->variant_count &&
               (run->variants[which].wanted != wanted || PyUnicode_Compare(run->variants[which].name, name)))
            which++;
        if (which == MOST_VARIANTS) return 1;
        Variant *variant = &run->variants[which];
        if (which == run->variant_count) {
            run->variant_count++;
            variant->name = Py_NewRef(name);
            PyUnicode_InternInPlace(&variant->name);
            variant->wanted = wanted;
            variant->nbytes = code_nbytes[wanted];
            variant->accepted = (uint64_t)1 << wanted;
        }
        SlotPlace *places = PyMem_Realloc(variant->places, (variant->count + 1) * sizeof *places);
        if (!places) {
            PyErr_NoMemory();
            return -1;
        }
        variant->places = places;
        variant->places[variant->count++] = (SlotPlace){at, argument};
    }
    return 0;
}

/* The launches as one; NULL without an exception where Python has to make them. */
static Run *run_new(PyObject *launches)
{
    Py_ssize_t count = PyTuple_GET_SIZE(launches);
    if (!count || count > 1 << 20) return NULL;
    PyObject *latest = PyDict_New(); /* allocation: the last launch that names it */
    Run *run = PyObject_GC_New(Run, &Run_Type);
    if (!run || !latest) goto failed_early;
    memset((char *)run + sizeof(PyObject), 0, sizeof(Run) - sizeof(PyObject));
    PyObject_GC_Track(run);
    uint32_t *mark_of_item = PyMem_Malloc((size_t)count * sizeof *mark_of_item);
    run->items = PyMem_Calloc((size_t)count, sizeof(Item));
    run->variants = PyMem_Calloc(MOST_VARIANTS, sizeof(Variant));
    run->kernels = PyMem_Calloc((size_t)count, sizeof(KernelState *));
    run->shared_mem = PyMem_Calloc((size_t)count, sizeof(uint32_t));
    run->mark_items = PyMem_Calloc((size_t)count, sizeof(uint32_t));
    int result = -1;
    size_t nbytes = BLOCK_ALIGNMENT;
    if (!mark_of_item || !run->items || !run->variants || !run->kernels || !run->shared_mem || !run->mark_items) {
        PyErr_NoMemory();
        goto end;
    }
    for (Py_ssize_t at = 0; at < count; at++) {
        mark_of_item[at] = UINT32_MAX;
        result = run_add_item(run, PyTuple_GET_ITEM(launches, at), latest, &nbytes);
        if (result) goto end;
    }
    result = -1;
    run->memory = PyMem_Calloc(1, nbytes);
    run->named = PyMem_Calloc((size_t)PyDict_GET_SIZE(latest) + 1, sizeof(Named));
    if (!run->memory || !run->named) {
        PyErr_NoMemory();
        goto end;
    }
    uintptr_t place = ((uintptr_t)run->memory + BLOCK_ALIGNMENT - 1) & ~(uintptr_t)(BLOCK_ALIGNMENT - 1);
    for (uint32_t at = 0; at < run->count; at++) {
        Item *item = &run->items[at];
        item->image = (unsigned char *)place;
        PyObject *image = PyTuple_GET_ITEM(PyTuple_GET_ITEM(launches, at), 3);
        memcpy(item->image, PyBytes_AS_STRING(image), item->plan->nbytes);
        for (uint32_t each = 0; each < item->plan->count; each++)
            item->parameters[each] = item->image + item->plan->offsets[each];
        place += (item->plan->nbytes + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    }
    Py_ssize_t position = 0;
    PyObject *allocation, *number;
    while (PyDict_Next(latest, &position, &allocation, &number)) {
        Named *named = &run->named[run->named_count++];
        named->allocation = Py_NewRef(allocation);
        named->mark = mark_for(run, (uint32_t)PyLong_AsUnsignedLong(number), mark_of_item);
    }
    for (uint32_t at = 0; at < run->named_count; at++) {
        PyObject *own = PyLong_FromUnsignedLong(at);
        int is_set = own ? PyDict_SetItem(latest, run->named[at].allocation, own) : -1;
        Py_XDECREF(own);
        if (is_set < 0) goto end;
    }
    for (uint32_t at = 0; at < run->count; at++) {
        Item *item = &run->items[at];
        PyObject *allocations = PyTuple_GET_ITEM(PyTuple_GET_ITEM(launches, at), 4);
        item->named = PyMem_Calloc((size_t)PyTuple_GET_SIZE(allocations) + 1, sizeof(uint32_t));
        if (!item->named) {
            PyErr_NoMemory();
            goto end;
        }
        for (Py_ssize_t each = 0; each < PyTuple_GET_SIZE(allocations); each++) {
            number = PyDict_GetItemWithError(latest, PyTuple_GET_ITEM(allocations, each));
            if (!number) goto end;
            item->named[item->named_count++] = (uint32_t)PyLong_AsUnsignedLong(number);
        }
    }
    result = 0;
end:
    PyMem_Free(mark_of_item);
    Py_DECREF(latest);
    if (!result) return run;
    Py_DECREF(run);
    return NULL;
failed_early:
    Py_XDECREF(latest);
    if (run) PyObject_GC_Del(run);
    return NULL;
}

/* `_compile(gpu, launches)`: each launch is (kernel, shape, codes, image, allocations, site, ((argument, slot), …)). */
static PyObject *sequence_compile(PyObject *object, PyObject *arguments)
{
    IN_CORE;
    SequenceState *self = (SequenceState *)object;
    PyObject *gpu, *launches;
    if (!PyArg_ParseTuple(arguments, "OO!", &gpu, &PyTuple_Type, &launches)) return NULL;
    Run *run = run_new(launches);
    if (!run && PyErr_Occurred()) return NULL;
    sequence_drop_run(self);
    self->run = run;
    Py_XSETREF(self->gpu, Py_NewRef(gpu));
    self->is_stale = true;
    return PyBool_FromLong(run != NULL);
}

/* `_use_recorded(use, keeper)`: the driver has recorded what was compiled, to be queued as one command. */
static PyObject *sequence_use_recorded(PyObject *object, PyObject *arguments)
{
    IN_CORE;
    Run *run = ((SequenceState *)object)->run;
    PyObject *use, *keeper;
    if (!PyArg_ParseTuple(arguments, "OO", &use, &keeper)) return NULL;
    if (!run || run->variant_count) {
        PyErr_SetString(PyExc_ValueError, "launches without slots, compiled before, are wanted");
        return NULL;
    }
    Recorded *recorded = recorded_new(use, keeper);
    if (!recorded) return NULL;
    Py_XSETREF(run->recorded, recorded);
    Py_RETURN_NONE;
}

static PyObject *sequence_let_go(PyObject *self, PyObject *ignored)
{
    IN_CORE;
    (void)ignored;
    sequence_drop_run((SequenceState *)self);
    Py_RETURN_NONE;
}

static PyObject *sequence_get_remembered(SequenceState *self, void *closure)
{
    IN_CORE;
    (void)closure;
    if (!self->remembered && own_dict(&self->remembered) < 0) return NULL;
    return Py_NewRef(self->remembered);
}

static int sequence_set_remembered(SequenceState *self, PyObject *value, void *closure)
{
    IN_CORE;
    (void)closure;
    if (!value || !PyDict_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "what is remembered is a dict");
        return -1;
    }
    Py_XSETREF(self->remembered, Py_NewRef(value));
    self->is_stale = true;
    return 0;
}

static int sequence_traverse(SequenceState *self, visitproc visit, void *arg)
{
    Py_VISIT(self->run);
    Py_VISIT(self->gpu);
    Py_VISIT(self->remembered);
    return 0;
}

static int sequence_clear(SequenceState *self)
{
    sequence_drop_run(self);
    Py_CLEAR(self->gpu);
    Py_CLEAR(self->remembered);
    return 0;
}

static void sequence_dealloc(SequenceState *self)
{
    PyObject_GC_UnTrack(self);
    sequence_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *sequence_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    SequenceState *self = (SequenceState *)type->tp_alloc(type, 0);
    if (self) self->call = sequence_call;
    return (PyObject *)self;
}

static PyObject *sequence_has_recorded(SequenceState *self, void *closure)
{
    IN_CORE;
    (void)closure;
    Run *run = self->run;
    return PyBool_FromLong(run && run->recorded && run->recorded->use[RECORDED_ADDRESS]);
}

static PyGetSetDef sequence_getters[] = {
    {"_has_recorded", (getter)sequence_has_recorded, NULL, "Whether calls are one command of the driver's.", NULL},
    {"_remembered", (getter)sequence_get_remembered, (setter)sequence_set_remembered, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef sequence_methods[] = {
    {"_compile", sequence_compile, METH_VARARGS, NULL},
    {"_use_recorded", sequence_use_recorded, METH_VARARGS, NULL},
    {"_let_go", sequence_let_go, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

PyTypeObject SequenceState_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.SequenceState",
    .tp_doc = "A sequence as the core calls it; what it does not do, `_call_plainly` does.",
    .tp_basicsize = sizeof(SequenceState),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = sequence_new,
    .tp_dealloc = (destructor)sequence_dealloc,
    .tp_traverse = (traverseproc)sequence_traverse,
    .tp_clear = (inquiry)sequence_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(SequenceState, call),
    .tp_methods = sequence_methods,
    .tp_getset = sequence_getters,
};

int sequence_setup(PyObject *module)
{
    sequence_plainly = PyUnicode_InternFromString("_call_plainly");
    issue_rest = PyUnicode_InternFromString("_issue_rest");
    if (!sequence_plainly || !issue_rest) return -1;
    PyTypeObject *hidden[] = {&Run_Type, &Holder_Type, &RunCall_Type};
    for (size_t at = 0; at < sizeof hidden / sizeof *hidden; at++)
        if (PyType_Ready(hidden[at]) < 0) return -1;
    return PyModule_AddType(module, &Mark_Type) < 0 || PyModule_AddType(module, &SequenceState_Type) < 0 ? -1 : 0;
}
