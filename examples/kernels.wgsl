// The kernels of the small examples for WebGPU: those of kernels.cu but for on_line, whose numbers are doubles, which
// WGSL does not have.
//
// The i-th argument of a launch is the i-th binding that the kernel reaches, by rising number.

// The launch's block.
override block_x: u32;

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> sum: array<f32>;
@group(0) @binding(3) var<uniform> length: u32;

@compute @workgroup_size(block_x)
fn vector_add(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < length) { sum[id.x] = a[id.x] + b[id.x]; }
}

@group(0) @binding(0) var<storage, read_write> values: array<f32>;
@group(0) @binding(1) var<uniform> count: u32;
@group(0) @binding(2) var<uniform> number: f32;

@compute @workgroup_size(block_x)
fn scale(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < count) { values[id.x] *= number; }
}

@compute @workgroup_size(block_x)
fn add_constant(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < count) { values[id.x] += number; }
}

// The mistake of catch_an_overrun.py: `<=` writes one element too many.
@compute @workgroup_size(block_x)
fn fill_one_too_many(@builtin(global_invocation_id) id: vec3u) {
    if (id.x <= count) { values[id.x] = number; }
}
