/* Graphs and their executable copies. A body is never changed, so that a queued replay keeps what it was launched with. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core_parts.h"

/* ------------------------------------------------ graphs */

int core_graph_create(core_handle *out)
{
    struct graph *graph = calloc(1, sizeof *graph);
    graph->references = 1;
    object_add(&graph->object, KIND_GRAPH, 0);
    *out = graph->object.handle;
    return CORE_OK;
}

static void graph_drop(struct graph *graph)
{
    if (!graph || --graph->references) return;
    for (unsigned i = 0; i < graph->count; i++) {
        struct node *node = graph->nodes[i];
        object_remove(&node->object);
        body_drop(node->body);
        graph_drop(node->child);
        free(node->dependencies);
        free(node);
    }
    free(graph->nodes);
    free(graph);
}

int core_graph_destroy(core_handle handle)
{
    struct graph *graph = object_find(handle, KIND_GRAPH);
    if (!graph) return CORE_INVALID_VALUE;
    for (unsigned i = 0; i < graph->count; i++) object_remove(&graph->nodes[i]->object);
    object_remove(&graph->object);
    graph_drop(graph);
    return CORE_OK;
}

int graph_add(struct graph *graph, enum core_node_kind kind, struct body *body, struct graph *child,
              const core_handle *dependencies, unsigned count, core_handle *out)
{
    struct node *node = calloc(1, sizeof *node);
    node->dependencies = calloc(count + 1, sizeof *node->dependencies);
    for (unsigned i = 0; i < count; i++) {
        struct node *before = object_find(dependencies[i], KIND_NODE);
        if (!before || before->graph != graph) {
            free(node->dependencies);
            free(node);
            return CORE_INVALID_VALUE;
        }
        node->dependencies[node->dependency_count++] = before;
    }
    node->kind = kind;
    node->graph = graph;
    node->body = body ? body_hold(body) : NULL;
    node->child = child;
    if (child) child->references++;
    object_add(&node->object, KIND_NODE, 0);
    graph->nodes = realloc(graph->nodes, (graph->count + 1) * sizeof *graph->nodes);
    graph->nodes[graph->count++] = node;
    *out = node->object.handle;
    return CORE_OK;
}

int core_graph_nodes(core_handle handle, core_handle *out, size_t *count)
{
    struct graph *graph = object_find(handle, KIND_GRAPH);
    size_t n = 0;
    if (!graph) return CORE_INVALID_VALUE;
    if (out)
        for (; n < *count && n < graph->count; n++) out[n] = graph->nodes[n]->object.handle;
    *count = out ? n : graph->count;
    return CORE_OK;
}

int core_graph_dependencies(core_handle handle, core_handle *out, size_t *count)
{
    struct node *node = object_find(handle, KIND_NODE);
    size_t n = 0;
    if (!node) return CORE_INVALID_VALUE;
    if (out)
        for (; n < *count && n < node->dependency_count; n++) out[n] = node->dependencies[n]->object.handle;
    *count = out ? n : node->dependency_count;
    return CORE_OK;
}

int core_graph_node_kind(core_handle handle, int *out)
{
    struct node *node = object_find(handle, KIND_NODE);
    if (!node) return CORE_INVALID_VALUE;
    *out = (int)node->kind;
    return CORE_OK;
}

static void describe(const struct body *body, struct core_launch *out)
{
    const struct kernel_launch *k = &body->kernel;
    *out = (struct core_launch){.function = k->function->object.handle, .shared = k->shared,
                                .cooperative = k->cooperative, .programmatic = k->programmatic,
                                .has_priority = k->has_priority, .priority = k->priority,
                                .has_sync_domain = k->has_sync_domain, .sync_domain = k->sync_domain,
                                .parameters = k->pointers};
    memcpy(out->grid, k->grid, sizeof out->grid);
    memcpy(out->block, k->block, sizeof out->block);
    memcpy(out->cluster, k->cluster, sizeof out->cluster);
}

int core_graph_kernel(core_handle handle, struct core_launch *out)
{
    struct node *node = object_find(handle, KIND_NODE);
    if (!node || node->kind != CORE_NODE_KERNEL) return CORE_INVALID_VALUE;
    describe(node->body, out);
    return CORE_OK;
}

/* A kernel for a node: its context is that of its function; what is set apart from the launch stays as it was. */
static int node_body(const struct core_launch *launch, const struct body *before, struct body **out)
{
    struct function *f = object_peek(launch->function, KIND_FUNCTION);
    struct core_launch whole = *launch, old;
    if (!f) return CORE_INVALID_HANDLE;
    if (before) {
        describe(before, &old);
        memcpy(whole.cluster, old.cluster, sizeof whole.cluster);
        whole.cooperative = old.cooperative;
        whole.programmatic = old.programmatic;
        whole.has_priority = old.has_priority;
        whole.priority = old.priority;
        whole.has_sync_domain = old.has_sync_domain;
        whole.sync_domain = old.sync_domain;
    }
    return launch_body(&whole, context_of(f->object.context), out);
}

int core_graph_add_kernel(core_handle *out, core_handle handle, const core_handle *dependencies, size_t count,
                          const struct core_launch *launch)
{
    struct graph *graph = object_find(handle, KIND_GRAPH);
    struct body *body;
    int code;
    if (!graph) return CORE_INVALID_VALUE;
    if ((code = node_body(launch, NULL, &body))) return code;
    code = graph_add(graph, CORE_NODE_KERNEL, body, NULL, dependencies, (unsigned)count, out);
    body_drop(body);
    return code;
}

int core_graph_add_empty(core_handle *out, core_handle handle, const core_handle *dependencies, size_t count)
{
    struct graph *graph = object_find(handle, KIND_GRAPH);
    struct body *body;
    int code;
    if (!graph) return CORE_INVALID_VALUE;
    body = body_new(OP_EMPTY, 0);
    code = graph_add(graph, CORE_NODE_EMPTY, body, NULL, dependencies, (unsigned)count, out);
    body_drop(body);
    return code;
}

int core_graph_set_kernel(core_handle handle, const struct core_launch *launch)
{
    struct node *node = object_find(handle, KIND_NODE);
    struct body *body;
    int code;
    if (!node || node->kind != CORE_NODE_KERNEL) return CORE_INVALID_VALUE;
    if ((code = node_body(launch, node->body, &body))) return code;
    body_drop(node->body);
    node->body = body;
    return CORE_OK;
}

/* ------------------------------------------------ executable copies */

static void flatten(struct exec *exec, struct graph *graph)
{
    unsigned char *done = calloc(graph->count + 1, 1);
    unsigned left = graph->count;
    while (left) { /* a node once all before it are there: insertion order where that is one */
        for (unsigned i = 0; i < graph->count; i++) {
            struct node *node = graph->nodes[i];
            int ready = !done[i];
            for (unsigned k = 0; k < node->dependency_count && ready; k++) {
                unsigned at = 0;
                while (graph->nodes[at] != node->dependencies[k]) at++;
                ready = done[at];
            }
            if (!ready) continue;
            done[i] = 1;
            left--;
            if (node->child) {
                flatten(exec, node->child);
                continue;
            }
            exec->nodes = realloc(exec->nodes, (exec->count + 1) * sizeof *exec->nodes);
            exec->nodes[exec->count++] = (struct exec_node){node->object.handle, node->kind, body_hold(node->body), 1};
        }
    }
    free(done);
}

int core_graph_instantiate(core_handle *out, core_handle handle)
{
    struct graph *graph = object_find(handle, KIND_GRAPH);
    struct exec *exec;
    if (!graph) return CORE_INVALID_VALUE;
    exec = calloc(1, sizeof *exec);
    flatten(exec, graph);
    exec->graph = graph;
    graph->references++;
    object_add(&exec->object, KIND_EXEC, 0);
    *out = exec->object.handle;
    return CORE_OK;
}

int core_graph_exec_destroy(core_handle handle)
{
    struct exec *exec = object_find(handle, KIND_EXEC);
    if (!exec) return CORE_INVALID_VALUE;
    for (unsigned i = 0; i < exec->count; i++) body_drop(exec->nodes[i].body);
    object_remove(&exec->object);
    graph_drop(exec->graph);
    free(exec->nodes);
    free(exec);
    return CORE_OK;
}

static struct exec_node *exec_node_of(struct exec *exec, core_handle node)
{
    if (!object_find(node, KIND_NODE)) return NULL;
    for (unsigned i = 0; i < exec->count; i++)
        if (exec->nodes[i].source == node) return &exec->nodes[i];
    return NULL;
}

int core_graph_node_enabled(core_handle exec_handle, core_handle node, int *get, const int *set)
{
    struct exec *exec = object_find(exec_handle, KIND_EXEC);
    struct exec_node *n = exec ? exec_node_of(exec, node) : NULL;
    if (!n) return CORE_INVALID_VALUE;
    if (n->kind != CORE_NODE_KERNEL && n->kind != CORE_NODE_COPY && n->kind != CORE_NODE_FILL) return CORE_INVALID_VALUE;
    if (set) n->is_enabled = *set != 0;
    if (get) *get = n->is_enabled;
    return CORE_OK;
}

int core_graph_exec_set_kernel(core_handle exec_handle, core_handle node, const struct core_launch *launch)
{
    struct exec *exec = object_find(exec_handle, KIND_EXEC);
    struct exec_node *n = exec ? exec_node_of(exec, node) : NULL;
    struct body *body;
    int code;
    if (!n || n->kind != CORE_NODE_KERNEL) return CORE_INVALID_VALUE;
    if ((code = node_body(launch, n->body, &body))) return code;
    if (body->context != n->body->context) { /* a node stays in its context */
        body_drop(body);
        return CORE_INVALID_VALUE;
    }
    body_drop(n->body);
    n->body = body;
    return CORE_OK;
}

int core_graph_exec_update(core_handle exec_handle, core_handle graph_handle)
{
    struct exec *exec = object_find(exec_handle, KIND_EXEC), fresh = {0};
    struct graph *graph = object_find(graph_handle, KIND_GRAPH);
    int same;
    if (!exec || !graph) return CORE_INVALID_VALUE;
    flatten(&fresh, graph);
    same = fresh.count == exec->count;
    for (unsigned i = 0; same && i < exec->count; i++) same = fresh.nodes[i].kind == exec->nodes[i].kind;
    for (unsigned i = 0; i < fresh.count; i++) {
        if (same) {
            body_drop(exec->nodes[i].body);
            exec->nodes[i].body = fresh.nodes[i].body;
        } else {
            body_drop(fresh.nodes[i].body);
        }
    }
    free(fresh.nodes);
    return same ? CORE_OK : CORE_GRAPH_UPDATE_FAILURE;
}

static int launch_captured(struct exec *exec, struct stream *stream)
{
    core_handle handle, node, before = 0;
    struct graph *child;
    int code = core_graph_create(&handle);
    child = object_peek(handle, KIND_GRAPH);
    for (unsigned i = 0; i < exec->count && !code; i++) {
        if (!exec->nodes[i].is_enabled) continue;
        code = graph_add(child, exec->nodes[i].kind, exec->nodes[i].body, NULL, &before, before != 0, &node);
        before = node;
    }
    if (!code) code = capture_add(stream, CORE_NODE_GRAPH, NULL, child);
    object_remove(&child->object);
    graph_drop(child);
    return code;
}

int core_graph_launch(core_handle exec_handle, core_handle stream_handle)
{
    struct exec *exec = object_find(exec_handle, KIND_EXEC);
    struct stream *stream;
    struct body **bodies;
    unsigned count = 0;
    int code;
    if (!exec) return CORE_INVALID_VALUE;
    if ((code = stream_resolve(stream_handle, &stream))) return code;
    if (stream->capture) return launch_captured(exec, stream);
    if (stream->is_legacy && (code = capture_of_legacy(stream))) return code;
    bodies = calloc(exec->count + 1, sizeof *bodies);
    for (unsigned i = 0; i < exec->count && !code; i++) {
        struct body *body = exec->nodes[i].body;
        if (!exec->nodes[i].is_enabled) continue;
        if (body->kind == OP_KERNEL && body->kernel.function->module->is_unloaded) {
            core_violation("use-after-free", "a graph launches %s, whose module was unloaded", body->kernel.function->name);
            code = CORE_INVALID_HANDLE;
        }
        bodies[count++] = body;
    }
    if (!code) submit_op(stream, op_of_replay(stream, bodies, count, exec_handle));
    free(bodies);
    return code;
}

void graphs_forget(void)
{
    struct exec *exec;
    struct graph *graph;
    uint32_t cursor = 0;
    captures_forget();
    while ((exec = object_next(KIND_EXEC, &cursor))) core_graph_exec_destroy(exec->object.handle);
    for (cursor = 0; (graph = object_next(KIND_GRAPH, &cursor));) core_graph_destroy(graph->object.handle);
}
