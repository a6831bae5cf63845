/* One launch, whole or not at all: what is checked under the stream's lock, what is noted, and the driver's call. */
#include "core.h"

#include <string.h>

/* ---------------------------------------------------------------- what the driver answered */

/* A refusal goes the way of any other: Python makes the launch again, and takes this for the driver's answer. */
static _Thread_local struct {
    uint64_t function; /* the kernel whose launch it was */
    enum answer_kind kind;
    int code;
} answer;

void forget_answer(void) { answer.kind = NO_ANSWER; }

/* The same call, to the method that does it in Python. */
static PyObject *call_plainly(PyObject *self, PyObject *name, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *method = PyObject_GetAttr(self, name);
    if (!method) return NULL;
    Section *section = core_pause();
    PyObject *returned = PyObject_Vectorcall(method, args, (size_t)count, names);
    core_resume(section);
    Py_DECREF(method);
    return returned;
}

static PyObject *take_answer(PyObject *self, PyObject *function)
{
    (void)self;
    if (LIKELY(answer.kind == NO_ANSWER)) Py_RETURN_NONE;
    uint64_t number = PyLong_AsUnsignedLongLong(function);
    if (number == (uint64_t)-1 && PyErr_Occurred()) return NULL;
    if (number != answer.function) Py_RETURN_NONE;
    enum answer_kind kind = answer.kind;
    answer.kind = NO_ANSWER;
    return Py_BuildValue("Oi", kind == REFUSED ? Py_True : Py_False, answer.code);
}

/* ---------------------------------------------------------------- the driver's call */

/* Makes a context current, or what is one: a device, where those have 4 bytes. */
static int enter_context(Gate *gate, enter_function *enter, uint64_t context)
{
    if (gate->context_nbytes == 4) return ((enter_device_function *)(void *)enter)((int)context);
    return enter(context);
}

static int leave_context(Gate *gate, uint64_t former)
{
    uint64_t place = 0;
    return enter_context(gate, gate->leave, gate->leave_takes_place ? (uint64_t)(uintptr_t)&place : former);
}

INLINE int ask_launch(Gate *gate, Plan *plan, const LaunchConfig *config, void **parameters)
{
    void *function = (void *)(uintptr_t)plan->function;
    if (LIKELY(gate->is_extended))
        return ((launch_extended_function *)gate->launch)(config, function, parameters, NULL);
    const uint32_t *grid = config->grid, *block = config->block;
    return ((launch_function *)gate->launch)(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                             config->shared_mem, config->stream, parameters, NULL);
}

/* Makes the call in the right context. The interpreter lock is let go of: a driver whose queue is full blocks. */
INLINE int call_driver(Gate *gate, uint64_t current, Plan *plan, const LaunchConfig *config, void **parameters,
                       enum answer_kind *kind)
{
    bool is_current = current == gate->context;
    int code;
    *kind = NO_ANSWER;
    PyThreadState *thread = PyEval_SaveThread();
    if (UNLIKELY(!is_current)) {
        code = enter_context(gate, gate->enter, gate->context);
        if (code) {
            *kind = NOT_ENTERED; /* nothing was asked of the driver: Python tries anew, and says why it cannot */
            PyEval_RestoreThread(thread);
            return code;
        }
    }
    code = ask_launch(gate, plan, config, parameters);
    if (UNLIKELY(code)) *kind = REFUSED;
    if (UNLIKELY(!is_current)) {
        int second = leave_context(gate, current);
        if (second && !code) {
            *kind = NOT_RESTORED;
            code = second;
        }
    }
    PyEval_RestoreThread(thread);
    return code;
}

/* ---------------------------------------------------------------- a driver without C calls */

static PyObject *submit_name, *launch_raised; /* "submit", "_launch_raised" */

/* What is being raised goes the way of any error of a launch: the backend words it, and enters a fault in its books. */
static void tell_backend(Gate *gate, LaneState *lane, Record *record, BlockState **blocks, uint32_t block_count)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback) PyException_SetTraceback(error, traceback);
    PyObject *gpu = PyObject_CallNoArgs(gate->keeper), *named = gpu ? PyTuple_New(block_count) : NULL, *returned = NULL;
    for (uint32_t at = 0; named && at < block_count; at++) PyTuple_SET_ITEM(named, at, Py_NewRef(blocks[at]));
    if (named && gpu != Py_None) {
        returned = PyObject_CallMethodObjArgs(gpu, launch_raised, (PyObject *)lane, (PyObject *)record, named, error, NULL);
        Py_XDECREF(returned);
    }
    /* Without the backend, or if nothing was raised, it stays what it is. */
    if (!PyErr_Occurred())
        PyErr_Restore(type, error, traceback);
    else {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
    }
    Py_XDECREF(named);
    Py_XDECREF(gpu);
}

/* The arguments as an object. What lies between them is nobody's, and 0 here. */
static PyObject *image_of(const Plan *plan, const unsigned char *bytes)
{
    PyObject *image = PyBytes_FromStringAndSize(NULL, plan->nbytes);
    if (!image || !plan->nbytes) return image; /* of no bytes there is one object */
    char *place = PyBytes_AS_STRING(image);
    memset(place, 0, plan->nbytes);
    for (uint32_t at = 0; at < plan->count; at++)
        memcpy(place + plan->offsets[at], bytes + plan->offsets[at], code_nbytes[plan->codes[at]]);
    return image;
}

/* The launch that stands in the books already, made by its target. Kept apart: what Python does costs more than a call. */
static __attribute__((noinline)) outcome submit_launch(Gate *gate, LaneState *lane, Plan *plan, const Extents *e,
                                                       Record *record, BlockState **blocks, uint32_t block_count)
{
    PyObject *returned = NULL;
    PyObject *geometry = geometry_of(gate, plan->facts, e);
    PyObject *image = geometry ? image_of(plan, record->image) : NULL;
    PyObject *stream = image ? PyLong_FromLongLong(lane->handle) : NULL;
    PyObject *ordinal = stream ? PyLong_FromLongLong(record->ordinal) : NULL;
    if (LIKELY(ordinal != NULL)) {
        PyObject *arguments[] = {plan->target, image, geometry, stream, ordinal};
        Section *section = core_pause();
        returned = PyObject_VectorcallMethod(submit_name, arguments, 5, NULL);
        core_resume(section);
    }
    Py_XDECREF(ordinal);
    Py_XDECREF(stream);
    Py_XDECREF(image);
    Py_XDECREF(geometry);
    if (LIKELY(returned != NULL)) {
        Py_DECREF(returned);
        lane->issued = record->sequence;
        used_last(blocks, block_count, (PyObject *)record);
        /* On a device that runs work at once this one is done, and what waited for it may go on. */
        if (lane->is_synchronous) gate->progress->count++;
        gate->native_count++;
        return DONE;
    }
    /* Not queued, or over: what it names is in use only as long as what was queued before it. */
    record->sequence = lane->issued;
    tell_backend(gate, lane, record, blocks, block_count);
    return FAILED;
}

/* Whether memory stands behind two arguments of a launch. Which of them it writes is Python's to know. */
static bool is_aliased(BlockState **blocks, uint32_t block_count)
{
    for (uint32_t one = 1; one < block_count; one++)
        for (uint32_t other = 0; other < one; other++)
            if (blocks[one] == blocks[other]) return true;
    return false;
}

/* Whether launches of this shape, on this stream, may all be written down alike. */
static bool may_stand_still(Gate *gate, LaneState *lane, Plan *plan, const Extents *e)
{
    return gate->launch && lane->has_raw && e->grid[0] && e->grid[1] && e->grid[2] &&
           plan->nbytes <= sizeof ((Record *)NULL)->small;
}

/* In full where it is called most: what a function of so many arguments costs is a good part of it. `origin`: the
 * serial of launches that may stand still, whose blocks the caller holds; 0 for any other. */
INLINE outcome launch_here(Gate *gate, LaneState *lane, Plan *plan, const Extents *e, const unsigned char *image,
                           void **parameters, BlockState **blocks, uint32_t block_count, const bool is_standing,
                           uint64_t origin)
{
    if (!is_standing && UNLIKELY(!e->grid[0] || !e->grid[1] || !e->grid[2])) return PYTHON;
    const bool is_called = is_standing || gate->launch != NULL;
    if (is_standing) {
    } else if (UNLIKELY(!is_called)) {
        if (gate->enqueue ? !plan->form || !lane->has_raw || !lane->counts : !gate->keeper) return PYTHON;
        if (plan->needs_shared_mem && !e->shared_mem) return PYTHON;
        if (!gate->aliased_writes && is_aliased(blocks, block_count)) return PYTHON;
    } else if (UNLIKELY(!lane->has_raw)) {
        return PYTHON;
    }
    Lock *lock = (Lock *)lane->lock;
    PyThreadState *thread = current_thread();
    if (UNLIKELY(!lock_take(lock, thread))) return FAILED;
    outcome result = PYTHON;
    /* Asked with the lock: another thread may have had its turn while it was waited for. */
    if (UNLIKELY(!gate_is_open(gate))) goto end;
    if (UNLIKELY(!lane->is_plain)) goto end;
    for (uint32_t at = 0; LIKELY(at < block_count); at++)
        if (UNLIKELY(!is_usable(blocks[at], lane))) goto end;
    uint64_t current = 0;
    if (LIKELY(is_called) && UNLIKELY(gate->query(&current))) goto end;
    /* Another thread may free one during the driver's call, and whatever is let go of below may do anything. */
    for (uint32_t at = 0; !is_standing && at < block_count; at++) Py_INCREF(blocks[at]);

    Ring *ring = (Ring *)lane->ring;
    uint32_t nbytes = plan->nbytes;
    bool is_pushed = false, is_again = false;
    Record *record = is_standing || nbytes <= sizeof record->small ? ring_oldest(ring) : NULL;
    if (LIKELY(record != NULL)) {
        /* In a loop the launch that is forgotten is often of the same kernel and from the same function. */
        is_again = is_standing && LIKELY(record->origin == origin);
        is_pushed = LIKELY(is_again || record->facts == plan->facts) && LIKELY(is_caller_again(record, thread));
        if (LIKELY(is_pushed)) {
            ring_turn(ring);
            Py_INCREF(record);
        } else {
            ring_take_oldest(ring);
            PyObject *facts = record->facts;
            PyCodeObject *former = record->code;
            record->facts = Py_NewRef(plan->facts);
            record->code = caller_code(thread, &record->instruction);
            Py_DECREF(facts);
            Py_XDECREF(former);
        }
    } else if ((record = record_new())) {
        record->facts = Py_NewRef(plan->facts);
        record->code = caller_code(thread, &record->instruction);
    } else {
        result = FAILED;
        goto drop;
    }
    record->sequence = lane->issued + 1;
    record->ordinal = ++gate->ordinal;
    if (LIKELY(is_again)) goto noted;
    record->stream = lane->handle;
    record->origin = origin;
    memcpy(&record->config, e, sizeof *e); /* the same seven numbers */
    record->config.stream = (void *)(uintptr_t)lane->raw;
    record->nbytes = nbytes;
    if (!is_standing && UNLIKELY(nbytes > sizeof record->small)) {
        record->image = PyMem_Malloc(nbytes + 8);
        if (!record->image) {
            record->image = record->small;
            record->nbytes = 0;
            gate->ordinal--;
            Py_DECREF(record);
            PyErr_NoMemory();
            result = FAILED;
            goto drop;
        }
    }
    /* In whole words: both ends have room for that, and a call of memcpy costs as much as the copy. */
    unsigned char *remembered = record->image;
    for (uint32_t at = 0; at < nbytes; at += 8) memcpy(remembered + at, image + at, 8);
noted:;
    outcome used = use_blocks(blocks, block_count, lane->handle, (PyObject *)record);
    if (UNLIKELY(used != DONE)) {
        result = used;
        record->sequence = lane->issued;
        record->rejected = true;
        if (is_pushed) ring_take_back(ring, (PyObject *)record);
        if (gate->ordinal == record->ordinal) gate->ordinal--;
        goto done;
    }
    if (UNLIKELY(!is_pushed)) ring_push(ring, (PyObject *)record);
    /* As it is remembered: what the caller has may be another thread's to change once the interpreter lock is let go of. */
    const Extents *shape = (const Extents *)&record->config;
    enum answer_kind kind;
    int code;
    if (LIKELY(is_called)) {
        code = call_driver(gate, current, plan, &record->config, parameters, &kind);
    } else if (gate->enqueue) {
        code = call_kernel_object(gate, lane, plan, shape, record->image, &kind);
    } else {
        result = submit_launch(gate, lane, plan, shape, record, blocks, block_count);
        goto done;
    }
    if (LIKELY(kind == NO_ANSWER)) {
        lane->issued = record->sequence;
        gate->native_count++;
        used_last(blocks, block_count, (PyObject *)record);
        for (uint32_t at = 0; !is_standing && at < block_count; at++) Py_DECREF(blocks[at]);
        Py_DECREF(record);
        lock_give(lock);
        return DONE;
    }
    /* Not queued: what it names is in use only as long as what was queued before it. */
    record->sequence = lane->issued;
    record->rejected = true;
    ring_take_back(ring, (PyObject *)record);
    if (gate->ordinal == record->ordinal) gate->ordinal--;
    answer.function = plan->function;
    answer.kind = kind == NOT_ENTERED ? NO_ANSWER : kind;
    answer.code = code;
done:
    Py_DECREF(record);
drop:
    for (uint32_t at = 0; !is_standing && at < block_count; at++) Py_DECREF(blocks[at]);
end:
    lock_give(lock);
    return result;
}

static outcome launch_now(Gate *gate, LaneState *lane, Plan *plan, const Extents *e, const unsigned char *image,
                          void **parameters, BlockState **blocks, uint32_t block_count)
{
    return launch_here(gate, lane, plan, e, image, parameters, blocks, block_count, false, 0);
}

/* The stream that an argument means, wherever nothing has to be looked up or refused for it; NULL: Python. Borrowed. */
static inline LaneState *lane_of(KernelState *kernel, PyObject *stream)
{
    if (LIKELY(stream == Py_None)) return kernel->gate->default_lane;
    if (Py_TYPE(stream) != known.stream || SLOT_AT(stream, known.stream_gpu) != kernel->gpu) return NULL;
    return (LaneState *)SLOT_AT(stream, known.stream_lane);
}

/* ---------------------------------------------------------------- the arguments of a call */

/* A call's own parameter block. Never shared, never half read by another thread. */
typedef struct {
    _Alignas(BLOCK_ALIGNMENT) unsigned char bytes[MOST_NBYTES + 16];
    void *parameters[MOST_ARGUMENTS];
    BlockState *blocks[MOST_ARGUMENTS * 2];
    uint32_t block_count;
} Call;

static bool is_same_layout(const Plan *one, const Plan *other)
{
    return one->nbytes == other->nbytes && one->count == other->count &&
           !memcmp(one->offsets, other->offsets, one->count * sizeof *one->offsets);
}

/* Reads the values of a call whose arguments are not all of the types of the likely plan. */
static Plan *read_others(KernelState *kernel, const uint8_t *wanted, PyObject *const *values, uint32_t count, Call *call)
{
    struct { unsigned char bytes[16]; } reads[MOST_ARGUMENTS];
    uint8_t codes[MOST_ARGUMENTS] = {CODE_NONE};
    call->block_count = 0;
    for (uint32_t at = 0; at < count; at++) {
        BlockState *block;
        codes[at] = read_into(kernel->gate, wanted[at], values[at], reads[at].bytes, &block);
        if (codes[at] == CODE_NONE) return NULL;
        if (block) call->blocks[call->block_count++] = block;
    }
    Plan *plan = find_plan(kernel, codes, count);
    if (!plan) return NULL; /* not checked yet */
    for (uint32_t at = 0; at < count; at++) {
        call->parameters[at] = call->bytes + plan->offsets[at];
        memcpy(call->parameters[at], reads[at].bytes, code_nbytes[codes[at]]);
    }
    return plan;
}

/* Reads all values of a call into the place of the plan that they are likely to have; false where they have another,
 * or another call is there. Nothing of Python's runs in between. */
INLINE bool read_likely(Gate *gate, Plan *plan, const uint8_t *wanted, PyObject *const *values, Py_ssize_t count)
{
    uint32_t block_count = 0;
    if (UNLIKELY((Py_ssize_t)plan->count != count || plan->is_in_use)) return false;
    for (uint32_t at = 0; at < (uint32_t)count; at++) {
        BlockState *block;
        uint8_t likely = plan->codes[at];
        if (UNLIKELY(read_as(gate, wanted[at], likely, values[at], plan->parameters[at], &block) != likely)) return false;
        if (block) plan->blocks[block_count++] = block;
    }
    plan->block_count = block_count;
    return true;
}

/* Makes the launch of what `read_likely` has read. */
INLINE outcome launch_likely(Gate *gate, LaneState *lane, Plan *plan, const Extents *e)
{
    plan->is_in_use = true;
    outcome result =
        launch_here(gate, lane, plan, e, plan->bytes, plan->parameters, plan->blocks, plan->block_count, false, 0);
    plan->is_in_use = false;
    return result;
}

/* ---------------------------------------------------------------- Plan */

static void plan_dealloc(Plan *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->facts);
    Py_XDECREF(self->target);
    if (self->form) kernel_form_free(self->form);
    PyMem_Free(self->codes);
    PyMem_Free(self->offsets);
    PyMem_Free(self->steps);
    PyMem_Free(self->memory);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int plan_traverse(Plan *self, visitproc visit, void *arg)
{
    Py_VISIT(self->facts);
    Py_VISIT(self->target);
    if (self->form) Py_VISIT(self->form->make);
    return 0;
}

PyTypeObject Plan_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.Plan",
    .tp_doc = "A kernel with one list of arguments, checked and laid out.",
    .tp_basicsize = sizeof(Plan),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)plan_dealloc,
    .tp_traverse = (traverseproc)plan_traverse,
};

static Plan *plan_new(PyObject *codes, PyObject *offsets, unsigned nbytes, unsigned long long function, PyObject *facts,
                      PyObject *target)
{
    Py_ssize_t count = PyBytes_GET_SIZE(codes);
    if (count > MOST_ARGUMENTS || PyTuple_GET_SIZE(offsets) != count || nbytes > MOST_NBYTES) {
        PyErr_SetString(PyExc_ValueError, "too many arguments or bytes for a plan");
        return NULL;
    }
    Plan *self = PyObject_GC_New(Plan, &Plan_Type);
    if (!self) return NULL;
    self->facts = self->target = NULL;
    self->function = function;
    self->form = NULL;
    self->needs_shared_mem = false;
    self->count = (uint32_t)count;
    self->nbytes = nbytes;
    self->codes = PyMem_Malloc((size_t)count + 1);
    self->offsets = PyMem_New(uint16_t, count + 1);
    self->steps = PyMem_New(Step, count + 1);
    static uint64_t latest_serial;
    self->serial = ++latest_serial;
    PyObject_GC_Track(self);
    size_t addresses = (size_t)count * sizeof(void *);
    self->is_in_use = false;
    self->block_count = 0;
    size_t room = ((size_t)nbytes + LARGEST_READ + 7) / 8 * 8;
    self->memory = PyMem_Calloc(1, BLOCK_ALIGNMENT + room + 2 * addresses);
    if (!self->codes || !self->offsets || !self->steps || !self->memory) {
        Py_DECREF(self);
        PyErr_NoMemory();
        return NULL;
    }
    uintptr_t place = ((uintptr_t)self->memory + BLOCK_ALIGNMENT - 1) & ~(uintptr_t)(BLOCK_ALIGNMENT - 1);
    self->bytes = (unsigned char *)place;
    self->parameters = (void **)(place + room);
    self->blocks = (BlockState **)(self->parameters + count);
    memcpy(self->codes, PyBytes_AS_STRING(codes), (size_t)count);
    for (Py_ssize_t at = 0; at < count; at++) {
        unsigned long offset = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(offsets, at));
        uint8_t code = self->codes[at];
        if (offset == (unsigned long)-1 && PyErr_Occurred()) {
            Py_DECREF(self);
            return NULL;
        }
        if (code >= CODE_END || offset + code_nbytes[code] > nbytes) {
            Py_DECREF(self);
            PyErr_SetString(PyExc_ValueError, "an argument beyond its block");
            return NULL;
        }
        self->offsets[at] = (uint16_t)offset;
        self->steps[at] = (Step){(uint16_t)offset, code};
        self->parameters[at] = self->bytes + offset;
    }
    self->steps[count] = (Step){0, CODE_LAST};
    self->facts = Py_NewRef(facts);
    self->target = Py_NewRef(target);
    return self;
}

/* ---------------------------------------------------------------- KernelState */

static PyObject *configure(PyObject *kernel, PyObject *key); /* configured.c */

/* Lists are short, and a call of memcmp is not. */
static inline bool are_codes_alike(const uint8_t *one, const uint8_t *other, uint32_t count)
{
    for (uint32_t at = 0; at < count; at++)
        if (one[at] != other[at]) return false;
    return true;
}

Plan *find_plan(KernelState *kernel, const uint8_t *codes, uint32_t count)
{
    uint32_t plans = kernel->plan_count;
    for (uint32_t step = 0; step < plans; step++) {
        uint32_t at = kernel->last_plan + step;
        if (at >= plans) at -= plans;
        Plan *plan = kernel->plans[at];
        if (plan->count == count && are_codes_alike(plan->codes, codes, count)) {
            kernel->last_plan = at;
            return plan;
        }
    }
    return NULL;
}

static inline bool is_shape(const Shape *shape, const Extents *e)
{
    return shape->block[0] == e->block[0] && shape->block[1] == e->block[1] && shape->block[2] == e->block[2] &&
           shape->shared_mem == e->shared_mem;
}

static inline bool has_shape(KernelState *kernel, const Extents *e)
{
    for (uint32_t at = 0; at < kernel->shape_count; at++)
        if (LIKELY(is_shape(&kernel->shapes[at], e))) return true;
    return false;
}

static inline bool fits_grid(Gate *gate, const Extents *e)
{
    const uint32_t *g = e->grid, *most = gate->max_grid;
    if (g[0] > most[0] || g[1] > most[1] || g[2] > most[2]) return false;
    if (LIKELY(!gate->max_threads_per_launch)) return true;
    unsigned __int128 threads = (unsigned __int128)g[0] * g[1] * g[2];
    threads *= (unsigned __int128)e->block[0] * e->block[1] * e->block[2];
    return threads <= gate->max_threads_per_launch;
}

#define MOST_PLANS 256

/* `_learn_plan(codes, offsets, nbytes, function, facts, target, needs_shared_mem, form)`: the form of a kernel object, or
 * None. */
static PyObject *kernel_learn_plan(PyObject *self, PyObject *arguments)
{
    IN_CORE;
    KernelState *kernel = (KernelState *)self;
    PyObject *codes, *offsets, *facts, *target, *form;
    unsigned nbytes;
    unsigned long long function;
    int needs_shared_mem;
    if (!PyArg_ParseTuple(arguments, "SO!IKOOpO", &codes, &PyTuple_Type, &offsets, &nbytes, &function, &facts, &target,
                          &needs_shared_mem, &form))
        return NULL;
    Plan *plan = plan_new(codes, offsets, nbytes, function, facts, target);
    if (!plan) return NULL;
    plan->needs_shared_mem = needs_shared_mem;
    if (form != Py_None && !(plan->form = kernel_form_new(form, plan->count))) {
        Py_DECREF(plan);
        return NULL;
    }
    Plan *known_plan = find_plan(kernel, plan->codes, plan->count);
    if (known_plan || kernel->plan_count >= MOST_PLANS) {
        Py_DECREF(plan);
        Py_RETURN_NONE;
    }
    if (kernel->plan_count == kernel->plan_room) {
        uint32_t room = kernel->plan_room ? kernel->plan_room * 2 : 2;
        Plan **plans = PyMem_Realloc(kernel->plans, room * sizeof(Plan *));
        if (!plans) {
            Py_DECREF(plan);
            return PyErr_NoMemory();
        }
        kernel->plans = plans;
        kernel->plan_room = room;
    }
    kernel->plans[kernel->plan_count++] = plan;
    Py_RETURN_NONE;
}

static PyObject *kernel_learn_shape(PyObject *self, PyObject *arguments)
{
    IN_CORE;
    KernelState *kernel = (KernelState *)self;
    Shape shape;
    if (!PyArg_ParseTuple(arguments, "IIII", &shape.block[0], &shape.block[1], &shape.block[2], &shape.shared_mem))
        return NULL;
    for (uint32_t at = 0; at < kernel->shape_count; at++)
        if (!memcmp(&kernel->shapes[at], &shape, sizeof shape)) Py_RETURN_NONE;
    kernel->shapes[kernel->shape_next] = shape;
    kernel->shape_next = (kernel->shape_next + 1) % SHAPES;
    if (kernel->shape_count < SHAPES) kernel->shape_count++;
    Py_RETURN_NONE;
}

static int kernel_traverse(KernelState *self, visitproc visit, void *arg)
{
    Py_VISIT(self->gate);
    Py_VISIT(self->module);
    Py_VISIT(self->specs);
    for (uint32_t at = 0; at < self->plan_count; at++) Py_VISIT(self->plans[at]);
    Py_VISIT(self->gpu);
    Py_VISIT(self->latest_key);
    Py_VISIT(self->latest_configured);
    return 0;
}

static int kernel_clear(KernelState *self)
{
    Py_CLEAR(self->gate);
    Py_CLEAR(self->module);
    Py_CLEAR(self->specs);
    while (self->plan_count) {
        Plan *last = self->plans[--self->plan_count];
        Py_DECREF(last);
    }
    Py_CLEAR(self->gpu);
    Py_CLEAR(self->latest_key);
    Py_CLEAR(self->latest_configured);
    return 0;
}

static void kernel_dealloc(KernelState *self)
{
    PyObject_GC_UnTrack(self);
    kernel_clear(self);
    PyMem_Free(self->plans);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef kernel_members[] = {
    {"_gate", T_OBJECT, offsetof(KernelState, gate), READONLY, NULL},
    {"_module", T_OBJECT_EX, offsetof(KernelState, module), READONLY, NULL},
    {"_plan_count", T_UINT, offsetof(KernelState, plan_count), READONLY, NULL},
    {"_allowed_shared_mem", T_UINT, offsetof(KernelState, allowed_shared_mem), 0, NULL},
    {"_shares", T_BOOL, offsetof(KernelState, shares), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

/* `_belong(gpu, gate, module, specs)`: set once, when it is made. */
static PyObject *kernel_belong(PyObject *self, PyObject *arguments)
{
    IN_CORE;
    KernelState *kernel = (KernelState *)self;
    PyObject *gpu, *gate, *module, *specs;
    if (!PyArg_ParseTuple(arguments, "OO!O!O", &gpu, &Gate_Type, &gate, &ModuleState_Type, &module, &specs)) return NULL;
    if (specs != Py_None && !PyBytes_Check(specs)) {
        PyErr_SetString(PyExc_TypeError, "specs are bytes or None");
        return NULL;
    }
    Py_XSETREF(kernel->gpu, Py_NewRef(gpu));
    Py_XSETREF(kernel->gate, (Gate *)Py_NewRef(gate));
    Py_XSETREF(kernel->module, (ModuleState *)Py_NewRef(module));
    Py_XSETREF(kernel->specs, Py_NewRef(specs));
    Py_RETURN_NONE;
}

static PyMethodDef kernel_methods[] = {
    {"_belong", kernel_belong, METH_VARARGS, NULL},
    {"_learn_plan", kernel_learn_plan, METH_VARARGS, NULL},
    {"_learn_shape", kernel_learn_shape, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMappingMethods kernel_mapping = {.mp_subscript = configure};

PyTypeObject KernelState_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.KernelState",
    .tp_doc = "What the core knows of a kernel.",
    .tp_basicsize = sizeof(KernelState),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_dealloc = (destructor)kernel_dealloc,
    .tp_traverse = (traverseproc)kernel_traverse,
    .tp_clear = (inquiry)kernel_clear,
    .tp_members = kernel_members,
    .tp_methods = kernel_methods,
    .tp_as_mapping = &kernel_mapping,
};

static PyMemberDef module_members[] = {
    {"_is_loaded", T_BOOL, offsetof(ModuleState, is_loaded), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject ModuleState_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.ModuleState",
    .tp_doc = "What the core reads of a module.",
    .tp_basicsize = sizeof(ModuleState),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = PyType_GenericNew,
    .tp_members = module_members,
};

static PyMethodDef launch_functions[] = {
    {"take_answer", take_answer, METH_O,
     "(is_refusal, code) that the driver gave to this kernel's launch on this thread, once; else None."},
    {NULL, NULL, 0, NULL},
};

int launch_setup(PyObject *module)
{
    submit_name = PyUnicode_InternFromString("submit");
    launch_raised = PyUnicode_InternFromString("_launch_raised");
    if (!submit_name || !launch_raised) return -1;
    if (PyType_Ready(&Plan_Type) < 0) return -1;
    if (PyModule_AddType(module, &KernelState_Type) < 0 || PyModule_AddType(module, &ModuleState_Type) < 0) return -1;
    return PyModule_AddFunctions(module, launch_functions);
}
