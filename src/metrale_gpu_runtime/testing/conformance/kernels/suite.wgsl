// The kernels of the conformance suite for WebGPU: those of suite.cu, as far as WGSL has them.
//
// A host may give no numbers of 8, 16 or 64 bits: where the others have such, words stand for them, or the kernel is
// not here. A binding belongs to the module, so that kernels of one parameter list share it. `block_x` and its like
// are what the launch says of its block.
override block_x: u32;
override block_y: u32;
override block_z: u32;
// The bytes of workgroup memory that the launch asks for.
override shared_mem: u32;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> value: u32;

@group(0) @binding(0) var<storage, read_write> values: array<u32>;
@group(0) @binding(1) var<uniform> count: u32;
@group(0) @binding(2) var<uniform> factor: u32;
@group(0) @binding(3) var<uniform> addend: u32;

// Not commutative, so that two launches in the wrong order show.
@compute @workgroup_size(block_x)
fn affine(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < count) { values[id.x] = values[id.x] * factor + addend; }
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> length: u32;
@group(0) @binding(3) var<uniform> scale: f32;

@compute @workgroup_size(block_x)
fn scale_add(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < length) { y[id.x] = scale * x[id.x] + y[id.x]; }
}

@group(0) @binding(0) var<storage, read> summands: array<i32>;
@group(0) @binding(1) var<storage, read_write> sum: array<i32>;

@compute @workgroup_size(block_x)
fn sum_i32(@builtin(global_invocation_id) id: vec3u) {
    if (id.x != 0u) { return; }
    var total = 0i;
    for (var i = 0u; i < length; i++) { total += summands[i]; }
    sum[0] = total;
}

@compute @workgroup_size(block_x)
fn echo_32(@builtin(global_invocation_id) id: vec3u) {
    if (id.x == 0u) { out[0] = value; }
}

@group(0) @binding(0) var<storage, read_write> real: array<f32>;
@group(0) @binding(1) var<uniform> number: f32;

@compute @workgroup_size(block_x)
fn echo_f32(@builtin(global_invocation_id) id: vec3u) {
    if (id.x == 0u) { real[0] = number; }
}

// Small and wide arguments by turns: every one needs its own place. Written tightly: 4, 8, 4, 16, 4 bytes.
@group(0) @binding(2) var<uniform> pair: vec2u;
@group(0) @binding(3) var<uniform> single: f32;
@group(0) @binding(4) var<uniform> quad: vec4u;
@group(0) @binding(5) var<uniform> last: u32;

@compute @workgroup_size(block_x)
fn mixed(@builtin(global_invocation_id) id: vec3u) {
    if (id.x != 0u) { return; }
    out[0] = value;
    out[1] = pair.x;
    out[2] = pair.y;
    out[3] = bitcast<u32>(single);
    for (var i = 0u; i < 4u; i++) { out[4u + i] = quad[i]; }
    out[8] = last;
}

// An array of a uniform has elements of 16 bytes.
struct TensorMap { words: array<vec4u, 8> }
@group(0) @binding(2) var<uniform> map: TensorMap;
@group(0) @binding(3) var<uniform> after: u32;

@compute @workgroup_size(block_x)
fn tensor_map(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < 32u) { out[1u + id.x] = map.words[id.x / 4u][id.x % 4u]; }
    if (id.x == 0u) {
        out[0] = value;
        out[33] = after;
    }
}

// C's `struct { char a; double b; int c; }`: its byte, and the three behind it, are the low ones of a word.
struct Gapped { a: i32, b: vec2i, c: i32 }
@group(0) @binding(0) var<storage, read_write> wide: array<vec2i>;
@group(0) @binding(1) var<uniform> s: Gapped;

@compute @workgroup_size(block_x)
fn gapped(@builtin(global_invocation_id) id: vec3u) {
    if (id.x != 0u) { return; }
    let a = extractBits(s.a, 0u, 8u);
    wide[0] = vec2i(a, a >> 31u);
    wide[1] = s.b;
    wide[2] = vec2i(s.c, s.c >> 31u);
}

// Six words for every invocation: its workgroup, its place in the workgroup.
@compute @workgroup_size(block_x, block_y, block_z)
fn whereabouts(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
               @builtin(local_invocation_id) at: vec3u) {
    let block = group.x + groups.x * (group.y + groups.y * group.z);
    let place = at.x + block_x * (at.y + block_y * at.z);
    let mine = 6u * (block * block_x * block_y * block_z + place);
    for (var axis = 0u; axis < 3u; axis++) {
        out[mine + axis] = group[axis];
        out[mine + 3u + axis] = at[axis];
    }
}

// Each workgroup turns its part round by way of workgroup memory whose length the launch says.
var<workgroup> part: array<u32, shared_mem / 4u>;

@compute @workgroup_size(block_x)
fn reverse_blocks(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) at: vec3u) {
    part[at.x] = values[id.x];
    workgroupBarrier();
    values[id.x] = part[block_x - 1u - at.x];
}

// WGSL says of a kernel how large its workgroups are exactly, not how large they are at most.
@compute @workgroup_size(64)
fn at_most_64(@builtin(global_invocation_id) id: vec3u) { out[id.x] = id.x + 7u; }

@group(0) @binding(0) var<storage, read_write> numbers: array<i32>;
@group(0) @binding(1) var<uniform> index: i32;
@group(0) @binding(2) var<uniform> written: i32;

@compute @workgroup_size(block_x)
fn write_at(@builtin(global_invocation_id) id: vec3u) {
    if (id.x == 0u) { numbers[index] = written; }
}

// WGSL has no null: every binding has memory behind it.
@group(0) @binding(1) var<storage, read> pointer: array<u32>;

@compute @workgroup_size(block_x)
fn is_null(@builtin(global_invocation_id) id: vec3u) {
    if (id.x == 0u) { out[0] = select(22u, 11u, arrayLength(&pointer) == 0u); }
}

// WGSL has no trap, and a write beyond a binding goes nowhere, or somewhere inside of it.
@compute @workgroup_size(block_x)
fn trap_if(@builtin(global_invocation_id) id: vec3u) {
    if (id.x != 0u) { return; }
    if (value != 0u) { out[value << 29u] = 1u; }
    out[0] = 33u;
}

const table = array<u32, 3>(301u, 302u, 303u);

@compute @workgroup_size(block_x)
fn add_table(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < 3u) { out[id.x] = table[id.x] + 1u; }
}
