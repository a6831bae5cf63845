// The first hidden state of every token: the sum of its word, position and token-type vectors.
// The type is 0 throughout: a sentence embedding reads one sentence, never a pair.
//
// Grid: one block per token. Block: any size; its threads share the row, four floats at a time.
// hidden is a multiple of 4.

override block_x: u32;

@group(0) @binding(0) var<storage, read> token_ids: array<i32>;
@group(0) @binding(1) var<storage, read> positions: array<i32>;
@group(0) @binding(2) var<storage, read> word_table: array<vec4f>;
@group(0) @binding(3) var<storage, read> position_table: array<vec4f>;
@group(0) @binding(4) var<storage, read> type_table: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> hidden_states: array<vec4f>;
@group(0) @binding(6) var<uniform> hidden: u32;

@compute @workgroup_size(block_x)
fn embed_tokens_f32(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) lane: u32) {
    let quads = hidden / 4u;
    let word = u32(token_ids[block.x]) * quads;
    let position = u32(positions[block.x]) * quads;
    for (var i = lane; i < quads; i += block_x) {
        hidden_states[block.x * quads + i] = word_table[word + i] + position_table[position + i] + type_table[i];
    }
}
