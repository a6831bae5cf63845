/* A driver whose kernel objects hold their arguments (OpenCL): one object for each thread, set and queued by address.
 *
 * What was set on an object stays set. Values that are the same again are not set again; addresses are, for memory may be
 * given back and come again as other memory at the same address.
 */
#include "core.h"

#include <string.h>

typedef int set_argument_function(void *kernel, uint32_t index, size_t nbytes, const void *value);
typedef int set_pointer_function(void *kernel, uint32_t index, const void *address);
typedef int enqueue_function(void *queue, void *kernel, uint32_t dimensions, const size_t *offset, const size_t *total,
                             const size_t *block, uint32_t wait_count, const void *waits, void *event);
typedef int flush_function(void *queue);
typedef int enqueue_recorded_function(uint32_t queue_count, void *const *queues, void *command_buffer,
                                      uint32_t wait_count, const void *waits, void *event);
typedef int ask_recorded_function(void *command_buffer, uint32_t what, size_t nbytes, void *answer, size_t *needed);

/* One thread's kernel object, and what was set on it last. */
typedef struct {
    PyObject_HEAD
    PyObject *keeper; /* whoever lets go of the object */
    void *kernel;
    uint64_t thread;
    bool is_set; /* all of what follows is */
    uint32_t shared_mem;
    unsigned char values[];
} Bound;

#define MOST_BOUND 16 /* threads whose objects are kept; others' are made anew */

struct KernelForm {
    PyObject *make;    /* () -> (address of a kernel object, whoever keeps it) */
    int32_t shared_at; /* the parameter that shared memory is; -1: there is none */
    uint32_t latest, next;
    Bound *bounds[MOST_BOUND];
    uint16_t indices[]; /* the parameter of each argument */
};

static void bound_dealloc(Bound *self)
{
    Py_XDECREF(self->keeper);
    PyObject_Free(self);
}

static PyTypeObject Bound_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.Bound",
    .tp_basicsize = sizeof(Bound),
    .tp_itemsize = 1,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)bound_dealloc,
};

/* ---------------------------------------------------------------- the form of a plan */

/* `(indices, shared index or -1, make)`; NULL with an exception. */
static KernelForm *kernel_form_new(PyObject *form, uint32_t count)
{
    PyObject *indices, *make;
    int shared_at;
    if (!PyArg_ParseTuple(form, "O!iO", &PyTuple_Type, &indices, &shared_at, &make)) return NULL;
    if (PyTuple_GET_SIZE(indices) != (Py_ssize_t)count) {
        PyErr_SetString(PyExc_ValueError, "one parameter for each argument");
        return NULL;
    }
    KernelForm *self = PyMem_Calloc(1, sizeof(KernelForm) + (count + 1) * sizeof(uint16_t));
    if (!self) return (KernelForm *)PyErr_NoMemory();
    for (uint32_t at = 0; at < count; at++) {
        unsigned long index = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(indices, at));
        if (index > UINT16_MAX) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "no parameter has such a number");
            PyMem_Free(self);
            return NULL;
        }
        self->indices[at] = (uint16_t)index;
    }
    self->shared_at = shared_at;
    self->make = Py_NewRef(make);
    return self;
}

static void kernel_form_clear(KernelForm *self)
{
    Py_CLEAR(self->make);
    for (int at = 0; at < MOST_BOUND; at++) Py_CLEAR(self->bounds[at]);
}

static void kernel_form_free(KernelForm *self)
{
    kernel_form_clear(self);
    PyMem_Free(self);
}

/* This thread's object for a plan; a new reference, NULL with an exception. */
static Bound *bound_of(const Plan *plan)
{
    KernelForm *form = plan->form;
    uint64_t thread = PyThreadState_Get()->id;
    Bound *bound = form->bounds[form->latest];
    if (LIKELY(bound && bound->thread == thread)) return (Bound *)Py_NewRef(bound);
    for (uint32_t at = 0; at < MOST_BOUND && form->bounds[at]; at++) {
        if (form->bounds[at]->thread != thread) continue;
        form->latest = at;
        return (Bound *)Py_NewRef(form->bounds[at]);
    }
    PyObject *make = form->make, *made, *keeper;
    if (!make) {
        PyErr_SetString(PyExc_RuntimeError, "a plan that was let go of");
        return NULL;
    }
    if (!(made = PyObject_CallNoArgs(make))) return NULL;
    unsigned long long kernel;
    bound = PyArg_ParseTuple(made, "KO", &kernel, &keeper) ? PyObject_NewVar(Bound, &Bound_Type, plan->nbytes + 8) : NULL;
    if (bound) {
        bound->kernel = (void *)(uintptr_t)kernel;
        bound->keeper = Py_NewRef(keeper);
        bound->thread = thread;
        bound->is_set = false;
        bound->shared_mem = 0;
        /* The oldest goes; a thread that uses it now holds it. */
        uint32_t at = form->next;
        form->next = (at + 1) % MOST_BOUND;
        form->latest = at;
        Py_XSETREF(form->bounds[at], (Bound *)Py_NewRef(bound));
    }
    Py_DECREF(made);
    return bound;
}

/* ---------------------------------------------------------------- one launch */

/* Python changes this dict at any time. A new reference; NULL with or without an exception. */
static PyObject *item_of(PyObject *dict, PyObject *key)
{
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *item;
    return PyDict_GetItemRef(dict, key, &item) < 0 ? NULL : item;
#else
    return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

/* Where pointers are memory objects: the handles of all that a launch names. False: one is not known by its address. */
static bool find_handles(Gate *gate, const Plan *plan, const unsigned char *image, uint64_t *handles)
{
    for (uint32_t at = 0; at < plan->count; at++) {
        if (plan->codes[at] < CODE_POINTER) continue;
        uint64_t address;
        memcpy(&address, image + plan->offsets[at], 8);
        handles[at] = 0;
        if (!address) continue;
        PyObject *key = PyLong_FromUnsignedLongLong(address);
        PyObject *handle = key ? item_of(gate->memory, key) : NULL;
        Py_XDECREF(key);
        bool is_known = handle != NULL;
        if (handle) handles[at] = PyLong_AsUnsignedLongLong(handle);
        Py_XDECREF(handle);
        if (!is_known || (handles[at] == (uint64_t)-1 && PyErr_Occurred())) {
            PyErr_Clear();
            return false;
        }
    }
    return true;
}

/* Sets what is not set already. Without the interpreter lock: nobody but this thread uses the object. */
static int set_arguments(const Gate *gate, const Plan *plan, Bound *bound, const unsigned char *image,
                         const uint64_t *handles, uint32_t shared_mem)
{
    const KernelForm *form = plan->form;
    set_argument_function *set_argument = (set_argument_function *)gate->set_argument;
    set_pointer_function *set_pointer = (set_pointer_function *)gate->set_pointer;
    bool is_set = bound->is_set;
    int code = 0;
    bound->is_set = false;
    if (form->shared_at >= 0 && (!is_set || bound->shared_mem != shared_mem))
        code = set_argument(bound->kernel, (uint32_t)form->shared_at, shared_mem, NULL);
    for (uint32_t at = 0; at < plan->count && !code; at++) {
        const unsigned char *place = image + plan->offsets[at];
        uint8_t nbytes = code_nbytes[plan->codes[at]];
        if (plan->codes[at] >= CODE_POINTER && set_pointer) {
            uint64_t address;
            memcpy(&address, place, 8);
            code = set_pointer(bound->kernel, form->indices[at], (const void *)(uintptr_t)address);
        } else if (is_set && !memcmp(bound->values + plan->offsets[at], place, nbytes)) {
            continue;
        } else if (plan->codes[at] >= CODE_POINTER) {
            code = set_argument(bound->kernel, form->indices[at], sizeof(void *), &handles[at]);
        } else {
            code = set_argument(bound->kernel, form->indices[at], nbytes, place);
        }
        if (!code) memcpy(bound->values + plan->offsets[at], place, nbytes);
    }
    if (code) return code;
    bound->shared_mem = shared_mem;
    bound->is_set = true;
    return 0;
}

static inline int enqueue_bound(const Gate *gate, const LaneState *lane, const Bound *bound, const Extents *e)
{
    size_t total[3], block[3];
    for (int axis = 0; axis < 3; axis++) {
        block[axis] = e->block[axis];
        total[axis] = (size_t)e->grid[axis] * e->block[axis];
    }
    return ((enqueue_function *)gate->enqueue)((void *)(uintptr_t)lane->raw, bound->kernel, 3, NULL, total, block, 0, NULL,
                                               NULL);
}

/* Every so often what is queued is sent; the first launch after a wait at once, so that the device starts. */
static inline void flush_at_times(const Gate *gate, const LaneState *lane)
{
    if (lane->counts[1] % gate->flush_every == 0) ((flush_function *)gate->flush)((void *)(uintptr_t)lane->raw);
    lane->counts[0]++;
    lane->counts[1]++;
}

/* Asks the driver for a launch that stands in the books already; `kind` is NOT_ENTERED where it was not asked at all. */
static __attribute__((noinline)) int call_kernel_object(Gate *gate, LaneState *lane, const Plan *plan, const Extents *e,
                                                        const unsigned char *image, enum answer_kind *kind)
{
    uint64_t handles[MOST_ARGUMENTS];
    *kind = NOT_ENTERED;
    if (gate->memory && !find_handles(gate, plan, image, handles)) return -1;
    Bound *bound = bound_of(plan);
    if (!bound) {
        PyErr_Clear(); /* Python meets the same */
        return -1;
    }
    PyThreadState *thread = PyEval_SaveThread();
    int code = set_arguments(gate, plan, bound, image, handles, e->shared_mem);
    if (LIKELY(!code)) {
        code = enqueue_bound(gate, lane, bound, e);
        *kind = code ? REFUSED : NO_ANSWER;
        if (LIKELY(!code)) flush_at_times(gate, lane);
    }
    PyEval_RestoreThread(thread);
    Py_DECREF(bound);
    return code;
}

/* ---------------------------------------------------------------- launches that the driver has recorded */

/* The numbers that are shared with the driver, which sets the address to 0 when it may be queued no more. */
enum { RECORDED_ADDRESS, RECORDED_CALLS, RECORDED_QUEUE, RECORDED_NUMBERS };

#define ANY_QUEUE 0
#define QUEUE_OF_FIRST_USE UINT64_MAX

#define COMMAND_BUFFER_STATE 0x1297 /* CL_COMMAND_BUFFER_STATE_KHR */
#define EXECUTABLE 1u               /* CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR */

/* A command buffer with all launches of a sequence. */
typedef struct {
    PyObject_HEAD
    PyObject *keeper; /* whoever lets go of it */
    Py_buffer shared;
    uint64_t *use;
} Recorded;

static void recorded_dealloc(Recorded *self)
{
    if (self->use) PyBuffer_Release(&self->shared);
    Py_XDECREF(self->keeper);
    PyObject_Free(self);
}

static PyTypeObject Recorded_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metrale_gpu_runtime.native._core.Recorded",
    .tp_basicsize = sizeof(Recorded),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)recorded_dealloc,
};

static Recorded *recorded_new(PyObject *use, PyObject *keeper)
{
    Recorded *self = PyObject_New(Recorded, &Recorded_Type);
    if (!self) return NULL;
    self->use = NULL;
    self->keeper = Py_NewRef(keeper);
    if (PyObject_GetBuffer(use, &self->shared, PyBUF_WRITABLE | PyBUF_FORMAT) < 0) goto failed;
    self->use = self->shared.buf;
    if (self->shared.itemsize == 8 && self->shared.len == RECORDED_NUMBERS * 8) return self;
    PyErr_SetString(PyExc_ValueError, "three 64-bit numbers are wanted");
failed:
    Py_DECREF(self);
    return NULL;
}

/* Queues what was recorded. False: it was not, and each launch is to be made; `is_over` then is set where that is so
 * from now on. The caller holds `recorded`. */
static bool enqueue_recorded(Gate *gate, LaneState *lane, Recorded *recorded, uint32_t count, bool *is_over)
{
    uint64_t *use = recorded->use;
    void *queue = (void *)(uintptr_t)lane->raw, *buffer = (void *)(uintptr_t)use[RECORDED_ADDRESS];
    *is_over = !buffer || !gate->enqueue_recorded;
    if (*is_over) return false;
    if (use[RECORDED_QUEUE] == QUEUE_OF_FIRST_USE) use[RECORDED_QUEUE] = lane->raw;
    if (use[RECORDED_QUEUE] != ANY_QUEUE && use[RECORDED_QUEUE] != lane->raw) return false;
    use[RECORDED_CALLS]++;
    PyThreadState *thread = PyEval_SaveThread();
    uint32_t state = EXECUTABLE;
    int code = 0;
    if (gate->ask_recorded)
        code = ((ask_recorded_function *)gate->ask_recorded)(buffer, COMMAND_BUFFER_STATE, sizeof state, &state, NULL);
    bool is_made = !code && state == EXECUTABLE;
    if (is_made) {
        code = ((enqueue_recorded_function *)gate->enqueue_recorded)(1, &queue, buffer, 0, NULL, NULL);
        is_made = !code;
    }
    if (is_made) {
        /* Sent when one of the launches would be. */
        uint64_t into = lane->counts[1] % gate->flush_every;
        if (!into || into + count > gate->flush_every) ((flush_function *)gate->flush)(queue);
        lane->counts[0] += count;
        lane->counts[1] += count;
    }
    PyEval_RestoreThread(thread);
    use[RECORDED_CALLS]--;
    *is_over = code || !use[RECORDED_ADDRESS];
    return is_made;
}

static int kernel_objects_setup(PyObject *module)
{
    (void)module;
    return PyType_Ready(&Bound_Type) < 0 ? -1 : PyType_Ready(&Recorded_Type);
}
