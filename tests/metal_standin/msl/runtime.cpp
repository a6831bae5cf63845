// Runs one kernel over a grid: every thread of a threadgroup is a fiber that runs until it waits for others.
//
// A threadgroup is run by the operating system's thread that calls msl_run, one group behind the other; calls from
// several threads share nothing. A fault in a kernel ends that run and is told to its caller.
#include "msl_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

// ------------------------------------------------ the switch from one stack to another

extern "C" void msl_switch(void **save_stack, void *load_stack);

#if defined(__x86_64__)
asm(R"(
.text
.globl msl_switch
.hidden msl_switch
.type msl_switch,@function
msl_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size msl_switch, .-msl_switch
)");

// What msl_switch pops, then the address it returns to; at that function's entry the stack is 8 off 16, as after a call.
static void *fresh_stack(char *top, void (*start)())
{
    void **words = reinterpret_cast<void **>(top) - 8;
    memset(words, 0, 8 * sizeof *words);
    words[6] = reinterpret_cast<void *>(start);
    return words;
}
#elif defined(__aarch64__)
asm(R"(
.text
.globl msl_switch
.hidden msl_switch
.type msl_switch,%function
msl_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size msl_switch, .-msl_switch
)");

static void *fresh_stack(char *top, void (*start)())
{
    void **words = reinterpret_cast<void **>(top) - 20;
    memset(words, 0, 20 * sizeof *words);
    words[11] = reinterpret_cast<void *>(start); // x30
    return words;
}
#else
#error "the stand-in's kernels run on x86-64 and aarch64"
#endif

// ------------------------------------------------ one thread of a threadgroup

enum State { NEW, READY, AT_SIMD, AT_BARRIER, DONE };

struct Fiber {
    void *stack_pointer;
    char *stack;
    State state;
    int operation; // MSL_EXCHANGE or MSL_SIMDGROUP_BARRIER while AT_SIMD
    uint64_t site; // Line and column of the call that waits.
    const void *value;
    uint32_t value_nbytes;
    msl_thread thread;
};

static const size_t STACK_NBYTES = 256 * 1024;
static const int LANES = MSL_SIMD_WIDTH;

struct Worker {
    const msl_request *request;
    msl_crash *crash;
    void *scheduler; // The stack pointer of msl_run while a fiber runs.
    Fiber *current;
    Fiber *fibers;
    uint32_t fiber_capacity;
    char **free_stacks;
    uint32_t free_count, free_capacity;
    char *static_memory;
    unsigned char lanes[LANES][MSL_VALUE_NBYTES]; // What the lanes of the simdgroup brought to its last exchange.
    uint32_t active;
    char signal_stack[64 * 1024]; // A fault may be that a thread's own stack is full.
    volatile bool in_kernel;
    volatile bool crashed;
};

// Read in a signal handler: with this model the access allocates nothing.
static thread_local Worker *worker __attribute__((tls_model("initial-exec")));
static thread_local bool chaining __attribute__((tls_model("initial-exec")));

static char *take_stack(Worker *w)
{
    if (w->free_count)
        return w->free_stacks[--w->free_count];
    void *memory = mmap(nullptr, STACK_NBYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    mprotect(memory, 4096, PROT_NONE);
    return static_cast<char *>(memory);
}

static void give_stack(Worker *w, char *stack)
{
    if (w->free_count == w->free_capacity) {
        w->free_capacity = w->free_capacity ? 2 * w->free_capacity : 64;
        w->free_stacks = static_cast<char **>(realloc(w->free_stacks, w->free_capacity * sizeof(char *)));
        if (!w->free_stacks)
            abort();
    }
    w->free_stacks[w->free_count++] = stack;
}

static void fiber_main()
{
    Worker *w = worker;
    w->request->entry(&w->current->thread);
    w->current->state = DONE;
    msl_switch(&w->current->stack_pointer, w->scheduler);
    abort(); // Nobody resumes a thread that is done.
}

static void resume(Worker *w, Fiber *fiber)
{
    if (fiber->state == NEW) {
        fiber->stack = take_stack(w);
        fiber->stack_pointer = fresh_stack(fiber->stack + STACK_NBYTES, fiber_main);
    }
    fiber->state = READY;
    w->current = fiber;
    w->in_kernel = true;
    msl_switch(&w->scheduler, fiber->stack_pointer);
    w->in_kernel = false;
    if (fiber->state == DONE || w->crashed) {
        give_stack(w, fiber->stack);
        fiber->stack = nullptr;
    }
}

static void suspend(Worker *w, State state, uint64_t site)
{
    Fiber *me = w->current;
    me->state = state;
    me->site = site;
    msl_switch(&me->stack_pointer, w->scheduler);
}

// ------------------------------------------------ what kernels call

extern "C" {

MSL_EXPORT void msl_threadgroup_barrier(uint32_t line, uint32_t column)
{
    suspend(worker, AT_BARRIER, uint64_t(line) << 32 | column);
}

MSL_EXPORT void msl_simd(int operation, const void *value, uint32_t nbytes, uint32_t line, uint32_t column)
{
    Worker *w = worker;
    w->current->operation = operation;
    w->current->value = value;
    w->current->value_nbytes = nbytes;
    suspend(w, AT_SIMD, uint64_t(line) << 32 | column);
}

MSL_EXPORT const void *msl_lane(uint32_t lane)
{
    return worker->lanes[lane % LANES];
}

MSL_EXPORT uint32_t msl_active(void)
{
    return worker->active;
}

MSL_EXPORT uint32_t msl_my_lane(void)
{
    return worker->current->thread.index_in_simdgroup;
}

MSL_EXPORT char *msl_static_memory(void)
{
    return worker->static_memory;
}

}

// ------------------------------------------------ faults

static void describe(msl_crash *crash, int kind, uint64_t address, const Fiber *fiber, const char *detail)
{
    crash->kind = kind;
    crash->address = address;
    memcpy(crash->group, fiber->thread.threadgroup_position, sizeof crash->group);
    memcpy(crash->thread, fiber->thread.position_in_threadgroup, sizeof crash->thread);
    snprintf(crash->detail, sizeof crash->detail, "%s", detail);
}

#if defined(__x86_64__)
// Steps over a division that trapped: MSL leaves its result undefined but does not stop. False when it is none.
static bool step_over_division(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    const unsigned char *start = reinterpret_cast<const unsigned char *>(registers[REG_RIP]), *at = start;
    bool narrow = false;
    unsigned rex = 0;
    for (;; at++) {
        if (*at == 0x66)
            narrow = true;
        else if (*at == 0xf2 || *at == 0xf3 || *at == 0x2e || *at == 0x3e || *at == 0x64 || *at == 0x65)
            continue;
        else
            break;
    }
    if ((*at & 0xf0) == 0x40)
        rex = *at++;
    const unsigned opcode = *at++;
    if (opcode != 0xf6 && opcode != 0xf7)
        return false;
    const unsigned mod = *at >> 6, operation = *at >> 3 & 7, rm = *at & 7;
    if (operation != 6 && operation != 7)
        return false;
    at++;
    if (mod != 3 && rm == 4) {
        const bool no_base = mod == 0 && (*at & 7) == 5;
        at += no_base ? 5 : 1;
    } else if (mod == 0 && rm == 5) {
        at += 4;
    }
    at += mod == 1 ? 1 : mod == 2 ? 4 : 0;
    // A quotient of all ones; the remainder keeps the low half of the dividend.
    if (opcode == 0xf6) {
        registers[REG_RAX] = (registers[REG_RAX] & ~0xffffll) | (registers[REG_RAX] & 0xff) << 8 | 0xff;
    } else if (narrow) {
        registers[REG_RDX] = (registers[REG_RDX] & ~0xffffll) | (registers[REG_RAX] & 0xffff);
        registers[REG_RAX] |= 0xffff;
    } else if (rex & 8) {
        registers[REG_RDX] = registers[REG_RAX];
        registers[REG_RAX] = -1;
    } else {
        registers[REG_RDX] = registers[REG_RAX] & 0xffffffffll;
        registers[REG_RAX] = 0xffffffffll;
    }
    registers[REG_RIP] += at - start;
    return true;
}
#else
static bool step_over_division(ucontext_t *) { return false; }
#endif

static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static const int SIGNAL_COUNT = 4;
static struct sigaction earlier[SIGNAL_COUNT];
static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;

static void chain(int number, siginfo_t *info, void *context)
{
    int which = 0;
    while (which < SIGNAL_COUNT - 1 && SIGNALS[which] != number)
        which++;
    const struct sigaction before = earlier[which];
    const bool has_handler = (before.sa_flags & SA_SIGINFO) || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
    if (chaining || !has_handler) {
        signal(number, SIG_DFL); // The faulting instruction runs again and ends the process as it would have.
        return;
    }
    chaining = true;
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else
        before.sa_handler(number);
    chaining = false;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    Worker *w = worker;
    if (!w || !w->in_kernel) {
        chain(number, info, context);
        return;
    }
    if (number == SIGFPE && step_over_division(static_cast<ucontext_t *>(context)))
        return;
    w->in_kernel = false;
    w->crashed = true;
    const bool memory = number == SIGSEGV || number == SIGBUS;
    const uint64_t address = reinterpret_cast<uint64_t>(info->si_addr);
    const char *stack = w->current->stack;
    const bool overflow = memory && address >= uint64_t(stack) && address < uint64_t(stack) + 4096;
    describe(w->crash, overflow ? MSL_STACK_OVERFLOW : memory ? MSL_PAGE_FAULT : MSL_ILLEGAL, address, w->current, "");
    // The handler's frame is abandoned: it holds nothing, and its signal was never blocked (SA_NODEFER).
    void *nowhere;
    msl_switch(&nowhere, w->scheduler);
}

// Ours must be the handler in charge: another library may have put its own before it since the last run.
static void install()
{
    pthread_mutex_lock(&installing);
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction now;
        sigaction(SIGNALS[i], nullptr, &now);
        if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_signal)
            continue;
        earlier[i] = now;
        struct sigaction ours;
        memset(&ours, 0, sizeof ours);
        ours.sa_sigaction = on_signal;
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(SIGNALS[i], &ours, nullptr);
    }
    pthread_mutex_unlock(&installing);
}

// ------------------------------------------------ one threadgroup

static bool crash_at(Worker *w, const Fiber *fiber, const char *detail)
{
    w->crashed = true;
    describe(w->crash, MSL_BARRIER, 0, fiber, detail);
    return false;
}

static bool finish_simd(Worker *w, Fiber *lanes, uint32_t count, bool *any)
{
    // Lanes that took different ways meet again at the later place, so those at the earlier one go on first.
    const Fiber *first = nullptr;
    for (uint32_t i = 0; i < count; i++)
        if (lanes[i].state == AT_SIMD && (!first || lanes[i].site < first->site))
            first = &lanes[i];
    *any = first != nullptr;
    if (!first)
        return true;
    const uint64_t site = first->site;
    uint32_t active = 0;
    memset(w->lanes, MSL_POISON, sizeof w->lanes);
    for (uint32_t i = 0; i < count; i++) {
        if (lanes[i].state != AT_SIMD || lanes[i].site != site)
            continue;
        active |= 1u << i;
        if (lanes[i].value_nbytes)
            memcpy(w->lanes[i], lanes[i].value, lanes[i].value_nbytes);
        if (lanes[i].operation == MSL_SIMDGROUP_BARRIER) {
            for (uint32_t k = 0; k < count; k++)
                if (lanes[k].state != AT_SIMD || lanes[k].site != site) {
                    char detail[120];
                    snprintf(detail, sizeof detail, "lane %u waits at the simdgroup_barrier of line %u; lane %u %s", i,
                             uint32_t(site >> 32), k, lanes[k].state == DONE ? "has returned" : "waits elsewhere");
                    return crash_at(w, &lanes[i], detail);
                }
        }
        lanes[i].state = READY;
    }
    w->active = active;
    return true;
}

static bool run_simdgroup(Worker *w, Fiber *lanes, uint32_t count)
{
    for (bool any = true; any;) {
        for (uint32_t i = 0; i < count; i++) {
            if (lanes[i].state != NEW && lanes[i].state != READY)
                continue;
            resume(w, &lanes[i]);
            if (w->crashed)
                return false;
        }
        if (!finish_simd(w, lanes, count, &any))
            return false;
    }
    return true;
}

static bool run_threadgroup(Worker *w, uint32_t threads)
{
    for (;;) {
        for (uint32_t first = 0; first < threads; first += LANES)
            if (!run_simdgroup(w, w->fibers + first, threads - first < uint32_t(LANES) ? threads - first : LANES))
                return false;
        const Fiber *waiting = nullptr;
        for (uint32_t i = 0; i < threads && !waiting; i++)
            if (w->fibers[i].state == AT_BARRIER)
                waiting = &w->fibers[i];
        if (!waiting)
            return true;
        for (uint32_t i = 0; i < threads; i++) {
            const Fiber *other = &w->fibers[i];
            if (other->state == AT_BARRIER && other->site == waiting->site)
                continue;
            char detail[160];
            if (other->state == DONE)
                snprintf(detail, sizeof detail, "thread %u waits at the threadgroup_barrier of line %u; thread %u has returned",
                         waiting->thread.index_in_threadgroup, uint32_t(waiting->site >> 32), i);
            else
                snprintf(detail, sizeof detail,
                         "thread %u waits at the threadgroup_barrier of line %u; thread %u at that of line %u",
                         waiting->thread.index_in_threadgroup, uint32_t(waiting->site >> 32), i, uint32_t(other->site >> 32));
            return crash_at(w, waiting, detail);
        }
        for (uint32_t i = 0; i < threads; i++)
            w->fibers[i].state = READY;
    }
}

// Threadgroup memory: every block ends where a page ends that nobody may touch, so that an overrun is seen at once.
struct LocalMemory {
    char *mapping;
    size_t nbytes;
    char *blocks[MSL_SLOTS + 1];
    size_t lengths[MSL_SLOTS + 1];
};

static const size_t PAGE = 4096;

static bool map_local(const msl_request *request, LocalMemory *local)
{
    memset(local, 0, sizeof *local);
    local->nbytes = PAGE;
    for (int i = 0; i <= MSL_SLOTS; i++) {
        const size_t asked = i < MSL_SLOTS ? request->threadgroup_nbytes[i] : request->static_nbytes;
        // Four longs ask for 32, and nothing for more; what ends at a page's end begins at a multiple of its length's unit.
        const size_t unit = i == MSL_SLOTS || request->threadgroup_alignment[i] > 16 ? 32 : 16;
        local->lengths[i] = (asked + unit - 1) / unit * unit;
        if (asked)
            local->nbytes += (local->lengths[i] + PAGE - 1) / PAGE * PAGE + PAGE;
    }
    if (local->nbytes == PAGE)
        return true;
    void *memory = mmap(nullptr, local->nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    local->mapping = static_cast<char *>(memory);
    char *at = local->mapping + PAGE;
    for (int i = 0; i <= MSL_SLOTS; i++) {
        if (!local->lengths[i])
            continue;
        const size_t pages = (local->lengths[i] + PAGE - 1) / PAGE * PAGE;
        if (mprotect(at, pages, PROT_READ | PROT_WRITE)) {
            munmap(memory, local->nbytes);
            return false;
        }
        local->blocks[i] = at + pages - local->lengths[i];
        at += pages + PAGE;
    }
    return true;
}

static pthread_key_t worker_key;
static pthread_once_t worker_once = PTHREAD_ONCE_INIT;

static void release_worker(void *of_the_ending_thread)
{
    Worker *w = static_cast<Worker *>(of_the_ending_thread);
    while (w->free_count)
        munmap(w->free_stacks[--w->free_count], STACK_NBYTES);
    free(w->free_stacks);
    free(w->fibers);
    free(w);
    worker = nullptr;
}

static void make_key() { pthread_key_create(&worker_key, release_worker); }

static bool prepare_worker(uint32_t threads)
{
    if (!worker) {
        pthread_once(&worker_once, make_key);
        worker = static_cast<Worker *>(calloc(1, sizeof(Worker)));
        if (!worker)
            return false;
        pthread_setspecific(worker_key, worker);
    }
    if (worker->fiber_capacity < threads) {
        Fiber *more = static_cast<Fiber *>(realloc(worker->fibers, threads * sizeof(Fiber)));
        if (!more)
            return false;
        worker->fibers = more;
        worker->fiber_capacity = threads;
    }
    return true;
}

static void place(const msl_request *request, msl_thread *thread, uint32_t index, const uint32_t group[3])
{
    const uint32_t *block = request->block;
    const uint32_t at[3] = {index % block[0], index / block[0] % block[1], index / block[0] / block[1]};
    for (int axis = 0; axis < 3; axis++) {
        thread->position_in_threadgroup[axis] = at[axis];
        thread->position_in_grid[axis] = group[axis] * block[axis] + at[axis];
        thread->threadgroup_position[axis] = group[axis];
        thread->threads_per_threadgroup[axis] = block[axis];
        thread->threadgroups_per_grid[axis] = request->grid[axis];
        thread->threads_per_grid[axis] = request->grid[axis] * block[axis];
    }
    thread->index_in_threadgroup = index;
    thread->index_in_simdgroup = index % LANES;
    thread->simdgroup_index = index / LANES;
}

extern "C" MSL_EXPORT int msl_run(const msl_request *request, msl_crash *crash)
{
    memset(crash, 0, sizeof *crash);
    const uint32_t threads = request->block[0] * request->block[1] * request->block[2];
    LocalMemory local;
    if (!prepare_worker(threads) || !map_local(request, &local)) {
        crash->kind = MSL_OUT_OF_MEMORY;
        return crash->kind;
    }
    install();
    stack_t ours, before;
    memset(&ours, 0, sizeof ours);
    Worker *w = worker;
    ours.ss_size = sizeof w->signal_stack;
    ours.ss_sp = w->signal_stack;
    if (sigaltstack(&ours, &before))
        abort();

    w->request = request;
    w->crash = crash;
    w->crashed = false;
    w->static_memory = local.blocks[MSL_SLOTS];
    uint32_t group[3];
    for (group[2] = 0; group[2] < request->grid[2] && !w->crashed; group[2]++)
        for (group[1] = 0; group[1] < request->grid[1] && !w->crashed; group[1]++)
            for (group[0] = 0; group[0] < request->grid[0] && !w->crashed; group[0]++) {
                for (int i = 0; i <= MSL_SLOTS; i++)
                    if (local.lengths[i])
                        memset(local.blocks[i], MSL_POISON, local.lengths[i]);
                for (uint32_t i = 0; i < threads; i++) {
                    Fiber *fiber = &w->fibers[i];
                    fiber->state = NEW;
                    fiber->stack = nullptr;
                    fiber->thread.buffers = request->buffers;
                    fiber->thread.local_memory = local.blocks;
                    place(request, &fiber->thread, i, group);
                }
                run_threadgroup(w, threads);
                for (uint32_t i = 0; i < threads; i++)
                    if (w->fibers[i].stack)
                        give_stack(w, w->fibers[i].stack);
            }

    sigaltstack(&before, nullptr);
    if (local.mapping)
        munmap(local.mapping, local.nbytes);
    return crash->kind;
}

// ------------------------------------------------ libraries and the values of function constants

static thread_local const msl_constant *given;
static thread_local uint32_t given_count;

extern "C" {

MSL_EXPORT int msl_constant_given(uint32_t index)
{
    for (uint32_t i = 0; i < given_count; i++)
        if (given[i].index == index)
            return 1;
    return 0;
}

MSL_EXPORT void msl_read_constant(uint32_t index, void *value, uint32_t nbytes)
{
    memset(value, 0, nbytes);
    for (uint32_t i = 0; i < given_count; i++)
        if (given[i].index == index)
            memcpy(value, given[i].value, nbytes < sizeof given[i].value ? nbytes : sizeof given[i].value);
}

// Loads a library of kernels; its initialisers read the function constants' values while it is loaded.
MSL_EXPORT void *msl_open(const char *path, const msl_constant *constants, uint32_t count, char *error, uint32_t error_nbytes)
{
    given = constants;
    given_count = count;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    given = nullptr;
    given_count = 0;
    if (!library)
        snprintf(error, error_nbytes, "%s", dlerror());
    return library;
}

MSL_EXPORT void *msl_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

MSL_EXPORT void msl_close(void *library)
{
    dlclose(library);
}

}
