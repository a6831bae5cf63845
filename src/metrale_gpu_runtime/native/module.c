/* The extension module: its types, and the switches that only a module can have. */
#include "core.h"

#ifdef Py_GIL_DISABLED
PyObject *core_guard;
#endif

/* One translation unit: a launch goes through all of these rooms, and costs what their calls of each other would. */
#include "site.c"
#include "books.c"
#include "encode.c"
#include "gate.c"
#include "kernel_objects.c"
#include "launch.c"
#include "prepared.c"
#include "configured.c"
#include "builder.c"
#include "sequence.c"

/* A class on one of the bases is called as directly as the base: CPython does this by itself from 3.12 on, for classes
 * that do not replace __call__. Ours do not. */
static PyObject *call_directly(PyObject *self, PyObject *object)
{
    (void)self;
    if (!PyType_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "a class is wanted");
        return NULL;
    }
    PyTypeObject *type = (PyTypeObject *)object, *base = type->tp_base;
    if (!base || !(base->tp_flags & Py_TPFLAGS_HAVE_VECTORCALL) || type->tp_call != base->tp_call) {
        PyErr_SetString(PyExc_TypeError, "no class on a base that is called directly, or it has a __call__ of its own");
        return NULL;
    }
    type->tp_vectorcall_offset = base->tp_vectorcall_offset;
    type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyType_Modified(type);
    return Py_NewRef(object);
}

/* The types are static and the classes of the package are known once: another interpreter would take them over. */
static bool is_served(void) { return PyInterpreterState_Get() == PyInterpreterState_Main(); }

static PyObject *is_usable_here(PyObject *self, PyObject *ignored)
{
    (void)self;
    (void)ignored;
    return PyBool_FromLong(is_served());
}

#ifdef Py_GIL_DISABLED
/* Who forks has the core's lock meanwhile: in the child nobody else would be there to let go of it, nor to finish what it
 * had begun. */
static _Thread_local Entry forking;

static PyObject *before_fork(PyObject *self, PyObject *ignored)
{
    (void)self;
    (void)ignored;
    core_enter(&forking);
    Py_RETURN_NONE;
}

static PyObject *after_fork(PyObject *self, PyObject *ignored)
{
    (void)self;
    (void)ignored;
    core_leave(&forking);
    Py_RETURN_NONE;
}
#endif

static PyMethodDef functions[] = {
#ifdef Py_GIL_DISABLED
    {"before_fork", before_fork, METH_NOARGS, "Take the core's lock for a fork."},
    {"after_fork", after_fork, METH_NOARGS, "Give it back, in the parent and in the child."},
#endif
    {"is_usable_here", is_usable_here, METH_NOARGS, "Whether this is the interpreter of the process that the core serves."},
    {"call_directly", call_directly, METH_O, "Let a class on a base of this module be called without packing."},
    {NULL, NULL, 0, NULL},
};

/* In any other interpreter than the one it serves the module is empty but for its answer to `is_usable_here`. */
static int fill(PyObject *module)
{
    if (!is_served()) return 0;
#ifdef Py_GIL_DISABLED
    if (!core_guard && !(core_guard = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type))) return -1;
#endif
    int (*const rooms[])(PyObject *) = {books_setup,  encode_setup,   gate_setup,       kernel_objects_setup, launch_setup,
                                        site_setup,   prepared_setup, configured_setup, builder_setup,        sequence_setup};
    for (size_t at = 0; at < sizeof rooms / sizeof *rooms; at++)
        if (rooms[at](module) < 0) return -1;
    return 0;
}

/* Without the interpreter lock the core's own guards the books. An interpreter with a lock of its own may load it, because
 * it gets nothing. */
static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "metrale_gpu_runtime.native._core",
    .m_doc = "The native launch core.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
