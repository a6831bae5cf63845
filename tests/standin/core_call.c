/* A call of an entry point from its beginning to its end: the lock, the order of refusals, the journal, process exit. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core_parts.h"

void settings_forget(void);
void settings_script_faults(void);

pthread_mutex_t core_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t core_changed = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t around_calls = PTHREAD_MUTEX_INITIALIZER; /* the setting global_mutex */
static atomic_int deinitialized;
static int initialized;
static pid_t initialized_in;
static uint64_t epoch = 1;
static int (*interpreter_is_ending)(void);

struct thread *thread_self(void)
{
    static __thread struct thread self;
    if (self.epoch != epoch) {
        uint64_t id = self.id ? self.id : (uint64_t)syscall(SYS_gettid);
        memset(&self, 0, sizeof self);
        self.id = id;
        self.epoch = epoch;
    }
    return &self;
}

static int is_deinitialized(void)
{
    if (atomic_load(&deinitialized)) return 1;
    return interpreter_is_ending && core_setting("deinitialize_with_interpreter") && interpreter_is_ending();
}

static int refusal(struct core_call *call, struct thread *self, unsigned needs)
{
    int code;
    struct context *context;
    if (is_deinitialized()) return CORE_DEINITIALIZED;
    if ((code = fault_of_call(call->name))) {
        if (core_is_sticky(code) && call->context) context_lost(call->context, code);
        return code;
    }
    if (needs & CORE_NEEDS_INIT) {
        /* The parent's driver is of no use to a forked child. */
        if (initialized && initialized_in != getpid()) return CORE_NOT_INITIALIZED;
        if (!initialized && core_facade.initializes_itself && (code = core_initialize())) return code;
        if (!initialized) return CORE_NOT_INITIALIZED;
    }
    if (self->in_callback && needs && !(needs & CORE_ALLOWED_IN_CALLBACK)) {
        core_violation("call-in-callback", "%s was called from a host function", call->name);
        return CORE_NOT_PERMITTED;
    }
    if ((needs & CORE_NEEDS_CONTEXT) == CORE_NEEDS_CONTEXT) {
        if (!self->depth && core_facade.per_thread_device && core_is_device(self->device)) {
            core_handle own;
            if ((code = core_primary_retain(&own, self->device))) return code;
            self->stack[self->depth++] = own;
            call->context = own;
        }
        if (!call->context) return CORE_INVALID_CONTEXT;
        context = context_of(call->context);
        if (!context || !context->is_alive) return CORE_CONTEXT_IS_DESTROYED;
        if (context->sticky && !(needs & CORE_ALLOWS_LOST)) return context->sticky;
    }
    if (needs & CORE_UNSAFE_IN_CAPTURE) return capture_check_unsafe();
    return CORE_OK;
}

int core_enter(struct core_call *call, const char *name, unsigned needs)
{
    struct thread *self;
    memset(call, 0, sizeof *call);
    call->owner_matches = -1;
    call->entered = 1;
    self = thread_self();
    if (!self->in_callback && core_setting("global_mutex")) {
        pthread_mutex_lock(&around_calls);
        call->entered = 2;
    }
    pthread_mutex_lock(&core_lock);
    self = thread_self();
    call->name = name_kept(name);
    call->outer = self->call;
    call->context = self->depth ? self->stack[self->depth - 1] : 0;
    self->call = call;
    return refusal(call, self, needs);
}

int core_leave(struct core_call *call, int code)
{
    struct thread *self = thread_self();
    journal_call(call, code);
    if (core_setting("execution") == 1 && !self->in_callback) run_everything();
    self->call = call->outer;
    pthread_mutex_unlock(&core_lock);
    if (call->entered == 2) pthread_mutex_unlock(&around_calls);
    return code;
}

void core_owned_by(core_handle context)
{
    struct core_call *call = thread_self()->call;
    if (!call || !context) return;
    call->owner = context;
    if (call->owner_matches != 0) call->owner_matches = call->context == context;
}

int core_initialize(void)
{
    if (!core_device_count()) return CORE_NO_DEVICE;
    if (initialized && initialized_in != getpid()) return CORE_NOT_INITIALIZED;
    initialized = 1;
    initialized_in = getpid();
    return CORE_OK;
}

int core_device_count(void) { return (int)core_setting("devices"); }
int core_is_device(int device) { return device >= 0 && device < core_device_count(); }

/* ------------------------------------------------ the library's life */

static void forget(void)
{
    initialized = 0;
    epoch++;
    graphs_forget();
    streams_forget();
    modules_forget();
    virtual_forget();
    pools_forget();
    memory_forget();
    contexts_forget();
    objects_forget();
    faults_forget();
    journal_forget();
    settings_forget();
    settings_script_faults();
    atomic_store(&deinitialized, 0);
}

void standin_reset(void)
{
    pthread_mutex_lock(&core_lock);
    forget();
    pthread_mutex_unlock(&core_lock);
}

/* Internal calls go to static functions: another library in the process may have a function of the exported name. */
static void deinitialize(void) { atomic_store(&deinitialized, 1); }
void standin_deinitialize(void) { deinitialize(); }

static void before_fork(void) { pthread_mutex_lock(&core_lock); }
static void after_fork_parent(void) { pthread_mutex_unlock(&core_lock); }
static void after_fork_child(void)
{
    pthread_mutex_init(&core_lock, NULL);
    pthread_mutex_init(&around_calls, NULL);
    pthread_cond_init(&core_changed, NULL);
}

__attribute__((constructor)) static void loaded(void)
{
    interpreter_is_ending = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
    if (!interpreter_is_ending) interpreter_is_ending = (int (*)(void))dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    atexit(deinitialize);
    pthread_mutex_lock(&core_lock);
    forget();
    pthread_mutex_unlock(&core_lock);
}
