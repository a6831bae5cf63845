// No kernel of WebGPU faults: what is written beyond a binding goes nowhere, or somewhere inside of it.
override block_x: u32;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(block_x)
fn illegal_address(@builtin(local_invocation_index) thread_index: u32) { out[(1u << 29u) + thread_index] = 7u; }

@compute @workgroup_size(block_x)
fn healthy(@builtin(local_invocation_index) thread_index: u32) { out[thread_index] = 7u + thread_index; }
