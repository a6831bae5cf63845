// NVRTC brings no C library of its own; device code gets from this header what it can use, no more.
// assert is the compiler's own; like a host's assert.h this one may be included again after NDEBUG has changed.
#ifdef NDEBUG
#undef assert
#define assert(condition) ((void)0)
#endif
