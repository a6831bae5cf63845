// y = x * weight + bias, with x [rows][depth], weight [depth][columns], bias [columns], y [rows][columns].
//
// Block: exactly 64 threads. Grid: (columns / 64, rows / 32), both rounded up. columns and depth are multiples of 4.
//
// A block computes 32 x 64 outputs from tiles of 32 along the depth in workgroup memory; a thread keeps 4 x 8 of them
// in registers, so that twelve 16-byte loads from workgroup memory feed 128 multiply-adds. The eight columns of a
// thread are two runs of four, 32 apart: the eight threads that share a row then read 128 bytes in a row, and the four
// rows of a thread are neighbours, so that threads below the last row skip the arithmetic.

const TILE_ROWS = 32u;
const TILE_COLUMNS = 64u;
const TILE_DEPTH = 32u;
const THREADS = 64u;
const X_QUADS = TILE_DEPTH / 4u;
const WEIGHT_QUADS = TILE_COLUMNS / 4u;
// One more quad per row: writing a tile by rows and reading it by columns then hits different banks.
const X_STRIDE = X_QUADS + 1u;

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> weight: array<vec4f>;
@group(0) @binding(2) var<storage, read> bias: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(4) var<uniform> rows: u32;
@group(0) @binding(5) var<uniform> columns: u32;
@group(0) @binding(6) var<uniform> depth: u32;

var<workgroup> x_tile: array<vec4f, TILE_ROWS * X_STRIDE>;
var<workgroup> weight_tile: array<vec4f, TILE_DEPTH * WEIGHT_QUADS>;

@compute @workgroup_size(THREADS)
fn matmul_bias_f32(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) thread_index: u32) {
    let first_row = block.y * TILE_ROWS;
    let first_quad = block.x * WEIGHT_QUADS;
    let depth_quads = depth / 4u;
    let column_quads = columns / 4u;
    let thread_column = thread_index % 8u;
    let thread_row = thread_index / 8u * 4u;
    let has_rows = first_row + thread_row < rows;

    // The four rows of a thread by name: an array of them would not stay in registers everywhere.
    var left0 = vec4f();
    var left1 = vec4f();
    var left2 = vec4f();
    var left3 = vec4f();
    var right0 = vec4f();
    var right1 = vec4f();
    var right2 = vec4f();
    var right3 = vec4f();

    for (var start = 0u; start < depth_quads; start += X_QUADS) {
        for (var i = thread_index; i < TILE_ROWS * X_QUADS; i += THREADS) {
            let row = i / X_QUADS;
            let quad = i % X_QUADS;
            var found = vec4f();
            if (first_row + row < rows && start + quad < depth_quads) {
                found = x[(first_row + row) * depth_quads + start + quad];
            }
            x_tile[row * X_STRIDE + quad] = found;
        }
        for (var i = thread_index; i < TILE_DEPTH * WEIGHT_QUADS; i += THREADS) {
            let k = start * 4u + i / WEIGHT_QUADS;
            let quad = first_quad + i % WEIGHT_QUADS;
            var found = vec4f();
            if (k < depth && quad < column_quads) { found = weight[k * column_quads + quad]; }
            weight_tile[i] = found;
        }
        workgroupBarrier();

        if (has_rows) {
            for (var quad = 0u; quad < X_QUADS; quad++) {
                let from_row = thread_row * X_STRIDE + quad;
                let x0 = x_tile[from_row];
                let x1 = x_tile[from_row + X_STRIDE];
                let x2 = x_tile[from_row + 2u * X_STRIDE];
                let x3 = x_tile[from_row + 3u * X_STRIDE];
                for (var k = 0u; k < 4u; k++) {
                    let w = (quad * 4u + k) * WEIGHT_QUADS + thread_column;
                    let w_left = weight_tile[w];
                    let w_right = weight_tile[w + 8u];
                    left0 = fma(vec4f(x0[k]), w_left, left0);
                    left1 = fma(vec4f(x1[k]), w_left, left1);
                    left2 = fma(vec4f(x2[k]), w_left, left2);
                    left3 = fma(vec4f(x3[k]), w_left, left3);
                    right0 = fma(vec4f(x0[k]), w_right, right0);
                    right1 = fma(vec4f(x1[k]), w_right, right1);
                    right2 = fma(vec4f(x2[k]), w_right, right2);
                    right3 = fma(vec4f(x3[k]), w_right, right3);
                }
            }
        }
        workgroupBarrier();
    }

    let row = first_row + thread_row;
    let left_quad = first_quad + thread_column;
    write_row(row, left_quad, left0);
    write_row(row + 1u, left_quad, left1);
    write_row(row + 2u, left_quad, left2);
    write_row(row + 3u, left_quad, left3);
    write_row(row, left_quad + 8u, right0);
    write_row(row + 1u, left_quad + 8u, right1);
    write_row(row + 2u, left_quad + 8u, right2);
    write_row(row + 3u, left_quad + 8u, right3);
}

fn write_row(row: u32, quad: u32, sum: vec4f) {
    let column_quads = columns / 4u;
    if (row < rows && quad < column_quads) { y[row * column_quads + quad] = sum + bias[quad]; }
}
