/* Handles: numbers of (kind, generation, slot), so that one that was destroyed is recognised for ever after. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core_parts.h"

#define SLOT_BITS 20
#define SLOT_MASK ((1u << SLOT_BITS) - 1)
#define KIND_SHIFT 40

struct slot {
    struct object *object;
    uint32_t generation;
    uint32_t next_free; /* slot number plus 1 */
};
static struct table {
    struct slot *slots;
    uint32_t count, room, free_first;
    uint64_t created, destroyed;
} tables[KIND_COUNT];

static const char *const kind_names[KIND_COUNT] = {
    [KIND_CONTEXT] = "context", [KIND_STREAM] = "stream", [KIND_EVENT] = "event", [KIND_MODULE] = "module",
    [KIND_FUNCTION] = "function", [KIND_POOL] = "pool", [KIND_PHYSICAL] = "physical", [KIND_GRAPH] = "graph",
    [KIND_NODE] = "node", [KIND_EXEC] = "exec", [KIND_MEMORY] = "memory", [KIND_HOST_MEMORY] = "host_memory",
    [KIND_RESERVATION] = "reservation", [KIND_MAPPING] = "mapping",
};

void count_created(enum kind kind) { tables[kind].created++; }
void count_destroyed(enum kind kind) { tables[kind].destroyed++; }

void object_add(struct object *object, enum kind kind, core_handle context)
{
    struct table *t = &tables[kind];
    uint32_t at;
    if (t->free_first) {
        at = t->free_first - 1;
        t->free_first = t->slots[at].next_free;
    } else {
        if (t->count == t->room) {
            t->room = t->room ? 2 * t->room : 64;
            t->slots = realloc(t->slots, t->room * sizeof *t->slots);
        }
        if (t->count > SLOT_MASK) abort(); /* a million live objects of a kind: a test has lost its way */
        at = t->count++;
        t->slots[at] = (struct slot){.generation = 1};
    }
    t->slots[at].object = object;
    object->kind = kind;
    object->context = context;
    object->handle = (uint64_t)kind << KIND_SHIFT | (uint64_t)t->slots[at].generation << SLOT_BITS | at;
    t->created++;
}

static void vacate(struct table *t, uint32_t at)
{
    t->slots[at].object = NULL;
    t->slots[at].generation = (t->slots[at].generation % SLOT_MASK) + 1;
    t->slots[at].next_free = t->free_first;
    t->free_first = at + 1;
}

void object_remove(struct object *object)
{
    struct table *t = &tables[object->kind];
    uint32_t at = (uint32_t)object->handle & SLOT_MASK;
    if (at >= t->count || t->slots[at].object != object) return;
    vacate(t, at);
    t->destroyed++;
}

static struct slot *slot_of(core_handle handle, enum kind kind)
{
    struct table *t = &tables[kind];
    uint32_t at = (uint32_t)handle & SLOT_MASK;
    return handle >> KIND_SHIFT == (uint64_t)kind && at < t->count ? &t->slots[at] : NULL;
}

void *object_peek(core_handle handle, enum kind kind)
{
    struct slot *slot = slot_of(handle, kind);
    if (!slot || !slot->object || slot->object->handle != handle) return NULL;
    return slot->object;
}

void *object_find(core_handle handle, enum kind kind)
{
    struct object *object = object_peek(handle, kind);
    if (object) {
        if (object->context) core_owned_by(object->context);
        return object;
    }
    if (slot_of(handle, kind))
        core_violation("stale-handle", "%s %#" PRIx64 " was destroyed", kind_names[kind], handle);
    return NULL;
}

void *object_next(enum kind kind, uint32_t *cursor)
{
    struct table *t = &tables[kind];
    while (*cursor < t->count) {
        struct object *object = t->slots[(*cursor)++].object;
        if (object) return object;
    }
    return NULL;
}

void objects_forget(void)
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        struct table *t = &tables[kind];
        for (uint32_t at = 0; at < t->count; at++)
            if (t->slots[at].object) vacate(t, at);
        t->created = t->destroyed = 0;
    }
}

uint64_t standin_count(const char *kind, const char *what)
{
    uint64_t result = UINT64_MAX;
    pthread_mutex_lock(&core_lock);
    for (int k = 1; k < KIND_COUNT; k++) {
        if (strcmp(kind_names[k], kind)) continue;
        if (!strcmp(what, "created")) result = tables[k].created;
        else if (!strcmp(what, "destroyed")) result = tables[k].destroyed;
        else if (!strcmp(what, "live")) result = tables[k].created - tables[k].destroyed;
    }
    pthread_mutex_unlock(&core_lock);
    return result;
}
