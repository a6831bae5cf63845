/* The extension module: its types, and the switches that only a module can have. */
#include "core.h"

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
static PyObject *is_usable_here(PyObject *self, PyObject *ignored)
{
    (void)self;
    (void)ignored;
    return PyBool_FromLong(PyInterpreterState_Get() == PyInterpreterState_Main());
}

static PyMethodDef functions[] = {
    {"is_usable_here", is_usable_here, METH_NOARGS, "Whether this is the interpreter of the process that the core serves."},
    {"call_directly", call_directly, METH_O, "Let a class on a base of this module be called without packing."},
    {NULL, NULL, 0, NULL},
};

/* Not declared free of the interpreter lock: the books here are guarded by it. A free-threaded interpreter takes it
 * up again when this is imported. One interpreter a process: the types are static. */
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "metrale_gpu_runtime.native._core",
    .m_doc = "The native launch core.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    int (*const rooms[])(PyObject *) = {books_setup,  encode_setup,   gate_setup,       kernel_objects_setup, launch_setup,
                                        site_setup,   prepared_setup, configured_setup, builder_setup,        sequence_setup};
    for (size_t at = 0; at < sizeof rooms / sizeof *rooms; at++) {
        if (rooms[at](module) < 0) {
            Py_DECREF(module);
            return NULL;
        }
    }
    return module;
}
