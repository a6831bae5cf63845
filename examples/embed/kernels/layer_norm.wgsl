// Layer normalisation of rows, alone or of the sum of a row and its residual.
//
// Block: exactly 64 threads, 16 to a row, so four rows to a block. Grid: rows / 4, rounded up.
// hidden is a multiple of 4. The output is none of the inputs: WebGPU binds nothing twice that is written.
//
// Mean and variance are taken in two passes, because sum(x^2) - sum(x)^2 loses the digits that matter when the mean
// is large. Each reduction costs one barrier: every thread adds up its row's 16 partial sums by itself, which is
// cheaper than four halving steps with a barrier each.

const LANES = 16u;
const ROWS = 4u;

// layer_norm_f32 reaches all of these but residual: what a kernel does not reach is none of its parameters.
@group(0) @binding(0) var<storage, read> input: array<vec4f>;
@group(0) @binding(1) var<storage, read> residual: array<vec4f>;
@group(0) @binding(2) var<storage, read> gain: array<vec4f>;
@group(0) @binding(3) var<storage, read> bias: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(5) var<uniform> rows: u32;
@group(0) @binding(6) var<uniform> hidden: u32;
@group(0) @binding(7) var<uniform> epsilon: f32;

var<workgroup> sums: array<f32, ROWS * LANES>;
var<workgroup> squares: array<f32, ROWS * LANES>;

// A thread's part of a row: `count` quads from `first`, every sixteenth of which is its own, from `lane` on.
struct Part { slot: u32, lane: u32, first: u32, count: u32 }

fn part_of(block: u32, thread_index: u32) -> Part {
    let slot = thread_index / LANES;
    let row = block * ROWS + slot;
    // Surplus threads of the last block stay for the barriers and touch no memory.
    return Part(slot, thread_index % LANES, row * (hidden / 4u), select(0u, hidden / 4u, row < rows));
}

fn sum_of_components(v: vec4f) -> f32 { return (v.x + v.y) + (v.z + v.w); }

// Takes what is to be normalised out of `output`, where each thread has put its own part; `sum` is that part's.
fn normalise(part: Part, sum: f32) {
    let own = part.slot * LANES;
    sums[own + part.lane] = sum;
    workgroupBarrier();
    var total = 0.0;
    for (var i = own; i < own + LANES; i += 4u) {
        total += (sums[i] + sums[i + 1u]) + (sums[i + 2u] + sums[i + 3u]);
    }
    let mean = total / f32(hidden);

    var square = 0.0;
    for (var i = part.lane; i < part.count; i += LANES) {
        let away = output[part.first + i] - mean;
        square += sum_of_components(away * away);
    }
    squares[own + part.lane] = square;
    workgroupBarrier();
    total = 0.0;
    for (var i = own; i < own + LANES; i += 4u) {
        total += (squares[i] + squares[i + 1u]) + (squares[i + 2u] + squares[i + 3u]);
    }
    let scale = inverseSqrt(total / f32(hidden) + epsilon);

    for (var i = part.lane; i < part.count; i += LANES) {
        output[part.first + i] = (output[part.first + i] - mean) * scale * gain[i] + bias[i];
    }
}

@compute @workgroup_size(64)
fn layer_norm_f32(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) thread_index: u32) {
    let part = part_of(block.x, thread_index);
    var sum = 0.0;
    for (var i = part.lane; i < part.count; i += LANES) {
        let v = input[part.first + i];
        output[part.first + i] = v;
        sum += sum_of_components(v);
    }
    normalise(part, sum);
}

@compute @workgroup_size(64)
fn add_layer_norm_f32(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) thread_index: u32) {
    let part = part_of(block.x, thread_index);
    var sum = 0.0;
    for (var i = part.lane; i < part.count; i += LANES) {
        let v = input[part.first + i] + residual[part.first + i];
        output[part.first + i] = v;
        sum += sum_of_components(v);
    }
    normalise(part, sum);
}
