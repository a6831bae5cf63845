// The first hidden state of every token: the sum of its word, position and token-type vectors.
// The type is 0 throughout: a sentence embedding reads one sentence, never a pair.
//
// Grid: one block per token. Block: any size; its threads share the row, four floats at a time.
// hidden is a multiple of 4.
#include <metal_stdlib>
using namespace metal;

kernel void embed_tokens_f32(const device int *token_ids [[buffer(0)]], const device int *positions [[buffer(1)]],
                             const device float *word_table [[buffer(2)]],
                             const device float *position_table [[buffer(3)]],
                             const device float *type_table [[buffer(4)]], device float *hidden_states [[buffer(5)]],
                             constant uint &hidden [[buffer(6)]], uint token [[threadgroup_position_in_grid]],
                             uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]])
{
    const device float4 *word = reinterpret_cast<const device float4 *>(word_table + size_t(token_ids[token]) * hidden);
    const device float4 *position =
        reinterpret_cast<const device float4 *>(position_table + size_t(positions[token]) * hidden);
    const device float4 *type = reinterpret_cast<const device float4 *>(type_table);
    device float4 *out = reinterpret_cast<device float4 *>(hidden_states + size_t(token) * hidden);

    for (uint i = lane; i < hidden / 4; i += lanes)
        out[i] = word[i] + position[i] + type[i];
}
