/* The books that a launch writes: a stream's lock, numbers and ring, a block's uses, what is remembered of a launch. */
#include "core.h"

#include <string.h>

/* ---------------------------------------------------------------- Lock */

static PyObject *lock_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    Lock *self = (Lock *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->wake = PyThread_allocate_lock();
    if (!self->wake) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    PyThread_acquire_lock(self->wake, WAIT_LOCK); /* given by whoever frees the lock while somebody waits */
    return (PyObject *)self;
}

static void lock_dealloc(Lock *self)
{
    if (self->wake) {
        if (!self->is_posted) PyThread_release_lock(self->wake);
        PyThread_free_lock(self->wake);
    }
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Waits until the lock is ours. Lets go of the interpreter lock meanwhile; -1 with what a signal handler raised. */
int lock_wait(Lock *self, PyThreadState *me)
{
    self->waiting++;
    int result = 0;
    while (self->owner) {
        PyLockStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = PyThread_acquire_lock_timed(self->wake, -1, 1);
        Py_END_ALLOW_THREADS
        if (status == PY_LOCK_ACQUIRED) {
            self->is_posted = false;
        } else if (Py_MakePendingCalls() < 0) {
            result = -1;
            break;
        }
    }
    self->waiting--;
    if (result == 0) {
        self->owner = me;
    } else if (!self->owner && self->waiting && !self->is_posted) {
        /* What woke us up was meant for one of the others. */
        self->is_posted = true;
        PyThread_release_lock(self->wake);
    }
    return result;
}

static PyObject *lock_enter(PyObject *self, PyObject *ignored)
{
    IN_CORE;
    (void)ignored;
    if (!lock_take((Lock *)self, PyThreadState_Get())) return NULL;
    Py_RETURN_TRUE;
}

/* `acquire(blocking=True)`: False where another thread has it or waits for it. */
static PyObject *lock_acquire(PyObject *self, PyObject *args, PyObject *kwargs)
{
    IN_CORE;
    static char *names[] = {"blocking", NULL};
    int is_blocking = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p", names, &is_blocking)) return NULL;
    Lock *lock = (Lock *)self;
    PyThreadState *me = PyThreadState_Get();
    if (!is_blocking && lock->owner != me && (lock->owner || lock->waiting)) Py_RETURN_FALSE;
    if (!lock_take(lock, me)) return NULL;
    Py_RETURN_TRUE;
}

static PyObject *lock_exit(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    IN_CORE;
    Lock *lock = (Lock *)self;
    (void)args;
    (void)count;
    if (lock->owner != PyThreadState_Get()) {
        PyErr_SetString(PyExc_RuntimeError, "this thread does not hold the lock");
        return NULL;
    }
    lock_give(lock);
    Py_RETURN_NONE;
}

static PyMethodDef lock_methods[] = {
    {"__enter__", lock_enter, METH_NOARGS, "Take it, once more where this thread has it."},
    {"__exit__", (PyCFunction)(void (*)(void))lock_exit, METH_FASTCALL, "Give it back."},
    {"acquire", (PyCFunction)(void (*)(void))lock_acquire, METH_VARARGS | METH_KEYWORDS,
     "Take it, once more where this thread has it; without waiting where not `blocking`. Whether it was taken."},
    {"release", (PyCFunction)(void (*)(void))lock_exit, METH_FASTCALL, "Give it back."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject Lock_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.Lock",
    .tp_doc = "A lock that its holder may take again.",
    .tp_basicsize = sizeof(Lock),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = lock_new,
    .tp_dealloc = (destructor)lock_dealloc,
    .tp_methods = lock_methods,
};

/* ---------------------------------------------------------------- Record */

#define MOST_FREE_RECORDS 256
/* Objects of these types end wherever the last of their holders is, without the core's own lock: none is kept there. */
#ifdef Py_GIL_DISABLED
#define KEEPS_FREE false
#else
#define KEEPS_FREE true
#endif
static Record *free_records[MOST_FREE_RECORDS];
static int free_record_count;

/* Fields are the caller's to set. Records hold no cycle: the collector need not know them. */
Record *record_new(void)
{
    Record *self;
    if (LIKELY(KEEPS_FREE && free_record_count)) {
        self = free_records[--free_record_count];
#ifdef Py_TRACE_REFS
        PyObject_Init((PyObject *)self, &Record_Type);
#else
        Py_SET_REFCNT((PyObject *)self, 1); /* its type is what it was */
#endif
    } else {
        self = PyObject_New(Record, &Record_Type);
        if (!self) return NULL;
    }
    self->image = self->small;
    self->rejected = false;
    self->origin = 0;
    self->config.attributes = NULL;
    self->config.attribute_count = 0;
    self->site = NULL;
    return self;
}

static void record_dealloc(Record *self)
{
    Py_XDECREF(self->facts);
    Py_XDECREF(self->code);
    Py_XDECREF(self->site);
    if (self->image != self->small) PyMem_Free(self->image);
    if (KEEPS_FREE && free_record_count < MOST_FREE_RECORDS)
        free_records[free_record_count++] = self;
    else
        PyObject_Free(self);
}

static PyObject *record_geometry(Record *self, void *closure)
{
    (void)closure;
    const LaunchConfig *config = &self->config;
    return PyObject_CallMethod(self->facts, "geometry_of", "IIIIIII", config->grid[0], config->grid[1], config->grid[2],
                               config->block[0], config->block[1], config->block[2], config->shared_mem);
}

static PyObject *record_arguments(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    Record *record = (Record *)self;
    return PyObject_CallMethod(record->facts, "arguments_of", "y#", record->image, (Py_ssize_t)record->nbytes);
}

static PyObject *record_fact(Record *self, void *name) { return PyObject_GetAttrString(self->facts, (char *)name); }

static PyObject *record_site(Record *self, void *closure)
{
    (void)closure;
    if (self->site) return Py_NewRef(self->site);
    if (!self->code) return PyUnicode_FromString("<unknown>");
    return PyUnicode_FromFormat("%U:%d", self->code->co_filename,
                                PyCode_Addr2Line(self->code, self->instruction));
}

static PyObject *record_summary(Record *self, void *closure)
{
    (void)closure;
    return PyObject_CallMethod(self->facts, "summary_of", "O", self);
}

static PyObject *record_str(PyObject *self)
{
    PyObject *summary = record_summary((Record *)self, NULL);
    if (!summary) return NULL;
    PyObject *text = PyObject_Str(summary);
    Py_DECREF(summary);
    return text;
}

static PyMemberDef record_members[] = {
    {"stream", T_LONGLONG, offsetof(Record, stream), READONLY, "The number of its stream."},
    {"sequence", T_LONGLONG, offsetof(Record, sequence), 0, "Its number on that stream, from 1."},
    {"ordinal", T_LONGLONG, offsetof(Record, ordinal), READONLY, "The number that the driver knows it by."},
    {"rejected", T_BOOL, offsetof(Record, rejected), 0, "True for a launch that was not queued."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef record_getters[] = {
    {"kernel_name", (getter)record_fact, NULL, "The kernel's name.", "kernel_name"},
    {"module_name", (getter)record_fact, NULL, "The module's name.", "module_name"},
    {"geometry", (getter)record_geometry, NULL, "Its shape.", NULL},
    {"site", (getter)record_site, NULL, "The caller's file and line.", NULL},
    {"summary", (getter)record_summary, NULL, "The launch for an error.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef record_methods[] = {
    {"arguments", record_arguments, METH_NOARGS, "The arguments as text."},
    {"describe_work", (PyCFunction)(void (*)(void))record_str, METH_NOARGS, "What it is, for an error."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject Record_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.LaunchRecord",
    .tp_doc = "A queued launch, by the ordinal that the driver knows it by.",
    .tp_basicsize = sizeof(Record),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)record_dealloc,
    .tp_members = record_members,
    .tp_getset = record_getters,
    .tp_methods = record_methods,
    .tp_str = record_str,
};

/* ---------------------------------------------------------------- Ring */

/* A sequence's call stands for all its launches until somebody looks (sequence.c). */
extern PyTypeObject RunCall_Type;
static int ring_expand(Ring *ring);
static int64_t run_call_last(PyObject *call);

static inline void ring_push(Ring *ring, PyObject *entry) /* takes no reference away */
{
    Py_INCREF(entry);
    if (ring->count == RING_LENGTH) {
        PyObject *oldest = ring->entries[ring->start];
        ring->entries[ring->start] = entry;
        ring->start = (ring->start + 1) % RING_LENGTH;
        Py_DECREF(oldest);
        return;
    }
    ring->entries[(ring->start + ring->count++) % RING_LENGTH] = entry;
}

/* The oldest launch of a full ring, which the next one drives out, if nobody else remembers it: to be written anew. Its
 * facts and its code are held all the same. */
static inline Record *ring_oldest(const Ring *ring)
{
    if (ring->count < RING_LENGTH) return NULL;
    PyObject *oldest = ring->entries[ring->start];
    if (Py_REFCNT(oldest) != 1 || Py_TYPE(oldest) != &Record_Type) return NULL;
    Record *record = (Record *)oldest;
    return record->rejected || record->site || record->image != record->small ? NULL : record;
}

/* Makes the oldest of a full ring the latest, where it is. */
static inline void ring_turn(Ring *ring) { ring->start = (ring->start + 1) % RING_LENGTH; }

/* Hands the oldest over to the caller. */
static inline void ring_take_oldest(Ring *ring)
{
    ring_turn(ring);
    ring->count--;
}

void ring_take_back(Ring *ring, PyObject *entry)
{
    if (!ring->count) return;
    uint32_t last = (ring->start + ring->count - 1) % RING_LENGTH;
    if (ring->entries[last] != entry) return;
    ring->count--;
    Py_DECREF(entry);
}

static PyObject *ring_append(PyObject *self, PyObject *entry)
{
    IN_CORE;
    ring_push((Ring *)self, entry);
    Py_RETURN_NONE;
}

static PyObject *ring_pop(PyObject *self, PyObject *ignored)
{
    IN_CORE;
    Ring *ring = (Ring *)self;
    (void)ignored;
    if (ring_expand(ring) < 0) return NULL;
    if (!ring->count) {
        PyErr_SetString(PyExc_IndexError, "an empty ring");
        return NULL;
    }
    return ring->entries[(ring->start + --ring->count) % RING_LENGTH];
}

static PyObject *ring_reached(PyObject *self, PyObject *sequence)
{
    IN_CORE;
    Ring *ring = (Ring *)self;
    int64_t reached = PyLong_AsLongLong(sequence);
    if (reached == -1 && PyErr_Occurred()) return NULL;
    while (ring->count) {
        PyObject *oldest = ring->entries[ring->start];
        int64_t number = 0;
        if (Py_TYPE(oldest) == &RunCall_Type && run_call_last(oldest) > reached) {
            if (ring_expand(ring) < 0) return NULL;
            continue;
        }
        if (Py_TYPE(oldest) == &RunCall_Type) {
            number = reached; /* all of its launches are done */
        } else if (Py_TYPE(oldest) == &Record_Type) {
            number = ((Record *)oldest)->sequence;
        } else {
            Py_INCREF(oldest); /* reading it may let others have their turn, who push it out */
            PyObject *given = PyObject_GetAttrString(oldest, "sequence");
            if (given) number = PyLong_AsLongLong(given);
            Py_XDECREF(given);
            bool is_there = ring->count && ring->entries[ring->start] == oldest;
            Py_DECREF(oldest);
            if (!given || (number == -1 && PyErr_Occurred())) return NULL;
            if (!is_there) continue;
        }
        if (number > reached) break;
        ring->start = (ring->start + 1) % RING_LENGTH;
        ring->count--;
        Py_DECREF(oldest);
    }
    Py_RETURN_NONE;
}

static Py_ssize_t ring_length(PyObject *self)
{
    IN_CORE;
    return ring_expand((Ring *)self) < 0 ? -1 : (Py_ssize_t)((Ring *)self)->count;
}

static PyObject *ring_item(PyObject *self, Py_ssize_t at)
{
    IN_CORE;
    Ring *ring = (Ring *)self;
    if (ring_expand(ring) < 0) return NULL;
    if (at < 0 || at >= (Py_ssize_t)ring->count) {
        PyErr_SetString(PyExc_IndexError, "beyond the ring");
        return NULL;
    }
    return Py_NewRef(ring->entries[(ring->start + at) % RING_LENGTH]);
}

static int ring_traverse(Ring *self, visitproc visit, void *arg)
{
    for (uint32_t at = 0; at < self->count; at++) Py_VISIT(self->entries[(self->start + at) % RING_LENGTH]);
    return 0;
}

static int ring_clear(Ring *self)
{
    while (self->count) {
        PyObject *last = self->entries[(self->start + --self->count) % RING_LENGTH];
        Py_DECREF(last);
    }
    return 0;
}

static void ring_dealloc(Ring *self)
{
    PyObject_GC_UnTrack(self);
    ring_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PySequenceMethods ring_sequence = {.sq_length = ring_length, .sq_item = ring_item};

static PyMethodDef ring_methods[] = {
    {"append", ring_append, METH_O, "Remember one more; the oldest of too many is forgotten."},
    {"pop", ring_pop, METH_NOARGS, "Take the latest away."},
    {"reached", ring_reached, METH_O, "Forget those up to this number: they are done."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject Ring_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.Ring",
    .tp_doc = "The last launches of a stream, oldest first.",
    .tp_basicsize = sizeof(Ring),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_dealloc = (destructor)ring_dealloc,
    .tp_traverse = (traverseproc)ring_traverse,
    .tp_clear = (inquiry)ring_clear,
    .tp_methods = ring_methods,
    .tp_as_sequence = &ring_sequence,
};

/* ---------------------------------------------------------------- Uses */

static PyObject *uses_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    Uses *self = (Uses *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->inlined[0].stream = NO_STREAM;
    return (PyObject *)self;
}

static int uses_set(Uses *self, int64_t stream, PyObject *operation)
{
    for (uint32_t at = 0; at < self->count; at++) {
        Use *use = use_at(self, at);
        if (use->stream == stream) {
            PyObject *former = use->operation;
            use->operation = Py_NewRef(operation);
            Py_DECREF(former);
            return 0;
        }
    }
    if (self->count == INLINED_USES + self->room) {
        size_t room = (size_t)self->room * 2 + INLINED_USES;
        Use *others = PyMem_Realloc(self->others, room * sizeof(Use));
        if (!others) {
            PyErr_NoMemory();
            return -1;
        }
        self->others = others;
        self->room = (uint32_t)room;
    }
    *use_at(self, self->count++) = (Use){stream, Py_NewRef(operation)};
    return 0;
}

/* Takes one away, whose operation the caller has from then on; the last takes its place. */
static void uses_take(Uses *self, uint32_t at)
{
    *use_at(self, at) = *use_at(self, --self->count);
    if (!self->count) self->inlined[0] = (Use){NO_STREAM, NULL};
}

static inline outcome use_block(BlockState *block, int64_t stream, PyObject *operation)
{
    return uses_set((Uses *)block->uses, stream, operation) < 0 ? FAILED : DONE;
}

/* References by the number: one by one, each would wait for the count that the one before has written. */
#if defined Py_GIL_DISABLED || defined Py_REF_DEBUG
static inline void hold_times(PyObject *object, uint32_t times)
{
    while (times--) Py_INCREF(object);
}

static inline void let_go_times(PyObject *object, uint32_t times)
{
    while (times--) Py_DECREF(object);
}
#else
static inline void hold_times(PyObject *object, uint32_t times) { Py_SET_REFCNT(object, Py_REFCNT(object) + times); }

static inline void let_go_times(PyObject *object, uint32_t times)
{
    if (UNLIKELY(!times)) return;
    Py_SET_REFCNT(object, Py_REFCNT(object) - (times - 1));
    Py_DECREF(object);
}
#endif

/* Notes an operation as its stream's latest in all the blocks that it names. Each is looked at once it is noted there: who
 * frees it marks it first, and then looks for uses. PYTHON, with some of them noted, where one is gone. */
INLINE outcome use_blocks(BlockState **blocks, uint32_t count, int64_t stream, PyObject *operation)
{
    if (UNLIKELY(!count)) return DONE;
    /* In a loop it is one for nearly all of them. Borrowed until some of its references are taken from blocks. */
    PyObject *former = ((Uses *)blocks[0]->uses)->inlined[0].operation;
    BlockState **end = blocks + count;
    uint32_t times = 0;
    outcome result = DONE;
    hold_times(operation, count);
    do {
        BlockState *block = *blocks++;
        Use *use = ((Uses *)block->uses)->inlined;
        if (LIKELY(use->stream == stream)) {
            PyObject *one = use->operation;
            use->operation = operation;
            if (UNLIKELY(one != former)) {
                let_go_times(former, times);
                former = one;
                times = 0;
            }
            times++;
        } else {
            result = use_block(block, stream, operation);
            Py_DECREF(operation); /* that takes its own */
            if (UNLIKELY(result == FAILED)) break;
        }
        if (UNLIKELY(!block->is_plain) && !is_alive(block)) {
            result = PYTHON;
            break;
        }
    } while (UNLIKELY(blocks != end));
    if (LIKELY(times)) let_go_times(former, times);
    if (UNLIKELY(blocks != end)) let_go_times(operation, (uint32_t)(end - blocks));
    return result;
}

/* Only of an operation that is queued: another must not hide who used the memory last, should that one have failed. */
INLINE void used_last(BlockState **blocks, uint32_t count, PyObject *operation)
{
    if (UNLIKELY(!count)) return;
    PyObject *former = blocks[0]->last_use;
    BlockState **end = blocks + count;
    uint32_t times = 0;
    hold_times(operation, count);
    do {
        BlockState *block = *blocks++;
        PyObject *last = block->last_use;
        block->last_use = operation;
        if (UNLIKELY(last != former)) {
            if (former) let_go_times(former, times);
            former = last;
            times = 0;
        }
        times++;
    } while (UNLIKELY(blocks != end));
    if (LIKELY(former)) let_go_times(former, times);
}

/* Lets the dict in this place be nobody else's: a copy of what is there, where somebody else has that too. Making one may
 * run the collector, and whatever that ends, or give others their turn: what they put there stays. */
static int own_dict(PyObject **place)
{
    while (!*place || Py_REFCNT(*place) > 1) {
        PyObject *former = Py_XNewRef(*place); /* held: nobody else takes it for his own */
        PyObject *copy = former ? PyDict_Copy(former) : PyDict_New();
        bool is_there = *place == former;
        Py_XDECREF(former);
        if (!copy) return -1;
        if (is_there)
            Py_XSETREF(*place, copy);
        else
            Py_DECREF(copy);
    }
    return 0;
}

static int uses_assign(PyObject *self, PyObject *key, PyObject *operation)
{
    IN_CORE;
    if (!operation) {
        PyErr_SetString(PyExc_TypeError, "a use is not taken away");
        return -1;
    }
    int64_t stream = PyLong_AsLongLong(key);
    if (stream == -1 && PyErr_Occurred()) return -1;
    return uses_set((Uses *)self, stream, operation);
}

static PyObject *uses_get(PyObject *self, PyObject *key)
{
    IN_CORE;
    Uses *uses = (Uses *)self;
    int64_t stream = PyLong_AsLongLong(key);
    if (stream == -1 && PyErr_Occurred()) return NULL;
    for (uint32_t at = 0; at < uses->count; at++)
        if (use_at(uses, at)->stream == stream) return Py_NewRef(use_at(uses, at)->operation);
    PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
}

static Py_ssize_t uses_length(PyObject *self) { return ((Uses *)self)->count; }

static PyObject *uses_list(PyObject *self, bool with_streams)
{
    IN_CORE;
    Uses *uses = (Uses *)self;
    PyObject *list = PyList_New(0);
    /* Making a tuple may run finalisers that note uses: the count is read each time. */
    for (uint32_t at = 0; list && at < uses->count; at++) {
        PyObject *operation = Py_NewRef(use_at(uses, at)->operation);
        PyObject *entry = with_streams ? Py_BuildValue("(LN)", (long long)use_at(uses, at)->stream, operation) : operation;
        if (!entry || PyList_Append(list, entry) < 0) Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

static PyObject *uses_items(PyObject *self, PyObject *ignored) { (void)ignored; return uses_list(self, true); }
static PyObject *uses_values(PyObject *self, PyObject *ignored) { (void)ignored; return uses_list(self, false); }

static int uses_traverse(Uses *self, visitproc visit, void *arg)
{
    for (uint32_t at = 0; at < self->count; at++) Py_VISIT(use_at(self, at)->operation);
    return 0;
}

static int uses_clear(Uses *self)
{
    while (self->count) {
        PyObject *last = use_at(self, self->count - 1)->operation;
        uses_take(self, self->count - 1);
        Py_DECREF(last);
    }
    return 0;
}

static void uses_dealloc(Uses *self)
{
    PyObject_GC_UnTrack(self);
    uses_clear(self);
    PyMem_Free(self->others);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMappingMethods uses_mapping = {
    .mp_length = uses_length, .mp_subscript = uses_get, .mp_ass_subscript = uses_assign};

static PyMethodDef uses_methods[] = {
    {"items", uses_items, METH_NOARGS, "A list of (stream, operation)."},
    {"values", uses_values, METH_NOARGS, "A list of the operations."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject Uses_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.Uses",
    .tp_doc = "Per stream the last operation that names a block.",
    .tp_basicsize = sizeof(Uses),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = uses_new,
    .tp_dealloc = (destructor)uses_dealloc,
    .tp_traverse = (traverseproc)uses_traverse,
    .tp_clear = (inquiry)uses_clear,
    .tp_methods = uses_methods,
    .tp_as_mapping = &uses_mapping,
};

/* ---------------------------------------------------------------- bases: the part of a class that the core reads */

#define BASE(name, doc)                                                                              \
    PyTypeObject name##_Type = {                                                                     \
        PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core." #name,          \
        .tp_doc = doc,                                                                               \
        .tp_basicsize = sizeof(name),                                                                \
        .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,                   \
        .tp_new = PyType_GenericNew,                                                                 \
        .tp_dealloc = (destructor)name##_dealloc,                                                    \
        .tp_traverse = (traverseproc)name##_traverse,                                                \
        .tp_clear = (inquiry)name##_clear,                                                           \
        .tp_members = name##_members,                                                                \
    }

#define DEALLOC(name)                              \
    static void name##_dealloc(name *self)         \
    {                                              \
        PyObject_GC_UnTrack(self);                 \
        name##_clear(self);                        \
        Py_TYPE(self)->tp_free((PyObject *)self);  \
    }

/* The pieces of text, uses and lock of a base are set when it is made and must have their types from then on. */

/* What a launch looks at in one load, of what follows from more. */
static inline void lane_settle(LaneState *lane)
{
    lane->is_plain = lane->gone && is_empty_text(lane->gone) && (!lane->capture || lane->capture == Py_None);
}

static inline void block_settle(BlockState *block)
{
    block->is_plain = is_alive(block) && (!block->born || block->born == Py_None);
}

static int LaneState_traverse(LaneState *self, visitproc visit, void *arg)
{
    Py_VISIT(self->lock);
    Py_VISIT(self->ring);
    Py_VISIT(self->gone);
    Py_VISIT(self->capture);
    Py_VISIT(self->counted.obj);
    return 0;
}

static int LaneState_clear(LaneState *self)
{
    self->is_plain = false;
    Py_CLEAR(self->lock);
    Py_CLEAR(self->ring);
    Py_CLEAR(self->gone);
    Py_CLEAR(self->capture);
    self->counts = NULL;
    PyBuffer_Release(&self->counted); /* nothing where there is none */
    return 0;
}
DEALLOC(LaneState)

/* `settle`: done after each change, before anything is let go of. */
#define TYPED_SETTER(owner, field, test, what, settle)                                                \
    static PyObject *owner##_get_##field(owner *self, void *closure)                                  \
    {                                                                                                 \
        IN_CORE;                                                                                      \
        (void)closure;                                                                                \
        if (!self->field) {                                                                           \
            PyErr_SetString(PyExc_AttributeError, #field);                                            \
            return NULL;                                                                              \
        }                                                                                             \
        return Py_NewRef(self->field);                                                                \
    }                                                                                                 \
    static int owner##_set_##field(owner *self, PyObject *value, void *closure)                       \
    {                                                                                                 \
        IN_CORE;                                                                                      \
        (void)closure;                                                                                \
        if (!value || !(test)) {                                                                      \
            PyErr_SetString(PyExc_TypeError, #field " is " what);                                     \
            return -1;                                                                                \
        }                                                                                             \
        PyObject *former = self->field;                                                               \
        self->field = Py_NewRef(value);                                                               \
        settle;                                                                                       \
        Py_XDECREF(former);                                                                           \
        return 0;                                                                                     \
    }

/* An attribute that the core reads: set and read with its lock. Python sees None where there is nothing. */
#define OBJECT_ATTRIBUTE(owner, field, settle)                                        \
    static PyObject *owner##_get_##field(owner *self, void *closure)                  \
    {                                                                                 \
        IN_CORE;                                                                      \
        (void)closure;                                                                \
        return Py_NewRef(self->field ? self->field : Py_None);                        \
    }                                                                                 \
    static int owner##_set_##field(owner *self, PyObject *value, void *closure)       \
    {                                                                                 \
        IN_CORE;                                                                      \
        (void)closure;                                                                \
        PyObject *former = self->field;                                               \
        self->field = Py_XNewRef(value);                                              \
        settle;                                                                       \
        Py_XDECREF(former);                                                           \
        return 0;                                                                     \
    }
#define OBJECT_GETTER(owner, name, field, doc) \
    {name, (getter)owner##_get_##field, (setter)owner##_set_##field, doc, NULL}

TYPED_SETTER(LaneState, lock, Py_TYPE(value) == &Lock_Type, "a Lock", (void)0)
TYPED_SETTER(LaneState, ring, Py_TYPE(value) == &Ring_Type, "a Ring", (void)0)
TYPED_SETTER(LaneState, gone, PyUnicode_CheckExact(value), "text", lane_settle(self))
OBJECT_ATTRIBUTE(LaneState, capture, lane_settle(self))

static PyObject *LaneState_get_raw(LaneState *self, void *closure)
{
    IN_CORE;
    (void)closure;
    if (!self->has_raw) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(self->raw);
}

static int LaneState_set_raw(LaneState *self, PyObject *value, void *closure)
{
    IN_CORE;
    (void)closure;
    if (!value || value == Py_None) {
        self->has_raw = 0;
        return 0;
    }
    uint64_t raw = PyLong_AsUnsignedLongLong(value);
    if (raw == (uint64_t)-1 && PyErr_Occurred()) return -1;
    self->raw = raw;
    self->has_raw = 1;
    return 0;
}

/* `_count_in(array)`: two 64-bit numbers that the driver reads, too. */
static PyObject *lane_count_in(PyObject *object, PyObject *array)
{
    IN_CORE;
    LaneState *self = (LaneState *)object;
    if (self->counts) {
        PyErr_SetString(PyExc_RuntimeError, "counted already");
        return NULL;
    }
    if (PyObject_GetBuffer(array, &self->counted, PyBUF_WRITABLE) < 0) return NULL;
    if (self->counted.len != 2 * sizeof(uint64_t) || (uintptr_t)self->counted.buf % sizeof(uint64_t)) {
        PyBuffer_Release(&self->counted);
        PyErr_SetString(PyExc_ValueError, "two numbers of 64 bits are wanted");
        return NULL;
    }
    self->counts = self->counted.buf;
    Py_RETURN_NONE;
}

static PyMethodDef LaneState_methods[] = {
    {"_count_in", lane_count_in, METH_O, "Count there what is queued natively: commands in all, launches since a wait."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef LaneState_members[] = {
    {"handle", T_LONGLONG, offsetof(LaneState, handle), 0, "The driver's number."},
    {"issued", T_LONGLONG, offsetof(LaneState, issued), 0, "How many operations were queued."},
    {"is_synchronous", T_BOOL, offsetof(LaneState, is_synchronous), 0, "Work is over when it was queued."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef LaneState_getters[] = {
    {"lock", (getter)LaneState_get_lock, (setter)LaneState_set_lock, "Orders the calls that queue work.", NULL},
    {"ring", (getter)LaneState_get_ring, (setter)LaneState_set_ring, "The last launches.", NULL},
    {"gone", (getter)LaneState_get_gone, (setter)LaneState_set_gone, "How it ended, \"\" while it lives.", NULL},
    OBJECT_GETTER(LaneState, "capture", capture, "The capture under way, or None."),
    {"raw", (getter)LaneState_get_raw, (setter)LaneState_set_raw, "The handle for native calls, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
BASE(LaneState, "What the core reads of a stream.");

static int BlockState_traverse(BlockState *self, visitproc visit, void *arg)
{
    Py_VISIT(self->ledger);
    Py_VISIT(self->gone);
    Py_VISIT(self->born);
    Py_VISIT(self->uses);
    Py_VISIT(self->last_use);
    return 0;
}

static int BlockState_clear(BlockState *self)
{
    self->is_plain = false;
    Py_CLEAR(self->ledger);
    Py_CLEAR(self->gone);
    Py_CLEAR(self->born);
    Py_CLEAR(self->uses);
    Py_CLEAR(self->last_use);
    return 0;
}
DEALLOC(BlockState)

TYPED_SETTER(BlockState, gone, PyUnicode_CheckExact(value), "text", block_settle(self))
TYPED_SETTER(BlockState, uses, Py_TYPE(value) == &Uses_Type, "a Uses", (void)0)
OBJECT_ATTRIBUTE(BlockState, ledger, (void)0)
OBJECT_ATTRIBUTE(BlockState, born, block_settle(self))
OBJECT_ATTRIBUTE(BlockState, last_use, (void)0)

static PyMemberDef BlockState_members[] = {
    {"base", T_ULONGLONG, offsetof(BlockState, base), 0, "The address handed out."},
    {"nbytes", T_ULONGLONG, offsetof(BlockState, nbytes), 0, "The bytes that are there."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef BlockState_getters[] = {
    {"gone", (getter)BlockState_get_gone, (setter)BlockState_set_gone, "How it ended, \"\" while it lives.", NULL},
    {"uses", (getter)BlockState_get_uses, (setter)BlockState_set_uses, "The last use on each stream.", NULL},
    OBJECT_GETTER(BlockState, "ledger", ledger, "Whose book it stands in."),
    OBJECT_GETTER(BlockState, "born", born, "Where in a stream's order it was allocated, or None."),
    OBJECT_GETTER(BlockState, "last_use", last_use, "The last operation that names it."),
    {NULL, NULL, NULL, NULL, NULL},
};
BASE(BlockState, "What the core reads of an allocation's entry.");

static int AllocationState_traverse(AllocationState *self, visitproc visit, void *arg)
{
    Py_VISIT(self->block);
    return 0;
}

static int AllocationState_clear(AllocationState *self)
{
    Py_CLEAR(self->block);
    return 0;
}
DEALLOC(AllocationState)

TYPED_SETTER(AllocationState, block, PyObject_TypeCheck(value, &BlockState_Type), "a Block", (void)0)

static PyMemberDef AllocationState_members[] = {{NULL, 0, 0, 0, NULL}};
static PyGetSetDef AllocationState_getters[] = {
    {"block", (getter)AllocationState_get_block, (setter)AllocationState_set_block, "The ledger's entry.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
BASE(AllocationState, "What the core reads of the hold on an allocation.");

static int PointerState_traverse(PointerState *self, visitproc visit, void *arg)
{
    Py_VISIT(self->allocation);
    return 0;
}

static int PointerState_clear(PointerState *self)
{
    Py_CLEAR(self->allocation);
    return 0;
}
DEALLOC(PointerState)
OBJECT_ATTRIBUTE(PointerState, allocation, (void)0)

static PyMemberDef PointerState_members[] = {
    {"_address", T_ULONGLONG, offsetof(PointerState, address), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef PointerState_getters[] = {
    OBJECT_GETTER(PointerState, "_allocation", allocation, NULL),
    {NULL, NULL, NULL, NULL, NULL},
};
BASE(PointerState, "What the core reads of a device pointer.");

static int BufferState_traverse(BufferState *self, visitproc visit, void *arg)
{
    Py_VISIT(self->allocation);
    Py_VISIT(self->scalar);
    return 0;
}

static int BufferState_clear(BufferState *self)
{
    Py_CLEAR(self->allocation);
    Py_CLEAR(self->scalar);
    return 0;
}
DEALLOC(BufferState)
OBJECT_ATTRIBUTE(BufferState, allocation, (void)0)
OBJECT_ATTRIBUTE(BufferState, scalar, (void)0)

static PyMemberDef BufferState_members[] = {
    {"_address", T_ULONGLONG, offsetof(BufferState, address), 0, NULL},
    {"_nbytes", T_ULONGLONG, offsetof(BufferState, nbytes), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef BufferState_getters[] = {
    OBJECT_GETTER(BufferState, "_allocation", allocation, NULL),
    OBJECT_GETTER(BufferState, "_scalar", scalar, NULL),
    {NULL, NULL, NULL, NULL, NULL},
};
BASE(BufferState, "What the core reads of a device buffer.");

static PyMemberDef ProgressState_members[] = {
    {"count", T_LONGLONG, offsetof(ProgressState, count), 0, "How often there was any progress."},
    {"seen", T_LONGLONG, offsetof(ProgressState, seen), 0, "How much there was when it was last looked at."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject ProgressState_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.ProgressState",
    .tp_doc = "What the core reads of a backend's progress.",
    .tp_basicsize = sizeof(ProgressState),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = PyType_GenericNew,
    .tp_members = ProgressState_members,
};

PyObject *empty_text;

int books_setup(PyObject *module)
{
    if (!(empty_text = PyUnicode_InternFromString(""))) return -1;
    LaneState_Type.tp_getset = LaneState_getters;
    LaneState_Type.tp_methods = LaneState_methods;
    BlockState_Type.tp_getset = BlockState_getters;
    AllocationState_Type.tp_getset = AllocationState_getters;
    PointerState_Type.tp_getset = PointerState_getters;
    BufferState_Type.tp_getset = BufferState_getters;
    PyTypeObject *types[] = {&Lock_Type,           &Record_Type,       &Ring_Type,        &Uses_Type,
                             &LaneState_Type,      &BlockState_Type,   &PointerState_Type, &BufferState_Type,
                             &AllocationState_Type, &ProgressState_Type};
    for (size_t at = 0; at < sizeof types / sizeof *types; at++)
        if (PyModule_AddType(module, types[at]) < 0) return -1;
    return 0;
}
