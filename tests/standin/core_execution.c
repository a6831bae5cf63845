/* The driver's own thread, which runs host functions, and the executor, which runs kernels where a test gave one. */
#include <stdlib.h>

#include "core_parts.h"

standin_load_function executor_load, executor_unload;
standin_launch_function executor_launch;
static int is_executing;
static __thread int on_driver_thread;

int is_driver_thread(void) { return on_driver_thread; }

/* ------------------------------------------------ host functions */

static struct errand { struct errand *next; struct stream *stream; } *errands, **errands_end = &errands;
static pthread_cond_t errand_came = PTHREAD_COND_INITIALIZER;
static int thread_is_running;

static void *drive(void *unused)
{
    (void)unused;
    on_driver_thread = 1;
    pthread_mutex_lock(&core_lock);
    for (;;) {
        struct errand *errand;
        while (!(errand = errands)) pthread_cond_wait(&errand_came, &core_lock);
        if (!(errands = errand->next)) errands_end = &errands;
        while (errand->stream->head) run_step(errand->stream);
        errand->stream->holds--;
        stream_release(errand->stream);
        free(errand);
    }
    return NULL;
}

void driver_thread_wake(struct stream *stream)
{
    struct errand *errand = malloc(sizeof *errand);
    if (!thread_is_running) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, drive, NULL)) abort();
        pthread_detach(thread);
        thread_is_running = 1;
    }
    *errand = (struct errand){NULL, stream};
    stream->holds++;
    *errands_end = errand;
    errands_end = &errand->next;
    pthread_cond_signal(&errand_came);
}

/* ------------------------------------------------ kernels */

/* How deep this thread is in executions: Python's collector may close a device in the middle of one, and a thread must
 * not wait for itself. */
static __thread int depth;

static void begin(void)
{
    if (!depth) {
        while (is_executing) pthread_cond_wait(&core_changed, &core_lock);
        is_executing = 1;
    }
    depth++;
    pthread_mutex_unlock(&core_lock);
}

static void end(void)
{
    pthread_mutex_lock(&core_lock);
    if (--depth) return;
    is_executing = 0;
    pthread_cond_broadcast(&core_changed);
}

int execute_kernel(struct module *module, const struct standin_launch *launch, const uint8_t *parameters)
{
    struct standin_execution execution = {&module->seen, launch, parameters};
    standin_launch_function run = executor_launch;
    int code;
    if (!run) return CORE_OK;
    begin();
    code = run(&execution);
    end();
    return code;
}

void executor_tell(standin_load_function function, struct module *module)
{
    if (!function) return;
    begin();
    function(&module->seen);
    end();
}

void standin_set_executor(standin_load_function load, standin_load_function unload, standin_launch_function launch)
{
    pthread_mutex_lock(&core_lock);
    while (is_executing) pthread_cond_wait(&core_changed, &core_lock);
    executor_load = load;
    executor_unload = unload;
    executor_launch = launch;
    pthread_mutex_unlock(&core_lock);
}
