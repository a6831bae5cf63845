/* What happened: every call, every accepted launch, and what correct callers never do. And faults on demand. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core_parts.h"

#define CALL_ROOM (1u << 16)
#define LAUNCH_ROOM (1u << 14)
#define VIOLATION_ROOM 1024
#define NAME_ROOM 4096
#define SCRIPT_ROOM 32

/* ------------------------------------------------ names, kept for ever */

struct script { uint64_t first, count; int code; };
static struct entry {
    char *name;
    uint64_t calls;
    struct script scripts[SCRIPT_ROOM];
    unsigned script_count;
} *entries[NAME_ROOM];
static struct entry all_calls = {.name = "*"};

static struct entry *entry_of(const char *text, size_t nbytes)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < nbytes; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    for (unsigned step = 0; step < NAME_ROOM; step++) {
        struct entry **at = &entries[(hash + step) % NAME_ROOM];
        if (!*at) {
            *at = calloc(1, sizeof **at);
            (*at)->name = strndup(text, nbytes);
            return *at;
        }
        if (!strncmp((*at)->name, text, nbytes) && !(*at)->name[nbytes]) return *at;
    }
    abort();
}

static size_t unversioned(const char *name)
{
    static const char *const endings[] = {"_ptsz", "_ptds", "_v2", "_v3", "_v4", "_v5", "_spt"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t k = strlen(endings[i]);
        if (n > k && !strcmp(name + n - k, endings[i])) {
            char shorter[128];
            snprintf(shorter, sizeof shorter, "%.*s", (int)(n - k), name);
            return unversioned(shorter);
        }
    }
    return n;
}

const char *name_kept(const char *name)
{
    return entry_of(name, unversioned(name))->name;
}

/* ------------------------------------------------ violations */

static struct standin_violation violations[VIOLATION_ROOM];
static uint64_t violation_count;
static struct { const char *kind; uint64_t count; } violation_kinds[64];

void core_violation(const char *kind, const char *format, ...)
{
    struct thread *self = thread_self();
    struct standin_violation *v = &violations[violation_count % VIOLATION_ROOM];
    va_list arguments;
    kind = name_kept(kind);
    v->serial = ++violation_count;
    v->thread = self->id;
    v->kind = kind;
    v->call = self->call ? self->call->name : "";
    va_start(arguments, format);
    vsnprintf(v->detail, sizeof v->detail, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < sizeof violation_kinds / sizeof *violation_kinds; i++) {
        if (!violation_kinds[i].kind) violation_kinds[i].kind = kind;
        if (violation_kinds[i].kind != kind) continue;
        violation_kinds[i].count++;
        return;
    }
}

uint64_t standin_violation_count(const char *kind)
{
    uint64_t n = 0;
    pthread_mutex_lock(&core_lock);
    if (!kind || !*kind) n = violation_count;
    for (size_t i = 0; kind && i < sizeof violation_kinds / sizeof *violation_kinds && violation_kinds[i].kind; i++)
        if (!strcmp(violation_kinds[i].kind, kind)) n = violation_kinds[i].count;
    pthread_mutex_unlock(&core_lock);
    return n;
}

/* ------------------------------------------------ calls */

static struct standin_call *calls;
static uint64_t call_count;

void journal_call(const struct core_call *call, int code)
{
    struct standin_call *line;
    if (!calls) calls = calloc(CALL_ROOM, sizeof *calls);
    line = &calls[call_count % CALL_ROOM];
    *line = (struct standin_call){++call_count, thread_self()->id, call->name, call->context, call->owner, code,
                                  call->owner_matches};
    if (call->owner_matches == 0)
        core_violation("wrong-context", "%s: context %#" PRIx64 " is current, the handle belongs to %#" PRIx64,
                       call->name, call->context, call->owner);
}

uint64_t standin_call_count(const char *name)
{
    uint64_t n;
    pthread_mutex_lock(&core_lock);
    n = name && *name ? entry_of(name, unversioned(name))->calls : call_count;
    pthread_mutex_unlock(&core_lock);
    return n;
}

#define COPY_RING(ring, RING_ROOM, total)                                                                    \
    uint64_t n = (total) < (RING_ROOM) ? (total) : (RING_ROOM);                                              \
    if (n > room) n = room;                                                                                  \
    for (uint64_t i = 0; i < n; i++) out[i] = (ring)[((total) - n + i) % (RING_ROOM)]

uint64_t standin_calls(struct standin_call *out, uint64_t room)
{
    pthread_mutex_lock(&core_lock);
    COPY_RING(calls, CALL_ROOM, call_count);
    pthread_mutex_unlock(&core_lock);
    return n;
}

uint64_t standin_violations(struct standin_violation *out, uint64_t room)
{
    pthread_mutex_lock(&core_lock);
    COPY_RING(violations, VIOLATION_ROOM, violation_count);
    pthread_mutex_unlock(&core_lock);
    return n;
}

/* ------------------------------------------------ launches */

static struct standin_launch *launches;
static uint8_t **parameters;
static uint64_t launch_count;

void journal_launch(const struct kernel_launch *kernel, struct stream *stream, core_handle exec, struct standin_launch *out)
{
    uint64_t at = launch_count % LAUNCH_ROOM;
    if (!launches) {
        launches = calloc(LAUNCH_ROOM, sizeof *launches);
        parameters = calloc(LAUNCH_ROOM, sizeof *parameters);
    }
    *out = (struct standin_launch){
        .ordinal = ++launch_count, .thread = thread_self()->id, .context = stream->object.context,
        .stream = stream->object.handle, .module = kernel->function->module->seen.handle,
        .function = kernel->function->object.handle, .exec = exec, .kernel = kernel->function->name,
        .shared = kernel->shared, .cooperative = kernel->cooperative, .programmatic = kernel->programmatic,
        .has_priority = kernel->has_priority, .priority = kernel->priority,
        .has_sync_domain = kernel->has_sync_domain, .sync_domain = kernel->sync_domain,
        .device = stream_context(stream)->device, .parameter_nbytes = kernel->nbytes,
    };
    memcpy(out->grid, kernel->grid, sizeof out->grid);
    memcpy(out->block, kernel->block, sizeof out->block);
    memcpy(out->cluster, kernel->cluster, sizeof out->cluster);
    out->kernel = name_kept(out->kernel);
    launches[at] = *out;
    free(parameters[at]);
    parameters[at] = malloc(kernel->nbytes + 1);
    memcpy(parameters[at], kernel->parameters, kernel->nbytes);
}

uint64_t standin_launch_count(void)
{
    uint64_t n;
    pthread_mutex_lock(&core_lock);
    n = launch_count;
    pthread_mutex_unlock(&core_lock);
    return n;
}

uint64_t standin_launches(struct standin_launch *out, uint64_t room)
{
    pthread_mutex_lock(&core_lock);
    COPY_RING(launches, LAUNCH_ROOM, launch_count);
    pthread_mutex_unlock(&core_lock);
    return n;
}

uint64_t standin_launch_parameters(uint64_t ordinal, uint8_t *out, uint64_t room)
{
    uint64_t n = 0;
    pthread_mutex_lock(&core_lock);
    if (ordinal && ordinal <= launch_count && ordinal + LAUNCH_ROOM > launch_count) {
        n = launches[(ordinal - 1) % LAUNCH_ROOM].parameter_nbytes;
        memcpy(out, parameters[(ordinal - 1) % LAUNCH_ROOM], n < room ? n : room);
    }
    pthread_mutex_unlock(&core_lock);
    return n;
}

static void forget_lines(void)
{
    call_count = launch_count = violation_count = 0;
    memset(violation_kinds, 0, sizeof violation_kinds);
    for (unsigned i = 0; i < NAME_ROOM; i++)
        if (entries[i]) entries[i]->calls = 0;
    all_calls.calls = 0;
}

void journal_forget(void) { forget_lines(); }

void standin_clear_journal(void)
{
    pthread_mutex_lock(&core_lock);
    faults_forget();
    forget_lines();
    pthread_mutex_unlock(&core_lock);
}

/* ------------------------------------------------ faults */

static struct { uint64_t ordinal; int code; } launch_scripts[256];
static unsigned launch_script_count;

int core_is_sticky(int code)
{
    switch (code) {
    case CORE_ILLEGAL_ADDRESS: case CORE_LAUNCH_TIMEOUT: case CORE_ASSERT: case CORE_HARDWARE_STACK_ERROR:
    case CORE_ILLEGAL_INSTRUCTION: case CORE_MISALIGNED_ADDRESS: case CORE_INVALID_ADDRESS_SPACE:
    case CORE_INVALID_PC: case CORE_LAUNCH_FAILED:
    case 214: /* uncorrectable memory error */
    case 226: /* contained */
        return 1;
    default: return 0;
    }
}

static int scripted(struct entry *entry)
{
    entry->calls++;
    for (unsigned i = 0; i < entry->script_count; i++) {
        const struct script *s = &entry->scripts[i];
        if (entry->calls >= s->first && (!s->count || entry->calls - s->first < s->count)) return s->code;
    }
    return CORE_OK;
}

int fault_of_call(const char *name)
{
    int any = scripted(&all_calls), own = scripted(entry_of(name, strlen(name)));
    return own ? own : any;
}

static void add_script(const char *name, uint64_t nth, uint64_t count, int code)
{
    struct entry *entry = !strcmp(name, "*") ? &all_calls : entry_of(name, unversioned(name));
    if (entry->script_count == SCRIPT_ROOM) abort();
    entry->scripts[entry->script_count++] = (struct script){entry->calls + nth, count, code};
}

/* Also made while the library loads, before any other thread: no lock. */
void core_fault_call(const char *name, uint64_t nth, uint64_t count, int code) { add_script(name, nth, count, code); }

void core_fault_launch(uint64_t nth, int code)
{
    if (launch_script_count == sizeof launch_scripts / sizeof *launch_scripts) abort();
    launch_scripts[launch_script_count].ordinal = launch_count + nth;
    launch_scripts[launch_script_count++].code = code;
}

int fault_of_launch(uint64_t ordinal)
{
    for (unsigned i = 0; i < launch_script_count; i++)
        if (launch_scripts[i].ordinal == ordinal) return launch_scripts[i].code;
    return CORE_OK;
}

void faults_forget(void)
{
    launch_script_count = 0;
    all_calls.script_count = 0;
    for (unsigned i = 0; i < NAME_ROOM; i++)
        if (entries[i]) entries[i]->script_count = 0;
}

void standin_fail_call(const char *name, uint64_t nth, uint64_t count, int code)
{
    pthread_mutex_lock(&core_lock);
    core_fault_call(name, nth, count, code);
    pthread_mutex_unlock(&core_lock);
}

void standin_fail_launch(uint64_t nth, int code)
{
    pthread_mutex_lock(&core_lock);
    core_fault_launch(nth, code);
    pthread_mutex_unlock(&core_lock);
}

void standin_clear_faults(void)
{
    pthread_mutex_lock(&core_lock);
    faults_forget();
    pthread_mutex_unlock(&core_lock);
}

/* ------------------------------------------------ absent entry points */

static char absent[8192];

int absent_set(const char *names);
int absent_set(const char *names)
{
    if (strlen(names) >= sizeof absent) return 1;
    snprintf(absent, sizeof absent, "%s", names);
    return 0;
}

int standin_set_absent(const char *names) { return absent_set(names); }

int core_is_absent(const char *name)
{
    size_t nbytes = unversioned(name);
    for (const char *at = absent; *at;) {
        size_t n = strcspn(at, ", ");
        if (n == nbytes && !strncmp(at, name, n)) return 1;
        at += n + strspn(at + n, ", ");
    }
    return 0;
}
