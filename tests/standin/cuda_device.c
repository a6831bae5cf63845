/* Initialisation, devices, contexts, peers. */
#include <stdio.h>
#include <string.h>

#include "cuda_standin.h"

CUresult cuInit(unsigned flags)
{
    CALL(CORE_NEEDS_NOTHING, flags ? CORE_INVALID_VALUE : core_initialize());
}

CUresult cuDriverGetVersion(int *version)
{
    CALL(CORE_NEEDS_NOTHING, version ? (*version = (int)core_setting("driver_version"), CORE_OK) : CORE_INVALID_VALUE);
}

CUresult cuDeviceGetCount(int *count)
{
    CALL(INIT, count ? (*count = core_device_count(), CORE_OK) : CORE_INVALID_VALUE);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CALL(INIT, !device ? CORE_INVALID_VALUE : core_is_device(ordinal) ? (*device = ordinal, CORE_OK) : CORE_INVALID_DEVICE);
}

CUresult cuDeviceGetName(char *name, int room, CUdevice device)
{
    BEGIN(INIT);
    REFUSE(!core_is_device(device), CORE_INVALID_DEVICE);
    REFUSE(!name || room < 1, CORE_INVALID_VALUE);
    if (core_text("name")[0]) snprintf(name, (size_t)room, "%s", core_text("name"));
    else snprintf(name, (size_t)room, "Stand-in GPU %d (no hardware)", device);
    END;
}

static int uuid_of(CUuuid *uuid, CUdevice device)
{
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    memset(uuid, 0, sizeof *uuid);
    memcpy(uuid->bytes, "stand-in gpu", 12);
    uuid->bytes[15] = (char)device;
    return CORE_OK;
}

#undef cuDeviceGetUuid
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) { CALL(INIT, uuid ? uuid_of(uuid, device) : CORE_INVALID_VALUE); }
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) { CALL(INIT, uuid ? uuid_of(uuid, device) : CORE_INVALID_VALUE); }

CUresult cuDeviceTotalMem(size_t *nbytes, CUdevice device)
{
    CALL(INIT, nbytes ? core_device_memory(device, NULL, nbytes) : CORE_INVALID_VALUE);
}

CUresult cuDeviceGetPCIBusId(char *text, int room, CUdevice device)
{
    BEGIN(INIT);
    REFUSE(!core_is_device(device), CORE_INVALID_DEVICE);
    REFUSE(!text || room < 13, CORE_INVALID_VALUE);
    snprintf(text, (size_t)room, "%04x:%02x:%02x.0", (unsigned)core_attribute(device, CORE_ATTRIBUTE_PCI_DOMAIN_ID),
             (unsigned)core_attribute(device, CORE_ATTRIBUTE_PCI_BUS_ID),
             (unsigned)core_attribute(device, CORE_ATTRIBUTE_PCI_DEVICE_ID));
    END;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    BEGIN(INIT);
    REFUSE(!core_is_device(device), CORE_INVALID_DEVICE);
    REFUSE(!major || !minor, CORE_INVALID_VALUE);
    *major = (int)core_attribute(device, CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = (int)core_attribute(device, CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    END;
}

#define SAME(theirs, ours) case CU_DEVICE_ATTRIBUTE_##theirs: return (int)core_attribute(device, CORE_ATTRIBUTE_##ours)

static int attribute_of(CUdevice_attribute attribute, CUdevice device)
{
    switch (attribute) {
    SAME(MAX_THREADS_PER_BLOCK, MAX_THREADS_PER_BLOCK);
    SAME(MAX_BLOCK_DIM_X, MAX_BLOCK_DIM_X);
    SAME(MAX_BLOCK_DIM_Y, MAX_BLOCK_DIM_Y);
    SAME(MAX_BLOCK_DIM_Z, MAX_BLOCK_DIM_Z);
    SAME(MAX_GRID_DIM_X, MAX_GRID_DIM_X);
    SAME(MAX_GRID_DIM_Y, MAX_GRID_DIM_Y);
    SAME(MAX_GRID_DIM_Z, MAX_GRID_DIM_Z);
    SAME(MAX_SHARED_MEMORY_PER_BLOCK, MAX_SHARED_PER_BLOCK);
    SAME(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, MAX_SHARED_PER_BLOCK_OPTIN);
    SAME(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, MAX_SHARED_PER_MULTIPROCESSOR);
    SAME(RESERVED_SHARED_MEMORY_PER_BLOCK, RESERVED_SHARED_PER_BLOCK);
    SAME(TOTAL_CONSTANT_MEMORY, TOTAL_CONSTANT_MEMORY);
    SAME(WARP_SIZE, WARP_SIZE);
    SAME(MAX_PITCH, MAX_PITCH);
    SAME(MAX_REGISTERS_PER_BLOCK, MAX_REGISTERS_PER_BLOCK);
    SAME(MAX_REGISTERS_PER_MULTIPROCESSOR, MAX_REGISTERS_PER_MULTIPROCESSOR);
    SAME(CLOCK_RATE, CLOCK_RATE);
    SAME(MEMORY_CLOCK_RATE, MEMORY_CLOCK_RATE);
    SAME(TEXTURE_ALIGNMENT, TEXTURE_ALIGNMENT);
    SAME(MULTIPROCESSOR_COUNT, MULTIPROCESSOR_COUNT);
    SAME(MAX_THREADS_PER_MULTIPROCESSOR, MAX_THREADS_PER_MULTIPROCESSOR);
    SAME(MAX_BLOCKS_PER_MULTIPROCESSOR, MAX_BLOCKS_PER_MULTIPROCESSOR);
    SAME(L2_CACHE_SIZE, L2_CACHE_SIZE);
    SAME(GLOBAL_MEMORY_BUS_WIDTH, MEMORY_BUS_WIDTH);
    SAME(ASYNC_ENGINE_COUNT, ASYNC_ENGINE_COUNT);
    SAME(COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MAJOR);
    SAME(COMPUTE_CAPABILITY_MINOR, COMPUTE_CAPABILITY_MINOR);
    SAME(PCI_BUS_ID, PCI_BUS_ID);
    SAME(PCI_DEVICE_ID, PCI_DEVICE_ID);
    SAME(PCI_DOMAIN_ID, PCI_DOMAIN_ID);
    SAME(INTEGRATED, INTEGRATED);
    SAME(CONCURRENT_KERNELS, CONCURRENT_KERNELS);
    SAME(UNIFIED_ADDRESSING, UNIFIED_ADDRESSING);
    SAME(CAN_MAP_HOST_MEMORY, CAN_MAP_HOST_MEMORY);
    SAME(MANAGED_MEMORY, MANAGED_MEMORY);
    SAME(CONCURRENT_MANAGED_ACCESS, CONCURRENT_MANAGED_ACCESS);
    SAME(PAGEABLE_MEMORY_ACCESS, PAGEABLE_MEMORY_ACCESS);
    SAME(STREAM_PRIORITIES_SUPPORTED, STREAM_PRIORITIES);
    SAME(COOPERATIVE_LAUNCH, COOPERATIVE_LAUNCH);
    SAME(MEMORY_POOLS_SUPPORTED, MEMORY_POOLS);
    SAME(CLUSTER_LAUNCH, CLUSTER_LAUNCH);
    SAME(VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, VIRTUAL_MEMORY);
    SAME(TENSOR_MAP_ACCESS_SUPPORTED, TENSOR_MAPS);
    SAME(HOST_REGISTER_SUPPORTED, HOST_REGISTER);
    SAME(COMPUTE_MODE, COMPUTE_MODE);
    case CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT:
        return core_attribute(device, CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 9 ? 4 : 1;
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP: return core_attribute(device, CORE_ATTRIBUTE_ASYNC_ENGINE_COUNT) > 0;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: return 1;
    default: return 0; /* what this device does not have */
    }
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    BEGIN(INIT);
    REFUSE(!value || attribute < 1, CORE_INVALID_VALUE);
    REFUSE(!core_is_device(device), CORE_INVALID_DEVICE);
    *value = attribute_of(attribute, device);
    END;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    CALL(INIT, can ? core_can_access_peer(can, device, peer) : CORE_INVALID_VALUE);
}

/* ------------------------------------------------ contexts */

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CALL(INIT, context ? core_primary_retain(OUT(context), device) : CORE_INVALID_VALUE);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) { CALL(INIT, core_primary_release(device)); }
CUresult cuDevicePrimaryCtxReset(CUdevice device) { CALL(INIT, core_primary_reset(device)); }
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) { CALL(INIT, core_primary_set_flags(device, flags)); }

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    CALL(INIT, flags && active ? core_primary_state(device, flags, active) : CORE_INVALID_VALUE);
}

static CUresult create(const char *name, CUcontext *out, unsigned flags, CUdevice device)
{
    struct core_call call;
    int code = core_enter(&call, name, INIT);
    if (!code) code = out ? core_context_create(OUT(out), flags, device) : CORE_INVALID_VALUE;
    return (CUresult)core_leave(&call, code);
}

#undef cuCtxCreate
CUresult cuCtxCreate(CUcontext *out, unsigned flags, CUdevice device);
CUresult cuCtxCreate(CUcontext *out, unsigned flags, CUdevice device) { return create("cuCtxCreate", out, flags, device); }
CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device) { return create("cuCtxCreate", out, flags, device); }
CUresult cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *affinity, int count, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *affinity, int count, unsigned flags, CUdevice device)
{
    (void)affinity;
    (void)count;
    return create("cuCtxCreate", out, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
    (void)params;
    return create("cuCtxCreate", out, flags, device);
}

CUresult cuCtxDestroy(CUcontext context) { CALL(INIT, core_context_destroy(HANDLE(context))); }
CUresult cuCtxPushCurrent(CUcontext context) { CALL(INIT, core_push(HANDLE(context))); }
CUresult cuCtxPopCurrent(CUcontext *context) { CALL(INIT, core_pop(OUT(context))); }
CUresult cuCtxSetCurrent(CUcontext context) { CALL(INIT, core_set_current(HANDLE(context))); }

CUresult cuCtxGetCurrent(CUcontext *context)
{
    CALL(INIT, context ? (*OUT(context) = core_current(), CORE_OK) : CORE_INVALID_VALUE);
}

#undef cuCtxGetDevice
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxGetDevice(CUdevice *device)
{
    CALL(CONTEXT | CORE_ALLOWS_LOST, device ? core_context_device(core_current(), device) : CORE_INVALID_VALUE);
}
CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context);
CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context)
{
    CALL(INIT, device ? core_context_device(context ? HANDLE(context) : core_current(), device) : CORE_INVALID_VALUE);
}

CUresult cuCtxGetFlags(unsigned *flags)
{
    CALL(CONTEXT | CORE_ALLOWS_LOST, flags ? core_context_flags(core_current(), flags) : CORE_INVALID_VALUE);
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
    CALL(INIT, id ? core_context_id(context ? HANDLE(context) : core_current(), (uint64_t *)(void *)id) : CORE_INVALID_VALUE);
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    CALL(INIT, version && (context || core_current()) ? (*version = 3020, CORE_OK) : CORE_INVALID_CONTEXT);
}

#undef cuCtxSynchronize
CUresult cuCtxSynchronize(void);
CUresult cuCtxSynchronize(void) { CALL(CONTEXT, core_context_synchronize()); }

static size_t limits[16] = {[CU_LIMIT_STACK_SIZE] = 1024, [CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20,
                            [CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20};

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    CALL(CONTEXT, value && (unsigned)limit < 16 ? (*value = limits[limit], CORE_OK) : CORE_INVALID_VALUE);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    CALL(CONTEXT, (unsigned)limit < 16 ? (limits[limit] = value, CORE_OK) : CORE_INVALID_VALUE);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    BEGIN(CONTEXT);
    if (least) *least = CORE_PRIORITY_LEAST;
    if (greatest) *greatest = CORE_PRIORITY_GREATEST;
    END;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    CALL(CONTEXT, flags ? CORE_INVALID_VALUE : core_enable_peer(HANDLE(peer)));
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) { CALL(CONTEXT, core_disable_peer(HANDLE(peer))); }
CUresult cuProfilerStart(void);
CUresult cuProfilerStart(void) { CALL(CONTEXT, CORE_OK); }
CUresult cuProfilerStop(void);
CUresult cuProfilerStop(void) { CALL(CONTEXT, CORE_OK); }

/* ------------------------------------------------ codes */

static const char *name_of(int code)
{
    for (const struct error_name *e = error_names; e->name; e++)
        if (e->code == code) return e->name;
    return NULL;
}

CUresult cuGetErrorName(CUresult error, const char **out)
{
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = name_of((int)error);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **out)
{
    static __thread char text[128];
    const char *name = name_of((int)error);
    char *to = text;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    if (!strncmp(name, "CUDA_", 5)) name += 5;
    if (!strncmp(name, "ERROR_", 6)) name += 6;
    for (; *name && to < text + sizeof text - 1; name++)
        *to++ = *name == '_' ? ' ' : (char)(*name >= 'A' && *name <= 'Z' ? *name - 'A' + 'a' : *name);
    *to = 0;
    *out = text;
    return CUDA_SUCCESS;
}
