/* Graphs. */
#include <string.h>

#include "cuda_standin.h"

static int node_launch(const CUDA_KERNEL_NODE_PARAMS *p, struct core_launch *out)
{
    const CUlaunchConfig config = {p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ,
                                   p->sharedMemBytes, NULL, NULL, 0};
    return launch_from_config(&config, p->func ? p->func : (CUfunction)p->kern, p->kernelParams, p->extra, out);
}

CUresult cuGraphCreate(CUgraph *out, unsigned flags)
{
    CALL(INIT, out && !flags ? core_graph_create(OUT(out)) : CORE_INVALID_VALUE);
}

CUresult cuGraphDestroy(CUgraph graph) { CALL(INIT, core_graph_destroy(HANDLE(graph))); }

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    CALL(INIT, count ? core_graph_nodes(HANDLE(graph), OUT(nodes), count) : CORE_INVALID_VALUE);
}

#undef cuGraphNodeGetDependencies
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count);
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    CALL(INIT, count ? core_graph_dependencies(HANDLE(node), OUT(nodes), count) : CORE_INVALID_VALUE);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges, size_t *count);
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges, size_t *count)
{
    BEGIN(INIT);
    REFUSE(!count, CORE_INVALID_VALUE);
    code = core_graph_dependencies(HANDLE(node), OUT(nodes), count);
    if (!code && nodes && edges) memset(edges, 0, *count * sizeof *edges);
    END;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *out)
{
    CALL(INIT, out ? core_graph_node_kind(HANDLE(node), (int *)out) : CORE_INVALID_VALUE);
}

static int add_kernel(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                      const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct core_launch launch;
    int code = out && params ? node_launch(params, &launch) : CORE_INVALID_VALUE;
    return code ? code : core_graph_add_kernel(OUT(out), HANDLE(graph), (const core_handle *)(const void *)dependencies, count, &launch);
}

CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS *params)
{
    CALL(CONTEXT, add_kernel(out, graph, dependencies, count, params));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count)
{
    CALL(INIT, out ? core_graph_add_empty(OUT(out), HANDLE(graph), (const core_handle *)(const void *)dependencies, count)
                   : CORE_INVALID_VALUE);
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out)
{
    struct core_launch l;
    BEGIN(INIT);
    REFUSE(!out, CORE_INVALID_VALUE);
    if (!(code = core_graph_kernel(HANDLE(node), &l)))
        *out = (CUDA_KERNEL_NODE_PARAMS){
            .func = (CUfunction)(uintptr_t)l.function, .gridDimX = l.grid[0], .gridDimY = l.grid[1], .gridDimZ = l.grid[2],
            .blockDimX = l.block[0], .blockDimY = l.block[1], .blockDimZ = l.block[2], .sharedMemBytes = l.shared,
            .kernelParams = l.parameters};
    END;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct core_launch launch;
    BEGIN(INIT);
    REFUSE(!params, CORE_INVALID_VALUE);
    if (!(code = node_launch(params, &launch))) code = core_graph_set_kernel(HANDLE(node), &launch);
    END;
}

#undef cuGraphInstantiate
CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
    CALL(CONTEXT, out && !(flags & ~15ull) ? core_graph_instantiate(OUT(out), HANDLE(graph)) : CORE_INVALID_VALUE);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    BEGIN(CONTEXT);
    REFUSE(!out || !params || (params->flags & ~15ull), CORE_INVALID_VALUE);
    code = core_graph_instantiate(OUT(out), HANDLE(graph));
    params->hErrNode_out = NULL;
    params->result_out = code ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
    END;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) { CALL(INIT, core_graph_exec_destroy(HANDLE(exec))); }
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) { CALL(CONTEXT, core_graph_launch(HANDLE(exec), HANDLE(stream))); }

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    core_handle context;
    int enabled;
    BEGIN(CONTEXT);
    (void)exec;
    (void)enabled;
    code = core_stream_context(HANDLE(stream), &context);
    END;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct core_launch launch;
    BEGIN(INIT);
    REFUSE(!params, CORE_INVALID_VALUE);
    if (!(code = node_launch(params, &launch))) code = core_graph_exec_set_kernel(HANDLE(exec), HANDLE(node), &launch);
    END;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
    int value = enabled != 0;
    CALL(INIT, core_graph_node_enabled(HANDLE(exec), HANDLE(node), NULL, &value));
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *enabled)
{
    CALL(INIT, enabled ? core_graph_node_enabled(HANDLE(exec), HANDLE(node), (int *)enabled, NULL) : CORE_INVALID_VALUE);
}

#undef cuGraphExecUpdate
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *result);
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *result)
{
    BEGIN(CONTEXT);
    REFUSE(!result, CORE_INVALID_VALUE);
    code = core_graph_exec_update(HANDLE(exec), HANDLE(graph));
    memset(result, 0, sizeof *result);
    result->result = code ? CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED : CU_GRAPH_EXEC_UPDATE_SUCCESS;
    END;
}
