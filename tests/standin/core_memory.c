/* Allocations: where they lie, whose they are, who still uses them, and what was freed lately. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core_parts.h"

#define ALIGN 256
#define FREED_COUNT 4096
#define PATTERN 0xA5
#define PATTERN_NBYTES (1u << 20)

static struct allocation **all; /* sorted by base */
static size_t count, room;
static uint64_t next_id = 1, version = 1;
static size_t used[MAX_DEVICES];
static size_t host_used;
static struct { core_address base, end; } freed[FREED_COUNT];
static unsigned freed_at;

void memory_changed(void) { version++; }
size_t memory_used(int device) { return used[device]; }
void memory_use(int device, int64_t nbytes) { used[device] = (size_t)((int64_t)used[device] + nbytes); }

static size_t place_of(core_address address) /* how many begin at or before it */
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all[middle]->base <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

struct allocation *memory_at(core_address address)
{
    size_t at = place_of(address);
    if (!at || address - all[at - 1]->base >= all[at - 1]->nbytes) return NULL;
    return all[at - 1];
}

struct allocation *memory_based_at(core_address address)
{
    struct allocation *found = memory_at(address);
    return found && found->base == address ? found : NULL;
}

int memory_was_freed(core_address address)
{
    for (unsigned i = 0; i < FREED_COUNT; i++)
        if (freed[i].base <= address && address < freed[i].end) return 1;
    return 0;
}

int memory_insert(struct allocation *a)
{
    size_t at = place_of(a->base);
    if (at && a->base - all[at - 1]->base < all[at - 1]->nbytes) return CORE_INVALID_VALUE;
    if (at < count && all[at]->base - a->base < a->nbytes) return CORE_INVALID_VALUE;
    if (count == room) {
        room = room ? 2 * room : 256;
        all = realloc(all, room * sizeof *all);
    }
    memmove(all + at + 1, all + at, (count - at) * sizeof *all);
    all[at] = a;
    count++;
    a->id = next_id++;
    for (unsigned i = 0; i < FREED_COUNT; i++)
        if (freed[i].base < a->base + a->nbytes && a->base < freed[i].end) freed[i].base = freed[i].end = 0;
    memory_changed();
    return CORE_OK;
}

void memory_remove(struct allocation *a)
{
    size_t at = place_of(a->base);
    if (!at || all[at - 1] != a) return;
    memmove(all + at - 1, all + at, (count - at) * sizeof *all);
    count--;
    freed[freed_at].base = a->base;
    freed[freed_at].end = a->base + a->nbytes;
    freed_at = (freed_at + 1) % FREED_COUNT;
    memory_changed();
}

void memory_hold(struct allocation *a) { a->references++; }

static void give_back(struct allocation *a)
{
    free(a->raw);
    free(a);
}

void memory_drop(struct allocation *a)
{
    if (!--a->references && a->is_dead) give_back(a);
}

void memory_kill(struct allocation *a)
{
    if (a->is_dead) return;
    memory_remove(a);
    a->is_dead = 1;
    switch (a->kind) {
    case CORE_MEMORY_HOST: host_used -= a->nbytes; count_destroyed(KIND_HOST_MEMORY); break;
    case CORE_MEMORY_REGISTERED: count_destroyed(KIND_HOST_MEMORY); break;
    case CORE_MEMORY_MAPPED: count_destroyed(KIND_MAPPING); break;
    default:
        memory_use(a->device, -(int64_t)a->nbytes);
        if (a->pool) a->pool->used -= a->nbytes;
        if (a->kind != CORE_MEMORY_GLOBAL) count_destroyed(KIND_MEMORY);
    }
    if (!a->references) give_back(a);
}

struct allocation *memory_new(size_t nbytes, enum core_memory_kind kind, struct context *context, unsigned flags, int *code)
{
    int device = context->device, is_host = kind == CORE_MEMORY_HOST;
    size_t limit = (size_t)core_setting(is_host ? "host_memory_nbytes" : "memory_nbytes");
    struct allocation *a;
    *code = CORE_INVALID_VALUE;
    if (!nbytes) return NULL;
    *code = CORE_OUT_OF_MEMORY;
    if (is_host ? limit && (host_used > limit || nbytes > limit - host_used)
                : used[device] > limit || nbytes > limit - used[device])
        return NULL;
    a = calloc(1, sizeof *a);
    /* A gap behind it, so that an overrun is never inside of another allocation. */
    if (posix_memalign(&a->raw, ALIGN, nbytes + ALIGN)) {
        free(a);
        return NULL;
    }
    if (core_setting("fill_new_memory")) memset(a->raw, PATTERN, nbytes < PATTERN_NBYTES ? nbytes : PATTERN_NBYTES);
    a->base = (core_address)(uintptr_t)a->raw;
    a->nbytes = nbytes;
    a->kind = kind;
    a->device = device;
    a->context = context->object.handle;
    a->flags = flags;
    memory_insert(a);
    if (is_host) {
        host_used += nbytes;
        count_created(KIND_HOST_MEMORY);
    } else {
        memory_use(device, (int64_t)nbytes);
        if (kind != CORE_MEMORY_GLOBAL) count_created(KIND_MEMORY);
    }
    *code = CORE_OK;
    return a;
}

int memory_check(core_address address, size_t nbytes, struct context *context, int write, struct allocation **out)
{
    struct allocation *a = memory_at(address);
    if (out) *out = a;
    if (!a) {
        if (memory_was_freed(address)) core_violation("use-after-free", "%#" PRIx64 " was freed", address);
        return CORE_INVALID_VALUE;
    }
    for (;;) {
        size_t left = a->nbytes - (size_t)(address - a->base);
        if (a->kind == CORE_MEMORY_MAPPED && !(a->access[context->device] & (write ? 2 : 1))) return CORE_INVALID_VALUE;
        if (nbytes <= left) return CORE_OK;
        address += left;
        nbytes -= left;
        /* Only pieces of a reserved range continue each other. */
        if (a->kind != CORE_MEMORY_MAPPED || !(a = memory_based_at(address)) || a->kind != CORE_MEMORY_MAPPED)
            return CORE_INVALID_VALUE;
    }
}

int core_alloc(core_address *out, size_t nbytes, enum core_memory_kind kind)
{
    int code;
    struct allocation *a = memory_new(nbytes, kind, current_context(), 0, &code);
    if (a) *out = a->base;
    return code;
}

int core_alloc_pitch(core_address *out, size_t *pitch, size_t width, size_t height)
{
    size_t alignment = (size_t)core_attribute(current_context()->device, CORE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    if (!width || !height) return CORE_INVALID_VALUE;
    *pitch = (width + alignment - 1) / alignment * alignment;
    return core_alloc(out, *pitch * height, CORE_MEMORY_DEVICE);
}

static int is_freeable(const struct allocation *a)
{
    return a->kind == CORE_MEMORY_DEVICE || a->kind == CORE_MEMORY_MANAGED || a->kind == CORE_MEMORY_POOL;
}

static void note_free(struct allocation *a)
{
    core_owned_by(a->context);
    if (a->references)
        core_violation("free-in-use", "%zu bytes at %#" PRIx64 " are freed while %d queued operations name them",
                       a->nbytes, a->base, a->references);
}

int core_free(core_address address)
{
    struct allocation *a;
    if (!address) return CORE_OK;
    a = memory_based_at(address);
    if (!a || !is_freeable(a) || a->free_is_queued) {
        core_violation(memory_was_freed(address) || (a && a->free_is_queued) ? "double-free" : "free-of-unknown",
                       "%#" PRIx64 " is no allocation", address);
        return CORE_INVALID_VALUE;
    }
    note_free(a);
    memory_kill(a);
    return CORE_OK;
}

/* ------------------------------------------------ host memory */

int core_host_alloc(void **out, size_t nbytes, unsigned flags)
{
    int code;
    struct allocation *a = memory_new(nbytes, CORE_MEMORY_HOST, current_context(), flags, &code);
    if (a) *out = a->raw;
    return code;
}

int core_host_free(void *pointer)
{
    struct allocation *a;
    if (!pointer) return CORE_OK;
    a = memory_based_at((uintptr_t)pointer);
    if (!a || a->kind != CORE_MEMORY_HOST) {
        core_violation("free-of-unknown", "%p is no page-locked memory", pointer);
        return CORE_INVALID_VALUE;
    }
    note_free(a);
    memory_kill(a);
    return CORE_OK;
}

int core_host_register(void *pointer, size_t nbytes, unsigned flags)
{
    struct context *context = current_context();
    struct allocation *a;
    if (!pointer || !nbytes) return CORE_INVALID_VALUE;
    if (!core_attribute(context->device, CORE_ATTRIBUTE_HOST_REGISTER)) return CORE_NOT_SUPPORTED;
    a = calloc(1, sizeof *a);
    a->base = (uintptr_t)pointer;
    a->nbytes = nbytes;
    a->kind = CORE_MEMORY_REGISTERED;
    a->device = context->device;
    a->context = context->object.handle;
    a->flags = flags;
    if (memory_insert(a)) {
        free(a);
        return CORE_HOST_MEMORY_ALREADY_REGISTERED;
    }
    count_created(KIND_HOST_MEMORY);
    return CORE_OK;
}

int core_host_unregister(void *pointer)
{
    struct allocation *a = memory_based_at((uintptr_t)pointer);
    if (!a || a->kind != CORE_MEMORY_REGISTERED) return CORE_HOST_MEMORY_NOT_REGISTERED;
    note_free(a);
    memory_kill(a);
    return CORE_OK;
}

int core_host_device_pointer(core_address *out, void *pointer)
{
    struct allocation *a = memory_at((uintptr_t)pointer);
    if (!a || (a->kind != CORE_MEMORY_HOST && a->kind != CORE_MEMORY_REGISTERED)) return CORE_INVALID_VALUE;
    *out = (uintptr_t)pointer;
    return CORE_OK;
}

int core_host_flags(unsigned *out, void *pointer)
{
    struct allocation *a = memory_at((uintptr_t)pointer);
    if (!a || a->kind != CORE_MEMORY_HOST) return CORE_INVALID_VALUE;
    *out = a->flags;
    return CORE_OK;
}

/* ------------------------------------------------ asking */

int core_device_memory(int device, size_t *available, size_t *total)
{
    size_t limit = (size_t)core_setting("memory_nbytes");
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    if (total) *total = limit;
    if (available) *available = used[device] < limit ? limit - used[device] : 0;
    return CORE_OK;
}

int core_memory_figures(size_t *available, size_t *total)
{
    return core_device_memory(current_context()->device, available, total);
}

int core_memory_find(core_address address, struct core_memory_info *out)
{
    struct allocation *a = memory_at(address);
    if (!a) return 0;
    *out = (struct core_memory_info){a->base, a->nbytes, a->id, (int)a->kind, a->device, a->context, a->flags};
    return 1;
}

uint64_t standin_memory_version(void)
{
    uint64_t now;
    pthread_mutex_lock(&core_lock);
    now = version;
    pthread_mutex_unlock(&core_lock);
    return now;
}

/* 0 none, 1 read, 3 read and write: what kernels of the context may do there. */
static int access_of(const struct allocation *a, struct context *context)
{
    if (a->owned_by_graph && !a->is_alive_in_graph) return 0;
    if (a->kind == CORE_MEMORY_GLOBAL && a->flags) return context->device == a->device ? 1 : 0;
    if (a->kind == CORE_MEMORY_MAPPED) return a->access[context->device];
    if (a->kind == CORE_MEMORY_HOST || a->kind == CORE_MEMORY_REGISTERED || a->kind == CORE_MEMORY_MANAGED) return 3;
    return a->device == context->device || contexts_are_peers(context, a->device) ? 3 : 0;
}

uint64_t standin_ranges(uint64_t handle, struct standin_range *out, uint64_t capacity)
{
    struct context *context;
    uint64_t n = 0;
    pthread_mutex_lock(&core_lock);
    context = context_of(handle);
    for (size_t i = 0; context && i < count; i++) {
        int access = access_of(all[i], context);
        if (!access) continue;
        if (n < capacity)
            out[n] = (struct standin_range){all[i]->base, all[i]->nbytes, all[i]->id, (int)all[i]->kind,
                                            all[i]->device, access, 0};
        n++;
    }
    pthread_mutex_unlock(&core_lock);
    return n;
}

/* ------------------------------------------------ ends */

void memory_forget_context(core_handle context)
{
    for (size_t i = count; i-- > 0;)
        if (i < count && all[i]->context == context && all[i]->kind != CORE_MEMORY_MAPPED) memory_kill(all[i]);
}

void memory_forget(void)
{
    while (count) memory_kill(all[count - 1]);
    memset(freed, 0, sizeof freed);
    memset(used, 0, sizeof used);
    host_used = 0;
}
