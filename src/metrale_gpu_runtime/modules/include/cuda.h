// The toolkit's cuda.h declares the driver's functions, which NVRTC refuses as host functions. Kernels need of it the
// tensor map and a few types.
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__
#include <stddef.h>
#include <stdint.h>
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
#define CU_TENSOR_MAP_NUM_QWORDS 16
typedef struct CUtensorMap_st {
    alignas(128) cuuint64_t opaque[CU_TENSOR_MAP_NUM_QWORDS];
} CUtensorMap;
#endif
