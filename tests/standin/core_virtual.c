/* Virtual memory: reserved addresses are really without access until physical memory is mapped and access granted. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core_parts.h"

struct reservation { struct reservation *next; core_address base; size_t nbytes; };
static struct reservation *reservations;

static void *pointer(core_address address) { return (void *)(uintptr_t)address; }

static struct reservation *reserved(core_address address, size_t nbytes)
{
    for (struct reservation *r = reservations; r; r = r->next)
        if (address >= r->base && nbytes <= r->nbytes && address - r->base <= r->nbytes - nbytes) return r;
    return NULL;
}

static int seal(core_address address, size_t nbytes)
{
    void *at = mmap(pointer(address), nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return at == MAP_FAILED ? CORE_OUT_OF_MEMORY : CORE_OK;
}

int core_address_reserve(core_address *out, size_t nbytes, size_t alignment, core_address hint)
{
    struct reservation *r;
    uintptr_t raw, base;
    void *at;
    (void)hint; /* "if possible" */
    if (!nbytes || nbytes % CORE_GRANULARITY) return CORE_INVALID_VALUE;
    if (alignment & (alignment - 1)) return CORE_INVALID_VALUE;
    if (alignment < CORE_GRANULARITY) alignment = CORE_GRANULARITY;
    at = mmap(NULL, nbytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return CORE_OUT_OF_MEMORY;
    raw = (uintptr_t)at;
    base = (raw + alignment - 1) & ~(uintptr_t)(alignment - 1);
    if (base > raw) munmap(at, base - raw);
    if (raw + alignment > base) munmap((void *)(base + nbytes), raw + alignment - base);
    r = calloc(1, sizeof *r);
    *r = (struct reservation){reservations, base, nbytes};
    reservations = r;
    count_created(KIND_RESERVATION);
    *out = base;
    return CORE_OK;
}

int core_address_free(core_address base, size_t nbytes)
{
    struct reservation **at = &reservations, *r;
    while (*at && (*at)->base != base) at = &(*at)->next;
    if (!(r = *at) || r->nbytes != nbytes) return CORE_INVALID_VALUE;
    for (core_address a = base; a < base + nbytes; a += CORE_GRANULARITY)
        if (memory_at(a)) {
            core_violation("reservation-freed-while-mapped", "something is mapped in it");
            return CORE_INVALID_VALUE;
        }
    munmap(pointer(base), nbytes);
    *at = r->next;
    free(r);
    count_destroyed(KIND_RESERVATION);
    return CORE_OK;
}

int core_physical_create(core_handle *out, size_t nbytes, int device)
{
    struct physical *physical;
    size_t available;
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    if (!core_attribute(device, CORE_ATTRIBUTE_VIRTUAL_MEMORY)) return CORE_NOT_SUPPORTED;
    if (!nbytes || nbytes % CORE_GRANULARITY) return CORE_INVALID_VALUE;
    core_device_memory(device, &available, NULL);
    if (nbytes > available) return CORE_OUT_OF_MEMORY;
    physical = calloc(1, sizeof *physical);
    physical->descriptor = memfd_create("standin", MFD_CLOEXEC);
    if (physical->descriptor < 0 || ftruncate(physical->descriptor, (off_t)nbytes)) {
        if (physical->descriptor >= 0) close(physical->descriptor);
        free(physical);
        return CORE_OUT_OF_MEMORY;
    }
    physical->nbytes = nbytes;
    physical->device = device;
    memory_use(device, (int64_t)nbytes);
    object_add(&physical->object, KIND_PHYSICAL, 0);
    *out = physical->object.handle;
    return CORE_OK;
}

static void give_back(struct physical *physical)
{
    if (!physical->is_released || physical->mappings) return;
    close(physical->descriptor);
    memory_use(physical->device, -(int64_t)physical->nbytes);
    free(physical);
}

int core_physical_release(core_handle handle)
{
    struct physical *physical = object_find(handle, KIND_PHYSICAL);
    if (!physical) return CORE_INVALID_VALUE;
    object_remove(&physical->object);
    physical->is_released = 1;
    give_back(physical);
    return CORE_OK;
}

int core_map(core_address address, size_t nbytes, size_t offset, core_handle handle)
{
    struct physical *physical = object_find(handle, KIND_PHYSICAL);
    struct allocation *a;
    if (!physical) return CORE_INVALID_VALUE;
    if (!nbytes || nbytes % CORE_GRANULARITY || address % CORE_GRANULARITY || offset ||
        nbytes != physical->nbytes || !reserved(address, nbytes))
        return CORE_INVALID_VALUE;
    a = calloc(1, sizeof *a);
    a->base = address;
    a->nbytes = nbytes;
    a->kind = CORE_MEMORY_MAPPED;
    a->device = physical->device;
    a->physical = physical;
    if (memory_insert(a)) {
        free(a);
        return CORE_INVALID_VALUE;
    }
    if (mmap(pointer(address), nbytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->descriptor, 0) == MAP_FAILED) {
        memory_remove(a);
        free(a);
        return CORE_OUT_OF_MEMORY;
    }
    physical->mappings++;
    count_created(KIND_MAPPING);
    return CORE_OK;
}

/* Calls `each` on the mappings that fill the range exactly; 1 where they do not. */
static int over_mappings(core_address address, size_t nbytes, int (*each)(struct allocation *, void *), void *argument)
{
    core_address at = address, end = address + nbytes;
    struct allocation *a;
    if (!nbytes) return CORE_INVALID_VALUE;
    for (; at < end; at += a->nbytes) {
        a = memory_based_at(at);
        if (!a || a->kind != CORE_MEMORY_MAPPED || a->nbytes > end - at) return CORE_INVALID_VALUE;
    }
    for (at = address; at < end;) {
        size_t step;
        int code;
        a = memory_based_at(at);
        step = a->nbytes;
        if ((code = each(a, argument))) return code;
        at += step;
    }
    return CORE_OK;
}

static int unmap_one(struct allocation *a, void *unused)
{
    struct physical *physical = a->physical;
    (void)unused;
    if (a->references)
        core_violation("free-in-use", "%zu mapped bytes are unmapped while %d queued operations name them", a->nbytes,
                       a->references);
    if (seal(a->base, a->nbytes)) return CORE_OUT_OF_MEMORY;
    memory_kill(a);
    physical->mappings--;
    give_back(physical);
    return CORE_OK;
}

int core_unmap(core_address address, size_t nbytes) { return over_mappings(address, nbytes, unmap_one, NULL); }

struct grant { int device, access; };

static int grant_one(struct allocation *a, void *argument)
{
    const struct grant *grant = argument;
    int any = 0;
    a->access[grant->device] = grant->access;
    for (int d = 0; d < MAX_DEVICES; d++) any |= a->access[d];
    memory_changed();
    /* The host's own view stands in for the devices', so it has what any of them has. */
    if (mprotect(pointer(a->base), a->nbytes, (any & 1 ? PROT_READ : 0) | (any & 2 ? PROT_WRITE : 0)))
        return CORE_OUT_OF_MEMORY;
    return CORE_OK;
}

int core_set_access(core_address address, size_t nbytes, int device, int access)
{
    struct grant grant = {device, access};
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    if (access != 0 && access != 1 && access != 3) return CORE_INVALID_VALUE;
    return over_mappings(address, nbytes, grant_one, &grant);
}

int core_get_access(core_address address, int device, int *access)
{
    struct allocation *a = memory_at(address);
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    if (!a || a->kind != CORE_MEMORY_MAPPED) return CORE_INVALID_VALUE;
    *access = a->access[device];
    return CORE_OK;
}

void virtual_forget(void)
{
    struct physical *physical;
    uint32_t cursor = 0;
    while (reservations) {
        struct reservation *r = reservations;
        for (core_address a = r->base; a < r->base + r->nbytes; a += CORE_GRANULARITY) {
            struct allocation *mapped = memory_based_at(a);
            if (mapped) unmap_one(mapped, NULL);
        }
        reservations = r->next;
        munmap(pointer(r->base), r->nbytes);
        free(r);
    }
    while ((physical = object_next(KIND_PHYSICAL, &cursor))) {
        object_remove(&physical->object);
        physical->is_released = 1;
        give_back(physical);
    }
}
