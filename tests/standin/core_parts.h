/* What the core's files share with each other. Everything here is used with the core's lock held. */
#ifndef STANDIN_CORE_PARTS_H
#define STANDIN_CORE_PARTS_H

#include <pthread.h>

#include "control.h"
#include "core.h"

#define MAX_DEVICES 16
#define STACK_DEPTH 64

/* ------------------------------------------------ objects behind handles (core_object.c) */

enum kind {
    KIND_CONTEXT = 1,
    KIND_STREAM,
    KIND_EVENT,
    KIND_MODULE,
    KIND_FUNCTION,
    KIND_POOL,
    KIND_PHYSICAL,
    KIND_GRAPH,
    KIND_NODE,
    KIND_EXEC,
    KIND_MEMORY,      /* these four have no handles, only counts */
    KIND_HOST_MEMORY,
    KIND_RESERVATION,
    KIND_MAPPING,
    KIND_COUNT
};

struct object {
    core_handle handle, context; /* context 0: belongs to none */
    enum kind kind;
};

void object_add(struct object *object, enum kind kind, core_handle context);
void object_remove(struct object *object);
/* The object, or NULL; one that was destroyed is noted as a violation. Notes the owner of one that is alive. */
void *object_find(core_handle handle, enum kind kind);
void *object_peek(core_handle handle, enum kind kind); /* without noting anything */
void *object_next(enum kind kind, uint32_t *cursor);   /* live ones, in slot order; NULL at the end */
void count_created(enum kind kind);
void count_destroyed(enum kind kind);
void objects_forget(void);

/* ------------------------------------------------ the lock and the thread */

extern pthread_mutex_t core_lock;
extern pthread_cond_t core_changed;

struct thread {
    uint64_t epoch, id;
    core_handle stack[STACK_DEPTH];
    int depth;
    int capture_mode;
    int in_callback;
    int device;
    struct core_call *call;
};
struct thread *thread_self(void);

/* ------------------------------------------------ contexts */

struct context {
    struct object object;
    int device, is_primary, retains, is_alive;
    unsigned flags;
    int sticky;
    uint64_t id;
    core_handle peers[MAX_DEVICES * 4];
    unsigned peer_count;
    struct stream *legacy;
};
struct context *current_context(void); /* alive, or NULL */
struct context *context_of(core_handle handle);
int contexts_are_peers(struct context *from, int device);
void contexts_forget(void);

/* ------------------------------------------------ memory */

struct allocation {
    core_address base;
    size_t nbytes;
    uint64_t id;
    enum core_memory_kind kind;
    int device;
    core_handle context;
    unsigned flags;
    void *raw;            /* what to give back to the system; NULL for the caller's and for mapped memory */
    int references;       /* queued operations that name it */
    int is_dead;          /* freed by the caller; its bytes go with the last reference */
    int free_is_queued;
    struct pool *pool;
    struct physical *physical;
    size_t physical_offset;
    int access[MAX_DEVICES];
    int owned_by_graph;
    int is_alive_in_graph;
};
struct pool {
    struct object object;
    int device, is_default;
    uint64_t threshold, used, high;
};
struct physical {
    struct object object;
    size_t nbytes;
    int device, descriptor, is_released, mappings;
};

struct allocation *memory_at(core_address address);  /* the one that holds this byte, or NULL */
struct allocation *memory_based_at(core_address address);
int memory_was_freed(core_address address);
void memory_hold(struct allocation *allocation);
void memory_drop(struct allocation *allocation);
void memory_kill(struct allocation *allocation);
int memory_insert(struct allocation *allocation);
void memory_remove(struct allocation *allocation);
struct allocation *memory_new(size_t nbytes, enum core_memory_kind kind, struct context *context, unsigned flags, int *code);
void memory_forget_context(core_handle context);
void memory_forget(void);
void memory_changed(void);
size_t memory_used(int device);
void memory_use(int device, int64_t nbytes);
/* 0 when [address, address + nbytes) lies in one allocation, that the context may use; else the code. */
int memory_check(core_address address, size_t nbytes, struct context *context, int write, struct allocation **out);
void virtual_forget(void);
struct pool *pool_of_device(int device);
void pools_forget(void);

/* ------------------------------------------------ operations and their order */

enum op_kind { OP_KERNEL, OP_COPY, OP_FILL, OP_HOST, OP_RECORD, OP_WAIT, OP_ALLOC, OP_FREE, OP_EMPTY, OP_GRAPH };

struct kernel_launch {
    struct function *function;
    uint32_t grid[3], block[3], cluster[3], shared;
    int cooperative, programmatic, has_priority, priority, has_sync_domain, sync_domain;
    uint32_t nbytes;
    uint8_t *parameters;
    void **pointers;      /* into `parameters`, one per declared parameter */
};

/* What an operation does; never changed once made, so that queues and graphs share it. */
struct body {
    int references;
    enum op_kind kind;
    core_handle context;
    struct kernel_launch kernel;
    struct core_copy copy;
    uint8_t *staged;      /* the source's bytes, when they were read at the call */
    struct { core_address dst; size_t pitch, count, height; uint32_t value; unsigned width; } fill;
    struct { core_host_function function; void *argument; int is_callback; } host;
    core_handle event;    /* records and waits in graphs */
    struct allocation *allocation;
    uint64_t *memory_ids; /* the allocations that it names */
    core_address *memory_bases;
    unsigned memory_count;
};

/* One recording of an event. */
struct record {
    int references, is_done, code;
    uint64_t time_ns;
    struct stream *stream;      /* where it waits its turn; NULL once done */
    core_handle stream_handle;
};

struct op {
    struct op *next;
    uint64_t order;
    enum op_kind kind;
    struct record *record;
    struct body **bodies; /* one, or those of a replay as they were when it was launched */
    struct standin_launch *launches; /* for those that are kernels */
    int *faults;          /* scripted for a launch */
    struct record **records; /* of the events that a replay records and awaits */
    unsigned count;
    struct allocation **holds;
    unsigned hold_count;
};

struct stream {
    struct object object;
    struct stream *next;
    unsigned flags;
    int priority, is_legacy, is_destroyed, is_busy;
    int holds;            /* waiters and the driver's thread: it is not freed under them */
    uint64_t id, thread;  /* thread: of a per-thread default stream */
    int pending_code;     /* of an asynchronous failure that is not sticky; told once */
    struct op *head, *tail;
    unsigned length;      /* of the queue */
    struct capture *capture;
    core_handle *capture_tail;
    unsigned capture_tail_count;
};

struct body *body_new(enum op_kind kind, core_handle context);
struct body *body_hold(struct body *body);
void body_drop(struct body *body);
void body_names(struct body *body, core_address address); /* note the allocation there, if there is one */

int stream_resolve(core_handle handle, struct stream **out); /* 400 */
struct context *stream_context(struct stream *stream);
struct stream *stream_new(struct context *context, unsigned flags, int priority);
struct stream *streams_first(void);
void stream_release(struct stream *stream);          /* frees one that is destroyed, empty and not held */
void streams_forget_context(core_handle context);
void streams_forget(void);

/* Queue, or add to the stream's capture. */
int submit(struct stream *stream, struct body *body);
void submit_op(struct stream *stream, struct op *op);
struct op *op_of_replay(struct stream *stream, struct body **bodies, unsigned count, core_handle exec);
/* Run the stream's work up to an order (UINT64_MAX: all that is queued now) with what it depends on, and say how it
 * ended: the context's sticky code, or the stream's pending one, which is told once. */
int run_stream(struct stream *stream, uint64_t until);
void run_step(struct stream *stream);                /* one operation, of it or of what it waits for */
void run_everything(void);
void run_record(struct record *record);
void run_context(core_handle context);
int stream_outcome(struct stream *stream);
void drop_queue(struct stream *stream);
struct record *record_new(struct stream *stream);
void record_drop(struct record *record);
void queue_record(struct stream *stream, struct record *record);
void queue_wait(struct stream *stream, struct record *record);
uint64_t queue_length(void);

/* ------------------------------------------------ events */

struct event {
    struct object object;
    unsigned flags;
    struct record *record;
    uint64_t capture_id;  /* not 0: last recorded in this capture */
    core_handle *nodes;
    unsigned node_count;
};
void event_set_record(struct event *event, struct record *record);

/* ------------------------------------------------ code */

struct function {
    struct object object;
    struct module *module;
    char *name;
    struct core_parameter *parameters;
    unsigned parameter_count;
    uint32_t parameter_nbytes;
    uint32_t required_block[3], max_block[3], required_cluster[3];
    int attributes[CORE_FUNCTION_ATTRIBUTE_COUNT];
};
struct module {
    struct object object;
    int references, is_unloaded, is_ready;
    struct function **functions;
    unsigned function_count;
    struct standin_module seen; /* what an executor is shown */
    struct standin_global *globals;
    struct allocation **global_memory;
    void *image;
    char *executable;
};
void module_hold(struct module *module);
void module_drop(struct module *module);
void modules_forget(void);
int64_t function_override(const char *kernel, const char *attribute, int64_t otherwise);

/* ------------------------------------------------ capture and graphs */

struct capture {
    uint64_t id, thread;
    enum core_capture_mode mode;
    int invalid_code;     /* not 0: invalidated */
    struct stream *origin;
    struct graph *graph;
    core_handle graph_handle;
};
struct node {
    struct object object;
    enum core_node_kind kind;
    struct graph *graph;
    struct body *body;
    struct node **dependencies;
    unsigned dependency_count;
    struct graph *child;
};
struct graph {
    struct object object;
    int references;
    struct node **nodes;
    unsigned count;
};
struct exec_node {
    core_handle source;
    enum core_node_kind kind;
    struct body *body;
    int is_enabled;
};
struct exec {
    struct object object;
    struct exec_node *nodes;
    unsigned count;
    struct graph *graph;  /* what it was made from, kept for the memory its nodes own */
};
int capture_check_unsafe(void); /* 900 and invalidates, or 0 */
void capture_invalidate(struct capture *capture, int code);
int capture_refuses_wait(struct stream *stream);   /* synchronising or asking a capturing stream */
int capture_refuses_context(core_handle context);
int capture_add(struct stream *stream, enum core_node_kind kind, struct body *body, struct graph *child);
int capture_record(struct stream *stream, struct event *event);
int capture_wait(struct stream *stream, struct event *event);
int capture_of_legacy(struct stream *stream);      /* 906 where legacy work meets a capture */
void capture_stream_destroyed(struct stream *stream);
void captures_forget_context(core_handle context);
void captures_forget(void);
void graphs_forget(void);
int graph_add(struct graph *graph, enum core_node_kind kind, struct body *body, struct graph *child,
              const core_handle *dependencies, unsigned count, core_handle *out);
int launch_body(const struct core_launch *launch, struct context *context, struct body **out);

/* ------------------------------------------------ faults and journal */

int fault_of_call(const char *name);
int fault_of_launch(uint64_t ordinal);
void context_lost(core_handle context, int code);
extern uint64_t clock_ns;
void journal_call(const struct core_call *call, int code);
void journal_launch(const struct kernel_launch *kernel, struct stream *stream, core_handle exec,
                    struct standin_launch *out);  /* fills `out` and keeps a copy */
void journal_forget(void);
void faults_forget(void);
const char *name_kept(const char *name); /* the text without a version, kept for ever */

/* ------------------------------------------------ execution */

extern standin_load_function executor_load, executor_unload;
extern standin_launch_function executor_launch;
int execute_kernel(struct module *module, const struct standin_launch *launch, const uint8_t *parameters);
int is_driver_thread(void);
void executor_tell(standin_load_function function, struct module *module);
void driver_thread_wake(struct stream *stream);

#endif
