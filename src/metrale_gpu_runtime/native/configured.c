/* The short form: kernel[grid, block, shared_mem, stream](*values). */
#include "core.h"

#include <string.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    KernelState *kernel;
    LaneState *lane; /* NULL: Python asks what stream is meant */
    PyObject *stream, *geometry, *grid_slots; /* NULL: the default stream, the extents, none */
    Extents extents;
} ConfiguredState;

extern PyTypeObject ConfiguredState_Type;
static PyObject *configured_plainly, *configure_plainly; /* "_call_plainly", "_configure" */

/* Values of other types than those of the launch before, or of a call beside another one. */
static __attribute__((noinline)) outcome configured_launch_others(ConfiguredState *self, const uint8_t *wanted,
                                                                  PyObject *const *values, uint32_t count)
{
    Call call;
    Plan *plan = read_others(self->kernel, wanted, values, count, &call);
    if (!plan) return PYTHON;
    return launch_now(self->kernel->gate, self->lane, plan, &self->extents, call.bytes, call.parameters, call.blocks,
                      call.block_count);
}

static PyObject *configured_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    IN_CORE;
    ConfiguredState *self = (ConfiguredState *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    KernelState *kernel = self->kernel;
    if (names && !PyTuple_GET_SIZE(names)) names = NULL;
    if (LIKELY(self->lane && !names && !kernel->gate->closed && kernel->module->is_loaded && kernel->plan_count &&
               PyBytes_CheckExact(kernel->specs) && PyBytes_GET_SIZE(kernel->specs) == count &&
               count <= MOST_ARGUMENTS && self->extents.shared_mem <= kernel->allowed_shared_mem)) {
        const uint8_t *wanted = (const uint8_t *)PyBytes_AS_STRING(kernel->specs);
        Plan *likely = kernel->plans[kernel->last_plan];
        outcome result = LIKELY(read_likely(kernel->gate, likely, wanted, args, count))
                             ? launch_likely(kernel->gate, self->lane, likely, &self->extents)
                             : configured_launch_others(self, wanted, args, (uint32_t)count);
        if (LIKELY(result == DONE)) Py_RETURN_NONE;
        if (result == FAILED) return NULL;
    }
    PyObject *returned = call_plainly(callable, configured_plainly, args, count, names);
    forget_answer();
    return returned;
}

/* ---------------------------------------------------------------- kernel[…] */

/* An int, or one to three in a tuple; what is left out is 1. False: Python reads it. */
static bool read_extent(PyObject *given, uint32_t extents[3])
{
    extents[1] = extents[2] = 1;
    int64_t number;
    if (PyLong_CheckExact(given)) {
        if (!read_int(given, &number) || number < 0 || number > UINT32_MAX) return false;
        extents[0] = (uint32_t)number;
        return true;
    }
    if (!PyTuple_CheckExact(given)) return false;
    Py_ssize_t count = PyTuple_GET_SIZE(given);
    if (count < 1 || count > 3) return false;
    for (Py_ssize_t at = 0; at < count; at++) {
        PyObject *extent = PyTuple_GET_ITEM(given, at);
        if (!PyLong_CheckExact(extent) || !read_int(extent, &number) || number < 0 || number > UINT32_MAX) return false;
        extents[at] = (uint32_t)number;
    }
    return true;
}

static bool read_shared_mem(PyObject *given, uint32_t *nbytes)
{
    int64_t number;
    if (!PyLong_CheckExact(given) || !read_int(given, &number) || number < 0 || number > UINT32_MAX) return false;
    *nbytes = (uint32_t)number;
    return true;
}

static PyObject *configure(PyObject *object, PyObject *key)
{
    IN_CORE;
    KernelState *kernel = (KernelState *)object;
    if (LIKELY(key == kernel->latest_key)) return Py_NewRef(kernel->latest_configured);
    Extents e;
    e.shared_mem = 0;
    PyObject *stream = Py_None;
    bool is_read = kernel->gate && known.configured && PyTuple_CheckExact(key);
    Py_ssize_t parts = is_read ? PyTuple_GET_SIZE(key) : 0;
    is_read = is_read && parts >= 2 && parts <= 4 && read_extent(PyTuple_GET_ITEM(key, 0), e.grid) &&
              read_extent(PyTuple_GET_ITEM(key, 1), e.block) &&
              (parts < 3 || read_shared_mem(PyTuple_GET_ITEM(key, 2), &e.shared_mem));
    if (is_read && parts == 4) stream = PyTuple_GET_ITEM(key, 3);
    LaneState *lane = is_read ? lane_of(kernel, stream) : NULL;
    if (!lane || !has_shape(kernel, &e) || !fits_grid(kernel->gate, &e))
        return PyObject_CallMethodOneArg(object, configure_plainly, key);
    ConfiguredState *self = (ConfiguredState *)known.configured->tp_alloc(known.configured, 0);
    if (!self) return NULL;
    self->call = configured_call;
    self->kernel = (KernelState *)Py_NewRef(kernel);
    self->lane = (LaneState *)Py_NewRef(lane);
    self->stream = Py_NewRef(stream);
    self->extents = e;
    /* Kept for the next time that the very same key comes: one that holds nothing but numbers. */
    if (stream == Py_None) {
        PyObject *former_key = kernel->latest_key, *former = kernel->latest_configured;
        kernel->latest_key = Py_NewRef(key);
        kernel->latest_configured = Py_NewRef(self);
        Py_XDECREF(former_key);
        Py_XDECREF(former);
    }
    return (PyObject *)self;
}

/* ---------------------------------------------------------------- the type */

/* `_compile(kernel, lane or None, shape or None, stream, geometry, grid_slots)`. */
static PyObject *configured_compile(PyObject *object, PyObject *arguments)
{
    IN_CORE;
    ConfiguredState *self = (ConfiguredState *)object;
    PyObject *kernel, *lane, *shape, *stream, *geometry, *grid_slots;
    if (!PyArg_ParseTuple(arguments, "O!OOOOO", &KernelState_Type, &kernel, &lane, &shape, &stream, &geometry,
                          &grid_slots))
        return NULL;
    if (lane != Py_None && !PyObject_TypeCheck(lane, &LaneState_Type)) {
        PyErr_SetString(PyExc_TypeError, "a lane is wanted");
        return NULL;
    }
    if (!((KernelState *)kernel)->gate) {
        PyErr_SetString(PyExc_TypeError, "a kernel that belongs to nobody");
        return NULL;
    }
    Extents *e = &self->extents;
    if (shape != Py_None && !PyArg_ParseTuple(shape, "IIIIIII", &e->grid[0], &e->grid[1], &e->grid[2], &e->block[0],
                                              &e->block[1], &e->block[2], &e->shared_mem))
        return NULL;
    Py_XSETREF(self->kernel, (KernelState *)Py_NewRef(kernel));
    Py_XSETREF(self->lane, lane != Py_None && shape != Py_None ? (LaneState *)Py_NewRef(lane) : NULL);
    Py_XSETREF(self->stream, Py_NewRef(stream));
    Py_XSETREF(self->geometry, Py_NewRef(geometry));
    Py_XSETREF(self->grid_slots, Py_NewRef(grid_slots));
    Py_RETURN_NONE;
}

static PyObject *get_geometry(ConfiguredState *self, void *closure)
{
    IN_CORE;
    (void)closure;
    if (!self->geometry) {
        const Extents *e = &self->extents;
        PyObject *made = PyObject_CallMethod((PyObject *)self->kernel, "geometry_of", "IIIIIII", e->grid[0], e->grid[1],
                                             e->grid[2], e->block[0], e->block[1], e->block[2], e->shared_mem);
        if (!made) return NULL;
        Py_XSETREF(self->geometry, made); /* another thread may have been as quick */
    }
    return Py_NewRef(self->geometry);
}

static PyObject *get_grid_slots(ConfiguredState *self, void *closure)
{
    IN_CORE;
    (void)closure;
    if (!self->grid_slots) {
        PyObject *made = PyObject_CallMethod((PyObject *)self->kernel, "no_grid_slots", NULL);
        if (!made) return NULL;
        Py_XSETREF(self->grid_slots, made);
    }
    return Py_NewRef(self->grid_slots);
}

static int configured_traverse(ConfiguredState *self, visitproc visit, void *arg)
{
    Py_VISIT(self->kernel);
    Py_VISIT(self->lane);
    Py_VISIT(self->stream);
    Py_VISIT(self->geometry);
    Py_VISIT(self->grid_slots);
    return 0;
}

static int configured_clear(ConfiguredState *self)
{
    Py_CLEAR(self->kernel);
    Py_CLEAR(self->lane);
    Py_CLEAR(self->stream);
    Py_CLEAR(self->geometry);
    Py_CLEAR(self->grid_slots);
    return 0;
}

static void configured_dealloc(ConfiguredState *self)
{
    PyObject_GC_UnTrack(self);
    configured_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *configured_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    ConfiguredState *self = (ConfiguredState *)type->tp_alloc(type, 0);
    if (self) self->call = configured_call;
    return (PyObject *)self;
}

static PyMethodDef configured_methods[] = {
    {"_compile", configured_compile, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef configured_members[] = {
    {"_kernel", T_OBJECT_EX, offsetof(ConfiguredState, kernel), READONLY, NULL},
    {"_stream", T_OBJECT, offsetof(ConfiguredState, stream), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef configured_getters[] = {
    {"_geometry", (getter)get_geometry, NULL, NULL, NULL},
    {"_grid_slots", (getter)get_grid_slots, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject ConfiguredState_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.ConfiguredState",
    .tp_doc = "A kernel with its geometry as the core calls it; what it does not do, `_call_plainly` does.",
    .tp_basicsize = sizeof(ConfiguredState),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = configured_new,
    .tp_dealloc = (destructor)configured_dealloc,
    .tp_traverse = (traverseproc)configured_traverse,
    .tp_clear = (inquiry)configured_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(ConfiguredState, call),
    .tp_methods = configured_methods,
    .tp_members = configured_members,
    .tp_getset = configured_getters,
};

KNOW_BASE(know_configured, configured, ConfiguredState_Type)

static PyMethodDef configured_functions[] = {
    {"know_configured", know_configured, METH_O, "Tell the class of configured kernels."},
    {NULL, NULL, 0, NULL},
};

int configured_setup(PyObject *module)
{
    configured_plainly = PyUnicode_InternFromString("_call_plainly");
    configure_plainly = PyUnicode_InternFromString("_configure");
    if (!configured_plainly || !configure_plainly || PyModule_AddType(module, &ConfiguredState_Type) < 0) return -1;
    return PyModule_AddFunctions(module, configured_functions);
}
