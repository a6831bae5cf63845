// From the hidden states of tokens to one vector of length 1 per sentence.

const LANES = 32u;

override block_x: u32;

@group(0) @binding(0) var<storage, read> hidden_states: array<f32>;
@group(0) @binding(1) var<storage, read> starts: array<i32>;
@group(0) @binding(2) var<storage, read_write> pooled: array<f32>;
@group(0) @binding(3) var<uniform> hidden: u32;

// The mean over a sequence's tokens; sequence s owns the tokens starts[s] to starts[s+1], at least one.
// Grid: (hidden / block, sequences), rounded up; one thread per column, so neighbours read neighbouring floats.
@compute @workgroup_size(block_x)
fn mean_pool_f32(@builtin(global_invocation_id) at: vec3u) {
    let column = at.x;
    if (column >= hidden) { return; }
    let first = u32(starts[at.y]);
    let end = u32(starts[at.y + 1u]);
    var sum = 0.0;
    for (var token = first; token < end; token++) {
        sum += hidden_states[token * hidden + column];
    }
    pooled[at.y * hidden + column] = sum / f32(end - first);
}

@group(0) @binding(0) var<storage, read_write> rows: array<f32>;
@group(0) @binding(1) var<uniform> width: u32;
@group(0) @binding(2) var<uniform> shortest: f32;

var<workgroup> partials: array<f32, LANES>;

// Scales each row to length 1, in place; a row shorter than `shortest` is divided by that, so zeros stay zeros.
// Grid: one block per row. Block: exactly 32 threads.
@compute @workgroup_size(LANES)
fn l2_normalise_f32(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) lane: u32) {
    let row = block.x * width;
    var sum = 0.0;
    for (var i = lane; i < width; i += LANES) {
        sum = fma(rows[row + i], rows[row + i], sum);
    }
    partials[lane] = sum;
    workgroupBarrier();

    var square = 0.0;
    for (var i = 0u; i < LANES; i++) {
        square += partials[i];
    }
    let scale = 1.0 / max(sqrt(square), shortest);
    for (var i = lane; i < width; i += LANES) {
        rows[row + i] *= scale;
    }
}
