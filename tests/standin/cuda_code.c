/* Modules, libraries, functions and what can be asked of them. A library is a module of the context it is loaded in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_standin.h"

struct logs { char *error, *info; size_t error_room, info_room; void **error_used, **info_used; };

static void read_options(unsigned count, CUjit_option *options, void **values, struct logs *out)
{
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < count; i++) switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER: out->error = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER: out->info = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            out->error_room = (size_t)(unsigned)(uintptr_t)values[i];
            out->error_used = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            out->info_room = (size_t)(unsigned)(uintptr_t)values[i];
            out->info_used = &values[i];
            break;
        default: break;
    }
}

static void write_log(char *to, size_t room, void **used, const char *text)
{
    size_t n = 0;
    if (to && room) {
        snprintf(to, room, "%s", text);
        n = strlen(to) + (*to != 0);
    }
    if (used) *used = (void *)(uintptr_t)n;
}

static int load(core_handle *out, const void *image, unsigned count, CUjit_option *options, void **values)
{
    struct logs logs;
    char error[512] = "";
    int code;
    if (!out || !image || (count && (!options || !values))) return CORE_INVALID_VALUE;
    read_options(count, options, values, &logs);
    code = image_load(out, image, error, sizeof error);
    write_log(logs.error, logs.error_room, logs.error_used, error);
    write_log(logs.info, logs.info_room, logs.info_used, "");
    return code;
}

static int load_file(core_handle *out, const char *path, unsigned count, CUjit_option *options, void **values)
{
    FILE *file = path ? fopen(path, "rb") : NULL;
    long nbytes;
    char *image;
    int code;
    if (!path) return CORE_INVALID_VALUE;
    if (!file) return CORE_FILE_NOT_FOUND;
    fseek(file, 0, SEEK_END);
    nbytes = ftell(file);
    rewind(file);
    image = calloc(1, (size_t)nbytes + 16);
    code = fread(image, 1, (size_t)nbytes, file) == (size_t)nbytes ? load(out, image, count, options, values)
                                                                   : CORE_INVALID_IMAGE;
    free(image);
    fclose(file);
    return code;
}

CUresult cuModuleLoadData(CUmodule *out, const void *image) { CALL(UNSAFE, load(OUT(out), image, 0, NULL, NULL)); }
CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image) { CALL(UNSAFE, load(OUT(out), image, 0, NULL, NULL)); }
CUresult cuModuleLoad(CUmodule *out, const char *path) { CALL(UNSAFE, load_file(OUT(out), path, 0, NULL, NULL)); }

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, CUjit_option *options, void **values)
{
    CALL(UNSAFE, load(OUT(out), image, count, options, values));
}

static int unload(core_handle module)
{
    core_handle owner = core_module_context(module);
    if (owner && owner != core_current()) {
        core_owned_by(owner);
        return CORE_INVALID_CONTEXT;
    }
    return core_module_unload(module);
}

CUresult cuModuleUnload(CUmodule module) { CALL(UNSAFE, unload(HANDLE(module))); }

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    CALL(INIT, mode ? (*mode = CU_MODULE_LAZY_LOADING, CORE_OK) : CORE_INVALID_VALUE);
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name)
{
    CALL(CONTEXT, out && name ? core_module_function(OUT(out), HANDLE(module), name) : CORE_INVALID_VALUE);
}

static int listing(void) { return core_setting("enumerate_functions") ? CORE_OK : CORE_NOT_SUPPORTED; }

CUresult cuModuleGetFunctionCount(unsigned *out, CUmodule module)
{
    CALL(CONTEXT, !out ? CORE_INVALID_VALUE : listing() ? listing() : core_module_function_count(out, HANDLE(module)));
}

CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned count, CUmodule module)
{
    CALL(CONTEXT, !out ? CORE_INVALID_VALUE : listing() ? listing() : core_module_functions(OUT(out), count, HANDLE(module)));
}

CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *nbytes, CUmodule module, const char *name)
{
    CALL(CONTEXT, name ? core_module_global(ADDRESS(address), nbytes, HANDLE(module), name) : CORE_INVALID_VALUE);
}

/* ------------------------------------------------ libraries and kernels */

CUresult cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *options, void **values, unsigned count,
                           CUlibraryOption *library_options, void **library_values, unsigned library_count)
{
    (void)library_options;
    (void)library_values;
    (void)library_count;
    CALL(UNSAFE, load(OUT(out), image, count, options, values));
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *options, void **values, unsigned count,
                               CUlibraryOption *library_options, void **library_values, unsigned library_count)
{
    (void)library_options;
    (void)library_values;
    (void)library_count;
    CALL(UNSAFE, load_file(OUT(out), path, count, options, values));
}

CUresult cuLibraryUnload(CUlibrary library) { CALL(UNSAFE, unload(HANDLE(library))); }

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name)
{
    CALL(CONTEXT, out && name ? core_module_function(OUT(out), HANDLE(library), name) : CORE_INVALID_VALUE);
}

CUresult cuLibraryGetKernelCount(unsigned *out, CUlibrary library)
{
    CALL(CONTEXT, out ? core_module_function_count(out, HANDLE(library)) : CORE_INVALID_VALUE);
}

CUresult cuLibraryEnumerateKernels(CUkernel *out, unsigned count, CUlibrary library)
{
    CALL(CONTEXT, out ? core_module_functions(OUT(out), count, HANDLE(library)) : CORE_INVALID_VALUE);
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary library)
{
    unsigned count;
    CALL(CONTEXT, !out ? CORE_INVALID_VALUE : core_module_function_count(&count, HANDLE(library))
                             ? CORE_INVALID_HANDLE : (*OUT(out) = HANDLE(library), CORE_OK));
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *nbytes, CUlibrary library, const char *name)
{
    CALL(CONTEXT, name ? core_module_global(ADDRESS(address), nbytes, HANDLE(library), name) : CORE_INVALID_VALUE);
}

CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel)
{
    const char *name;
    CALL(CONTEXT, !out ? CORE_INVALID_VALUE : core_function_name(&name, HANDLE(kernel))
                             ? CORE_INVALID_HANDLE : (*OUT(out) = HANDLE(kernel), CORE_OK));
}

CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel kernel)
{
    CALL(CONTEXT, out ? core_function_module(OUT(out), HANDLE(kernel)) : CORE_INVALID_VALUE);
}

/* ------------------------------------------------ functions */

CUresult cuFuncGetModule(CUmodule *out, CUfunction function)
{
    CALL(CONTEXT, out ? core_function_module(OUT(out), HANDLE(function)) : CORE_INVALID_VALUE);
}

CUresult cuFuncGetName(const char **out, CUfunction function)
{
    CALL(CONTEXT, out ? core_function_name(out, HANDLE(function)) : CORE_INVALID_VALUE);
}

CUresult cuKernelGetName(const char **out, CUkernel kernel)
{
    CALL(CONTEXT, out ? core_function_name(out, HANDLE(kernel)) : CORE_INVALID_VALUE);
}

static int parameter(core_handle function, size_t index, size_t *offset, size_t *nbytes)
{
    if (!core_setting("parameter_info")) return CORE_NOT_SUPPORTED;
    return offset ? core_function_parameter(function, index, offset, nbytes) : CORE_INVALID_VALUE;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *nbytes)
{
    CALL(CONTEXT, parameter(HANDLE(function), index, offset, nbytes));
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *nbytes)
{
    CALL(CONTEXT, parameter(HANDLE(kernel), index, offset, nbytes));
}

static int attribute_get(int *out, CUfunction_attribute attribute, core_handle function)
{
    static const enum core_function_attribute ours[] = {
        [CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = CORE_FUNCTION_MAX_THREADS_PER_BLOCK,
        [CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = CORE_FUNCTION_STATIC_SHARED,
        [CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES] = CORE_FUNCTION_CONSTANT,
        [CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = CORE_FUNCTION_LOCAL,
        [CU_FUNC_ATTRIBUTE_NUM_REGS] = CORE_FUNCTION_REGISTERS,
        [CU_FUNC_ATTRIBUTE_PTX_VERSION] = CORE_FUNCTION_CODE_VERSION,
        [CU_FUNC_ATTRIBUTE_BINARY_VERSION] = CORE_FUNCTION_BINARY_VERSION,
        [CU_FUNC_ATTRIBUTE_CACHE_MODE_CA] = CORE_FUNCTION_ATTRIBUTE_COUNT,
        [CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = CORE_FUNCTION_MAX_DYNAMIC_SHARED,
        [CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = CORE_FUNCTION_CARVEOUT,
    };
    const char *name;
    if (!out) return CORE_INVALID_VALUE;
    if (core_function_name(&name, function)) return CORE_INVALID_HANDLE;
    if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
        return core_function_attribute(function, CORE_FUNCTION_NON_PORTABLE_CLUSTER, out);
    if ((unsigned)attribute >= sizeof ours / sizeof *ours || ours[attribute] == CORE_FUNCTION_ATTRIBUTE_COUNT) {
        *out = 0;
        return (unsigned)attribute < CU_FUNC_ATTRIBUTE_MAX ? CORE_OK : CORE_INVALID_VALUE;
    }
    return core_function_attribute(function, ours[attribute], out);
}

static int attribute_set(core_handle function, CUfunction_attribute attribute, int value)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return core_function_attribute_set(function, CORE_FUNCTION_MAX_DYNAMIC_SHARED, value);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return core_function_attribute_set(function, CORE_FUNCTION_CARVEOUT, value);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        return core_function_attribute_set(function, CORE_FUNCTION_NON_PORTABLE_CLUSTER, value);
    default: return CORE_INVALID_VALUE;
    }
}

CUresult cuFuncGetAttribute(int *out, CUfunction_attribute attribute, CUfunction function)
{
    CALL(CONTEXT, attribute_get(out, attribute, HANDLE(function)));
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    CALL(CONTEXT, attribute_set(HANDLE(function), attribute, value));
}

CUresult cuKernelGetAttribute(int *out, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
{
    CALL(CONTEXT, core_is_device(device) ? attribute_get(out, attribute, HANDLE(kernel)) : CORE_INVALID_DEVICE);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
{
    CALL(CONTEXT, core_is_device(device) ? attribute_set(HANDLE(kernel), attribute, value) : CORE_INVALID_DEVICE);
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    const char *name;
    (void)config;
    CALL(CONTEXT, core_function_name(&name, HANDLE(function)));
}

CUresult cuFuncLoad(CUfunction function)
{
    const char *name;
    CALL(CONTEXT, core_function_name(&name, HANDLE(function)));
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *out, CUfunction function)
{
    const char *name;
    BEGIN(CONTEXT);
    REFUSE(!out, CORE_INVALID_VALUE);
    code = core_function_name(&name, HANDLE(function));
    *out = CU_FUNCTION_LOADING_STATE_LOADED;
    END;
}

/* ------------------------------------------------ occupancy */

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction function, int threads, size_t shared)
{
    CALL(CONTEXT, out ? core_occupancy(out, HANDLE(function), threads, shared) : CORE_INVALID_VALUE);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction function, int threads, size_t shared,
                                                              unsigned flags)
{
    CALL(CONTEXT, out && flags <= 1 ? core_occupancy(out, HANDLE(function), threads, shared) : CORE_INVALID_VALUE);
}

CUresult cuOccupancyMaxPotentialClusterSize(int *out, CUfunction function, const CUlaunchConfig *config)
{
    CALL(CONTEXT, out && config ? core_max_cluster(out, HANDLE(function)) : CORE_INVALID_VALUE);
}

CUresult cuOccupancyMaxActiveClusters(int *out, CUfunction function, const CUlaunchConfig *config)
{
    struct core_launch launch;
    int blocks = 0, device = 0;
    BEGIN(CONTEXT);
    REFUSE(!out || !config, CORE_INVALID_VALUE);
    code = launch_from_config(config, function, NULL, NULL, &launch);
    if (!code)
        code = core_occupancy(&blocks, HANDLE(function), (int)(launch.block[0] * launch.block[1] * launch.block[2]),
                              launch.shared);
    core_context_device(core_current(), &device);
    if (!code && !launch.cluster[0]) code = CORE_INVALID_CLUSTER_SIZE;
    if (!code)
        *out = (int)(blocks * core_attribute(device, CORE_ATTRIBUTE_MULTIPROCESSOR_COUNT) /
                     (launch.cluster[0] * launch.cluster[1] * launch.cluster[2]));
    END;
}
