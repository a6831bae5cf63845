/* The floor of a launch: a C loop that stores its arguments, collects their addresses and calls the driver. */
#include <stdint.h>

typedef int launch_function(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **parameters,
                            void **extra);

/* What a launch is given; the loop reads it anew each time, as it must: the call in between might have changed it. */
struct given {
    uint64_t pointer[6], u64[1];
    uint32_t u32[3];
    int32_t i32[2];
    float f32[4];
};

#define LAUNCH(...)                                                                       \
    void *parameters[] = {__VA_ARGS__};                                                   \
    status |= launch(kernel, 4, 1, 1, 64, 1, 1, 0, stream, parameters, 0)

int floor_3(launch_function *launch, void *kernel, void *stream, const struct given *given, long times)
{
    int status = 0;
    while (times-- > 0) {
        uint64_t a = given->pointer[0];
        uint32_t n = given->u32[0];
        float x = given->f32[0];
        LAUNCH(&a, &n, &x);
    }
    return status;
}

int floor_8(launch_function *launch, void *kernel, void *stream, const struct given *given, long times)
{
    int status = 0;
    while (times-- > 0) {
        uint64_t a = given->pointer[0], b = given->pointer[1], c = given->pointer[2], d = given->pointer[3];
        uint32_t n = given->u32[0], m = given->u32[1];
        float x = given->f32[0], y = given->f32[1];
        LAUNCH(&a, &b, &c, &d, &n, &m, &x, &y);
    }
    return status;
}

int floor_16(launch_function *launch, void *kernel, void *stream, const struct given *given, long times)
{
    int status = 0;
    while (times-- > 0) {
        uint64_t a = given->pointer[0], b = given->pointer[1], c = given->pointer[2], d = given->pointer[3];
        uint64_t e = given->pointer[4], f = given->pointer[5], large = given->u64[0];
        uint32_t n = given->u32[0], m = given->u32[1], k = given->u32[2];
        int32_t i = given->i32[0], j = given->i32[1];
        float x = given->f32[0], y = given->f32[1], z = given->f32[2], w = given->f32[3];
        LAUNCH(&a, &b, &c, &d, &e, &f, &n, &m, &k, &large, &i, &j, &x, &y, &z, &w);
    }
    return status;
}

static int nothing(void) { return 0; }

/* Calls a function that does nothing. Its address is read each time, so that the call cannot be left out. */
int empty_calls(long times)
{
    int (*volatile function)(void) = nothing;
    int status = 0;
    while (times-- > 0) status |= function();
    return status;
}
