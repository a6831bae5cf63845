/* The call of a prepared launch: nothing is decided here that was known when it was prepared. */
#include "core.h"

#include <string.h>

/* A parameter block with the addresses of its arguments, and all that a call without values names. While a driver reads
 * it, it is not written: whoever changes what is remembered makes another one then. */
typedef struct {
    uint32_t users, block_count;
    unsigned char *bytes;
    void *memory;
    BlockState **blocks;
    void *parameters[];
} Image;

typedef struct {
    PyObject *name;       /* of the parameter, or NULL */
    PyObject *slot;       /* the name of the slot that stands here, or NULL */
    PyObject *allocation; /* what is named here as prepared, or by the slot as it was last set; or NULL */
    bool is_set;          /* false for a slot without a value */
} Place;

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    Gate *gate;
    KernelState *kernel;
    Plan *plan;
    LaneState *lane;
    Extents extents;
    Image *image;
    Place *places;
    uint32_t slot_count, unset_count, extra_count;
    PyObject **extra; /* allocations named by .uses() */
    PyObject *remembered;
    bool is_stale; /* Python has set slots since the image was made */
    uint64_t serial; /* no other has had it; from 1 */
} PreparedState;

static PyObject *plainly, *stream_name; /* "_call_plainly", "stream" */

static Image *image_new(Plan *plan, uint32_t extra_count)
{
    Image *image = PyMem_Malloc(sizeof(Image) + plan->count * sizeof(void *));
    if (!image) return NULL;
    image->memory = PyMem_Calloc(1, plan->nbytes + BLOCK_ALIGNMENT + 8);
    image->blocks = PyMem_Calloc(plan->count + extra_count + 1, sizeof(BlockState *));
    if (!image->memory || !image->blocks) {
        PyMem_Free(image->memory);
        PyMem_Free(image->blocks);
        PyMem_Free(image);
        return NULL;
    }
    image->users = image->block_count = 0;
    image->bytes = (unsigned char *)(((uintptr_t)image->memory + BLOCK_ALIGNMENT - 1) & ~(uintptr_t)(BLOCK_ALIGNMENT - 1));
    for (uint32_t at = 0; at < plan->count; at++) image->parameters[at] = image->bytes + plan->offsets[at];
    return image;
}

static void image_free(Image *image)
{
    PyMem_Free(image->memory);
    PyMem_Free(image->blocks);
    PyMem_Free(image);
}

static inline BlockState *block_of(PyObject *allocation)
{
    return (BlockState *)((AllocationState *)allocation)->block;
}

/* The indices of a name that a call gives: a slot's places, or the parameter's. */
static bool is_name(PyObject *given, PyObject *known_name)
{
    if (given == known_name) return true;
    if (!known_name || (PyUnicode_CHECK_INTERNED(given) && PyUnicode_CHECK_INTERNED(known_name))) return false;
    return PyUnicode_Compare(given, known_name) == 0;
}

static inline uint32_t add_extra(PreparedState *self, BlockState **blocks, uint32_t count)
{
    for (uint32_t at = 0; at < self->extra_count; at++) blocks[count++] = block_of(self->extra[at]);
    return count;
}

static void list_blocks(PreparedState *self)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < self->plan->count; at++)
        if (self->places[at].allocation) self->image->blocks[count++] = block_of(self->places[at].allocation);
    self->image->block_count = add_extra(self, self->image->blocks, count);
}

/* Whether a value read as `code` may take the place of what was prepared. Types stay; the elements of a pointer, and the
 * sign of an integer of which nobody knew it, are looked up among the kernel's plans. */
static inline bool may_stand(uint8_t code, uint8_t prepared)
{
    if (LIKELY(code == prepared)) return true;
    if (prepared >= CODE_POINTER) return code >= CODE_POINTER;
    return prepared >= CODE_INT8 && code < CODE_COUNT && code_nbytes[code] == code_nbytes[prepared];
}

/* Whether a call that was found to have another plan than was prepared may be made by it. */
static bool may_replace(const Plan *plan, const Plan *prepared)
{
    if (!is_same_layout(plan, prepared)) return false;
    for (uint32_t at = 0; at < plan->count; at++)
        if (!may_stand(plan->codes[at], prepared->codes[at])) return false;
    return true;
}

/* ---------------------------------------------------------------- slots that Python has set */

/* Nothing is let go of before all is done: finalisers may call this very launch, and other threads have their turn then. */
static inline void let_go(PyObject **former, uint32_t count)
{
    while (count) Py_XDECREF(former[--count]);
}

static outcome refresh(PreparedState *self)
{
    Plan *plan = self->plan;
    Image *image = self->image;
    if (image->users) return PYTHON;
    PyObject *former[MOST_ARGUMENTS];
    uint32_t former_count = 0;
    outcome result = PYTHON;
    for (uint32_t at = 0; at < plan->count; at++) {
        Place *place = &self->places[at];
        if (!place->slot) continue;
        PyObject *value = self->remembered ? PyDict_GetItemWithError(self->remembered, place->slot) : NULL;
        if (!value) {
            if (PyErr_Occurred()) result = FAILED;
            goto end;
        }
        unsigned char bytes[16];
        BlockState *block;
        uint8_t code = read_into(self->gate, plan->codes[at], value, bytes, &block);
        /* That it may stand there was checked when it was set. */
        if (code == CODE_NONE || !may_stand(code, plan->codes[at])) goto end;
        memcpy(image->bytes + plan->offsets[at], bytes, code_nbytes[code]);
        former[former_count++] = place->allocation;
        place->allocation = Py_XNewRef(block ? allocation_of(value) : NULL);
        place->is_set = true;
    }
    self->unset_count = 0;
    self->is_stale = false;
    list_blocks(self);
    result = DONE;
end:
    let_go(former, former_count);
    return result;
}

/* ---------------------------------------------------------------- the call */

static __attribute__((noinline)) outcome launch_unchanged(PreparedState *self, LaneState *lane)
{
    Image *image = self->image;
    image->users++;
    outcome result = launch_here(self->gate, lane, self->plan, &self->extents, image->bytes, image->parameters,
                                 image->blocks, image->block_count, false, 0);
    if (--image->users == 0 && UNLIKELY(image != self->image)) image_free(image);
    return result;
}

/* Without slots nothing of it changes, and what it names it holds itself. */
INLINE outcome launch_standing(PreparedState *self)
{
    Image *image = self->image;
    return launch_here(self->gate, self->lane, self->plan, &self->extents, image->bytes, image->parameters, image->blocks,
                       image->block_count, true, self->serial);
}

/* What was set by name stays set, once the launch was made. */
static outcome remember(PreparedState *self, PyObject *const *values, PyObject *names, void *const *parameters)
{
    Plan *plan = self->plan;
    if (own_dict(&self->remembered) < 0) return FAILED; /* first: others may call this launch meanwhile */
    if (self->image->users) {
        Image *image = image_new(plan, self->extra_count);
        if (!image) {
            PyErr_NoMemory();
            return FAILED;
        }
        memcpy(image->bytes, self->image->bytes, plan->nbytes);
        self->image = image; /* the former goes with its last user */
    }
    PyObject *former[MOST_ARGUMENTS * 2]; /* memory, and values: no more of either than there are places */
    uint32_t former_count = 0;
    outcome result = DONE;
    for (Py_ssize_t name = 0; name < PyTuple_GET_SIZE(names) && result == DONE; name++) {
        PyObject *given = PyTuple_GET_ITEM(names, name);
        bool is_slot = false;
        for (uint32_t at = 0; at < plan->count; at++) {
            Place *place = &self->places[at];
            if (!place->slot || !is_name(given, place->slot)) continue;
            is_slot = true;
            memcpy(self->image->bytes + plan->offsets[at], parameters[at], code_nbytes[plan->codes[at]]);
            former[former_count++] = place->allocation;
            place->allocation = Py_XNewRef(allocation_of(values[name]));
            if (!place->is_set) {
                place->is_set = true;
                self->unset_count--;
            }
        }
        if (!is_slot) continue;
        PyObject *value = PyDict_GetItemWithError(self->remembered, given);
        if (value) former[former_count++] = Py_NewRef(value);
        if ((!value && PyErr_Occurred()) || PyDict_SetItem(self->remembered, given, values[name]) < 0) result = FAILED;
    }
    list_blocks(self);
    let_go(former, former_count);
    return result;
}

/* Some values by name: slots' stay set, parameters' hold for this call. The others are as they were. */
static __attribute__((noinline)) outcome launch_named(PreparedState *self, LaneState *lane, PyObject *const *values, PyObject *names)
{
    Plan *plan = self->plan;
    Call call;
    bool is_given[MOST_ARGUMENTS] = {false};
    uint8_t codes[MOST_ARGUMENTS];
    bool sets_slots = false, is_other = false;
    call.block_count = 0;
    memcpy(call.bytes, self->image->bytes, plan->nbytes);
    for (uint32_t at = 0; at < plan->count; at++) call.parameters[at] = call.bytes + plan->offsets[at];
    memcpy(codes, plan->codes, plan->count);
    for (Py_ssize_t name = 0; name < PyTuple_GET_SIZE(names); name++) {
        PyObject *given = PyTuple_GET_ITEM(names, name);
        if (is_name(given, stream_name)) continue;
        if (UNLIKELY(!PyUnicode_CheckExact(given))) return PYTHON; /* whose hash may be anything */
        bool is_slot = false, is_known = false;
        /* A slot's name goes before a parameter's, and may stand in several places. */
        for (uint32_t at = 0; at < plan->count; at++) is_slot |= is_name(given, self->places[at].slot);
        for (uint32_t at = 0; at < plan->count; at++) {
            Place *place = &self->places[at];
            if (!is_name(given, is_slot ? place->slot : place->name)) continue;
            if (is_given[at] || (!is_slot && place->slot)) return PYTHON;
            unsigned char bytes[16];
            BlockState *block;
            uint8_t code = read_into(self->gate, plan->codes[at], values[name], bytes, &block);
            if (code == CODE_NONE || !may_stand(code, plan->codes[at])) return PYTHON;
            is_other |= code != codes[at];
            codes[at] = code;
            memcpy(call.parameters[at], bytes, code_nbytes[code]);
            if (block) call.blocks[call.block_count++] = block;
            is_known = is_given[at] = true;
            if (!is_slot) break;
        }
        if (!is_known) return PYTHON;
        sets_slots |= is_slot;
    }
    for (uint32_t at = 0; at < plan->count; at++) {
        if (is_given[at]) continue;
        if (!self->places[at].is_set) return PYTHON;
        if (self->places[at].allocation) call.blocks[call.block_count++] = block_of(self->places[at].allocation);
    }
    if (UNLIKELY(is_other)) {
        plan = find_plan(self->kernel, codes, plan->count);
        if (!plan || !is_same_layout(plan, self->plan)) return PYTHON;
    }
    call.block_count = add_extra(self, call.blocks, call.block_count);
    outcome result =
        launch_now(self->gate, lane, plan, &self->extents, call.bytes, call.parameters, call.blocks, call.block_count);
    if (sets_slots && result == DONE) return remember(self, values, names, call.parameters);
    return result;
}

/* Values of other types than what was prepared, or of a call beside another one. */
static __attribute__((noinline)) outcome launch_changed_others(PreparedState *self, LaneState *lane,
                                                               PyObject *const *values, Py_ssize_t count)
{
    Plan *own = self->plan;
    Call call;
    if (count != (Py_ssize_t)own->count) return PYTHON;
    Plan *plan = read_others(self->kernel, own->codes, values, own->count, &call);
    if (!plan || (plan != own && !may_replace(plan, own))) return PYTHON;
    call.block_count = add_extra(self, call.blocks, call.block_count);
    return launch_now(self->gate, lane, plan, &self->extents, call.bytes, call.parameters, call.blocks,
                      call.block_count);
}

INLINE outcome launch_changed(PreparedState *self, LaneState *lane, PyObject *const *values, Py_ssize_t count)
{
    Plan *own = self->plan;
    if (LIKELY(!self->extra_count && read_likely(self->gate, own, own->codes, values, count)))
        return launch_likely(self->gate, lane, own, &self->extents);
    return launch_changed_others(self, lane, values, count);
}

/* Whether the core may make its launches now. Closed before any lock is asked for: in a forked child a thread that is not
 * there may have it. */
static inline bool may_launch(const PreparedState *self)
{
    return LIKELY(self->plan && !self->gate->closed && self->kernel->module->is_loaded &&
                  self->extents.shared_mem <= self->kernel->allowed_shared_mem);
}

static __attribute__((noinline)) PyObject *leave_call(PyObject *callable, PyObject *const *args, Py_ssize_t count,
                                                      PyObject *names)
{
    PyObject *returned = call_plainly(callable, plainly, args, count, names);
    forget_answer();
    return returned;
}

static PyObject *prepared_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    IN_CORE;
    PreparedState *self = (PreparedState *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    outcome result = PYTHON;
    if (may_launch(self)) {
        if (names && !PyTuple_GET_SIZE(names)) names = NULL;
        if (UNLIKELY(self->is_stale) && refresh(self) == FAILED) return NULL;
        LaneState *lane = self->lane;
        PyObject *others = names; /* beside the stream */
        if (UNLIKELY(names != NULL)) {
            Py_ssize_t at = PyTuple_GET_SIZE(names);
            while (at-- && !is_name(PyTuple_GET_ITEM(names, at), stream_name)) continue;
            if (at >= 0 && args[count + at] != Py_None) lane = lane_of(self->kernel, args[count + at]);
            if (at >= 0 && PyTuple_GET_SIZE(names) == 1) others = NULL;
        }
        if (LIKELY(!self->is_stale && lane)) {
            /* Slots may be set by another thread while this one waits: Python takes a copy of its own then. */
            if (UNLIKELY(self->slot_count && lock_is_anothers((Lock *)lane->lock)))
                result = PYTHON;
            else if (!count && !others)
                result = self->unset_count ? PYTHON : launch_unchanged(self, lane);
            else if (!others)
                result = launch_changed(self, lane, args, count);
            else if (!count)
                result = launch_named(self, lane, args, names);
        }
    }
    if (LIKELY(result == DONE)) Py_RETURN_NONE;
    return result == FAILED ? NULL : leave_call(callable, args, count, names);
}

/* The call of one that stands still, for which that function would save registers it has no use for. */
static PyObject *standing_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    if (UNLIKELY(PyVectorcall_NARGS(flags) || names)) return prepared_call(callable, args, flags, names);
    IN_CORE;
    PreparedState *self = (PreparedState *)callable;
    outcome result = may_launch(self) ? launch_standing(self) : PYTHON;
    if (LIKELY(result == DONE)) Py_RETURN_NONE;
    return result == FAILED ? NULL : leave_call(callable, args, 0, NULL);
}

/* ---------------------------------------------------------------- making it */

static void drop_places(PreparedState *self)
{
    uint32_t count = self->plan ? self->plan->count : 0;
    Place *places = self->places;
    PyObject **extra = self->extra;
    uint32_t extra_count = self->extra_count;
    self->places = NULL;
    self->extra = NULL;
    self->extra_count = 0;
    for (uint32_t at = 0; places && at < count; at++) {
        Py_XDECREF(places[at].name);
        Py_XDECREF(places[at].slot);
        Py_XDECREF(places[at].allocation);
    }
    for (uint32_t at = 0; at < extra_count; at++) Py_DECREF(extra[at]);
    PyMem_Free(places);
    PyMem_Free(extra);
}

static int prepared_clear(PreparedState *self)
{
    self->call = prepared_call;
    drop_places(self);
    Py_CLEAR(self->gate);
    Py_CLEAR(self->kernel);
    Py_CLEAR(self->plan);
    Py_CLEAR(self->lane);
    Py_CLEAR(self->remembered);
    return 0;
}

static int prepared_traverse(PreparedState *self, visitproc visit, void *arg)
{
    Py_VISIT(self->gate);
    Py_VISIT(self->kernel);
    Py_VISIT(self->plan);
    Py_VISIT(self->lane);
    Py_VISIT(self->remembered);
    for (uint32_t at = 0; self->places && at < self->plan->count; at++) Py_VISIT(self->places[at].allocation);
    for (uint32_t at = 0; at < self->extra_count; at++) Py_VISIT(self->extra[at]);
    return 0;
}

static void prepared_dealloc(PreparedState *self)
{
    PyObject_GC_UnTrack(self);
    prepared_clear(self);
    if (self->image) image_free(self->image);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *prepared_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    PreparedState *self = (PreparedState *)type->tp_alloc(type, 0);
    if (self) self->call = prepared_call;
    return (PyObject *)self;
}

/* `_compile(kernel, lane, (gx, gy, gz, bx, by, bz, shared), codes, image, places, extra)`: each place is (parameter's
 * name or None, slot's name or None, allocation or None). False where there is no such plan: every call is Python's then. */
static PyObject *prepared_compile(PyObject *object, PyObject *arguments)
{
    IN_CORE;
    PreparedState *self = (PreparedState *)object;
    PyObject *kernel_object, *lane, *codes, *places, *extra;
    const char *image;
    Py_ssize_t nbytes;
    Extents e;
    if (!PyArg_ParseTuple(arguments, "O!O!(IIIIIII)Sy#O!O!", &KernelState_Type, &kernel_object, &LaneState_Type, &lane,
                          &e.grid[0], &e.grid[1], &e.grid[2], &e.block[0], &e.block[1], &e.block[2], &e.shared_mem,
                          &codes, &image, &nbytes, &PyTuple_Type, &places, &PyTuple_Type, &extra))
        return NULL;
    KernelState *kernel = (KernelState *)kernel_object;
    if (self->plan) {
        PyErr_SetString(PyExc_RuntimeError, "compiled already");
        return NULL;
    }
    Plan *plan = NULL;
    if (PyBytes_GET_SIZE(codes) <= MOST_ARGUMENTS)
        plan = find_plan(kernel, (const uint8_t *)PyBytes_AS_STRING(codes), (uint32_t)PyBytes_GET_SIZE(codes));
    if (!plan || !kernel->gate || PyTuple_GET_SIZE(extra) > MOST_ARGUMENTS)
        Py_RETURN_FALSE;
    if (PyTuple_GET_SIZE(places) != (Py_ssize_t)plan->count || nbytes != (Py_ssize_t)plan->nbytes) {
        PyErr_SetString(PyExc_ValueError, "places or bytes are not those of the plan");
        return NULL;
    }
    self->image = image_new(plan, (uint32_t)PyTuple_GET_SIZE(extra));
    self->places = PyMem_Calloc(plan->count + 1, sizeof(Place));
    self->extra = PyMem_Calloc((size_t)PyTuple_GET_SIZE(extra) + 1, sizeof(PyObject *));
    if (!self->image || !self->places || !self->extra) {
        PyErr_NoMemory();
        goto failed;
    }
    memcpy(self->image->bytes, image, (size_t)nbytes);
    self->plan = (Plan *)Py_NewRef(plan);
    self->extents = e;
    for (uint32_t at = 0; at < plan->count; at++) {
        PyObject *name, *slot, *allocation;
        Place *place = &self->places[at];
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(places, at), "OOO", &name, &slot, &allocation)) goto failed;
        if ((name != Py_None && !PyUnicode_Check(name)) || (slot != Py_None && !PyUnicode_Check(slot)) ||
            (allocation != Py_None && Py_TYPE(allocation) != known.allocation)) {
            PyErr_SetString(PyExc_TypeError, "a place is names and an allocation");
            goto failed;
        }
        if (name != Py_None) {
            place->name = Py_NewRef(name);
            PyUnicode_InternInPlace(&place->name);
        }
        if (slot != Py_None) {
            place->slot = Py_NewRef(slot);
            PyUnicode_InternInPlace(&place->slot);
        }
        if (allocation != Py_None) place->allocation = Py_NewRef(allocation);
        place->is_set = slot == Py_None;
        self->slot_count += slot != Py_None;
    }
    self->unset_count = self->slot_count;
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(extra); at++) {
        PyObject *allocation = PyTuple_GET_ITEM(extra, at);
        if (Py_TYPE(allocation) != known.allocation) {
            PyErr_SetString(PyExc_TypeError, "what is used are allocations");
            goto failed;
        }
        self->extra[self->extra_count++] = Py_NewRef(allocation);
    }
    self->kernel = (KernelState *)Py_NewRef(kernel);
    self->gate = (Gate *)Py_NewRef(kernel->gate);
    self->lane = (LaneState *)Py_NewRef(lane);
    list_blocks(self);
    static uint64_t latest_serial;
    self->serial = ++latest_serial;
    if (!self->slot_count && may_stand_still(self->gate, self->lane, plan, &e)) self->call = standing_call;
    Py_RETURN_TRUE;
failed:
    drop_places(self);
    if (self->image) image_free(self->image);
    self->image = NULL;
    self->slot_count = 0;
    Py_CLEAR(self->plan);
    return NULL;
}

static PyObject *get_remembered(PreparedState *self, void *closure)
{
    IN_CORE;
    (void)closure;
    if (!self->remembered && own_dict(&self->remembered) < 0) return NULL;
    return Py_NewRef(self->remembered);
}

static int set_remembered(PreparedState *self, PyObject *value, void *closure)
{
    IN_CORE;
    (void)closure;
    if (!value || !PyDict_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "what is remembered is a dict");
        return -1;
    }
    if (value != self->remembered) {
        Py_XSETREF(self->remembered, Py_NewRef(value));
        self->is_stale = self->slot_count > 0;
    }
    return 0;
}

static PyGetSetDef prepared_getters[] = {
    {"_remembered", (getter)get_remembered, (setter)set_remembered, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef prepared_methods[] = {
    {"_compile", prepared_compile, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

PyTypeObject PreparedState_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.PreparedState",
    .tp_doc = "A prepared launch as the core calls it; what it does not do, `_call_plainly` does.",
    .tp_basicsize = sizeof(PreparedState),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = prepared_new,
    .tp_dealloc = (destructor)prepared_dealloc,
    .tp_traverse = (traverseproc)prepared_traverse,
    .tp_clear = (inquiry)prepared_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(PreparedState, call),
    .tp_methods = prepared_methods,
    .tp_getset = prepared_getters,
};

int prepared_setup(PyObject *module)
{
    plainly = PyUnicode_InternFromString("_call_plainly");
    stream_name = PyUnicode_InternFromString("stream");
    if (!plainly || !stream_name) return -1;
    return PyModule_AddType(module, &PreparedState_Type);
}
