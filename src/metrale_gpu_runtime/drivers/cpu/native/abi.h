/* What translated kernels and the scheduler share. abi.py mirrors this file; a test compares the two.
 *
 * A kernel is translated to one function, kernel_thread, that runs one thread until it ends or must wait. To wait it
 * stores its live registers in its frame, writes into Thread what it waits for, sets `resume` to the number of the
 * point at which it goes on, and returns a code. The scheduler calls it again when the wait is over; on entry it
 * switches on `resume` (0: from the start) and loads its live registers back. A kernel that can never wait
 * (KERNEL_SUSPENDS is 0) touches Thread only for its frame, so that the loop over threads can be optimised as one.
 */
#ifndef METRALE_CPU_ABI_H
#define METRALE_CPU_ABI_H

#include <stdint.h>

/* What kernel_thread returns. */
enum { THREAD_EXITED = 0, THREAD_AT_BARRIER = 1, THREAD_AT_WARP_OP = 2, THREAD_YIELDED = 3, THREAD_FAULTED = 4 };

/* Thread.op while THREAD_AT_BARRIER. ARRIVE never waits: the translator calls barrier_arrive instead of returning. */
enum { BARRIER_SYNC = 0, BARRIER_RED_AND = 1, BARRIER_RED_OR = 2, BARRIER_RED_POPC = 3 };

/* Thread.op while THREAD_AT_WARP_OP. */
enum {
    WARP_SYNC = 0,
    WARP_SHFL_UP, WARP_SHFL_DOWN, WARP_SHFL_BFLY, WARP_SHFL_IDX,   /* value a, lane/delta b, clamp c */
    WARP_VOTE_ALL, WARP_VOTE_ANY, WARP_VOTE_UNI, WARP_VOTE_BALLOT, /* predicate a (0/1) */
    WARP_MATCH_ANY, WARP_MATCH_ALL,                                /* value in wide (32-bit ones zero-extended) */
    WARP_REDUX_ADD, WARP_REDUX_MIN_U32, WARP_REDUX_MAX_U32, WARP_REDUX_MIN_S32, WARP_REDUX_MAX_S32,
    WARP_REDUX_AND, WARP_REDUX_OR, WARP_REDUX_XOR,                 /* value a */
    WARP_ACTIVEMASK,                                               /* the set of lanes that meet here; mask ignored */
    WARP_ELECT
};
/* Thread.mask of a warp operation without .sync (old PTX): the lanes that meet. */
#define MASK_CONVERGED 0u

/* Fault.kind; abi.py names them. */
enum {
    FAULT_NONE = 0, FAULT_OUT_OF_BOUNDS, FAULT_MISALIGNED, FAULT_SHARED_BOUNDS, FAULT_LOCAL_BOUNDS, FAULT_NULL,
    FAULT_TRAP, FAULT_ASSERT, FAULT_DEADLOCK, FAULT_DIVERGENT_WARP_OP, FAULT_READ_ONLY, FAULT_PARAM_BOUNDS
};
enum { ACCESS_NONE = 0, ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC };

/* Live memory, sorted by base, not overlapping. flags: bit 0 = writable. */
typedef struct Range { uint64_t base, end, flags; } Range;

typedef struct Fault {
    uint32_t claimed;      /* set atomically by the first fault; only that one is kept */
    uint32_t kind, access, site;
    uint32_t block[3], thread[3];
    uint64_t address, nbytes;
    uint32_t detail[4];    /* deadlock: threads waiting, threads expected, barrier id, threads exited */
} Fault;

/* One launch, shared by the workers that run it. Only the counters and the fault change while it runs. */
typedef struct Launch {
    const uint8_t *params;          /* the parameter block, 128-byte aligned copy */
    uint32_t grid[3], block[3];
    uint32_t threads_per_block;
    uint32_t dynamic_shared_nbytes;
    uint32_t shared_nbytes;         /* static + dynamic: the bytes of a block's arena that may be used */
    uint32_t frame_nbytes;          /* per thread: spilled registers, then local memory; a multiple of 64 */
    uint64_t block_count;
    uint64_t next_block;            /* atomic: the next block nobody has taken */
    uint32_t stop;                  /* atomic: not 0 once a fault was found: nobody takes another block */
    uint32_t chunk;                 /* blocks taken at once */
    const Range *ranges;            /* for check="memory" */
    uint64_t range_count;
    uint64_t ordinal;
    Fault fault;
} Launch;

typedef struct Thread {
    uint32_t resume;
    uint32_t state;                 /* the scheduler's: the last code, or runnable */
    uint32_t tid[3];
    uint32_t linear;                /* x fastest; lane is linear % 32, warp linear / 32 */
    uint32_t op;
    uint32_t barrier_id;
    uint32_t barrier_count;         /* threads to meet; 0: all that have not exited */
    uint32_t mask;
    uint32_t site;
    uint32_t a, b, c;
    uint64_t wide;
    uint32_t result;                /* of the warp operation or the reducing barrier */
    uint32_t result_predicate;
    uint8_t *frame;                 /* launch->frame_nbytes bytes, 64-byte aligned */
} Thread;

/* Ranges of memory that a block remembers between its threads. */
#define KNOWN_RANGES 16

typedef struct Block {
    Launch *launch;
    uint32_t ctaid[3];
    uint32_t live;                  /* threads that have not exited */
    uint64_t linear;
    uint8_t *shared;                /* the block's arena, 1,024-byte aligned; shared addresses are offsets into it */
    Thread *threads;
    uint32_t arrived[16];           /* per barrier id: threads that arrived without waiting (bar.arrive) */
    uint64_t known[2 * KNOWN_RANGES]; /* ~base and ~end of ranges that checked accesses have hit, 0 for none; the
                                       * translated code's, zeroed when a launch begins */
} Block;

/* Translated code provides: */
int32_t kernel_thread(Launch *launch, Block *block, Thread *thread, uint32_t tid_x, uint32_t tid_y, uint32_t tid_z,
                      uint32_t ctaid_x, uint32_t ctaid_y, uint32_t ctaid_z);
extern const uint32_t KERNEL_SUSPENDS;   /* 0: kernel_thread only returns THREAD_EXITED or THREAD_FAULTED */
extern const uint32_t KERNEL_USES_FRAME; /* 0: no spills and no local memory: thread->frame is not touched */

/* Where it can, translated code provides this instead: all threads of a block, from the beginning to the end, without
 * Thread structures. `frames` are launch->frame_nbytes per thread. Both are absent (weak) where it cannot. Returns
 * THREAD_EXITED or THREAD_FAULTED. KERNEL_SUSPENDS then only tells that each thread needs a frame of its own. */
int32_t kernel_block(Launch *launch, Block *block, uint8_t *frames, uint32_t ctaid_x, uint32_t ctaid_y,
                     uint32_t ctaid_z) __attribute__((weak));
extern const uint32_t KERNEL_BY_BLOCK __attribute__((weak)); /* 1: kernel_block is there, kernel_thread must not be called */

/* The driver adds to the kernel's module: the size of the parameter block, at least 1. A kernel that never suspends
 * is handed a copy of so many bytes, whose contents LLVM then keeps in registers. */
extern const uint32_t KERNEL_PARAM_NBYTES;
/* And this: 1 where threads must not be called independent of each other: those that run one after the other reuse the
 * same private memory (arrays, a frame), or loads and stores have an order (volatile, relaxed, ...). */
extern const uint32_t KERNEL_HAS_PRIVATE_MEMORY;

/* The scheduler provides, for translated code: */
/* Records a fault of this thread (the first of a launch wins) and stops the launch; the caller returns THREAD_FAULTED. */
void record_fault(Launch *launch, Block *block, uint32_t tid_x, uint32_t tid_y, uint32_t tid_z, uint32_t kind,
                  uint32_t access, uint32_t site, uint64_t address, uint64_t nbytes);
/* The live range that holds [address, address + nbytes), or null. */
const Range *find_range(const Launch *launch, uint64_t address, uint64_t nbytes);
void barrier_arrive(Block *block, uint32_t barrier_id);

/* The memory in which one block of a launch runs: `threads` has threads_per_block entries, `frames`
 * threads_per_block * frame_nbytes bytes (one frame_nbytes where the kernel never suspends), `shared` shared_nbytes
 * rounded up to 1,024 (at least 1,024). The driver sets the three pointers, and `active` and `prepared` to 0 for
 * each launch; the rest is the scheduler's. A block whose threads all spin stays in its context (`active`). */
typedef struct Context {
    Block block;
    Thread *threads;
    uint8_t *frames;
    uint8_t *shared;
    uint32_t active;
    uint32_t prepared;              /* threads have their numbers and frames of this launch */
} Context;

/* What run_worker returns. */
enum {
    RUN_DONE = 0,                   /* nothing is left for this worker, or the launch was stopped */
    RUN_PAUSED = 1,                 /* max_turns is used up: call again */
    RUN_SPINNING = 2,               /* every block here waits for one that another worker runs: call again */
    RUN_NEEDS_CONTEXTS = 3          /* every block here spins, and blocks are left that nobody has taken: call again
                                     * with more contexts (those given so far stay where and as they are) */
};

/* The scheduler provides, for the driver: runs blocks until none is left or `max_turns` turns of a block or a chunk
 * of blocks are over. One caller per worker, each with its own contexts (at least one); any number of callers. */
uint32_t run_worker(Launch *launch, Context *const *contexts, uint32_t context_count, uint64_t max_turns);

#endif
