"""PTX for tests that look at launches, and short ways to make them."""

from __future__ import annotations

PTX = """.version 7.8
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 .ptr .global .align 4 x, .param .u32 count, .param .f32 factor) { ret; }
.visible .entry mixed(.param .u8 a, .param .f64 b, .param .u16 c, .param .u64 d, .param .f32 e) { ret; }
.visible .entry small_first(.param .u8 a, .param .u64 b) { ret; }
.visible .entry tensor(.param .u8 a, .param .align 64 .b8 b[128], .param .u8 c) { ret; }
.visible .entry nothing() { ret; }
.visible .entry with_static() { .shared .align 4 .b8 area[1024]; ret; }
.visible .global .align 4 .u32 table[3] = {301, 302, 303};
"""
