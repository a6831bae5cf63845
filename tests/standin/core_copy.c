/* Copies and fills: who reads when, and the bounds of allocations. */
#include <stdlib.h>
#include <string.h>

#include "core_parts.h"

static size_t extent(size_t pitch, size_t width, size_t height) { return height > 1 ? pitch * (height - 1) + width : width; }

struct side {
    core_address address;
    size_t nbytes;
    int is_pageable; /* memory that the driver knows nothing of */
    struct allocation *allocation;
};

static int check_side(struct side *side, enum core_space space, struct context *context, int write)
{
    struct allocation *a = memory_at(side->address);
    side->allocation = a;
    if (space == CORE_SPACE_DEVICE || (a && space == CORE_SPACE_UNIFIED))
        return memory_check(side->address, side->nbytes, context, write, &side->allocation);
    if (!side->address) return CORE_INVALID_VALUE;
    if (!a) {
        side->is_pageable = 1;
        return CORE_OK;
    }
    /* Memory of a device is no host memory, whatever the caller says. */
    if (a->kind != CORE_MEMORY_HOST && a->kind != CORE_MEMORY_REGISTERED && a->kind != CORE_MEMORY_MANAGED)
        return CORE_INVALID_VALUE;
    return memory_check(side->address, side->nbytes, context, write, &side->allocation);
}

int core_copy(const struct core_copy *copy, core_handle stream_handle, int blocking)
{
    struct stream *stream;
    struct context *context;
    struct body *body;
    struct side dst, src;
    int code = stream_resolve(stream_handle, &stream);
    if (code) return code;
    if (!copy->width || !copy->height) return CORE_OK;
    if (copy->height > 1 && (copy->dst_pitch < copy->width || copy->src_pitch < copy->width)) return CORE_INVALID_VALUE;
    context = stream_context(stream);
    dst = (struct side){copy->dst, extent(copy->dst_pitch, copy->width, copy->height), 0, NULL};
    src = (struct side){copy->src, extent(copy->src_pitch, copy->width, copy->height), 0, NULL};
    if ((code = check_side(&dst, copy->dst_space, context, 1))) return code;
    if ((code = check_side(&src, copy->src_space, context, 0))) return code;
    if (blocking && stream->capture) {
        capture_invalidate(stream->capture, CORE_CAPTURE_UNSUPPORTED);
        return CORE_CAPTURE_UNSUPPORTED;
    }
    body = body_new(OP_COPY, context->object.handle);
    body->copy = *copy;
    if (!dst.is_pageable) body_names(body, copy->dst);
    if (!src.is_pageable) body_names(body, copy->src);
    if (src.is_pageable && !stream->capture) {
        body->staged = malloc(src.nbytes);
        memcpy(body->staged, (const void *)(uintptr_t)copy->src, src.nbytes);
    }
    code = submit(stream, body);
    body_drop(body);
    if (!code && !stream->capture && (blocking || dst.is_pageable)) code = run_stream(stream, UINT64_MAX);
    return code;
}

int core_fill(core_address dst, size_t pitch, uint32_t value, unsigned width, size_t count, size_t height,
              core_handle stream_handle)
{
    struct stream *stream;
    struct context *context;
    struct body *body;
    int code = stream_resolve(stream_handle, &stream);
    if (code) return code;
    if (!count || !height) return CORE_OK;
    if (dst % width || (height > 1 && (pitch % width || pitch < count * width))) return CORE_INVALID_VALUE;
    context = stream_context(stream);
    if ((code = memory_check(dst, extent(pitch, count * width, height), context, 1, NULL))) return code;
    body = body_new(OP_FILL, context->object.handle);
    body->fill.dst = dst;
    body->fill.pitch = pitch;
    body->fill.count = count;
    body->fill.height = height;
    body->fill.value = value;
    body->fill.width = width;
    body_names(body, dst);
    code = submit(stream, body);
    body_drop(body);
    return code;
}
