// GELU in its exact form, x * Phi(x), in place; BERT's "gelu" is this one, not the tanh approximation.
//
// One thread per value; grid and block of any size that covers count.

override block_x: u32;

@group(0) @binding(0) var<storage, read_write> values: array<f32>;
@group(0) @binding(1) var<uniform> count: u32;

// WGSL has no erf. Below 1 it is x times a polynomial of x^2; from there 1 - exp(-x^2) times a polynomial of
// 1 / (1 + x / 2), and from 4 on 1. Both are least-squares fits; the error stays below 1.2e-7.
fn error_function(x: f32) -> f32 {
    let size = abs(x);
    let square = x * x;
    if (size < 1.0) {
        var p = -0.00056541059;
        p = fma(p, square, 0.0049232775);
        p = fma(p, square, -0.026716385);
        p = fma(p, square, 0.11280365);
        p = fma(p, square, -0.37612349);
        return x * fma(p, square, 1.1283791);
    }
    if (size >= 4.0) { return sign(x); }
    let t = 1.0 / fma(0.5, size, 1.0);
    var p = -0.053540617;
    p = fma(p, t, -0.057338737);
    p = fma(p, t, 0.40383837);
    p = fma(p, t, 0.10126825);
    p = fma(p, t, 0.33084068);
    p = fma(p, t, 0.27361816);
    p = fma(p, t, 0.00060640875);
    return sign(x) * (1.0 - exp(-square) * p);
}

@compute @workgroup_size(block_x)
fn gelu_f32(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < count) {
        let x = values[id.x];
        values[id.x] = 0.5 * x * (1.0 + error_function(x * 0.70710678));
    }
}
