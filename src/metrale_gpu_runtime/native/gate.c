/* The gate of one backend: whether a launch may be made natively at all, and how the driver is called. */
#include "core.h"

#include <string.h>

static PyObject *gate_next(PyObject *self)
{
    IN_CORE;
    return PyLong_FromLongLong(++((Gate *)self)->ordinal);
}

static PyObject *gate_count_from(PyObject *self, PyObject *ordinal)
{
    IN_CORE;
    int64_t number = PyLong_AsLongLong(ordinal);
    if (number == -1 && PyErr_Occurred()) return NULL;
    ((Gate *)self)->ordinal = (int64_t)((uint64_t)number - 1);
    Py_RETURN_NONE;
}

static PyObject *gate_shut(PyObject *self, PyObject *arguments)
{
    IN_CORE;
    unsigned bit;
    int is_shut;
    if (!PyArg_ParseTuple(arguments, "Ip", &bit, &is_shut)) return NULL;
    Gate *gate = (Gate *)self;
    gate->closed = is_shut ? gate->closed | bit : gate->closed & ~bit;
    Py_RETURN_NONE;
}

#define READY 1u /* the bit that `watch` takes away */

static PyObject *gate_watch(PyObject *self, PyObject *arguments)
{
    IN_CORE;
    Gate *gate = (Gate *)self;
    PyObject *ledger, *dropped, *deferred, *waiting, *links, *progress;
    if (!PyArg_ParseTuple(arguments, "OOOO!O!O!", &ledger, &dropped, &deferred, &PyDict_Type, &waiting, &PyDict_Type,
                          &links, &ProgressState_Type, &progress))
        return NULL;
    PyObject *collections = PyImport_ImportModule("collections");
    PyObject *deque = collections ? PyObject_GetAttrString(collections, "deque") : NULL;
    Py_XDECREF(collections);
    if (!deque) return NULL;
    bool are_deques = (PyObject *)Py_TYPE(dropped) == deque && (PyObject *)Py_TYPE(deferred) == deque;
    Py_DECREF(deque);
    if (!are_deques) {
        PyErr_SetString(PyExc_TypeError, "what was dropped and what is deferred are deques");
        return NULL;
    }
    Py_XSETREF(gate->ledger, Py_NewRef(ledger));
    Py_XSETREF(gate->dropped, Py_NewRef(dropped));
    Py_XSETREF(gate->deferred, Py_NewRef(deferred));
    Py_XSETREF(gate->waiting, Py_NewRef(waiting));
    Py_XSETREF(gate->links, Py_NewRef(links));
    Py_XSETREF(gate->progress, (ProgressState *)Py_NewRef(progress));
    gate->closed &= ~READY;
    Py_RETURN_NONE;
}

static PyObject *gate_limit(PyObject *self, PyObject *arguments)
{
    IN_CORE;
    Gate *gate = (Gate *)self;
    unsigned long long most, alignment;
    int null_pointers, aliased_writes;
    if (!PyArg_ParseTuple(arguments, "IIIKpKp", &gate->max_grid[0], &gate->max_grid[1], &gate->max_grid[2], &most,
                          &null_pointers, &alignment, &aliased_writes))
        return NULL;
    gate->max_threads_per_launch = most;
    gate->null_pointers = (char)null_pointers;
    gate->offset_alignment = alignment;
    gate->aliased_writes = (char)aliased_writes;
    Py_RETURN_NONE;
}

static PyObject *gate_submit(PyObject *self, PyObject *keeper)
{
    IN_CORE;
    Gate *gate = (Gate *)self;
    if (!PyWeakref_CheckRef(keeper)) {
        PyErr_SetString(PyExc_TypeError, "a weak reference to the backend is wanted");
        return NULL;
    }
    Py_XSETREF(gate->keeper, Py_NewRef(keeper));
    Py_RETURN_NONE;
}

/* A shape as Python has it: a new reference. */
static PyObject *geometry_of(Gate *gate, PyObject *facts, const Extents *e)
{
    uint32_t mixed = e->shared_mem;
    for (int axis = 0; axis < 3; axis++) mixed = (mixed ^ e->grid[axis]) * 0x9e3779b1u + e->block[axis];
    KnownShape *shape = &gate->shapes[(mixed ^ mixed >> 15) % KNOWN_SHAPES];
    if (LIKELY(shape->geometry && !memcmp(&shape->extents, e, sizeof *e))) return Py_NewRef(shape->geometry);
    PyObject *geometry = PyObject_CallMethod(facts, "geometry_of", "IIIIIII", e->grid[0], e->grid[1], e->grid[2],
                                             e->block[0], e->block[1], e->block[2], e->shared_mem);
    if (!geometry) return NULL;
    PyObject *former = shape->geometry;
    shape->extents = *e;
    shape->geometry = Py_NewRef(geometry);
    Py_XDECREF(former);
    return geometry;
}

static PyObject *gate_call(PyObject *self, PyObject *arguments)
{
    IN_CORE;
    Gate *gate = (Gate *)self;
    unsigned long long launch, query, enter, leave, context;
    int is_extended, nbytes, takes_place;
    if (!PyArg_ParseTuple(arguments, "KpKKKKip", &launch, &is_extended, &query, &enter, &leave, &context, &nbytes,
                          &takes_place))
        return NULL;
    if ((nbytes != 4 && nbytes != 8) || !launch || !query || !enter || !leave) {
        PyErr_SetString(PyExc_ValueError, "four addresses, and a context of 4 or 8 bytes");
        return NULL;
    }
    gate->query = (query_function *)(uintptr_t)query;
    gate->enter = (enter_function *)(uintptr_t)enter;
    gate->leave = (enter_function *)(uintptr_t)leave;
    gate->context = context;
    gate->context_nbytes = (char)nbytes;
    gate->leave_takes_place = (char)takes_place;
    gate->is_extended = (char)is_extended;
    gate->launch = (void *)(uintptr_t)launch;
    Py_RETURN_NONE;
}

static PyObject *gate_set_and_enqueue(PyObject *self, PyObject *arguments)
{
    IN_CORE;
    Gate *gate = (Gate *)self;
    unsigned long long set_argument, set_pointer, enqueue, flush, enqueue_recorded, ask_recorded;
    unsigned flush_every;
    PyObject *memory;
    if (!PyArg_ParseTuple(arguments, "KKKKIOKK", &set_argument, &set_pointer, &enqueue, &flush, &flush_every, &memory,
                          &enqueue_recorded, &ask_recorded))
        return NULL;
    if (!set_argument || !enqueue || !flush || !flush_every || (memory == Py_None) == !set_pointer ||
        (memory != Py_None && !PyDict_CheckExact(memory))) {
        PyErr_SetString(PyExc_ValueError, "the addresses of the calls, and memory objects in a dict or a call for addresses");
        return NULL;
    }
    gate->set_argument = (void *)(uintptr_t)set_argument;
    gate->set_pointer = (void *)(uintptr_t)set_pointer;
    gate->flush = (void *)(uintptr_t)flush;
    gate->flush_every = flush_every;
    gate->enqueue_recorded = (void *)(uintptr_t)enqueue_recorded;
    gate->ask_recorded = (void *)(uintptr_t)ask_recorded;
    Py_XSETREF(gate->memory, memory == Py_None ? NULL : Py_NewRef(memory));
    gate->enqueue = (void *)(uintptr_t)enqueue;
    Py_RETURN_NONE;
}

static PyObject *gate_default(PyObject *self, PyObject *lane)
{
    IN_CORE;
    Gate *gate = (Gate *)self;
    if (!PyObject_TypeCheck(lane, &LaneState_Type)) {
        PyErr_SetString(PyExc_TypeError, "a lane is wanted");
        return NULL;
    }
    Py_XSETREF(gate->default_lane, (LaneState *)Py_NewRef(lane));
    Py_RETURN_NONE;
}

static int gate_traverse(Gate *self, visitproc visit, void *arg)
{
    Py_VISIT(self->ledger);
    Py_VISIT(self->dropped);
    Py_VISIT(self->deferred);
    Py_VISIT(self->waiting);
    Py_VISIT(self->links);
    Py_VISIT(self->progress);
    Py_VISIT(self->default_lane);
    Py_VISIT(self->keeper);
    Py_VISIT(self->memory);
    for (int at = 0; at < KNOWN_SHAPES; at++) Py_VISIT(self->shapes[at].geometry);
    return 0;
}

static int gate_clear(Gate *self)
{
    self->closed |= READY;
    Py_CLEAR(self->ledger);
    Py_CLEAR(self->dropped);
    Py_CLEAR(self->deferred);
    Py_CLEAR(self->waiting);
    Py_CLEAR(self->links);
    Py_CLEAR(self->progress);
    Py_CLEAR(self->default_lane);
    Py_CLEAR(self->keeper);
    Py_CLEAR(self->memory);
    for (int at = 0; at < KNOWN_SHAPES; at++) Py_CLEAR(self->shapes[at].geometry);
    return 0;
}

static void gate_dealloc(Gate *self)
{
    PyObject_GC_UnTrack(self);
    gate_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *gate_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    Gate *self = (Gate *)type->tp_alloc(type, 0);
    if (self) self->closed = READY;
    return (PyObject *)self;
}

static PyMethodDef gate_methods[] = {
    {"count_from", gate_count_from, METH_O, "Let this be the number of the next launch."},
    {"shut", gate_shut, METH_VARARGS, "Shut or open the gate for one reason, which is a bit from 2 on."},
    {"watch", gate_watch, METH_VARARGS, "What is looked at before each launch: memory that waits to be given back."},
    {"limit", gate_limit, METH_VARARGS, "The device's limits on a grid, and which pointers it takes."},
    {"use_by_default", gate_default, METH_O, "The stream of launches that name none."},
    {"submit", gate_submit, METH_O, "Have the targets of the backend behind this weak reference make its launches."},
    {"set_and_enqueue", gate_set_and_enqueue, METH_VARARGS,
     "The addresses of the calls of a driver whose kernel objects hold their arguments."},
    {"call", gate_call, METH_VARARGS, "The addresses of the driver's calls, and the context that launches need."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef gate_members[] = {
    {"shut_for", T_UINT, offsetof(Gate, closed), READONLY, "The reasons for which it is shut."},
    {"native_count", T_LONGLONG, offsetof(Gate, native_count), READONLY, "How many launches were made natively."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject Gate_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.Gate",
    .tp_doc = "What stands between a launch and the driver of one backend; an iterator over the numbers of launches.",
    .tp_basicsize = sizeof(Gate),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = gate_new,
    .tp_dealloc = (destructor)gate_dealloc,
    .tp_traverse = (traverseproc)gate_traverse,
    .tp_clear = (inquiry)gate_clear,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = gate_next,
    .tp_methods = gate_methods,
    .tp_members = gate_members,
};

int gate_setup(PyObject *module) { return PyModule_AddType(module, &Gate_Type); }
