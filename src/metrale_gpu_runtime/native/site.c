/* Whose line made a launch: the code object and the instruction, from which the line is worked out only when asked. */
#include "core.h"

#include <string.h>

/* CPython makes a frame object only for whoever asks, which costs as much as the launch: its own frame is read. */
#if PY_VERSION_HEX < 0x030c0000
#define Py_BUILD_CORE 1
#include <internal/pycore_frame.h>
#undef _PyGC_FINALIZED /* which the next one defines anew */
#include <internal/pycore_pystate.h>
#undef Py_BUILD_CORE
typedef _PyInterpreterFrame InterpreterFrame;
static inline PyThreadState *current_thread(void) { return _PyThreadState_GET(); }
#else
static inline PyThreadState *current_thread(void) { return PyThreadState_Get(); }
typedef struct _PyInterpreterFrame InterpreterFrame;
#endif

static PyObject *package, *callers; /* folders, each with its separator: the package, and in it who is a caller */

static bool starts_with(PyObject *text, PyObject *start)
{
    return PyUnicode_Tailmatch(text, start, 0, PY_SSIZE_T_MAX, -1) == 1;
}

/* Whether this code is the package's own. Almost always it is not, and the first differing character says so. */
static bool is_inside(PyCodeObject *code)
{
    PyObject *name = code->co_filename;
    if (!package) return false;
    Py_ssize_t length = PyUnicode_GET_LENGTH(package);
    if (PyUnicode_GET_LENGTH(name) < length) return false;
    if (PyUnicode_IS_COMPACT_ASCII(name) && PyUnicode_IS_COMPACT_ASCII(package)) {
        const char *here = (const char *)PyUnicode_1BYTE_DATA(name), *there = (const char *)PyUnicode_1BYTE_DATA(package);
        if (here[length - 2] != there[length - 2] || memcmp(here, there, (size_t)length)) return false;
    } else if (!starts_with(name, package)) {
        return false;
    }
    return !starts_with(name, callers);
}

static PyCodeObject *slow_caller_code(PyThreadState *thread, int *instruction)
{
    PyFrameObject *frame = PyThreadState_GetFrame(thread);
    while (frame) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        PyFrameObject *back = is_inside(code) ? PyFrame_GetBack(frame) : NULL;
        if (!back) {
            bool is_found = !is_inside(code);
            *instruction = PyFrame_GetLasti(frame);
            Py_DECREF(frame);
            if (is_found) return code;
            Py_DECREF(code);
            return NULL;
        }
        Py_DECREF(code);
        Py_DECREF(frame);
        frame = back;
    }
    return NULL;
}

static inline InterpreterFrame *current_frame(PyThreadState *thread)
{
#if PY_VERSION_HEX < 0x030d0000
    return thread->cframe->current_frame;
#else
    return thread->current_frame;
#endif
}

/* A frame's code, borrowed: the frame holds it. What CPython runs without any is no code object. */
static inline PyObject *code_of_frame(InterpreterFrame *frame)
{
#if PY_VERSION_HEX < 0x030c0000
    return (PyObject *)frame->f_code;
#else
    PyObject *code = PyUnstable_InterpreterFrame_GetCode(frame);
    Py_DECREF(code);
    return code;
#endif
}

static inline int instruction_of_frame(InterpreterFrame *frame)
{
#if PY_VERSION_HEX < 0x030c0000
    return _PyInterpreterFrame_LASTI(frame) * (int)sizeof(_Py_CODEUNIT);
#else
    return PyUnstable_InterpreterFrame_GetLasti(frame);
#endif
}

static PyCodeObject *latest_caller; /* held: the code that was found last not to be the package's own */

/* The caller's code and instruction; a new reference or NULL. */
static PyCodeObject *caller_code(PyThreadState *thread, int *instruction)
{
    InterpreterFrame *frame = current_frame(thread);
    if (LIKELY(frame != NULL)) {
        PyObject *object = code_of_frame(frame);
        PyCodeObject *code = (PyCodeObject *)object;
        if (UNLIKELY(code != latest_caller)) {
            if (!PyCode_Check(object) || is_inside(code)) return slow_caller_code(thread, instruction);
            Py_XSETREF(latest_caller, (PyCodeObject *)Py_NewRef(code));
        }
        *instruction = instruction_of_frame(frame);
        return (PyCodeObject *)Py_NewRef(code);
    }
    return slow_caller_code(thread, instruction);
}

/* Whether a record that was used before has the same caller again; only the instruction is another one then. */
static inline bool is_caller_again(Record *record, PyThreadState *thread)
{
    InterpreterFrame *frame = current_frame(thread);
    if (UNLIKELY(!frame || !record->code || code_of_frame(frame) != (PyObject *)record->code)) return false;
    record->instruction = instruction_of_frame(frame);
    return true;
}

static PyObject *know_package(PyObject *self, PyObject *arguments)
{
    PyObject *folder, *inside;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "UU", &folder, &inside)) return NULL;
    Py_XSETREF(package, Py_NewRef(folder));
    Py_XSETREF(callers, Py_NewRef(inside));
    Py_RETURN_NONE;
}

static PyMethodDef site_functions[] = {
    {"know_package", know_package, METH_VARARGS, "Tell the package's folder, and the folder in it that is a caller."},
    {NULL, NULL, 0, NULL},
};

int site_setup(PyObject *module) { return PyModule_AddFunctions(module, site_functions); }
