/* What a stand-in driver is made of, without any vendor's names: the core below the facades.
 *
 * A facade (cuda.c, hip.c) turns a vendor's entry points into these calls. Each shared library has its own copy of the
 * core and so its own devices, contexts and journal. The return codes are the numbers that both vendors agree on; a
 * facade translates the few that differ.
 *
 * Every entry point of a facade has this form:
 *
 *     struct core_call call;
 *     int code = core_enter(&call, "cuMemAlloc", CORE_NEEDS_CONTEXT | CORE_UNSAFE_IN_CAPTURE);
 *     if (!code) code = core_alloc(&address, nbytes, CORE_MEMORY_DEVICE);
 *     return core_leave(&call, code);
 *
 * core_enter takes the core's lock, core_leave gives it back: every call below is made between the two, unless it says
 * otherwise. Calls that wait give the lock away meanwhile. "The current context" is the one on top of the calling
 * thread's stack. Handles are numbers (kind, generation, slot), never addresses: one that was destroyed is recognised
 * for ever after.
 */
#ifndef STANDIN_CORE_H
#define STANDIN_CORE_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t core_handle;
typedef uint64_t core_address; /* an address of a device; host memory has the same address on all devices */

enum core_code {
    CORE_OK = 0,
    CORE_INVALID_VALUE = 1,
    CORE_OUT_OF_MEMORY = 2,
    CORE_NOT_INITIALIZED = 3,
    CORE_DEINITIALIZED = 4,
    CORE_NO_DEVICE = 100,
    CORE_INVALID_DEVICE = 101,
    CORE_INVALID_IMAGE = 200,
    CORE_INVALID_CONTEXT = 201,
    CORE_NO_BINARY_FOR_GPU = 209,
    CORE_PEER_ACCESS_UNSUPPORTED = 217,
    CORE_INVALID_CODE_TEXT = 218,
    CORE_UNSUPPORTED_CODE_VERSION = 222,
    CORE_FILE_NOT_FOUND = 301,
    CORE_INVALID_HANDLE = 400,
    CORE_ILLEGAL_STATE = 401,
    CORE_NOT_FOUND = 500,
    CORE_NOT_READY = 600,
    CORE_ILLEGAL_ADDRESS = 700,
    CORE_LAUNCH_OUT_OF_RESOURCES = 701,
    CORE_LAUNCH_TIMEOUT = 702,
    CORE_PEER_ACCESS_ALREADY_ENABLED = 704,
    CORE_PEER_ACCESS_NOT_ENABLED = 705,
    CORE_PRIMARY_CONTEXT_ACTIVE = 708,
    CORE_CONTEXT_IS_DESTROYED = 709,
    CORE_ASSERT = 710,
    CORE_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CORE_HOST_MEMORY_NOT_REGISTERED = 713,
    CORE_HARDWARE_STACK_ERROR = 714,
    CORE_ILLEGAL_INSTRUCTION = 715,
    CORE_MISALIGNED_ADDRESS = 716,
    CORE_INVALID_ADDRESS_SPACE = 717,
    CORE_INVALID_PC = 718,
    CORE_LAUNCH_FAILED = 719,
    CORE_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CORE_NOT_PERMITTED = 800,
    CORE_NOT_SUPPORTED = 801,
    CORE_CAPTURE_UNSUPPORTED = 900,
    CORE_CAPTURE_INVALIDATED = 901,
    CORE_CAPTURE_MERGE = 902,
    CORE_CAPTURE_UNMATCHED = 903,
    CORE_CAPTURE_UNJOINED = 904,
    CORE_CAPTURE_ISOLATION = 905,
    CORE_CAPTURE_IMPLICIT = 906,
    CORE_CAPTURED_EVENT = 907,
    CORE_CAPTURE_WRONG_THREAD = 908,
    CORE_GRAPH_UPDATE_FAILURE = 910,
    CORE_INVALID_CLUSTER_SIZE = 912,
    CORE_UNKNOWN = 999,
};

/* ------------------------------------------------ the facade introduces itself */

/* Each library defines exactly one of these. */
struct core_facade {
    const char *vendor;        /* "cuda", "hip": for messages and the journal */
    int driver_version;        /* the default of the setting driver_version */
    int warp_size;             /* the default of the attribute warp_size */
    int major, minor;          /* the default compute capability */
    int default_stream;        /* what stream 0 means: CORE_STREAM_LEGACY or CORE_STREAM_PER_THREAD */
    int initializes_itself;    /* 1: calls need no explicit initialisation (HIP) */
    int per_thread_device;     /* 1: a thread without a current context works on its device's own one (HIP) */
    uint64_t max_launch_threads; /* grid times block, per launch; 0 for no such limit (HIP: 2^32 - 1) */
    const char *architecture;  /* the default of the text setting "architecture" */
    void (*attribute_defaults)(int device); /* may be NULL; calls core_attribute_set for what differs */
};
extern const struct core_facade core_facade;

/* ------------------------------------------------ one call of an entry point */

enum core_needs {
    CORE_NEEDS_NOTHING = 0,        /* works before initialisation and without a context */
    CORE_NEEDS_INIT = 1,           /* 3 before core_initialize */
    CORE_NEEDS_CONTEXT = 2 | 1,    /* 201 without a current context, 709 for a destroyed one, its sticky code if lost */
    CORE_ALLOWS_LOST = 4,          /* with CORE_NEEDS_CONTEXT: goes on in a lost context */
    CORE_UNSAFE_IN_CAPTURE = 8,    /* 900 and the capture is invalid, where capture modes forbid unsafe calls */
    CORE_ALLOWED_IN_CALLBACK = 16, /* else 800 from within a host function */
};

struct core_call {
    const char *name;
    core_handle context;   /* current when the call came */
    core_handle owner;     /* of the handles given; 0 where there was none */
    int owner_matches;     /* 1, 0, or -1 where no handle had an owner */
    int entered;           /* 1 with the lock held */
    struct core_call *outer;
};

/* Begin a call. `name` must be a string literal; versions ("_v2", "_ptsz") are cut off for scripts and the journal.
 * Order of refusals: deinitialised (4), scripted fault, not initialised (3), inside a host function (800), context
 * (201, 709, sticky), capture (900). Also when it returns a code, core_leave must be called. */
int core_enter(struct core_call *call, const char *name, unsigned needs);
/* End it: writes the journal, runs queued work in immediate mode, gives the lock back, returns `code`. */
int core_leave(struct core_call *call, int code);
/* Note that a handle of this context was used; a mismatch with the current one is counted and journalled. */
void core_owned_by(core_handle context);

int core_initialize(void);      /* 100 with no devices */
int core_device_count(void);
int core_is_device(int device); /* 0 or 1 */

/* ------------------------------------------------ settings and attributes (control: no core_enter needed) */

/* Named integers: devices, driver_version, integrated, execution (0 deferred, 1 immediate), global_mutex,
 * driver_thread, occupancy (0: computed), parameter_info (0: an older driver that cannot tell),
 * enumerate_functions, memory_nbytes, ... (core_settings.c has them all). -1 for an unknown name. */
int64_t core_setting(const char *name);
int core_setting_set(const char *name, int64_t value);
const char *core_text(const char *name); /* "architecture", "name" */
int core_text_set(const char *name, const char *value);

enum core_attribute {
    CORE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    CORE_ATTRIBUTE_MAX_BLOCK_DIM_X,
    CORE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
    CORE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
    CORE_ATTRIBUTE_MAX_GRID_DIM_X,
    CORE_ATTRIBUTE_MAX_GRID_DIM_Y,
    CORE_ATTRIBUTE_MAX_GRID_DIM_Z,
    CORE_ATTRIBUTE_MAX_SHARED_PER_BLOCK,
    CORE_ATTRIBUTE_MAX_SHARED_PER_BLOCK_OPTIN,
    CORE_ATTRIBUTE_MAX_SHARED_PER_MULTIPROCESSOR,
    CORE_ATTRIBUTE_RESERVED_SHARED_PER_BLOCK,
    CORE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY,
    CORE_ATTRIBUTE_WARP_SIZE,
    CORE_ATTRIBUTE_MAX_PITCH,
    CORE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
    CORE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
    CORE_ATTRIBUTE_CLOCK_RATE,
    CORE_ATTRIBUTE_MEMORY_CLOCK_RATE,
    CORE_ATTRIBUTE_TEXTURE_ALIGNMENT,
    CORE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    CORE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
    CORE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
    CORE_ATTRIBUTE_L2_CACHE_SIZE,
    CORE_ATTRIBUTE_MEMORY_BUS_WIDTH,
    CORE_ATTRIBUTE_ASYNC_ENGINE_COUNT,
    CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
    CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    CORE_ATTRIBUTE_PCI_BUS_ID,
    CORE_ATTRIBUTE_PCI_DEVICE_ID,
    CORE_ATTRIBUTE_PCI_DOMAIN_ID,
    CORE_ATTRIBUTE_INTEGRATED,
    CORE_ATTRIBUTE_CONCURRENT_KERNELS,
    CORE_ATTRIBUTE_UNIFIED_ADDRESSING,
    CORE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,
    CORE_ATTRIBUTE_MANAGED_MEMORY,
    CORE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
    CORE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
    CORE_ATTRIBUTE_STREAM_PRIORITIES,
    CORE_ATTRIBUTE_COOPERATIVE_LAUNCH,
    CORE_ATTRIBUTE_MEMORY_POOLS,
    CORE_ATTRIBUTE_CLUSTER_LAUNCH,
    CORE_ATTRIBUTE_VIRTUAL_MEMORY,
    CORE_ATTRIBUTE_TENSOR_MAPS,
    CORE_ATTRIBUTE_HOST_REGISTER,
    CORE_ATTRIBUTE_PEER_ACCESS,        /* whether other devices can be peers of this one */
    CORE_ATTRIBUTE_MAX_PARAMETER_NBYTES, /* of a launch */
    CORE_ATTRIBUTE_COMPUTE_MODE,
    CORE_ATTRIBUTE_COUNT
};
int64_t core_attribute(int device, enum core_attribute attribute);
void core_attribute_set(int device, enum core_attribute attribute, int64_t value);
const char *core_attribute_name(enum core_attribute attribute); /* "max_block_dim_x" */

/* ------------------------------------------------ contexts (core_context.c) */

/* The device's primary context; counts. The handle is the same for the life of the process. */
int core_primary_retain(core_handle *out, int device);
int core_primary_release(int device);  /* 201 when not retained; the last one destroys what is in it */
int core_primary_reset(int device);    /* destroys what is in it; a sticky error stays, as documented */
int core_primary_state(int device, unsigned *flags, int *active);
int core_primary_set_flags(int device, unsigned flags);
int core_context_create(core_handle *out, unsigned flags, int device); /* and makes it current */
int core_context_destroy(core_handle context);
core_handle core_current(void);              /* 0 for none */
int core_push(core_handle context);          /* 201 for what is no context */
int core_pop(core_handle *out);              /* 201 on an empty stack */
int core_set_current(core_handle context);   /* replaces the top; 0 pops it */
int core_context_device(core_handle context, int *out);
int core_context_flags(core_handle context, unsigned *out);
int core_context_id(core_handle context, uint64_t *out);
int core_context_synchronize(void);          /* 900 with a capturing stream in it; finds asynchronous faults */
int core_context_error(core_handle context); /* its sticky code or 0 */
int core_can_access_peer(int *out, int device, int peer);
int core_enable_peer(core_handle peer);      /* 217 no peer, 704 already */
int core_disable_peer(core_handle peer);     /* 705 */

/* ------------------------------------------------ memory (core_memory.c) */

enum core_memory_kind {
    CORE_MEMORY_DEVICE = 1,
    CORE_MEMORY_MANAGED = 2,
    CORE_MEMORY_HOST = 3,        /* page-locked, allocated here */
    CORE_MEMORY_REGISTERED = 4,  /* page-locked, the caller's */
    CORE_MEMORY_POOL = 5,        /* stream-ordered */
    CORE_MEMORY_GLOBAL = 6,      /* a module's variable */
    CORE_MEMORY_MAPPED = 7,      /* physical memory behind a reserved address */
};

struct core_memory_info {
    core_address base;
    uint64_t nbytes, id;
    int kind, device;
    core_handle context;
    unsigned flags;
};

int core_alloc(core_address *out, size_t nbytes, enum core_memory_kind kind); /* 1 for 0 bytes, 2 beyond the limit */
int core_alloc_pitch(core_address *out, size_t *pitch, size_t width, size_t height);
int core_free(core_address address);              /* 0 is fine; 1 for what is no allocation's base */
int core_host_alloc(void **out, size_t nbytes, unsigned flags);
int core_host_free(void *pointer);
int core_host_register(void *pointer, size_t nbytes, unsigned flags); /* 712 */
int core_host_unregister(void *pointer);                              /* 713 */
int core_host_device_pointer(core_address *out, void *pointer);
int core_host_flags(unsigned *out, void *pointer);
int core_alloc_async(core_address *out, size_t nbytes, core_handle pool, core_handle stream); /* pool 0: the device's */
int core_free_async(core_address address, core_handle stream);
int core_memory_figures(size_t *available, size_t *total);            /* of the current context's device */
int core_device_memory(int device, size_t *available, size_t *total);
int core_memory_find(core_address address, struct core_memory_info *out); /* 0: none there */

int core_pool_default(core_handle *out, int device);
int core_pool_current(core_handle *out, int device);
int core_pool_set(int device, core_handle pool);
int core_pool_create(core_handle *out, int device);
int core_pool_destroy(core_handle pool);
int core_pool_threshold(core_handle pool, uint64_t *get, const uint64_t *set);
int core_pool_figures(core_handle pool, uint64_t *used, uint64_t *reserved);
int core_pool_trim(core_handle pool, size_t keep);

/* ------------------------------------------------ virtual memory (core_virtual.c) */

#define CORE_GRANULARITY (2u << 20)
int core_address_reserve(core_address *out, size_t nbytes, size_t alignment, core_address hint);
int core_address_free(core_address base, size_t nbytes);
int core_physical_create(core_handle *out, size_t nbytes, int device);
int core_physical_release(core_handle physical);
int core_map(core_address address, size_t nbytes, size_t offset, core_handle physical);
int core_unmap(core_address address, size_t nbytes);
int core_set_access(core_address address, size_t nbytes, int device, int access); /* 0 none, 1 read, 3 read and write */
int core_get_access(core_address address, int device, int *access);

/* ------------------------------------------------ copies and fills (core_copy.c) */

enum core_space { CORE_SPACE_HOST = 1, CORE_SPACE_DEVICE = 2, CORE_SPACE_UNIFIED = 4 };

struct core_copy {
    uint64_t dst, src;                 /* host or device addresses, as the spaces say */
    size_t dst_pitch, src_pitch;       /* bytes from row to row; ignored for height 1 */
    size_t width, height;              /* bytes of a row; rows */
    enum core_space dst_space, src_space; /* UNIFIED: whoever's address it is */
};
/* Queue a copy. Out of the bounds of an allocation: 1 at the call. Pageable sources are read at the call, page-locked
 * ones when the copy runs; a copy to pageable memory is over when this returns. `blocking`: waits for its end. */
int core_copy(const struct core_copy *copy, core_handle stream, int blocking);
/* `height` rows of `count` elements of `width` bytes (1, 2, 4). */
int core_fill(core_address dst, size_t pitch, uint32_t value, unsigned width, size_t count, size_t height,
              core_handle stream);

/* ------------------------------------------------ streams and events (core_stream.c, core_event.c) */

#define CORE_STREAM_DEFAULT 0ull
#define CORE_STREAM_LEGACY 1ull
#define CORE_STREAM_PER_THREAD 2ull
enum { CORE_STREAM_NON_BLOCKING = 1 };
enum { CORE_EVENT_BLOCKING_SYNC = 1, CORE_EVENT_NO_TIMING = 2, CORE_EVENT_INTERPROCESS = 4 };
#define CORE_PRIORITY_LEAST 0
#define CORE_PRIORITY_GREATEST (-5)

int core_stream_create(core_handle *out, unsigned flags, int priority); /* priority is clamped */
int core_stream_destroy(core_handle stream);      /* at once; its queued work still runs */
int core_stream_synchronize(core_handle stream);  /* runs what it depends on; finds asynchronous faults */
int core_stream_query(core_handle stream);        /* 0, or 600 after one step of progress */
int core_stream_wait_event(core_handle stream, core_handle event, int external);
int core_stream_context(core_handle stream, core_handle *out);
int core_stream_flags(core_handle stream, unsigned *out);
int core_stream_priority(core_handle stream, int *out);
int core_stream_id(core_handle stream, uint64_t *out);
/* `is_callback` 0: a host function, really a void (*)(void *), cast. 1: the older form, which is called with all three,
 * also after a fault, and cannot be captured. */
typedef void (*core_host_function)(core_handle stream, int code, void *argument);
int core_stream_call(core_handle stream, core_host_function function, void *argument, int is_callback);

int core_event_create(core_handle *out, unsigned flags);
int core_event_destroy(core_handle event);
int core_event_record(core_handle event, core_handle stream, int external);
int core_event_query(core_handle event);          /* 0 also for one that was never recorded; 600 */
int core_event_synchronize(core_handle event);
int core_event_elapsed(float *ms, core_handle start, core_handle end); /* 400 unrecorded or without timing; 600 */

/* ------------------------------------------------ code (core_module.c) */

/* The facade reads the image and builds the module from these; the core knows no format. */
struct core_parameter { uint32_t offset, nbytes, align; };

struct core_kernel {              /* strings and arrays are copied */
    const char *name;
    uint32_t parameter_count;
    const struct core_parameter *parameters;
    uint32_t required_block[3];   /* zeros: none */
    uint32_t max_block[3];        /* zeros: none */
    uint32_t static_shared, local, constant, registers; /* registers 0: the setting "registers" */
    uint32_t required_cluster[3];
    int code_version, binary_version; /* as the function attributes say them */
};

enum core_function_attribute {
    CORE_FUNCTION_MAX_THREADS_PER_BLOCK,
    CORE_FUNCTION_STATIC_SHARED,
    CORE_FUNCTION_CONSTANT,
    CORE_FUNCTION_LOCAL,
    CORE_FUNCTION_REGISTERS,
    CORE_FUNCTION_CODE_VERSION,
    CORE_FUNCTION_BINARY_VERSION,
    CORE_FUNCTION_MAX_DYNAMIC_SHARED, /* settable: 1 beyond what the device allows beside the static part */
    CORE_FUNCTION_CARVEOUT,           /* settable */
    CORE_FUNCTION_NON_PORTABLE_CLUSTER, /* settable */
    CORE_FUNCTION_ATTRIBUTE_COUNT
};

/* `executable` is what an executor runs (PTX text) or NULL; `image` the bytes as loaded. Both are copied. */
int core_module_create(core_handle *out, const void *image, size_t nbytes, const char *executable,
                       size_t executable_nbytes);
int core_module_add_kernel(core_handle module, const struct core_kernel *kernel);
int core_module_add_global(core_handle module, const char *name, size_t nbytes, size_t align, int is_constant);
int core_module_initialize(core_handle module, const char *name, const void *data, size_t nbytes); /* a global's start */
int core_module_ready(core_handle module);     /* loading is over: the executor hears of it */
int core_module_unload(core_handle module);
core_handle core_module_context(core_handle module); /* 0 for what is no module */
int core_module_function(core_handle *out, core_handle module, const char *name); /* 500 */
int core_module_function_count(unsigned *out, core_handle module);
int core_module_functions(core_handle *out, unsigned count, core_handle module);
int core_module_global(core_address *address, size_t *nbytes, core_handle module, const char *name); /* 500 */
int core_function_module(core_handle *out, core_handle function);
int core_function_name(const char **out, core_handle function);
int core_function_parameter(core_handle function, size_t index, size_t *offset, size_t *nbytes); /* 1 past the last */
int core_function_attribute(core_handle function, enum core_function_attribute attribute, int *out);
int core_function_attribute_set(core_handle function, enum core_function_attribute attribute, int value);
int core_occupancy(int *out, core_handle function, int block_threads, size_t dynamic_shared);
int core_max_cluster(int *out, core_handle function);

/* ------------------------------------------------ launches (core_launch.c) */

struct core_launch {
    core_handle function, stream;
    uint32_t grid[3], block[3];
    uint32_t cluster[3];      /* zeros: none asked */
    uint32_t shared;
    int cooperative;
    int programmatic;
    int has_priority, priority;
    int has_sync_domain, sync_domain;
    void **parameters;        /* one address per declared parameter, or NULL */
    const void *block_data;   /* the other form: the whole block */
    size_t block_nbytes;
};
/* Reads the parameters as the driver does: from the declared sizes. Refusals at the call are not sticky. */
int core_launch(const struct core_launch *launch);

/* ------------------------------------------------ capture and graphs (core_capture.c, core_graph.c) */

enum core_capture_mode { CORE_CAPTURE_GLOBAL = 0, CORE_CAPTURE_THREAD_LOCAL = 1, CORE_CAPTURE_RELAXED = 2 };
enum core_capture_status { CORE_CAPTURE_NONE = 0, CORE_CAPTURE_ACTIVE = 1, CORE_CAPTURE_STATUS_INVALIDATED = 2 };
enum core_node_kind {
    CORE_NODE_KERNEL = 0,
    CORE_NODE_COPY = 1,
    CORE_NODE_FILL = 2,
    CORE_NODE_HOST = 3,
    CORE_NODE_GRAPH = 4,
    CORE_NODE_EMPTY = 5,
    CORE_NODE_WAIT_EVENT = 6,
    CORE_NODE_EVENT_RECORD = 7,
    CORE_NODE_ALLOC = 10,
    CORE_NODE_FREE = 11,
};

int core_capture_begin(core_handle stream, enum core_capture_mode mode); /* 401 already capturing, 900 legacy stream */
int core_capture_end(core_handle stream, core_handle *graph); /* 903, 904, 908, 901: the graph is 0 then */
int core_capture_status(core_handle stream, int *status);
struct core_capture_info {
    int status;
    uint64_t id;
    core_handle graph;
    const core_handle *dependencies; /* valid until the stream's next operation */
    size_t count;
};
int core_capture_info(core_handle stream, struct core_capture_info *out);
int core_capture_exchange(int *mode);                /* this thread's */
int core_graph_create(core_handle *out);
int core_graph_destroy(core_handle graph);
int core_graph_nodes(core_handle graph, core_handle *out, size_t *count); /* out NULL: how many */
int core_graph_dependencies(core_handle node, core_handle *out, size_t *count);
int core_graph_node_kind(core_handle node, int *out);
int core_graph_instantiate(core_handle *out, core_handle graph);
int core_graph_exec_destroy(core_handle exec);
int core_graph_launch(core_handle exec, core_handle stream);
int core_graph_node_enabled(core_handle exec, core_handle node, int *get, const int *set);
int core_graph_exec_set_kernel(core_handle exec, core_handle node, const struct core_launch *launch);
int core_graph_exec_update(core_handle exec, core_handle graph); /* 910 when shapes differ */
/* The node's launch; `parameters` points to the node's own copies, valid until it changes. */
int core_graph_kernel(core_handle node, struct core_launch *out);
int core_graph_add_kernel(core_handle *out, core_handle graph, const core_handle *dependencies, size_t count,
                          const struct core_launch *launch);
int core_graph_set_kernel(core_handle node, const struct core_launch *launch);
int core_graph_add_empty(core_handle *out, core_handle graph, const core_handle *dependencies, size_t count);
/* What the stream's next operation depends on: instead of (`replace`) or beside what it is now. */
int core_capture_set_dependencies(core_handle stream, const core_handle *nodes, unsigned count, int replace);

/* ------------------------------------------------ faults (core_fault.c; control) */

/* The next `count` calls of `entry` from its `nth` one on (1 is the next) return `code`; count 0: for ever. */
void core_fault_call(const char *entry, uint64_t nth, uint64_t count, int code);
/* The nth launch from now (1 is the next; those of graph replays count) fails with `code` when it runs. */
void core_fault_launch(uint64_t nth, int code);
int core_is_sticky(int code);

/* ------------------------------------------------ journal (core_journal.c) */

/* Something that correct callers never do. `kind`: "misaligned-parameter", "wrong-context", "use-after-free",
 * "free-in-use", "call-in-callback", "stale-handle", ... */
void core_violation(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 1 when `name` (without version) is in the list of entry points that this driver does not have. */
int core_is_absent(const char *name);

#endif
