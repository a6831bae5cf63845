/* What a test can set: named integers and texts, the devices' attributes, and their defaults from the environment. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core_parts.h"

int absent_set(const char *names);

#define VARIABLE "METRALE_STANDIN_"
#define GIB ((int64_t)1 << 30)

static struct setting { const char *name; int64_t value, initial; } settings[] = {
    {"devices", 0, 0},
    {"driver_version", 0, -1},           /* the facade's */
    {"code_version", 0, 0},              /* newest code text version it reads, 10 * major + minor; 0: the driver's own */
    {"execution", 0, 0},                 /* 0 deferred, 1 immediate */
    {"queue_depth", 0, 1024},            /* operations that wait in a stream before a call waits for one of them */
    {"global_mutex", 0, 0},              /* one mutex around every call, waits included */
    {"driver_thread", 0, 0},             /* host functions run on a thread of the driver */
    {"occupancy", 0, 0},                 /* resident blocks per multiprocessor; 0: computed */
    {"max_cluster", 0, 8},
    {"registers", 0, 32},                /* of kernels whose image does not say */
    {"parameter_info", 0, 1},            /* 0: an older driver, that cannot tell parameters */
    {"enumerate_functions", 0, 1},       /* 0: an older driver, that cannot list a module's kernels */
    {"memory_nbytes", 0, 8 * GIB},       /* of each device */
    {"host_memory_nbytes", 0, 0},        /* page-locked memory of the process; 0: no limit */
    {"fill_new_memory", 0, 1},           /* new memory holds a pattern, as its contents are undefined */
    {"deinitialize_with_interpreter", 0, 0}, /* calls return 4 once Python ends */
    {"clock_step_ns", 0, 1500},          /* how long an operation takes on the virtual clock */
};
#define SETTING_COUNT (sizeof settings / sizeof *settings)

static struct { const char *name; char value[64]; } texts[] = {{"architecture", ""}, {"name", ""}};

static const struct { const char *name; int64_t initial; } attributes[CORE_ATTRIBUTE_COUNT] = {
    [CORE_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = {"max_threads_per_block", 1024},
    [CORE_ATTRIBUTE_MAX_BLOCK_DIM_X] = {"max_block_dim_x", 1024},
    [CORE_ATTRIBUTE_MAX_BLOCK_DIM_Y] = {"max_block_dim_y", 1024},
    [CORE_ATTRIBUTE_MAX_BLOCK_DIM_Z] = {"max_block_dim_z", 64},
    [CORE_ATTRIBUTE_MAX_GRID_DIM_X] = {"max_grid_dim_x", 2147483647},
    [CORE_ATTRIBUTE_MAX_GRID_DIM_Y] = {"max_grid_dim_y", 65535},
    [CORE_ATTRIBUTE_MAX_GRID_DIM_Z] = {"max_grid_dim_z", 65535},
    [CORE_ATTRIBUTE_MAX_SHARED_PER_BLOCK] = {"max_shared_per_block", 49152},
    [CORE_ATTRIBUTE_MAX_SHARED_PER_BLOCK_OPTIN] = {"max_shared_per_block_optin", 232448},
    [CORE_ATTRIBUTE_MAX_SHARED_PER_MULTIPROCESSOR] = {"max_shared_per_multiprocessor", 233472},
    [CORE_ATTRIBUTE_RESERVED_SHARED_PER_BLOCK] = {"reserved_shared_per_block", 1024},
    [CORE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY] = {"total_constant_memory", 65536},
    [CORE_ATTRIBUTE_WARP_SIZE] = {"warp_size", 32},
    [CORE_ATTRIBUTE_MAX_PITCH] = {"max_pitch", 2147483647},
    [CORE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK] = {"max_registers_per_block", 65536},
    [CORE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR] = {"max_registers_per_multiprocessor", 65536},
    [CORE_ATTRIBUTE_CLOCK_RATE] = {"clock_rate", 1980000},
    [CORE_ATTRIBUTE_MEMORY_CLOCK_RATE] = {"memory_clock_rate", 2619000},
    [CORE_ATTRIBUTE_TEXTURE_ALIGNMENT] = {"texture_alignment", 512},
    [CORE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = {"multiprocessor_count", 10},
    [CORE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR] = {"max_threads_per_multiprocessor", 2048},
    [CORE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR] = {"max_blocks_per_multiprocessor", 32},
    [CORE_ATTRIBUTE_L2_CACHE_SIZE] = {"l2_cache_size", 52428800},
    [CORE_ATTRIBUTE_MEMORY_BUS_WIDTH] = {"memory_bus_width", 5120},
    [CORE_ATTRIBUTE_ASYNC_ENGINE_COUNT] = {"async_engine_count", 3},
    [CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = {"compute_capability_major", -1},
    [CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = {"compute_capability_minor", -1},
    [CORE_ATTRIBUTE_PCI_BUS_ID] = {"pci_bus_id", -1},
    [CORE_ATTRIBUTE_PCI_DEVICE_ID] = {"pci_device_id", 0},
    [CORE_ATTRIBUTE_PCI_DOMAIN_ID] = {"pci_domain_id", 0},
    [CORE_ATTRIBUTE_INTEGRATED] = {"integrated", 0},
    [CORE_ATTRIBUTE_CONCURRENT_KERNELS] = {"concurrent_kernels", 1},
    [CORE_ATTRIBUTE_UNIFIED_ADDRESSING] = {"unified_addressing", 1},
    [CORE_ATTRIBUTE_CAN_MAP_HOST_MEMORY] = {"can_map_host_memory", 1},
    [CORE_ATTRIBUTE_MANAGED_MEMORY] = {"managed_memory", 1},
    [CORE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS] = {"concurrent_managed_access", 1},
    [CORE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS] = {"pageable_memory_access", 0},
    [CORE_ATTRIBUTE_STREAM_PRIORITIES] = {"stream_priorities", 1},
    [CORE_ATTRIBUTE_COOPERATIVE_LAUNCH] = {"cooperative_launch", 1},
    [CORE_ATTRIBUTE_MEMORY_POOLS] = {"memory_pools", 1},
    [CORE_ATTRIBUTE_CLUSTER_LAUNCH] = {"cluster_launch", 1},
    [CORE_ATTRIBUTE_VIRTUAL_MEMORY] = {"virtual_memory", 1},
    [CORE_ATTRIBUTE_TENSOR_MAPS] = {"tensor_maps", 1},
    [CORE_ATTRIBUTE_HOST_REGISTER] = {"host_register", 1},
    [CORE_ATTRIBUTE_PEER_ACCESS] = {"peer_access", 1},
    [CORE_ATTRIBUTE_MAX_PARAMETER_NBYTES] = {"max_parameter_nbytes", 32764},
    [CORE_ATTRIBUTE_COMPUTE_MODE] = {"compute_mode", 0},
};
static int64_t values[MAX_DEVICES][CORE_ATTRIBUTE_COUNT];

static const char *variable(const char *middle, const char *name)
{
    char text[160], *at;
    const char *value;
    for (int general = 0; general < 2; general++) {
        snprintf(text, sizeof text, VARIABLE "%s%s%s%s", general ? "" : core_facade.vendor, general ? "" : "_", middle,
                 name);
        for (at = text; *at; at++)
            if (*at >= 'a' && *at <= 'z') *at = (char)(*at - 'a' + 'A');
        if ((value = getenv(text)) && *value) return value;
    }
    return NULL;
}

int64_t core_setting(const char *name)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (!strcmp(settings[i].name, name)) return settings[i].value;
    return -1;
}

int core_setting_set(const char *name, int64_t value)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (!strcmp(settings[i].name, name)) {
            if (i == 0 && (value < 0 || value > MAX_DEVICES)) return 1;
            settings[i].value = value;
            return 0;
        }
    return 1;
}

const char *core_text(const char *name)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(texts[i].name, name)) return texts[i].value;
    return NULL;
}

int core_text_set(const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(texts[i].name, name)) {
            snprintf(texts[i].value, sizeof texts[i].value, "%s", value);
            return 0;
        }
    return 1;
}

int64_t core_attribute(int device, enum core_attribute attribute)
{
    return device >= 0 && device < MAX_DEVICES && attribute < CORE_ATTRIBUTE_COUNT ? values[device][attribute] : 0;
}

void core_attribute_set(int device, enum core_attribute attribute, int64_t value)
{
    for (int d = 0; d < MAX_DEVICES; d++)
        if (d == device || device == -1) values[d][attribute] = value;
}

const char *core_attribute_name(enum core_attribute attribute)
{
    return attribute < CORE_ATTRIBUTE_COUNT ? attributes[attribute].name : NULL;
}

void settings_forget(void)
{
    const char *text;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        int64_t initial = settings[i].initial < 0 ? core_facade.driver_version : settings[i].initial;
        text = variable("", settings[i].name);
        settings[i].value = initial;
        if (text) core_setting_set(settings[i].name, strtoll(text, NULL, 0));
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        text = variable("", texts[i].name);
        core_text_set(texts[i].name, text ? text : i == 0 ? core_facade.architecture : "");
    }
    for (int d = 0; d < MAX_DEVICES; d++) {
        for (int a = 0; a < CORE_ATTRIBUTE_COUNT; a++) values[d][a] = attributes[a].initial;
        values[d][CORE_ATTRIBUTE_PCI_BUS_ID] = d + 1;
        values[d][CORE_ATTRIBUTE_WARP_SIZE] = core_facade.warp_size;
        values[d][CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = core_facade.major;
        values[d][CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = core_facade.minor;
        if (core_facade.attribute_defaults) core_facade.attribute_defaults(d);
    }
    for (int a = 0; a < CORE_ATTRIBUTE_COUNT; a++)
        if ((text = variable("ATTRIBUTE_", attributes[a].name)))
            core_attribute_set(-1, (enum core_attribute)a, strtoll(text, NULL, 0));
    if ((text = variable("", "COMPUTE_CAPABILITY"))) {
        core_attribute_set(-1, CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, strtoll(text, NULL, 10) / 10);
        core_attribute_set(-1, CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, strtoll(text, NULL, 10) % 10);
    }
    text = variable("", "ABSENT");
    absent_set(text ? text : "");
}

/* METRALE_STANDIN_FAULTS="cuMemAlloc:3:1:2;launch:2:700": entry, nth, count, code; or launch, nth, code. */
void settings_script_faults(void)
{
    const char *text = variable("", "FAULTS");
    char *copy = text ? strdup(text) : NULL, *rest = copy, *one;
    while (copy && (one = strsep(&rest, ";"))) {
        char *entry = strsep(&one, ":"), *a = strsep(&one, ":"), *b = strsep(&one, ":"), *c = strsep(&one, ":");
        if (!a || !b) continue;
        if (!strcmp(entry, "launch")) core_fault_launch(strtoull(a, NULL, 10), atoi(b));
        else if (c) core_fault_call(entry, strtoull(a, NULL, 10), strtoull(b, NULL, 10), atoi(c));
    }
    free(copy);
}

int64_t standin_get(const char *name) { return core_setting(name); }
int standin_set(const char *name, int64_t value) { return core_setting_set(name, value); }
const char *standin_text(const char *name) { return core_text(name); }
int standin_set_text(const char *name, const char *value) { return core_text_set(name, value); }
const char *standin_setting_name(unsigned i) { return i < SETTING_COUNT ? settings[i].name : NULL; }
const char *standin_attribute_name(unsigned i) { return core_attribute_name((enum core_attribute)i); }

static int attribute_named(const char *name)
{
    for (int a = 0; a < CORE_ATTRIBUTE_COUNT; a++)
        if (!strcmp(attributes[a].name, name)) return a;
    return -1;
}

int64_t standin_attribute(int device, const char *name)
{
    int a = attribute_named(name);
    return a < 0 ? INT64_MIN : core_attribute(device, (enum core_attribute)a);
}

int standin_set_attribute(int device, const char *name, int64_t value)
{
    int a = attribute_named(name);
    if (a < 0) return 1;
    core_attribute_set(device, (enum core_attribute)a, value);
    return 0;
}
