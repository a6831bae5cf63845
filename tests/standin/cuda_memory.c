/* Memory: allocation, pools, virtual addresses, copies, fills, and what a pointer is. */
#include <string.h>

#include "cuda_standin.h"

CUresult cuMemGetInfo(size_t *available, size_t *total) { CALL(CONTEXT, core_memory_figures(available, total)); }

CUresult cuMemAlloc(CUdeviceptr *out, size_t nbytes)
{
    CALL(UNSAFE, out ? core_alloc(ADDRESS(out), nbytes, CORE_MEMORY_DEVICE) : CORE_INVALID_VALUE);
}

CUresult cuMemAllocPitch(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned element)
{
    BEGIN(UNSAFE);
    REFUSE(!out || !pitch || (element != 4 && element != 8 && element != 16), CORE_INVALID_VALUE);
    code = core_alloc_pitch(ADDRESS(out), pitch, width, height);
    END;
}

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t nbytes, unsigned flags)
{
    int device = 0;
    BEGIN(UNSAFE);
    REFUSE(!out || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST), CORE_INVALID_VALUE);
    core_context_device(core_current(), &device);
    REFUSE(!core_attribute(device, CORE_ATTRIBUTE_MANAGED_MEMORY), CORE_NOT_SUPPORTED);
    code = core_alloc(ADDRESS(out), nbytes, CORE_MEMORY_MANAGED);
    END;
}

CUresult cuMemFree(CUdeviceptr address) { CALL(UNSAFE, core_free(address)); }
CUresult cuMemAllocHost(void **out, size_t nbytes) { CALL(UNSAFE, out ? core_host_alloc(out, nbytes, 0) : CORE_INVALID_VALUE); }

CUresult cuMemHostAlloc(void **out, size_t nbytes, unsigned flags)
{
    CALL(UNSAFE, out && !(flags & ~7u) ? core_host_alloc(out, nbytes, flags) : CORE_INVALID_VALUE);
}

CUresult cuMemFreeHost(void *pointer) { CALL(UNSAFE, core_host_free(pointer)); }

CUresult cuMemHostRegister(void *pointer, size_t nbytes, unsigned flags)
{
    CALL(UNSAFE, core_host_register(pointer, nbytes, flags));
}

CUresult cuMemHostUnregister(void *pointer) { CALL(UNSAFE, core_host_unregister(pointer)); }

CUresult cuMemHostGetDevicePointer(CUdeviceptr *out, void *pointer, unsigned flags)
{
    CALL(CONTEXT, out && !flags ? core_host_device_pointer(ADDRESS(out), pointer) : CORE_INVALID_VALUE);
}

CUresult cuMemHostGetFlags(unsigned *out, void *pointer)
{
    CALL(CONTEXT, out ? core_host_flags(out, pointer) : CORE_INVALID_VALUE);
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *nbytes, CUdeviceptr address)
{
    struct core_memory_info info;
    BEGIN(CONTEXT);
    REFUSE(!core_memory_find(address, &info), CORE_NOT_FOUND);
    if (base) *base = info.base;
    if (nbytes) *nbytes = info.nbytes;
    END;
}

/* ------------------------------------------------ pools */

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t nbytes, CUstream stream)
{
    CALL(CONTEXT, out ? core_alloc_async(ADDRESS(out), nbytes, 0, HANDLE(stream)) : CORE_INVALID_VALUE);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t nbytes, CUmemoryPool pool, CUstream stream)
{
    CALL(CONTEXT, out && pool ? core_alloc_async(ADDRESS(out), nbytes, HANDLE(pool), HANDLE(stream)) : CORE_INVALID_VALUE);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) { CALL(CONTEXT, core_free_async(address, HANDLE(stream))); }

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device)
{
    CALL(INIT, out ? core_pool_default(OUT(out), device) : CORE_INVALID_VALUE);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice device)
{
    CALL(INIT, out ? core_pool_current(OUT(out), device) : CORE_INVALID_VALUE);
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) { CALL(INIT, core_pool_set(device, HANDLE(pool))); }

CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *properties)
{
    BEGIN(INIT);
    REFUSE(!out || !properties || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE, CORE_INVALID_VALUE);
    code = core_pool_create(OUT(out), properties->location.id);
    END;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) { CALL(INIT, core_pool_destroy(HANDLE(pool))); }
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) { CALL(INIT, core_pool_trim(HANDLE(pool), keep)); }

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    BEGIN(INIT);
    REFUSE(!value, CORE_INVALID_VALUE);
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) code = core_pool_threshold(HANDLE(pool), NULL, value);
    else code = core_pool_trim(HANDLE(pool), 0);
    END;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    uint64_t used = 0, high = 0;
    BEGIN(INIT);
    REFUSE(!value, CORE_INVALID_VALUE);
    code = core_pool_figures(HANDLE(pool), &used, &high);
    if (!code) switch (attribute) {
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: code = core_pool_threshold(HANDLE(pool), value, NULL); break;
        case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: *(uint64_t *)value = used; break;
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: *(uint64_t *)value = high; break;
        default: *(int *)value = 1;
    }
    END;
}

/* ------------------------------------------------ virtual memory */

CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *properties,
                                       CUmemAllocationGranularity_flags option)
{
    (void)option;
    CALL(INIT, out && properties ? core_is_device(properties->location.id) ? (*out = CORE_GRANULARITY, CORE_OK)
                                 : CORE_INVALID_DEVICE : CORE_INVALID_VALUE);
}

CUresult cuMemAddressReserve(CUdeviceptr *out, size_t nbytes, size_t alignment, CUdeviceptr hint, unsigned long long flags)
{
    CALL(CORE_NEEDS_INIT | CORE_UNSAFE_IN_CAPTURE,
         out && !flags ? core_address_reserve(ADDRESS(out), nbytes, alignment, hint) : CORE_INVALID_VALUE);
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t nbytes)
{
    CALL(CORE_NEEDS_INIT | CORE_UNSAFE_IN_CAPTURE, core_address_free(address, nbytes));
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t nbytes, const CUmemAllocationProp *properties,
                     unsigned long long flags)
{
    BEGIN(CORE_NEEDS_INIT | CORE_UNSAFE_IN_CAPTURE);
    REFUSE(!out || !properties || flags || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED, CORE_INVALID_VALUE);
    REFUSE(properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE, CORE_NOT_SUPPORTED);
    code = core_physical_create(OUT(out), nbytes, properties->location.id);
    END;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CALL(CORE_NEEDS_INIT | CORE_UNSAFE_IN_CAPTURE, core_physical_release(handle));
}

CUresult cuMemMap(CUdeviceptr address, size_t nbytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    CALL(CORE_NEEDS_INIT | CORE_UNSAFE_IN_CAPTURE, flags ? CORE_INVALID_VALUE : core_map(address, nbytes, offset, handle));
}

CUresult cuMemUnmap(CUdeviceptr address, size_t nbytes)
{
    CALL(CORE_NEEDS_INIT | CORE_UNSAFE_IN_CAPTURE, core_unmap(address, nbytes));
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t nbytes, const CUmemAccessDesc *grants, size_t count)
{
    BEGIN(CORE_NEEDS_INIT | CORE_UNSAFE_IN_CAPTURE);
    REFUSE(!grants || !count, CORE_INVALID_VALUE);
    for (size_t i = 0; i < count && !code; i++) {
        REFUSE(grants[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE, CORE_NOT_SUPPORTED);
        code = core_set_access(address, nbytes, grants[i].location.id, (int)grants[i].flags);
    }
    END;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
    int access = 0;
    BEGIN(INIT);
    REFUSE(!flags || !location, CORE_INVALID_VALUE);
    code = core_get_access(address, location->id, &access);
    *flags = (unsigned long long)access;
    END;
}

/* ------------------------------------------------ copies */

static int linear(uint64_t dst, enum core_space dst_space, uint64_t src, enum core_space src_space, size_t nbytes,
                  CUstream stream, int blocking)
{
    struct core_copy copy = {dst, src, 0, 0, nbytes, 1, dst_space, src_space};
    return core_copy(&copy, HANDLE(stream), blocking);
}
#define HOST CORE_SPACE_HOST
#define DEVICE CORE_SPACE_DEVICE
#define UNIFIED CORE_SPACE_UNIFIED
#define HOST_AT(p) ((uint64_t)(uintptr_t)(p))

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t n) { CALL(UNSAFE, linear(dst, UNIFIED, src, UNIFIED, n, NULL, 1)); }
CUresult cuMemcpyHtoD(CUdeviceptr dst, const void *src, size_t n) { CALL(UNSAFE, linear(dst, DEVICE, HOST_AT(src), HOST, n, NULL, 1)); }
CUresult cuMemcpyDtoH(void *dst, CUdeviceptr src, size_t n) { CALL(UNSAFE, linear(HOST_AT(dst), HOST, src, DEVICE, n, NULL, 1)); }
/* Between device memories the call does not wait, as documented. */
CUresult cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t n) { CALL(UNSAFE, linear(dst, DEVICE, src, DEVICE, n, NULL, 0)); }

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream stream)
{
    CALL(CONTEXT, linear(dst, UNIFIED, src, UNIFIED, n, stream, 0));
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t n, CUstream stream)
{
    CALL(CONTEXT, linear(dst, DEVICE, HOST_AT(src), HOST, n, stream, 0));
}

CUresult cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t n, CUstream stream)
{
    CALL(CONTEXT, linear(HOST_AT(dst), HOST, src, DEVICE, n, stream, 0));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream stream)
{
    CALL(CONTEXT, linear(dst, DEVICE, src, DEVICE, n, stream, 0));
}

static int between(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context, size_t n, CUstream stream)
{
    struct core_memory_info info;
    int device = 0;
    if (core_context_device(HANDLE(dst_context), &device)) return CORE_INVALID_CONTEXT;
    if (core_memory_find(dst, &info) && info.device != device) return CORE_INVALID_VALUE;
    if (core_context_device(HANDLE(src_context), &device)) return CORE_INVALID_CONTEXT;
    if (core_memory_find(src, &info) && info.device != device) return CORE_INVALID_VALUE;
    return linear(dst, DEVICE, src, DEVICE, n, stream, 0);
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context, size_t n)
{
    CALL(UNSAFE, between(dst, dst_context, src, src_context, n, NULL));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context, size_t n,
                           CUstream stream)
{
    CALL(CONTEXT, between(dst, dst_context, src, src_context, n, stream));
}

static int side(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch, size_t x, size_t y,
                uint64_t *address, enum core_space *space)
{
    switch (type) {
    case CU_MEMORYTYPE_HOST: *address = HOST_AT(host); *space = HOST; break;
    case CU_MEMORYTYPE_DEVICE: *address = device; *space = DEVICE; break;
    case CU_MEMORYTYPE_UNIFIED: *address = device; *space = UNIFIED; break;
    default: return CORE_NOT_SUPPORTED;
    }
    *address += y * pitch + x;
    return CORE_OK;
}

static int pitched(const CUDA_MEMCPY2D *c, CUstream stream, int blocking)
{
    struct core_copy copy = {0, 0, c->dstPitch, c->srcPitch, c->WidthInBytes, c->Height, 0, 0};
    int code = side(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcPitch, c->srcXInBytes, c->srcY, &copy.src, &copy.src_space);
    if (!code) code = side(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstPitch, c->dstXInBytes, c->dstY, &copy.dst, &copy.dst_space);
    if (!copy.dst_pitch) copy.dst_pitch = copy.width;
    if (!copy.src_pitch) copy.src_pitch = copy.width;
    return code ? code : core_copy(&copy, HANDLE(stream), blocking);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy) { CALL(UNSAFE, copy ? pitched(copy, NULL, 1) : CORE_INVALID_VALUE); }
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy) { CALL(UNSAFE, copy ? pitched(copy, NULL, 1) : CORE_INVALID_VALUE); }

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    CALL(CONTEXT, copy ? pitched(copy, stream, 0) : CORE_INVALID_VALUE);
}

/* ------------------------------------------------ fills: of device memory they do not wait */

CUresult cuMemsetD8(CUdeviceptr at, unsigned char v, size_t n) { CALL(UNSAFE, core_fill(at, 0, v, 1, n, 1, 0)); }
CUresult cuMemsetD16(CUdeviceptr at, unsigned short v, size_t n) { CALL(UNSAFE, core_fill(at, 0, v, 2, n, 1, 0)); }
CUresult cuMemsetD32(CUdeviceptr at, unsigned v, size_t n) { CALL(UNSAFE, core_fill(at, 0, v, 4, n, 1, 0)); }

CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char v, size_t n, CUstream stream)
{
    CALL(CONTEXT, core_fill(at, 0, v, 1, n, 1, HANDLE(stream)));
}

CUresult cuMemsetD16Async(CUdeviceptr at, unsigned short v, size_t n, CUstream stream)
{
    CALL(CONTEXT, core_fill(at, 0, v, 2, n, 1, HANDLE(stream)));
}

CUresult cuMemsetD32Async(CUdeviceptr at, unsigned v, size_t n, CUstream stream)
{
    CALL(CONTEXT, core_fill(at, 0, v, 4, n, 1, HANDLE(stream)));
}

CUresult cuMemsetD2D8(CUdeviceptr at, size_t pitch, unsigned char v, size_t w, size_t h) { CALL(UNSAFE, core_fill(at, pitch, v, 1, w, h, 0)); }
CUresult cuMemsetD2D16(CUdeviceptr at, size_t pitch, unsigned short v, size_t w, size_t h) { CALL(UNSAFE, core_fill(at, pitch, v, 2, w, h, 0)); }
CUresult cuMemsetD2D32(CUdeviceptr at, size_t pitch, unsigned v, size_t w, size_t h) { CALL(UNSAFE, core_fill(at, pitch, v, 4, w, h, 0)); }

CUresult cuMemsetD2D8Async(CUdeviceptr at, size_t pitch, unsigned char v, size_t w, size_t h, CUstream stream)
{
    CALL(CONTEXT, core_fill(at, pitch, v, 1, w, h, HANDLE(stream)));
}

CUresult cuMemsetD2D16Async(CUdeviceptr at, size_t pitch, unsigned short v, size_t w, size_t h, CUstream stream)
{
    CALL(CONTEXT, core_fill(at, pitch, v, 2, w, h, HANDLE(stream)));
}

CUresult cuMemsetD2D32Async(CUdeviceptr at, size_t pitch, unsigned v, size_t w, size_t h, CUstream stream)
{
    CALL(CONTEXT, core_fill(at, pitch, v, 4, w, h, HANDLE(stream)));
}

/* ------------------------------------------------ what a pointer is */

static int pointer_attribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct core_memory_info info;
    int is_host;
    if (!core_memory_find(address, &info)) return CORE_INVALID_VALUE;
    is_host = info.kind == CORE_MEMORY_HOST || info.kind == CORE_MEMORY_REGISTERED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        if (!info.context) return CORE_INVALID_VALUE; /* mapped memory belongs to a device, not to a context */
        *(core_handle *)value = info.context;
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned *)value = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)value = address; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!is_host && info.kind != CORE_MEMORY_MANAGED) return CORE_INVALID_VALUE;
        *(void **)value = (void *)(uintptr_t)address;
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)value = info.id; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned char *)value = info.kind == CORE_MEMORY_MANAGED; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = info.device; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)value = info.base; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)value = info.nbytes; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned char *)value = 1; break;
    default: return CORE_NOT_SUPPORTED;
    }
    return CORE_OK;
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    CALL(INIT, value ? pointer_attribute(value, attribute, address) : CORE_INVALID_VALUE);
}

static size_t attribute_nbytes(CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return 4;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED: return 1;
    default: return 8;
    }
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values, CUdeviceptr address)
{
    BEGIN(INIT);
    REFUSE(!attributes || !values, CORE_INVALID_VALUE);
    /* What nobody knows of reads as zeros here, without an error. */
    for (unsigned i = 0; i < count; i++)
        if (pointer_attribute(values[i], attributes[i], address)) memset(values[i], 0, attribute_nbytes(attributes[i]));
    END;
}
