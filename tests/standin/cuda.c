/* The stand-in libcuda.so.1: what the library says of itself, and how its entry points are found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "cuda_standin.h"

const struct core_facade core_facade = {
    .vendor = "cuda", .driver_version = 13000, .warp_size = 32, .major = 9, .minor = 0,
    .default_stream = CORE_STREAM_LEGACY, .architecture = "sm_90",
};

/* What an entry point without an implementation here answers. */
int standin_missing(const char *name)
{
    struct core_call call;
    core_enter(&call, name, CORE_NEEDS_NOTHING);
    core_violation("not-modelled", "%s is not modelled", name);
    return core_leave(&call, CORE_NOT_SUPPORTED);
}

/* Private tables, by which NVIDIA's libraries reach into the driver: asked for by NVRTC, nvJitLink and cudart, before
   cuInit too. A driver that does not have one says so, and the libraries go without where they can. */
CUresult cuGetExportTable(const void **table, const CUuuid *which)
{
    BEGIN(CORE_NEEDS_NOTHING);
    REFUSE(!table || !which, CORE_INVALID_VALUE);
    *table = NULL;
    REFUSE(1, CORE_INVALID_VALUE);
    END;
}

static void *exported(const char *name)
{
    for (const struct entry_point *e = entry_points; e->name; e++)
        if (!strcmp(e->name, name)) return e->function;
    return NULL;
}

/* Names whose versions differ in their parameters: which one a caller of that CUDA version means. */
static const struct { const char *name; int since; const char *target; } versions[] = {
    {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
    {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
    {"cuCtxCreate", 0, "cuCtxCreate_v2"},
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
    {"cuStreamGetCaptureInfo", 0, "cuStreamGetCaptureInfo_v2"},
    {"cuStreamUpdateCaptureDependencies", 12030, "cuStreamUpdateCaptureDependencies_v2"},
    {"cuStreamUpdateCaptureDependencies", 0, "cuStreamUpdateCaptureDependencies"},
    {"cuGraphNodeGetDependencies", 12030, "cuGraphNodeGetDependencies_v2"},
    {"cuGraphNodeGetDependencies", 0, "cuGraphNodeGetDependencies"},
    {"cuGraphInstantiate", 0, "cuGraphInstantiateWithFlags"},
    {"cuCtxGetDevice", 13000, "cuCtxGetDevice_v2"},
    {"cuCtxGetDevice", 0, "cuCtxGetDevice"},
    {"cuCtxSynchronize", 13000, "cuCtxSynchronize_v2"},
    {"cuCtxSynchronize", 0, "cuCtxSynchronize"},
    {"cuStreamGetCtx", 12050, "cuStreamGetCtx_v2"},
    {"cuStreamGetCtx", 0, "cuStreamGetCtx"},
    {"cuEventElapsedTime", 0, "cuEventElapsedTime_v2"},
    {"cuDeviceGetUuid", 0, "cuDeviceGetUuid_v2"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuGetProcAddress", 0, "cuGetProcAddress"},
};

static void *resolve(const char *name, int version)
{
    if (core_is_absent(name)) return NULL;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (!strcmp(versions[i].name, name) && version >= versions[i].since) return exported(versions[i].target);
    for (const struct entry_alias *a = entry_aliases; a->name; a++)
        if (!strcmp(a->name, name)) return exported(a->target);
    return exported(name);
}

#undef cuGetProcAddress
CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status);
CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    (void)flags; /* which stream 0 is does not depend on the caller here: the legacy one */
    if (!name || !out) return CUDA_ERROR_INVALID_VALUE;
    *out = resolve(name, version);
    if (status) *status = *out ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *out || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags);
CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags)
{
    return cuGetProcAddress_v2(name, out, version, flags, NULL);
}
