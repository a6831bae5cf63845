/* HIP's entry points over the core: libamdhip64.so as AMD's bindings and this package's `hip` driver call it.
 *
 * Where real HIP differs from CUDA's driver: no explicit initialisation, a current device for each thread instead of a
 * stack of contexts, no clusters and no attributes of a launch, work-items of a launch counted in 32 bits. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "core_parts.h"
#include "hip.h"

#define API STANDIN_EXPORT int
#define CONTEXT CORE_NEEDS_CONTEXT
#define UNSAFE (CORE_NEEDS_CONTEXT | CORE_UNSAFE_IN_CAPTURE)

/* The body of an entry point: `expression` is made between core_enter and core_leave. */
#define CALL(name, needs, expression)                            \
    do {                                                         \
        struct core_call call;                                   \
        int code = core_enter(&call, name, needs);               \
        if (!code) code = (expression);                          \
        return hip_code(core_leave(&call, code));                \
    } while (0)

static void attribute_defaults(int device)
{
    /* An Instinct of the gfx90a kind, but with wavefronts of 32: the CPU backend, which executes, has those. */
    core_attribute_set(device, CORE_ATTRIBUTE_MAX_SHARED_PER_BLOCK, 65536);
    core_attribute_set(device, CORE_ATTRIBUTE_MAX_SHARED_PER_BLOCK_OPTIN, 65536);
    core_attribute_set(device, CORE_ATTRIBUTE_MAX_SHARED_PER_MULTIPROCESSOR, 65536);
    core_attribute_set(device, CORE_ATTRIBUTE_RESERVED_SHARED_PER_BLOCK, 0);
    core_attribute_set(device, CORE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 1024);
    core_attribute_set(device, CORE_ATTRIBUTE_CLUSTER_LAUNCH, 0);
    core_attribute_set(device, CORE_ATTRIBUTE_TENSOR_MAPS, 0);
}

/* max_launch_threads 0: the limit is HIP's own affair, which wraps instead of refusing; see `launch`. */
const struct core_facade core_facade = {
    .vendor = "hip",
    .driver_version = 70125424,
    .warp_size = 32,
    .major = 11,
    .minor = 0,
    .default_stream = CORE_STREAM_LEGACY,
    .initializes_itself = 1,
    .per_thread_device = 1,
    .max_launch_threads = 0,
    .architecture = "gfx1100",
    .attribute_defaults = attribute_defaults,
};

static core_handle handle(hip_handle pointer) { return (core_handle)(uintptr_t)pointer; }
static hip_handle pointer(core_handle number) { return (hip_handle)(uintptr_t)number; }

/* ------------------------------------------------ library, errors, devices */

API hipInit(unsigned flags)
{
    CALL("hipInit", CORE_NEEDS_NOTHING, flags ? CORE_INVALID_VALUE : core_initialize());
}

API hipDriverGetVersion(int *out)
{
    CALL("hipDriverGetVersion", CORE_NEEDS_NOTHING, (*out = (int)core_setting("driver_version"), CORE_OK));
}

API hipRuntimeGetVersion(int *out)
{
    CALL("hipRuntimeGetVersion", CORE_NEEDS_NOTHING, (*out = (int)core_setting("driver_version"), CORE_OK));
}

API hipGetDeviceCount(int *out)
{
    CALL("hipGetDeviceCount", CORE_NEEDS_NOTHING,
         (*out = core_device_count(), core_device_count() ? CORE_OK : CORE_NO_DEVICE));
}

STANDIN_EXPORT const char *hipGetErrorName(int code) { return hip_error_name(code); }
STANDIN_EXPORT const char *hipGetErrorString(int code) { return hip_error_text(code); }
API hipGetLastError(void) { return HIP_SUCCESS; }

static const char *device_name(int device)
{
    static __thread char name[96];
    const char *given = core_text("name");
    if (given && *given) return given;
    snprintf(name, sizeof name, "Stand-in %s (device %d)", core_text("architecture"), device);
    return name;
}

API hipDeviceGet(int *out, int ordinal)
{
    CALL("hipDeviceGet", CORE_NEEDS_INIT, core_is_device(ordinal) ? (*out = ordinal, CORE_OK) : CORE_INVALID_DEVICE);
}

API hipDeviceGetName(char *out, int nbytes, int device)
{
    CALL("hipDeviceGetName", CORE_NEEDS_INIT,
         !core_is_device(device) ? CORE_INVALID_DEVICE
                                 : (snprintf(out, (size_t)nbytes, "%s", device_name(device)), CORE_OK));
}

static size_t total_memory(int device)
{
    size_t available = 0, total = 0;
    core_device_memory(device, &available, &total);
    return total;
}

API hipDeviceTotalMem(size_t *out, int device)
{
    CALL("hipDeviceTotalMem", CORE_NEEDS_INIT,
         !core_is_device(device) ? CORE_INVALID_DEVICE : (*out = total_memory(device), CORE_OK));
}

/* By HIP's numbers, hipDeviceAttribute_t; -1 for what only HIP has. */
static int attribute_value(int device, int number, int *out)
{
    static const struct { int number; enum core_attribute attribute; } known[] = {
        {2, CORE_ATTRIBUTE_ASYNC_ENGINE_COUNT}, {3, CORE_ATTRIBUTE_CAN_MAP_HOST_MEMORY}, {5, CORE_ATTRIBUTE_CLOCK_RATE},
        {8, CORE_ATTRIBUTE_CONCURRENT_KERNELS}, {9, CORE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
        {10, CORE_ATTRIBUTE_COOPERATIVE_LAUNCH}, {16, CORE_ATTRIBUTE_INTEGRATED}, {19, CORE_ATTRIBUTE_L2_CACHE_SIZE},
        {23, CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR}, {24, CORE_ATTRIBUTE_MANAGED_MEMORY},
        {25, CORE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR}, {26, CORE_ATTRIBUTE_MAX_BLOCK_DIM_X},
        {27, CORE_ATTRIBUTE_MAX_BLOCK_DIM_Y}, {28, CORE_ATTRIBUTE_MAX_BLOCK_DIM_Z}, {29, CORE_ATTRIBUTE_MAX_GRID_DIM_X},
        {30, CORE_ATTRIBUTE_MAX_GRID_DIM_Y}, {31, CORE_ATTRIBUTE_MAX_GRID_DIM_Z},
        {56, CORE_ATTRIBUTE_MAX_THREADS_PER_BLOCK}, {57, CORE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
        {58, CORE_ATTRIBUTE_MAX_PITCH}, {59, CORE_ATTRIBUTE_MEMORY_BUS_WIDTH}, {60, CORE_ATTRIBUTE_MEMORY_CLOCK_RATE},
        {61, CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR}, {63, CORE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
        {65, CORE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS}, {67, CORE_ATTRIBUTE_PCI_BUS_ID},
        {68, CORE_ATTRIBUTE_PCI_DEVICE_ID}, {69, CORE_ATTRIBUTE_PCI_DOMAIN_ID},
        {71, CORE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK}, {72, CORE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
        {73, CORE_ATTRIBUTE_RESERVED_SHARED_PER_BLOCK}, {74, CORE_ATTRIBUTE_MAX_SHARED_PER_BLOCK},
        {75, CORE_ATTRIBUTE_MAX_SHARED_PER_BLOCK_OPTIN}, {76, CORE_ATTRIBUTE_MAX_SHARED_PER_MULTIPROCESSOR},
        {78, CORE_ATTRIBUTE_STREAM_PRIORITIES}, {83, CORE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
        {85, CORE_ATTRIBUTE_UNIFIED_ADDRESSING}, {87, CORE_ATTRIBUTE_WARP_SIZE}, {88, CORE_ATTRIBUTE_MEMORY_POOLS},
        {89, CORE_ATTRIBUTE_VIRTUAL_MEMORY}, {90, CORE_ATTRIBUTE_HOST_REGISTER},
        {10002, CORE_ATTRIBUTE_MAX_SHARED_PER_MULTIPROCESSOR},
    };
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == number) return *out = (int)core_attribute(device, known[i].attribute), CORE_OK;
    return CORE_INVALID_VALUE;
}

API hipDeviceGetAttribute(int *out, int attribute, int device)
{
    CALL("hipDeviceGetAttribute", CORE_NEEDS_INIT, attribute_value(device, attribute, out));
}

static int properties(char *out, int device)
{
    int warp = (int)core_attribute(device, CORE_ATTRIBUTE_WARP_SIZE);
    size_t total = total_memory(device);
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    memset(out, 0, HIP_PROPERTIES_NBYTES);
    snprintf(out + HIP_PROPERTIES_NAME, 256, "%s", device_name(device));
    snprintf(out + HIP_PROPERTIES_ARCHITECTURE, 256, "%s", core_text("architecture"));
    memcpy(out + HIP_PROPERTIES_TOTAL, &total, sizeof total);
    memcpy(out + HIP_PROPERTIES_WARP, &warp, sizeof warp);
    return CORE_OK;
}

API hipGetDevicePropertiesR0600(void *out, int device)
{
    CALL("hipGetDeviceProperties", CORE_NEEDS_INIT, properties(out, device));
}

/* A library without an entry point is played by hiding it from the loader's and HIP's own lookup. */
API hipGetProcAddress(const char *symbol, void **out, int version, uint64_t flags, int *status)
{
    void *found;
    (void)version;
    (void)flags;
    found = core_is_absent(symbol) ? NULL : dlsym(RTLD_DEFAULT, symbol);
    if (status) *status = found ? 0 : 1;
    *out = found;
    CALL("hipGetProcAddress", CORE_NEEDS_NOTHING, found ? CORE_OK : CORE_INVALID_VALUE);
}

/* ------------------------------------------------ the thread's device */

static int set_device(int device)
{
    core_handle own;
    unsigned flags;
    int is_active = 0, code;
    if (!core_is_device(device)) return CORE_INVALID_DEVICE;
    core_primary_state(device, &flags, &is_active);
    if ((code = core_primary_retain(&own, device))) return code;
    /* HIP's devices live as long as the process: one count each. */
    if (is_active) core_primary_release(device);
    thread_self()->device = device;
    return core_set_current(own);
}

API hipSetDevice(int device) { CALL("hipSetDevice", CORE_NEEDS_INIT, set_device(device)); }

API hipGetDevice(int *out)
{
    CALL("hipGetDevice", CORE_NEEDS_INIT, (*out = thread_self()->device, CORE_OK));
}

API hipDeviceSynchronize(void) { CALL("hipDeviceSynchronize", CONTEXT, core_context_synchronize()); }

API hipDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    CALL("hipDeviceGetStreamPriorityRange", CONTEXT, (*least = 1, *greatest = -1, CORE_OK));
}

API hipDeviceCanAccessPeer(int *out, int device, int peer)
{
    CALL("hipDeviceCanAccessPeer", CORE_NEEDS_INIT, core_can_access_peer(out, device, peer));
}

static core_handle context_of_device(int device)
{
    core_handle own = 0;
    unsigned flags;
    int is_active = 0;
    core_primary_state(device, &flags, &is_active);
    if (core_primary_retain(&own, device)) return 0;
    if (is_active) core_primary_release(device);
    return own;
}

API hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    CALL("hipDeviceEnablePeerAccess", CONTEXT,
         flags ? CORE_INVALID_VALUE
         : !core_is_device(peer) ? CORE_INVALID_DEVICE
                                 : core_enable_peer(context_of_device(peer)));
}

API hipDeviceDisablePeerAccess(int peer)
{
    CALL("hipDeviceDisablePeerAccess", CONTEXT,
         !core_is_device(peer) ? CORE_INVALID_DEVICE : core_disable_peer(context_of_device(peer)));
}

/* ------------------------------------------------ memory */

API hipMemGetInfo(size_t *available, size_t *total)
{
    CALL("hipMemGetInfo", CONTEXT, core_memory_figures(available, total));
}

API hipMalloc(core_address *out, size_t nbytes)
{
    *out = 0;
    CALL("hipMalloc", UNSAFE, nbytes ? core_alloc(out, nbytes, CORE_MEMORY_DEVICE) : CORE_OK);
}

API hipMallocManaged(core_address *out, size_t nbytes, unsigned flags)
{
    *out = 0;
    CALL("hipMallocManaged", UNSAFE,
         flags == 1 || flags == 2 ? core_alloc(out, nbytes, CORE_MEMORY_MANAGED) : CORE_INVALID_VALUE);
}

API hipFree(core_address address) { CALL("hipFree", UNSAFE, core_free(address)); }

API hipMallocAsync(core_address *out, size_t nbytes, hip_handle stream)
{
    *out = 0;
    CALL("hipMallocAsync", CONTEXT, core_alloc_async(out, nbytes, 0, handle(stream)));
}

API hipFreeAsync(core_address address, hip_handle stream)
{
    CALL("hipFreeAsync", CONTEXT, core_free_async(address, handle(stream)));
}

API hipHostMalloc(void **out, size_t nbytes, unsigned flags)
{
    *out = NULL;
    CALL("hipHostMalloc", UNSAFE, core_host_alloc(out, nbytes, flags));
}

API hipHostFree(void *address) { CALL("hipHostFree", UNSAFE, core_host_free(address)); }

API hipHostGetDevicePointer(core_address *out, void *address, unsigned flags)
{
    *out = 0;
    CALL("hipHostGetDevicePointer", CONTEXT, flags ? CORE_INVALID_VALUE : core_host_device_pointer(out, address));
}

static int copy(uint64_t dst, enum core_space dst_space, uint64_t src, enum core_space src_space, size_t nbytes,
                hip_handle stream)
{
    struct core_copy c = {dst, src, nbytes, nbytes, nbytes, 1, dst_space, src_space};
    return core_copy(&c, handle(stream), 0);
}

API hipMemcpyHtoDAsync(core_address dst, const void *src, size_t nbytes, hip_handle stream)
{
    CALL("hipMemcpyHtoDAsync", CONTEXT,
         copy(dst, CORE_SPACE_DEVICE, (uintptr_t)src, CORE_SPACE_HOST, nbytes, stream));
}

API hipMemcpyDtoHAsync(void *dst, core_address src, size_t nbytes, hip_handle stream)
{
    CALL("hipMemcpyDtoHAsync", CONTEXT,
         copy((uintptr_t)dst, CORE_SPACE_HOST, src, CORE_SPACE_DEVICE, nbytes, stream));
}

API hipMemcpyDtoDAsync(core_address dst, core_address src, size_t nbytes, hip_handle stream)
{
    CALL("hipMemcpyDtoDAsync", CONTEXT, copy(dst, CORE_SPACE_DEVICE, src, CORE_SPACE_DEVICE, nbytes, stream));
}

static int spaces(int kind, enum core_space *dst, enum core_space *src)
{
    switch (kind) {
    case HIP_MEMCPY_H2H: return *dst = *src = CORE_SPACE_HOST, CORE_OK;
    case HIP_MEMCPY_H2D: return *dst = CORE_SPACE_DEVICE, *src = CORE_SPACE_HOST, CORE_OK;
    case HIP_MEMCPY_D2H: return *dst = CORE_SPACE_HOST, *src = CORE_SPACE_DEVICE, CORE_OK;
    case HIP_MEMCPY_D2D: return *dst = *src = CORE_SPACE_DEVICE, CORE_OK;
    case HIP_MEMCPY_DEFAULT: return *dst = *src = CORE_SPACE_UNIFIED, CORE_OK;
    default: return CORE_INVALID_VALUE;
    }
}

static int copy_2d(uint64_t dst, size_t dst_pitch, uint64_t src, size_t src_pitch, size_t width, size_t height, int kind,
                   hip_handle stream)
{
    struct core_copy c = {dst, src, dst_pitch, src_pitch, width, height, CORE_SPACE_DEVICE, CORE_SPACE_DEVICE};
    int code = spaces(kind, &c.dst_space, &c.src_space);
    return code ? code : core_copy(&c, handle(stream), 0);
}

API hipMemcpy2DAsync(core_address dst, size_t dst_pitch, core_address src, size_t src_pitch, size_t width, size_t height,
                     int kind, hip_handle stream)
{
    CALL("hipMemcpy2DAsync", CONTEXT, copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind, stream));
}

API hipMemcpyPeerAsync(core_address dst, int dst_device, core_address src, int src_device, size_t nbytes,
                       hip_handle stream)
{
    CALL("hipMemcpyPeerAsync", CONTEXT,
         !core_is_device(dst_device) || !core_is_device(src_device)
             ? CORE_INVALID_DEVICE
             : copy(dst, CORE_SPACE_DEVICE, src, CORE_SPACE_DEVICE, nbytes, stream));
}

API hipMemsetD8Async(core_address dst, unsigned char value, size_t count, hip_handle stream)
{
    CALL("hipMemsetD8Async", CONTEXT, core_fill(dst, count, value, 1, count, 1, handle(stream)));
}

API hipMemsetD16Async(core_address dst, unsigned short value, size_t count, hip_handle stream)
{
    CALL("hipMemsetD16Async", CONTEXT, core_fill(dst, 2 * count, value, 2, count, 1, handle(stream)));
}

API hipMemsetD32Async(core_address dst, int value, size_t count, hip_handle stream)
{
    CALL("hipMemsetD32Async", CONTEXT, core_fill(dst, 4 * count, (uint32_t)value, 4, count, 1, handle(stream)));
}

/* ------------------------------------------------ virtual memory */

static int device_of(const struct hip_allocation *p)
{
    return p && p->location.type == 1 && core_is_device(p->location.id) ? p->location.id : -1;
}

API hipMemGetAllocationGranularity(size_t *out, const struct hip_allocation *p, int option)
{
    CALL("hipMemGetAllocationGranularity", CORE_NEEDS_INIT,
         option > 1 || device_of(p) < 0 ? CORE_INVALID_VALUE : (*out = CORE_GRANULARITY, CORE_OK));
}

API hipMemAddressReserve(core_address *out, size_t nbytes, size_t alignment, core_address hint, uint64_t flags)
{
    *out = 0;
    CALL("hipMemAddressReserve", CORE_NEEDS_INIT,
         flags ? CORE_INVALID_VALUE : core_address_reserve(out, nbytes, alignment, hint));
}

API hipMemAddressFree(core_address base, size_t nbytes)
{
    CALL("hipMemAddressFree", CORE_NEEDS_INIT, core_address_free(base, nbytes));
}

API hipMemCreate(hip_handle *out, size_t nbytes, const struct hip_allocation *p, uint64_t flags)
{
    core_handle made = 0;
    *out = NULL;
    CALL("hipMemCreate", CORE_NEEDS_INIT,
         flags || device_of(p) < 0 || p->type != 1 ? CORE_INVALID_VALUE
         : (code = core_physical_create(&made, nbytes, device_of(p))) ? code
                                                                      : (*out = pointer(made), CORE_OK));
}

API hipMemRelease(hip_handle physical)
{
    CALL("hipMemRelease", CORE_NEEDS_INIT, core_physical_release(handle(physical)));
}

API hipMemMap(core_address address, size_t nbytes, size_t offset, hip_handle physical, uint64_t flags)
{
    CALL("hipMemMap", CORE_NEEDS_INIT, flags ? CORE_INVALID_VALUE : core_map(address, nbytes, offset, handle(physical)));
}

API hipMemUnmap(core_address address, size_t nbytes)
{
    CALL("hipMemUnmap", CORE_NEEDS_INIT, core_unmap(address, nbytes));
}

static int set_access(core_address address, size_t nbytes, const struct hip_access *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int code = all[i].location.type == 1 ? core_set_access(address, nbytes, all[i].location.id, all[i].flags)
                                             : CORE_INVALID_VALUE;
        if (code) return code;
    }
    return CORE_OK;
}

API hipMemSetAccess(core_address address, size_t nbytes, const struct hip_access *all, size_t count)
{
    CALL("hipMemSetAccess", CORE_NEEDS_INIT, set_access(address, nbytes, all, count));
}

/* ------------------------------------------------ streams and events */

#define MADE(function, ...) ((code = function(&made, ##__VA_ARGS__)) ? code : (*out = pointer(made), CORE_OK))

API hipStreamCreateWithPriority(hip_handle *out, unsigned flags, int priority)
{
    core_handle made = 0;
    *out = NULL;
    CALL("hipStreamCreateWithPriority", UNSAFE, MADE(core_stream_create, flags, priority));
}

API hipStreamCreateWithFlags(hip_handle *out, unsigned flags)
{
    core_handle made = 0;
    *out = NULL;
    CALL("hipStreamCreateWithFlags", UNSAFE, MADE(core_stream_create, flags, 0));
}

API hipStreamDestroy(hip_handle stream)
{
    CALL("hipStreamDestroy", CONTEXT | CORE_ALLOWS_LOST, core_stream_destroy(handle(stream)));
}

API hipStreamSynchronize(hip_handle stream)
{
    CALL("hipStreamSynchronize", CONTEXT, core_stream_synchronize(handle(stream)));
}

API hipStreamQuery(hip_handle stream) { CALL("hipStreamQuery", CONTEXT, core_stream_query(handle(stream))); }

API hipStreamWaitEvent(hip_handle stream, hip_handle event, unsigned flags)
{
    CALL("hipStreamWaitEvent", CONTEXT,
         flags > 1 ? CORE_INVALID_VALUE : core_stream_wait_event(handle(stream), handle(event), (int)flags));
}

API hipEventCreateWithFlags(hip_handle *out, unsigned flags)
{
    core_handle made = 0;
    *out = NULL;
    CALL("hipEventCreateWithFlags", CONTEXT, MADE(core_event_create, flags));
}

API hipEventDestroy(hip_handle event)
{
    CALL("hipEventDestroy", CONTEXT | CORE_ALLOWS_LOST, core_event_destroy(handle(event)));
}

API hipEventRecord(hip_handle event, hip_handle stream)
{
    CALL("hipEventRecord", CONTEXT, core_event_record(handle(event), handle(stream), 0));
}

API hipEventRecordWithFlags(hip_handle event, hip_handle stream, unsigned flags)
{
    CALL("hipEventRecordWithFlags", CONTEXT,
         flags > 1 ? CORE_INVALID_VALUE : core_event_record(handle(event), handle(stream), (int)flags));
}

API hipEventSynchronize(hip_handle event)
{
    CALL("hipEventSynchronize", CONTEXT, core_event_synchronize(handle(event)));
}

API hipEventQuery(hip_handle event) { CALL("hipEventQuery", CONTEXT, core_event_query(handle(event))); }

API hipEventElapsedTime(float *out, hip_handle start, hip_handle end)
{
    CALL("hipEventElapsedTime", CONTEXT, core_event_elapsed(out, handle(start), handle(end)));
}

/* ------------------------------------------------ code */

API hipModuleLoadData(hip_handle *out, const void *image)
{
    core_handle made = 0;
    *out = NULL;
    CALL("hipModuleLoadData", UNSAFE, MADE(hip_module_from_code_object, image, core_text("architecture")));
}

API hipModuleUnload(hip_handle module) { CALL("hipModuleUnload", UNSAFE, core_module_unload(handle(module))); }

API hipModuleGetFunction(hip_handle *out, hip_handle module, const char *name)
{
    core_handle made = 0;
    *out = NULL;
    CALL("hipModuleGetFunction", CONTEXT, MADE(core_module_function, handle(module), name));
}

API hipModuleGetGlobal(core_address *out, size_t *nbytes, hip_handle module, const char *name)
{
    *out = 0;
    CALL("hipModuleGetGlobal", CONTEXT, core_module_global(out, nbytes, handle(module), name));
}

static int function_attribute(int *out, int number, core_handle function)
{
    static const enum core_function_attribute known[] = {
        CORE_FUNCTION_MAX_THREADS_PER_BLOCK, CORE_FUNCTION_STATIC_SHARED,  CORE_FUNCTION_CONSTANT,
        CORE_FUNCTION_LOCAL,                 CORE_FUNCTION_REGISTERS,      CORE_FUNCTION_CODE_VERSION,
        CORE_FUNCTION_BINARY_VERSION,        CORE_FUNCTION_ATTRIBUTE_COUNT, CORE_FUNCTION_MAX_DYNAMIC_SHARED,
    };
    if (number < 0 || number >= (int)(sizeof known / sizeof *known) || known[number] == CORE_FUNCTION_ATTRIBUTE_COUNT)
        return CORE_INVALID_VALUE;
    return core_function_attribute(function, known[number], out);
}

API hipFuncGetAttribute(int *out, int attribute, hip_handle function)
{
    CALL("hipFuncGetAttribute", CONTEXT, function_attribute(out, attribute, handle(function)));
}

API hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *out, hip_handle function, int block, size_t shared)
{
    CALL("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", CONTEXT,
         core_occupancy(out, handle(function), block, shared));
}

/* ------------------------------------------------ launches */

/* Work-items are counted in 32 bits: what is over them is lost, and the launch "succeeds" with the rest. */
static int wrap(struct core_launch *l, int *is_nothing)
{
    uint64_t block = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    *is_nothing = 0;
    if (!block || !blocks) return HIP_INVALID_CONFIGURATION;
    if (blocks <= UINT32_MAX / block) return CORE_OK;
    l->grid[0] = (uint32_t)((uint32_t)(blocks * block) / block);
    l->grid[1] = l->grid[2] = 1;
    *is_nothing = !l->grid[0];
    return CORE_OK;
}

static int launch(hip_handle function, const uint32_t grid[3], const uint32_t block[3], unsigned shared,
                  hip_handle stream, void **parameters, void **extra, int cooperative)
{
    struct core_launch l;
    int code, is_nothing;
    memset(&l, 0, sizeof l);
    l.function = handle(function);
    l.stream = handle(stream);
    memcpy(l.grid, grid, sizeof l.grid);
    memcpy(l.block, block, sizeof l.block);
    l.shared = shared;
    l.cooperative = cooperative;
    l.parameters = parameters;
    /* HIP_LAUNCH_PARAM_BUFFER_POINTER, its value, HIP_LAUNCH_PARAM_BUFFER_SIZE, its address, HIP_LAUNCH_PARAM_END */
    if (extra) {
        if ((uintptr_t)extra[0] != 1 || (uintptr_t)extra[2] != 2 || (uintptr_t)extra[4] != 3) return CORE_INVALID_VALUE;
        l.block_data = extra[1];
        l.block_nbytes = *(size_t *)extra[3];
    }
    if ((code = wrap(&l, &is_nothing)) || is_nothing) return code;
    return core_launch(&l);
}

#define EXTENTS(prefix) ((const uint32_t[3]){prefix##x, prefix##y, prefix##z})

API hipModuleLaunchKernel(hip_handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, hip_handle stream, void **parameters, void **extra)
{
    CALL("hipModuleLaunchKernel", CONTEXT,
         launch(function, EXTENTS(g), EXTENTS(b), shared, stream, parameters, extra, 0));
}

API hipModuleLaunchCooperativeKernel(hip_handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                     unsigned by, unsigned bz, unsigned shared, hip_handle stream, void **parameters)
{
    CALL("hipModuleLaunchCooperativeKernel", CONTEXT,
         launch(function, EXTENTS(g), EXTENTS(b), shared, stream, parameters, NULL, 1));
}

/* ------------------------------------------------ capture and graphs */

API hipStreamBeginCapture(hip_handle stream, int mode)
{
    CALL("hipStreamBeginCapture", CONTEXT,
         mode < 0 || mode > 2 ? CORE_INVALID_VALUE : core_capture_begin(handle(stream), (enum core_capture_mode)mode));
}

API hipStreamEndCapture(hip_handle stream, hip_handle *out)
{
    core_handle made = 0;
    *out = NULL;
    CALL("hipStreamEndCapture", CONTEXT,
         (code = core_capture_end(handle(stream), &made)) ? code : (*out = pointer(made), CORE_OK));
}

API hipStreamIsCapturing(hip_handle stream, int *out)
{
    CALL("hipStreamIsCapturing", CONTEXT, core_capture_status(handle(stream), out));
}

static int capture_info(hip_handle stream, int *status, uint64_t *id, hip_handle *graph,
                        const core_handle **dependencies, size_t *count)
{
    struct core_capture_info info;
    int code = core_capture_info(handle(stream), &info);
    if (code) return code;
    *status = info.status;
    if (id) *id = info.id;
    if (graph) *graph = pointer(info.graph);
    if (dependencies) *dependencies = info.dependencies;
    if (count) *count = info.count;
    return CORE_OK;
}

API hipStreamGetCaptureInfo_v2(hip_handle stream, int *status, uint64_t *id, hip_handle *graph,
                               const core_handle **dependencies, size_t *count)
{
    CALL("hipStreamGetCaptureInfo", CONTEXT, capture_info(stream, status, id, graph, dependencies, count));
}

API hipThreadExchangeStreamCaptureMode(int *mode)
{
    CALL("hipThreadExchangeStreamCaptureMode", CORE_NEEDS_INIT, core_capture_exchange(mode));
}

API hipGraphInstantiateWithFlags(hip_handle *out, hip_handle graph, uint64_t flags)
{
    core_handle made = 0;
    *out = NULL;
    CALL("hipGraphInstantiateWithFlags", UNSAFE,
         flags ? CORE_INVALID_VALUE : MADE(core_graph_instantiate, handle(graph)));
}

API hipGraphGetNodes(hip_handle graph, core_handle *out, size_t *count)
{
    CALL("hipGraphGetNodes", CORE_NEEDS_INIT, core_graph_nodes(handle(graph), out, count));
}

API hipGraphDestroy(hip_handle graph) { CALL("hipGraphDestroy", CORE_NEEDS_INIT, core_graph_destroy(handle(graph))); }

API hipGraphExecDestroy(hip_handle exec)
{
    CALL("hipGraphExecDestroy", CORE_NEEDS_INIT, core_graph_exec_destroy(handle(exec)));
}

API hipGraphLaunch(hip_handle exec, hip_handle stream)
{
    CALL("hipGraphLaunch", CONTEXT, core_graph_launch(handle(exec), handle(stream)));
}

static int set_kernel(hip_handle exec, hip_handle node, const struct hip_kernel_node *p)
{
    struct core_launch l;
    int code, is_nothing;
    if (!p) return CORE_INVALID_VALUE;
    memset(&l, 0, sizeof l);
    l.function = handle(p->function);
    memcpy(l.grid, &p->grid, sizeof l.grid);
    memcpy(l.block, &p->block, sizeof l.block);
    l.shared = p->shared;
    l.parameters = p->parameters;
    if ((code = wrap(&l, &is_nothing))) return code;
    if (is_nothing) return core_graph_node_enabled(handle(exec), handle(node), NULL, &(int){0});
    return core_graph_exec_set_kernel(handle(exec), handle(node), &l);
}

API hipGraphExecKernelNodeSetParams(hip_handle exec, hip_handle node, const struct hip_kernel_node *p)
{
    CALL("hipGraphExecKernelNodeSetParams", CONTEXT, set_kernel(exec, node, p));
}

API hipGraphNodeSetEnabled(hip_handle exec, hip_handle node, unsigned enabled)
{
    CALL("hipGraphNodeSetEnabled", CORE_NEEDS_INIT,
         core_graph_node_enabled(handle(exec), handle(node), NULL, &(int){enabled != 0}));
}
