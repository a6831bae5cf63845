/* The builder: a launch described by chained calls. Each argument is read where it is given, and lies here as bytes.
 *
 * A kernel is launched with the same types again and again. So a new builder expects those of the launch before, and
 * while they come each is written where the driver will read it. With the first that is another, all are kept one by
 * one, and laid out when their plan is found.
 */
#include "core.h"

#include <string.h>

#define INLINED 32 /* so many arguments need no memory of their own */
#define INLINED_NBYTES 256

typedef struct {
    unsigned char bytes[16];
    PyObject *allocation; /* held; NULL for a value and for null */
} Given;

/* What Python keeps of a builder that it has. Members of the type, not a dict: methods of objects without one are found
 * at once. */
#define ATTRIBUTE_NAMES(_)                                                                                      \
    _(_gpu) _(_kernel) _(_grid) _(_grid_slots) _(_block) _(_shared_mem) _(_cluster) _(_cooperative)             \
    _(_attributes) _(_arguments) _(_uses) _(_is_sealed) _(_checked)
#define NUMBERED(name) NUMBER_OF_##name,
enum { ATTRIBUTE_NAMES(NUMBERED) ATTRIBUTES };

typedef struct {
    PyObject_HEAD
    KernelState *kernel; /* NULL: Python has it all, in the attributes */
    const Step *step;    /* the argument that is expected next, of `plan`; `nowhere` where none is */
    Plan *plan;          /* what is expected, which the kernel keeps; NULL: all that was given lies in `given` */
    Extents extents;
    uint32_t held_count;
    bool is_sealed;
    uint64_t serial; /* of the plan that `parameters` are for */
    PyThreadState *taker; /* the thread that is handing it to Python just now */
    PyObject *held[INLINED]; /* allocations, and what stands behind them */
    BlockState *blocks[INLINED];
    void *parameters[INLINED];
    _Alignas(16) unsigned char bytes[INLINED_NBYTES + LARGEST_READ];
    PyObject *attributes[ATTRIBUTES];
    uint32_t count, room;
    uint64_t named[MOST_ARGUMENTS / 64]; /* a bit for each argument that was read for its parameter, whose name it has */
    uint8_t *codes;
    Given *given;
    uint8_t inlined_codes[INLINED];
    Given inlined[INLINED];
} BuilderState;

extern PyTypeObject BuilderState_Type;
static PyObject *take_over; /* "_take_over" */

static const Step nowhere = {0, CODE_NOWHERE};

/* Room for arguments that are kept one by one. */
static void builder_give(BuilderState *self)
{
    self->count = 0;
    self->room = INLINED;
    self->codes = self->inlined_codes;
    self->given = self->inlined;
}

/* From now on any argument may come: what was given as expected is kept as all others are. */
static void builder_expect_nothing(BuilderState *self)
{
    Plan *plan = self->plan;
    if (!plan) return;
    builder_give(self);
    uint32_t count = self->is_sealed ? plan->count : (uint32_t)(self->step - plan->steps), pointers = 0;
    for (uint32_t at = 0; at < count; at++) {
        uint8_t code = plan->codes[at];
        self->codes[at] = code;
        memcpy(self->given[at].bytes, self->bytes + plan->offsets[at], code_nbytes[code]);
        self->given[at].allocation = code >= CODE_POINTER ? self->held[pointers++] : NULL;
    }
    self->count = count;
    self->held_count = 0;
    self->plan = NULL;
    self->step = &nowhere;
}

INLINE void builder_drop_held(BuilderState *self)
{
    while (self->held_count) {
        PyObject *last = self->held[--self->held_count];
        Py_DECREF(last);
    }
}

static __attribute__((noinline)) void builder_drop_given(BuilderState *self)
{
    while (self->count) Py_XDECREF(self->given[--self->count].allocation);
    if (self->given && self->given != self->inlined) {
        PyMem_Free(self->given);
        PyMem_Free(self->codes);
    }
    self->given = NULL;
    self->codes = NULL;
}

static void builder_drop(BuilderState *self)
{
    builder_drop_held(self);
    builder_drop_given(self);
}

/* Hands all that was given so far to Python, which has the builder from now on. */
static int builder_spill(BuilderState *self)
{
    KernelState *kernel = self->kernel;
    if (!kernel) {
        if (LIKELY(!self->taker || self->taker == PyThreadState_Get())) return 0;
        PyErr_SetString(PyExc_RuntimeError, "a launch is described by one thread at a time; another one is in the midst of it");
        return -1;
    }
    builder_expect_nothing(self);
    PyObject *arguments = PyList_New(self->count);
    if (!arguments) return -1;
    /* Making objects may run the collector, and with it whatever also has this builder: it may be spilled by then. */
    for (uint32_t at = 0; self->kernel == kernel && at < (uint32_t)PyList_GET_SIZE(arguments); at++) {
        const Given given = self->given[at];
        PyObject *is_named = self->named[at / 64] >> (at % 64) & 1 ? Py_True : Py_False;
        uint8_t code = self->codes[at];
        PyObject *argument = Py_BuildValue("(iy#NO)", code, given.bytes, (Py_ssize_t)code_nbytes[code],
                                           Py_NewRef(given.allocation ? given.allocation : Py_None), is_named);
        if (!argument) {
            Py_DECREF(arguments);
            return -1;
        }
        PyList_SET_ITEM(arguments, at, argument);
    }
    const Extents *e = &self->extents;
    PyObject *shape = Py_BuildValue("(IIIIIII)", e->grid[0], e->grid[1], e->grid[2], e->block[0], e->block[1],
                                    e->block[2], e->shared_mem);
    PyObject *sealed = self->is_sealed ? Py_True : Py_False;
    if (!shape || self->kernel != kernel || (Py_ssize_t)self->count != PyList_GET_SIZE(arguments)) {
        bool is_made = shape != NULL;
        Py_DECREF(arguments);
        Py_XDECREF(shape);
        /* Others have changed it meanwhile: what it is now. */
        return is_made ? builder_spill(self) : -1;
    }
    self->taker = PyThreadState_Get(); /* before anything is let go of, and others have their turn */
    self->kernel = NULL;
    builder_drop(self);
    PyObject_GC_Track(self);
    PyObject *returned =
        PyObject_CallMethodObjArgs((PyObject *)self, take_over, kernel, shape, arguments, sealed, NULL);
    self->taker = NULL;
    Py_DECREF(kernel);
    Py_DECREF(shape);
    Py_DECREF(arguments);
    Py_XDECREF(returned);
    return returned ? 0 : -1;
}

static PyObject *builder_spilled(PyObject *self, PyObject *ignored)
{
    IN_CORE;
    (void)ignored;
    if (builder_spill((BuilderState *)self) < 0) return NULL;
    Py_RETURN_NONE;
}

/* The same call, to the method that does it in Python. */
static PyObject *leave_to_python(PyObject *self, PyObject *name, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (builder_spill((BuilderState *)self) < 0) return NULL;
    return call_plainly(self, name, args, count, names);
}

/* ---------------------------------------------------------------- arguments */

static bool builder_room(BuilderState *self)
{
    if (LIKELY(self->count < self->room)) return true;
    uint32_t room = self->room * 2;
    if (room > MOST_ARGUMENTS) return false;
    uint8_t *codes = PyMem_Malloc(room);
    Given *given = PyMem_Malloc(room * sizeof(Given));
    if (!codes || !given) {
        PyMem_Free(codes);
        PyMem_Free(given);
        return false;
    }
    memcpy(codes, self->codes, self->count);
    memcpy(given, self->given, self->count * sizeof(Given));
    if (self->given != self->inlined) {
        PyMem_Free(self->codes);
        PyMem_Free(self->given);
    }
    self->codes = codes;
    self->given = given;
    self->room = room;
    return true;
}

static bool builder_add(BuilderState *self, uint8_t wanted, PyObject *value)
{
    if (UNLIKELY(!self->kernel || self->is_sealed)) return false;
    builder_expect_nothing(self);
    if (UNLIKELY(!builder_room(self))) return false;
    Given *given = &self->given[self->count];
    BlockState *block;
    uint8_t code = read_into(self->kernel->gate, wanted, value, given->bytes, &block);
    if (UNLIKELY(code == CODE_NONE)) return false;
    given->allocation = block ? Py_NewRef(allocation_of(value)) : NULL;
    self->codes[self->count++] = code;
    return true;
}

/* A typed argument's type is the method's: a value that has another one is Python's to refuse. */
static __attribute__((noinline)) bool builder_add_typed(BuilderState *self, uint8_t wanted, PyObject *value)
{
    if (UNLIKELY(!builder_add(self, wanted, value))) return false;
    if (LIKELY(wanted >= CODE_POINTER || self->codes[self->count - 1] == wanted)) return true;
    self->count--; /* a value, which holds nothing */
    return false;
}

/* Another pointer that lies in its place already. */
INLINE void builder_hold(BuilderState *self, PyObject *allocation, BlockState *block)
{
    uint32_t at = self->held_count++;
    self->blocks[at] = block;
    self->held[at] = Py_NewRef(allocation);
}

/* Takes the argument that is expected, if it is what nearly all are; false, with nothing taken, for any other. Calls
 * nothing: what a function saves for the sake of others that it calls costs as much as this. */
INLINE bool builder_follow(BuilderState *self, uint8_t wanted, PyObject *value)
{
    const Step *step = self->step;
    uint8_t *place = self->bytes + step->offset;
    if (wanted >= CODE_POINTER) {
        BlockState *block;
        if (UNLIKELY(step->code < CODE_POINTER || step->code >= CODE_END)) return false;
        if (UNLIKELY(Py_TYPE(value) != known.device_buffer)) return false;
        if (UNLIKELY(read_pointer(self->kernel->gate, step->code, value, place, &block) != step->code)) return false;
        builder_hold(self, ((BufferState *)value)->allocation, block);
    } else if (UNLIKELY(step->code != wanted)) {
        return false;
    } else if (wanted == CODE_F32 || wanted == CODE_F64) {
        if (UNLIKELY(!PyFloat_CheckExact(value))) return false;
        if (UNLIKELY(read_float(wanted, PyFloat_AS_DOUBLE(value), place) == CODE_NONE)) return false;
    } else {
        int64_t number;
        if (UNLIKELY(!PyLong_CheckExact(value) || !read_short_int(value, &number))) return false;
        if (UNLIKELY(place_integer(wanted, number, place) == CODE_NONE)) return false;
    }
    self->step = step + 1;
    return true;
}

/* Takes the argument that is expected, where its type is wanted by the method or, 0 to 127, by the signature. */
static bool builder_follow_any(BuilderState *self, uint8_t wanted, PyObject *value)
{
    const Step *step = self->step;
    uint8_t code = step->code, *place = self->bytes + step->offset;
    BlockState *block;
    if (code >= CODE_LAST || read_as(self->kernel->gate, wanted, code, value, place, &block) != code) return false;
    if (code >= CODE_POINTER) {
        if (!block) return false; /* null */
        builder_hold(self, allocation_of(value), block);
    }
    self->step = step + 1;
    return true;
}

/* What is not taken at once. A typed argument's type is the method's, not the value's. */
static __attribute__((noinline)) PyObject *builder_take(PyObject *object, uint8_t wanted, PyObject *plain, PyObject *value)
{
    BuilderState *self = (BuilderState *)object;
    bool is_expected = self->step->code == wanted || (wanted == CODE_POINTER && self->step->code > CODE_POINTER);
    if (is_expected && builder_follow_any(self, wanted, value)) return Py_NewRef(object);
    if (builder_add_typed(self, wanted, value)) return Py_NewRef(object);
    return leave_to_python(object, plain, &value, 1, NULL);
}

static __attribute__((noinline)) PyObject *builder_take_named(PyObject *object, uint8_t wanted, PyObject *plain,
                                                              PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (count == 1 && !names) return builder_take(object, wanted, plain, args[0]);
    return leave_to_python(object, plain, args, count, names);
}

#define ONE_VALUE(name, code)                                                                                   \
    static PyObject *plain_##name;                                                                              \
    static PyObject *builder_##name(PyObject *self, PyObject *value)                                            \
    {                                                                                                           \
        IN_CORE;                                                                                                \
        if (LIKELY(builder_follow((BuilderState *)self, code, value))) return Py_NewRef(self);                  \
        return builder_take(self, code, plain_##name, value);                                                   \
    }
/* Those that can also be told `exact=True`. */
#define ONE_ROUNDED(name, code)                                                                                 \
    static PyObject *plain_##name;                                                                              \
    static PyObject *builder_##name(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)   \
    {                                                                                                           \
        IN_CORE;                                                                                                \
        if (LIKELY(count == 1 && !names && builder_follow((BuilderState *)self, code, args[0])))                \
            return Py_NewRef(self);                                                                             \
        return builder_take_named(self, code, plain_##name, args, count, names);                                \
    }
#define VALUE_METHODS(_)                                                                                        \
    _(arg_u8, CODE_U8) _(arg_u16, CODE_U16) _(arg_u32, CODE_U32) _(arg_u64, CODE_U64)                           \
    _(arg_i8, CODE_I8) _(arg_i16, CODE_I16) _(arg_i32, CODE_I32) _(arg_i64, CODE_I64)                           \
    _(arg_f64, CODE_F64) _(arg_bool, CODE_BOOL) _(arg_ptr, CODE_POINTER)
#define ROUNDED_METHODS(_) _(arg_f16, CODE_F16) _(arg_bf16, CODE_BF16) _(arg_f32, CODE_F32)
VALUE_METHODS(ONE_VALUE)
ROUNDED_METHODS(ONE_ROUNDED)

static inline uint32_t builder_count(const BuilderState *self)
{
    if (!self->plan) return self->count;
    return self->is_sealed ? self->plan->count : (uint32_t)(self->step - self->plan->steps);
}

static PyObject *plain_arg;
static PyObject *builder_arg(PyObject *object, PyObject *value)
{
    IN_CORE;
    BuilderState *self = (BuilderState *)object;
    if (self->kernel && PyBytes_CheckExact(self->kernel->specs) && (!self->kernel->shares || self->extents.shared_mem)) {
        uint32_t at = builder_count(self);
        if (at < PyBytes_GET_SIZE(self->kernel->specs)) {
            uint8_t wanted = (uint8_t)PyBytes_AS_STRING(self->kernel->specs)[at];
            if (builder_follow_any(self, wanted, value) || builder_add(self, wanted, value)) {
                self->named[at / 64] |= (uint64_t)1 << (at % 64);
                return Py_NewRef(object);
            }
        }
    }
    return leave_to_python(object, plain_arg, &value, 1, NULL);
}

/* ---------------------------------------------------------------- geometry */

static PyObject *plain_grid, *plain_block, *plain_shared_mem;

static __attribute__((noinline)) PyObject *builder_extent(PyObject *object, uint32_t *extents, PyObject *plain,
                                                          PyObject *given)
{
    uint32_t read[3];
    if (!((BuilderState *)object)->kernel || !read_extent(given, read)) return leave_to_python(object, plain, &given, 1, NULL);
    memcpy(extents, read, sizeof read);
    return Py_NewRef(object);
}

/* One number, as nearly always. */
INLINE bool take_extent(BuilderState *self, uint32_t *extents, PyObject *given)
{
    int64_t number;
    if (UNLIKELY(!PyLong_CheckExact(given) || !read_short_int(given, &number) || !self->kernel)) return false;
    if (UNLIKELY((uint64_t)number > UINT32_MAX)) return false;
    extents[0] = (uint32_t)number;
    extents[1] = extents[2] = 1;
    return true;
}

static PyObject *builder_grid(PyObject *object, PyObject *grid)
{
    IN_CORE;
    BuilderState *self = (BuilderState *)object;
    if (LIKELY(take_extent(self, self->extents.grid, grid))) return Py_NewRef(object);
    return builder_extent(object, self->extents.grid, plain_grid, grid);
}

static PyObject *builder_block(PyObject *object, PyObject *block)
{
    IN_CORE;
    BuilderState *self = (BuilderState *)object;
    if (LIKELY(take_extent(self, self->extents.block, block))) return Py_NewRef(object);
    return builder_extent(object, self->extents.block, plain_block, block);
}

static PyObject *builder_shared_mem(PyObject *object, PyObject *nbytes)
{
    IN_CORE;
    BuilderState *self = (BuilderState *)object;
    /* Whether there is any may change which parameter an argument is for. */
    if (LIKELY(self->kernel && !(self->kernel->shares && builder_count(self)) &&
               read_shared_mem(nbytes, &self->extents.shared_mem)))
        return Py_NewRef(object);
    return leave_to_python(object, plain_shared_mem, &nbytes, 1, NULL);
}

/* ---------------------------------------------------------------- the end */

static PyObject *plain_launch;

/* A launch of arguments that were not expected, or of one that was launched before. */
static __attribute__((noinline)) outcome builder_launch_others(BuilderState *self, LaneState *lane)
{
    builder_expect_nothing(self);
    KernelState *kernel = self->kernel;
    Plan *plan = find_plan(kernel, self->codes, self->count);
    if (UNLIKELY(!plan)) return PYTHON;
    Call call;
    call.block_count = 0;
    for (uint32_t at = 0; at < plan->count; at++) {
        const Given *given = &self->given[at];
        unsigned char *place = call.bytes + plan->offsets[at];
        call.parameters[at] = place;
        uint8_t nbytes = code_nbytes[plan->codes[at]];
        if (nbytes == 8)
            memcpy(place, given->bytes, 8);
        else if (nbytes == 4)
            memcpy(place, given->bytes, 4);
        else
            memcpy(place, given->bytes, nbytes);
        if (given->allocation) call.blocks[call.block_count++] = (BlockState *)((AllocationState *)given->allocation)->block;
    }
    return launch_now(kernel->gate, lane, plan, &self->extents, call.bytes, call.parameters, call.blocks, call.block_count);
}

static outcome builder_launch_now(BuilderState *self, PyObject *stream)
{
    KernelState *kernel = self->kernel;
    Gate *gate = kernel->gate;
    LaneState *lane = lane_of(kernel, stream);
    if (!lane || gate->closed || !kernel->module->is_loaded) return PYTHON;
    const Extents *e = &self->extents;
    if (e->shared_mem > kernel->allowed_shared_mem || !has_shape(kernel, e) || !fits_grid(gate, e)) return PYTHON;
    /* Nobody writes what is expected once it is complete, not even while the interpreter lock is let go of. */
    if (LIKELY(self->step->code == CODE_LAST))
        return launch_here(gate, lane, self->plan, e, self->bytes, self->parameters, self->blocks, self->held_count,
                           false, 0);
    return builder_launch_others(self, lane);
}

static PyObject *builder_launch(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    IN_CORE;
    BuilderState *self = (BuilderState *)object;
    if (LIKELY(self->kernel && count <= 1 && !names)) {
        /* Held: another thread's call might spill the builder while the driver has the interpreter lock let go of. */
        Py_INCREF(self->kernel);
        KernelState *kernel = self->kernel;
        outcome result = builder_launch_now(self, count ? args[0] : Py_None);
        Py_DECREF(kernel);
        if (result != PYTHON) {
            self->is_sealed = true;
            self->step = &nowhere;
        }
        if (LIKELY(result == DONE)) Py_RETURN_NONE;
        if (result == FAILED) return NULL;
    }
    PyObject *returned = leave_to_python(object, plain_launch, args, count, names);
    forget_answer();
    return returned;
}
/* ---------------------------------------------------------------- making it */

/* Builders live for one line: the memory of the last ones is kept. */
#define MOST_FREE_BUILDERS 16
static BuilderState *free_builders[MOST_FREE_BUILDERS];
static int free_builder_count;

static PyObject *builder_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    BuilderState *self = (BuilderState *)type->tp_alloc(type, 0); /* without a kernel: Python's, whose __init__ follows */
    if (self) self->step = &nowhere;
    return (PyObject *)self;
}

/* KernelLaunch(gpu, kernel) as it is nearly always called; anything else goes the way of all classes. */
static PyObject *builder_make(PyObject *type, PyObject *const *args, size_t flags, PyObject *names)
{
    IN_CORE;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (UNLIKELY(count != 2 || names || Py_TYPE(args[1]) != known.kernel ||
                 ((KernelState *)args[1])->gpu != args[0])) {
        PyObject *self = builder_new((PyTypeObject *)type, NULL, NULL);
        PyObject *init = self ? PyObject_GetAttrString(self, "__init__") : NULL;
        PyObject *returned = init ? PyObject_Vectorcall(init, args, (size_t)count, names) : NULL;
        Py_XDECREF(init);
        if (!returned) Py_CLEAR(self);
        Py_XDECREF(returned);
        return self;
    }
    BuilderState *self;
    if (LIKELY(KEEPS_FREE && free_builder_count)) {
        self = free_builders[--free_builder_count];
        Py_SET_REFCNT((PyObject *)self, 1); /* its type is what it was, and still held */
        self->is_sealed = false;
    } else {
        self = (BuilderState *)((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
        if (!self) return NULL;
        /* In no cycle before Python has it: nothing that it holds until then leads back to it. */
        PyObject_GC_UnTrack(self);
    }
    KernelState *kernel = self->kernel = (KernelState *)Py_NewRef(args[1]);
    self->extents = (Extents){{1, 1, 1}, {1, 1, 1}, 0};
    memset(self->named, 0, sizeof self->named);
    Plan *plan = LIKELY(kernel->plan_count) ? kernel->plans[kernel->last_plan] : NULL;
    if (UNLIKELY(!plan || plan->count > INLINED || plan->nbytes > INLINED_NBYTES)) {
        self->plan = NULL;
        self->step = &nowhere;
        builder_give(self);
        return (PyObject *)self;
    }
    self->plan = plan;
    self->step = plan->steps;
    if (UNLIKELY(self->serial != plan->serial)) {
        for (uint32_t at = 0; at < plan->count; at++) self->parameters[at] = self->bytes + plan->offsets[at];
        self->serial = plan->serial;
    }
    return (PyObject *)self;
}

static int builder_traverse(BuilderState *self, visitproc visit, void *arg)
{
    Py_VISIT(self->kernel);
    for (int at = 0; at < ATTRIBUTES; at++) Py_VISIT(self->attributes[at]);
    for (uint32_t at = 0; at < self->held_count; at++) Py_VISIT(self->held[at]);
    for (uint32_t at = 0; at < self->count; at++) Py_VISIT(self->given[at].allocation);
    return 0;
}

static int builder_clear(BuilderState *self)
{
    Py_CLEAR(self->kernel);
    for (int at = 0; at < ATTRIBUTES; at++) Py_CLEAR(self->attributes[at]);
    builder_drop(self);
    return 0;
}

static void builder_dealloc(BuilderState *self)
{
    PyObject_GC_UnTrack(self);
    builder_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* In the place of what a class does for its instances: one that Python never had is kept for the next. The class has
 * nothing of its own in them (`__slots__ = ()`), so there is no more to let go of than the base knows. */
static void builder_end(PyObject *object)
{
    BuilderState *self = (BuilderState *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (LIKELY(self->kernel && type == known.builder)) {
        KernelState *kernel = self->kernel;
        self->kernel = NULL;
        builder_drop_held(self);
        if (UNLIKELY(!self->plan)) builder_drop_given(self);
        Py_DECREF(kernel);
        if (LIKELY(KEEPS_FREE && free_builder_count < MOST_FREE_BUILDERS)) {
            free_builders[free_builder_count++] = self;
            return;
        }
    }
    builder_dealloc(self);
    Py_DECREF(type);
}

static PyMethodDef builder_methods[] = {
    {"_spill", builder_spilled, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

#define MEMBER(name)                                                                                            \
    {#name, T_OBJECT_EX, offsetof(BuilderState, attributes) + NUMBER_OF_##name * sizeof(PyObject *), 0, NULL},
static PyMemberDef builder_members[] = {ATTRIBUTE_NAMES(MEMBER){NULL, 0, 0, 0, NULL}};

PyTypeObject BuilderState_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.BuilderState",
    .tp_doc = "A launch being described.",
    .tp_basicsize = sizeof(BuilderState),
    .tp_members = builder_members,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = builder_new,
    .tp_dealloc = (destructor)builder_dealloc,
    .tp_traverse = (traverseproc)builder_traverse,
    .tp_clear = (inquiry)builder_clear,
    .tp_methods = builder_methods,
};

/* Every method that is done here, and the name of the one that does it in Python. */
static struct {
    PyCFunction function;
    int flags;
    const char *name;
    PyObject **plain;
} builder_natives[] = {
#define ONE(name, code) {builder_##name, METH_O, #name, &plain_##name},
#define SEVERAL(name, code) \
    {(PyCFunction)(void (*)(void))builder_##name, METH_FASTCALL | METH_KEYWORDS, #name, &plain_##name},
    VALUE_METHODS(ONE) ONE(arg, 0) ONE(grid, 0) ONE(block, 0) ONE(shared_mem, 0)
    ROUNDED_METHODS(SEVERAL) SEVERAL(launch, 0)
#undef ONE
#undef SEVERAL
};
#define NATIVES (sizeof builder_natives / sizeof *builder_natives)
static PyMethodDef builder_definitions[NATIVES];
static vectorcallfunc call_of_one; /* CPython's own way to call a method of one argument */

/* A method of one argument that is not called with just one: the one in Python says what is wrong. */
static PyObject *builder_call_one(PyObject *descriptor, PyObject *const *args, size_t flags, PyObject *names)
{
    IN_CORE;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if ((count == 2 && !names) || !count || !known.builder || !PyObject_TypeCheck(args[0], known.builder))
        return call_of_one(descriptor, args, flags, names);
    size_t at = (size_t)(((PyMethodDescrObject *)descriptor)->d_method - builder_definitions);
    return leave_to_python(args[0], *builder_natives[at].plain, args + 1, count - 1, names);
}

/* Puts the native methods in the place of a class's own of the same name, which stay under `_plain_…` and lend their
 * docstrings: a class on this base, once. */
static PyObject *know_builder(PyObject *self, PyObject *object)
{
    (void)self;
    PyTypeObject *type = (PyTypeObject *)object;
    if (!PyType_Check(object) || type->tp_base != &BuilderState_Type || known.builder ||
        type->tp_basicsize != (Py_ssize_t)sizeof(BuilderState) || type->tp_weaklistoffset) {
        PyErr_SetString(PyExc_TypeError, "one class on this base is wanted");
        return NULL;
    }
    for (size_t at = 0; at < NATIVES; at++) {
        const char *name = builder_natives[at].name;
        PyObject *plain = PyUnicode_FromFormat("_plain_%s", name);
        PyObject *method = plain ? PyObject_GetAttrString(object, name) : NULL;
        if (!method || PyObject_SetAttr(object, plain, method) < 0) return NULL;
        PyUnicode_InternInPlace(&plain);
        *builder_natives[at].plain = plain;
        PyObject *doc = PyObject_GetAttrString(method, "__doc__");
        const char *text = doc && PyUnicode_Check(doc) ? PyUnicode_AsUTF8(doc) : NULL;
        Py_DECREF(method);
        if (!doc || !text) return NULL;
        PyMethodDef *definition = &builder_definitions[at];
        /* The docstring lives as long: not let go. */
        *definition = (PyMethodDef){name, builder_natives[at].function, builder_natives[at].flags, text};
        PyObject *descriptor = PyDescr_NewMethod(type, definition);
        if (!descriptor || PyObject_SetAttrString(object, name, descriptor) < 0) return NULL;
        if (builder_natives[at].flags == METH_O) {
            call_of_one = ((PyMethodDescrObject *)descriptor)->vectorcall;
            ((PyMethodDescrObject *)descriptor)->vectorcall = builder_call_one;
        }
        Py_DECREF(descriptor);
    }
    type->tp_vectorcall = builder_make;
    type->tp_dealloc = builder_end;
    /* CPython calls at once only what it knows not to change. */
    type->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
    PyType_Modified(type);
    known.builder = (PyTypeObject *)Py_NewRef(object);
    return Py_NewRef(object);
}

KNOW_BASE(know_kernel, kernel, KernelState_Type)

static PyMethodDef builder_functions[] = {
    {"know_builder", know_builder, METH_O, "Tell the class of launches being described; its methods become native."},
    {"know_kernel", know_kernel, METH_O, "Tell the class of kernels."},
    {NULL, NULL, 0, NULL},
};

int builder_setup(PyObject *module)
{
    take_over = PyUnicode_InternFromString("_take_over");
    if (!take_over || PyModule_AddType(module, &BuilderState_Type) < 0) return -1;
    return PyModule_AddFunctions(module, builder_functions);
}
