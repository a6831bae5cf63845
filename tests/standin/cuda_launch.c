/* Launches, their attributes, and tensor maps. */
#include <string.h>

#include "cuda_standin.h"

/* The other form of parameters: one block, described by a list of markers. */
static int read_extra(void **extra, struct core_launch *out)
{
    if (!extra) return CORE_OK;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) out->block_data = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1]) out->block_nbytes = *(size_t *)extra[1];
        else return CORE_INVALID_VALUE;
    }
    return CORE_OK;
}

static int read_attribute(const CUlaunchAttribute *attribute, struct core_launch *out)
{
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE: return CORE_OK;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        if (attribute->value.cooperative != 0 && attribute->value.cooperative != 1) return CORE_INVALID_VALUE;
        out->cooperative = attribute->value.cooperative;
        return CORE_OK;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        out->cluster[0] = attribute->value.clusterDim.x;
        out->cluster[1] = attribute->value.clusterDim.y;
        out->cluster[2] = attribute->value.clusterDim.z;
        return out->cluster[0] && out->cluster[1] && out->cluster[2] ? CORE_OK : CORE_INVALID_CLUSTER_SIZE;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        out->programmatic = attribute->value.programmaticStreamSerializationAllowed;
        return CORE_OK;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        out->has_priority = 1;
        out->priority = attribute->value.priority;
        return CORE_OK;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        out->has_sync_domain = 1;
        out->sync_domain = (int)attribute->value.memSyncDomain;
        return out->sync_domain == 0 || out->sync_domain == 1 ? CORE_OK : CORE_INVALID_VALUE;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: return CORE_OK; /* change how fast it runs, not what it does */
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: return CORE_INVALID_VALUE; /* of streams only */
    default: return (unsigned)attribute->id <= 14 ? CORE_NOT_SUPPORTED : CORE_INVALID_VALUE;
    }
}

int launch_from_config(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra,
                       struct core_launch *out)
{
    int code;
    *out = (struct core_launch){
        .function = HANDLE(function), .stream = HANDLE(config->hStream),
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared = config->sharedMemBytes, .parameters = parameters,
    };
    if (config->numAttrs && !config->attrs) return CORE_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if ((code = read_attribute(&config->attrs[i], out))) return code;
    return read_extra(extra, out);
}

static int launch(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)
{
    struct core_launch l;
    int code = config ? launch_from_config(config, function, parameters, extra, &l) : CORE_INVALID_VALUE;
    return code ? code : core_launch(&l);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)
{
    CALL(CONTEXT, launch(config, function, parameters, extra));
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **parameters, void **extra)
{
    const CUlaunchConfig config = {gx, gy, gz, bx, by, bz, shared, stream, NULL, 0};
    CALL(CONTEXT, launch(&config, function, parameters, extra));
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, CUstream stream, void **parameters)
{
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    const CUlaunchConfig config = {gx, gy, gz, bx, by, bz, shared, stream, &cooperative, 1};
    CALL(CONTEXT, launch(&config, function, parameters, NULL));
}

/* ------------------------------------------------ tensor maps */

static unsigned element_nbytes(CUtensorMapDataType type)
{
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 2;
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return 8;
    default: return (int)type >= 0 && (int)type <= 15 ? 4 : 0;
    }
}

/* The driver's rules (Driver API, cuTensorMapEncodeTiled); the 128 bytes hold what was given, in an order of our own:
 * NVIDIA does not document theirs. */
static int encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *shape,
                  const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps,
                  CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                  CUtensorMapFloatOOBfill fill)
{
    int device = 0, is_packed = (int)type >= 13;
    unsigned nbytes = element_nbytes(type);
    uint64_t at = (uint64_t)(uintptr_t)address, unit = interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
    unsigned char *to = (unsigned char *)map;
    core_context_device(core_current(), &device);
    if (!core_attribute(device, CORE_ATTRIBUTE_TENSOR_MAPS)) return CORE_NOT_SUPPORTED;
    /* The documented alignment of the map itself is not asked for: cuda-bindings gives memory aligned to 16, and programs
     * have run so on hardware. */
    if (!map || !nbytes || !address || !shape || !box || !steps) return CORE_INVALID_VALUE;
    if (!rank || rank > 5 || (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE && rank < 3)) return CORE_INVALID_VALUE;
    if (rank > 1 && !strides) return CORE_INVALID_VALUE;
    if (at % unit || (unsigned)interleave > 2 || (unsigned)promotion > 3 || (unsigned)fill > 1) return CORE_INVALID_VALUE;
    if (is_packed && interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && at % 16) return CORE_INVALID_VALUE;
    for (unsigned i = 0; i < rank; i++) {
        if (!shape[i] || shape[i] > (1ull << 32)) return CORE_INVALID_VALUE;
        if (!box[i] || box[i] > 256 || !steps[i] || steps[i] > 8) return CORE_INVALID_VALUE;
        if (i + 1 < rank && (strides[i] % unit || strides[i] >= (1ull << 40))) return CORE_INVALID_VALUE;
        if (i + 1 < rank && !is_packed && strides[i] < (i ? shape[i] * strides[i - 1] : shape[0] * nbytes))
            return CORE_INVALID_VALUE;
    }
    if (!is_packed && interleave == CU_TENSOR_MAP_INTERLEAVE_NONE) {
        uint64_t inner = (uint64_t)box[0] * nbytes, room = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16ull << swizzle;
        if (inner % 16) return CORE_INVALID_VALUE;
        if (room > 128) room = 128;
        if (room && inner > room) return CORE_INVALID_VALUE;
    }
    if (interleave == CU_TENSOR_MAP_INTERLEAVE_32B && swizzle != CU_TENSOR_MAP_SWIZZLE_32B) return CORE_INVALID_VALUE;
    if (fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA &&
        (type < CU_TENSOR_MAP_DATA_TYPE_FLOAT16 || is_packed))
        return CORE_INVALID_VALUE;
    memset(to, 0, sizeof *map);
    memcpy(to, &at, 8);
    to[8] = (unsigned char)type;
    to[9] = (unsigned char)rank;
    to[10] = (unsigned char)interleave;
    to[11] = (unsigned char)swizzle;
    to[12] = (unsigned char)promotion;
    to[13] = (unsigned char)fill;
    for (unsigned i = 0; i < rank; i++) {
        cuuint64_t extent = shape[i] - 1;
        memcpy(to + 16 + 4 * i, &extent, 4);
        if (i + 1 < rank) memcpy(to + 40 + 8 * i, &strides[i], 8);
        memcpy(to + 80 + 2 * i, &box[i], 2);
        to[96 + i] = (unsigned char)steps[i];
    }
    return CORE_OK;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *shape, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    CALL(CONTEXT, encode(map, type, rank, address, shape, strides, box, steps, interleave, swizzle, promotion, fill));
}
