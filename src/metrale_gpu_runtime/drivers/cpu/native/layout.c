/* The layout that the C compiler gives abi.h, as numbers: a test compares abi.py with it. Linked into nothing. */
#include <stddef.h>

#include "abi.h"

#define FIELD(structure, field) offsetof(structure, field), sizeof(((structure *)0)->field)

/* For each structure: its size, then offset and size of each field. */
const uint32_t ABI_LAYOUT[] = {
    sizeof(Range), FIELD(Range, base), FIELD(Range, end), FIELD(Range, flags),
    sizeof(Fault), FIELD(Fault, claimed), FIELD(Fault, kind), FIELD(Fault, access), FIELD(Fault, site),
    FIELD(Fault, block), FIELD(Fault, thread), FIELD(Fault, address), FIELD(Fault, nbytes), FIELD(Fault, detail),
    sizeof(Launch), FIELD(Launch, params), FIELD(Launch, grid), FIELD(Launch, block), FIELD(Launch, threads_per_block),
    FIELD(Launch, dynamic_shared_nbytes), FIELD(Launch, shared_nbytes), FIELD(Launch, frame_nbytes),
    FIELD(Launch, block_count), FIELD(Launch, next_block), FIELD(Launch, stop), FIELD(Launch, chunk),
    FIELD(Launch, ranges), FIELD(Launch, range_count), FIELD(Launch, ordinal), FIELD(Launch, fault),
    sizeof(Thread), FIELD(Thread, resume), FIELD(Thread, state), FIELD(Thread, tid), FIELD(Thread, linear),
    FIELD(Thread, op), FIELD(Thread, barrier_id), FIELD(Thread, barrier_count), FIELD(Thread, mask),
    FIELD(Thread, site), FIELD(Thread, a), FIELD(Thread, b), FIELD(Thread, c), FIELD(Thread, wide),
    FIELD(Thread, result), FIELD(Thread, result_predicate), FIELD(Thread, frame),
    sizeof(Block), FIELD(Block, launch), FIELD(Block, ctaid), FIELD(Block, live), FIELD(Block, linear),
    FIELD(Block, shared), FIELD(Block, threads), FIELD(Block, arrived),
    FIELD(Block, known),
    sizeof(Context), FIELD(Context, block), FIELD(Context, threads), FIELD(Context, frames), FIELD(Context, shared),
    FIELD(Context, active), FIELD(Context, prepared),
};

/* The numbers of the enumerations whose order both sides rely on: last member of each. */
const uint32_t ABI_ENUMS[] = {
    THREAD_FAULTED, BARRIER_RED_POPC, WARP_SHFL_IDX, WARP_VOTE_BALLOT, WARP_MATCH_ALL, WARP_REDUX_XOR, WARP_ACTIVEMASK,
    WARP_ELECT, FAULT_PARAM_BOUNDS, ACCESS_ATOMIC, RUN_NEEDS_CONTEXTS, MASK_CONVERGED,
};
