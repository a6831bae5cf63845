; Made by build.py from layout.c: do not edit.
; flags -std=c17 -O2 -S -emit-llvm -Wall -Wextra -Werror -Wno-pass-failed -ffp-contract=off -fno-math-errno -fwrapv -fno-strict-aliasing -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-stack-protector -fno-asynchronous-unwind-tables -fPIC
; sha256 abi.h 1bf809b2ae45aeff1442d603e5ed2f0859357d8926add5f3961dbe2993351f1b
; sha256 layout.c 63064d2ef8c1a76de9c3c3ce23e354116cc25ebbd2dc8aca92d346a12304cb23
source_filename = "layout.c"

@ABI_LAYOUT = local_unnamed_addr constant [118 x i32] [i32 24, i32 0, i32 8, i32 8, i32 8, i32 16, i32 8, i32 72, i32 0, i32 4, i32 4, i32 4, i32 8, i32 4, i32 12, i32 4, i32 16, i32 12, i32 28, i32 12, i32 40, i32 8, i32 48, i32 8, i32 56, i32 16, i32 168, i32 0, i32 8, i32 8, i32 12, i32 20, i32 12, i32 32, i32 4, i32 36, i32 4, i32 40, i32 4, i32 44, i32 4, i32 48, i32 8, i32 56, i32 8, i32 64, i32 4, i32 68, i32 4, i32 72, i32 8, i32 80, i32 8, i32 88, i32 8, i32 96, i32 72, i32 80, i32 0, i32 4, i32 4, i32 4, i32 8, i32 12, i32 20, i32 4, i32 24, i32 4, i32 28, i32 4, i32 32, i32 4, i32 36, i32 4, i32 40, i32 4, i32 44, i32 4, i32 48, i32 4, i32 52, i32 4, i32 56, i32 8, i32 64, i32 4, i32 68, i32 4, i32 72, i32 8, i32 112, i32 0, i32 8, i32 8, i32 12, i32 20, i32 4, i32 24, i32 8, i32 32, i32 8, i32 40, i32 8, i32 48, i32 64, i32 144, i32 0, i32 112, i32 112, i32 8, i32 120, i32 8, i32 128, i32 8, i32 136, i32 4, i32 140, i32 4], align 16
@ABI_ENUMS = local_unnamed_addr constant [12 x i32] [i32 4, i32 3, i32 4, i32 8, i32 10, i32 18, i32 19, i32 20, i32 11, i32 3, i32 3, i32 0], align 16
