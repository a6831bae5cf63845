/* A stand-in for an OpenCL driver: what is demanded of a caller is checked, and every launch is written down.
 *
 * Kernels run nowhere; what a launch would have read of its kernel object, its arguments byte for byte, is a line of the
 * journal. What a correct caller never does is a violation. Source of the rules: the OpenCL 3.0 API specification,
 * clSetKernelArg, clSetKernelArgSVMPointer, clEnqueueNDRangeKernel, clReleaseMemObject, and cl_khr_command_buffer.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST_PARAMETERS 64
#define LARGEST 32

enum { VALUE, POINTER, LOCAL };
enum {
    SUCCESS = 0,
    INVALID_VALUE = -30,
    INVALID_QUEUE = -36,
    INVALID_MEM_OBJECT = -38,
    INVALID_KERNEL_NAME = -46,
    INVALID_ARG_INDEX = -49,
    INVALID_ARG_VALUE = -50,
    INVALID_ARG_SIZE = -51,
    INVALID_KERNEL_ARGS = -52,
    INVALID_WORK_GROUP_SIZE = -54,
    INVALID_COMMAND_BUFFER = -1138,
};

typedef struct {
    int kind;
    size_t nbytes;
    uint32_t space; /* CL_KERNEL_ARG_ADDRESS_… */
    char name[32], type[32];
} Parameter;

typedef struct Declared {
    struct Declared *next;
    char name[32];
    uint32_t count;
    Parameter parameters[MOST_PARAMETERS];
} Declared;

typedef struct {
    Declared *kernels;
} Program;

/* What lies on a kernel object for one parameter. */
typedef struct {
    bool is_set;
    size_t nbytes;
    unsigned char bytes[LARGEST];
} Set;

typedef struct Mem {
    struct Mem *next, *parent;
    uint64_t serial;
    size_t offset, nbytes;
    unsigned char *data;
    uint32_t users; /* of the data: the object itself and its parts */
    bool is_alive;
} Mem;

/* Shared virtual memory. */
typedef struct Span {
    struct Span *next;
    void *memory;
    size_t nbytes;
    bool is_alive;
} Span;

typedef struct {
    uint64_t number;
    bool is_alive;
} Queue;

typedef struct Kernel {
    struct Kernel *next;
    const Declared *declared;
    bool is_alive, has_owner;
    pthread_t owner;
    Set set[MOST_PARAMETERS];
} Kernel;

typedef struct {
    const Declared *declared;
    size_t total[3], block[3];
    Set set[MOST_PARAMETERS];
} Command;

typedef struct {
    bool is_alive, is_final, is_simultaneous, is_known_to_be_over;
    const Queue *used; /* the queue of its last run */
    uint32_t count, room;
    Command *commands;
} Commands;

static Kernel *every_kernel; /* those that were released, too: whoever still names one is found */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static struct {
    char *text;
    size_t length, room;
    uint64_t violation_count, queue_count, mem_count, kernels_alive, buffers_alive;
    char violation[256]; /* the first */
    Mem *mems;
    Span *spans;
    int refusal;
    int64_t refuse_at; /* the launch from now on that is refused; 0: none */
    uint64_t refused_values[4];
    int refused_codes[4];
    uint32_t version, pending_every, asked;
    uint64_t capabilities;
    bool refuses_recorded;
    bool holds, is_held; /* the next launch waits in its call, with what it was given */
} state;

static void say(const char *format, ...)
{
    char line[256];
    va_list given;
    va_start(given, format);
    int length = vsnprintf(line, sizeof line, format, given);
    va_end(given);
    if (state.length + (size_t)length + 1 > state.room) {
        state.room = state.room * 2 + sizeof line;
        state.text = realloc(state.text, state.room);
        if (!state.text) abort();
    }
    memcpy(state.text + state.length, line, (size_t)length + 1);
    state.length += (size_t)length;
}

static int violated(int code, const char *format, ...)
{
    char line[256];
    va_list given;
    va_start(given, format);
    vsnprintf(line, sizeof line, format, given);
    va_end(given);
    if (!state.violation_count++) memcpy(state.violation, line, sizeof line);
    return code;
}

/* ---------------------------------------------------------------- memory */

EXPORT void *standin_mem(Mem *parent, size_t offset, size_t nbytes)
{
    Mem *mem = calloc(1, sizeof *mem);
    if (!mem) abort();
    pthread_mutex_lock(&lock);
    mem->parent = parent;
    mem->serial = parent ? parent->serial : ++state.mem_count;
    mem->offset = offset;
    mem->nbytes = nbytes;
    mem->data = parent ? parent->data + offset : calloc(1, nbytes);
    (parent ? parent : mem)->users++;
    mem->is_alive = true;
    mem->next = state.mems;
    state.mems = mem;
    pthread_mutex_unlock(&lock);
    return mem;
}

EXPORT void standin_release_mem(Mem *mem)
{
    pthread_mutex_lock(&lock);
    mem->is_alive = false; /* its place is not used again: whoever still names it is found */
    Mem *root = mem->parent ? mem->parent : mem;
    if (!--root->users) {
        free(root->data);
        root->data = NULL;
    }
    pthread_mutex_unlock(&lock);
}

static Mem *find_mem(const void *handle)
{
    for (Mem *each = state.mems; each; each = each->next)
        if (each == handle) return each;
    return NULL;
}

/* Addresses do come again here, as on any driver with shared virtual memory. */
EXPORT void *standin_svm(size_t nbytes)
{
    Span *span = calloc(1, sizeof *span);
    if (!span || !(span->memory = calloc(1, nbytes))) abort();
    pthread_mutex_lock(&lock);
    span->nbytes = nbytes;
    span->is_alive = true;
    span->next = state.spans;
    state.spans = span;
    pthread_mutex_unlock(&lock);
    return span->memory;
}

EXPORT void standin_release_svm(void *memory)
{
    pthread_mutex_lock(&lock);
    for (Span *each = state.spans; each; each = each->next)
        if (each->memory == memory && each->is_alive) {
            each->is_alive = false;
            free(memory);
            break;
        }
    pthread_mutex_unlock(&lock);
}

static bool is_svm(uint64_t address)
{
    for (Span *each = state.spans; each; each = each->next)
        if (each->is_alive && address >= (uintptr_t)each->memory && address <= (uintptr_t)each->memory + each->nbytes)
            return true;
    return false;
}

/* ---------------------------------------------------------------- programs and kernels */

EXPORT void *standin_program(void)
{
    Program *program = calloc(1, sizeof *program);
    if (!program) abort();
    return program;
}

EXPORT void *standin_kernel(Program *program, const char *name)
{
    Declared *declared = calloc(1, sizeof *declared);
    if (!declared) abort();
    snprintf(declared->name, sizeof declared->name, "%s", name);
    declared->next = program->kernels;
    program->kernels = declared;
    return declared;
}

EXPORT void standin_parameter(Declared *declared, int kind, size_t nbytes, uint32_t space, const char *type,
                              const char *name)
{
    if (declared->count == MOST_PARAMETERS || nbytes > LARGEST) abort();
    Parameter *parameter = &declared->parameters[declared->count++];
    parameter->kind = kind;
    parameter->nbytes = nbytes;
    parameter->space = space;
    snprintf(parameter->type, sizeof parameter->type, "%s", type);
    snprintf(parameter->name, sizeof parameter->name, "%s", name);
}

EXPORT void *clCreateKernel(Program *program, const char *name, int32_t *code)
{
    Declared *declared = program->kernels;
    while (declared && strcmp(declared->name, name)) declared = declared->next;
    *code = declared ? SUCCESS : INVALID_KERNEL_NAME;
    Kernel *kernel = declared ? calloc(1, sizeof *kernel) : NULL;
    if (!kernel) return NULL;
    kernel->declared = declared;
    kernel->is_alive = true;
    pthread_mutex_lock(&lock);
    kernel->next = every_kernel;
    every_kernel = kernel;
    state.kernels_alive++;
    pthread_mutex_unlock(&lock);
    return kernel;
}

EXPORT int32_t clReleaseKernel(Kernel *kernel)
{
    pthread_mutex_lock(&lock);
    int code = SUCCESS;
    if (!kernel->is_alive)
        code = violated(INVALID_VALUE, "%s: released twice", kernel->declared->name);
    else
        state.kernels_alive--;
    kernel->is_alive = false;
    pthread_mutex_unlock(&lock);
    return code;
}

static int32_t tell(const void *told, size_t nbytes, size_t room, void *place, size_t *needed)
{
    if (needed) *needed = nbytes;
    if (!place) return SUCCESS;
    if (room < nbytes) return INVALID_VALUE;
    memcpy(place, told, nbytes);
    return SUCCESS;
}

EXPORT int32_t clGetKernelInfo(Kernel *kernel, uint32_t what, size_t room, void *place, size_t *needed)
{
    if (what != 0x1191) return INVALID_VALUE;
    return tell(&kernel->declared->count, 4, room, place, needed);
}

EXPORT int32_t clGetKernelArgInfo(Kernel *kernel, uint32_t index, uint32_t what, size_t room, void *place, size_t *needed)
{
    if (index >= kernel->declared->count) return INVALID_ARG_INDEX;
    const Parameter *parameter = &kernel->declared->parameters[index];
    uint64_t none = 0;
    switch (what) {
    case 0x1196: return tell(&parameter->space, 4, room, place, needed);
    case 0x1198: return tell(parameter->type, strlen(parameter->type) + 1, room, place, needed);
    case 0x1199: return tell(&none, 8, room, place, needed);
    case 0x119A: return tell(parameter->name, strlen(parameter->name) + 1, room, place, needed);
    default: return INVALID_VALUE;
    }
}

EXPORT int32_t clGetKernelWorkGroupInfo(Kernel *kernel, void *device, uint32_t what, size_t room, void *place,
                                        size_t *needed)
{
    (void)kernel;
    (void)device;
    size_t largest = 256, none[3] = {0}, multiple = 8;
    uint64_t nbytes = 0;
    switch (what) {
    case 0x11B0: return tell(&largest, 8, room, place, needed);
    case 0x11B1: return tell(none, 24, room, place, needed);
    case 0x11B2: return tell(&nbytes, 8, room, place, needed);
    case 0x11B3: return tell(&multiple, 8, room, place, needed);
    case 0x11B4: return tell(&nbytes, 8, room, place, needed);
    default: return INVALID_VALUE;
    }
}

/* ---------------------------------------------------------------- arguments */

/* One thread alone may set and queue a kernel object. */
static int owned(Kernel *kernel, uint32_t index)
{
    const char *name = kernel->declared->name;
    if (!kernel->is_alive) return violated(INVALID_VALUE, "%s: used after its release", name);
    if (!kernel->has_owner) {
        kernel->has_owner = true;
        kernel->owner = pthread_self();
    }
    if (!pthread_equal(kernel->owner, pthread_self())) violated(0, "%s: set and queued by two threads", name);
    if (index != UINT32_MAX && index >= kernel->declared->count)
        return violated(INVALID_ARG_INDEX, "%s: parameter %u of %u", name, index, kernel->declared->count);
    return SUCCESS;
}

static int put(Kernel *kernel, uint32_t index, size_t nbytes, const void *value)
{
    const Parameter *parameter = &kernel->declared->parameters[index];
    Set *set = &kernel->set[index];
    const char *name = kernel->declared->name;
    if (parameter->kind == LOCAL) {
        if (value || !nbytes) return violated(INVALID_ARG_SIZE, "%s: local memory %u of %zu bytes", name, index, nbytes);
        set->is_set = true;
        set->nbytes = 8;
        memcpy(set->bytes, &nbytes, 8);
        return SUCCESS;
    }
    if (nbytes != (parameter->kind == POINTER ? 8 : parameter->nbytes))
        return violated(INVALID_ARG_SIZE, "%s: parameter %u with %zu bytes", name, index, nbytes);
    if (!value) return violated(INVALID_ARG_VALUE, "%s: no value for parameter %u", name, index);
    if (parameter->kind == POINTER) {
        void *handle;
        memcpy(&handle, value, 8);
        Mem *mem = find_mem(handle);
        if (handle && (!mem || !mem->is_alive))
            return violated(INVALID_MEM_OBJECT, "%s: parameter %u is no live memory object", name, index);
    }
    uint64_t word = 0;
    memcpy(&word, value, nbytes < 8 ? nbytes : 8);
    for (int at = 0; at < 4 && parameter->kind == VALUE; at++)
        if (state.refused_codes[at] && word == state.refused_values[at]) return state.refused_codes[at];
    set->is_set = true;
    set->nbytes = nbytes;
    memcpy(set->bytes, value, nbytes);
    return SUCCESS;
}

EXPORT int32_t clSetKernelArg(Kernel *kernel, uint32_t index, size_t nbytes, const void *value)
{
    pthread_mutex_lock(&lock);
    int code = owned(kernel, index);
    if (!code) code = put(kernel, index, nbytes, value);
    pthread_mutex_unlock(&lock);
    return code;
}

EXPORT int32_t clSetKernelArgSVMPointer(Kernel *kernel, uint32_t index, const void *address)
{
    pthread_mutex_lock(&lock);
    int code = owned(kernel, index);
    if (!code && (kernel->declared->parameters[index].kind != POINTER || (address && !is_svm((uintptr_t)address))))
        code = violated(INVALID_ARG_VALUE, "%s: parameter %u is no shared virtual memory", kernel->declared->name, index);
    if (!code) {
        Set *set = &kernel->set[index];
        set->is_set = true;
        set->nbytes = 9; /* so that it is told from a memory object */
        memcpy(set->bytes, &address, 8);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

EXPORT int32_t clSetKernelExecInfo(Kernel *kernel, uint32_t what, size_t nbytes, const void *named)
{
    (void)what;
    pthread_mutex_lock(&lock);
    int code = owned(kernel, UINT32_MAX);
    for (size_t at = 0; !code && at < nbytes / 8; at++)
        if (!is_svm(((const uint64_t *)named)[at])) code = violated(INVALID_VALUE, "no shared virtual memory is named");
    pthread_mutex_unlock(&lock);
    return code;
}

/* ---------------------------------------------------------------- queues and launches */

EXPORT void *standin_queue(void)
{
    Queue *queue = calloc(1, sizeof *queue);
    if (!queue) abort();
    pthread_mutex_lock(&lock);
    queue->number = state.queue_count++;
    queue->is_alive = true;
    pthread_mutex_unlock(&lock);
    return queue;
}

EXPORT void standin_release_queue(Queue *queue)
{
    pthread_mutex_lock(&lock);
    queue->is_alive = false;
    pthread_mutex_unlock(&lock);
}

/* Whether what was set may be run now. */
static int runnable(const Declared *declared, const Set *set)
{
    for (uint32_t at = 0; at < declared->count; at++) {
        uint64_t word;
        memcpy(&word, set[at].bytes, 8);
        if (!set[at].is_set) return violated(INVALID_KERNEL_ARGS, "%s: parameter %u is not set", declared->name, at);
        if (declared->parameters[at].kind != POINTER || !word) continue;
        if (set[at].nbytes == 9 ? !is_svm(word) : !((Mem *)(uintptr_t)word)->is_alive)
            return violated(INVALID_KERNEL_ARGS, "%s: the memory of parameter %u is gone", declared->name, at);
    }
    return SUCCESS;
}

static void note(const Queue *queue, const Declared *declared, const size_t *total, const size_t *block, const Set *set)
{
    say("launch %llu %s %zu %zu %zu %zu %zu %zu", (unsigned long long)queue->number, declared->name, total[0], total[1],
        total[2], block[0], block[1], block[2]);
    for (uint32_t at = 0; at < declared->count; at++) {
        uint64_t word;
        memcpy(&word, set[at].bytes, 8);
        if (declared->parameters[at].kind == POINTER && set[at].nbytes == 9) {
            say(" @%llx", (unsigned long long)word);
        } else if (declared->parameters[at].kind == POINTER) {
            const Mem *mem = (const Mem *)(uintptr_t)word;
            if (mem)
                say(" m%llu+%zu", (unsigned long long)mem->serial, mem->offset);
            else
                say(" m0");
        } else {
            say(" ");
            for (size_t byte = 0; byte < set[at].nbytes; byte++) say("%02x", set[at].bytes[byte]);
        }
    }
    say("\n");
}

/* Holds the caller where it was asked for, as a driver does whose queue is full. */
static void hold(void)
{
    if (!state.holds) return;
    state.holds = false;
    state.is_held = true;
    pthread_cond_broadcast(&turned);
    while (state.is_held) pthread_cond_wait(&turned, &lock);
}

EXPORT int32_t clEnqueueNDRangeKernel(Queue *queue, Kernel *kernel, uint32_t dimensions, const size_t *offset,
                                      const size_t *total, const size_t *block, uint32_t wait_count, const void *waits,
                                      void *event)
{
    pthread_mutex_lock(&lock);
    int code = owned(kernel, UINT32_MAX);
    if (!code && !queue->is_alive) code = violated(INVALID_QUEUE, "a queue that was given back");
    if (!code && (dimensions != 3 || offset || wait_count || waits || event))
        code = violated(INVALID_VALUE, "no launch of ours is like this");
    hold();
    if (!code) code = runnable(kernel->declared, kernel->set);
    for (int axis = 0; !code && axis < 3; axis++)
        if (!block[axis] || !total[axis] || total[axis] % block[axis])
            code = violated(INVALID_WORK_GROUP_SIZE, "%s: %zu by %zu", kernel->declared->name, total[axis], block[axis]);
    if (!code && state.refuse_at && --state.refuse_at == 0) code = state.refusal;
    if (!code) note(queue, kernel->declared, total, block, kernel->set);
    pthread_mutex_unlock(&lock);
    return code;
}

EXPORT int32_t clFlush(Queue *queue)
{
    pthread_mutex_lock(&lock);
    if (queue->is_alive)
        say("flush %llu\n", (unsigned long long)queue->number);
    else
        violated(0, "a queue that was given back is flushed");
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

/* ---------------------------------------------------------------- copies, at once */

EXPORT int32_t clEnqueueSVMMemcpy(Queue *queue, uint32_t is_blocking, void *to, const void *from, size_t nbytes,
                                  uint32_t wait_count, const void *waits, void *event)
{
    (void)queue, (void)is_blocking, (void)wait_count, (void)waits, (void)event;
    memmove(to, from, nbytes);
    return SUCCESS;
}

static void fill(unsigned char *to, const void *pattern, size_t pattern_nbytes, size_t nbytes)
{
    for (size_t at = 0; at < nbytes; at += pattern_nbytes) memcpy(to + at, pattern, pattern_nbytes);
}

EXPORT int32_t clEnqueueSVMMemFill(Queue *queue, void *to, const void *pattern, size_t pattern_nbytes, size_t nbytes,
                                   uint32_t wait_count, const void *waits, void *event)
{
    (void)queue, (void)wait_count, (void)waits, (void)event;
    fill(to, pattern, pattern_nbytes, nbytes);
    return SUCCESS;
}

EXPORT int32_t clEnqueueReadBuffer(Queue *queue, Mem *mem, uint32_t is_blocking, size_t offset, size_t nbytes, void *to,
                                   uint32_t wait_count, const void *waits, void *event)
{
    (void)queue, (void)is_blocking, (void)wait_count, (void)waits, (void)event;
    memcpy(to, mem->data + offset, nbytes);
    return SUCCESS;
}

EXPORT int32_t clEnqueueWriteBuffer(Queue *queue, Mem *mem, uint32_t is_blocking, size_t offset, size_t nbytes,
                                    const void *from, uint32_t wait_count, const void *waits, void *event)
{
    (void)queue, (void)is_blocking, (void)wait_count, (void)waits, (void)event;
    memcpy(mem->data + offset, from, nbytes);
    return SUCCESS;
}

EXPORT int32_t clEnqueueCopyBuffer(Queue *queue, Mem *from, Mem *to, size_t from_offset, size_t to_offset, size_t nbytes,
                                   uint32_t wait_count, const void *waits, void *event)
{
    (void)queue, (void)wait_count, (void)waits, (void)event;
    memmove(to->data + to_offset, from->data + from_offset, nbytes);
    return SUCCESS;
}

/* Nothing here copies rows. */
EXPORT int32_t clEnqueueCopyBufferRect(void) { return INVALID_VALUE; }

EXPORT int32_t clEnqueueFillBuffer(Queue *queue, Mem *mem, const void *pattern, size_t pattern_nbytes, size_t offset,
                                   size_t nbytes, uint32_t wait_count, const void *waits, void *event)
{
    (void)queue, (void)wait_count, (void)waits, (void)event;
    fill(mem->data + offset, pattern, pattern_nbytes, nbytes);
    return SUCCESS;
}

/* ---------------------------------------------------------------- command buffers */

static void *create_commands(uint32_t queue_count, Queue *const *queues, const uint64_t *properties, int32_t *code)
{
    Commands *commands = queue_count == 1 && queues[0]->is_alive && !state.refuses_recorded ? calloc(1, sizeof *commands)
                                                                                           : NULL;
    *code = commands ? SUCCESS : INVALID_VALUE;
    if (!commands) return NULL;
    commands->is_alive = true;
    commands->is_simultaneous = properties && properties[0] == 0x1293 && properties[1] & 1;
    pthread_mutex_lock(&lock);
    state.buffers_alive++;
    pthread_mutex_unlock(&lock);
    return commands;
}

static int32_t record_command(Commands *commands, void *queue, const void *properties, Kernel *kernel,
                              uint32_t dimensions, const size_t *offset, const size_t *total, const size_t *block,
                              uint32_t wait_count, const void *waits, void *point, void *handle)
{
    pthread_mutex_lock(&lock);
    int code = owned(kernel, UINT32_MAX);
    if (!code && (!commands->is_alive || commands->is_final))
        code = violated(INVALID_COMMAND_BUFFER, "a command buffer that takes nothing more");
    if (!code && (queue || properties || dimensions != 3 || offset || wait_count || waits || point || handle))
        code = violated(INVALID_VALUE, "no recorded launch of ours is like this");
    if (!code) code = runnable(kernel->declared, kernel->set);
    if (!code && commands->count == commands->room) {
        commands->room = commands->room * 2 + 4;
        commands->commands = realloc(commands->commands, commands->room * sizeof *commands->commands);
        if (!commands->commands) abort();
    }
    if (!code) {
        Command *command = &commands->commands[commands->count++];
        command->declared = kernel->declared;
        memcpy(command->total, total, sizeof command->total);
        memcpy(command->block, block, sizeof command->block);
        memcpy(command->set, kernel->set, sizeof command->set);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static int32_t finalize_commands(Commands *commands)
{
    pthread_mutex_lock(&lock);
    int code = commands->is_final ? violated(INVALID_COMMAND_BUFFER, "finalized twice") : SUCCESS;
    commands->is_final = true;
    pthread_mutex_unlock(&lock);
    return code;
}

static int32_t release_commands(Commands *commands)
{
    pthread_mutex_lock(&lock);
    int code = SUCCESS;
    if (!commands->is_alive)
        code = violated(INVALID_COMMAND_BUFFER, "a command buffer released twice");
    else
        state.buffers_alive--;
    commands->is_alive = false; /* kept: whoever still names it is found */
    pthread_mutex_unlock(&lock);
    return code;
}

static int32_t enqueue_commands(uint32_t queue_count, Queue *const *queues, Commands *commands, uint32_t wait_count,
                                const void *waits, void *event)
{
    pthread_mutex_lock(&lock);
    int code = SUCCESS;
    if (!commands->is_alive || !commands->is_final)
        code = violated(INVALID_COMMAND_BUFFER, "a command buffer that may not be queued");
    if (!code && (queue_count != 1 || !queues[0]->is_alive || wait_count || waits || event))
        code = violated(INVALID_VALUE, "no command buffer of ours is queued like this");
    /* Before version 0.9.8 one that may be pending is not queued; since then it waits for its run, on the same queue. */
    if (!code && !commands->is_simultaneous && commands->used &&
        (state.version < (9 << 12 | 8) ? !commands->is_known_to_be_over : commands->used != queues[0]))
        code = violated(INVALID_COMMAND_BUFFER, "a command buffer that may be pending is queued");
    hold();
    for (uint32_t at = 0; !code && at < commands->count; at++)
        code = runnable(commands->commands[at].declared, commands->commands[at].set);
    /* What is to be refused is one of its launches: each is asked for then. */
    if (!code && (state.refuses_recorded || (state.refuse_at && state.refuse_at <= commands->count))) code = INVALID_VALUE;
    if (!code && state.refuse_at) state.refuse_at -= commands->count;
    if (!code) commands->used = queues[0];
    commands->is_known_to_be_over = false;
    for (uint32_t at = 0; !code && at < commands->count; at++) {
        const Command *command = &commands->commands[at];
        note(queues[0], command->declared, command->total, command->block, command->set);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static int32_t ask_commands(Commands *commands, uint32_t what, size_t room, void *place, size_t *needed)
{
    pthread_mutex_lock(&lock);
    int code = commands->is_alive && what == 0x1297 ? SUCCESS : violated(INVALID_COMMAND_BUFFER, "asked of none");
    state.asked++;
    uint32_t how = state.pending_every && state.asked % state.pending_every == 0 ? 2 : 1;
    commands->is_known_to_be_over = how == 1;
    pthread_mutex_unlock(&lock);
    return code ? code : tell(&how, 4, room, place, needed);
}

EXPORT void *clGetExtensionFunctionAddressForPlatform(void *platform, const char *name)
{
    (void)platform;
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"clCreateCommandBufferKHR", create_commands},     {"clCommandNDRangeKernelKHR", record_command},
        {"clFinalizeCommandBufferKHR", finalize_commands}, {"clReleaseCommandBufferKHR", release_commands},
        {"clEnqueueCommandBufferKHR", enqueue_commands},   {"clGetCommandBufferInfoKHR", ask_commands},
    };
    for (size_t at = 0; at < sizeof functions / sizeof *functions; at++)
        if (!strcmp(name, functions[at].name)) return functions[at].function;
    return NULL;
}

EXPORT int32_t clGetDeviceInfo(void *device, uint32_t what, size_t room, void *place, size_t *needed)
{
    (void)device;
    struct {
        uint32_t version;
        char name[64];
    } extension = {state.version, "cl_khr_command_buffer"};
    uint64_t queues = 2, none = 0;
    switch (what) {
    case 0x1060: return state.version ? tell(&extension, sizeof extension, room, place, needed) : INVALID_VALUE;
    case 0x12A9: return tell(&state.capabilities, 8, room, place, needed);
    case 0x12AA: return tell(&none, 8, room, place, needed);
    case 0x129A: return tell(&queues, 8, room, place, needed);
    default: return INVALID_VALUE;
    }
}

/* ---------------------------------------------------------------- for the tests */

/* The version of cl_khr_command_buffer (0: none), its capabilities, and how often one of them is said to be pending. */
EXPORT void standin_command_buffers(uint32_t version, uint64_t capabilities, uint32_t pending_every)
{
    state.version = version;
    state.capabilities = capabilities;
    state.pending_every = pending_every;
}

/* Lets the nth launch from now on be refused with this code; 0: none. One of a command buffer has it refused whole. */
EXPORT void standin_refuse(int code, int64_t nth)
{
    pthread_mutex_lock(&lock);
    state.refusal = code;
    state.refuse_at = nth;
    pthread_mutex_unlock(&lock);
}

/* Lets a value be refused wherever it is set. */
EXPORT void standin_refuse_value(int which, uint64_t value, int code)
{
    state.refused_values[which] = value;
    state.refused_codes[which] = code;
}

EXPORT void standin_refuse_recorded(int is_refused) { state.refuses_recorded = is_refused; }

EXPORT void standin_hold(void)
{
    pthread_mutex_lock(&lock);
    state.holds = true;
    pthread_mutex_unlock(&lock);
}

/* Waits until a call is held; false after ten seconds. */
EXPORT int standin_wait_held(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    pthread_mutex_lock(&lock);
    int code = 0;
    while (!state.is_held && !code) code = pthread_cond_timedwait(&turned, &lock, &until);
    pthread_mutex_unlock(&lock);
    return !code;
}

EXPORT void standin_let_go(void)
{
    pthread_mutex_lock(&lock);
    state.is_held = state.holds = false;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&lock);
}

EXPORT size_t standin_journal_nbytes(void) { return state.length; }

/* Moves the journal out. */
EXPORT void standin_take_journal(char *place)
{
    pthread_mutex_lock(&lock);
    memcpy(place, state.text, state.length);
    state.length = 0;
    pthread_mutex_unlock(&lock);
}

EXPORT const char *standin_violation(void) { return state.violation_count ? state.violation : ""; }
EXPORT uint64_t standin_kernels_alive(void) { return state.kernels_alive; }
EXPORT uint64_t standin_buffers_alive(void) { return state.buffers_alive; }

/* As if newly loaded, but for what somebody still has. */
EXPORT void standin_reset(void)
{
    pthread_mutex_lock(&lock);
    Mem *mems = NULL;
    for (Mem *each = state.mems, *next; each; each = next) {
        next = each->next;
        if (!each->is_alive) continue; /* not given back: somebody may still name it */
        each->next = mems;
        mems = each;
    }
    Span *spans = NULL;
    for (Span *each = state.spans, *next; each; each = next) {
        next = each->next;
        if (each->is_alive) {
            each->next = spans;
            spans = each;
        } else {
            free(each);
        }
    }
    free(state.text);
    memset(&state, 0, sizeof state);
    state.mems = mems;
    state.spans = spans;
    pthread_mutex_unlock(&lock);
}
