/* Runs the blocks of a launch and the threads of a block; what barriers and warp operations mean is decided here.
 *
 * Linked as LLVM IR into every kernel's module, so that kernel_thread is inlined into the loops below. A kernel that
 * never suspends is a plain loop nest over its threads. Otherwise threads run one after the other, each until it
 * waits; a warp goes on while its own waiting can be resolved, then the next warp runs, and when all have run the
 * barriers are looked at.
 *
 * Where a rule is not obvious it is that of the PTX ISA, chapters "Parallel Synchronization and Communication
 * Instructions" (bar, barrier, vote, match, redux, elect) and "Data Movement" (shfl.sync).
 */
#include "abi.h"

#define WARP 32u
#define RUNNABLE 5u /* Thread.state besides kernel_thread's codes */
#define BARRIERS 16u

/* When a block counts as spinning: after 256 passes over its threads in which some yielded and nobody reached a barrier
 * or ended, 4,096 in which somebody did, or 65,536 without a yield (a wait loop may hold a barrier). To take a busy
 * block for a spinning one costs memory for another context and nothing else. */
#define SPIN_PATIENCE (1u << 20)
#define SPINS_IDLE (SPIN_PATIENCE / 256)
#define SPINS_YIELDING (SPIN_PATIENCE / 4096)
#define SPINS_BUSY (SPIN_PATIENCE / 65536)

/* Warp operations a warp may complete before the next warp gets its turn, as if it had yielded. */
#define WARP_ROUNDS 256u

enum { BLOCK_DONE, BLOCK_SPINS, BLOCK_STOPPED };

/* ---------------------------------------------------------------- for translated code */

static void stop_launch(Launch *launch) { __atomic_store_n(&launch->stop, 1, __ATOMIC_RELEASE); }

static int stopped(const Launch *launch) { return __atomic_load_n(&launch->stop, __ATOMIC_RELAXED) != 0; }

static int claim_fault(Launch *launch) { return __atomic_exchange_n(&launch->fault.claimed, 1, __ATOMIC_ACQ_REL) == 0; }

__attribute__((noinline, cold)) void record_fault(Launch *launch, Block *block, uint32_t tid_x, uint32_t tid_y,
                                                  uint32_t tid_z, uint32_t kind, uint32_t access, uint32_t site,
                                                  uint64_t address, uint64_t nbytes)
{
    launch = block->launch; /* run_plain hands kernels a copy */
    if (claim_fault(launch)) {
        Fault *fault = &launch->fault;
        fault->kind = kind;
        fault->access = access;
        fault->site = site;
        for (int axis = 0; axis < 3; axis++)
            fault->block[axis] = block->ctaid[axis];
        fault->thread[0] = tid_x;
        fault->thread[1] = tid_y;
        fault->thread[2] = tid_z;
        fault->address = address;
        fault->nbytes = nbytes;
    }
    stop_launch(launch);
}

const Range *find_range(const Launch *launch, uint64_t address, uint64_t nbytes)
{
    /* The last range that begins at or below the address, without a branch that the CPU could guess wrongly. */
    const Range *range = launch->ranges;
    uint64_t count = launch->range_count;
    if (count == 0)
        return 0;
    while (count > 1) {
        uint64_t half = count / 2;
        range = range[half].base <= address ? range + half : range;
        count -= half;
    }
    int inside = range->base <= address && address < range->end && nbytes <= range->end - address;
    return inside ? range : 0;
}

void barrier_arrive(Block *block, uint32_t barrier_id) { block->arrived[barrier_id % BARRIERS]++; }

/* ---------------------------------------------------------------- warp operations */

static uint32_t lowest(uint32_t lanes) { return (uint32_t)__builtin_ctz(lanes); }

#define FOR_LANES(lane, lanes) \
    for (uint32_t lane##_left = (lanes), lane; lane##_left && (lane = lowest(lane##_left), 1); \
         lane##_left &= lane##_left - 1)

static int is_converged_op(const Thread *thread)
{
    return thread->op == WARP_ACTIVEMASK || thread->mask == MASK_CONVERGED;
}

/* Lanes of `candidates` that wait for the same operation as `leader`. bar.warp.sync may be met at several places. */
static uint32_t same_operation(const Thread *warp, const Thread *leader, uint32_t candidates)
{
    uint32_t group = 0;
    FOR_LANES(lane, candidates) {
        const Thread *t = &warp[lane];
        int same = t->op == leader->op && t->mask == leader->mask;
        same &= t->site == leader->site || leader->op == WARP_SYNC;
        group |= (uint32_t)same << lane;
    }
    return group;
}

static void shuffle(Thread *warp, uint32_t group, uint32_t taking_part)
{
    FOR_LANES(lane, group) {
        Thread *t = &warp[lane];
        uint32_t delta = t->b & 31u, clamp = t->c & 31u, segment = (t->c >> 8) & 31u;
        uint32_t first = lane & segment, last = first | (clamp & ~segment);
        int32_t source;
        int inside;
        if (t->op == WARP_SHFL_UP) {
            source = (int32_t)lane - (int32_t)delta;
            inside = source >= (int32_t)last;
        } else {
            source = t->op == WARP_SHFL_DOWN   ? (int32_t)(lane + delta)
                     : t->op == WARP_SHFL_BFLY ? (int32_t)(lane ^ delta)
                                               : (int32_t)(first | (delta & ~segment));
            inside = source <= (int32_t)last;
        }
        /* PTX leaves the value of a lane that does not take part open; the own value is what a lane out of range gets. */
        int there = inside && (taking_part >> source & 1u);
        t->result = there ? warp[source].a : t->a;
        t->result_predicate = (uint32_t)inside;
    }
}

static uint32_t lanes_with_predicate(const Thread *warp, uint32_t lanes)
{
    uint32_t set = 0;
    FOR_LANES(lane, lanes)
        set |= (uint32_t)(warp[lane].a != 0) << lane;
    return set;
}

static uint32_t lanes_with_value(const Thread *warp, uint32_t lanes, uint64_t value)
{
    uint32_t set = 0;
    FOR_LANES(lane, lanes)
        set |= (uint32_t)(warp[lane].wide == value) << lane;
    return set;
}

static uint32_t reduce(const Thread *warp, uint32_t lanes, uint32_t op)
{
    uint32_t total = warp[lowest(lanes)].a;
    FOR_LANES(lane, lanes & (lanes - 1)) {
        uint32_t value = warp[lane].a;
        switch (op) {
        case WARP_REDUX_ADD: total += value; break;
        case WARP_REDUX_MIN_U32: total = value < total ? value : total; break;
        case WARP_REDUX_MAX_U32: total = value > total ? value : total; break;
        case WARP_REDUX_MIN_S32: total = (int32_t)value < (int32_t)total ? value : total; break;
        case WARP_REDUX_MAX_S32: total = (int32_t)value > (int32_t)total ? value : total; break;
        case WARP_REDUX_AND: total &= value; break;
        case WARP_REDUX_OR: total |= value; break;
        default: total ^= value; break;
        }
    }
    return total;
}

/* Gives the lanes of `group` their results; only those in `taking_part` contribute values (a lane outside of its own
 * mask may be in the group: PTX leaves that open, it gets what the others get). */
static void complete_operation(Thread *warp, uint32_t group, uint32_t taking_part)
{
    uint32_t op = warp[lowest(group)].op, result = 0, predicate = 0;
    if (taking_part == 0)
        taking_part = group;
    switch (op) {
    case WARP_SYNC:
        break;
    case WARP_SHFL_UP:
    case WARP_SHFL_DOWN:
    case WARP_SHFL_BFLY:
    case WARP_SHFL_IDX:
        shuffle(warp, group, taking_part);
        FOR_LANES(lane, group)
            warp[lane].state = RUNNABLE;
        return;
    case WARP_VOTE_ALL:
        result = predicate = lanes_with_predicate(warp, taking_part) == taking_part;
        break;
    case WARP_VOTE_ANY:
        result = predicate = lanes_with_predicate(warp, taking_part) != 0;
        break;
    case WARP_VOTE_UNI: {
        uint32_t set = lanes_with_predicate(warp, taking_part);
        result = predicate = set == 0 || set == taking_part;
        break;
    }
    case WARP_VOTE_BALLOT:
        result = lanes_with_predicate(warp, taking_part);
        predicate = result != 0;
        break;
    case WARP_MATCH_ANY:
        FOR_LANES(lane, group) {
            warp[lane].result = lanes_with_value(warp, taking_part, warp[lane].wide);
            warp[lane].result_predicate = warp[lane].result != 0;
            warp[lane].state = RUNNABLE;
        }
        return;
    case WARP_MATCH_ALL:
        predicate = lanes_with_value(warp, taking_part, warp[lowest(taking_part)].wide) == taking_part;
        result = predicate ? taking_part : 0;
        break;
    case WARP_ACTIVEMASK:
        result = group;
        predicate = 1;
        break;
    case WARP_ELECT:
        result = lowest(taking_part);
        FOR_LANES(lane, group) {
            warp[lane].result = result;
            warp[lane].result_predicate = lane == result;
            warp[lane].state = RUNNABLE;
        }
        return;
    default:
        result = reduce(warp, taking_part, op);
        predicate = result != 0;
        break;
    }
    FOR_LANES(lane, group) {
        warp[lane].result = result;
        warp[lane].result_predicate = predicate;
        warp[lane].state = RUNNABLE;
    }
}

static uint32_t lanes_alive(const Thread *warp, uint32_t lane_count)
{
    uint32_t alive = 0;
    for (uint32_t lane = 0; lane < lane_count; lane++)
        alive |= (uint32_t)(warp[lane].state != THREAD_EXITED) << lane;
    return alive;
}

/* Completes what can be completed among the lanes that wait for a warp operation; no lane of the warp is runnable.
 * Lanes that exited or do not exist are not waited for. Operations on "those who meet here" come last: a lane that
 * a mask releases may still join them. Returns 0 when nothing could be completed. */
static int resolve_warp(Thread *warp, uint32_t lane_count, uint32_t waiting)
{
    uint32_t alive = lanes_alive(warp, lane_count), left = waiting, meeting = 0, released = 0;
    while (left) {
        const Thread *leader = &warp[lowest(left)];
        uint32_t group = same_operation(warp, leader, left);
        left &= ~group;
        if (is_converged_op(leader)) {
            meeting |= group;
        } else if ((leader->mask & alive & ~group) == 0) {
            complete_operation(warp, group, group & leader->mask);
            released |= group;
        }
    }
    if (released)
        return 1;
    left = meeting;
    while (left) {
        uint32_t group = same_operation(warp, &warp[lowest(left)], left);
        left &= ~group;
        complete_operation(warp, group, group);
    }
    return meeting != 0;
}

/* ---------------------------------------------------------------- barriers */

/* What is known of the threads that wait at barriers, without looking at each. */
typedef struct Waiting {
    uint32_t count;
    uint32_t id;
    uint32_t plain; /* all wait at `id`, for all threads of the block, and want no result */
} Waiting;

static void note_waiting(Waiting *waiting, const Thread *thread)
{
    int plain = thread->op == BARRIER_SYNC && thread->barrier_count == 0;
    if (waiting->count == 0) {
        waiting->id = thread->barrier_id;
        waiting->plain = (uint32_t)plain;
    } else {
        waiting->plain &= (uint32_t)(plain && thread->barrier_id == waiting->id);
    }
    waiting->count++;
}

typedef struct Barrier {
    uint32_t waiting;  /* threads */
    uint32_t arrivals; /* the same in PTX's count, where a warp that is there as a whole counts 32 */
    uint32_t true_count;
    uint32_t count;    /* the count operand; 0: all */
} Barrier;

static uint32_t look_at_barriers(const Launch *launch, const Block *block, Barrier *barriers)
{
    uint32_t seen = 0;
    for (uint32_t base = 0; base < launch->threads_per_block; base += WARP) {
        uint32_t left = launch->threads_per_block - base, lane_count = left < WARP ? left : WARP;
        const Thread *warp = &block->threads[base];
        uint32_t here[BARRIERS], seen_here = 0, alive = 0;
        for (uint32_t lane = 0; lane < lane_count; lane++) {
            const Thread *t = &warp[lane];
            if (t->state == THREAD_EXITED)
                continue;
            alive |= 1u << lane;
            if (t->state != THREAD_AT_BARRIER)
                continue;
            uint32_t id = t->barrier_id % BARRIERS;
            if (!(seen >> id & 1u)) {
                barriers[id] = (Barrier){.count = t->barrier_count};
                seen |= 1u << id;
            }
            if (!(seen_here >> id & 1u)) {
                here[id] = 0;
                seen_here |= 1u << id;
            }
            here[id] |= 1u << lane;
            barriers[id].true_count += t->a != 0;
        }
        FOR_LANES(id, seen_here) {
            uint32_t threads = (uint32_t)__builtin_popcount(here[id]);
            barriers[id].waiting += threads;
            barriers[id].arrivals += here[id] == alive ? WARP : threads;
        }
    }
    return seen;
}

/* Lets go of the threads at each barrier that is complete; returns how many. */
static uint32_t release_barriers(const Launch *launch, Block *block)
{
    Barrier barriers[BARRIERS];
    uint32_t seen = look_at_barriers(launch, block, barriers), complete = 0, released = 0;
    FOR_LANES(id, seen) {
        const Barrier *barrier = &barriers[id];
        uint32_t arrived = block->arrived[id], needed;
        if (barrier->count == 0) {
            if (barrier->waiting + arrived < block->live)
                continue;
            block->arrived[id] = 0;
        } else {
            needed = (barrier->count + WARP - 1) / WARP * WARP;
            if (barrier->arrivals + arrived < needed)
                continue;
            uint32_t used = barrier->arrivals < needed ? needed - barrier->arrivals : 0;
            block->arrived[id] = arrived - (used < arrived ? used : arrived);
        }
        complete |= 1u << id;
        released += barrier->waiting;
    }
    if (complete == 0)
        return 0;
    for (uint32_t i = 0; i < launch->threads_per_block; i++) {
        Thread *t = &block->threads[i];
        uint32_t id = t->barrier_id % BARRIERS;
        if (t->state != THREAD_AT_BARRIER || !(complete >> id & 1u))
            continue;
        const Barrier *barrier = &barriers[id];
        if (t->op == BARRIER_RED_AND)
            t->result = barrier->true_count == barrier->waiting;
        else if (t->op == BARRIER_RED_OR)
            t->result = barrier->true_count != 0;
        else if (t->op == BARRIER_RED_POPC)
            t->result = barrier->true_count;
        t->result_predicate = t->op != BARRIER_SYNC && t->result != 0;
        t->state = RUNNABLE;
    }
    return released;
}

/* ---------------------------------------------------------------- one block */

/* Nobody can run and nothing can be released: say who waits for what. */
static void record_stuck(Launch *launch, Block *block)
{
    const Thread *threads = block->threads, *at_barrier = 0, *at_operation = 0;
    uint32_t count = launch->threads_per_block;
    for (uint32_t i = count; i-- > 0;) {
        if (threads[i].state == THREAD_AT_BARRIER)
            at_barrier = &threads[i];
        else if (threads[i].state == THREAD_AT_WARP_OP)
            at_operation = &threads[i];
    }
    uint32_t detail[4] = {0, 0, 0, count - block->live};
    const Thread *first = at_operation ? at_operation : at_barrier;
    if (at_operation) {
        uint32_t base = first->linear / WARP * WARP, left = count - base, lanes = left < WARP ? left : WARP, here = 0;
        for (uint32_t lane = 0; lane < lanes; lane++)
            here |= (uint32_t)(threads[base + lane].state == THREAD_AT_WARP_OP) << lane;
        uint32_t alive = lanes_alive(&threads[base], lanes);
        detail[0] = same_operation(&threads[base], first, here);
        detail[1] = first->mask;
        detail[2] = first->op;
        detail[3] = (lanes == WARP ? ~0u : (1u << lanes) - 1) & ~alive;
    } else {
        Barrier barriers[BARRIERS];
        uint32_t id = first->barrier_id % BARRIERS;
        look_at_barriers(launch, block, barriers);
        detail[0] = barriers[id].waiting + block->arrived[id];
        detail[1] = barriers[id].count ? barriers[id].count : block->live;
        detail[2] = first->barrier_id;
    }
    if (claim_fault(launch)) {
        Fault *fault = &launch->fault;
        fault->kind = at_operation ? FAULT_DIVERGENT_WARP_OP : FAULT_DEADLOCK;
        fault->access = ACCESS_NONE;
        fault->site = first->site;
        for (int axis = 0; axis < 3; axis++) {
            fault->block[axis] = block->ctaid[axis];
            fault->thread[axis] = first->tid[axis];
        }
        for (int i = 0; i < 4; i++)
            fault->detail[i] = detail[i];
    }
    stop_launch(launch);
}

/* Runs the threads of one block until all have exited, only spin, or the launch stops. */
static int run_block(Launch *launch, Context *context, int resumed)
{
    Block *block = &context->block;
    Thread *threads = context->threads;
    const uint32_t count = launch->threads_per_block;
    Waiting waiting = {0, 0, 0};
    uint32_t spins = 0, all_released = 0;
    if (resumed)
        for (uint32_t i = 0; i < count; i++)
            if (threads[i].state == THREAD_AT_BARRIER)
                note_waiting(&waiting, &threads[i]);

    for (;;) {
        uint32_t progress = 0, moved = 0, yielded = 0;
        if (stopped(launch))
            return BLOCK_STOPPED;
        for (uint32_t base = 0; base < count; base += WARP) {
            Thread *warp = &threads[base];
            const uint32_t lanes = count - base < WARP ? count - base : WARP;
            uint32_t first_round = 1, rounds = 0, at_operation;
            do {
                at_operation = 0;
                for (uint32_t lane = 0; lane < lanes; lane++) {
                    Thread *t = &warp[lane];
                    uint32_t state = t->state;
                    uint32_t runs = state == RUNNABLE || (first_round && state == THREAD_YIELDED) ||
                                    (all_released & first_round & (state == THREAD_AT_BARRIER));
                    if (!runs) {
                        at_operation |= (uint32_t)(state == THREAD_AT_WARP_OP) << lane;
                        continue;
                    }
                    int32_t code = kernel_thread(launch, block, t, t->tid[0], t->tid[1], t->tid[2], block->ctaid[0],
                                                 block->ctaid[1], block->ctaid[2]);
                    t->state = (uint32_t)code;
                    if (code == THREAD_AT_BARRIER) {
                        note_waiting(&waiting, t);
                        progress = 1;
                    } else if (code == THREAD_AT_WARP_OP) {
                        at_operation |= 1u << lane;
                        moved = 1;
                    } else if (code == THREAD_YIELDED) {
                        yielded = 1;
                    } else if (code == THREAD_EXITED) {
                        block->live--;
                        progress = 1;
                    } else {
                        stop_launch(launch);
                        return BLOCK_STOPPED;
                    }
                }
                first_round = 0;
                rounds++;
            } while (at_operation && resolve_warp(warp, lanes, at_operation) && rounds < WARP_ROUNDS);
            yielded |= rounds == WARP_ROUNDS;
        }
        if (block->live == 0)
            return BLOCK_DONE;
        all_released = waiting.plain && waiting.count == block->live && block->arrived[waiting.id % BARRIERS] == 0;
        if (all_released) {
            waiting.count = 0;
            progress = 1;
        } else if (waiting.count) {
            uint32_t released = release_barriers(launch, block);
            waiting.count -= released;
            waiting.plain &= (uint32_t)(released == 0);
            progress |= released;
        }
        if (!(progress | moved | yielded)) {
            record_stuck(launch, block);
            return BLOCK_STOPPED;
        }
        spins += !yielded ? SPINS_BUSY : progress ? SPINS_YIELDING : SPINS_IDLE;
        if (spins >= SPIN_PATIENCE)
            return BLOCK_SPINS; /* threads that were just released still stand at their barrier, complete as it is */
    }
}

static void place_block(const Launch *launch, Block *block, uint64_t linear)
{
    uint64_t row = linear / launch->grid[0];
    block->linear = linear;
    block->ctaid[0] = (uint32_t)(linear % launch->grid[0]);
    block->ctaid[1] = (uint32_t)(row % launch->grid[1]);
    block->ctaid[2] = (uint32_t)(row / launch->grid[1]);
}

static void begin_block(Launch *launch, Context *context, uint64_t linear)
{
    Block *block = &context->block;
    const uint32_t count = launch->threads_per_block;
    if (!context->prepared) {
        block->launch = launch;
        block->shared = context->shared;
        block->threads = context->threads;
        for (uint32_t k = 0; k < 2 * KNOWN_RANGES; k++)
            block->known[k] = 0;
        uint32_t i = 0;
        for (uint32_t z = 0; z < launch->block[2]; z++)
            for (uint32_t y = 0; y < launch->block[1]; y++)
                for (uint32_t x = 0; x < launch->block[0]; x++, i++) {
                    Thread *t = &context->threads[i];
                    t->tid[0] = x;
                    t->tid[1] = y;
                    t->tid[2] = z;
                    t->linear = i;
                    t->site = 0;
                    t->frame = context->frames + (uint64_t)i * launch->frame_nbytes;
                }
        context->prepared = 1;
    }
    place_block(launch, block, linear);
    block->live = count;
    for (uint32_t id = 0; id < BARRIERS; id++)
        block->arrived[id] = 0;
    for (uint32_t i = 0; i < count; i++) {
        context->threads[i].resume = 0;
        context->threads[i].state = RUNNABLE;
    }
}

/* ---------------------------------------------------------------- the blocks of a launch */

static uint64_t take_blocks(Launch *launch, uint32_t count)
{
    return __atomic_fetch_add(&launch->next_block, count, __ATOMIC_RELAXED);
}

static int blocks_are_left(const Launch *launch)
{
    return __atomic_load_n(&launch->next_block, __ATOMIC_RELAXED) < launch->block_count;
}

/* Kernels that never wait: one frame serves all threads in turn. */
static uint32_t run_plain(Launch *launch, const Context *context, uint64_t max_turns)
{
    /* Copies that nobody else can write: LLVM keeps what the kernel reads of them in registers, whatever the kernel
     * stores elsewhere, and hoists it out of the loops. */
    __attribute__((aligned(128))) uint8_t params[KERNEL_PARAM_NBYTES];
    __builtin_memcpy(params, launch->params, KERNEL_PARAM_NBYTES);
    Launch copy = *launch;
    copy.params = params;
    Block block = {.launch = launch, .shared = context->shared};
    Thread thread = {.frame = context->frames};
    const uint32_t nx = launch->block[0], ny = launch->block[1], nz = launch->block[2];
    block.live = launch->threads_per_block;
    while (!stopped(launch)) {
        if (max_turns-- == 0)
            return RUN_PAUSED;
        uint64_t next = take_blocks(launch, launch->chunk), end = next + launch->chunk;
        if (next >= launch->block_count)
            return RUN_DONE;
        if (end > launch->block_count)
            end = launch->block_count;
        for (; next < end && !stopped(launch); next++) {
            place_block(launch, &block, next);
            const uint32_t bx = block.ctaid[0], by = block.ctaid[1], bz = block.ctaid[2];
            for (uint32_t z = 0; z < nz; z++)
                for (uint32_t y = 0; y < ny; y++) {
                    /* The row is finished even after a fault, as other threads on a GPU would: an early end would
                     * keep the loop from being vectorised. Threads that do not wait for each other may not touch
                     * each other's memory, so the iterations are independent, unless they reuse private memory. */
                    uint32_t faulted = 0;
                    if (KERNEL_HAS_PRIVATE_MEMORY) {
                        for (uint32_t x = 0; x < nx; x++)
                            faulted |= kernel_thread(&copy, &block, &thread, x, y, z, bx, by, bz) == THREAD_FAULTED;
                    } else {
#pragma clang loop vectorize(assume_safety)
                        for (uint32_t x = 0; x < nx; x++)
                            faulted |= kernel_thread(&copy, &block, &thread, x, y, z, bx, by, bz) == THREAD_FAULTED;
                    }
                    if (faulted) {
                        stop_launch(launch);
                        return RUN_DONE;
                    }
                }
        }
    }
    return RUN_DONE;
}

/* Kernels that wait: each context holds one block; a block that only spins stays in its context while the others
 * run, so that every block makes progress whatever it waits for. */
static uint32_t run_waiting(Launch *launch, Context *const *contexts, uint32_t context_count, uint64_t max_turns)
{
    for (;;) {
        uint32_t active = 0, progress = 0;
        for (uint32_t i = 0; i < context_count; i++) {
            Context *context = contexts[i];
            int resumed = (int)context->active;
            if (stopped(launch))
                return RUN_DONE;
            if (max_turns-- == 0)
                return RUN_PAUSED;
            if (!resumed) {
                if (!blocks_are_left(launch))
                    continue;
                uint64_t next = take_blocks(launch, 1);
                if (next >= launch->block_count)
                    continue;
                begin_block(launch, context, next);
                context->active = 1;
                progress = 1;
            }
            int end = run_block(launch, context, resumed);
            if (end == BLOCK_STOPPED)
                return RUN_DONE;
            if (end == BLOCK_DONE) {
                context->active = 0;
                progress = 1;
            }
            active += context->active;
        }
        if (progress)
            continue;
        if (active == 0)
            return RUN_DONE;
        return blocks_are_left(launch) ? RUN_NEEDS_CONTEXTS : RUN_SPINNING;
    }
}

/* Kernels that were translated to run a block at a time. */
static uint32_t run_blocks(Launch *launch, const Context *context, uint64_t max_turns)
{
    Block block = {.launch = launch, .shared = context->shared};
    block.live = launch->threads_per_block;
    while (!stopped(launch)) {
        if (max_turns-- == 0)
            return RUN_PAUSED;
        uint64_t next = take_blocks(launch, launch->chunk), end = next + launch->chunk;
        if (next >= launch->block_count)
            return RUN_DONE;
        if (end > launch->block_count)
            end = launch->block_count;
        for (; next < end && !stopped(launch); next++) {
            place_block(launch, &block, next);
            if (kernel_block(launch, &block, context->frames, block.ctaid[0], block.ctaid[1], block.ctaid[2]) ==
                THREAD_FAULTED) {
                stop_launch(launch);
                return RUN_DONE;
            }
        }
    }
    return RUN_DONE;
}

uint32_t run_worker(Launch *launch, Context *const *contexts, uint32_t context_count, uint64_t max_turns)
{
    if (&KERNEL_BY_BLOCK && KERNEL_BY_BLOCK)
        return run_blocks(launch, contexts[0], max_turns);
    if (KERNEL_SUSPENDS)
        return run_waiting(launch, contexts, context_count, max_turns);
    return run_plain(launch, contexts[0], max_turns);
}
