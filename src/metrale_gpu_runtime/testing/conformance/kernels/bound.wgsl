// Kernels for devices that bind arguments one by one: what CUDA's suite has no words for.
@id(0) override FACTOR: u32;
@id(1) override NEGATED: bool;
override block_x: u32;

@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@group(0) @binding(1) var<uniform> count: u32;

@compute @workgroup_size(block_x)
fn specialised(@builtin(global_invocation_id) id: vec3u) {
    if (id.x >= count) { return; }
    let value = i32(FACTOR * id.x + 1u);
    out[id.x] = select(value, -value, NEGATED);
}

// Anything of a size: a structure is no number, so that each scalar of that size may be given.
struct Any32 { bits: u32 }
struct Any64 { bits: vec2u }

@group(0) @binding(0) var<storage, read_write> word: Any32;
@group(0) @binding(1) var<uniform> any_word: Any32;

@compute @workgroup_size(block_x)
fn any_32(@builtin(global_invocation_id) id: vec3u) {
    if (id.x == 0u) { word = any_word; }
}

@group(0) @binding(0) var<storage, read_write> words: Any64;
@group(0) @binding(1) var<uniform> any_words: Any64;

@compute @workgroup_size(block_x)
fn any_64(@builtin(global_invocation_id) id: vec3u) {
    if (id.x == 0u) { words = any_words; }
}

@group(0) @binding(0) var<storage, read_write> result: array<u32>;
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(0) @binding(3) var<uniform> length: u32;

// Two parameters that are only read, for one buffer behind both.
@compute @workgroup_size(block_x)
fn added(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < length) { result[id.x] = a[id.x] + b[id.x]; }
}
