// For devices that take halves but no other numbers of 16 bits.
enable f16;

override block_x: u32;

@group(0) @binding(0) var<storage, read_write> out: array<f16>;
@group(0) @binding(1) var<uniform> value: f16;

@compute @workgroup_size(block_x)
fn any_16(@builtin(global_invocation_id) id: vec3u) {
    if (id.x == 0u) { out[0] = value; }
}
