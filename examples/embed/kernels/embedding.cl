// The first hidden state of every token: the sum of its word, position and token-type vectors.
// The type is 0 throughout: a sentence embedding reads one sentence, never a pair.
//
// Grid: one block per token. Block: any size; its threads share the row, four floats at a time.
// hidden is a multiple of 4.

kernel void embed_tokens_f32(global const int *restrict token_ids, global const int *restrict positions,
                             global const float *restrict word_table, global const float *restrict position_table,
                             global const float *restrict type_table, global float *restrict hidden_states,
                             uint hidden)
{
    const size_t token = get_group_id(0);
    global const float4 *word = (global const float4 *)(word_table + (size_t)token_ids[token] * hidden);
    global const float4 *position = (global const float4 *)(position_table + (size_t)positions[token] * hidden);
    global const float4 *type = (global const float4 *)type_table;
    global float4 *out = (global float4 *)(hidden_states + token * hidden);

    for (uint i = get_local_id(0); i < hidden / 4; i += get_local_size(0))
        out[i] = word[i] + position[i] + type[i];
}
