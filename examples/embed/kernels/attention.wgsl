// Scaled dot-product attention within each sequence of a packed batch, every token seeing its whole sequence.
//
// qkv is [tokens][3][heads][32], context [tokens][heads][32]; sequence s owns the tokens starts[s] to starts[s+1].
// Block: exactly 32 threads, one query each. Grid: (longest sequence / 32 rounded up, heads, sequences).
// scale_log2 is log2(e) / sqrt(32): the softmax is taken in powers of two, which is the exponential the hardware has.
//
// Keys and values come through workgroup memory 32 at a time, read by all threads at once (a broadcast). The softmax
// is kept running: when a larger score appears, what was summed so far is scaled down to it, so no score is stored.

const HEAD_DIM = 32u;
const QUADS = HEAD_DIM / 4u;
const QUERIES = 32u;
const KEYS = 32u;
// WGSL has no infinity.
const LOWEST = -3.4028234e38f;

@group(0) @binding(0) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(1) var<storage, read> starts: array<i32>;
@group(0) @binding(2) var<storage, read_write> context: array<vec4f>;
@group(0) @binding(3) var<uniform> heads: u32;
@group(0) @binding(4) var<uniform> scale_log2: f32;

var<workgroup> keys: array<vec4f, KEYS * QUADS>;
var<workgroup> values: array<vec4f, KEYS * QUADS>;

@compute @workgroup_size(QUERIES)
fn attention_f32(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) thread_index: u32) {
    let first = u32(starts[block.z]);
    let end = u32(starts[block.z + 1u]);
    let first_query = first + block.x * QUERIES;
    // The whole block: its sequence is shorter than the longest of the batch.
    if (first_query >= end) { return; }

    let query = first_query + thread_index;
    let has_query = query < end;
    let part_stride = heads * QUADS;
    let token_stride = 3u * part_stride;
    let head = block.y * QUADS;

    var q: array<vec4f, QUADS>;
    var sum: array<vec4f, QUADS>;
    if (has_query) {
        for (var d = 0u; d < QUADS; d++) { q[d] = qkv[query * token_stride + head + d] * scale_log2; }
    }
    var largest = LOWEST;
    var total = 0.0;

    for (var start = first; start < end; start += KEYS) {
        let count = min(KEYS, end - start);
        for (var i = thread_index; i < count * QUADS; i += QUERIES) {
            let row = (start + i / QUADS) * token_stride + head + i % QUADS;
            keys[i] = qkv[row + part_stride];
            values[i] = qkv[row + 2u * part_stride];
        }
        workgroupBarrier();

        if (has_query) {
            for (var key = 0u; key < count; key++) {
                var products = vec4f();
                for (var d = 0u; d < QUADS; d++) { products = fma(q[d], keys[key * QUADS + d], products); }
                let score = (products.x + products.y) + (products.z + products.w);
                if (score > largest) {
                    let shrink = exp2(largest - score);
                    largest = score;
                    total *= shrink;
                    for (var d = 0u; d < QUADS; d++) { sum[d] *= shrink; }
                }
                let share = exp2(score - largest);
                total += share;
                for (var d = 0u; d < QUADS; d++) { sum[d] = fma(vec4f(share), values[key * QUADS + d], sum[d]); }
            }
        }
        workgroupBarrier();
    }

    if (has_query) {
        let scale = 1.0 / total;
        for (var d = 0u; d < QUADS; d++) { context[query * part_stride + head + d] = sum[d] * scale; }
    }
}
