// One of two modules with a kernel of the same name.
override block_x: u32;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<uniform> count: u32;

@compute @workgroup_size(block_x)
fn transform(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < count) { out[id.x] = values[id.x] * 2u; }
}
