// The first hidden state of every token: the sum of its word, position and token-type vectors.
// The type is 0 throughout: a sentence embedding reads one sentence, never a pair.
//
// Grid: one block per token. Block: any size; its threads share the row, four floats at a time.
// hidden is a multiple of 4.

extern "C" __global__ void embed_tokens_f32(const int *__restrict__ token_ids, const int *__restrict__ positions,
                                            const float *__restrict__ word_table,
                                            const float *__restrict__ position_table,
                                            const float *__restrict__ type_table, float *__restrict__ hidden_states,
                                            unsigned int hidden)
{
    const size_t token = blockIdx.x;
    const float4 *word = reinterpret_cast<const float4 *>(word_table + size_t(token_ids[token]) * hidden);
    const float4 *position = reinterpret_cast<const float4 *>(position_table + size_t(positions[token]) * hidden);
    const float4 *type = reinterpret_cast<const float4 *>(type_table);
    float4 *out = reinterpret_cast<float4 *>(hidden_states + token * hidden);

    for (unsigned int i = threadIdx.x; i < hidden / 4; i += blockDim.x) {
        const float4 w = word[i], p = position[i], t = type[i];
        out[i] = make_float4(w.x + p.x + t.x, w.y + p.y + t.y, w.z + p.z + t.z, w.w + p.w + t.w);
    }
}
