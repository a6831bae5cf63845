/* Streams, events, host functions, capture. */
#include <stddef.h>

#include "cuda_standin.h"

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
    CALL(CONTEXT, out ? core_stream_create(OUT(out), flags, priority) : CORE_INVALID_VALUE);
}

CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
    CALL(CONTEXT, out ? core_stream_create(OUT(out), flags, 0) : CORE_INVALID_VALUE);
}

CUresult cuStreamDestroy(CUstream stream) { CALL(CONTEXT, core_stream_destroy(HANDLE(stream))); }
CUresult cuStreamSynchronize(CUstream stream) { CALL(CONTEXT, core_stream_synchronize(HANDLE(stream))); }
CUresult cuStreamQuery(CUstream stream) { CALL(CONTEXT, core_stream_query(HANDLE(stream))); }

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    CALL(CONTEXT, flags & ~1u ? CORE_INVALID_VALUE : core_stream_wait_event(HANDLE(stream), HANDLE(event), flags & 1));
}

CUresult cuStreamGetPriority(CUstream stream, int *out)
{
    CALL(CONTEXT, out ? core_stream_priority(HANDLE(stream), out) : CORE_INVALID_VALUE);
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *out)
{
    CALL(CONTEXT, out ? core_stream_flags(HANDLE(stream), out) : CORE_INVALID_VALUE);
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *out)
{
    CALL(CONTEXT, out ? core_stream_id(HANDLE(stream), (uint64_t *)(void *)out) : CORE_INVALID_VALUE);
}

#undef cuStreamGetCtx
CUresult cuStreamGetCtx(CUstream stream, CUcontext *out);
CUresult cuStreamGetCtx(CUstream stream, CUcontext *out)
{
    CALL(CONTEXT, out ? core_stream_context(HANDLE(stream), OUT(out)) : CORE_INVALID_VALUE);
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *out, CUgreenCtx *green);
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *out, CUgreenCtx *green)
{
    BEGIN(CONTEXT);
    REFUSE(!out || !green, CORE_INVALID_VALUE);
    *green = NULL;
    code = core_stream_context(HANDLE(stream), OUT(out));
    END;
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice *out);
CUresult cuStreamGetDevice(CUstream stream, CUdevice *out)
{
    core_handle context = 0;
    BEGIN(CONTEXT);
    REFUSE(!out, CORE_INVALID_VALUE);
    code = core_stream_context(HANDLE(stream), &context);
    if (!code) code = core_context_device(context, out);
    END;
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void *argument, unsigned flags)
{
    CALL(CONTEXT, flags ? CORE_INVALID_VALUE
                        : core_stream_call(HANDLE(stream), (core_host_function)(void *)function, argument, 1));
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *argument)
{
    CALL(CONTEXT, core_stream_call(HANDLE(stream), (core_host_function)(void *)function, argument, 0));
}

/* ------------------------------------------------ events */

CUresult cuEventCreate(CUevent *out, unsigned flags)
{
    CALL(CONTEXT, out ? core_event_create(OUT(out), flags) : CORE_INVALID_VALUE);
}

CUresult cuEventDestroy(CUevent event) { CALL(CONTEXT, core_event_destroy(HANDLE(event))); }

CUresult cuEventRecord(CUevent event, CUstream stream) { CALL(CONTEXT, core_event_record(HANDLE(event), HANDLE(stream), 0)); }

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    CALL(CONTEXT, flags & ~1u ? CORE_INVALID_VALUE : core_event_record(HANDLE(event), HANDLE(stream), flags & 1));
}

CUresult cuEventQuery(CUevent event) { CALL(UNSAFE, core_event_query(HANDLE(event))); }
CUresult cuEventSynchronize(CUevent event) { CALL(UNSAFE, core_event_synchronize(HANDLE(event))); }

#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end);
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    CALL(CONTEXT, ms ? core_event_elapsed(ms, HANDLE(start), HANDLE(end)) : CORE_INVALID_VALUE);
}
CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end);
CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
    CALL(CONTEXT, ms ? core_event_elapsed(ms, HANDLE(start), HANDLE(end)) : CORE_INVALID_VALUE);
}

/* ------------------------------------------------ capture */

#undef cuStreamBeginCapture
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    CALL(CONTEXT, core_capture_begin(HANDLE(stream), (enum core_capture_mode)mode));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *out)
{
    CALL(CONTEXT, out ? core_capture_end(HANDLE(stream), OUT(out)) : CORE_INVALID_VALUE);
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *out)
{
    CALL(CONTEXT, out ? core_capture_status(HANDLE(stream), (int *)out) : CORE_INVALID_VALUE);
}

static int info(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                const CUgraphNode **dependencies, size_t *count)
{
    struct core_capture_info found;
    int code = status ? core_capture_info(HANDLE(stream), &found) : CORE_INVALID_VALUE;
    if (code) return code;
    *status = (CUstreamCaptureStatus)found.status;
    if (found.status != CORE_CAPTURE_ACTIVE) return CORE_OK; /* the rest is only set while capturing */
    if (id) *id = found.id;
    if (graph) *OUT(graph) = found.graph;
    if (dependencies) *dependencies = (const CUgraphNode *)(const void *)found.dependencies;
    if (count) *count = found.count;
    return CORE_OK;
}

#undef cuStreamGetCaptureInfo
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies, size_t *count);
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies, size_t *count)
{
    CALL(CONTEXT, info(stream, status, id, graph, dependencies, count));
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count);
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count)
{
    static const CUgraphEdgeData plain[1024]; /* all edges are plain ones; the array parallels the dependencies */
    if (edges) *edges = plain;
    CALL(CONTEXT, info(stream, status, id, graph, dependencies, count));
}

#undef cuStreamUpdateCaptureDependencies
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t count, unsigned flags);
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t count, unsigned flags)
{
    CALL(CONTEXT, flags > 1 ? CORE_INVALID_VALUE
                            : core_capture_set_dependencies(HANDLE(stream), OUT(nodes), (unsigned)count, (int)flags));
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *edges,
                                              size_t count, unsigned flags);
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *edges,
                                              size_t count, unsigned flags)
{
    (void)edges;
    CALL(CONTEXT, flags > 1 ? CORE_INVALID_VALUE
                            : core_capture_set_dependencies(HANDLE(stream), OUT(nodes), (unsigned)count, (int)flags));
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CALL(INIT, mode ? core_capture_exchange((int *)mode) : CORE_INVALID_VALUE);
}
