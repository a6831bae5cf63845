// Barriers and what the threads of a simdgroup tell each other.
//
// A call says its line and column: threads that wait at one barrier wait at one place of the text.
#pragma once

namespace metal {

enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4, mem_threadgroup_imageblock = 8 };
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return (mem_flags)((uint)a | (uint)b); }

#define MSL_SITE uint line = __builtin_LINE(), uint column = __builtin_COLUMN()

inline void threadgroup_barrier(mem_flags, MSL_SITE) { msl_threadgroup_barrier(line, column); }
inline void simdgroup_barrier(mem_flags, MSL_SITE) { msl_simd(MSL_SIMDGROUP_BARRIER, nullptr, 0, line, column); }

// Shows this thread's value to the others that are here; afterwards each may read theirs.
template <class T> struct __msl_shared_by_lanes {
    static_assert(sizeof(T) <= MSL_VALUE_NBYTES, "a simdgroup exchanges scalars and vectors");
    uint active;
    __msl_shared_by_lanes(T value, uint line, uint column)
    {
        msl_simd(MSL_EXCHANGE, &value, sizeof value, line, column);
        active = msl_active();
    }
    bool has(uint lane) const { return lane < MSL_SIMD_WIDTH && (active >> lane & 1); }
    // Of a lane that is not here Metal promises nothing: it gives what nobody wrote.
    T operator[](uint lane) const
    {
        T value;
        __builtin_memcpy(&value, msl_lane(lane), sizeof value);
        return value;
    }
};

#define MSL_SIMD_REDUCE(NAME, COMBINE) \
    template <class T> inline T NAME(T value, MSL_SITE) \
    { \
        const __msl_shared_by_lanes<T> lanes(value, line, column); \
        bool first = true; \
        T all = value; \
        for (uint lane = 0; lane < MSL_SIMD_WIDTH; lane++) { \
            if (!lanes.has(lane)) continue; \
            const T a = all, b = lanes[lane]; \
            all = first ? b : (T)(COMBINE); \
            first = false; \
        } \
        return all; \
    }
MSL_SIMD_REDUCE(simd_sum, a + b)
MSL_SIMD_REDUCE(simd_product, a * b)
MSL_SIMD_REDUCE(simd_min, min(a, b))
MSL_SIMD_REDUCE(simd_max, max(a, b))
MSL_SIMD_REDUCE(simd_and, a & b)
MSL_SIMD_REDUCE(simd_or, a | b)
MSL_SIMD_REDUCE(simd_xor, a ^ b)

#define MSL_SIMD_PREFIX(NAME, START, COMBINE, LAST) \
    template <class T> inline T NAME(T value, MSL_SITE) \
    { \
        const __msl_shared_by_lanes<T> lanes(value, line, column); \
        T all = (T)START; \
        for (uint lane = 0; lane LAST msl_my_lane(); lane++) \
            if (lanes.has(lane)) { const T a = all, b = lanes[lane]; all = (T)(COMBINE); } \
        return all; \
    }
MSL_SIMD_PREFIX(simd_prefix_inclusive_sum, 0, a + b, <=)
MSL_SIMD_PREFIX(simd_prefix_exclusive_sum, 0, a + b, <)
MSL_SIMD_PREFIX(simd_prefix_inclusive_product, 1, a * b, <=)
MSL_SIMD_PREFIX(simd_prefix_exclusive_product, 1, a * b, <)

template <class T> inline T simd_shuffle(T value, ushort lane, MSL_SITE)
{ return __msl_shared_by_lanes<T>(value, line, column)[lane]; }
template <class T> inline T simd_shuffle_xor(T value, ushort mask, MSL_SITE)
{ return __msl_shared_by_lanes<T>(value, line, column)[msl_my_lane() ^ mask]; }
// Lanes below delta keep their own value, as those above the end do.
template <class T> inline T simd_shuffle_up(T value, ushort delta, MSL_SITE)
{ const __msl_shared_by_lanes<T> lanes(value, line, column); return msl_my_lane() < delta ? value : lanes[msl_my_lane() - delta]; }
template <class T> inline T simd_shuffle_down(T value, ushort delta, MSL_SITE)
{ const __msl_shared_by_lanes<T> lanes(value, line, column); return msl_my_lane() + delta >= MSL_SIMD_WIDTH ? value : lanes[msl_my_lane() + delta]; }
template <class T> inline T simd_shuffle_rotate_up(T value, ushort delta, MSL_SITE)
{ return __msl_shared_by_lanes<T>(value, line, column)[(msl_my_lane() - delta) % MSL_SIMD_WIDTH]; }
template <class T> inline T simd_shuffle_rotate_down(T value, ushort delta, MSL_SITE)
{ return __msl_shared_by_lanes<T>(value, line, column)[(msl_my_lane() + delta) % MSL_SIMD_WIDTH]; }
template <class T> inline T simd_shuffle_and_fill_up(T value, T fill, ushort delta, MSL_SITE)
{ const __msl_shared_by_lanes<T> lanes(value, line, column); const T filled = __msl_shared_by_lanes<T>(fill, line, column)[(msl_my_lane() - delta) % MSL_SIMD_WIDTH];
  return msl_my_lane() < delta ? filled : lanes[msl_my_lane() - delta]; }
template <class T> inline T simd_shuffle_and_fill_down(T value, T fill, ushort delta, MSL_SITE)
{ const __msl_shared_by_lanes<T> lanes(value, line, column); const T filled = __msl_shared_by_lanes<T>(fill, line, column)[(msl_my_lane() + delta) % MSL_SIMD_WIDTH];
  return msl_my_lane() + delta >= MSL_SIMD_WIDTH ? filled : lanes[msl_my_lane() + delta]; }
template <class T> inline T simd_broadcast(T value, ushort lane, MSL_SITE)
{ return __msl_shared_by_lanes<T>(value, line, column)[lane]; }
template <class T> inline T simd_broadcast_first(T value, MSL_SITE)
{ const __msl_shared_by_lanes<T> lanes(value, line, column); return lanes[__builtin_ctz(lanes.active)]; }

struct simd_vote {
    typedef ulong vote_t;
    vote_t votes;
    uint active;
    explicit simd_vote(vote_t given = 0) : votes(given), active(~0u) {}
    explicit operator vote_t() const { return votes; }
    bool all() const { return (votes & active) == active; }
    bool any() const { return votes != 0; }
};
inline simd_vote __msl_vote(bool mine, uint line, uint column)
{
    const __msl_shared_by_lanes<uint> lanes(mine, line, column);
    simd_vote vote;
    vote.active = lanes.active;
    for (uint lane = 0; lane < MSL_SIMD_WIDTH; lane++)
        if (lanes.has(lane) && lanes[lane])
            vote.votes |= 1ul << lane;
    return vote;
}
inline simd_vote simd_ballot(bool mine, MSL_SITE) { return __msl_vote(mine, line, column); }
inline simd_vote simd_active_threads_mask(MSL_SITE) { return __msl_vote(true, line, column); }
inline bool simd_all(bool mine, MSL_SITE) { return __msl_vote(mine, line, column).all(); }
inline bool simd_any(bool mine, MSL_SITE) { return __msl_vote(mine, line, column).any(); }
inline bool simd_is_first(MSL_SITE) { return msl_my_lane() == (uint)__builtin_ctz(__msl_vote(true, line, column).active); }
inline ushort simd_get_threads_per_simdgroup() { return MSL_SIMD_WIDTH; }

}
