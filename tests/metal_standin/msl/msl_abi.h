// What the runtime, the compiled kernels and Python (native.py) agree on.
#pragma once

#define MSL_SLOTS 31
#define MSL_SIMD_WIDTH 32
#define MSL_VALUE_NBYTES 32 // The widest value that a simdgroup exchanges: four longs.
#define MSL_POISON 0xA7     // What nobody wrote; as a float about -4.6e-15, as an index far outside.

#define MSL_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned int uint32_t;
#if defined(__UINT64_TYPE__)
typedef __UINT64_TYPE__ uint64_t;
#endif

// One thread as its kernel sees it.
typedef struct msl_thread {
    const uint64_t *buffers;
    char *const *local_memory;
    uint32_t position_in_grid[3], position_in_threadgroup[3], threadgroup_position[3];
    uint32_t threads_per_threadgroup[3], threadgroups_per_grid[3], threads_per_grid[3];
    uint32_t index_in_threadgroup, index_in_simdgroup, simdgroup_index;
} msl_thread;

typedef struct msl_request {
    void (*entry)(const msl_thread *);
    uint64_t buffers[MSL_SLOTS];
    uint64_t threadgroup_nbytes[MSL_SLOTS];
    uint64_t static_nbytes;
    uint32_t threadgroup_alignment[MSL_SLOTS];
    uint32_t grid[3], block[3];
} msl_request;

enum { MSL_FINE, MSL_PAGE_FAULT, MSL_BARRIER, MSL_ILLEGAL, MSL_STACK_OVERFLOW, MSL_OUT_OF_MEMORY };

typedef struct msl_crash {
    int kind;
    uint64_t address;
    uint32_t group[3], thread[3];
    char detail[192];
} msl_crash;

typedef struct msl_constant {
    uint32_t index;
    unsigned char value[32];
} msl_constant;

// One parameter of a kernel that is bound: a buffer or threadgroup memory.
typedef struct msl_parameter {
    const char *name;
    int is_threadgroup, index, is_read_only, data_type;
    uint32_t data_nbytes, alignment;
    int is_used;
} msl_parameter;

enum { MSL_EXCHANGE, MSL_SIMDGROUP_BARRIER };

void msl_threadgroup_barrier(uint32_t line, uint32_t column);
void msl_simd(int operation, const void *value, uint32_t nbytes, uint32_t line, uint32_t column);
const void *msl_lane(uint32_t lane);
uint32_t msl_active(void);
uint32_t msl_my_lane(void);
char *msl_static_memory(void) __attribute__((const)); // The same for as long as a thread runs.
int msl_constant_given(uint32_t index);
void msl_read_constant(uint32_t index, void *value, uint32_t nbytes);

#ifdef __cplusplus
}
#endif
