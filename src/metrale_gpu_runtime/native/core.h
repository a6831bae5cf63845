/* The launch core: what its rooms share.
 *
 * One rule keeps it right: the core either carries a launch out whole, or does nothing and hands the very same call to
 * the plain Python code. So it only has to be right about what it accepts; every refusal is worded in Python.
 *
 * All state here is guarded by the interpreter lock, which is let go of only around the driver's calls and while a lock
 * is waited for. A stream's own lock, held meanwhile, keeps its launches in order. Where an interpreter has no such lock
 * the core has one of its own, in its place (IN_CORE): whatever Python calls takes it first.
 */
#ifndef METRALE_CORE_H
#define METRALE_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <stdbool.h>
#include <stdint.h>

#define MOST_ARGUMENTS 128
#define MOST_NBYTES 2048 /* of a parameter block; the limit that is safe on any driver is 4096 */
#define BLOCK_ALIGNMENT 128
#define LARGEST_READ 16 /* what reading a value may write: it may be of another type than the one that is wanted */
#define RING_LENGTH 64

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* For what a constant argument makes small. */
#define INLINE static inline __attribute__((always_inline))

/* What became of a call: done, not touched at all (Python takes it), or failed with a Python exception set. */
typedef enum { DONE = 0, PYTHON = 1, FAILED = -1 } outcome;

/* ---------------------------------------------------------------- the core's own lock */

/* A critical section of CPython's on one object: like the interpreter lock it is let go of whenever its thread lets go of
 * its state (a driver's call, a wait), and taken again with it. Stands first in every function that Python calls, but for
 * those that make, walk or end an object, which nobody else has then. */
#ifdef Py_GIL_DISABLED
typedef PyCriticalSection Section;
extern PyObject *core_guard; /* whose lock it is */

/* This thread's section, if it holds the lock and has taken nothing later that it would have to give back first. */
static inline Section *current_section(void)
{
    uintptr_t latest = PyThreadState_Get()->critical_section;
    Section *section = latest & 3 ? NULL : (Section *)latest;
    return section && section->_cs_mutex == &core_guard->ob_mutex ? section : NULL;
}

typedef struct {
    Section section;
    bool is_own; /* false: the one around it holds the lock */
} Entry;

static inline void core_enter(Entry *entry)
{
    entry->is_own = !current_section();
    if (entry->is_own) PyCriticalSection_Begin(&entry->section, core_guard);
}

static inline void core_leave(Entry *entry)
{
    if (entry->is_own) PyCriticalSection_End(&entry->section);
}

#define IN_CORE                                         \
    __attribute__((cleanup(core_leave))) Entry in_core; \
    core_enter(&in_core)

/* Around what is Python's to do: other threads' launches need not wait for it. NULL where it is not held. */
static inline Section *core_pause(void)
{
    Section *section = current_section();
    if (section) PyCriticalSection_End(section);
    return section;
}

static inline void core_resume(Section *section)
{
    if (section) PyCriticalSection_Begin(section, core_guard);
}
#else
#define IN_CORE ((void)0)
typedef void Section;
static inline Section *core_pause(void) { return NULL; }
static inline void core_resume(Section *section) { (void)section; }
#endif

/* ---------------------------------------------------------------- values (encode.c) */

/* What an argument is, in one byte: equal lists of codes are laid out and checked alike. */
enum code {
    CODE_NONE = 0, /* nothing native: Python reads it */
    CODE_U8, CODE_U16, CODE_U32, CODE_U64,
    CODE_I8, CODE_I16, CODE_I32, CODE_I64,
    CODE_F16, CODE_BF16, CODE_F32, CODE_F64,
    CODE_BOOL, CODE_C64, CODE_C128,
    CODE_COUNT,
    /* An integer whose sign nobody knows: it fits both readings. */
    CODE_INT8 = 24, CODE_INT16, CODE_INT32, CODE_INT64,
    /* A pointer; 32 + the code of its elements, 32 for an untyped one. */
    CODE_POINTER = 32,
    CODE_END = CODE_POINTER + CODE_COUNT,
};

typedef struct BlockState BlockState;
typedef struct Gate Gate;

extern const uint8_t code_nbytes[CODE_END];

int encode_setup(PyObject *module);

/* Classes of the package that the core knows by their exact type, and where their slots lie. */
extern struct known_classes {
    PyTypeObject *scalar, *device_pointer, *device_buffer, *allocation, *stream, *birth, *configured, *builder,
        *kernel;
    Py_ssize_t scalar_type, scalar_data, stream_lane, stream_gpu, birth_lane;
    PyObject *types[CODE_COUNT]; /* the ScalarType of a code */
} known;

#define SLOT_AT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

/* ---------------------------------------------------------------- books (books.c) */

/* A recursive lock that costs nothing to speak of while nobody else wants it. */
typedef struct {
    PyObject_HEAD
    PyThreadState *owner; /* NULL: free */
    long again, waiting;  /* how many times more its owner has taken it, and how many threads wait */
    bool is_posted;
    PyThread_type_lock wake;
} Lock;

/* CUlaunchConfig as cuda.h lays it out, without attributes: all that a driver is told beside a kernel and its arguments. */
typedef struct {
    uint32_t grid[3], block[3], shared_mem;
    void *stream, *attributes;
    uint32_t attribute_count;
} LaunchConfig;

/* A launch as it is remembered: enough to name it, nothing that keeps memory alive. */
typedef struct Record {
    PyObject_HEAD
    int64_t stream, sequence, ordinal;
    PyObject *facts; /* LaunchFacts: the words for what the numbers here are */
    PyCodeObject *code; /* whose line made it, or `site`, the text itself */
    PyObject *site;
    int instruction; /* its offset in bytes */
    bool rejected;
    LaunchConfig config; /* which the driver reads here */
    uint64_t origin; /* the serial of the prepared launch that it is one of, and differs from in nothing but numbers; or 0 */
    uint32_t nbytes;
    unsigned char *image;
    unsigned char small[136];
} Record;

/* The last launches of a stream, oldest first. Entries are Records and what Python puts there. */
typedef struct {
    PyObject_HEAD
    uint32_t start, count;
    PyObject *entries[RING_LENGTH];
} Ring;

/* Per stream the last operation that names a block: a mapping for Python, two words an entry here. */
typedef struct {
    int64_t stream;
    PyObject *operation;
} Use;

#define INLINED_USES 2
#define NO_STREAM INT64_MIN /* where there is no use */

typedef struct {
    PyObject_HEAD
    uint32_t count, room; /* how many of the others there may be */
    Use inlined[INLINED_USES]; /* the first ones */
    Use *others;
} Uses;

static inline Use *use_at(Uses *uses, uint32_t at)
{
    return at < INLINED_USES ? &uses->inlined[at] : &uses->others[at - INLINED_USES];
}

typedef struct {
    PyObject_HEAD
    int64_t handle, issued;
    uint64_t raw; /* the driver's own handle */
    uint64_t *counts; /* of a command queue: commands queued, and launches since it was last waited for */
    char is_synchronous, has_raw;
    bool is_plain; /* alive, and nothing is captured on it */
    PyObject *lock, *ring, *gone, *capture;
    Py_buffer counted; /* what holds `counts` */
} LaneState;

struct BlockState {
    PyObject_HEAD
    uint64_t base, nbytes;
    bool is_plain; /* alive, and in its place in every stream's order */
    PyObject *ledger, *gone, *born, *uses, *last_use;
};

typedef struct {
    PyObject_HEAD
    PyObject *block;
} AllocationState;

typedef struct {
    PyObject_HEAD
    uint64_t address;
    PyObject *allocation;
} PointerState;

typedef struct {
    PyObject_HEAD
    uint64_t address, nbytes;
    PyObject *allocation, *scalar;
} BufferState;

typedef struct {
    PyObject_HEAD
    int64_t count, seen;
} ProgressState;

extern PyTypeObject Lock_Type, Record_Type, Ring_Type, Uses_Type, LaneState_Type, BlockState_Type, AllocationState_Type,
    PointerState_Type, BufferState_Type, ProgressState_Type;

int books_setup(PyObject *module);
Record *record_new(void);
void ring_take_back(Ring *ring, PyObject *entry);

static inline bool lock_take(Lock *lock, PyThreadState *me)
{
    extern int lock_wait(Lock *, PyThreadState *);
    if (LIKELY(!lock->owner)) {
        lock->owner = me;
        return true;
    }
    if (lock->owner == me) {
        lock->again++;
        return true;
    }
    return lock_wait(lock, me) == 0;
}

/* Whether taking it would mean to wait, and to let go of the interpreter lock: what was read before may be gone then. */
static inline bool lock_is_anothers(Lock *lock) { return lock->owner && lock->owner != PyThreadState_Get(); }

static inline void lock_give(Lock *lock)
{
    if (UNLIKELY(lock->again)) {
        lock->again--;
        return;
    }
    lock->owner = NULL;
    if (UNLIKELY(lock->waiting && !lock->is_posted)) {
        lock->is_posted = true;
        PyThread_release_lock(lock->wake);
    }
}

extern PyObject *empty_text; /* of which there is one, nearly always */
static inline bool is_empty_text(PyObject *text) { return LIKELY(text == empty_text) || PyUnicode_GET_LENGTH(text) == 0; }

static inline bool is_alive(BlockState *block) { return block->gone && is_empty_text(block->gone); }

/* Whether work on this stream may name it at once. */
static inline bool is_usable(BlockState *block, LaneState *lane)
{
    if (LIKELY(block->is_plain)) return true;
    /* Born in another stream's order, it has to be waited for. */
    return is_alive(block) && block->born && Py_TYPE(block->born) == known.birth &&
           SLOT_AT(block->born, known.birth_lane) == (PyObject *)lane;
}

/* ---------------------------------------------------------------- the driver (gate.c) */

typedef int launch_function(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared_mem, void *stream, void **parameters,
                            void **extra);
typedef int launch_extended_function(const LaunchConfig *config, void *kernel, void **parameters, void **extra);
typedef int query_function(void *context); /* writes the thread's current context (or device) */
typedef int enter_function(uint64_t context);
typedef int enter_device_function(int device);

typedef struct {
    uint32_t grid[3], block[3], shared_mem;
} Extents;

/* A shape as Python has it, kept because drivers know the one of the launch before by its identity. */
#define KNOWN_SHAPES 64
typedef struct {
    Extents extents;
    PyObject *geometry;
} KnownShape;

/* What stands between a call and the driver of one backend. */
struct Gate {
    PyObject_HEAD
    uint32_t closed; /* a bit for each thing because of which Python makes every launch */
    int64_t ordinal; /* of the latest launch */
    PyObject *ledger, *dropped, *deferred, *waiting, *links;
    ProgressState *progress;
    LaneState *default_lane; /* where a launch without a stream goes */
    char null_pointers;
    uint32_t max_grid[3];
    uint64_t max_threads_per_launch; /* 0: no limit */
    uint64_t offset_alignment;       /* of an address in its memory; 1: any */
    char aliased_writes;             /* whether memory that a launch writes may be given to it twice */
    /* How the driver is called; `launch` is NULL where there is no native call. */
    void *launch; /* a launch_function, or a launch_extended_function */
    char is_extended;
    query_function *query;
    enter_function *enter, *leave;
    uint64_t context;
    char context_nbytes, leave_takes_place;
    /* A driver without C calls: its targets' `submit` is called, and what that raises is told to the backend, of which
     * this is a weak reference. */
    PyObject *keeper;
    KnownShape shapes[KNOWN_SHAPES];
    /* A driver whose kernel objects hold their arguments (kernel_objects.c); `enqueue` is NULL for any other. */
    void *enqueue, *set_argument, *set_pointer, *flush;
    uint32_t flush_every;
    /* Where it records launches to be queued by one call; `ask_recorded` where that must not be done while they are
     * pending. NULL where not. */
    void *enqueue_recorded, *ask_recorded;
    PyObject *memory; /* memory objects by their first addresses, where pointers are such; or NULL */
    /* Ends a driver call's claim on the thread's state: how many launches were made here, for tests. */
    int64_t native_count;
};

extern PyTypeObject Gate_Type;
int gate_setup(PyObject *module);

/* Whether Python has something to do first. Settled state costs a few loads. */
static inline bool gate_is_open(Gate *gate)
{
    if (UNLIKELY(gate->closed)) return false; /* nothing may be watched yet, or any more */
    if (UNLIKELY(Py_SIZE(gate->dropped) | Py_SIZE(gate->deferred) | PyDict_GET_SIZE(gate->links))) return false;
    return LIKELY(!PyDict_GET_SIZE(gate->waiting)) || gate->progress->seen == gate->progress->count;
}

/* ---------------------------------------------------------------- launches (launch.c) */

typedef struct KernelForm KernelForm;

/* One argument of a plan, as a builder that expects it comes to it. */
typedef struct {
    uint16_t offset;
    uint8_t code;
} Step;
#define CODE_LAST CODE_END        /* behind the last argument of a plan */
#define CODE_NOWHERE (CODE_END + 1) /* what no plan expects */

/* A kernel with one list of argument codes: where each lies, and the driver's function. */
typedef struct {
    PyObject_HEAD
    PyObject *facts, *target;
    uint64_t function;
    uint32_t count, nbytes;
    uint8_t *codes;
    uint16_t *offsets;
    KernelForm *form; /* how its kernel objects are set, where the driver has those; or NULL */
    bool needs_shared_mem; /* dynamic shared memory is one of its parameters */
    Step *steps;     /* the arguments one by one, and a last one that no argument fits */
    uint64_t serial; /* no other plan has had it */
    /* Where one call at a time has its arguments: on the stack they would take as much room as the largest kernel's. */
    bool is_in_use;
    uint32_t block_count;
    unsigned char *bytes;
    void **parameters;
    BlockState **blocks;
    void *memory; /* what these lie in */
} Plan;

typedef struct {
    PyObject_HEAD
    char is_loaded;
} ModuleState;

typedef struct {
    uint32_t block[3], shared_mem;
} Shape;

#define SHAPES 16

typedef struct {
    PyObject_HEAD
    Gate *gate;
    ModuleState *module;
    PyObject *gpu;
    PyObject *specs; /* bytes: the code that a bare number takes in each place; None: nothing known */
    Plan **plans;
    uint32_t plan_count, plan_room, last_plan;
    Shape shapes[SHAPES];
    uint32_t shape_count, shape_next;
    uint32_t allowed_shared_mem;
    bool shares; /* dynamic shared memory is one of its parameters: `specs` are those of a launch that has some */
    PyObject *latest_key, *latest_configured; /* what kernel[…] was asked for the last time, and what it gave */
} KernelState;

extern PyTypeObject Plan_Type, ModuleState_Type, KernelState_Type;
int launch_setup(PyObject *module);

Plan *find_plan(KernelState *kernel, const uint8_t *codes, uint32_t count);

enum answer_kind { NO_ANSWER, REFUSED, NOT_RESTORED, NOT_ENTERED };

/* After Python has made a launch that the core had left to it. */
void forget_answer(void);

int site_setup(PyObject *module);

/* ---------------------------------------------------------------- forms */

int prepared_setup(PyObject *module);
int configured_setup(PyObject *module);
int builder_setup(PyObject *module);

#endif
