// The kernels of `metrale-gpu demo` for WebGPU, which compiles them on the machine it runs on.

// The launch's block.
override block_x: u32;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> count: u32;
@group(0) @binding(3) var<uniform> factor: f32;

@compute @workgroup_size(block_x)
fn scale_add(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < count) { y[id.x] = factor * x[id.x] + y[id.x]; }
}

// The mistake of the demo: `<=` writes one element too many.
@compute @workgroup_size(block_x)
fn fill_one_too_many(@builtin(global_invocation_id) id: vec3u) {
    if (id.x <= count) { y[id.x] = factor; }
}
