; Made by build.py from semantics.c: do not edit.
; flags -std=c17 -O2 -S -emit-llvm -Wall -Wextra -Werror -Wno-pass-failed -ffp-contract=off -fno-math-errno -fwrapv -fno-strict-aliasing -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-stack-protector -fno-asynchronous-unwind-tables -fPIC
; sha256 abi.h 58efc0a1ba6830d8e5d987367b2b20864b3530d0f9f23755e26b9c495a3fc82a
; sha256 semantics.c 9bbd38f256353e1433548ae267c93e26e9bd468af37b55ec1675d4b3244729d4
source_filename = "semantics.c"

%struct.timespec = type { i64, i64 }

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef float @ptx_ftz_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = bitcast float %0 to i32
  %3 = and i32 %2, 2139095040
  %4 = icmp eq i32 %3, 0
  %5 = and i32 %2, -2147483648
  %6 = select i1 %4, i32 %5, i32 %2
  %7 = bitcast i32 %6 to float
  ret float %7
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef float @ptx_sat_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fcmp ogt float %0, 0.000000e+00
  %3 = fcmp olt float %0, 1.000000e+00
  %4 = select i1 %3, float %0, float 1.000000e+00
  %5 = select i1 %2, float %4, float 0.000000e+00
  ret float %5
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef double @ptx_sat_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fcmp ogt double %0, 0.000000e+00
  %3 = fcmp olt double %0, 1.000000e+00
  %4 = select i1 %3, double %0, double 1.000000e+00
  %5 = select i1 %2, double %4, double 0.000000e+00
  ret double %5
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef float @ptx_min_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = fcmp uno float %1, 0.000000e+00
  %4 = fcmp oeq float %0, %1
  br i1 %4, label %5, label %10

5:                                                ; preds = %2
  %6 = bitcast float %0 to i32
  %7 = bitcast float %1 to i32
  %8 = or i32 %7, %6
  %9 = bitcast i32 %8 to float
  br label %14

10:                                               ; preds = %2
  %11 = fcmp olt float %0, %1
  %12 = or i1 %3, %11
  %13 = select i1 %12, float %0, float %1
  br label %14

14:                                               ; preds = %10, %5
  %15 = phi float [ %9, %5 ], [ %13, %10 ]
  %16 = fcmp uno float %0, 0.000000e+00
  %17 = and i1 %16, %3
  %18 = select i1 %17, float 0x7FFFFFFFE0000000, float %15
  ret float %18
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef float @ptx_max_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = fcmp uno float %1, 0.000000e+00
  %4 = fcmp oeq float %0, %1
  br i1 %4, label %5, label %10

5:                                                ; preds = %2
  %6 = bitcast float %0 to i32
  %7 = bitcast float %1 to i32
  %8 = and i32 %7, %6
  %9 = bitcast i32 %8 to float
  br label %14

10:                                               ; preds = %2
  %11 = fcmp ogt float %0, %1
  %12 = or i1 %3, %11
  %13 = select i1 %12, float %0, float %1
  br label %14

14:                                               ; preds = %10, %5
  %15 = phi float [ %9, %5 ], [ %13, %10 ]
  %16 = fcmp uno float %0, 0.000000e+00
  %17 = and i1 %16, %3
  %18 = select i1 %17, float 0x7FFFFFFFE0000000, float %15
  ret float %18
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef float @ptx_min_nan_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = fcmp uno float %0, %1
  br i1 %3, label %14, label %4

4:                                                ; preds = %2
  %5 = fcmp oeq float %0, %1
  br i1 %5, label %6, label %11

6:                                                ; preds = %4
  %7 = bitcast float %0 to i32
  %8 = bitcast float %1 to i32
  %9 = or i32 %8, %7
  %10 = bitcast i32 %9 to float
  br label %14

11:                                               ; preds = %4
  %12 = fcmp olt float %0, %1
  %13 = select i1 %12, float %0, float %1
  br label %14

14:                                               ; preds = %11, %6, %2
  %15 = phi float [ 0x7FFFFFFFE0000000, %2 ], [ %10, %6 ], [ %13, %11 ]
  ret float %15
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef float @ptx_max_nan_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = fcmp uno float %0, %1
  br i1 %3, label %14, label %4

4:                                                ; preds = %2
  %5 = fcmp oeq float %0, %1
  br i1 %5, label %6, label %11

6:                                                ; preds = %4
  %7 = bitcast float %0 to i32
  %8 = bitcast float %1 to i32
  %9 = and i32 %8, %7
  %10 = bitcast i32 %9 to float
  br label %14

11:                                               ; preds = %4
  %12 = fcmp ogt float %0, %1
  %13 = select i1 %12, float %0, float %1
  br label %14

14:                                               ; preds = %11, %6, %2
  %15 = phi float [ 0x7FFFFFFFE0000000, %2 ], [ %10, %6 ], [ %13, %11 ]
  ret float %15
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef double @ptx_min_f64(double noundef %0, double noundef %1) local_unnamed_addr #0 {
  %3 = fcmp oeq double %0, %1
  br i1 %3, label %4, label %9

4:                                                ; preds = %2
  %5 = bitcast double %0 to i64
  %6 = bitcast double %1 to i64
  %7 = or i64 %6, %5
  %8 = bitcast i64 %7 to double
  br label %14

9:                                                ; preds = %2
  %10 = fcmp uno double %1, 0.000000e+00
  %11 = fcmp olt double %0, %1
  %12 = or i1 %10, %11
  %13 = select i1 %12, double %0, double %1
  br label %14

14:                                               ; preds = %9, %4
  %15 = phi double [ %8, %4 ], [ %13, %9 ]
  ret double %15
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef double @ptx_max_f64(double noundef %0, double noundef %1) local_unnamed_addr #0 {
  %3 = fcmp oeq double %0, %1
  br i1 %3, label %4, label %9

4:                                                ; preds = %2
  %5 = bitcast double %0 to i64
  %6 = bitcast double %1 to i64
  %7 = and i64 %6, %5
  %8 = bitcast i64 %7 to double
  br label %14

9:                                                ; preds = %2
  %10 = fcmp uno double %1, 0.000000e+00
  %11 = fcmp ogt double %0, %1
  %12 = or i1 %10, %11
  %13 = select i1 %12, double %0, double %1
  br label %14

14:                                               ; preds = %9, %4
  %15 = phi double [ %8, %4 ], [ %13, %9 ]
  ret double %15
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_add_f32(float noundef %0, float noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = fpext float %0 to double
  %5 = fpext float %1 to double
  %6 = fadd double %4, %5
  %7 = fsub double %6, %4
  %8 = fsub double %6, %7
  %9 = fsub double %4, %8
  %10 = fsub double %5, %7
  %11 = fadd double %10, %9
  %12 = fptrunc double %6 to float
  %13 = fpext float %12 to double
  %14 = fsub double %13, %6
  %15 = bitcast float %12 to i32
  %16 = fcmp oeq float %12, 0.000000e+00
  %17 = icmp sgt i32 %15, -1
  %18 = select i1 %17, i32 1, i32 -1
  %19 = add i32 %18, %15
  %20 = select i1 %16, i32 1, i32 %19
  %21 = icmp eq i32 %2, 2
  br i1 %21, label %26, label %22

22:                                               ; preds = %3
  %23 = icmp eq i32 %2, 1
  %24 = fcmp ogt double %6, 0.000000e+00
  %25 = and i1 %23, %24
  br i1 %25, label %26, label %28

26:                                               ; preds = %22, %3
  %27 = fcmp ogt double %14, %11
  br label %30

28:                                               ; preds = %22
  %29 = icmp eq i32 %2, 3
  br i1 %29, label %35, label %30

30:                                               ; preds = %28, %26
  %31 = phi i1 [ %27, %26 ], [ false, %28 ]
  %32 = icmp eq i32 %2, 1
  %33 = fcmp olt double %6, 0.000000e+00
  %34 = and i1 %32, %33
  br i1 %34, label %35, label %39

35:                                               ; preds = %30, %28
  %36 = phi i1 [ %31, %30 ], [ false, %28 ]
  %37 = fcmp olt double %14, %11
  br i1 %37, label %38, label %39

38:                                               ; preds = %35
  br label %39

39:                                               ; preds = %30, %35, %38
  %40 = phi i1 [ %36, %38 ], [ %36, %35 ], [ %31, %30 ]
  %41 = phi i32 [ %20, %38 ], [ %15, %35 ], [ %15, %30 ]
  %42 = select i1 %17, i32 -1, i32 1
  %43 = add i32 %42, %15
  %44 = select i1 %16, i32 -2147483647, i32 %43
  %45 = select i1 %40, i32 %44, i32 %41
  %46 = bitcast i32 %45 to float
  %47 = fcmp oeq double %6, 0.000000e+00
  %48 = and i1 %21, %47
  br i1 %48, label %49, label %54

49:                                               ; preds = %39
  %50 = bitcast float %0 to i32
  %51 = bitcast float %1 to i32
  %52 = or i32 %50, %51
  %53 = icmp sgt i32 %52, -1
  br i1 %53, label %54, label %55

54:                                               ; preds = %49, %39
  br label %55

55:                                               ; preds = %49, %54
  %56 = phi float [ %46, %54 ], [ -0.000000e+00, %49 ]
  ret float %56
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_mul_f32(float noundef %0, float noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = fpext float %0 to double
  %5 = fpext float %1 to double
  %6 = fmul double %4, %5
  %7 = fptrunc double %6 to float
  %8 = fpext float %7 to double
  %9 = fsub double %8, %6
  %10 = bitcast float %7 to i32
  %11 = fcmp oeq float %7, 0.000000e+00
  %12 = icmp sgt i32 %10, -1
  %13 = select i1 %12, i32 1, i32 -1
  %14 = add i32 %13, %10
  %15 = select i1 %11, i32 1, i32 %14
  %16 = icmp eq i32 %2, 2
  br i1 %16, label %21, label %17

17:                                               ; preds = %3
  %18 = icmp eq i32 %2, 1
  %19 = fcmp ogt double %6, 0.000000e+00
  %20 = and i1 %18, %19
  br i1 %20, label %21, label %23

21:                                               ; preds = %17, %3
  %22 = fcmp ogt double %9, 0.000000e+00
  br label %25

23:                                               ; preds = %17
  %24 = icmp eq i32 %2, 3
  br i1 %24, label %30, label %25

25:                                               ; preds = %23, %21
  %26 = phi i1 [ %22, %21 ], [ false, %23 ]
  %27 = icmp eq i32 %2, 1
  %28 = fcmp olt double %6, 0.000000e+00
  %29 = and i1 %27, %28
  br i1 %29, label %30, label %34

30:                                               ; preds = %25, %23
  %31 = phi i1 [ %26, %25 ], [ false, %23 ]
  %32 = fcmp olt double %9, 0.000000e+00
  br i1 %32, label %33, label %34

33:                                               ; preds = %30
  br label %34

34:                                               ; preds = %25, %30, %33
  %35 = phi i1 [ %31, %33 ], [ %31, %30 ], [ %26, %25 ]
  %36 = phi i32 [ %15, %33 ], [ %10, %30 ], [ %10, %25 ]
  %37 = select i1 %12, i32 -1, i32 1
  %38 = add i32 %37, %10
  %39 = select i1 %11, i32 -2147483647, i32 %38
  %40 = select i1 %35, i32 %39, i32 %36
  %41 = bitcast i32 %40 to float
  ret float %41
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_fma_f32(float noundef %0, float noundef %1, float noundef %2, i32 noundef %3) local_unnamed_addr #0 {
  %5 = fpext float %0 to double
  %6 = fpext float %1 to double
  %7 = fmul double %5, %6
  %8 = fpext float %2 to double
  %9 = fadd double %7, %8
  %10 = fsub double %9, %7
  %11 = fsub double %9, %10
  %12 = fsub double %7, %11
  %13 = fsub double %8, %10
  %14 = fadd double %13, %12
  %15 = fptrunc double %9 to float
  %16 = fpext float %15 to double
  %17 = fsub double %16, %9
  %18 = bitcast float %15 to i32
  %19 = fcmp oeq float %15, 0.000000e+00
  %20 = icmp sgt i32 %18, -1
  %21 = select i1 %20, i32 1, i32 -1
  %22 = add i32 %21, %18
  %23 = select i1 %19, i32 1, i32 %22
  %24 = icmp eq i32 %3, 2
  br i1 %24, label %29, label %25

25:                                               ; preds = %4
  %26 = icmp eq i32 %3, 1
  %27 = fcmp ogt double %9, 0.000000e+00
  %28 = and i1 %26, %27
  br i1 %28, label %29, label %31

29:                                               ; preds = %25, %4
  %30 = fcmp ogt double %17, %14
  br label %33

31:                                               ; preds = %25
  %32 = icmp eq i32 %3, 3
  br i1 %32, label %38, label %33

33:                                               ; preds = %31, %29
  %34 = phi i1 [ %30, %29 ], [ false, %31 ]
  %35 = icmp eq i32 %3, 1
  %36 = fcmp olt double %9, 0.000000e+00
  %37 = and i1 %35, %36
  br i1 %37, label %38, label %42

38:                                               ; preds = %33, %31
  %39 = phi i1 [ %34, %33 ], [ false, %31 ]
  %40 = fcmp olt double %17, %14
  br i1 %40, label %41, label %42

41:                                               ; preds = %38
  br label %42

42:                                               ; preds = %33, %38, %41
  %43 = phi i1 [ %39, %41 ], [ %39, %38 ], [ %34, %33 ]
  %44 = phi i32 [ %23, %41 ], [ %18, %38 ], [ %18, %33 ]
  %45 = select i1 %20, i32 -1, i32 1
  %46 = add i32 %45, %18
  %47 = select i1 %19, i32 -2147483647, i32 %46
  %48 = select i1 %43, i32 %47, i32 %44
  %49 = bitcast i32 %48 to float
  %50 = fcmp oeq double %9, 0.000000e+00
  %51 = and i1 %24, %50
  br i1 %51, label %52, label %58

52:                                               ; preds = %42
  %53 = bitcast double %7 to i64
  %54 = icmp sgt i64 %53, -1
  %55 = bitcast float %2 to i32
  %56 = icmp sgt i32 %55, -1
  %57 = and i1 %56, %54
  br i1 %57, label %58, label %59

58:                                               ; preds = %52, %42
  br label %59

59:                                               ; preds = %52, %58
  %60 = phi float [ %49, %58 ], [ -0.000000e+00, %52 ]
  ret float %60
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_div_f32(float noundef %0, float noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = fpext float %0 to double
  %5 = fpext float %1 to double
  %6 = fdiv double %4, %5
  %7 = fneg double %6
  %8 = tail call double @llvm.fma.f64(double %7, double %5, double %4)
  %9 = fcmp ogt double %8, 0.000000e+00
  %10 = fcmp olt double %8, 0.000000e+00
  %11 = select i1 %10, double -1.000000e+00, double 0.000000e+00
  %12 = select i1 %9, double 1.000000e+00, double %11
  %13 = fcmp ogt float %1, 0.000000e+00
  %14 = fcmp olt float %1, 0.000000e+00
  %15 = select i1 %14, double -1.000000e+00, double 0.000000e+00
  %16 = select i1 %13, double 1.000000e+00, double %15
  %17 = fmul double %16, %12
  %18 = fmul double %17, 0x2D30000000000000
  %19 = tail call double @llvm.fabs.f64(double %5)
  %20 = fcmp oeq double %19, 0x7FF0000000000000
  %21 = select i1 %20, double 0.000000e+00, double %18
  %22 = fptrunc double %6 to float
  %23 = fpext float %22 to double
  %24 = fsub double %23, %6
  %25 = bitcast float %22 to i32
  %26 = fcmp oeq float %22, 0.000000e+00
  %27 = icmp sgt i32 %25, -1
  %28 = select i1 %27, i32 1, i32 -1
  %29 = add i32 %28, %25
  %30 = select i1 %26, i32 1, i32 %29
  %31 = icmp eq i32 %2, 2
  br i1 %31, label %36, label %32

32:                                               ; preds = %3
  %33 = icmp eq i32 %2, 1
  %34 = fcmp ogt double %6, 0.000000e+00
  %35 = and i1 %33, %34
  br i1 %35, label %36, label %38

36:                                               ; preds = %32, %3
  %37 = fcmp ogt double %24, %21
  br label %40

38:                                               ; preds = %32
  %39 = icmp eq i32 %2, 3
  br i1 %39, label %45, label %40

40:                                               ; preds = %38, %36
  %41 = phi i1 [ %37, %36 ], [ false, %38 ]
  %42 = icmp eq i32 %2, 1
  %43 = fcmp olt double %6, 0.000000e+00
  %44 = and i1 %42, %43
  br i1 %44, label %45, label %49

45:                                               ; preds = %40, %38
  %46 = phi i1 [ %41, %40 ], [ false, %38 ]
  %47 = fcmp olt double %24, %21
  br i1 %47, label %48, label %49

48:                                               ; preds = %45
  br label %49

49:                                               ; preds = %40, %45, %48
  %50 = phi i1 [ %46, %48 ], [ %46, %45 ], [ %41, %40 ]
  %51 = phi i32 [ %30, %48 ], [ %25, %45 ], [ %25, %40 ]
  %52 = select i1 %27, i32 -1, i32 1
  %53 = add i32 %52, %25
  %54 = select i1 %26, i32 -2147483647, i32 %53
  %55 = select i1 %50, i32 %54, i32 %51
  %56 = bitcast i32 %55 to float
  ret float %56
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fma.f64(double, double, double) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i1 @llvm.is.fpclass.f64(double, i32 immarg) #2

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_sqrt_f32(float noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = fpext float %0 to double
  %4 = tail call double @llvm.sqrt.f64(double %3)
  %5 = fneg double %4
  %6 = tail call double @llvm.fma.f64(double %5, double %4, double %3)
  %7 = fcmp ogt double %6, 0.000000e+00
  %8 = fcmp olt double %6, 0.000000e+00
  %9 = select i1 %8, double 0xAD30000000000000, double 0.000000e+00
  %10 = select i1 %7, double 0x2D30000000000000, double %9
  %11 = fptrunc double %4 to float
  %12 = fpext float %11 to double
  %13 = fsub double %12, %4
  %14 = bitcast float %11 to i32
  %15 = fcmp oeq float %11, 0.000000e+00
  %16 = icmp sgt i32 %14, -1
  %17 = select i1 %16, i32 1, i32 -1
  %18 = add i32 %17, %14
  %19 = select i1 %15, i32 1, i32 %18
  %20 = icmp eq i32 %1, 2
  br i1 %20, label %30, label %21

21:                                               ; preds = %2
  %22 = icmp eq i32 %1, 1
  %23 = fcmp ogt double %4, 0.000000e+00
  %24 = and i1 %22, %23
  br i1 %24, label %30, label %25

25:                                               ; preds = %21
  %26 = icmp eq i32 %1, 3
  %27 = fcmp olt double %13, %10
  %28 = select i1 %26, i1 %27, i1 false
  %29 = select i1 %28, i32 %19, i32 %14
  br label %36

30:                                               ; preds = %2, %21
  %31 = fcmp ogt double %13, %10
  %32 = select i1 %16, i32 -1, i32 1
  %33 = add i32 %32, %14
  %34 = select i1 %15, i32 -2147483647, i32 %33
  %35 = select i1 %31, i32 %34, i32 %14
  br label %36

36:                                               ; preds = %25, %30
  %37 = phi i32 [ %35, %30 ], [ %29, %25 ]
  %38 = bitcast i32 %37 to float
  ret float %38
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.sqrt.f64(double) #2

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define double @ptx_add_f64(double noundef %0, double noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = fadd double %0, %1
  %5 = tail call double @llvm.fabs.f64(double %0)
  %6 = fcmp ueq double %5, 0x7FF0000000000000
  br i1 %6, label %87, label %7

7:                                                ; preds = %3
  %8 = tail call double @llvm.fabs.f64(double %1)
  %9 = fcmp ueq double %8, 0x7FF0000000000000
  br i1 %9, label %87, label %10

10:                                               ; preds = %7
  %11 = icmp eq i32 %2, 2
  %12 = fcmp oeq double %4, 0.000000e+00
  %13 = and i1 %12, %11
  br i1 %13, label %14, label %19

14:                                               ; preds = %10
  %15 = bitcast double %0 to i64
  %16 = bitcast double %1 to i64
  %17 = or i64 %15, %16
  %18 = icmp sgt i64 %17, -1
  br i1 %18, label %19, label %87

19:                                               ; preds = %14, %10
  %20 = tail call double @llvm.fabs.f64(double %4)
  %21 = fcmp ueq double %20, 0x7FF0000000000000
  br i1 %21, label %22, label %49

22:                                               ; preds = %19
  %23 = icmp eq i32 %2, 1
  %24 = fcmp ogt double %4, 0.000000e+00
  %25 = select i1 %24, i32 2, i32 3
  %26 = select i1 %23, i32 %25, i32 %2
  %27 = icmp eq i32 %26, 2
  %28 = and i1 %24, %27
  br i1 %28, label %29, label %38

29:                                               ; preds = %22
  %30 = fneg double %4
  %31 = bitcast double %30 to i64
  %32 = icmp sgt i64 %31, -1
  %33 = select i1 %32, i64 1, i64 -1
  %34 = add nsw i64 %33, %31
  %35 = bitcast i64 %34 to double
  %36 = fneg double %35
  %37 = select i1 %12, double -4.940660e-324, double %36
  br label %87

38:                                               ; preds = %22
  %39 = icmp eq i32 %26, 3
  %40 = fcmp olt double %4, 0.000000e+00
  %41 = and i1 %40, %39
  br i1 %41, label %42, label %87

42:                                               ; preds = %38
  %43 = bitcast double %4 to i64
  %44 = icmp sgt i64 %43, -1
  %45 = select i1 %44, i64 1, i64 -1
  %46 = add nsw i64 %45, %43
  %47 = bitcast i64 %46 to double
  %48 = select i1 %12, double 4.940660e-324, double %47
  br label %87

49:                                               ; preds = %19
  %50 = fcmp oge double %5, %8
  %51 = select i1 %50, double %0, double %1
  %52 = select i1 %50, double %1, double %0
  %53 = fsub double %4, %51
  %54 = fsub double %52, %53
  %55 = icmp eq i32 %2, 1
  br i1 %55, label %56, label %62

56:                                               ; preds = %49
  %57 = fcmp ogt double %4, 0.000000e+00
  %58 = fcmp ogt double %54, 0.000000e+00
  %59 = and i1 %12, %58
  %60 = or i1 %57, %59
  %61 = select i1 %60, i32 2, i32 3
  br label %62

62:                                               ; preds = %56, %49
  %63 = phi i32 [ %61, %56 ], [ %2, %49 ]
  %64 = icmp eq i32 %63, 2
  %65 = fcmp olt double %54, 0.000000e+00
  %66 = and i1 %65, %64
  br i1 %66, label %67, label %76

67:                                               ; preds = %62
  %68 = fneg double %4
  %69 = bitcast double %68 to i64
  %70 = icmp sgt i64 %69, -1
  %71 = select i1 %70, i64 1, i64 -1
  %72 = add i64 %71, %69
  %73 = bitcast i64 %72 to double
  %74 = fneg double %73
  %75 = select i1 %12, double -4.940660e-324, double %74
  br label %87

76:                                               ; preds = %62
  %77 = icmp eq i32 %63, 3
  %78 = fcmp ogt double %54, 0.000000e+00
  %79 = and i1 %78, %77
  br i1 %79, label %80, label %87

80:                                               ; preds = %76
  %81 = bitcast double %4 to i64
  %82 = icmp sgt i64 %81, -1
  %83 = select i1 %82, i64 1, i64 -1
  %84 = add i64 %83, %81
  %85 = bitcast i64 %84 to double
  %86 = select i1 %12, double 4.940660e-324, double %85
  br label %87

87:                                               ; preds = %14, %80, %76, %67, %42, %38, %29, %3, %7
  %88 = phi double [ %4, %7 ], [ %4, %3 ], [ %37, %29 ], [ %48, %42 ], [ %4, %38 ], [ %75, %67 ], [ %86, %80 ], [ %4, %76 ], [ -0.000000e+00, %14 ]
  ret double %88
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define double @ptx_mul_f64(double noundef %0, double noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = fmul double %0, %1
  %5 = tail call double @llvm.fabs.f64(double %0)
  %6 = fcmp ueq double %5, 0x7FF0000000000000
  %7 = tail call double @llvm.fabs.f64(double %1)
  %8 = fcmp ueq double %7, 0x7FF0000000000000
  %9 = or i1 %6, %8
  br i1 %9, label %123, label %10

10:                                               ; preds = %3
  %11 = tail call double @llvm.fabs.f64(double %4)
  %12 = fcmp ueq double %11, 0x7FF0000000000000
  br i1 %12, label %13, label %38

13:                                               ; preds = %10
  %14 = icmp eq i32 %2, 1
  %15 = fcmp ogt double %4, 0.000000e+00
  %16 = select i1 %15, i32 2, i32 3
  %17 = select i1 %14, i32 %16, i32 %2
  %18 = icmp eq i32 %17, 2
  %19 = and i1 %15, %18
  br i1 %19, label %20, label %28

20:                                               ; preds = %13
  %21 = fneg double %4
  %22 = bitcast double %21 to i64
  %23 = icmp sgt i64 %22, -1
  %24 = select i1 %23, i64 1, i64 -1
  %25 = add nsw i64 %24, %22
  %26 = bitcast i64 %25 to double
  %27 = fneg double %26
  br label %123

28:                                               ; preds = %13
  %29 = icmp eq i32 %17, 3
  %30 = fcmp olt double %4, 0.000000e+00
  %31 = and i1 %30, %29
  br i1 %31, label %32, label %123

32:                                               ; preds = %28
  %33 = bitcast double %4 to i64
  %34 = icmp sgt i64 %33, -1
  %35 = select i1 %34, i64 1, i64 -1
  %36 = add nsw i64 %35, %33
  %37 = bitcast i64 %36 to double
  br label %123

38:                                               ; preds = %10
  %39 = fcmp oeq double %0, 0.000000e+00
  %40 = fcmp oeq double %1, 0.000000e+00
  %41 = or i1 %39, %40
  br i1 %41, label %123, label %42

42:                                               ; preds = %38
  %43 = fcmp olt double %11, 0x7B0000000000000
  br i1 %43, label %44, label %96

44:                                               ; preds = %42
  %45 = fcmp oeq double %4, 0.000000e+00
  br i1 %45, label %46, label %56

46:                                               ; preds = %44
  %47 = fcmp ogt double %0, 0.000000e+00
  %48 = fcmp olt double %0, 0.000000e+00
  %49 = select i1 %48, double -1.000000e+00, double 0.000000e+00
  %50 = select i1 %47, double 1.000000e+00, double %49
  %51 = fcmp ogt double %1, 0.000000e+00
  %52 = fcmp olt double %1, 0.000000e+00
  %53 = select i1 %52, double -1.000000e+00, double 0.000000e+00
  %54 = select i1 %51, double 1.000000e+00, double %53
  %55 = fmul double %50, %54
  br label %62

56:                                               ; preds = %44
  %57 = fmul double %0, 0x6570000000000000
  %58 = fmul double %1, 0x6570000000000000
  %59 = fmul double %4, 0x6570000000000000
  %60 = fmul double %59, 0xE570000000000000
  %61 = tail call double @llvm.fma.f64(double %57, double %58, double %60)
  br label %62

62:                                               ; preds = %56, %46
  %63 = phi double [ %55, %46 ], [ %61, %56 ]
  %64 = icmp eq i32 %2, 1
  br i1 %64, label %65, label %71

65:                                               ; preds = %62
  %66 = fcmp ogt double %4, 0.000000e+00
  %67 = fcmp ogt double %63, 0.000000e+00
  %68 = and i1 %45, %67
  %69 = or i1 %66, %68
  %70 = select i1 %69, i32 2, i32 3
  br label %71

71:                                               ; preds = %65, %62
  %72 = phi i32 [ %70, %65 ], [ %2, %62 ]
  %73 = icmp eq i32 %72, 2
  %74 = fcmp olt double %63, 0.000000e+00
  %75 = and i1 %74, %73
  br i1 %75, label %76, label %85

76:                                               ; preds = %71
  %77 = fneg double %4
  %78 = bitcast double %77 to i64
  %79 = icmp sgt i64 %78, -1
  %80 = select i1 %79, i64 1, i64 -1
  %81 = add i64 %80, %78
  %82 = bitcast i64 %81 to double
  %83 = fneg double %82
  %84 = select i1 %45, double -4.940660e-324, double %83
  br label %123

85:                                               ; preds = %71
  %86 = icmp eq i32 %72, 3
  %87 = fcmp ogt double %63, 0.000000e+00
  %88 = and i1 %87, %86
  br i1 %88, label %89, label %123

89:                                               ; preds = %85
  %90 = bitcast double %4 to i64
  %91 = icmp sgt i64 %90, -1
  %92 = select i1 %91, i64 1, i64 -1
  %93 = add i64 %92, %90
  %94 = bitcast i64 %93 to double
  %95 = select i1 %45, double 4.940660e-324, double %94
  br label %123

96:                                               ; preds = %42
  %97 = fneg double %4
  %98 = tail call double @llvm.fma.f64(double %0, double %1, double %97)
  %99 = icmp eq i32 %2, 1
  %100 = fcmp ogt double %4, 0.000000e+00
  %101 = select i1 %100, i32 2, i32 3
  %102 = select i1 %99, i32 %101, i32 %2
  %103 = icmp eq i32 %102, 2
  %104 = fcmp olt double %98, 0.000000e+00
  %105 = and i1 %104, %103
  br i1 %105, label %106, label %113

106:                                              ; preds = %96
  %107 = bitcast double %97 to i64
  %108 = icmp sgt i64 %107, -1
  %109 = select i1 %108, i64 1, i64 -1
  %110 = add i64 %109, %107
  %111 = bitcast i64 %110 to double
  %112 = fneg double %111
  br label %123

113:                                              ; preds = %96
  %114 = icmp eq i32 %102, 3
  %115 = fcmp ogt double %98, 0.000000e+00
  %116 = and i1 %115, %114
  br i1 %116, label %117, label %123

117:                                              ; preds = %113
  %118 = bitcast double %4 to i64
  %119 = icmp sgt i64 %118, -1
  %120 = select i1 %119, i64 1, i64 -1
  %121 = add i64 %120, %118
  %122 = bitcast i64 %121 to double
  br label %123

123:                                              ; preds = %117, %113, %106, %89, %85, %76, %32, %28, %20, %38, %3
  %124 = phi double [ %4, %3 ], [ %4, %38 ], [ %27, %20 ], [ %37, %32 ], [ %4, %28 ], [ %84, %76 ], [ %95, %89 ], [ %4, %85 ], [ %112, %106 ], [ %122, %117 ], [ %4, %113 ]
  ret double %124
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fabs.f64(double) #2

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define double @ptx_div_f64(double noundef %0, double noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = fdiv double %0, %1
  %5 = tail call double @llvm.fabs.f64(double %0)
  %6 = fcmp ueq double %5, 0x7FF0000000000000
  br i1 %6, label %163, label %7

7:                                                ; preds = %3
  %8 = tail call double @llvm.fabs.f64(double %1)
  %9 = fcmp ueq double %8, 0x7FF0000000000000
  %10 = fcmp oeq double %0, 0.000000e+00
  %11 = or i1 %10, %9
  %12 = fcmp oeq double %1, 0.000000e+00
  %13 = or i1 %12, %11
  br i1 %13, label %163, label %14

14:                                               ; preds = %7
  %15 = fcmp ogt double %0, 0.000000e+00
  %16 = fcmp olt double %0, 0.000000e+00
  %17 = select i1 %16, double -1.000000e+00, double 0.000000e+00
  %18 = select i1 %15, double 1.000000e+00, double %17
  %19 = fcmp ogt double %1, 0.000000e+00
  %20 = fcmp olt double %1, 0.000000e+00
  %21 = select i1 %20, double -1.000000e+00, double 0.000000e+00
  %22 = select i1 %19, double 1.000000e+00, double %21
  %23 = fmul double %18, %22
  %24 = tail call double @llvm.fabs.f64(double %4)
  %25 = fcmp ueq double %24, 0x7FF0000000000000
  br i1 %25, label %26, label %51

26:                                               ; preds = %14
  %27 = icmp eq i32 %2, 1
  %28 = fcmp ogt double %4, 0.000000e+00
  %29 = select i1 %28, i32 2, i32 3
  %30 = select i1 %27, i32 %29, i32 %2
  %31 = icmp eq i32 %30, 2
  %32 = and i1 %28, %31
  br i1 %32, label %33, label %41

33:                                               ; preds = %26
  %34 = fneg double %4
  %35 = bitcast double %34 to i64
  %36 = icmp sgt i64 %35, -1
  %37 = select i1 %36, i64 1, i64 -1
  %38 = add i64 %37, %35
  %39 = bitcast i64 %38 to double
  %40 = fneg double %39
  br label %163

41:                                               ; preds = %26
  %42 = icmp eq i32 %30, 3
  %43 = fcmp olt double %4, 0.000000e+00
  %44 = and i1 %43, %42
  br i1 %44, label %45, label %163

45:                                               ; preds = %41
  %46 = bitcast double %4 to i64
  %47 = icmp sgt i64 %46, -1
  %48 = select i1 %47, i64 1, i64 -1
  %49 = add i64 %48, %46
  %50 = bitcast i64 %49 to double
  br label %163

51:                                               ; preds = %14
  %52 = fcmp oeq double %4, 0.000000e+00
  br i1 %52, label %53, label %65

53:                                               ; preds = %51
  %54 = icmp eq i32 %2, 1
  %55 = fcmp ogt double %23, 0.000000e+00
  %56 = select i1 %55, i32 2, i32 3
  %57 = select i1 %54, i32 %56, i32 %2
  %58 = icmp eq i32 %57, 2
  %59 = fcmp olt double %23, 0.000000e+00
  %60 = and i1 %59, %58
  br i1 %60, label %163, label %61

61:                                               ; preds = %53
  %62 = icmp eq i32 %57, 3
  %63 = and i1 %55, %62
  br i1 %63, label %64, label %163

64:                                               ; preds = %61
  br label %163

65:                                               ; preds = %51
  %66 = bitcast double %0 to i64
  %67 = and i64 %66, 4503599627370495
  %68 = lshr i64 %66, 52
  %69 = trunc nuw nsw i64 %68 to i32
  %70 = and i32 %69, 2047
  %71 = icmp eq i32 %70, 0
  %72 = tail call i32 @llvm.umax.i32(i32 %70, i32 1)
  %73 = add nsw i32 %72, -1075
  br i1 %71, label %76, label %74

74:                                               ; preds = %65
  %75 = or disjoint i64 %67, 4503599627370496
  br label %83

76:                                               ; preds = %65
  %77 = tail call range(i64 12, 65) i64 @llvm.ctlz.i64(i64 %67, i1 true)
  %78 = trunc nuw nsw i64 %77 to i32
  %79 = add nsw i32 %78, -11
  %80 = sub nsw i32 %73, %79
  %81 = zext nneg i32 %79 to i64
  %82 = shl i64 %67, %81
  br label %83

83:                                               ; preds = %76, %74
  %84 = phi i32 [ %80, %76 ], [ %73, %74 ]
  %85 = phi i64 [ %82, %76 ], [ %75, %74 ]
  %86 = bitcast double %4 to i64
  %87 = and i64 %86, 4503599627370495
  %88 = lshr i64 %86, 52
  %89 = trunc nuw nsw i64 %88 to i32
  %90 = and i32 %89, 2047
  %91 = icmp eq i32 %90, 0
  %92 = tail call i32 @llvm.umax.i32(i32 %90, i32 1)
  %93 = add nsw i32 %92, -1075
  br i1 %91, label %96, label %94

94:                                               ; preds = %83
  %95 = or disjoint i64 %87, 4503599627370496
  br label %103

96:                                               ; preds = %83
  %97 = tail call range(i64 12, 65) i64 @llvm.ctlz.i64(i64 %87, i1 true)
  %98 = trunc nuw nsw i64 %97 to i32
  %99 = add nsw i32 %98, -11
  %100 = sub nsw i32 %93, %99
  %101 = zext nneg i32 %99 to i64
  %102 = shl i64 %87, %101
  br label %103

103:                                              ; preds = %96, %94
  %104 = phi i32 [ %100, %96 ], [ %93, %94 ]
  %105 = phi i64 [ %102, %96 ], [ %95, %94 ]
  %106 = bitcast double %1 to i64
  %107 = and i64 %106, 4503599627370495
  %108 = lshr i64 %106, 52
  %109 = trunc nuw nsw i64 %108 to i32
  %110 = and i32 %109, 2047
  %111 = icmp eq i32 %110, 0
  %112 = tail call i32 @llvm.umax.i32(i32 %110, i32 1)
  %113 = add nsw i32 %112, -1075
  br i1 %111, label %116, label %114

114:                                              ; preds = %103
  %115 = or disjoint i64 %107, 4503599627370496
  br label %123

116:                                              ; preds = %103
  %117 = tail call range(i64 12, 65) i64 @llvm.ctlz.i64(i64 %107, i1 true)
  %118 = trunc nuw nsw i64 %117 to i32
  %119 = add nsw i32 %118, -11
  %120 = sub nsw i32 %113, %119
  %121 = zext nneg i32 %119 to i64
  %122 = shl i64 %107, %121
  br label %123

123:                                              ; preds = %114, %116
  %124 = phi i32 [ %120, %116 ], [ %113, %114 ]
  %125 = phi i64 [ %122, %116 ], [ %115, %114 ]
  %126 = zext i64 %85 to i128
  %127 = add nsw i32 %104, %124
  %128 = sub nsw i32 %84, %127
  %129 = zext nneg i32 %128 to i128
  %130 = shl i128 %126, %129
  %131 = zext i64 %105 to i128
  %132 = zext i64 %125 to i128
  %133 = mul nuw i128 %132, %131
  %134 = icmp ugt i128 %130, %133
  %135 = icmp ult i128 %130, %133
  %136 = sitofp i1 %135 to double
  %137 = select i1 %134, double 1.000000e+00, double %136
  %138 = fmul double %23, %137
  %139 = icmp eq i32 %2, 1
  %140 = fcmp ogt double %4, 0.000000e+00
  %141 = select i1 %140, i32 2, i32 3
  %142 = select i1 %139, i32 %141, i32 %2
  %143 = icmp eq i32 %142, 2
  %144 = fcmp olt double %138, 0.000000e+00
  %145 = and i1 %143, %144
  br i1 %145, label %146, label %154

146:                                              ; preds = %123
  %147 = fneg double %4
  %148 = bitcast double %147 to i64
  %149 = icmp sgt i64 %148, -1
  %150 = select i1 %149, i64 1, i64 -1
  %151 = add i64 %150, %148
  %152 = bitcast i64 %151 to double
  %153 = fneg double %152
  br label %163

154:                                              ; preds = %123
  %155 = icmp eq i32 %142, 3
  %156 = fcmp ogt double %138, 0.000000e+00
  %157 = and i1 %155, %156
  br i1 %157, label %158, label %163

158:                                              ; preds = %154
  %159 = icmp sgt i64 %86, -1
  %160 = select i1 %159, i64 1, i64 -1
  %161 = add i64 %160, %86
  %162 = bitcast i64 %161 to double
  br label %163

163:                                              ; preds = %53, %158, %154, %146, %64, %61, %45, %41, %33, %3, %7
  %164 = phi double [ %4, %7 ], [ %4, %3 ], [ %40, %33 ], [ %50, %45 ], [ %4, %41 ], [ 4.940660e-324, %64 ], [ %4, %61 ], [ %153, %146 ], [ %162, %158 ], [ %4, %154 ], [ -4.940660e-324, %53 ]
  ret double %164
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define double @ptx_sqrt_f64(double noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = tail call double @llvm.sqrt.f64(double %0)
  %4 = tail call i1 @llvm.is.fpclass.f64(double %0, i32 384)
  br i1 %4, label %5, label %48

5:                                                ; preds = %2
  %6 = fcmp olt double %0, 0x7B0000000000000
  %7 = fmul double %0, 0x6570000000000000
  %8 = fmul double %3, 0x52B0000000000000
  %9 = select i1 %6, double %7, double %0
  %10 = select i1 %6, double %8, double %3
  %11 = fneg double %10
  %12 = tail call double @llvm.fma.f64(double %11, double %10, double %9)
  %13 = icmp eq i32 %1, 1
  br i1 %13, label %14, label %21

14:                                               ; preds = %5
  %15 = fcmp ogt double %3, 0.000000e+00
  %16 = fcmp oeq double %3, 0.000000e+00
  %17 = fcmp ogt double %12, 0.000000e+00
  %18 = and i1 %16, %17
  %19 = or i1 %15, %18
  %20 = select i1 %19, i32 2, i32 3
  br label %21

21:                                               ; preds = %14, %5
  %22 = phi i32 [ %20, %14 ], [ %1, %5 ]
  %23 = icmp eq i32 %22, 2
  %24 = fcmp olt double %12, 0.000000e+00
  %25 = and i1 %24, %23
  br i1 %25, label %26, label %36

26:                                               ; preds = %21
  %27 = fneg double %3
  %28 = bitcast double %27 to i64
  %29 = fcmp oeq double %3, 0.000000e+00
  %30 = icmp sgt i64 %28, -1
  %31 = select i1 %30, i64 1, i64 -1
  %32 = add i64 %31, %28
  %33 = bitcast i64 %32 to double
  %34 = fneg double %33
  %35 = select i1 %29, double -4.940660e-324, double %34
  br label %48

36:                                               ; preds = %21
  %37 = icmp eq i32 %22, 3
  %38 = fcmp ogt double %12, 0.000000e+00
  %39 = and i1 %38, %37
  br i1 %39, label %40, label %48

40:                                               ; preds = %36
  %41 = bitcast double %3 to i64
  %42 = fcmp oeq double %3, 0.000000e+00
  %43 = icmp sgt i64 %41, -1
  %44 = select i1 %43, i64 1, i64 -1
  %45 = add i64 %44, %41
  %46 = bitcast i64 %45 to double
  %47 = select i1 %42, double 4.940660e-324, double %46
  br label %48

48:                                               ; preds = %40, %36, %26, %2
  %49 = phi double [ %3, %2 ], [ %35, %26 ], [ %47, %40 ], [ %3, %36 ]
  ret double %49
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_f32_f64(double noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = fptrunc double %0 to float
  %4 = fpext float %3 to double
  %5 = fsub double %4, %0
  %6 = bitcast float %3 to i32
  %7 = fcmp oeq float %3, 0.000000e+00
  %8 = icmp sgt i32 %6, -1
  %9 = select i1 %8, i32 1, i32 -1
  %10 = add i32 %9, %6
  %11 = select i1 %7, i32 1, i32 %10
  %12 = icmp eq i32 %1, 2
  br i1 %12, label %17, label %13

13:                                               ; preds = %2
  %14 = icmp eq i32 %1, 1
  %15 = fcmp ogt double %0, 0.000000e+00
  %16 = and i1 %15, %14
  br i1 %16, label %17, label %19

17:                                               ; preds = %13, %2
  %18 = fcmp ogt double %5, 0.000000e+00
  br label %21

19:                                               ; preds = %13
  %20 = icmp eq i32 %1, 3
  br i1 %20, label %26, label %21

21:                                               ; preds = %19, %17
  %22 = phi i1 [ %18, %17 ], [ false, %19 ]
  %23 = icmp eq i32 %1, 1
  %24 = fcmp olt double %0, 0.000000e+00
  %25 = and i1 %24, %23
  br i1 %25, label %26, label %30

26:                                               ; preds = %21, %19
  %27 = phi i1 [ %22, %21 ], [ false, %19 ]
  %28 = fcmp olt double %5, 0.000000e+00
  br i1 %28, label %29, label %30

29:                                               ; preds = %26
  br label %30

30:                                               ; preds = %21, %26, %29
  %31 = phi i1 [ %27, %29 ], [ %27, %26 ], [ %22, %21 ]
  %32 = phi i32 [ %11, %29 ], [ %6, %26 ], [ %6, %21 ]
  %33 = select i1 %8, i32 -1, i32 1
  %34 = add i32 %33, %6
  %35 = select i1 %7, i32 -2147483647, i32 %34
  %36 = select i1 %31, i32 %35, i32 %32
  %37 = bitcast i32 %36 to float
  ret float %37
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_f32_s32(i32 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = sitofp i32 %0 to double
  %4 = sitofp i32 %0 to float
  %5 = fpext float %4 to double
  %6 = fsub double %5, %3
  %7 = bitcast float %4 to i32
  %8 = icmp sgt i32 %0, -1
  %9 = select i1 %8, i32 1, i32 -1
  %10 = add i32 %9, %7
  %11 = icmp eq i32 %1, 2
  br i1 %11, label %16, label %12

12:                                               ; preds = %2
  %13 = icmp eq i32 %1, 1
  %14 = icmp sgt i32 %0, 0
  %15 = and i1 %14, %13
  br i1 %15, label %16, label %18

16:                                               ; preds = %12, %2
  %17 = fcmp ogt double %6, 0.000000e+00
  br label %20

18:                                               ; preds = %12
  %19 = icmp eq i32 %1, 3
  br i1 %19, label %25, label %20

20:                                               ; preds = %18, %16
  %21 = phi i1 [ %17, %16 ], [ false, %18 ]
  %22 = icmp eq i32 %1, 1
  %23 = icmp slt i32 %0, 0
  %24 = and i1 %23, %22
  br i1 %24, label %25, label %29

25:                                               ; preds = %20, %18
  %26 = phi i1 [ %21, %20 ], [ false, %18 ]
  %27 = fcmp olt double %6, 0.000000e+00
  br i1 %27, label %28, label %29

28:                                               ; preds = %25
  br label %29

29:                                               ; preds = %20, %25, %28
  %30 = phi i1 [ %26, %28 ], [ %26, %25 ], [ %21, %20 ]
  %31 = phi i32 [ %10, %28 ], [ %7, %25 ], [ %7, %20 ]
  %32 = icmp eq i32 %0, 0
  %33 = select i1 %8, i32 -1, i32 1
  %34 = add i32 %33, %7
  %35 = select i1 %32, i32 -2147483647, i32 %34
  %36 = select i1 %30, i32 %35, i32 %31
  %37 = bitcast i32 %36 to float
  ret float %37
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_f32_u32(i32 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = uitofp i32 %0 to double
  %4 = uitofp i32 %0 to float
  %5 = fpext float %4 to double
  %6 = fsub double %5, %3
  %7 = bitcast float %4 to i32
  %8 = icmp eq i32 %0, 0
  %9 = icmp eq i32 %1, 2
  br i1 %9, label %20, label %10

10:                                               ; preds = %2
  %11 = icmp eq i32 %1, 1
  %12 = icmp ne i32 %0, 0
  %13 = and i1 %12, %11
  br i1 %13, label %20, label %14

14:                                               ; preds = %10
  %15 = icmp eq i32 %1, 3
  %16 = fcmp olt double %6, 0.000000e+00
  %17 = and i1 %15, %16
  %18 = zext i1 %17 to i32
  %19 = add nuw i32 %18, %7
  br label %25

20:                                               ; preds = %2, %10
  %21 = fcmp ogt double %6, 0.000000e+00
  %22 = add nsw i32 %7, -1
  %23 = select i1 %8, i32 -2147483647, i32 %22
  %24 = select i1 %21, i32 %23, i32 %7
  br label %25

25:                                               ; preds = %14, %20
  %26 = phi i32 [ %24, %20 ], [ %19, %14 ]
  %27 = bitcast i32 %26 to float
  ret float %27
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_f32_s64(i64 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = tail call i64 @llvm.abs.i64(i64 %0, i1 false)
  %4 = icmp sgt i64 %0, -1
  %5 = select i1 %4, i32 3, i32 2
  %6 = icmp eq i32 %5, %1
  %7 = icmp eq i64 %0, 0
  %8 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %3, i1 true)
  %9 = trunc nuw nsw i64 %8 to i32
  %10 = sub nsw i32 40, %9
  %11 = select i1 %7, i32 0, i32 %10
  %12 = icmp slt i32 %11, 1
  br i1 %12, label %23, label %13

13:                                               ; preds = %2
  %14 = zext nneg i32 %11 to i64
  %15 = shl nsw i64 -1, %14
  %16 = xor i64 %15, -1
  %17 = and i64 %15, %3
  %18 = and i64 %3, %16
  %19 = icmp ne i64 %18, 0
  %20 = and i1 %6, %19
  %21 = select i1 %20, i64 %15, i64 0
  %22 = sub i64 %17, %21
  br label %23

23:                                               ; preds = %2, %13
  %24 = phi i64 [ %22, %13 ], [ %3, %2 ]
  %25 = icmp ult i64 %24, %3
  %26 = and i1 %6, %25
  %27 = uitofp i64 %24 to double
  %28 = select i1 %26, double 0x43F0000000000000, double %27
  %29 = fneg double %28
  %30 = select i1 %4, double %28, double %29
  %31 = fptrunc double %30 to float
  ret float %31
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_f32_u64(i64 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = icmp eq i32 %1, 3
  %4 = icmp eq i64 %0, 0
  %5 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %0, i1 true)
  %6 = trunc nuw nsw i64 %5 to i32
  %7 = sub nsw i32 40, %6
  %8 = select i1 %4, i32 0, i32 %7
  %9 = icmp slt i32 %8, 1
  br i1 %9, label %20, label %10

10:                                               ; preds = %2
  %11 = zext nneg i32 %8 to i64
  %12 = shl nsw i64 -1, %11
  %13 = xor i64 %12, -1
  %14 = and i64 %12, %0
  %15 = and i64 %13, %0
  %16 = icmp ne i64 %15, 0
  %17 = and i1 %3, %16
  %18 = select i1 %17, i64 %12, i64 0
  %19 = sub i64 %14, %18
  br label %20

20:                                               ; preds = %2, %10
  %21 = phi i64 [ %19, %10 ], [ %0, %2 ]
  %22 = icmp ult i64 %21, %0
  %23 = and i1 %3, %22
  %24 = uitofp i64 %21 to double
  %25 = fptrunc double %24 to float
  %26 = select i1 %23, float 0x43F0000000000000, float %25
  ret float %26
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define double @ptx_f64_s64(i64 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = tail call i64 @llvm.abs.i64(i64 %0, i1 false)
  %4 = icmp sgt i64 %0, -1
  %5 = select i1 %4, i32 3, i32 2
  %6 = icmp eq i32 %5, %1
  %7 = icmp eq i64 %0, 0
  %8 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %3, i1 true)
  %9 = trunc nuw nsw i64 %8 to i32
  %10 = sub nsw i32 11, %9
  %11 = select i1 %7, i32 0, i32 %10
  %12 = icmp slt i32 %11, 1
  br i1 %12, label %23, label %13

13:                                               ; preds = %2
  %14 = zext nneg i32 %11 to i64
  %15 = shl nsw i64 -1, %14
  %16 = xor i64 %15, -1
  %17 = and i64 %15, %3
  %18 = and i64 %3, %16
  %19 = icmp ne i64 %18, 0
  %20 = and i1 %6, %19
  %21 = select i1 %20, i64 %15, i64 0
  %22 = sub i64 %17, %21
  br label %23

23:                                               ; preds = %2, %13
  %24 = phi i64 [ %22, %13 ], [ %3, %2 ]
  %25 = icmp ult i64 %24, %3
  %26 = and i1 %6, %25
  %27 = uitofp i64 %24 to double
  %28 = select i1 %26, double 0x43F0000000000000, double %27
  %29 = fneg double %28
  %30 = select i1 %4, double %28, double %29
  ret double %30
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define double @ptx_f64_u64(i64 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = icmp eq i32 %1, 3
  %4 = icmp eq i64 %0, 0
  %5 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %0, i1 true)
  %6 = trunc nuw nsw i64 %5 to i32
  %7 = sub nsw i32 11, %6
  %8 = select i1 %4, i32 0, i32 %7
  %9 = icmp slt i32 %8, 1
  br i1 %9, label %20, label %10

10:                                               ; preds = %2
  %11 = zext nneg i32 %8 to i64
  %12 = shl nsw i64 -1, %11
  %13 = xor i64 %12, -1
  %14 = and i64 %12, %0
  %15 = and i64 %13, %0
  %16 = icmp ne i64 %15, 0
  %17 = and i1 %3, %16
  %18 = select i1 %17, i64 %12, i64 0
  %19 = sub i64 %14, %18
  br label %20

20:                                               ; preds = %2, %10
  %21 = phi i64 [ %19, %10 ], [ %0, %2 ]
  %22 = icmp ult i64 %21, %0
  %23 = and i1 %3, %22
  %24 = uitofp i64 %21 to double
  %25 = select i1 %23, double 0x43F0000000000000, double %24
  ret double %25
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_f32_bf16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = zext i16 %0 to i32
  %3 = shl nuw i32 %2, 16
  %4 = bitcast i32 %3 to float
  ret float %4
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_f32_f16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = zext i16 %0 to i32
  %3 = shl nuw nsw i32 %2, 13
  %4 = and i32 %3, 268427264
  %5 = bitcast i32 %4 to float
  %6 = fmul float %5, 0x46F0000000000000
  %7 = bitcast float %6 to i32
  %8 = icmp ugt i32 %4, 260046847
  %9 = or i32 %3, 2139095040
  %10 = select i1 %8, i32 %9, i32 %7
  %11 = sext i16 %0 to i32
  %12 = and i32 %11, -2147483648
  %13 = or i32 %10, %12
  %14 = bitcast i32 %13 to float
  ret float %14
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_f16_f32(float noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = bitcast float %0 to i32
  %4 = tail call float @llvm.fabs.f32(float %0)
  %5 = bitcast float %4 to i32
  %6 = lshr i32 %3, 16
  %7 = and i32 %6, 32768
  %8 = fadd float %4, 5.000000e-01
  %9 = bitcast float %8 to i32
  %10 = add nsw i32 %5, -939520001
  %11 = lshr i32 %3, 13
  %12 = and i32 %11, 1
  %13 = add nuw nsw i32 %10, %12
  %14 = lshr i32 %13, 13
  %15 = icmp ult i32 %5, 947912704
  %16 = select i1 %15, i32 %9, i32 %14
  %17 = icmp ugt i32 %5, 1199570943
  %18 = select i1 %17, i32 31744, i32 %16
  %19 = icmp ugt i32 %5, 2139095040
  %20 = or i32 %18, %7
  %21 = trunc i32 %20 to i16
  %22 = select i1 %19, i16 32767, i16 %21
  %23 = zext i16 %22 to i32
  %24 = shl nuw nsw i32 %23, 13
  %25 = and i32 %24, 268427264
  %26 = bitcast i32 %25 to float
  %27 = fmul float %26, 0x46F0000000000000
  %28 = bitcast float %27 to i32
  %29 = icmp ugt i32 %25, 260046847
  %30 = or i32 %24, 2139095040
  %31 = select i1 %29, i32 %30, i32 %28
  %32 = sext i16 %22 to i32
  %33 = and i32 %32, -2147483648
  %34 = or i32 %31, %33
  %35 = bitcast i32 %34 to float
  %36 = icmp eq i32 %1, 1
  %37 = fcmp ogt float %0, 0.000000e+00
  %38 = select i1 %37, i32 2, i32 3
  %39 = select i1 %36, i32 %38, i32 %1
  %40 = icmp eq i32 %39, 2
  %41 = fcmp ogt float %35, %0
  %42 = and i1 %40, %41
  br i1 %42, label %43, label %51

43:                                               ; preds = %2
  %44 = icmp eq i16 %22, 0
  %45 = add nuw i16 %22, 32767
  %46 = select i1 %44, i16 1, i16 %45
  %47 = add i16 %22, -32767
  %48 = icmp slt i16 %22, 0
  %49 = select i1 %48, i16 %47, i16 %46
  %50 = xor i16 %49, -32768
  br label %62

51:                                               ; preds = %2
  %52 = icmp eq i32 %39, 3
  %53 = fcmp olt float %35, %0
  %54 = and i1 %52, %53
  br i1 %54, label %55, label %62

55:                                               ; preds = %51
  %56 = icmp eq i16 %22, -32768
  %57 = add nsw i16 %22, -1
  %58 = select i1 %56, i16 1, i16 %57
  %59 = add nuw i16 %22, 1
  %60 = icmp slt i16 %22, 0
  %61 = select i1 %60, i16 %58, i16 %59
  br label %62

62:                                               ; preds = %43, %51, %55
  %63 = phi i16 [ %50, %43 ], [ %61, %55 ], [ %22, %51 ]
  ret i16 %63
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_bf16_f32(float noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = bitcast float %0 to i32
  %4 = add i32 %3, 32767
  %5 = lshr i32 %3, 16
  %6 = and i32 %5, 1
  %7 = add i32 %4, %6
  %8 = lshr i32 %7, 16
  %9 = tail call float @llvm.fabs.f32(float %0)
  %10 = bitcast float %9 to i32
  %11 = icmp ugt i32 %10, 2139095040
  %12 = trunc nuw i32 %8 to i16
  %13 = select i1 %11, i16 32767, i16 %12
  %14 = zext i16 %13 to i32
  %15 = shl nuw i32 %14, 16
  %16 = bitcast i32 %15 to float
  %17 = icmp eq i32 %1, 1
  %18 = fcmp ogt float %0, 0.000000e+00
  %19 = select i1 %18, i32 2, i32 3
  %20 = select i1 %17, i32 %19, i32 %1
  %21 = icmp eq i32 %20, 2
  %22 = fcmp ogt float %16, %0
  %23 = and i1 %21, %22
  br i1 %23, label %24, label %32

24:                                               ; preds = %2
  %25 = icmp eq i16 %13, 0
  %26 = add nuw i16 %13, 32767
  %27 = select i1 %25, i16 1, i16 %26
  %28 = add i16 %13, -32767
  %29 = icmp slt i16 %13, 0
  %30 = select i1 %29, i16 %28, i16 %27
  %31 = xor i16 %30, -32768
  br label %43

32:                                               ; preds = %2
  %33 = icmp eq i32 %20, 3
  %34 = fcmp olt float %16, %0
  %35 = and i1 %33, %34
  br i1 %35, label %36, label %43

36:                                               ; preds = %32
  %37 = icmp eq i16 %13, -32768
  %38 = add nsw i16 %13, -1
  %39 = select i1 %37, i16 1, i16 %38
  %40 = add nuw i16 %13, 1
  %41 = icmp slt i16 %13, 0
  %42 = select i1 %41, i16 %39, i16 %40
  br label %43

43:                                               ; preds = %24, %32, %36
  %44 = phi i16 [ %31, %24 ], [ %42, %36 ], [ %13, %32 ]
  ret i16 %44
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_f16_f64(double noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = fptrunc double %0 to float
  %4 = bitcast float %3 to i32
  %5 = fpext float %3 to double
  %6 = fcmp une double %5, %0
  %7 = fcmp ord double %0, 0.000000e+00
  %8 = and i1 %7, %6
  %9 = tail call double @llvm.fabs.f64(double %5)
  %10 = tail call double @llvm.fabs.f64(double %0)
  %11 = fcmp ogt double %9, %10
  %12 = select i1 %11, i32 -1, i32 1
  %13 = and i32 %4, 1
  %14 = icmp eq i32 %13, 0
  %15 = and i1 %8, %14
  %16 = select i1 %15, i32 %12, i32 0
  %17 = add i32 %16, %4
  %18 = bitcast i32 %17 to float
  %19 = tail call float @llvm.fabs.f32(float %18)
  %20 = bitcast float %19 to i32
  %21 = lshr i32 %17, 16
  %22 = and i32 %21, 32768
  %23 = fadd float %19, 5.000000e-01
  %24 = bitcast float %23 to i32
  %25 = lshr i32 %17, 13
  %26 = and i32 %25, 1
  %27 = add nuw nsw i32 %26, -939520001
  %28 = add nsw i32 %27, %20
  %29 = lshr i32 %28, 13
  %30 = icmp ult i32 %20, 947912704
  %31 = select i1 %30, i32 %24, i32 %29
  %32 = icmp ugt i32 %20, 1199570943
  %33 = select i1 %32, i32 31744, i32 %31
  %34 = icmp ugt i32 %20, 2139095040
  %35 = or i32 %33, %22
  %36 = trunc i32 %35 to i16
  %37 = select i1 %34, i16 32767, i16 %36
  %38 = zext i16 %37 to i32
  %39 = shl nuw nsw i32 %38, 13
  %40 = and i32 %39, 268427264
  %41 = bitcast i32 %40 to float
  %42 = fmul float %41, 0x46F0000000000000
  %43 = bitcast float %42 to i32
  %44 = icmp ugt i32 %40, 260046847
  %45 = or i32 %39, 2139095040
  %46 = select i1 %44, i32 %45, i32 %43
  %47 = sext i16 %37 to i32
  %48 = and i32 %47, -2147483648
  %49 = or i32 %46, %48
  %50 = bitcast i32 %49 to float
  %51 = icmp eq i32 %1, 1
  %52 = fcmp ogt float %18, 0.000000e+00
  %53 = select i1 %52, i32 2, i32 3
  %54 = select i1 %51, i32 %53, i32 %1
  %55 = icmp eq i32 %54, 2
  %56 = fcmp ogt float %50, %18
  %57 = and i1 %55, %56
  br i1 %57, label %58, label %66

58:                                               ; preds = %2
  %59 = icmp eq i16 %37, 0
  %60 = add nuw i16 %37, 32767
  %61 = select i1 %59, i16 1, i16 %60
  %62 = add i16 %37, -32767
  %63 = icmp slt i16 %37, 0
  %64 = select i1 %63, i16 %62, i16 %61
  %65 = xor i16 %64, -32768
  br label %77

66:                                               ; preds = %2
  %67 = icmp eq i32 %54, 3
  %68 = fcmp olt float %50, %18
  %69 = and i1 %67, %68
  br i1 %69, label %70, label %77

70:                                               ; preds = %66
  %71 = icmp eq i16 %37, -32768
  %72 = add nsw i16 %37, -1
  %73 = select i1 %71, i16 1, i16 %72
  %74 = add nuw i16 %37, 1
  %75 = icmp slt i16 %37, 0
  %76 = select i1 %75, i16 %73, i16 %74
  br label %77

77:                                               ; preds = %58, %66, %70
  %78 = phi i16 [ %65, %58 ], [ %76, %70 ], [ %37, %66 ]
  ret i16 %78
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_bf16_f64(double noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = fptrunc double %0 to float
  %4 = bitcast float %3 to i32
  %5 = fpext float %3 to double
  %6 = fcmp une double %5, %0
  %7 = fcmp ord double %0, 0.000000e+00
  %8 = and i1 %7, %6
  %9 = tail call double @llvm.fabs.f64(double %5)
  %10 = tail call double @llvm.fabs.f64(double %0)
  %11 = fcmp ogt double %9, %10
  %12 = select i1 %11, i32 -1, i32 1
  %13 = and i32 %4, 1
  %14 = icmp eq i32 %13, 0
  %15 = and i1 %8, %14
  %16 = select i1 %15, i32 %12, i32 0
  %17 = add i32 %16, %4
  %18 = bitcast i32 %17 to float
  %19 = add i32 %17, 32767
  %20 = lshr i32 %17, 16
  %21 = and i32 %20, 1
  %22 = add i32 %19, %21
  %23 = lshr i32 %22, 16
  %24 = tail call float @llvm.fabs.f32(float %18)
  %25 = bitcast float %24 to i32
  %26 = icmp ugt i32 %25, 2139095040
  %27 = trunc nuw i32 %23 to i16
  %28 = select i1 %26, i16 32767, i16 %27
  %29 = zext i16 %28 to i32
  %30 = shl nuw i32 %29, 16
  %31 = bitcast i32 %30 to float
  %32 = icmp eq i32 %1, 1
  %33 = fcmp ogt float %18, 0.000000e+00
  %34 = select i1 %33, i32 2, i32 3
  %35 = select i1 %32, i32 %34, i32 %1
  %36 = icmp eq i32 %35, 2
  %37 = fcmp ogt float %31, %18
  %38 = and i1 %36, %37
  br i1 %38, label %39, label %47

39:                                               ; preds = %2
  %40 = icmp eq i16 %28, 0
  %41 = add nuw i16 %28, 32767
  %42 = select i1 %40, i16 1, i16 %41
  %43 = add i16 %28, -32767
  %44 = icmp slt i16 %28, 0
  %45 = select i1 %44, i16 %43, i16 %42
  %46 = xor i16 %45, -32768
  br label %58

47:                                               ; preds = %2
  %48 = icmp eq i32 %35, 3
  %49 = fcmp olt float %31, %18
  %50 = and i1 %48, %49
  br i1 %50, label %51, label %58

51:                                               ; preds = %47
  %52 = icmp eq i16 %28, -32768
  %53 = add nsw i16 %28, -1
  %54 = select i1 %52, i16 1, i16 %53
  %55 = add nuw i16 %28, 1
  %56 = icmp slt i16 %28, 0
  %57 = select i1 %56, i16 %54, i16 %55
  br label %58

58:                                               ; preds = %39, %47, %51
  %59 = phi i16 [ %46, %39 ], [ %57, %51 ], [ %28, %47 ]
  ret i16 %59
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef zeroext i16 @ptx_ftz_f16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = and i16 %0, 31744
  %3 = icmp eq i16 %2, 0
  %4 = and i16 %0, -32768
  %5 = select i1 %3, i16 %4, i16 %0
  ret i16 %5
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_add_f16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = zext i16 %0 to i32
  %4 = shl nuw nsw i32 %3, 13
  %5 = and i32 %4, 268427264
  %6 = bitcast i32 %5 to float
  %7 = fmul float %6, 0x46F0000000000000
  %8 = bitcast float %7 to i32
  %9 = icmp ugt i32 %5, 260046847
  %10 = or i32 %4, 2139095040
  %11 = select i1 %9, i32 %10, i32 %8
  %12 = sext i16 %0 to i32
  %13 = and i32 %12, -2147483648
  %14 = or i32 %11, %13
  %15 = bitcast i32 %14 to float
  %16 = zext i16 %1 to i32
  %17 = shl nuw nsw i32 %16, 13
  %18 = and i32 %17, 268427264
  %19 = bitcast i32 %18 to float
  %20 = fmul float %19, 0x46F0000000000000
  %21 = bitcast float %20 to i32
  %22 = icmp ugt i32 %18, 260046847
  %23 = or i32 %17, 2139095040
  %24 = select i1 %22, i32 %23, i32 %21
  %25 = sext i16 %1 to i32
  %26 = and i32 %25, -2147483648
  %27 = or i32 %24, %26
  %28 = bitcast i32 %27 to float
  %29 = fadd float %15, %28
  %30 = bitcast float %29 to i32
  %31 = tail call float @llvm.fabs.f32(float %29)
  %32 = bitcast float %31 to i32
  %33 = lshr i32 %30, 16
  %34 = and i32 %33, 32768
  %35 = fadd float %31, 5.000000e-01
  %36 = bitcast float %35 to i32
  %37 = add nsw i32 %32, -939520001
  %38 = lshr i32 %30, 13
  %39 = and i32 %38, 1
  %40 = add nuw nsw i32 %37, %39
  %41 = lshr i32 %40, 13
  %42 = icmp ult i32 %32, 947912704
  %43 = select i1 %42, i32 %36, i32 %41
  %44 = icmp ugt i32 %32, 1199570943
  %45 = select i1 %44, i32 31744, i32 %43
  %46 = icmp ugt i32 %32, 2139095040
  %47 = or i32 %45, %34
  %48 = trunc i32 %47 to i16
  %49 = select i1 %46, i16 32767, i16 %48
  ret i16 %49
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_sub_f16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = zext i16 %0 to i32
  %4 = shl nuw nsw i32 %3, 13
  %5 = and i32 %4, 268427264
  %6 = bitcast i32 %5 to float
  %7 = fmul float %6, 0x46F0000000000000
  %8 = bitcast float %7 to i32
  %9 = icmp ugt i32 %5, 260046847
  %10 = or i32 %4, 2139095040
  %11 = select i1 %9, i32 %10, i32 %8
  %12 = sext i16 %0 to i32
  %13 = and i32 %12, -2147483648
  %14 = or i32 %11, %13
  %15 = bitcast i32 %14 to float
  %16 = zext i16 %1 to i32
  %17 = shl nuw nsw i32 %16, 13
  %18 = and i32 %17, 268427264
  %19 = bitcast i32 %18 to float
  %20 = fmul float %19, 0x46F0000000000000
  %21 = bitcast float %20 to i32
  %22 = icmp ugt i32 %18, 260046847
  %23 = or i32 %17, 2139095040
  %24 = select i1 %22, i32 %23, i32 %21
  %25 = sext i16 %1 to i32
  %26 = and i32 %25, -2147483648
  %27 = or i32 %24, %26
  %28 = bitcast i32 %27 to float
  %29 = fsub float %15, %28
  %30 = bitcast float %29 to i32
  %31 = tail call float @llvm.fabs.f32(float %29)
  %32 = bitcast float %31 to i32
  %33 = lshr i32 %30, 16
  %34 = and i32 %33, 32768
  %35 = fadd float %31, 5.000000e-01
  %36 = bitcast float %35 to i32
  %37 = add nsw i32 %32, -939520001
  %38 = lshr i32 %30, 13
  %39 = and i32 %38, 1
  %40 = add nuw nsw i32 %37, %39
  %41 = lshr i32 %40, 13
  %42 = icmp ult i32 %32, 947912704
  %43 = select i1 %42, i32 %36, i32 %41
  %44 = icmp ugt i32 %32, 1199570943
  %45 = select i1 %44, i32 31744, i32 %43
  %46 = icmp ugt i32 %32, 2139095040
  %47 = or i32 %45, %34
  %48 = trunc i32 %47 to i16
  %49 = select i1 %46, i16 32767, i16 %48
  ret i16 %49
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_mul_f16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = zext i16 %0 to i32
  %4 = shl nuw nsw i32 %3, 13
  %5 = and i32 %4, 268427264
  %6 = bitcast i32 %5 to float
  %7 = fmul float %6, 0x46F0000000000000
  %8 = bitcast float %7 to i32
  %9 = icmp ugt i32 %5, 260046847
  %10 = or i32 %4, 2139095040
  %11 = select i1 %9, i32 %10, i32 %8
  %12 = sext i16 %0 to i32
  %13 = and i32 %12, -2147483648
  %14 = or i32 %11, %13
  %15 = bitcast i32 %14 to float
  %16 = fpext float %15 to double
  %17 = zext i16 %1 to i32
  %18 = shl nuw nsw i32 %17, 13
  %19 = and i32 %18, 268427264
  %20 = bitcast i32 %19 to float
  %21 = fmul float %20, 0x46F0000000000000
  %22 = bitcast float %21 to i32
  %23 = icmp ugt i32 %19, 260046847
  %24 = or i32 %18, 2139095040
  %25 = select i1 %23, i32 %24, i32 %22
  %26 = sext i16 %1 to i32
  %27 = and i32 %26, -2147483648
  %28 = or i32 %25, %27
  %29 = bitcast i32 %28 to float
  %30 = fpext float %29 to double
  %31 = fmul double %16, %30
  %32 = fptrunc double %31 to float
  %33 = bitcast float %32 to i32
  %34 = fpext float %32 to double
  %35 = fcmp une double %31, %34
  %36 = fcmp ord double %31, 0.000000e+00
  %37 = and i1 %36, %35
  %38 = tail call double @llvm.fabs.f64(double %34)
  %39 = tail call double @llvm.fabs.f64(double %31)
  %40 = fcmp ogt double %38, %39
  %41 = select i1 %40, i32 -1, i32 1
  %42 = and i32 %33, 1
  %43 = icmp eq i32 %42, 0
  %44 = and i1 %37, %43
  %45 = select i1 %44, i32 %41, i32 0
  %46 = add i32 %45, %33
  %47 = bitcast i32 %46 to float
  %48 = tail call float @llvm.fabs.f32(float %47)
  %49 = bitcast float %48 to i32
  %50 = lshr i32 %46, 16
  %51 = and i32 %50, 32768
  %52 = fadd float %48, 5.000000e-01
  %53 = bitcast float %52 to i32
  %54 = lshr i32 %46, 13
  %55 = and i32 %54, 1
  %56 = add nuw nsw i32 %55, -939520001
  %57 = add nsw i32 %56, %49
  %58 = lshr i32 %57, 13
  %59 = icmp ult i32 %49, 947912704
  %60 = select i1 %59, i32 %53, i32 %58
  %61 = icmp ugt i32 %49, 1199570943
  %62 = select i1 %61, i32 31744, i32 %60
  %63 = icmp ugt i32 %49, 2139095040
  %64 = or i32 %62, %51
  %65 = trunc i32 %64 to i16
  %66 = select i1 %63, i16 32767, i16 %65
  ret i16 %66
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_fma_f16(i16 noundef zeroext %0, i16 noundef zeroext %1, i16 noundef zeroext %2) local_unnamed_addr #0 {
  %4 = zext i16 %0 to i32
  %5 = shl nuw nsw i32 %4, 13
  %6 = and i32 %5, 268427264
  %7 = bitcast i32 %6 to float
  %8 = fmul float %7, 0x46F0000000000000
  %9 = bitcast float %8 to i32
  %10 = icmp ugt i32 %6, 260046847
  %11 = or i32 %5, 2139095040
  %12 = select i1 %10, i32 %11, i32 %9
  %13 = sext i16 %0 to i32
  %14 = and i32 %13, -2147483648
  %15 = or i32 %12, %14
  %16 = bitcast i32 %15 to float
  %17 = fpext float %16 to double
  %18 = zext i16 %1 to i32
  %19 = shl nuw nsw i32 %18, 13
  %20 = and i32 %19, 268427264
  %21 = bitcast i32 %20 to float
  %22 = fmul float %21, 0x46F0000000000000
  %23 = bitcast float %22 to i32
  %24 = icmp ugt i32 %20, 260046847
  %25 = or i32 %19, 2139095040
  %26 = select i1 %24, i32 %25, i32 %23
  %27 = sext i16 %1 to i32
  %28 = and i32 %27, -2147483648
  %29 = or i32 %26, %28
  %30 = bitcast i32 %29 to float
  %31 = fpext float %30 to double
  %32 = fmul double %17, %31
  %33 = zext i16 %2 to i32
  %34 = shl nuw nsw i32 %33, 13
  %35 = and i32 %34, 268427264
  %36 = bitcast i32 %35 to float
  %37 = fmul float %36, 0x46F0000000000000
  %38 = bitcast float %37 to i32
  %39 = icmp ugt i32 %35, 260046847
  %40 = or i32 %34, 2139095040
  %41 = select i1 %39, i32 %40, i32 %38
  %42 = sext i16 %2 to i32
  %43 = and i32 %42, -2147483648
  %44 = or i32 %41, %43
  %45 = bitcast i32 %44 to float
  %46 = fpext float %45 to double
  %47 = fadd double %32, %46
  %48 = tail call double @llvm.fabs.f64(double %32)
  %49 = tail call double @llvm.fabs.f64(double %46)
  %50 = fcmp oge double %48, %49
  %51 = select i1 %50, double %32, double %46
  %52 = select i1 %50, double %46, double %32
  %53 = fsub double %47, %51
  %54 = fsub double %52, %53
  %55 = bitcast double %47 to i64
  %56 = fcmp ogt double %54, 0.000000e+00
  %57 = fcmp ule double %47, 0.000000e+00
  %58 = xor i1 %57, %56
  %59 = select i1 %58, i64 1, i64 -1
  %60 = fcmp one double %54, 0.000000e+00
  %61 = and i64 %55, 1
  %62 = icmp eq i64 %61, 0
  %63 = and i1 %62, %60
  %64 = select i1 %63, i64 %59, i64 0
  %65 = add i64 %64, %55
  %66 = bitcast i64 %65 to double
  %67 = fptrunc double %66 to float
  %68 = bitcast float %67 to i32
  %69 = fpext float %67 to double
  %70 = fcmp une double %69, %66
  %71 = fcmp ord double %66, 0.000000e+00
  %72 = and i1 %71, %70
  %73 = tail call double @llvm.fabs.f64(double %69)
  %74 = tail call double @llvm.fabs.f64(double %66)
  %75 = fcmp ogt double %73, %74
  %76 = select i1 %75, i32 -1, i32 1
  %77 = and i32 %68, 1
  %78 = icmp eq i32 %77, 0
  %79 = and i1 %72, %78
  %80 = select i1 %79, i32 %76, i32 0
  %81 = add i32 %80, %68
  %82 = bitcast i32 %81 to float
  %83 = tail call float @llvm.fabs.f32(float %82)
  %84 = bitcast float %83 to i32
  %85 = lshr i32 %81, 16
  %86 = and i32 %85, 32768
  %87 = fadd float %83, 5.000000e-01
  %88 = bitcast float %87 to i32
  %89 = lshr i32 %81, 13
  %90 = and i32 %89, 1
  %91 = add nuw nsw i32 %90, -939520001
  %92 = add nsw i32 %91, %84
  %93 = lshr i32 %92, 13
  %94 = icmp ult i32 %84, 947912704
  %95 = select i1 %94, i32 %88, i32 %93
  %96 = icmp ugt i32 %84, 1199570943
  %97 = select i1 %96, i32 31744, i32 %95
  %98 = icmp ugt i32 %84, 2139095040
  %99 = or i32 %97, %86
  %100 = trunc i32 %99 to i16
  %101 = select i1 %98, i16 32767, i16 %100
  ret i16 %101
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef zeroext i16 @ptx_neg_f16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = xor i16 %0, -32768
  ret i16 %2
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef zeroext range(i16 0, -32768) i16 @ptx_abs_f16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = and i16 %0, 32767
  ret i16 %2
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_min_f16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = zext i16 %0 to i32
  %4 = shl nuw nsw i32 %3, 13
  %5 = and i32 %4, 268427264
  %6 = bitcast i32 %5 to float
  %7 = fmul float %6, 0x46F0000000000000
  %8 = bitcast float %7 to i32
  %9 = icmp ugt i32 %5, 260046847
  %10 = or i32 %4, 2139095040
  %11 = select i1 %9, i32 %10, i32 %8
  %12 = sext i16 %0 to i32
  %13 = and i32 %12, -2147483648
  %14 = or i32 %11, %13
  %15 = bitcast i32 %14 to float
  %16 = zext i16 %1 to i32
  %17 = shl nuw nsw i32 %16, 13
  %18 = and i32 %17, 268427264
  %19 = bitcast i32 %18 to float
  %20 = fmul float %19, 0x46F0000000000000
  %21 = bitcast float %20 to i32
  %22 = icmp ugt i32 %18, 260046847
  %23 = or i32 %17, 2139095040
  %24 = select i1 %22, i32 %23, i32 %21
  %25 = sext i16 %1 to i32
  %26 = and i32 %25, -2147483648
  %27 = or i32 %24, %26
  %28 = bitcast i32 %27 to float
  %29 = fcmp uno float %28, 0.000000e+00
  %30 = fcmp oeq float %15, %28
  br i1 %30, label %31, label %34

31:                                               ; preds = %2
  %32 = or i32 %27, %14
  %33 = bitcast i32 %32 to float
  br label %38

34:                                               ; preds = %2
  %35 = fcmp olt float %15, %28
  %36 = or i1 %29, %35
  %37 = select i1 %36, float %15, float %28
  br label %38

38:                                               ; preds = %31, %34
  %39 = phi float [ %33, %31 ], [ %37, %34 ]
  %40 = fcmp uno float %15, 0.000000e+00
  %41 = and i1 %40, %29
  %42 = bitcast float %39 to i32
  %43 = select i1 %41, i32 2147483647, i32 %42
  %44 = tail call float @llvm.fabs.f32(float %39)
  %45 = select i1 %41, float 0x7FFFFFFFE0000000, float %44
  %46 = bitcast float %45 to i32
  %47 = lshr i32 %43, 16
  %48 = and i32 %47, 32768
  %49 = fadd float %45, 5.000000e-01
  %50 = bitcast float %49 to i32
  %51 = add nsw i32 %46, -939520001
  %52 = lshr i32 %43, 13
  %53 = and i32 %52, 1
  %54 = add nuw nsw i32 %51, %53
  %55 = lshr i32 %54, 13
  %56 = icmp ult i32 %46, 947912704
  %57 = select i1 %56, i32 %50, i32 %55
  %58 = icmp ugt i32 %46, 1199570943
  %59 = select i1 %58, i32 31744, i32 %57
  %60 = icmp ugt i32 %46, 2139095040
  %61 = or i32 %59, %48
  %62 = trunc i32 %61 to i16
  %63 = select i1 %60, i16 32767, i16 %62
  ret i16 %63
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_max_f16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = zext i16 %0 to i32
  %4 = shl nuw nsw i32 %3, 13
  %5 = and i32 %4, 268427264
  %6 = bitcast i32 %5 to float
  %7 = fmul float %6, 0x46F0000000000000
  %8 = bitcast float %7 to i32
  %9 = icmp ugt i32 %5, 260046847
  %10 = or i32 %4, 2139095040
  %11 = select i1 %9, i32 %10, i32 %8
  %12 = sext i16 %0 to i32
  %13 = and i32 %12, -2147483648
  %14 = or i32 %11, %13
  %15 = bitcast i32 %14 to float
  %16 = zext i16 %1 to i32
  %17 = shl nuw nsw i32 %16, 13
  %18 = and i32 %17, 268427264
  %19 = bitcast i32 %18 to float
  %20 = fmul float %19, 0x46F0000000000000
  %21 = bitcast float %20 to i32
  %22 = icmp ugt i32 %18, 260046847
  %23 = or i32 %17, 2139095040
  %24 = select i1 %22, i32 %23, i32 %21
  %25 = sext i16 %1 to i32
  %26 = and i32 %25, -2147483648
  %27 = or i32 %24, %26
  %28 = bitcast i32 %27 to float
  %29 = fcmp uno float %28, 0.000000e+00
  %30 = fcmp oeq float %15, %28
  br i1 %30, label %31, label %34

31:                                               ; preds = %2
  %32 = and i32 %27, %14
  %33 = bitcast i32 %32 to float
  br label %38

34:                                               ; preds = %2
  %35 = fcmp ogt float %15, %28
  %36 = or i1 %29, %35
  %37 = select i1 %36, float %15, float %28
  br label %38

38:                                               ; preds = %31, %34
  %39 = phi float [ %33, %31 ], [ %37, %34 ]
  %40 = fcmp uno float %15, 0.000000e+00
  %41 = and i1 %40, %29
  %42 = bitcast float %39 to i32
  %43 = select i1 %41, i32 2147483647, i32 %42
  %44 = tail call float @llvm.fabs.f32(float %39)
  %45 = select i1 %41, float 0x7FFFFFFFE0000000, float %44
  %46 = bitcast float %45 to i32
  %47 = lshr i32 %43, 16
  %48 = and i32 %47, 32768
  %49 = fadd float %45, 5.000000e-01
  %50 = bitcast float %49 to i32
  %51 = add nsw i32 %46, -939520001
  %52 = lshr i32 %43, 13
  %53 = and i32 %52, 1
  %54 = add nuw nsw i32 %51, %53
  %55 = lshr i32 %54, 13
  %56 = icmp ult i32 %46, 947912704
  %57 = select i1 %56, i32 %50, i32 %55
  %58 = icmp ugt i32 %46, 1199570943
  %59 = select i1 %58, i32 31744, i32 %57
  %60 = icmp ugt i32 %46, 2139095040
  %61 = or i32 %59, %48
  %62 = trunc i32 %61 to i16
  %63 = select i1 %60, i16 32767, i16 %62
  ret i16 %63
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_min_nan_f16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = icmp ult i16 %3, 31745
  %5 = and i16 %1, 32767
  %6 = icmp ult i16 %5, 31745
  %7 = and i1 %4, %6
  br i1 %7, label %8, label %70

8:                                                ; preds = %2
  %9 = zext i16 %0 to i32
  %10 = shl nuw nsw i32 %9, 13
  %11 = and i32 %10, 268427264
  %12 = bitcast i32 %11 to float
  %13 = fmul float %12, 0x46F0000000000000
  %14 = bitcast float %13 to i32
  %15 = icmp ugt i32 %11, 260046847
  %16 = or i32 %10, 2139095040
  %17 = select i1 %15, i32 %16, i32 %14
  %18 = sext i16 %0 to i32
  %19 = and i32 %18, -2147483648
  %20 = or i32 %17, %19
  %21 = bitcast i32 %20 to float
  %22 = zext i16 %1 to i32
  %23 = shl nuw nsw i32 %22, 13
  %24 = and i32 %23, 268427264
  %25 = bitcast i32 %24 to float
  %26 = fmul float %25, 0x46F0000000000000
  %27 = bitcast float %26 to i32
  %28 = icmp ugt i32 %24, 260046847
  %29 = or i32 %23, 2139095040
  %30 = select i1 %28, i32 %29, i32 %27
  %31 = sext i16 %1 to i32
  %32 = and i32 %31, -2147483648
  %33 = or i32 %30, %32
  %34 = bitcast i32 %33 to float
  %35 = fcmp uno float %34, 0.000000e+00
  %36 = fcmp oeq float %21, %34
  br i1 %36, label %37, label %40

37:                                               ; preds = %8
  %38 = or i32 %33, %20
  %39 = bitcast i32 %38 to float
  br label %44

40:                                               ; preds = %8
  %41 = fcmp olt float %21, %34
  %42 = or i1 %35, %41
  %43 = select i1 %42, float %21, float %34
  br label %44

44:                                               ; preds = %37, %40
  %45 = phi float [ %39, %37 ], [ %43, %40 ]
  %46 = fcmp uno float %21, 0.000000e+00
  %47 = and i1 %46, %35
  %48 = bitcast float %45 to i32
  %49 = select i1 %47, i32 2147483647, i32 %48
  %50 = tail call float @llvm.fabs.f32(float %45)
  %51 = select i1 %47, float 0x7FFFFFFFE0000000, float %50
  %52 = bitcast float %51 to i32
  %53 = lshr i32 %49, 16
  %54 = and i32 %53, 32768
  %55 = fadd float %51, 5.000000e-01
  %56 = bitcast float %55 to i32
  %57 = add nsw i32 %52, -939520001
  %58 = lshr i32 %49, 13
  %59 = and i32 %58, 1
  %60 = add nuw nsw i32 %57, %59
  %61 = lshr i32 %60, 13
  %62 = icmp ult i32 %52, 947912704
  %63 = select i1 %62, i32 %56, i32 %61
  %64 = icmp ugt i32 %52, 1199570943
  %65 = select i1 %64, i32 31744, i32 %63
  %66 = icmp ugt i32 %52, 2139095040
  %67 = or i32 %65, %54
  %68 = trunc i32 %67 to i16
  %69 = select i1 %66, i16 32767, i16 %68
  br label %70

70:                                               ; preds = %2, %44
  %71 = phi i16 [ %69, %44 ], [ 32767, %2 ]
  ret i16 %71
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_max_nan_f16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = icmp ult i16 %3, 31745
  %5 = and i16 %1, 32767
  %6 = icmp ult i16 %5, 31745
  %7 = and i1 %4, %6
  br i1 %7, label %8, label %70

8:                                                ; preds = %2
  %9 = zext i16 %0 to i32
  %10 = shl nuw nsw i32 %9, 13
  %11 = and i32 %10, 268427264
  %12 = bitcast i32 %11 to float
  %13 = fmul float %12, 0x46F0000000000000
  %14 = bitcast float %13 to i32
  %15 = icmp ugt i32 %11, 260046847
  %16 = or i32 %10, 2139095040
  %17 = select i1 %15, i32 %16, i32 %14
  %18 = sext i16 %0 to i32
  %19 = and i32 %18, -2147483648
  %20 = or i32 %17, %19
  %21 = bitcast i32 %20 to float
  %22 = zext i16 %1 to i32
  %23 = shl nuw nsw i32 %22, 13
  %24 = and i32 %23, 268427264
  %25 = bitcast i32 %24 to float
  %26 = fmul float %25, 0x46F0000000000000
  %27 = bitcast float %26 to i32
  %28 = icmp ugt i32 %24, 260046847
  %29 = or i32 %23, 2139095040
  %30 = select i1 %28, i32 %29, i32 %27
  %31 = sext i16 %1 to i32
  %32 = and i32 %31, -2147483648
  %33 = or i32 %30, %32
  %34 = bitcast i32 %33 to float
  %35 = fcmp uno float %34, 0.000000e+00
  %36 = fcmp oeq float %21, %34
  br i1 %36, label %37, label %40

37:                                               ; preds = %8
  %38 = and i32 %33, %20
  %39 = bitcast i32 %38 to float
  br label %44

40:                                               ; preds = %8
  %41 = fcmp ogt float %21, %34
  %42 = or i1 %35, %41
  %43 = select i1 %42, float %21, float %34
  br label %44

44:                                               ; preds = %37, %40
  %45 = phi float [ %39, %37 ], [ %43, %40 ]
  %46 = fcmp uno float %21, 0.000000e+00
  %47 = and i1 %46, %35
  %48 = bitcast float %45 to i32
  %49 = select i1 %47, i32 2147483647, i32 %48
  %50 = tail call float @llvm.fabs.f32(float %45)
  %51 = select i1 %47, float 0x7FFFFFFFE0000000, float %50
  %52 = bitcast float %51 to i32
  %53 = lshr i32 %49, 16
  %54 = and i32 %53, 32768
  %55 = fadd float %51, 5.000000e-01
  %56 = bitcast float %55 to i32
  %57 = add nsw i32 %52, -939520001
  %58 = lshr i32 %49, 13
  %59 = and i32 %58, 1
  %60 = add nuw nsw i32 %57, %59
  %61 = lshr i32 %60, 13
  %62 = icmp ult i32 %52, 947912704
  %63 = select i1 %62, i32 %56, i32 %61
  %64 = icmp ugt i32 %52, 1199570943
  %65 = select i1 %64, i32 31744, i32 %63
  %66 = icmp ugt i32 %52, 2139095040
  %67 = or i32 %65, %54
  %68 = trunc i32 %67 to i16
  %69 = select i1 %66, i16 32767, i16 %68
  br label %70

70:                                               ; preds = %2, %44
  %71 = phi i16 [ %69, %44 ], [ 32767, %2 ]
  ret i16 %71
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_min_xorsign_f16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = and i16 %1, 32767
  %5 = zext nneg i16 %3 to i32
  %6 = shl nuw nsw i32 %5, 13
  %7 = bitcast i32 %6 to float
  %8 = fmul float %7, 0x46F0000000000000
  %9 = bitcast float %8 to i32
  %10 = icmp ugt i16 %3, 31743
  %11 = or i32 %6, 2139095040
  %12 = select i1 %10, i32 %11, i32 %9
  %13 = bitcast i32 %12 to float
  %14 = zext nneg i16 %4 to i32
  %15 = shl nuw nsw i32 %14, 13
  %16 = bitcast i32 %15 to float
  %17 = fmul float %16, 0x46F0000000000000
  %18 = bitcast float %17 to i32
  %19 = icmp ugt i16 %4, 31743
  %20 = or i32 %15, 2139095040
  %21 = select i1 %19, i32 %20, i32 %18
  %22 = bitcast i32 %21 to float
  %23 = fcmp uno float %22, 0.000000e+00
  %24 = fcmp oeq float %13, %22
  br i1 %24, label %25, label %28

25:                                               ; preds = %2
  %26 = or i32 %21, %12
  %27 = bitcast i32 %26 to float
  br label %32

28:                                               ; preds = %2
  %29 = fcmp olt float %13, %22
  %30 = or i1 %23, %29
  %31 = select i1 %30, float %13, float %22
  br label %32

32:                                               ; preds = %25, %28
  %33 = phi float [ %27, %25 ], [ %31, %28 ]
  %34 = fcmp uno float %13, 0.000000e+00
  %35 = and i1 %34, %23
  %36 = bitcast float %33 to i32
  %37 = select i1 %35, i32 2147483647, i32 %36
  %38 = tail call float @llvm.fabs.f32(float %33)
  %39 = select i1 %35, float 0x7FFFFFFFE0000000, float %38
  %40 = bitcast float %39 to i32
  %41 = lshr i32 %37, 16
  %42 = and i32 %41, 32768
  %43 = fadd float %39, 5.000000e-01
  %44 = bitcast float %43 to i32
  %45 = add nsw i32 %40, -939520001
  %46 = lshr i32 %37, 13
  %47 = and i32 %46, 1
  %48 = add nuw nsw i32 %45, %47
  %49 = lshr i32 %48, 13
  %50 = icmp ult i32 %40, 947912704
  %51 = select i1 %50, i32 %44, i32 %49
  %52 = icmp ugt i32 %40, 1199570943
  %53 = select i1 %52, i32 31744, i32 %51
  %54 = icmp ugt i32 %40, 2139095040
  %55 = or i32 %53, %42
  %56 = trunc i32 %55 to i16
  %57 = select i1 %54, i16 32767, i16 %56
  %58 = xor i16 %1, %0
  %59 = and i16 %58, -32768
  %60 = or i16 %57, %59
  ret i16 %60
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_max_xorsign_f16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = and i16 %1, 32767
  %5 = zext nneg i16 %3 to i32
  %6 = shl nuw nsw i32 %5, 13
  %7 = bitcast i32 %6 to float
  %8 = fmul float %7, 0x46F0000000000000
  %9 = bitcast float %8 to i32
  %10 = icmp ugt i16 %3, 31743
  %11 = or i32 %6, 2139095040
  %12 = select i1 %10, i32 %11, i32 %9
  %13 = bitcast i32 %12 to float
  %14 = zext nneg i16 %4 to i32
  %15 = shl nuw nsw i32 %14, 13
  %16 = bitcast i32 %15 to float
  %17 = fmul float %16, 0x46F0000000000000
  %18 = bitcast float %17 to i32
  %19 = icmp ugt i16 %4, 31743
  %20 = or i32 %15, 2139095040
  %21 = select i1 %19, i32 %20, i32 %18
  %22 = bitcast i32 %21 to float
  %23 = fcmp uno float %22, 0.000000e+00
  %24 = fcmp oeq float %13, %22
  br i1 %24, label %25, label %28

25:                                               ; preds = %2
  %26 = and i32 %21, %12
  %27 = bitcast i32 %26 to float
  br label %32

28:                                               ; preds = %2
  %29 = fcmp ogt float %13, %22
  %30 = or i1 %23, %29
  %31 = select i1 %30, float %13, float %22
  br label %32

32:                                               ; preds = %25, %28
  %33 = phi float [ %27, %25 ], [ %31, %28 ]
  %34 = fcmp uno float %13, 0.000000e+00
  %35 = and i1 %34, %23
  %36 = bitcast float %33 to i32
  %37 = select i1 %35, i32 2147483647, i32 %36
  %38 = tail call float @llvm.fabs.f32(float %33)
  %39 = select i1 %35, float 0x7FFFFFFFE0000000, float %38
  %40 = bitcast float %39 to i32
  %41 = lshr i32 %37, 16
  %42 = and i32 %41, 32768
  %43 = fadd float %39, 5.000000e-01
  %44 = bitcast float %43 to i32
  %45 = add nsw i32 %40, -939520001
  %46 = lshr i32 %37, 13
  %47 = and i32 %46, 1
  %48 = add nuw nsw i32 %45, %47
  %49 = lshr i32 %48, 13
  %50 = icmp ult i32 %40, 947912704
  %51 = select i1 %50, i32 %44, i32 %49
  %52 = icmp ugt i32 %40, 1199570943
  %53 = select i1 %52, i32 31744, i32 %51
  %54 = icmp ugt i32 %40, 2139095040
  %55 = or i32 %53, %42
  %56 = trunc i32 %55 to i16
  %57 = select i1 %54, i16 32767, i16 %56
  %58 = xor i16 %1, %0
  %59 = and i16 %58, -32768
  %60 = or i16 %57, %59
  ret i16 %60
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_min_nan_xorsign_f16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = icmp ult i16 %3, 31745
  br i1 %4, label %5, label %63

5:                                                ; preds = %2
  %6 = and i16 %1, 32767
  %7 = icmp ult i16 %6, 31745
  br i1 %7, label %8, label %63

8:                                                ; preds = %5
  %9 = zext nneg i16 %3 to i32
  %10 = shl nuw nsw i32 %9, 13
  %11 = bitcast i32 %10 to float
  %12 = fmul float %11, 0x46F0000000000000
  %13 = bitcast float %12 to i32
  %14 = icmp eq i16 %3, 31744
  %15 = select i1 %14, i32 2139095040, i32 %13
  %16 = bitcast i32 %15 to float
  %17 = zext nneg i16 %6 to i32
  %18 = shl nuw nsw i32 %17, 13
  %19 = bitcast i32 %18 to float
  %20 = fmul float %19, 0x46F0000000000000
  %21 = bitcast float %20 to i32
  %22 = icmp eq i16 %6, 31744
  %23 = select i1 %22, i32 2139095040, i32 %21
  %24 = bitcast i32 %23 to float
  %25 = fcmp uno float %24, 0.000000e+00
  %26 = fcmp oeq float %16, %24
  br i1 %26, label %27, label %30

27:                                               ; preds = %8
  %28 = or i32 %23, %15
  %29 = bitcast i32 %28 to float
  br label %34

30:                                               ; preds = %8
  %31 = fcmp olt float %16, %24
  %32 = or i1 %25, %31
  %33 = select i1 %32, float %16, float %24
  br label %34

34:                                               ; preds = %27, %30
  %35 = phi float [ %29, %27 ], [ %33, %30 ]
  %36 = fcmp uno float %16, 0.000000e+00
  %37 = and i1 %36, %25
  %38 = bitcast float %35 to i32
  %39 = select i1 %37, i32 2147483647, i32 %38
  %40 = tail call float @llvm.fabs.f32(float %35)
  %41 = select i1 %37, float 0x7FFFFFFFE0000000, float %40
  %42 = bitcast float %41 to i32
  %43 = lshr i32 %39, 16
  %44 = and i32 %43, 32768
  %45 = fadd float %41, 5.000000e-01
  %46 = bitcast float %45 to i32
  %47 = add nsw i32 %42, -939520001
  %48 = lshr i32 %39, 13
  %49 = and i32 %48, 1
  %50 = add nuw nsw i32 %47, %49
  %51 = lshr i32 %50, 13
  %52 = icmp ult i32 %42, 947912704
  %53 = select i1 %52, i32 %46, i32 %51
  %54 = icmp ugt i32 %42, 1199570943
  %55 = select i1 %54, i32 31744, i32 %53
  %56 = icmp ugt i32 %42, 2139095040
  %57 = or i32 %55, %44
  %58 = trunc i32 %57 to i16
  %59 = select i1 %56, i16 32767, i16 %58
  %60 = xor i16 %1, %0
  %61 = and i16 %60, -32768
  %62 = or i16 %59, %61
  br label %63

63:                                               ; preds = %2, %5, %34
  %64 = phi i16 [ %62, %34 ], [ 32767, %5 ], [ 32767, %2 ]
  ret i16 %64
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_max_nan_xorsign_f16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = icmp ult i16 %3, 31745
  br i1 %4, label %5, label %63

5:                                                ; preds = %2
  %6 = and i16 %1, 32767
  %7 = icmp ult i16 %6, 31745
  br i1 %7, label %8, label %63

8:                                                ; preds = %5
  %9 = zext nneg i16 %3 to i32
  %10 = shl nuw nsw i32 %9, 13
  %11 = bitcast i32 %10 to float
  %12 = fmul float %11, 0x46F0000000000000
  %13 = bitcast float %12 to i32
  %14 = icmp eq i16 %3, 31744
  %15 = select i1 %14, i32 2139095040, i32 %13
  %16 = bitcast i32 %15 to float
  %17 = zext nneg i16 %6 to i32
  %18 = shl nuw nsw i32 %17, 13
  %19 = bitcast i32 %18 to float
  %20 = fmul float %19, 0x46F0000000000000
  %21 = bitcast float %20 to i32
  %22 = icmp eq i16 %6, 31744
  %23 = select i1 %22, i32 2139095040, i32 %21
  %24 = bitcast i32 %23 to float
  %25 = fcmp uno float %24, 0.000000e+00
  %26 = fcmp oeq float %16, %24
  br i1 %26, label %27, label %30

27:                                               ; preds = %8
  %28 = and i32 %23, %15
  %29 = bitcast i32 %28 to float
  br label %34

30:                                               ; preds = %8
  %31 = fcmp ogt float %16, %24
  %32 = or i1 %25, %31
  %33 = select i1 %32, float %16, float %24
  br label %34

34:                                               ; preds = %27, %30
  %35 = phi float [ %29, %27 ], [ %33, %30 ]
  %36 = fcmp uno float %16, 0.000000e+00
  %37 = and i1 %36, %25
  %38 = bitcast float %35 to i32
  %39 = select i1 %37, i32 2147483647, i32 %38
  %40 = tail call float @llvm.fabs.f32(float %35)
  %41 = select i1 %37, float 0x7FFFFFFFE0000000, float %40
  %42 = bitcast float %41 to i32
  %43 = lshr i32 %39, 16
  %44 = and i32 %43, 32768
  %45 = fadd float %41, 5.000000e-01
  %46 = bitcast float %45 to i32
  %47 = add nsw i32 %42, -939520001
  %48 = lshr i32 %39, 13
  %49 = and i32 %48, 1
  %50 = add nuw nsw i32 %47, %49
  %51 = lshr i32 %50, 13
  %52 = icmp ult i32 %42, 947912704
  %53 = select i1 %52, i32 %46, i32 %51
  %54 = icmp ugt i32 %42, 1199570943
  %55 = select i1 %54, i32 31744, i32 %53
  %56 = icmp ugt i32 %42, 2139095040
  %57 = or i32 %55, %44
  %58 = trunc i32 %57 to i16
  %59 = select i1 %56, i16 32767, i16 %58
  %60 = xor i16 %1, %0
  %61 = and i16 %60, -32768
  %62 = or i16 %59, %61
  br label %63

63:                                               ; preds = %2, %5, %34
  %64 = phi i16 [ %62, %34 ], [ 32767, %5 ], [ 32767, %2 ]
  ret i16 %64
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_sat_f16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = zext i16 %0 to i32
  %3 = shl nuw nsw i32 %2, 13
  %4 = and i32 %3, 268427264
  %5 = bitcast i32 %4 to float
  %6 = fmul float %5, 0x46F0000000000000
  %7 = bitcast float %6 to i32
  %8 = icmp ugt i32 %4, 260046847
  %9 = or i32 %3, 2139095040
  %10 = select i1 %8, i32 %9, i32 %7
  %11 = sext i16 %0 to i32
  %12 = and i32 %11, -2147483648
  %13 = or i32 %10, %12
  %14 = bitcast i32 %13 to float
  %15 = fcmp ogt float %14, 0.000000e+00
  %16 = fcmp olt float %14, 1.000000e+00
  %17 = select i1 %16, float %14, float 1.000000e+00
  %18 = select i1 %15, float %17, float 0.000000e+00
  %19 = bitcast float %18 to i32
  %20 = tail call float @llvm.fabs.f32(float %14)
  %21 = select i1 %16, float %20, float 1.000000e+00
  %22 = select i1 %15, float %21, float 0.000000e+00
  %23 = bitcast float %22 to i32
  %24 = lshr i32 %19, 16
  %25 = and i32 %24, 32768
  %26 = fadd float %22, 5.000000e-01
  %27 = bitcast float %26 to i32
  %28 = add nsw i32 %23, -939520001
  %29 = lshr i32 %19, 13
  %30 = and i32 %29, 1
  %31 = add nuw nsw i32 %28, %30
  %32 = lshr i32 %31, 13
  %33 = icmp ult i32 %23, 947912704
  %34 = select i1 %33, i32 %27, i32 %32
  %35 = icmp ugt i32 %23, 1199570943
  %36 = select i1 %35, i32 31744, i32 %34
  %37 = icmp ugt i32 %23, 2139095040
  %38 = or i32 %36, %25
  %39 = trunc i32 %38 to i16
  %40 = select i1 %37, i16 32767, i16 %39
  ret i16 %40
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef zeroext i16 @ptx_relu_f16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = and i16 %0, 32767
  %3 = icmp ult i16 %2, 31745
  %4 = tail call i16 @llvm.smax.i16(i16 %0, i16 0)
  %5 = select i1 %3, i16 %4, i16 32767
  ret i16 %5
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef zeroext i16 @ptx_satfinite_f16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = and i16 %0, 32767
  %3 = icmp eq i16 %2, 31744
  %4 = sext i1 %3 to i16
  %5 = add i16 %4, %0
  ret i16 %5
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef zeroext i16 @ptx_ftz_bf16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = and i16 %0, 32640
  %3 = icmp eq i16 %2, 0
  %4 = and i16 %0, -32768
  %5 = select i1 %3, i16 %4, i16 %0
  ret i16 %5
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_add_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = zext i16 %0 to i32
  %4 = shl nuw i32 %3, 16
  %5 = bitcast i32 %4 to float
  %6 = zext i16 %1 to i32
  %7 = shl nuw i32 %6, 16
  %8 = bitcast i32 %7 to float
  %9 = fadd float %5, %8
  %10 = bitcast float %9 to i32
  %11 = add i32 %10, 32767
  %12 = lshr i32 %10, 16
  %13 = and i32 %12, 1
  %14 = add i32 %11, %13
  %15 = lshr i32 %14, 16
  %16 = tail call float @llvm.fabs.f32(float %9)
  %17 = bitcast float %16 to i32
  %18 = icmp ugt i32 %17, 2139095040
  %19 = trunc nuw i32 %15 to i16
  %20 = select i1 %18, i16 32767, i16 %19
  ret i16 %20
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_sub_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = zext i16 %0 to i32
  %4 = shl nuw i32 %3, 16
  %5 = bitcast i32 %4 to float
  %6 = zext i16 %1 to i32
  %7 = shl nuw i32 %6, 16
  %8 = bitcast i32 %7 to float
  %9 = fsub float %5, %8
  %10 = bitcast float %9 to i32
  %11 = add i32 %10, 32767
  %12 = lshr i32 %10, 16
  %13 = and i32 %12, 1
  %14 = add i32 %11, %13
  %15 = lshr i32 %14, 16
  %16 = tail call float @llvm.fabs.f32(float %9)
  %17 = bitcast float %16 to i32
  %18 = icmp ugt i32 %17, 2139095040
  %19 = trunc nuw i32 %15 to i16
  %20 = select i1 %18, i16 32767, i16 %19
  ret i16 %20
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_mul_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = zext i16 %0 to i32
  %4 = shl nuw i32 %3, 16
  %5 = bitcast i32 %4 to float
  %6 = fpext float %5 to double
  %7 = zext i16 %1 to i32
  %8 = shl nuw i32 %7, 16
  %9 = bitcast i32 %8 to float
  %10 = fpext float %9 to double
  %11 = fmul double %6, %10
  %12 = fptrunc double %11 to float
  %13 = bitcast float %12 to i32
  %14 = fpext float %12 to double
  %15 = fcmp une double %11, %14
  %16 = fcmp ord double %11, 0.000000e+00
  %17 = and i1 %16, %15
  %18 = tail call double @llvm.fabs.f64(double %14)
  %19 = tail call double @llvm.fabs.f64(double %11)
  %20 = fcmp ogt double %18, %19
  %21 = select i1 %20, i32 -1, i32 1
  %22 = and i32 %13, 1
  %23 = icmp eq i32 %22, 0
  %24 = and i1 %17, %23
  %25 = select i1 %24, i32 %21, i32 0
  %26 = add i32 %25, %13
  %27 = bitcast i32 %26 to float
  %28 = add i32 %26, 32767
  %29 = lshr i32 %26, 16
  %30 = and i32 %29, 1
  %31 = add i32 %28, %30
  %32 = lshr i32 %31, 16
  %33 = tail call float @llvm.fabs.f32(float %27)
  %34 = bitcast float %33 to i32
  %35 = icmp ugt i32 %34, 2139095040
  %36 = trunc nuw i32 %32 to i16
  %37 = select i1 %35, i16 32767, i16 %36
  ret i16 %37
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_fma_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1, i16 noundef zeroext %2) local_unnamed_addr #0 {
  %4 = zext i16 %0 to i32
  %5 = shl nuw i32 %4, 16
  %6 = bitcast i32 %5 to float
  %7 = fpext float %6 to double
  %8 = zext i16 %1 to i32
  %9 = shl nuw i32 %8, 16
  %10 = bitcast i32 %9 to float
  %11 = fpext float %10 to double
  %12 = fmul double %7, %11
  %13 = zext i16 %2 to i32
  %14 = shl nuw i32 %13, 16
  %15 = bitcast i32 %14 to float
  %16 = fpext float %15 to double
  %17 = fadd double %12, %16
  %18 = tail call double @llvm.fabs.f64(double %12)
  %19 = tail call double @llvm.fabs.f64(double %16)
  %20 = fcmp oge double %18, %19
  %21 = select i1 %20, double %12, double %16
  %22 = select i1 %20, double %16, double %12
  %23 = fsub double %17, %21
  %24 = fsub double %22, %23
  %25 = bitcast double %17 to i64
  %26 = fcmp ogt double %24, 0.000000e+00
  %27 = fcmp ule double %17, 0.000000e+00
  %28 = xor i1 %27, %26
  %29 = select i1 %28, i64 1, i64 -1
  %30 = fcmp one double %24, 0.000000e+00
  %31 = and i64 %25, 1
  %32 = icmp eq i64 %31, 0
  %33 = and i1 %32, %30
  %34 = select i1 %33, i64 %29, i64 0
  %35 = add i64 %34, %25
  %36 = bitcast i64 %35 to double
  %37 = fptrunc double %36 to float
  %38 = bitcast float %37 to i32
  %39 = fpext float %37 to double
  %40 = fcmp une double %39, %36
  %41 = fcmp ord double %36, 0.000000e+00
  %42 = and i1 %41, %40
  %43 = tail call double @llvm.fabs.f64(double %39)
  %44 = tail call double @llvm.fabs.f64(double %36)
  %45 = fcmp ogt double %43, %44
  %46 = select i1 %45, i32 -1, i32 1
  %47 = and i32 %38, 1
  %48 = icmp eq i32 %47, 0
  %49 = and i1 %42, %48
  %50 = select i1 %49, i32 %46, i32 0
  %51 = add i32 %50, %38
  %52 = bitcast i32 %51 to float
  %53 = add i32 %51, 32767
  %54 = lshr i32 %51, 16
  %55 = and i32 %54, 1
  %56 = add i32 %53, %55
  %57 = lshr i32 %56, 16
  %58 = tail call float @llvm.fabs.f32(float %52)
  %59 = bitcast float %58 to i32
  %60 = icmp ugt i32 %59, 2139095040
  %61 = trunc nuw i32 %57 to i16
  %62 = select i1 %60, i16 32767, i16 %61
  ret i16 %62
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef zeroext i16 @ptx_neg_bf16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = xor i16 %0, -32768
  ret i16 %2
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef zeroext range(i16 0, -32768) i16 @ptx_abs_bf16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = and i16 %0, 32767
  ret i16 %2
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_min_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = zext i16 %0 to i32
  %4 = shl nuw i32 %3, 16
  %5 = bitcast i32 %4 to float
  %6 = zext i16 %1 to i32
  %7 = shl nuw i32 %6, 16
  %8 = bitcast i32 %7 to float
  %9 = fcmp uno float %8, 0.000000e+00
  %10 = fcmp oeq float %5, %8
  br i1 %10, label %11, label %14

11:                                               ; preds = %2
  %12 = or i32 %7, %4
  %13 = bitcast i32 %12 to float
  br label %18

14:                                               ; preds = %2
  %15 = fcmp olt float %5, %8
  %16 = or i1 %9, %15
  %17 = select i1 %16, float %5, float %8
  br label %18

18:                                               ; preds = %11, %14
  %19 = phi float [ %13, %11 ], [ %17, %14 ]
  %20 = fcmp uno float %5, 0.000000e+00
  %21 = and i1 %20, %9
  %22 = bitcast float %19 to i32
  %23 = select i1 %21, i32 2147483647, i32 %22
  %24 = add i32 %23, 32767
  %25 = lshr i32 %23, 16
  %26 = and i32 %25, 1
  %27 = add i32 %24, %26
  %28 = lshr i32 %27, 16
  %29 = tail call float @llvm.fabs.f32(float %19)
  %30 = bitcast float %29 to i32
  %31 = icmp ugt i32 %30, 2139095040
  %32 = or i1 %21, %31
  %33 = trunc nuw i32 %28 to i16
  %34 = select i1 %32, i16 32767, i16 %33
  ret i16 %34
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_max_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = zext i16 %0 to i32
  %4 = shl nuw i32 %3, 16
  %5 = bitcast i32 %4 to float
  %6 = zext i16 %1 to i32
  %7 = shl nuw i32 %6, 16
  %8 = bitcast i32 %7 to float
  %9 = fcmp uno float %8, 0.000000e+00
  %10 = fcmp oeq float %5, %8
  br i1 %10, label %11, label %14

11:                                               ; preds = %2
  %12 = and i32 %7, %4
  %13 = bitcast i32 %12 to float
  br label %18

14:                                               ; preds = %2
  %15 = fcmp ogt float %5, %8
  %16 = or i1 %9, %15
  %17 = select i1 %16, float %5, float %8
  br label %18

18:                                               ; preds = %11, %14
  %19 = phi float [ %13, %11 ], [ %17, %14 ]
  %20 = fcmp uno float %5, 0.000000e+00
  %21 = and i1 %20, %9
  %22 = bitcast float %19 to i32
  %23 = select i1 %21, i32 2147483647, i32 %22
  %24 = add i32 %23, 32767
  %25 = lshr i32 %23, 16
  %26 = and i32 %25, 1
  %27 = add i32 %24, %26
  %28 = lshr i32 %27, 16
  %29 = tail call float @llvm.fabs.f32(float %19)
  %30 = bitcast float %29 to i32
  %31 = icmp ugt i32 %30, 2139095040
  %32 = or i1 %21, %31
  %33 = trunc nuw i32 %28 to i16
  %34 = select i1 %32, i16 32767, i16 %33
  ret i16 %34
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_min_nan_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = icmp ult i16 %3, 32641
  %5 = and i16 %1, 32767
  %6 = icmp ult i16 %5, 32641
  %7 = and i1 %4, %6
  br i1 %7, label %8, label %41

8:                                                ; preds = %2
  %9 = zext i16 %0 to i32
  %10 = shl nuw i32 %9, 16
  %11 = bitcast i32 %10 to float
  %12 = zext i16 %1 to i32
  %13 = shl nuw i32 %12, 16
  %14 = bitcast i32 %13 to float
  %15 = fcmp uno float %14, 0.000000e+00
  %16 = fcmp oeq float %11, %14
  br i1 %16, label %17, label %20

17:                                               ; preds = %8
  %18 = or i32 %13, %10
  %19 = bitcast i32 %18 to float
  br label %24

20:                                               ; preds = %8
  %21 = fcmp olt float %11, %14
  %22 = or i1 %15, %21
  %23 = select i1 %22, float %11, float %14
  br label %24

24:                                               ; preds = %17, %20
  %25 = phi float [ %19, %17 ], [ %23, %20 ]
  %26 = fcmp uno float %11, 0.000000e+00
  %27 = and i1 %26, %15
  %28 = bitcast float %25 to i32
  %29 = select i1 %27, i32 2147483647, i32 %28
  %30 = add i32 %29, 32767
  %31 = lshr i32 %29, 16
  %32 = and i32 %31, 1
  %33 = add i32 %30, %32
  %34 = lshr i32 %33, 16
  %35 = tail call float @llvm.fabs.f32(float %25)
  %36 = bitcast float %35 to i32
  %37 = icmp ugt i32 %36, 2139095040
  %38 = or i1 %27, %37
  %39 = trunc nuw i32 %34 to i16
  %40 = select i1 %38, i16 32767, i16 %39
  br label %41

41:                                               ; preds = %2, %24
  %42 = phi i16 [ %40, %24 ], [ 32767, %2 ]
  ret i16 %42
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_max_nan_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = icmp ult i16 %3, 32641
  %5 = and i16 %1, 32767
  %6 = icmp ult i16 %5, 32641
  %7 = and i1 %4, %6
  br i1 %7, label %8, label %41

8:                                                ; preds = %2
  %9 = zext i16 %0 to i32
  %10 = shl nuw i32 %9, 16
  %11 = bitcast i32 %10 to float
  %12 = zext i16 %1 to i32
  %13 = shl nuw i32 %12, 16
  %14 = bitcast i32 %13 to float
  %15 = fcmp uno float %14, 0.000000e+00
  %16 = fcmp oeq float %11, %14
  br i1 %16, label %17, label %20

17:                                               ; preds = %8
  %18 = and i32 %13, %10
  %19 = bitcast i32 %18 to float
  br label %24

20:                                               ; preds = %8
  %21 = fcmp ogt float %11, %14
  %22 = or i1 %15, %21
  %23 = select i1 %22, float %11, float %14
  br label %24

24:                                               ; preds = %17, %20
  %25 = phi float [ %19, %17 ], [ %23, %20 ]
  %26 = fcmp uno float %11, 0.000000e+00
  %27 = and i1 %26, %15
  %28 = bitcast float %25 to i32
  %29 = select i1 %27, i32 2147483647, i32 %28
  %30 = add i32 %29, 32767
  %31 = lshr i32 %29, 16
  %32 = and i32 %31, 1
  %33 = add i32 %30, %32
  %34 = lshr i32 %33, 16
  %35 = tail call float @llvm.fabs.f32(float %25)
  %36 = bitcast float %35 to i32
  %37 = icmp ugt i32 %36, 2139095040
  %38 = or i1 %27, %37
  %39 = trunc nuw i32 %34 to i16
  %40 = select i1 %38, i16 32767, i16 %39
  br label %41

41:                                               ; preds = %2, %24
  %42 = phi i16 [ %40, %24 ], [ 32767, %2 ]
  ret i16 %42
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_min_xorsign_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = and i16 %1, 32767
  %5 = zext nneg i16 %3 to i32
  %6 = shl nuw nsw i32 %5, 16
  %7 = bitcast i32 %6 to float
  %8 = zext nneg i16 %4 to i32
  %9 = shl nuw nsw i32 %8, 16
  %10 = bitcast i32 %9 to float
  %11 = fcmp uno float %10, 0.000000e+00
  %12 = fcmp oeq float %7, %10
  br i1 %12, label %13, label %16

13:                                               ; preds = %2
  %14 = or i32 %9, %6
  %15 = bitcast i32 %14 to float
  br label %20

16:                                               ; preds = %2
  %17 = fcmp olt float %7, %10
  %18 = or i1 %11, %17
  %19 = select i1 %18, float %7, float %10
  br label %20

20:                                               ; preds = %13, %16
  %21 = phi float [ %15, %13 ], [ %19, %16 ]
  %22 = fcmp uno float %7, 0.000000e+00
  %23 = and i1 %22, %11
  %24 = bitcast float %21 to i32
  %25 = select i1 %23, i32 2147483647, i32 %24
  %26 = add i32 %25, 32767
  %27 = lshr i32 %25, 16
  %28 = and i32 %27, 1
  %29 = add i32 %26, %28
  %30 = lshr i32 %29, 16
  %31 = tail call float @llvm.fabs.f32(float %21)
  %32 = bitcast float %31 to i32
  %33 = icmp ugt i32 %32, 2139095040
  %34 = or i1 %23, %33
  %35 = trunc nuw i32 %30 to i16
  %36 = select i1 %34, i16 32767, i16 %35
  %37 = xor i16 %1, %0
  %38 = and i16 %37, -32768
  %39 = or i16 %36, %38
  ret i16 %39
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_max_xorsign_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = and i16 %1, 32767
  %5 = zext nneg i16 %3 to i32
  %6 = shl nuw nsw i32 %5, 16
  %7 = bitcast i32 %6 to float
  %8 = zext nneg i16 %4 to i32
  %9 = shl nuw nsw i32 %8, 16
  %10 = bitcast i32 %9 to float
  %11 = fcmp uno float %10, 0.000000e+00
  %12 = fcmp oeq float %7, %10
  br i1 %12, label %13, label %16

13:                                               ; preds = %2
  %14 = and i32 %9, %6
  %15 = bitcast i32 %14 to float
  br label %20

16:                                               ; preds = %2
  %17 = fcmp ogt float %7, %10
  %18 = or i1 %11, %17
  %19 = select i1 %18, float %7, float %10
  br label %20

20:                                               ; preds = %13, %16
  %21 = phi float [ %15, %13 ], [ %19, %16 ]
  %22 = fcmp uno float %7, 0.000000e+00
  %23 = and i1 %22, %11
  %24 = bitcast float %21 to i32
  %25 = select i1 %23, i32 2147483647, i32 %24
  %26 = add i32 %25, 32767
  %27 = lshr i32 %25, 16
  %28 = and i32 %27, 1
  %29 = add i32 %26, %28
  %30 = lshr i32 %29, 16
  %31 = tail call float @llvm.fabs.f32(float %21)
  %32 = bitcast float %31 to i32
  %33 = icmp ugt i32 %32, 2139095040
  %34 = or i1 %23, %33
  %35 = trunc nuw i32 %30 to i16
  %36 = select i1 %34, i16 32767, i16 %35
  %37 = xor i16 %1, %0
  %38 = and i16 %37, -32768
  %39 = or i16 %36, %38
  ret i16 %39
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_min_nan_xorsign_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = icmp ult i16 %3, 32641
  br i1 %4, label %5, label %44

5:                                                ; preds = %2
  %6 = and i16 %1, 32767
  %7 = icmp ult i16 %6, 32641
  br i1 %7, label %8, label %44

8:                                                ; preds = %5
  %9 = zext nneg i16 %3 to i32
  %10 = shl nuw nsw i32 %9, 16
  %11 = bitcast i32 %10 to float
  %12 = zext nneg i16 %6 to i32
  %13 = shl nuw nsw i32 %12, 16
  %14 = bitcast i32 %13 to float
  %15 = fcmp uno float %14, 0.000000e+00
  %16 = fcmp oeq float %11, %14
  br i1 %16, label %17, label %20

17:                                               ; preds = %8
  %18 = or i32 %13, %10
  %19 = bitcast i32 %18 to float
  br label %24

20:                                               ; preds = %8
  %21 = fcmp olt float %11, %14
  %22 = or i1 %15, %21
  %23 = select i1 %22, float %11, float %14
  br label %24

24:                                               ; preds = %17, %20
  %25 = phi float [ %19, %17 ], [ %23, %20 ]
  %26 = fcmp uno float %11, 0.000000e+00
  %27 = and i1 %26, %15
  %28 = bitcast float %25 to i32
  %29 = select i1 %27, i32 2147483647, i32 %28
  %30 = add i32 %29, 32767
  %31 = lshr i32 %29, 16
  %32 = and i32 %31, 1
  %33 = add i32 %30, %32
  %34 = lshr i32 %33, 16
  %35 = tail call float @llvm.fabs.f32(float %25)
  %36 = bitcast float %35 to i32
  %37 = icmp ugt i32 %36, 2139095040
  %38 = or i1 %27, %37
  %39 = trunc nuw i32 %34 to i16
  %40 = select i1 %38, i16 32767, i16 %39
  %41 = xor i16 %1, %0
  %42 = and i16 %41, -32768
  %43 = or i16 %40, %42
  br label %44

44:                                               ; preds = %2, %5, %24
  %45 = phi i16 [ %43, %24 ], [ 32767, %5 ], [ 32767, %2 ]
  ret i16 %45
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_max_nan_xorsign_bf16(i16 noundef zeroext %0, i16 noundef zeroext %1) local_unnamed_addr #0 {
  %3 = and i16 %0, 32767
  %4 = icmp ult i16 %3, 32641
  br i1 %4, label %5, label %44

5:                                                ; preds = %2
  %6 = and i16 %1, 32767
  %7 = icmp ult i16 %6, 32641
  br i1 %7, label %8, label %44

8:                                                ; preds = %5
  %9 = zext nneg i16 %3 to i32
  %10 = shl nuw nsw i32 %9, 16
  %11 = bitcast i32 %10 to float
  %12 = zext nneg i16 %6 to i32
  %13 = shl nuw nsw i32 %12, 16
  %14 = bitcast i32 %13 to float
  %15 = fcmp uno float %14, 0.000000e+00
  %16 = fcmp oeq float %11, %14
  br i1 %16, label %17, label %20

17:                                               ; preds = %8
  %18 = and i32 %13, %10
  %19 = bitcast i32 %18 to float
  br label %24

20:                                               ; preds = %8
  %21 = fcmp ogt float %11, %14
  %22 = or i1 %15, %21
  %23 = select i1 %22, float %11, float %14
  br label %24

24:                                               ; preds = %17, %20
  %25 = phi float [ %19, %17 ], [ %23, %20 ]
  %26 = fcmp uno float %11, 0.000000e+00
  %27 = and i1 %26, %15
  %28 = bitcast float %25 to i32
  %29 = select i1 %27, i32 2147483647, i32 %28
  %30 = add i32 %29, 32767
  %31 = lshr i32 %29, 16
  %32 = and i32 %31, 1
  %33 = add i32 %30, %32
  %34 = lshr i32 %33, 16
  %35 = tail call float @llvm.fabs.f32(float %25)
  %36 = bitcast float %35 to i32
  %37 = icmp ugt i32 %36, 2139095040
  %38 = or i1 %27, %37
  %39 = trunc nuw i32 %34 to i16
  %40 = select i1 %38, i16 32767, i16 %39
  %41 = xor i16 %1, %0
  %42 = and i16 %41, -32768
  %43 = or i16 %40, %42
  br label %44

44:                                               ; preds = %2, %5, %24
  %45 = phi i16 [ %43, %24 ], [ 32767, %5 ], [ 32767, %2 ]
  ret i16 %45
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_sat_bf16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = zext i16 %0 to i32
  %3 = shl nuw i32 %2, 16
  %4 = bitcast i32 %3 to float
  %5 = fcmp ogt float %4, 0.000000e+00
  %6 = fcmp olt float %4, 1.000000e+00
  %7 = select i1 %6, float %4, float 1.000000e+00
  %8 = select i1 %5, float %7, float 0.000000e+00
  %9 = bitcast float %8 to i32
  %10 = add i32 %9, 32767
  %11 = lshr i32 %9, 16
  %12 = and i32 %11, 1
  %13 = add i32 %10, %12
  %14 = lshr i32 %13, 16
  %15 = tail call float @llvm.fabs.f32(float %4)
  %16 = select i1 %6, float %15, float 1.000000e+00
  %17 = select i1 %5, float %16, float 0.000000e+00
  %18 = bitcast float %17 to i32
  %19 = icmp ugt i32 %18, 2139095040
  %20 = trunc nuw i32 %14 to i16
  %21 = select i1 %19, i16 32767, i16 %20
  ret i16 %21
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef zeroext i16 @ptx_relu_bf16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = and i16 %0, 32767
  %3 = icmp ult i16 %2, 32641
  %4 = tail call i16 @llvm.smax.i16(i16 %0, i16 0)
  %5 = select i1 %3, i16 %4, i16 32767
  ret i16 %5
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef zeroext i16 @ptx_satfinite_bf16(i16 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = and i16 %0, 32767
  %3 = icmp eq i16 %2, 32640
  %4 = sext i1 %3 to i16
  %5 = add i16 %4, %0
  ret i16 %5
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef float @ptx_relu_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fcmp uno float %0, 0.000000e+00
  %3 = fcmp ogt float %0, 0.000000e+00
  %4 = select i1 %3, float %0, float 0.000000e+00
  %5 = select i1 %2, float 0x7FFFFFFFE0000000, float %4
  ret float %5
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef float @ptx_tf32_rna(float noundef %0) local_unnamed_addr #0 {
  %2 = bitcast float %0 to i32
  %3 = add i32 %2, 4096
  %4 = tail call float @llvm.fabs.f32(float %0)
  %5 = bitcast float %4 to i32
  %6 = icmp ugt i32 %5, 2139095040
  %7 = and i32 %3, -8192
  %8 = bitcast i32 %7 to float
  %9 = select i1 %6, float 0x7FFFFFFFE0000000, float %8
  ret float %9
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_tf32_rn(float noundef %0) local_unnamed_addr #0 {
  %2 = bitcast float %0 to i32
  %3 = add i32 %2, 4095
  %4 = lshr i32 %2, 13
  %5 = and i32 %4, 1
  %6 = add i32 %3, %5
  %7 = tail call float @llvm.fabs.f32(float %0)
  %8 = bitcast float %7 to i32
  %9 = icmp ugt i32 %8, 2139095040
  %10 = and i32 %6, -8192
  %11 = bitcast i32 %10 to float
  %12 = select i1 %9, float 0x7FFFFFFFE0000000, float %11
  ret float %12
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef float @ptx_tf32_rz(float noundef %0) local_unnamed_addr #0 {
  %2 = bitcast float %0 to i32
  %3 = tail call float @llvm.fabs.f32(float %0)
  %4 = bitcast float %3 to i32
  %5 = icmp ugt i32 %4, 2139095040
  %6 = and i32 %2, -8192
  %7 = bitcast i32 %6 to float
  %8 = select i1 %5, float 0x7FFFFFFFE0000000, float %7
  ret float %8
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i8 @ptx_e4m3_f32(float noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = tail call float @llvm.fabs.f32(float %0)
  %4 = bitcast float %3 to i32
  %5 = icmp ugt i32 %4, 2139095040
  br i1 %5, label %27, label %6

6:                                                ; preds = %2
  %7 = tail call i32 @llvm.umin.i32(i32 %4, i32 1138753536)
  %8 = bitcast i32 %7 to float
  %9 = fcmp olt float %8, 1.562500e-02
  %10 = fadd float %8, 1.638400e+04
  %11 = bitcast float %10 to i32
  %12 = add nuw nsw i32 %7, 67633151
  %13 = lshr i32 %7, 20
  %14 = and i32 %13, 1
  %15 = add nuw nsw i32 %12, %14
  %16 = lshr i32 %15, 20
  %17 = select i1 %9, i32 %11, i32 %16
  %18 = bitcast float %0 to i32
  %19 = lshr i32 %18, 24
  %20 = and i32 %19, 128
  %21 = or i32 %17, %20
  %22 = icmp ne i32 %1, 0
  %23 = icmp ne i32 %20, 0
  %24 = and i1 %22, %23
  %25 = trunc i32 %21 to i8
  %26 = select i1 %24, i8 0, i8 %25
  br label %27

27:                                               ; preds = %2, %6
  %28 = phi i8 [ %26, %6 ], [ 127, %2 ]
  ret i8 %28
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i8 @ptx_e5m2_f32(float noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = tail call float @llvm.fabs.f32(float %0)
  %4 = bitcast float %3 to i32
  %5 = icmp ugt i32 %4, 2139095040
  br i1 %5, label %27, label %6

6:                                                ; preds = %2
  %7 = tail call i32 @llvm.umin.i32(i32 %4, i32 1197473792)
  %8 = bitcast i32 %7 to float
  %9 = fcmp olt float %8, 0x3F10000000000000
  %10 = fadd float %8, 1.280000e+02
  %11 = bitcast float %10 to i32
  %12 = add nuw nsw i32 %7, 135266303
  %13 = lshr i32 %7, 21
  %14 = and i32 %13, 1
  %15 = add nuw nsw i32 %12, %14
  %16 = lshr i32 %15, 21
  %17 = select i1 %9, i32 %11, i32 %16
  %18 = bitcast float %0 to i32
  %19 = lshr i32 %18, 24
  %20 = and i32 %19, 128
  %21 = or i32 %17, %20
  %22 = icmp ne i32 %1, 0
  %23 = icmp ne i32 %20, 0
  %24 = and i1 %22, %23
  %25 = trunc i32 %21 to i8
  %26 = select i1 %24, i8 0, i8 %25
  br label %27

27:                                               ; preds = %2, %6
  %28 = phi i8 [ %26, %6 ], [ 127, %2 ]
  ret i8 %28
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext i16 @ptx_f16_e4m3(i8 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = and i8 %0, 127
  %3 = icmp eq i8 %2, 127
  br i1 %3, label %32, label %4

4:                                                ; preds = %1
  %5 = zext nneg i8 %2 to i32
  %6 = shl nuw nsw i32 %5, 20
  %7 = bitcast i32 %6 to float
  %8 = fmul float %7, 0x4770000000000000
  %9 = bitcast float %8 to i32
  %10 = tail call float @llvm.fabs.f32(float %8)
  %11 = bitcast float %10 to i32
  %12 = lshr i32 %9, 16
  %13 = and i32 %12, 32768
  %14 = fadd float %10, 5.000000e-01
  %15 = bitcast float %14 to i32
  %16 = add nsw i32 %11, -939520001
  %17 = lshr i32 %9, 13
  %18 = and i32 %17, 1
  %19 = add nuw nsw i32 %16, %18
  %20 = lshr i32 %19, 13
  %21 = icmp ult i32 %11, 947912704
  %22 = select i1 %21, i32 %15, i32 %20
  %23 = icmp ugt i32 %11, 1199570943
  %24 = select i1 %23, i32 31744, i32 %22
  %25 = icmp ugt i32 %11, 2139095040
  %26 = or i32 %24, %13
  %27 = trunc i32 %26 to i16
  %28 = select i1 %25, i16 32767, i16 %27
  %29 = sext i8 %0 to i16
  %30 = and i16 %29, -32768
  %31 = or i16 %28, %30
  br label %32

32:                                               ; preds = %1, %4
  %33 = phi i16 [ %31, %4 ], [ 32767, %1 ]
  ret i16 %33
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define zeroext range(i16 0, -255) i16 @ptx_f16_e5m2(i8 noundef zeroext %0) local_unnamed_addr #0 {
  %2 = and i8 %0, 127
  %3 = icmp ugt i8 %2, 124
  %4 = zext i8 %0 to i16
  %5 = shl nuw i16 %4, 8
  %6 = select i1 %3, i16 32767, i16 %5
  ret i16 %6
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_ex2_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fcmp olt float %0, -1.510000e+02
  %3 = select i1 %2, float -1.510000e+02, float %0
  %4 = fcmp ogt float %3, 1.290000e+02
  %5 = select i1 %4, float 1.290000e+02, float %3
  %6 = fadd float %5, 0x4168000000000000
  %7 = bitcast float %6 to i32
  %8 = add i32 %7, -1262485504
  %9 = fadd float %6, 0xC168000000000000
  %10 = fsub float %5, %9
  %11 = tail call float @llvm.fmuladd.f32(float %10, float 0x3EEFFCBFC0000000, float 0x3F24309120000000)
  %12 = tail call float @llvm.fmuladd.f32(float %11, float %10, float 0x3F55D87FE0000000)
  %13 = tail call float @llvm.fmuladd.f32(float %12, float %10, float 0x3F83B2AB60000000)
  %14 = tail call float @llvm.fmuladd.f32(float %13, float %10, float 0x3FAC6B08E0000000)
  %15 = tail call float @llvm.fmuladd.f32(float %14, float %10, float 0x3FCEBFBE00000000)
  %16 = tail call float @llvm.fmuladd.f32(float %15, float %10, float 0x3FE62E4300000000)
  %17 = tail call float @llvm.fmuladd.f32(float %16, float %10, float 1.000000e+00)
  %18 = ashr i32 %8, 1
  %19 = shl i32 %18, 23
  %20 = add i32 %19, 1065353216
  %21 = bitcast i32 %20 to float
  %22 = fmul float %17, %21
  %23 = sub i32 %7, %18
  %24 = shl i32 %23, 23
  %25 = add i32 %24, 1065353216
  %26 = bitcast i32 %25 to float
  %27 = fmul float %22, %26
  ret float %27
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fmuladd.f32(float, float, float) #2

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_lg2_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fcmp ult float %0, 0.000000e+00
  br i1 %2, label %28, label %3

3:                                                ; preds = %1
  %4 = fpext float %0 to double
  %5 = bitcast double %4 to i64
  %6 = add i64 %5, -4604544271217802189
  %7 = and i64 %6, -4503599627370496
  %8 = sub i64 %5, %7
  %9 = bitcast i64 %8 to double
  %10 = fcmp oeq float %0, 0x7FF0000000000000
  %11 = fcmp oeq float %0, 0.000000e+00
  %12 = fadd double %9, -1.000000e+00
  %13 = fadd double %9, 1.000000e+00
  %14 = fdiv double %12, %13
  %15 = fmul double %14, %14
  %16 = tail call double @llvm.fmuladd.f64(double %15, double 0x3FD0C9A84994022D, double 0x3FD484B13D7C02A9)
  %17 = tail call double @llvm.fmuladd.f64(double %16, double %15, double 0x3FDA61762A7ADED9)
  %18 = tail call double @llvm.fmuladd.f64(double %17, double %15, double 0x3FE2776C50EF9BFE)
  %19 = tail call double @llvm.fmuladd.f64(double %18, double %15, double 0x3FEEC709DC3A03FD)
  %20 = tail call double @llvm.fmuladd.f64(double %19, double %15, double 0x40071547652B82FE)
  %21 = ashr i64 %6, 52
  %22 = trunc nsw i64 %21 to i32
  %23 = sitofp i32 %22 to double
  %24 = tail call double @llvm.fmuladd.f64(double %20, double %14, double %23)
  %25 = fptrunc double %24 to float
  %26 = select i1 %11, float 0xFFF0000000000000, float %25
  %27 = select i1 %10, float %0, float %26
  br label %28

28:                                               ; preds = %1, %3
  %29 = phi float [ %27, %3 ], [ 0x7FFFFFFFE0000000, %1 ]
  ret float %29
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fmuladd.f64(double, double, double) #2

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_sin_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp olt float %2, 0x4130000000000000
  %4 = fpext float %0 to double
  br i1 %3, label %8, label %5

5:                                                ; preds = %1
  %6 = tail call double @llvm.sin.f64(double %4)
  %7 = fptrunc double %6 to float
  br label %42

8:                                                ; preds = %1
  %9 = tail call double @llvm.fmuladd.f64(double %4, double 0x3FE45F306DC9C883, double 0x4338000000000000)
  %10 = fadd double %9, 0xC338000000000000
  %11 = bitcast double %9 to i64
  %12 = trunc i64 %11 to i32
  %13 = fneg double %10
  %14 = tail call double @llvm.fmuladd.f64(double %13, double 0x3FF921FB54400000, double %4)
  %15 = tail call noundef double @llvm.fmuladd.f64(double %13, double 0x3DD0B4611A626331, double %14)
  %16 = and i32 %12, 1
  %17 = icmp eq i32 %16, 0
  %18 = fmul double %15, %15
  br i1 %17, label %26, label %19

19:                                               ; preds = %8
  %20 = tail call double @llvm.fmuladd.f64(double %18, double 0x3E21EED8EFF8D898, double 0xBE927E4FB7789F5C)
  %21 = tail call double @llvm.fmuladd.f64(double %20, double %18, double 0x3EFA01A01A01A01A)
  %22 = tail call double @llvm.fmuladd.f64(double %21, double %18, double 0xBF56C16C16C16C17)
  %23 = tail call double @llvm.fmuladd.f64(double %22, double %18, double 0x3FA5555555555555)
  %24 = tail call double @llvm.fmuladd.f64(double %23, double %18, double -5.000000e-01)
  %25 = tail call double @llvm.fmuladd.f64(double %18, double %24, double 1.000000e+00)
  br label %33

26:                                               ; preds = %8
  %27 = tail call double @llvm.fmuladd.f64(double %18, double 0xBE5AE64567F544E4, double 0x3EC71DE3A556C734)
  %28 = tail call double @llvm.fmuladd.f64(double %27, double %18, double 0xBF2A01A01A01A01A)
  %29 = tail call double @llvm.fmuladd.f64(double %28, double %18, double 0x3F81111111111111)
  %30 = tail call double @llvm.fmuladd.f64(double %29, double %18, double 0xBFC5555555555555)
  %31 = fmul double %18, %30
  %32 = tail call double @llvm.fmuladd.f64(double %15, double %31, double %15)
  br label %33

33:                                               ; preds = %26, %19
  %34 = phi double [ %25, %19 ], [ %32, %26 ]
  %35 = fcmp oeq float %0, 0.000000e+00
  br i1 %35, label %42, label %36

36:                                               ; preds = %33
  %37 = and i32 %12, 2
  %38 = icmp eq i32 %37, 0
  %39 = fneg double %34
  %40 = select i1 %38, double %34, double %39
  %41 = fptrunc double %40 to float
  br label %42

42:                                               ; preds = %36, %33, %5
  %43 = phi float [ %7, %5 ], [ %41, %36 ], [ %0, %33 ]
  ret float %43
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fabs.f32(float) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.sin.f64(double) #2

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_cos_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp olt float %2, 0x4130000000000000
  %4 = fpext float %0 to double
  br i1 %3, label %7, label %5

5:                                                ; preds = %1
  %6 = tail call double @llvm.cos.f64(double %4)
  br label %39

7:                                                ; preds = %1
  %8 = tail call double @llvm.fmuladd.f64(double %4, double 0x3FE45F306DC9C883, double 0x4338000000000000)
  %9 = fadd double %8, 0xC338000000000000
  %10 = bitcast double %8 to i64
  %11 = trunc i64 %10 to i32
  %12 = and i32 %11, 3
  %13 = fneg double %9
  %14 = tail call double @llvm.fmuladd.f64(double %13, double 0x3FF921FB54400000, double %4)
  %15 = tail call noundef double @llvm.fmuladd.f64(double %13, double 0x3DD0B4611A626331, double %14)
  %16 = and i32 %11, 1
  %17 = icmp eq i32 %16, 0
  %18 = fmul double %15, %15
  br i1 %17, label %26, label %19

19:                                               ; preds = %7
  %20 = tail call double @llvm.fmuladd.f64(double %18, double 0xBE5AE64567F544E4, double 0x3EC71DE3A556C734)
  %21 = tail call double @llvm.fmuladd.f64(double %20, double %18, double 0xBF2A01A01A01A01A)
  %22 = tail call double @llvm.fmuladd.f64(double %21, double %18, double 0x3F81111111111111)
  %23 = tail call double @llvm.fmuladd.f64(double %22, double %18, double 0xBFC5555555555555)
  %24 = fmul double %18, %23
  %25 = tail call double @llvm.fmuladd.f64(double %15, double %24, double %15)
  br label %33

26:                                               ; preds = %7
  %27 = tail call double @llvm.fmuladd.f64(double %18, double 0x3E21EED8EFF8D898, double 0xBE927E4FB7789F5C)
  %28 = tail call double @llvm.fmuladd.f64(double %27, double %18, double 0x3EFA01A01A01A01A)
  %29 = tail call double @llvm.fmuladd.f64(double %28, double %18, double 0xBF56C16C16C16C17)
  %30 = tail call double @llvm.fmuladd.f64(double %29, double %18, double 0x3FA5555555555555)
  %31 = tail call double @llvm.fmuladd.f64(double %30, double %18, double -5.000000e-01)
  %32 = tail call double @llvm.fmuladd.f64(double %18, double %31, double 1.000000e+00)
  br label %33

33:                                               ; preds = %26, %19
  %34 = phi double [ %25, %19 ], [ %32, %26 ]
  %35 = add nsw i32 %12, -1
  %36 = icmp ult i32 %35, 2
  %37 = fneg double %34
  %38 = select i1 %36, double %37, double %34
  br label %39

39:                                               ; preds = %33, %5
  %40 = phi double [ %38, %33 ], [ %6, %5 ]
  %41 = fptrunc double %40 to float
  ret float %41
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.cos.f64(double) #2

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define float @ptx_tanh_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fpext float %2 to double
  %4 = fcmp ogt double %3, 1.200000e+01
  %5 = select i1 %4, double 1.200000e+01, double %3
  %6 = fcmp olt double %5, 1.250000e-01
  br i1 %6, label %7, label %14

7:                                                ; preds = %1
  %8 = fmul double %5, %5
  %9 = fmul double %5, %8
  %10 = fneg double %8
  %11 = tail call double @llvm.fmuladd.f64(double %10, double 0x3FABA1BA1BA1BA1C, double 0x3FC1111111111111)
  %12 = tail call double @llvm.fmuladd.f64(double %8, double %11, double 0xBFD5555555555555)
  %13 = tail call double @llvm.fmuladd.f64(double %9, double %12, double %5)
  br label %35

14:                                               ; preds = %1
  %15 = fmul double %5, 0x40071547652B82FE
  %16 = fadd double %15, 0x4338000000000000
  %17 = bitcast double %16 to i64
  %18 = shl i64 %17, 52
  %19 = fadd double %16, 0xC338000000000000
  %20 = fsub double %15, %19
  %21 = fmul double %20, 0x3FE62E42FEFA39EF
  %22 = tail call double @llvm.fmuladd.f64(double %21, double 0x3F2A01A01A01A01A, double 0x3F56C16C16C16C17)
  %23 = tail call double @llvm.fmuladd.f64(double %22, double %21, double 0x3F81111111111111)
  %24 = tail call double @llvm.fmuladd.f64(double %23, double %21, double 0x3FA5555555555555)
  %25 = tail call double @llvm.fmuladd.f64(double %24, double %21, double 0x3FC5555555555555)
  %26 = tail call double @llvm.fmuladd.f64(double %25, double %21, double 5.000000e-01)
  %27 = tail call double @llvm.fmuladd.f64(double %26, double %21, double 1.000000e+00)
  %28 = tail call double @llvm.fmuladd.f64(double %27, double %21, double 1.000000e+00)
  %29 = bitcast double %28 to i64
  %30 = add i64 %18, %29
  %31 = bitcast i64 %30 to double
  %32 = fadd double %31, 1.000000e+00
  %33 = fdiv double 2.000000e+00, %32
  %34 = fsub double 1.000000e+00, %33
  br label %35

35:                                               ; preds = %14, %7
  %36 = phi double [ %13, %7 ], [ %34, %14 ]
  %37 = fcmp uno float %0, 0.000000e+00
  %38 = fptrunc double %36 to float
  %39 = tail call float @llvm.copysign.f32(float %38, float %0)
  %40 = select i1 %37, float 0x7FFFFFFFE0000000, float %39
  ret float %40
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.copysign.f32(float, float) #2

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef float @ptx_rsqrt_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.sqrt.f32(float %0)
  %3 = fdiv float 1.000000e+00, %2
  ret float %3
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.sqrt.f32(float) #2

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define noundef double @ptx_rsqrt_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = tail call double @llvm.sqrt.f64(double %0)
  %3 = fdiv double 1.000000e+00, %2
  ret double %3
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define double @ptx_rcp_approx_ftz_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = bitcast double %0 to i64
  %3 = and i64 %2, 9218868437227405312
  %4 = icmp eq i64 %3, 0
  %5 = select i1 %4, i64 -9223372036854775808, i64 -4294967296
  %6 = and i64 %5, %2
  %7 = bitcast i64 %6 to double
  %8 = fdiv double 1.000000e+00, %7
  %9 = fcmp uno double %8, 0.000000e+00
  br i1 %9, label %17, label %10

10:                                               ; preds = %1
  %11 = bitcast double %8 to i64
  %12 = and i64 %11, 9218868437227405312
  %13 = icmp eq i64 %12, 0
  %14 = select i1 %13, i64 -9223372036854775808, i64 -4294967296
  %15 = and i64 %14, %11
  %16 = bitcast i64 %15 to double
  br label %17

17:                                               ; preds = %1, %10
  %18 = phi double [ %16, %10 ], [ 0x7FFFFFFF00000000, %1 ]
  ret double %18
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define double @ptx_rsqrt_approx_ftz_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = bitcast double %0 to i64
  %3 = and i64 %2, 9218868437227405312
  %4 = icmp eq i64 %3, 0
  %5 = select i1 %4, i64 -9223372036854775808, i64 -4294967296
  %6 = and i64 %5, %2
  %7 = bitcast i64 %6 to double
  %8 = tail call double @llvm.sqrt.f64(double %7)
  %9 = fdiv double 1.000000e+00, %8
  %10 = fcmp uno double %9, 0.000000e+00
  br i1 %10, label %18, label %11

11:                                               ; preds = %1
  %12 = bitcast double %9 to i64
  %13 = and i64 %12, 9218868437227405312
  %14 = icmp eq i64 %13, 0
  %15 = select i1 %14, i64 -9223372036854775808, i64 -4294967296
  %16 = and i64 %15, %12
  %17 = bitcast i64 %16 to double
  br label %18

18:                                               ; preds = %1, %11
  %19 = phi double [ %17, %11 ], [ 0x7FFFFFFF00000000, %1 ]
  ret double %19
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_bfe_u32(i32 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = and i32 %1, 224
  %5 = and i32 %2, 224
  %6 = icmp eq i32 %4, 0
  %7 = and i32 %1, 31
  %8 = lshr i32 %0, %7
  %9 = select i1 %6, i32 %8, i32 0
  %10 = icmp eq i32 %5, 0
  %11 = and i32 %2, 31
  %12 = shl nsw i32 -1, %11
  %13 = xor i32 %12, -1
  %14 = select i1 %10, i32 %13, i32 -1
  %15 = and i32 %14, %9
  ret i32 %15
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i64 @ptx_bfe_u64(i64 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = and i32 %1, 192
  %5 = and i32 %2, 192
  %6 = icmp eq i32 %4, 0
  %7 = and i32 %1, 63
  %8 = zext nneg i32 %7 to i64
  %9 = lshr i64 %0, %8
  %10 = select i1 %6, i64 %9, i64 0
  %11 = icmp eq i32 %5, 0
  %12 = and i32 %2, 63
  %13 = zext nneg i32 %12 to i64
  %14 = shl nsw i64 -1, %13
  %15 = xor i64 %14, -1
  %16 = select i1 %11, i64 %15, i64 -1
  %17 = and i64 %16, %10
  ret i64 %17
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_bfe_s32(i32 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = and i32 %2, 255
  %5 = icmp eq i32 %4, 0
  br i1 %5, label %13, label %6

6:                                                ; preds = %3
  %7 = tail call i32 @llvm.usub.sat.i32(i32 32, i32 %4)
  %8 = and i32 %1, 255
  %9 = tail call i32 @llvm.umin.i32(i32 %8, i32 31)
  %10 = ashr i32 %0, %9
  %11 = shl i32 %10, %7
  %12 = ashr exact i32 %11, %7
  br label %13

13:                                               ; preds = %3, %6
  %14 = phi i32 [ %12, %6 ], [ 0, %3 ]
  ret i32 %14
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i64 @ptx_bfe_s64(i64 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = and i32 %2, 255
  %5 = icmp eq i32 %4, 0
  br i1 %5, label %15, label %6

6:                                                ; preds = %3
  %7 = tail call i32 @llvm.usub.sat.i32(i32 64, i32 %4)
  %8 = and i32 %1, 255
  %9 = tail call i32 @llvm.umin.i32(i32 %8, i32 63)
  %10 = zext nneg i32 %9 to i64
  %11 = ashr i64 %0, %10
  %12 = zext nneg i32 %7 to i64
  %13 = shl i64 %11, %12
  %14 = ashr exact i64 %13, %12
  br label %15

15:                                               ; preds = %3, %6
  %16 = phi i64 [ %14, %6 ], [ 0, %3 ]
  ret i64 %16
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_bfi_b32(i32 noundef %0, i32 noundef %1, i32 noundef %2, i32 noundef %3) local_unnamed_addr #0 {
  %5 = and i32 %2, 224
  %6 = and i32 %3, 224
  %7 = icmp eq i32 %6, 0
  %8 = and i32 %3, 31
  %9 = shl nsw i32 -1, %8
  %10 = xor i32 %9, -1
  %11 = select i1 %7, i32 %10, i32 -1
  %12 = icmp eq i32 %5, 0
  %13 = and i32 %2, 31
  %14 = shl i32 %11, %13
  %15 = select i1 %12, i32 %14, i32 0
  %16 = xor i32 %15, -1
  %17 = and i32 %16, %1
  %18 = shl i32 %0, %13
  %19 = and i32 %15, %18
  %20 = or i32 %17, %19
  ret i32 %20
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i64 @ptx_bfi_b64(i64 noundef %0, i64 noundef %1, i32 noundef %2, i32 noundef %3) local_unnamed_addr #0 {
  %5 = and i32 %2, 192
  %6 = and i32 %3, 192
  %7 = icmp eq i32 %6, 0
  %8 = and i32 %3, 63
  %9 = zext nneg i32 %8 to i64
  %10 = shl nsw i64 -1, %9
  %11 = xor i64 %10, -1
  %12 = select i1 %7, i64 %11, i64 -1
  %13 = icmp eq i32 %5, 0
  %14 = and i32 %2, 63
  %15 = zext nneg i32 %14 to i64
  %16 = shl i64 %12, %15
  %17 = select i1 %13, i64 %16, i64 0
  %18 = xor i64 %17, -1
  %19 = and i64 %18, %1
  %20 = shl i64 %0, %15
  %21 = and i64 %17, %20
  %22 = or i64 %19, %21
  ret i64 %22
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_bmsk_clamp_b32(i32 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = or i32 %1, %0
  %4 = icmp ult i32 %3, 32
  %5 = add nuw nsw i32 %1, %0
  %6 = select i1 %4, i32 %5, i32 32
  %7 = icmp ult i32 %0, 32
  %8 = shl nsw i32 -1, %0
  %9 = select i1 %7, i32 %8, i32 0
  %10 = icmp ult i32 %6, 32
  %11 = shl nsw i32 -1, %6
  %12 = xor i32 %11, -1
  %13 = select i1 %10, i32 %12, i32 -1
  %14 = and i32 %13, %9
  ret i32 %14
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_bmsk_wrap_b32(i32 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = and i32 %0, 31
  %4 = and i32 %1, 31
  %5 = add nuw nsw i32 %4, %3
  %6 = shl nsw i32 -1, %3
  %7 = icmp ult i32 %5, 32
  %8 = shl nsw i32 -1, %5
  %9 = xor i32 %8, -1
  %10 = select i1 %7, i32 %9, i32 -1
  %11 = and i32 %10, %6
  ret i32 %11
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_szext_clamp_u32(i32 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = icmp ult i32 %1, 32
  %4 = shl nsw i32 -1, %1
  %5 = xor i32 %4, -1
  %6 = select i1 %3, i32 %5, i32 -1
  %7 = and i32 %6, %0
  ret i32 %7
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_szext_wrap_u32(i32 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = and i32 %1, 31
  %4 = shl nsw i32 -1, %3
  %5 = xor i32 %4, -1
  %6 = and i32 %5, %0
  ret i32 %6
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_szext_clamp_s32(i32 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = shl nsw i32 -1, %1
  %4 = add i32 %1, -1
  %5 = icmp ult i32 %4, 31
  br i1 %5, label %6, label %13

6:                                                ; preds = %2
  %7 = add nuw nsw i32 %1, 31
  %8 = and i32 %7, 31
  %9 = shl nuw i32 1, %8
  %10 = and i32 %9, %0
  %11 = icmp eq i32 %10, 0
  %12 = select i1 %11, i32 0, i32 %3
  br label %13

13:                                               ; preds = %2, %6
  %14 = phi i32 [ %12, %6 ], [ 0, %2 ]
  %15 = icmp ult i32 %1, 32
  %16 = xor i32 %3, -1
  %17 = select i1 %15, i32 %16, i32 -1
  %18 = and i32 %17, %0
  %19 = or i32 %14, %18
  ret i32 %19
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_szext_wrap_s32(i32 noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = and i32 %1, 31
  %4 = shl nsw i32 -1, %3
  %5 = add nsw i32 %3, -1
  %6 = icmp ult i32 %5, 31
  br i1 %6, label %7, label %14

7:                                                ; preds = %2
  %8 = add i32 %1, 31
  %9 = and i32 %8, 31
  %10 = shl nuw i32 1, %9
  %11 = and i32 %10, %0
  %12 = icmp eq i32 %11, 0
  %13 = select i1 %12, i32 0, i32 %4
  br label %14

14:                                               ; preds = %2, %7
  %15 = phi i32 [ %13, %7 ], [ 0, %2 ]
  %16 = xor i32 %4, -1
  %17 = and i32 %16, %0
  %18 = or i32 %15, %17
  ret i32 %18
}

; Function Attrs: nofree norecurse nosync nounwind memory(none)
define i32 @ptx_fns(i32 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #3 {
  %4 = icmp sgt i32 %2, -1
  %5 = select i1 %4, i64 1, i64 -1
  %6 = icmp eq i32 %2, 0
  br i1 %6, label %7, label %14

7:                                                ; preds = %3
  %8 = icmp ult i32 %1, 32
  %9 = shl nuw i32 1, %1
  %10 = and i32 %9, %0
  %11 = icmp eq i32 %10, 0
  %12 = select i1 %11, i32 -1, i32 %1
  %13 = select i1 %8, i32 %12, i32 -1
  br label %33

14:                                               ; preds = %3
  %15 = icmp ugt i32 %1, 31
  br i1 %15, label %33, label %16

16:                                               ; preds = %14
  %17 = zext nneg i32 %1 to i64
  %18 = tail call i32 @llvm.abs.i32(i32 %2, i1 false)
  br label %19

19:                                               ; preds = %16, %29
  %20 = phi i64 [ %31, %29 ], [ %17, %16 ]
  %21 = phi i32 [ %30, %29 ], [ %18, %16 ]
  %22 = trunc nuw nsw i64 %20 to i32
  %23 = shl nuw i32 1, %22
  %24 = and i32 %23, %0
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %29, label %26

26:                                               ; preds = %19
  %27 = add i32 %21, -1
  %28 = icmp eq i32 %27, 0
  br i1 %28, label %33, label %29

29:                                               ; preds = %19, %26
  %30 = phi i32 [ %27, %26 ], [ %21, %19 ]
  %31 = add nsw i64 %20, %5
  %32 = icmp ugt i64 %31, 31
  br i1 %32, label %33, label %19, !llvm.loop !3

33:                                               ; preds = %26, %29, %14, %7
  %34 = phi i32 [ %13, %7 ], [ -1, %14 ], [ %22, %26 ], [ -1, %29 ]
  ret i32 %34
}

; Function Attrs: nofree norecurse nosync nounwind memory(none)
define i32 @ptx_prmt(i32 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #3 {
  %4 = zext i32 %1 to i64
  %5 = shl nuw i64 %4, 32
  %6 = zext i32 %0 to i64
  %7 = or disjoint i64 %5, %6
  br label %9

8:                                                ; preds = %9
  ret i32 %27

9:                                                ; preds = %3, %9
  %10 = phi i32 [ 0, %3 ], [ %27, %9 ]
  %11 = phi i32 [ 0, %3 ], [ %28, %9 ]
  %12 = shl nuw nsw i32 %11, 2
  %13 = lshr i32 %2, %12
  %14 = shl i32 %13, 3
  %15 = and i32 %14, 56
  %16 = zext nneg i32 %15 to i64
  %17 = lshr i64 %7, %16
  %18 = trunc i64 %17 to i32
  %19 = and i32 %18, 255
  %20 = icmp ult i32 %19, 128
  %21 = select i1 %20, i32 0, i32 255
  %22 = and i32 %13, 8
  %23 = icmp eq i32 %22, 0
  %24 = select i1 %23, i32 %19, i32 %21
  %25 = shl nuw nsw i32 %11, 3
  %26 = shl nuw i32 %24, %25
  %27 = or i32 %26, %10
  %28 = add nuw nsw i32 %11, 1
  %29 = icmp eq i32 %28, 4
  br i1 %29, label %8, label %9, !llvm.loop !6
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_prmt_f4e(i32 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = zext i32 %1 to i64
  %5 = shl nuw i64 %4, 32
  %6 = zext i32 %0 to i64
  %7 = or disjoint i64 %5, %6
  %8 = shl i32 %2, 3
  %9 = and i32 %8, 24
  %10 = zext nneg i32 %9 to i64
  %11 = lshr i64 %7, %10
  %12 = trunc i64 %11 to i32
  %13 = and i32 %12, 255
  %14 = add nuw nsw i32 %9, 8
  %15 = zext nneg i32 %14 to i64
  %16 = lshr i64 %7, %15
  %17 = trunc i64 %16 to i32
  %18 = shl i32 %17, 8
  %19 = and i32 %18, 65280
  %20 = add nuw nsw i32 %9, 16
  %21 = zext nneg i32 %20 to i64
  %22 = lshr i64 %7, %21
  %23 = trunc i64 %22 to i32
  %24 = shl i32 %23, 16
  %25 = and i32 %24, 16711680
  %26 = add nuw nsw i32 %9, 24
  %27 = zext nneg i32 %26 to i64
  %28 = lshr i64 %7, %27
  %29 = trunc i64 %28 to i32
  %30 = shl i32 %29, 24
  %31 = or disjoint i32 %30, %13
  %32 = or disjoint i32 %31, %19
  %33 = or disjoint i32 %32, %25
  ret i32 %33
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_prmt_b4e(i32 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = zext i32 %1 to i64
  %5 = shl nuw i64 %4, 32
  %6 = zext i32 %0 to i64
  %7 = or disjoint i64 %5, %6
  %8 = shl i32 %2, 3
  %9 = and i32 %8, 24
  %10 = zext nneg i32 %9 to i64
  %11 = lshr i64 %7, %10
  %12 = trunc i64 %11 to i32
  %13 = and i32 %12, 255
  %14 = add nuw nsw i32 %9, 56
  %15 = and i32 %14, 56
  %16 = zext nneg i32 %15 to i64
  %17 = lshr i64 %7, %16
  %18 = trunc i64 %17 to i32
  %19 = shl i32 %18, 8
  %20 = and i32 %19, 65280
  %21 = add nuw nsw i32 %9, 48
  %22 = and i32 %21, 56
  %23 = zext nneg i32 %22 to i64
  %24 = lshr i64 %7, %23
  %25 = trunc i64 %24 to i32
  %26 = shl i32 %25, 16
  %27 = and i32 %26, 16711680
  %28 = add nuw nsw i32 %9, 40
  %29 = and i32 %28, 56
  %30 = zext nneg i32 %29 to i64
  %31 = lshr i64 %7, %30
  %32 = trunc i64 %31 to i32
  %33 = shl i32 %32, 24
  %34 = or disjoint i32 %33, %13
  %35 = or disjoint i32 %34, %20
  %36 = or disjoint i32 %35, %27
  ret i32 %36
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_prmt_rc8(i32 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = zext i32 %1 to i64
  %5 = shl nuw i64 %4, 32
  %6 = zext i32 %0 to i64
  %7 = or disjoint i64 %5, %6
  %8 = shl i32 %2, 3
  %9 = and i32 %8, 24
  %10 = zext nneg i32 %9 to i64
  %11 = lshr i64 %7, %10
  %12 = trunc i64 %11 to i32
  %13 = and i32 %12, 255
  %14 = mul nuw i32 %13, 16843009
  ret i32 %14
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_prmt_ecl(i32 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = zext i32 %1 to i64
  %5 = shl nuw i64 %4, 32
  %6 = zext i32 %0 to i64
  %7 = or disjoint i64 %5, %6
  %8 = and i32 %2, 3
  %9 = shl nuw nsw i32 %8, 3
  %10 = zext nneg i32 %9 to i64
  %11 = lshr i64 %7, %10
  %12 = trunc i64 %11 to i32
  %13 = and i32 %12, 255
  %14 = tail call i32 @llvm.umax.i32(i32 %8, i32 1)
  %15 = shl nuw nsw i32 %14, 3
  %16 = zext nneg i32 %15 to i64
  %17 = lshr i64 %7, %16
  %18 = trunc i64 %17 to i32
  %19 = shl i32 %18, 8
  %20 = and i32 %19, 65280
  %21 = icmp eq i32 %8, 3
  %22 = select i1 %21, i64 24, i64 16
  %23 = lshr i64 %7, %22
  %24 = trunc i64 %23 to i32
  %25 = shl i32 %24, 16
  %26 = and i32 %25, 16711680
  %27 = and i32 %0, -16777216
  %28 = or disjoint i32 %13, %27
  %29 = or disjoint i32 %28, %26
  %30 = or disjoint i32 %29, %20
  ret i32 %30
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_prmt_ecr(i32 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = zext i32 %1 to i64
  %5 = shl nuw i64 %4, 32
  %6 = zext i32 %0 to i64
  %7 = or disjoint i64 %5, %6
  %8 = and i32 %2, 3
  %9 = and i32 %0, 255
  %10 = icmp eq i32 %8, 0
  %11 = select i1 %10, i64 0, i64 8
  %12 = lshr i64 %7, %11
  %13 = trunc i64 %12 to i32
  %14 = shl i32 %13, 8
  %15 = and i32 %14, 65280
  %16 = tail call i32 @llvm.umin.i32(i32 %8, i32 2)
  %17 = shl nuw nsw i32 %16, 3
  %18 = zext nneg i32 %17 to i64
  %19 = lshr i64 %7, %18
  %20 = trunc i64 %19 to i32
  %21 = shl i32 %20, 16
  %22 = and i32 %21, 16711680
  %23 = shl nuw nsw i32 %8, 3
  %24 = zext nneg i32 %23 to i64
  %25 = lshr i64 %7, %24
  %26 = trunc i64 %25 to i32
  %27 = shl i32 %26, 24
  %28 = or disjoint i32 %27, %9
  %29 = or disjoint i32 %28, %15
  %30 = or disjoint i32 %29, %22
  ret i32 %30
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i32 @ptx_prmt_rc16(i32 noundef %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = zext i32 %1 to i64
  %5 = shl nuw i64 %4, 32
  %6 = zext i32 %0 to i64
  %7 = or disjoint i64 %5, %6
  %8 = shl i32 %2, 4
  %9 = and i32 %8, 16
  %10 = zext nneg i32 %9 to i64
  %11 = lshr i64 %7, %10
  %12 = trunc i64 %11 to i32
  %13 = and i32 %12, 255
  %14 = or disjoint i32 %9, 8
  %15 = zext nneg i32 %14 to i64
  %16 = lshr i64 %7, %15
  %17 = trunc i64 %16 to i32
  %18 = and i32 %17, 255
  %19 = shl nuw nsw i32 %18, 8
  %20 = shl nuw nsw i32 %13, 16
  %21 = or disjoint i32 %19, %20
  %22 = shl nuw i32 %18, 24
  %23 = or disjoint i32 %21, %22
  %24 = or disjoint i32 %23, %13
  ret i32 %24
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define float @ptx_atom_add_f32(ptr nocapture noundef %0, float noundef %1) local_unnamed_addr #4 {
  %3 = load atomic i32, ptr %0 monotonic, align 4
  %4 = bitcast float %1 to i32
  %5 = and i32 %4, 2139095040
  %6 = icmp eq i32 %5, 0
  %7 = and i32 %4, -2147483648
  %8 = select i1 %6, i32 %7, i32 %4
  %9 = bitcast i32 %8 to float
  br label %10

10:                                               ; preds = %10, %2
  %11 = phi i32 [ %3, %2 ], [ %25, %10 ]
  %12 = and i32 %11, 2139095040
  %13 = icmp eq i32 %12, 0
  %14 = and i32 %11, -2147483648
  %15 = select i1 %13, i32 %14, i32 %11
  %16 = bitcast i32 %15 to float
  %17 = fadd float %9, %16
  %18 = bitcast float %17 to i32
  %19 = and i32 %18, 2139095040
  %20 = icmp eq i32 %19, 0
  %21 = and i32 %18, -2147483648
  %22 = select i1 %20, i32 %21, i32 %18
  %23 = cmpxchg ptr %0, i32 %11, i32 %22 acq_rel monotonic, align 4
  %24 = extractvalue { i32, i1 } %23, 1
  %25 = extractvalue { i32, i1 } %23, 0
  br i1 %24, label %26, label %10, !llvm.loop !7

26:                                               ; preds = %10
  %27 = bitcast i32 %11 to float
  ret float %27
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define double @ptx_atom_add_f64(ptr nocapture noundef %0, double noundef %1) local_unnamed_addr #4 {
  %3 = load atomic i64, ptr %0 monotonic, align 8
  br label %4

4:                                                ; preds = %4, %2
  %5 = phi i64 [ %3, %2 ], [ %11, %4 ]
  %6 = bitcast i64 %5 to double
  %7 = fadd double %6, %1
  %8 = bitcast double %7 to i64
  %9 = cmpxchg ptr %0, i64 %5, i64 %8 acq_rel monotonic, align 8
  %10 = extractvalue { i64, i1 } %9, 1
  %11 = extractvalue { i64, i1 } %9, 0
  br i1 %10, label %12, label %4, !llvm.loop !8

12:                                               ; preds = %4
  ret double %6
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define zeroext i16 @ptx_atom_add_f16(ptr nocapture noundef %0, i16 noundef zeroext %1) local_unnamed_addr #4 {
  %3 = load atomic i16, ptr %0 monotonic, align 2
  %4 = zext i16 %1 to i32
  %5 = shl nuw nsw i32 %4, 13
  %6 = and i32 %5, 268427264
  %7 = bitcast i32 %6 to float
  %8 = fmul float %7, 0x46F0000000000000
  %9 = bitcast float %8 to i32
  %10 = icmp ugt i32 %6, 260046847
  %11 = or i32 %5, 2139095040
  %12 = select i1 %10, i32 %11, i32 %9
  %13 = sext i16 %1 to i32
  %14 = and i32 %13, -2147483648
  %15 = or i32 %12, %14
  %16 = bitcast i32 %15 to float
  br label %17

17:                                               ; preds = %17, %2
  %18 = phi i16 [ %3, %2 ], [ %55, %17 ]
  %19 = zext i16 %18 to i32
  %20 = shl nuw nsw i32 %19, 13
  %21 = and i32 %20, 268427264
  %22 = bitcast i32 %21 to float
  %23 = fmul float %22, 0x46F0000000000000
  %24 = bitcast float %23 to i32
  %25 = icmp ugt i32 %21, 260046847
  %26 = or i32 %20, 2139095040
  %27 = select i1 %25, i32 %26, i32 %24
  %28 = sext i16 %18 to i32
  %29 = and i32 %28, -2147483648
  %30 = or i32 %27, %29
  %31 = bitcast i32 %30 to float
  %32 = fadd float %16, %31
  %33 = bitcast float %32 to i32
  %34 = tail call float @llvm.fabs.f32(float %32)
  %35 = bitcast float %34 to i32
  %36 = lshr i32 %33, 16
  %37 = and i32 %36, 32768
  %38 = fadd float %34, 5.000000e-01
  %39 = bitcast float %38 to i32
  %40 = add nsw i32 %35, -939520001
  %41 = lshr i32 %33, 13
  %42 = and i32 %41, 1
  %43 = add nuw nsw i32 %40, %42
  %44 = lshr i32 %43, 13
  %45 = icmp ult i32 %35, 947912704
  %46 = select i1 %45, i32 %39, i32 %44
  %47 = icmp ugt i32 %35, 1199570943
  %48 = select i1 %47, i32 31744, i32 %46
  %49 = icmp ugt i32 %35, 2139095040
  %50 = or i32 %48, %37
  %51 = trunc i32 %50 to i16
  %52 = select i1 %49, i16 32767, i16 %51
  %53 = cmpxchg ptr %0, i16 %18, i16 %52 acq_rel monotonic, align 2
  %54 = extractvalue { i16, i1 } %53, 1
  %55 = extractvalue { i16, i1 } %53, 0
  br i1 %54, label %56, label %17, !llvm.loop !9

56:                                               ; preds = %17
  ret i16 %18
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define zeroext i16 @ptx_atom_add_bf16(ptr nocapture noundef %0, i16 noundef zeroext %1) local_unnamed_addr #4 {
  %3 = load atomic i16, ptr %0 monotonic, align 2
  %4 = zext i16 %1 to i32
  %5 = shl nuw i32 %4, 16
  %6 = bitcast i32 %5 to float
  br label %7

7:                                                ; preds = %7, %2
  %8 = phi i16 [ %3, %2 ], [ %26, %7 ]
  %9 = zext i16 %8 to i32
  %10 = shl nuw i32 %9, 16
  %11 = bitcast i32 %10 to float
  %12 = fadd float %6, %11
  %13 = bitcast float %12 to i32
  %14 = add i32 %13, 32767
  %15 = lshr i32 %13, 16
  %16 = and i32 %15, 1
  %17 = add i32 %14, %16
  %18 = lshr i32 %17, 16
  %19 = tail call float @llvm.fabs.f32(float %12)
  %20 = bitcast float %19 to i32
  %21 = icmp ugt i32 %20, 2139095040
  %22 = trunc nuw i32 %18 to i16
  %23 = select i1 %21, i16 32767, i16 %22
  %24 = cmpxchg ptr %0, i16 %8, i16 %23 acq_rel monotonic, align 2
  %25 = extractvalue { i16, i1 } %24, 1
  %26 = extractvalue { i16, i1 } %24, 0
  br i1 %25, label %27, label %7, !llvm.loop !10

27:                                               ; preds = %7
  ret i16 %8
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define i32 @ptx_atom_add_f16x2(ptr nocapture noundef %0, i32 noundef %1) local_unnamed_addr #4 {
  %3 = load atomic i32, ptr %0 monotonic, align 4
  %4 = shl i32 %1, 13
  %5 = and i32 %4, 8380416
  %6 = and i32 %4, 268427264
  %7 = bitcast i32 %6 to float
  %8 = fmul float %7, 0x46F0000000000000
  %9 = bitcast float %8 to i32
  %10 = icmp ugt i32 %6, 260046847
  %11 = or disjoint i32 %5, 2139095040
  %12 = select i1 %10, i32 %11, i32 %9
  %13 = shl i32 %1, 16
  %14 = and i32 %13, -2147483648
  %15 = or i32 %12, %14
  %16 = bitcast i32 %15 to float
  %17 = lshr i32 %1, 3
  %18 = and i32 %17, 8380416
  %19 = and i32 %17, 268427264
  %20 = bitcast i32 %19 to float
  %21 = fmul float %20, 0x46F0000000000000
  %22 = bitcast float %21 to i32
  %23 = icmp ugt i32 %19, 260046847
  %24 = or disjoint i32 %18, 2139095040
  %25 = select i1 %23, i32 %24, i32 %22
  %26 = and i32 %1, -2147483648
  %27 = or i32 %25, %26
  %28 = bitcast i32 %27 to float
  br label %29

29:                                               ; preds = %29, %2
  %30 = phi i32 [ %3, %2 ], [ %100, %29 ]
  %31 = shl i32 %30, 13
  %32 = and i32 %31, 8380416
  %33 = and i32 %31, 268427264
  %34 = bitcast i32 %33 to float
  %35 = fmul float %34, 0x46F0000000000000
  %36 = bitcast float %35 to i32
  %37 = icmp ugt i32 %33, 260046847
  %38 = or disjoint i32 %32, 2139095040
  %39 = select i1 %37, i32 %38, i32 %36
  %40 = shl i32 %30, 16
  %41 = and i32 %40, -2147483648
  %42 = or i32 %39, %41
  %43 = bitcast i32 %42 to float
  %44 = fadd float %16, %43
  %45 = bitcast float %44 to i32
  %46 = tail call float @llvm.fabs.f32(float %44)
  %47 = bitcast float %46 to i32
  %48 = lshr i32 %45, 16
  %49 = and i32 %48, 32768
  %50 = fadd float %46, 5.000000e-01
  %51 = bitcast float %50 to i32
  %52 = add nuw i32 %47, 134221823
  %53 = lshr i32 %45, 13
  %54 = and i32 %53, 1
  %55 = add i32 %52, %54
  %56 = lshr i32 %55, 13
  %57 = icmp ult i32 %47, 947912704
  %58 = select i1 %57, i32 %51, i32 %56
  %59 = icmp ugt i32 %47, 1199570943
  %60 = and i32 %58, 65535
  %61 = icmp ugt i32 %47, 2139095040
  %62 = select i1 %59, i32 31744, i32 %60
  %63 = or i32 %62, %49
  %64 = select i1 %61, i32 32767, i32 %63
  %65 = lshr i32 %30, 3
  %66 = and i32 %65, 8380416
  %67 = and i32 %65, 268427264
  %68 = bitcast i32 %67 to float
  %69 = fmul float %68, 0x46F0000000000000
  %70 = bitcast float %69 to i32
  %71 = icmp ugt i32 %67, 260046847
  %72 = or disjoint i32 %66, 2139095040
  %73 = select i1 %71, i32 %72, i32 %70
  %74 = and i32 %30, -2147483648
  %75 = or i32 %73, %74
  %76 = bitcast i32 %75 to float
  %77 = fadd float %28, %76
  %78 = bitcast float %77 to i32
  %79 = tail call float @llvm.fabs.f32(float %77)
  %80 = bitcast float %79 to i32
  %81 = fadd float %79, 5.000000e-01
  %82 = bitcast float %81 to i32
  %83 = add nuw i32 %80, 134221823
  %84 = lshr i32 %78, 13
  %85 = and i32 %84, 1
  %86 = add i32 %83, %85
  %87 = lshr i32 %86, 13
  %88 = icmp ult i32 %80, 947912704
  %89 = select i1 %88, i32 %82, i32 %87
  %90 = icmp ugt i32 %80, 1199570943
  %91 = icmp ugt i32 %80, 2139095040
  %92 = shl i32 %89, 16
  %93 = select i1 %90, i32 2080374784, i32 %92
  %94 = and i32 %78, -2147483648
  %95 = or i32 %93, %94
  %96 = select i1 %91, i32 2147418112, i32 %95
  %97 = or disjoint i32 %96, %64
  %98 = cmpxchg ptr %0, i32 %30, i32 %97 acq_rel monotonic, align 4
  %99 = extractvalue { i32, i1 } %98, 1
  %100 = extractvalue { i32, i1 } %98, 0
  br i1 %99, label %101, label %29, !llvm.loop !11

101:                                              ; preds = %29
  ret i32 %30
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define i32 @ptx_atom_add_bf16x2(ptr nocapture noundef %0, i32 noundef %1) local_unnamed_addr #4 {
  %3 = load atomic i32, ptr %0 monotonic, align 4
  %4 = shl i32 %1, 16
  %5 = bitcast i32 %4 to float
  %6 = and i32 %1, -65536
  %7 = bitcast i32 %6 to float
  br label %8

8:                                                ; preds = %8, %2
  %9 = phi i32 [ %3, %2 ], [ %39, %8 ]
  %10 = shl i32 %9, 16
  %11 = bitcast i32 %10 to float
  %12 = fadd float %5, %11
  %13 = bitcast float %12 to i32
  %14 = add i32 %13, 32767
  %15 = lshr i32 %13, 16
  %16 = and i32 %15, 1
  %17 = add i32 %14, %16
  %18 = lshr i32 %17, 16
  %19 = tail call float @llvm.fabs.f32(float %12)
  %20 = bitcast float %19 to i32
  %21 = icmp ugt i32 %20, 2139095040
  %22 = select i1 %21, i32 32767, i32 %18
  %23 = and i32 %9, -65536
  %24 = bitcast i32 %23 to float
  %25 = fadd float %7, %24
  %26 = bitcast float %25 to i32
  %27 = add i32 %26, 32767
  %28 = lshr i32 %26, 16
  %29 = and i32 %28, 1
  %30 = add i32 %27, %29
  %31 = and i32 %30, -65536
  %32 = tail call float @llvm.fabs.f32(float %25)
  %33 = bitcast float %32 to i32
  %34 = icmp ugt i32 %33, 2139095040
  %35 = select i1 %34, i32 2147418112, i32 %31
  %36 = or disjoint i32 %35, %22
  %37 = cmpxchg ptr %0, i32 %9, i32 %36 acq_rel monotonic, align 4
  %38 = extractvalue { i32, i1 } %37, 1
  %39 = extractvalue { i32, i1 } %37, 0
  br i1 %38, label %40, label %8, !llvm.loop !12

40:                                               ; preds = %8
  ret i32 %9
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define zeroext i16 @ptx_atom_min_f16(ptr nocapture noundef %0, i16 noundef zeroext %1) local_unnamed_addr #4 {
  %3 = load atomic i16, ptr %0 monotonic, align 2
  %4 = zext i16 %1 to i32
  %5 = shl nuw nsw i32 %4, 13
  %6 = and i32 %5, 268427264
  %7 = bitcast i32 %6 to float
  %8 = fmul float %7, 0x46F0000000000000
  %9 = bitcast float %8 to i32
  %10 = icmp ugt i32 %6, 260046847
  %11 = or i32 %5, 2139095040
  %12 = select i1 %10, i32 %11, i32 %9
  %13 = sext i16 %1 to i32
  %14 = and i32 %13, -2147483648
  %15 = or i32 %12, %14
  %16 = bitcast i32 %15 to float
  %17 = fcmp uno float %16, 0.000000e+00
  br label %18

18:                                               ; preds = %41, %2
  %19 = phi i16 [ %3, %2 ], [ %69, %41 ]
  %20 = zext i16 %19 to i32
  %21 = shl nuw nsw i32 %20, 13
  %22 = and i32 %21, 268427264
  %23 = bitcast i32 %22 to float
  %24 = fmul float %23, 0x46F0000000000000
  %25 = bitcast float %24 to i32
  %26 = icmp ugt i32 %22, 260046847
  %27 = or i32 %21, 2139095040
  %28 = select i1 %26, i32 %27, i32 %25
  %29 = sext i16 %19 to i32
  %30 = and i32 %29, -2147483648
  %31 = or i32 %28, %30
  %32 = bitcast i32 %31 to float
  %33 = fcmp oeq float %32, %16
  br i1 %33, label %34, label %37

34:                                               ; preds = %18
  %35 = or i32 %31, %15
  %36 = bitcast i32 %35 to float
  br label %41

37:                                               ; preds = %18
  %38 = fcmp olt float %32, %16
  %39 = or i1 %17, %38
  %40 = select i1 %39, float %32, float %16
  br label %41

41:                                               ; preds = %34, %37
  %42 = phi float [ %36, %34 ], [ %40, %37 ]
  %43 = fcmp uno float %32, 0.000000e+00
  %44 = and i1 %17, %43
  %45 = bitcast float %42 to i32
  %46 = select i1 %44, i32 2147483647, i32 %45
  %47 = tail call float @llvm.fabs.f32(float %42)
  %48 = select i1 %44, float 0x7FFFFFFFE0000000, float %47
  %49 = bitcast float %48 to i32
  %50 = lshr i32 %46, 16
  %51 = and i32 %50, 32768
  %52 = fadd float %48, 5.000000e-01
  %53 = bitcast float %52 to i32
  %54 = add nsw i32 %49, -939520001
  %55 = lshr i32 %46, 13
  %56 = and i32 %55, 1
  %57 = add nuw nsw i32 %54, %56
  %58 = lshr i32 %57, 13
  %59 = icmp ult i32 %49, 947912704
  %60 = select i1 %59, i32 %53, i32 %58
  %61 = icmp ugt i32 %49, 1199570943
  %62 = select i1 %61, i32 31744, i32 %60
  %63 = icmp ugt i32 %49, 2139095040
  %64 = or i32 %62, %51
  %65 = trunc i32 %64 to i16
  %66 = select i1 %63, i16 32767, i16 %65
  %67 = cmpxchg ptr %0, i16 %19, i16 %66 acq_rel monotonic, align 2
  %68 = extractvalue { i16, i1 } %67, 1
  %69 = extractvalue { i16, i1 } %67, 0
  br i1 %68, label %70, label %18, !llvm.loop !13

70:                                               ; preds = %41
  ret i16 %19
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define zeroext i16 @ptx_atom_max_f16(ptr nocapture noundef %0, i16 noundef zeroext %1) local_unnamed_addr #4 {
  %3 = load atomic i16, ptr %0 monotonic, align 2
  %4 = zext i16 %1 to i32
  %5 = shl nuw nsw i32 %4, 13
  %6 = and i32 %5, 268427264
  %7 = bitcast i32 %6 to float
  %8 = fmul float %7, 0x46F0000000000000
  %9 = bitcast float %8 to i32
  %10 = icmp ugt i32 %6, 260046847
  %11 = or i32 %5, 2139095040
  %12 = select i1 %10, i32 %11, i32 %9
  %13 = sext i16 %1 to i32
  %14 = and i32 %13, -2147483648
  %15 = or i32 %12, %14
  %16 = bitcast i32 %15 to float
  %17 = fcmp uno float %16, 0.000000e+00
  br label %18

18:                                               ; preds = %41, %2
  %19 = phi i16 [ %3, %2 ], [ %69, %41 ]
  %20 = zext i16 %19 to i32
  %21 = shl nuw nsw i32 %20, 13
  %22 = and i32 %21, 268427264
  %23 = bitcast i32 %22 to float
  %24 = fmul float %23, 0x46F0000000000000
  %25 = bitcast float %24 to i32
  %26 = icmp ugt i32 %22, 260046847
  %27 = or i32 %21, 2139095040
  %28 = select i1 %26, i32 %27, i32 %25
  %29 = sext i16 %19 to i32
  %30 = and i32 %29, -2147483648
  %31 = or i32 %28, %30
  %32 = bitcast i32 %31 to float
  %33 = fcmp oeq float %32, %16
  br i1 %33, label %34, label %37

34:                                               ; preds = %18
  %35 = and i32 %31, %15
  %36 = bitcast i32 %35 to float
  br label %41

37:                                               ; preds = %18
  %38 = fcmp ogt float %32, %16
  %39 = or i1 %17, %38
  %40 = select i1 %39, float %32, float %16
  br label %41

41:                                               ; preds = %34, %37
  %42 = phi float [ %36, %34 ], [ %40, %37 ]
  %43 = fcmp uno float %32, 0.000000e+00
  %44 = and i1 %17, %43
  %45 = bitcast float %42 to i32
  %46 = select i1 %44, i32 2147483647, i32 %45
  %47 = tail call float @llvm.fabs.f32(float %42)
  %48 = select i1 %44, float 0x7FFFFFFFE0000000, float %47
  %49 = bitcast float %48 to i32
  %50 = lshr i32 %46, 16
  %51 = and i32 %50, 32768
  %52 = fadd float %48, 5.000000e-01
  %53 = bitcast float %52 to i32
  %54 = add nsw i32 %49, -939520001
  %55 = lshr i32 %46, 13
  %56 = and i32 %55, 1
  %57 = add nuw nsw i32 %54, %56
  %58 = lshr i32 %57, 13
  %59 = icmp ult i32 %49, 947912704
  %60 = select i1 %59, i32 %53, i32 %58
  %61 = icmp ugt i32 %49, 1199570943
  %62 = select i1 %61, i32 31744, i32 %60
  %63 = icmp ugt i32 %49, 2139095040
  %64 = or i32 %62, %51
  %65 = trunc i32 %64 to i16
  %66 = select i1 %63, i16 32767, i16 %65
  %67 = cmpxchg ptr %0, i16 %19, i16 %66 acq_rel monotonic, align 2
  %68 = extractvalue { i16, i1 } %67, 1
  %69 = extractvalue { i16, i1 } %67, 0
  br i1 %68, label %70, label %18, !llvm.loop !14

70:                                               ; preds = %41
  ret i16 %19
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define zeroext i16 @ptx_atom_min_bf16(ptr nocapture noundef %0, i16 noundef zeroext %1) local_unnamed_addr #4 {
  %3 = load atomic i16, ptr %0 monotonic, align 2
  %4 = zext i16 %1 to i32
  %5 = shl nuw i32 %4, 16
  %6 = bitcast i32 %5 to float
  %7 = fcmp uno float %6, 0.000000e+00
  br label %8

8:                                                ; preds = %21, %2
  %9 = phi i16 [ %3, %2 ], [ %40, %21 ]
  %10 = zext i16 %9 to i32
  %11 = shl nuw i32 %10, 16
  %12 = bitcast i32 %11 to float
  %13 = fcmp oeq float %12, %6
  br i1 %13, label %14, label %17

14:                                               ; preds = %8
  %15 = or i32 %11, %5
  %16 = bitcast i32 %15 to float
  br label %21

17:                                               ; preds = %8
  %18 = fcmp olt float %12, %6
  %19 = or i1 %7, %18
  %20 = select i1 %19, float %12, float %6
  br label %21

21:                                               ; preds = %14, %17
  %22 = phi float [ %16, %14 ], [ %20, %17 ]
  %23 = fcmp uno float %12, 0.000000e+00
  %24 = and i1 %7, %23
  %25 = bitcast float %22 to i32
  %26 = select i1 %24, i32 2147483647, i32 %25
  %27 = add i32 %26, 32767
  %28 = lshr i32 %26, 16
  %29 = and i32 %28, 1
  %30 = add i32 %27, %29
  %31 = lshr i32 %30, 16
  %32 = tail call float @llvm.fabs.f32(float %22)
  %33 = bitcast float %32 to i32
  %34 = icmp ugt i32 %33, 2139095040
  %35 = or i1 %24, %34
  %36 = trunc nuw i32 %31 to i16
  %37 = select i1 %35, i16 32767, i16 %36
  %38 = cmpxchg ptr %0, i16 %9, i16 %37 acq_rel monotonic, align 2
  %39 = extractvalue { i16, i1 } %38, 1
  %40 = extractvalue { i16, i1 } %38, 0
  br i1 %39, label %41, label %8, !llvm.loop !15

41:                                               ; preds = %21
  ret i16 %9
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define zeroext i16 @ptx_atom_max_bf16(ptr nocapture noundef %0, i16 noundef zeroext %1) local_unnamed_addr #4 {
  %3 = load atomic i16, ptr %0 monotonic, align 2
  %4 = zext i16 %1 to i32
  %5 = shl nuw i32 %4, 16
  %6 = bitcast i32 %5 to float
  %7 = fcmp uno float %6, 0.000000e+00
  br label %8

8:                                                ; preds = %21, %2
  %9 = phi i16 [ %3, %2 ], [ %40, %21 ]
  %10 = zext i16 %9 to i32
  %11 = shl nuw i32 %10, 16
  %12 = bitcast i32 %11 to float
  %13 = fcmp oeq float %12, %6
  br i1 %13, label %14, label %17

14:                                               ; preds = %8
  %15 = and i32 %11, %5
  %16 = bitcast i32 %15 to float
  br label %21

17:                                               ; preds = %8
  %18 = fcmp ogt float %12, %6
  %19 = or i1 %7, %18
  %20 = select i1 %19, float %12, float %6
  br label %21

21:                                               ; preds = %14, %17
  %22 = phi float [ %16, %14 ], [ %20, %17 ]
  %23 = fcmp uno float %12, 0.000000e+00
  %24 = and i1 %7, %23
  %25 = bitcast float %22 to i32
  %26 = select i1 %24, i32 2147483647, i32 %25
  %27 = add i32 %26, 32767
  %28 = lshr i32 %26, 16
  %29 = and i32 %28, 1
  %30 = add i32 %27, %29
  %31 = lshr i32 %30, 16
  %32 = tail call float @llvm.fabs.f32(float %22)
  %33 = bitcast float %32 to i32
  %34 = icmp ugt i32 %33, 2139095040
  %35 = or i1 %24, %34
  %36 = trunc nuw i32 %31 to i16
  %37 = select i1 %35, i16 32767, i16 %36
  %38 = cmpxchg ptr %0, i16 %9, i16 %37 acq_rel monotonic, align 2
  %39 = extractvalue { i16, i1 } %38, 1
  %40 = extractvalue { i16, i1 } %38, 0
  br i1 %39, label %41, label %8, !llvm.loop !16

41:                                               ; preds = %21
  ret i16 %9
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define i32 @ptx_atom_min_f16x2(ptr nocapture noundef %0, i32 noundef %1) local_unnamed_addr #4 {
  %3 = load atomic i32, ptr %0 monotonic, align 4
  %4 = shl i32 %1, 13
  %5 = and i32 %4, 8380416
  %6 = and i32 %4, 268427264
  %7 = bitcast i32 %6 to float
  %8 = fmul float %7, 0x46F0000000000000
  %9 = bitcast float %8 to i32
  %10 = icmp ugt i32 %6, 260046847
  %11 = or disjoint i32 %5, 2139095040
  %12 = select i1 %10, i32 %11, i32 %9
  %13 = shl i32 %1, 16
  %14 = and i32 %13, -2147483648
  %15 = or i32 %12, %14
  %16 = bitcast i32 %15 to float
  %17 = fcmp uno float %16, 0.000000e+00
  %18 = lshr i32 %1, 3
  %19 = and i32 %18, 8380416
  %20 = and i32 %18, 268427264
  %21 = bitcast i32 %20 to float
  %22 = fmul float %21, 0x46F0000000000000
  %23 = bitcast float %22 to i32
  %24 = icmp ugt i32 %20, 260046847
  %25 = or disjoint i32 %19, 2139095040
  %26 = select i1 %24, i32 %25, i32 %23
  %27 = and i32 %1, -2147483648
  %28 = or i32 %26, %27
  %29 = bitcast i32 %28 to float
  %30 = fcmp uno float %29, 0.000000e+00
  br label %31

31:                                               ; preds = %100, %2
  %32 = phi i32 [ %3, %2 ], [ %128, %100 ]
  %33 = shl i32 %32, 13
  %34 = and i32 %33, 8380416
  %35 = and i32 %33, 268427264
  %36 = bitcast i32 %35 to float
  %37 = fmul float %36, 0x46F0000000000000
  %38 = bitcast float %37 to i32
  %39 = icmp ugt i32 %35, 260046847
  %40 = or disjoint i32 %34, 2139095040
  %41 = select i1 %39, i32 %40, i32 %38
  %42 = shl i32 %32, 16
  %43 = and i32 %42, -2147483648
  %44 = or i32 %41, %43
  %45 = bitcast i32 %44 to float
  %46 = fcmp oeq float %45, %16
  br i1 %46, label %47, label %50

47:                                               ; preds = %31
  %48 = or i32 %44, %15
  %49 = bitcast i32 %48 to float
  br label %54

50:                                               ; preds = %31
  %51 = fcmp olt float %45, %16
  %52 = or i1 %17, %51
  %53 = select i1 %52, float %45, float %16
  br label %54

54:                                               ; preds = %47, %50
  %55 = phi float [ %49, %47 ], [ %53, %50 ]
  %56 = fcmp uno float %45, 0.000000e+00
  %57 = and i1 %17, %56
  %58 = bitcast float %55 to i32
  %59 = select i1 %57, i32 2147483647, i32 %58
  %60 = tail call float @llvm.fabs.f32(float %55)
  %61 = select i1 %57, float 0x7FFFFFFFE0000000, float %60
  %62 = bitcast float %61 to i32
  %63 = lshr i32 %59, 16
  %64 = and i32 %63, 32768
  %65 = fadd float %61, 5.000000e-01
  %66 = bitcast float %65 to i32
  %67 = add nuw i32 %62, 134221823
  %68 = lshr i32 %59, 13
  %69 = and i32 %68, 1
  %70 = add i32 %67, %69
  %71 = lshr i32 %70, 13
  %72 = icmp ult i32 %62, 947912704
  %73 = select i1 %72, i32 %66, i32 %71
  %74 = icmp ugt i32 %62, 1199570943
  %75 = and i32 %73, 65535
  %76 = icmp ugt i32 %62, 2139095040
  %77 = select i1 %74, i32 31744, i32 %75
  %78 = or i32 %77, %64
  %79 = select i1 %76, i32 32767, i32 %78
  %80 = lshr i32 %32, 3
  %81 = and i32 %80, 8380416
  %82 = and i32 %80, 268427264
  %83 = bitcast i32 %82 to float
  %84 = fmul float %83, 0x46F0000000000000
  %85 = bitcast float %84 to i32
  %86 = icmp ugt i32 %82, 260046847
  %87 = or disjoint i32 %81, 2139095040
  %88 = select i1 %86, i32 %87, i32 %85
  %89 = and i32 %32, -2147483648
  %90 = or i32 %88, %89
  %91 = bitcast i32 %90 to float
  %92 = fcmp oeq float %91, %29
  br i1 %92, label %93, label %96

93:                                               ; preds = %54
  %94 = or i32 %90, %28
  %95 = bitcast i32 %94 to float
  br label %100

96:                                               ; preds = %54
  %97 = fcmp olt float %91, %29
  %98 = or i1 %30, %97
  %99 = select i1 %98, float %91, float %29
  br label %100

100:                                              ; preds = %93, %96
  %101 = phi float [ %95, %93 ], [ %99, %96 ]
  %102 = fcmp uno float %91, 0.000000e+00
  %103 = and i1 %30, %102
  %104 = bitcast float %101 to i32
  %105 = select i1 %103, i32 2147483647, i32 %104
  %106 = tail call float @llvm.fabs.f32(float %101)
  %107 = select i1 %103, float 0x7FFFFFFFE0000000, float %106
  %108 = bitcast float %107 to i32
  %109 = fadd float %107, 5.000000e-01
  %110 = bitcast float %109 to i32
  %111 = add nuw i32 %108, 134221823
  %112 = lshr i32 %105, 13
  %113 = and i32 %112, 1
  %114 = add i32 %111, %113
  %115 = lshr i32 %114, 13
  %116 = icmp ult i32 %108, 947912704
  %117 = select i1 %116, i32 %110, i32 %115
  %118 = icmp ugt i32 %108, 1199570943
  %119 = icmp ugt i32 %108, 2139095040
  %120 = shl i32 %117, 16
  %121 = select i1 %118, i32 2080374784, i32 %120
  %122 = and i32 %105, -2147483648
  %123 = or i32 %121, %122
  %124 = select i1 %119, i32 2147418112, i32 %123
  %125 = or disjoint i32 %124, %79
  %126 = cmpxchg ptr %0, i32 %32, i32 %125 acq_rel monotonic, align 4
  %127 = extractvalue { i32, i1 } %126, 1
  %128 = extractvalue { i32, i1 } %126, 0
  br i1 %127, label %129, label %31, !llvm.loop !17

129:                                              ; preds = %100
  ret i32 %32
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define i32 @ptx_atom_max_f16x2(ptr nocapture noundef %0, i32 noundef %1) local_unnamed_addr #4 {
  %3 = load atomic i32, ptr %0 monotonic, align 4
  %4 = shl i32 %1, 13
  %5 = and i32 %4, 8380416
  %6 = and i32 %4, 268427264
  %7 = bitcast i32 %6 to float
  %8 = fmul float %7, 0x46F0000000000000
  %9 = bitcast float %8 to i32
  %10 = icmp ugt i32 %6, 260046847
  %11 = or disjoint i32 %5, 2139095040
  %12 = select i1 %10, i32 %11, i32 %9
  %13 = shl i32 %1, 16
  %14 = and i32 %13, -2147483648
  %15 = or i32 %12, %14
  %16 = bitcast i32 %15 to float
  %17 = fcmp uno float %16, 0.000000e+00
  %18 = lshr i32 %1, 3
  %19 = and i32 %18, 8380416
  %20 = and i32 %18, 268427264
  %21 = bitcast i32 %20 to float
  %22 = fmul float %21, 0x46F0000000000000
  %23 = bitcast float %22 to i32
  %24 = icmp ugt i32 %20, 260046847
  %25 = or disjoint i32 %19, 2139095040
  %26 = select i1 %24, i32 %25, i32 %23
  %27 = and i32 %1, -2147483648
  %28 = or i32 %26, %27
  %29 = bitcast i32 %28 to float
  %30 = fcmp uno float %29, 0.000000e+00
  br label %31

31:                                               ; preds = %100, %2
  %32 = phi i32 [ %3, %2 ], [ %128, %100 ]
  %33 = shl i32 %32, 13
  %34 = and i32 %33, 8380416
  %35 = and i32 %33, 268427264
  %36 = bitcast i32 %35 to float
  %37 = fmul float %36, 0x46F0000000000000
  %38 = bitcast float %37 to i32
  %39 = icmp ugt i32 %35, 260046847
  %40 = or disjoint i32 %34, 2139095040
  %41 = select i1 %39, i32 %40, i32 %38
  %42 = shl i32 %32, 16
  %43 = and i32 %42, -2147483648
  %44 = or i32 %41, %43
  %45 = bitcast i32 %44 to float
  %46 = fcmp oeq float %45, %16
  br i1 %46, label %47, label %50

47:                                               ; preds = %31
  %48 = and i32 %44, %15
  %49 = bitcast i32 %48 to float
  br label %54

50:                                               ; preds = %31
  %51 = fcmp ogt float %45, %16
  %52 = or i1 %17, %51
  %53 = select i1 %52, float %45, float %16
  br label %54

54:                                               ; preds = %47, %50
  %55 = phi float [ %49, %47 ], [ %53, %50 ]
  %56 = fcmp uno float %45, 0.000000e+00
  %57 = and i1 %17, %56
  %58 = bitcast float %55 to i32
  %59 = select i1 %57, i32 2147483647, i32 %58
  %60 = tail call float @llvm.fabs.f32(float %55)
  %61 = select i1 %57, float 0x7FFFFFFFE0000000, float %60
  %62 = bitcast float %61 to i32
  %63 = lshr i32 %59, 16
  %64 = and i32 %63, 32768
  %65 = fadd float %61, 5.000000e-01
  %66 = bitcast float %65 to i32
  %67 = add nuw i32 %62, 134221823
  %68 = lshr i32 %59, 13
  %69 = and i32 %68, 1
  %70 = add i32 %67, %69
  %71 = lshr i32 %70, 13
  %72 = icmp ult i32 %62, 947912704
  %73 = select i1 %72, i32 %66, i32 %71
  %74 = icmp ugt i32 %62, 1199570943
  %75 = and i32 %73, 65535
  %76 = icmp ugt i32 %62, 2139095040
  %77 = select i1 %74, i32 31744, i32 %75
  %78 = or i32 %77, %64
  %79 = select i1 %76, i32 32767, i32 %78
  %80 = lshr i32 %32, 3
  %81 = and i32 %80, 8380416
  %82 = and i32 %80, 268427264
  %83 = bitcast i32 %82 to float
  %84 = fmul float %83, 0x46F0000000000000
  %85 = bitcast float %84 to i32
  %86 = icmp ugt i32 %82, 260046847
  %87 = or disjoint i32 %81, 2139095040
  %88 = select i1 %86, i32 %87, i32 %85
  %89 = and i32 %32, -2147483648
  %90 = or i32 %88, %89
  %91 = bitcast i32 %90 to float
  %92 = fcmp oeq float %91, %29
  br i1 %92, label %93, label %96

93:                                               ; preds = %54
  %94 = and i32 %90, %28
  %95 = bitcast i32 %94 to float
  br label %100

96:                                               ; preds = %54
  %97 = fcmp ogt float %91, %29
  %98 = or i1 %30, %97
  %99 = select i1 %98, float %91, float %29
  br label %100

100:                                              ; preds = %93, %96
  %101 = phi float [ %95, %93 ], [ %99, %96 ]
  %102 = fcmp uno float %91, 0.000000e+00
  %103 = and i1 %30, %102
  %104 = bitcast float %101 to i32
  %105 = select i1 %103, i32 2147483647, i32 %104
  %106 = tail call float @llvm.fabs.f32(float %101)
  %107 = select i1 %103, float 0x7FFFFFFFE0000000, float %106
  %108 = bitcast float %107 to i32
  %109 = fadd float %107, 5.000000e-01
  %110 = bitcast float %109 to i32
  %111 = add nuw i32 %108, 134221823
  %112 = lshr i32 %105, 13
  %113 = and i32 %112, 1
  %114 = add i32 %111, %113
  %115 = lshr i32 %114, 13
  %116 = icmp ult i32 %108, 947912704
  %117 = select i1 %116, i32 %110, i32 %115
  %118 = icmp ugt i32 %108, 1199570943
  %119 = icmp ugt i32 %108, 2139095040
  %120 = shl i32 %117, 16
  %121 = select i1 %118, i32 2080374784, i32 %120
  %122 = and i32 %105, -2147483648
  %123 = or i32 %121, %122
  %124 = select i1 %119, i32 2147418112, i32 %123
  %125 = or disjoint i32 %124, %79
  %126 = cmpxchg ptr %0, i32 %32, i32 %125 acq_rel monotonic, align 4
  %127 = extractvalue { i32, i1 } %126, 1
  %128 = extractvalue { i32, i1 } %126, 0
  br i1 %127, label %129, label %31, !llvm.loop !18

129:                                              ; preds = %100
  ret i32 %32
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define i32 @ptx_atom_min_bf16x2(ptr nocapture noundef %0, i32 noundef %1) local_unnamed_addr #4 {
  %3 = load atomic i32, ptr %0 monotonic, align 4
  %4 = shl i32 %1, 16
  %5 = bitcast i32 %4 to float
  %6 = fcmp uno float %5, 0.000000e+00
  %7 = and i32 %1, -65536
  %8 = bitcast i32 %7 to float
  %9 = fcmp uno float %8, 0.000000e+00
  br label %10

10:                                               ; preds = %48, %2
  %11 = phi i32 [ %3, %2 ], [ %67, %48 ]
  %12 = shl i32 %11, 16
  %13 = bitcast i32 %12 to float
  %14 = fcmp oeq float %13, %5
  br i1 %14, label %15, label %18

15:                                               ; preds = %10
  %16 = or i32 %12, %4
  %17 = bitcast i32 %16 to float
  br label %22

18:                                               ; preds = %10
  %19 = fcmp olt float %13, %5
  %20 = or i1 %6, %19
  %21 = select i1 %20, float %13, float %5
  br label %22

22:                                               ; preds = %15, %18
  %23 = phi float [ %17, %15 ], [ %21, %18 ]
  %24 = fcmp uno float %13, 0.000000e+00
  %25 = and i1 %6, %24
  %26 = bitcast float %23 to i32
  %27 = select i1 %25, i32 2147483647, i32 %26
  %28 = add i32 %27, 32767
  %29 = lshr i32 %27, 16
  %30 = and i32 %29, 1
  %31 = add i32 %28, %30
  %32 = lshr i32 %31, 16
  %33 = tail call float @llvm.fabs.f32(float %23)
  %34 = bitcast float %33 to i32
  %35 = icmp ugt i32 %34, 2139095040
  %36 = or i1 %25, %35
  %37 = select i1 %36, i32 32767, i32 %32
  %38 = and i32 %11, -65536
  %39 = bitcast i32 %38 to float
  %40 = fcmp oeq float %39, %8
  br i1 %40, label %41, label %44

41:                                               ; preds = %22
  %42 = or i32 %38, %7
  %43 = bitcast i32 %42 to float
  br label %48

44:                                               ; preds = %22
  %45 = fcmp olt float %39, %8
  %46 = or i1 %9, %45
  %47 = select i1 %46, float %39, float %8
  br label %48

48:                                               ; preds = %41, %44
  %49 = phi float [ %43, %41 ], [ %47, %44 ]
  %50 = fcmp uno float %39, 0.000000e+00
  %51 = and i1 %9, %50
  %52 = bitcast float %49 to i32
  %53 = select i1 %51, i32 2147483647, i32 %52
  %54 = add i32 %53, 32767
  %55 = lshr i32 %53, 16
  %56 = and i32 %55, 1
  %57 = add i32 %54, %56
  %58 = and i32 %57, -65536
  %59 = tail call float @llvm.fabs.f32(float %49)
  %60 = bitcast float %59 to i32
  %61 = icmp ugt i32 %60, 2139095040
  %62 = or i1 %51, %61
  %63 = select i1 %62, i32 2147418112, i32 %58
  %64 = or disjoint i32 %63, %37
  %65 = cmpxchg ptr %0, i32 %11, i32 %64 acq_rel monotonic, align 4
  %66 = extractvalue { i32, i1 } %65, 1
  %67 = extractvalue { i32, i1 } %65, 0
  br i1 %66, label %68, label %10, !llvm.loop !19

68:                                               ; preds = %48
  ret i32 %11
}

; Function Attrs: nofree norecurse nounwind memory(argmem: readwrite)
define i32 @ptx_atom_max_bf16x2(ptr nocapture noundef %0, i32 noundef %1) local_unnamed_addr #4 {
  %3 = load atomic i32, ptr %0 monotonic, align 4
  %4 = shl i32 %1, 16
  %5 = bitcast i32 %4 to float
  %6 = fcmp uno float %5, 0.000000e+00
  %7 = and i32 %1, -65536
  %8 = bitcast i32 %7 to float
  %9 = fcmp uno float %8, 0.000000e+00
  br label %10

10:                                               ; preds = %48, %2
  %11 = phi i32 [ %3, %2 ], [ %67, %48 ]
  %12 = shl i32 %11, 16
  %13 = bitcast i32 %12 to float
  %14 = fcmp oeq float %13, %5
  br i1 %14, label %15, label %18

15:                                               ; preds = %10
  %16 = and i32 %12, %4
  %17 = bitcast i32 %16 to float
  br label %22

18:                                               ; preds = %10
  %19 = fcmp ogt float %13, %5
  %20 = or i1 %6, %19
  %21 = select i1 %20, float %13, float %5
  br label %22

22:                                               ; preds = %15, %18
  %23 = phi float [ %17, %15 ], [ %21, %18 ]
  %24 = fcmp uno float %13, 0.000000e+00
  %25 = and i1 %6, %24
  %26 = bitcast float %23 to i32
  %27 = select i1 %25, i32 2147483647, i32 %26
  %28 = add i32 %27, 32767
  %29 = lshr i32 %27, 16
  %30 = and i32 %29, 1
  %31 = add i32 %28, %30
  %32 = lshr i32 %31, 16
  %33 = tail call float @llvm.fabs.f32(float %23)
  %34 = bitcast float %33 to i32
  %35 = icmp ugt i32 %34, 2139095040
  %36 = or i1 %25, %35
  %37 = select i1 %36, i32 32767, i32 %32
  %38 = and i32 %11, -65536
  %39 = bitcast i32 %38 to float
  %40 = fcmp oeq float %39, %8
  br i1 %40, label %41, label %44

41:                                               ; preds = %22
  %42 = and i32 %38, %1
  %43 = bitcast i32 %42 to float
  br label %48

44:                                               ; preds = %22
  %45 = fcmp ogt float %39, %8
  %46 = or i1 %9, %45
  %47 = select i1 %46, float %39, float %8
  br label %48

48:                                               ; preds = %41, %44
  %49 = phi float [ %43, %41 ], [ %47, %44 ]
  %50 = fcmp uno float %39, 0.000000e+00
  %51 = and i1 %9, %50
  %52 = bitcast float %49 to i32
  %53 = select i1 %51, i32 2147483647, i32 %52
  %54 = add i32 %53, 32767
  %55 = lshr i32 %53, 16
  %56 = and i32 %55, 1
  %57 = add i32 %54, %56
  %58 = and i32 %57, -65536
  %59 = tail call float @llvm.fabs.f32(float %49)
  %60 = bitcast float %59 to i32
  %61 = icmp ugt i32 %60, 2139095040
  %62 = or i1 %51, %61
  %63 = select i1 %62, i32 2147418112, i32 %58
  %64 = or disjoint i32 %63, %37
  %65 = cmpxchg ptr %0, i32 %11, i32 %64 acq_rel monotonic, align 4
  %66 = extractvalue { i32, i1 } %65, 1
  %67 = extractvalue { i32, i1 } %65, 0
  br i1 %66, label %68, label %10, !llvm.loop !20

68:                                               ; preds = %48
  ret i32 %11
}

; Function Attrs: nounwind
define i64 @ptx_clock64() local_unnamed_addr #5 {
  %1 = alloca %struct.timespec, align 8
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %1) #14
  %2 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %1) #14
  %3 = load i64, ptr %1, align 8
  %4 = mul i64 %3, 1000000000
  %5 = getelementptr inbounds i8, ptr %1, i64 8
  %6 = load i64, ptr %5, align 8
  %7 = add i64 %4, %6
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %1) #14
  ret i64 %7
}

; Function Attrs: nounwind
define i64 @ptx_globaltimer() local_unnamed_addr #5 {
  %1 = alloca %struct.timespec, align 8
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %1) #14
  %2 = call i32 @clock_gettime(i32 noundef 0, ptr noundef nonnull %1) #14
  %3 = load i64, ptr %1, align 8
  %4 = mul i64 %3, 1000000000
  %5 = getelementptr inbounds i8, ptr %1, i64 8
  %6 = load i64, ptr %5, align 8
  %7 = add i64 %4, %6
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %1) #14
  ret i64 %7
}

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: read)
define range(i64 0, 4294967296) i64 @ptx_count(ptr nocapture noundef readonly %0, i64 noundef %1) local_unnamed_addr #6 {
  %3 = icmp eq i64 %1, 0
  br i1 %3, label %6, label %8

4:                                                ; preds = %8
  %5 = zext i32 %14 to i64
  br label %6

6:                                                ; preds = %4, %2
  %7 = phi i64 [ 0, %2 ], [ %5, %4 ]
  ret i64 %7

8:                                                ; preds = %2, %8
  %9 = phi i64 [ %15, %8 ], [ 0, %2 ]
  %10 = phi i32 [ %14, %8 ], [ 0, %2 ]
  %11 = getelementptr i8, ptr %0, i64 %9
  %12 = load i8, ptr %11, align 1
  %13 = zext i8 %12 to i32
  %14 = add i32 %10, %13
  %15 = add nuw i64 %9, 1
  %16 = icmp eq i64 %15, %1
  br i1 %16, label %4, label %8, !llvm.loop !21
}

; Function Attrs: nofree noinline norecurse nosync nounwind memory(argmem: readwrite)
define void @ptx_block_shfl_up(ptr noundef readonly %0, i64 noundef %1, ptr nocapture noundef readonly %2, ptr nocapture noundef readonly %3, i64 noundef %4, ptr nocapture noundef readonly %5, i64 noundef %6, ptr nocapture noundef writeonly %7, ptr noundef writeonly %8) local_unnamed_addr #7 {
  %10 = or i64 %6, %4
  %11 = icmp eq i64 %10, 0
  %12 = icmp eq i64 %1, 0
  br i1 %11, label %13, label %92

13:                                               ; preds = %9
  br i1 %12, label %175, label %14

14:                                               ; preds = %13
  %15 = icmp eq ptr %0, null
  %16 = icmp eq ptr %8, null
  br label %17

17:                                               ; preds = %51, %14
  %18 = phi i64 [ %1, %14 ], [ %54, %51 ]
  %19 = phi i64 [ 0, %14 ], [ %52, %51 ]
  %20 = tail call i64 @llvm.umin.i64(i64 %18, i64 32)
  %21 = trunc nuw nsw i64 %20 to i32
  %22 = tail call i32 @llvm.umax.i32(i32 %21, i32 1)
  %23 = sub i64 %1, %19
  %24 = tail call i64 @llvm.umin.i64(i64 %23, i64 32)
  %25 = trunc nuw nsw i64 %24 to i32
  br i1 %15, label %30, label %26

26:                                               ; preds = %17
  %27 = getelementptr i8, ptr %0, i64 %19
  %28 = tail call i32 @llvm.umax.i32(i32 %25, i32 1)
  %29 = zext nneg i32 %28 to i64
  br label %34

30:                                               ; preds = %17
  %31 = icmp ult i64 %23, 32
  %32 = shl nsw i32 -1, %25
  %33 = xor i32 %32, -1
  br i1 %31, label %45, label %48

34:                                               ; preds = %34, %26
  %35 = phi i64 [ 0, %26 ], [ %43, %34 ]
  %36 = phi i32 [ 0, %26 ], [ %42, %34 ]
  %37 = getelementptr i8, ptr %27, i64 %35
  %38 = load i8, ptr %37, align 1
  %39 = zext i8 %38 to i32
  %40 = trunc nuw nsw i64 %35 to i32
  %41 = shl i32 %39, %40
  %42 = or i32 %41, %36
  %43 = add nuw nsw i64 %35, 1
  %44 = icmp eq i64 %43, %29
  br i1 %44, label %45, label %34, !llvm.loop !22

45:                                               ; preds = %34, %30
  %46 = phi i32 [ %33, %30 ], [ %42, %34 ]
  %47 = icmp eq i32 %46, 0
  br i1 %47, label %51, label %48

48:                                               ; preds = %45, %30
  %49 = phi i32 [ %46, %45 ], [ -1, %30 ]
  %50 = zext nneg i32 %22 to i64
  br label %55

51:                                               ; preds = %89, %45
  %52 = add nuw i64 %19, 32
  %53 = icmp ult i64 %52, %1
  %54 = add i64 %18, -32
  br i1 %53, label %17, label %175, !llvm.loop !23

55:                                               ; preds = %89, %48
  %56 = phi i64 [ 0, %48 ], [ %90, %89 ]
  %57 = add nuw nsw i64 %56, %19
  %58 = load i32, ptr %3, align 4
  %59 = and i32 %58, 31
  %60 = load i32, ptr %5, align 4
  %61 = and i32 %60, 31
  %62 = lshr i32 %60, 8
  %63 = and i32 %62, 31
  %64 = trunc nuw nsw i64 %56 to i32
  %65 = and i32 %63, %64
  %66 = xor i32 %63, -1
  %67 = and i32 %61, %66
  %68 = or i32 %65, %67
  %69 = sub i32 %64, %59
  %70 = icmp sge i32 %69, %68
  %71 = shl nuw i32 1, %64
  %72 = and i32 %71, %49
  %73 = icmp eq i32 %72, 0
  br i1 %73, label %89, label %74

74:                                               ; preds = %55
  %75 = and i32 %69, 31
  %76 = shl nuw i32 1, %75
  %77 = and i32 %76, %49
  %78 = icmp ne i32 %77, 0
  %79 = select i1 %70, i1 %78, i1 false
  %80 = zext i32 %69 to i64
  %81 = add i64 %19, %80
  %82 = select i1 %79, i64 %81, i64 %57
  %83 = getelementptr i32, ptr %2, i64 %82
  %84 = load i32, ptr %83, align 4
  %85 = getelementptr i32, ptr %7, i64 %57
  store i32 %84, ptr %85, align 4
  br i1 %16, label %89, label %86

86:                                               ; preds = %74
  %87 = zext i1 %70 to i8
  %88 = getelementptr i8, ptr %8, i64 %57
  store i8 %87, ptr %88, align 1
  br label %89

89:                                               ; preds = %86, %74, %55
  %90 = add nuw nsw i64 %56, 1
  %91 = icmp eq i64 %90, %50
  br i1 %91, label %51, label %55, !llvm.loop !24

92:                                               ; preds = %9
  br i1 %12, label %175, label %93

93:                                               ; preds = %92
  %94 = icmp eq ptr %0, null
  %95 = icmp eq ptr %8, null
  br label %96

96:                                               ; preds = %130, %93
  %97 = phi i64 [ %1, %93 ], [ %133, %130 ]
  %98 = phi i64 [ 0, %93 ], [ %131, %130 ]
  %99 = tail call i64 @llvm.umin.i64(i64 %97, i64 32)
  %100 = trunc nuw nsw i64 %99 to i32
  %101 = tail call i32 @llvm.umax.i32(i32 %100, i32 1)
  %102 = sub i64 %1, %98
  %103 = tail call i64 @llvm.umin.i64(i64 %102, i64 32)
  %104 = trunc nuw nsw i64 %103 to i32
  br i1 %94, label %109, label %105

105:                                              ; preds = %96
  %106 = getelementptr i8, ptr %0, i64 %98
  %107 = tail call i32 @llvm.umax.i32(i32 %104, i32 1)
  %108 = zext nneg i32 %107 to i64
  br label %113

109:                                              ; preds = %96
  %110 = icmp ult i64 %102, 32
  %111 = shl nsw i32 -1, %104
  %112 = xor i32 %111, -1
  br i1 %110, label %124, label %127

113:                                              ; preds = %113, %105
  %114 = phi i64 [ 0, %105 ], [ %122, %113 ]
  %115 = phi i32 [ 0, %105 ], [ %121, %113 ]
  %116 = getelementptr i8, ptr %106, i64 %114
  %117 = load i8, ptr %116, align 1
  %118 = zext i8 %117 to i32
  %119 = trunc nuw nsw i64 %114 to i32
  %120 = shl i32 %118, %119
  %121 = or i32 %120, %115
  %122 = add nuw nsw i64 %114, 1
  %123 = icmp eq i64 %122, %108
  br i1 %123, label %124, label %113, !llvm.loop !22

124:                                              ; preds = %113, %109
  %125 = phi i32 [ %112, %109 ], [ %121, %113 ]
  %126 = icmp eq i32 %125, 0
  br i1 %126, label %130, label %127

127:                                              ; preds = %124, %109
  %128 = phi i32 [ %125, %124 ], [ -1, %109 ]
  %129 = zext nneg i32 %101 to i64
  br label %134

130:                                              ; preds = %172, %124
  %131 = add nuw i64 %98, 32
  %132 = icmp ult i64 %131, %1
  %133 = add i64 %97, -32
  br i1 %132, label %96, label %175, !llvm.loop !23

134:                                              ; preds = %172, %127
  %135 = phi i64 [ 0, %127 ], [ %173, %172 ]
  %136 = add nuw nsw i64 %135, %98
  %137 = mul i64 %136, %4
  %138 = getelementptr i32, ptr %3, i64 %137
  %139 = load i32, ptr %138, align 4
  %140 = and i32 %139, 31
  %141 = mul i64 %136, %6
  %142 = getelementptr i32, ptr %5, i64 %141
  %143 = load i32, ptr %142, align 4
  %144 = and i32 %143, 31
  %145 = lshr i32 %143, 8
  %146 = and i32 %145, 31
  %147 = trunc nuw nsw i64 %135 to i32
  %148 = and i32 %146, %147
  %149 = xor i32 %146, -1
  %150 = and i32 %144, %149
  %151 = or i32 %148, %150
  %152 = sub i32 %147, %140
  %153 = icmp sge i32 %152, %151
  %154 = shl nuw i32 1, %147
  %155 = and i32 %154, %128
  %156 = icmp eq i32 %155, 0
  br i1 %156, label %172, label %157

157:                                              ; preds = %134
  %158 = and i32 %152, 31
  %159 = shl nuw i32 1, %158
  %160 = and i32 %159, %128
  %161 = icmp ne i32 %160, 0
  %162 = select i1 %153, i1 %161, i1 false
  %163 = zext i32 %152 to i64
  %164 = add i64 %98, %163
  %165 = select i1 %162, i64 %164, i64 %136
  %166 = getelementptr i32, ptr %2, i64 %165
  %167 = load i32, ptr %166, align 4
  %168 = getelementptr i32, ptr %7, i64 %136
  store i32 %167, ptr %168, align 4
  br i1 %95, label %172, label %169

169:                                              ; preds = %157
  %170 = zext i1 %153 to i8
  %171 = getelementptr i8, ptr %8, i64 %136
  store i8 %170, ptr %171, align 1
  br label %172

172:                                              ; preds = %169, %157, %134
  %173 = add nuw nsw i64 %135, 1
  %174 = icmp eq i64 %173, %129
  br i1 %174, label %130, label %134, !llvm.loop !24

175:                                              ; preds = %130, %51, %92, %13
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind memory(argmem: readwrite)
define void @ptx_block_shfl_down(ptr noundef readonly %0, i64 noundef %1, ptr nocapture noundef readonly %2, ptr nocapture noundef readonly %3, i64 noundef %4, ptr nocapture noundef readonly %5, i64 noundef %6, ptr nocapture noundef writeonly %7, ptr noundef writeonly %8) local_unnamed_addr #7 {
  %10 = or i64 %6, %4
  %11 = icmp eq i64 %10, 0
  %12 = icmp eq i64 %1, 0
  br i1 %11, label %13, label %92

13:                                               ; preds = %9
  br i1 %12, label %175, label %14

14:                                               ; preds = %13
  %15 = icmp eq ptr %0, null
  %16 = icmp eq ptr %8, null
  br label %17

17:                                               ; preds = %51, %14
  %18 = phi i64 [ %1, %14 ], [ %54, %51 ]
  %19 = phi i64 [ 0, %14 ], [ %52, %51 ]
  %20 = tail call i64 @llvm.umin.i64(i64 %18, i64 32)
  %21 = trunc nuw nsw i64 %20 to i32
  %22 = tail call i32 @llvm.umax.i32(i32 %21, i32 1)
  %23 = sub i64 %1, %19
  %24 = tail call i64 @llvm.umin.i64(i64 %23, i64 32)
  %25 = trunc nuw nsw i64 %24 to i32
  br i1 %15, label %30, label %26

26:                                               ; preds = %17
  %27 = getelementptr i8, ptr %0, i64 %19
  %28 = tail call i32 @llvm.umax.i32(i32 %25, i32 1)
  %29 = zext nneg i32 %28 to i64
  br label %34

30:                                               ; preds = %17
  %31 = icmp ult i64 %23, 32
  %32 = shl nsw i32 -1, %25
  %33 = xor i32 %32, -1
  br i1 %31, label %45, label %48

34:                                               ; preds = %34, %26
  %35 = phi i64 [ 0, %26 ], [ %43, %34 ]
  %36 = phi i32 [ 0, %26 ], [ %42, %34 ]
  %37 = getelementptr i8, ptr %27, i64 %35
  %38 = load i8, ptr %37, align 1
  %39 = zext i8 %38 to i32
  %40 = trunc nuw nsw i64 %35 to i32
  %41 = shl i32 %39, %40
  %42 = or i32 %41, %36
  %43 = add nuw nsw i64 %35, 1
  %44 = icmp eq i64 %43, %29
  br i1 %44, label %45, label %34, !llvm.loop !22

45:                                               ; preds = %34, %30
  %46 = phi i32 [ %33, %30 ], [ %42, %34 ]
  %47 = icmp eq i32 %46, 0
  br i1 %47, label %51, label %48

48:                                               ; preds = %45, %30
  %49 = phi i32 [ %46, %45 ], [ -1, %30 ]
  %50 = zext nneg i32 %22 to i64
  br label %55

51:                                               ; preds = %89, %45
  %52 = add nuw i64 %19, 32
  %53 = icmp ult i64 %52, %1
  %54 = add i64 %18, -32
  br i1 %53, label %17, label %175, !llvm.loop !23

55:                                               ; preds = %89, %48
  %56 = phi i64 [ 0, %48 ], [ %90, %89 ]
  %57 = add nuw nsw i64 %56, %19
  %58 = load i32, ptr %3, align 4
  %59 = and i32 %58, 31
  %60 = load i32, ptr %5, align 4
  %61 = and i32 %60, 31
  %62 = lshr i32 %60, 8
  %63 = and i32 %62, 31
  %64 = trunc nuw nsw i64 %56 to i32
  %65 = and i32 %63, %64
  %66 = xor i32 %63, -1
  %67 = and i32 %61, %66
  %68 = or i32 %65, %67
  %69 = add i32 %59, %64
  %70 = icmp sle i32 %69, %68
  %71 = shl nuw i32 1, %64
  %72 = and i32 %71, %49
  %73 = icmp eq i32 %72, 0
  br i1 %73, label %89, label %74

74:                                               ; preds = %55
  %75 = and i32 %69, 31
  %76 = shl nuw i32 1, %75
  %77 = and i32 %76, %49
  %78 = icmp ne i32 %77, 0
  %79 = select i1 %70, i1 %78, i1 false
  %80 = zext i32 %69 to i64
  %81 = add i64 %19, %80
  %82 = select i1 %79, i64 %81, i64 %57
  %83 = getelementptr i32, ptr %2, i64 %82
  %84 = load i32, ptr %83, align 4
  %85 = getelementptr i32, ptr %7, i64 %57
  store i32 %84, ptr %85, align 4
  br i1 %16, label %89, label %86

86:                                               ; preds = %74
  %87 = zext i1 %70 to i8
  %88 = getelementptr i8, ptr %8, i64 %57
  store i8 %87, ptr %88, align 1
  br label %89

89:                                               ; preds = %86, %74, %55
  %90 = add nuw nsw i64 %56, 1
  %91 = icmp eq i64 %90, %50
  br i1 %91, label %51, label %55, !llvm.loop !24

92:                                               ; preds = %9
  br i1 %12, label %175, label %93

93:                                               ; preds = %92
  %94 = icmp eq ptr %0, null
  %95 = icmp eq ptr %8, null
  br label %96

96:                                               ; preds = %130, %93
  %97 = phi i64 [ %1, %93 ], [ %133, %130 ]
  %98 = phi i64 [ 0, %93 ], [ %131, %130 ]
  %99 = tail call i64 @llvm.umin.i64(i64 %97, i64 32)
  %100 = trunc nuw nsw i64 %99 to i32
  %101 = tail call i32 @llvm.umax.i32(i32 %100, i32 1)
  %102 = sub i64 %1, %98
  %103 = tail call i64 @llvm.umin.i64(i64 %102, i64 32)
  %104 = trunc nuw nsw i64 %103 to i32
  br i1 %94, label %109, label %105

105:                                              ; preds = %96
  %106 = getelementptr i8, ptr %0, i64 %98
  %107 = tail call i32 @llvm.umax.i32(i32 %104, i32 1)
  %108 = zext nneg i32 %107 to i64
  br label %113

109:                                              ; preds = %96
  %110 = icmp ult i64 %102, 32
  %111 = shl nsw i32 -1, %104
  %112 = xor i32 %111, -1
  br i1 %110, label %124, label %127

113:                                              ; preds = %113, %105
  %114 = phi i64 [ 0, %105 ], [ %122, %113 ]
  %115 = phi i32 [ 0, %105 ], [ %121, %113 ]
  %116 = getelementptr i8, ptr %106, i64 %114
  %117 = load i8, ptr %116, align 1
  %118 = zext i8 %117 to i32
  %119 = trunc nuw nsw i64 %114 to i32
  %120 = shl i32 %118, %119
  %121 = or i32 %120, %115
  %122 = add nuw nsw i64 %114, 1
  %123 = icmp eq i64 %122, %108
  br i1 %123, label %124, label %113, !llvm.loop !22

124:                                              ; preds = %113, %109
  %125 = phi i32 [ %112, %109 ], [ %121, %113 ]
  %126 = icmp eq i32 %125, 0
  br i1 %126, label %130, label %127

127:                                              ; preds = %124, %109
  %128 = phi i32 [ %125, %124 ], [ -1, %109 ]
  %129 = zext nneg i32 %101 to i64
  br label %134

130:                                              ; preds = %172, %124
  %131 = add nuw i64 %98, 32
  %132 = icmp ult i64 %131, %1
  %133 = add i64 %97, -32
  br i1 %132, label %96, label %175, !llvm.loop !23

134:                                              ; preds = %172, %127
  %135 = phi i64 [ 0, %127 ], [ %173, %172 ]
  %136 = add nuw nsw i64 %135, %98
  %137 = mul i64 %136, %4
  %138 = getelementptr i32, ptr %3, i64 %137
  %139 = load i32, ptr %138, align 4
  %140 = and i32 %139, 31
  %141 = mul i64 %136, %6
  %142 = getelementptr i32, ptr %5, i64 %141
  %143 = load i32, ptr %142, align 4
  %144 = and i32 %143, 31
  %145 = lshr i32 %143, 8
  %146 = and i32 %145, 31
  %147 = trunc nuw nsw i64 %135 to i32
  %148 = and i32 %146, %147
  %149 = xor i32 %146, -1
  %150 = and i32 %144, %149
  %151 = or i32 %148, %150
  %152 = add i32 %140, %147
  %153 = icmp sle i32 %152, %151
  %154 = shl nuw i32 1, %147
  %155 = and i32 %154, %128
  %156 = icmp eq i32 %155, 0
  br i1 %156, label %172, label %157

157:                                              ; preds = %134
  %158 = and i32 %152, 31
  %159 = shl nuw i32 1, %158
  %160 = and i32 %159, %128
  %161 = icmp ne i32 %160, 0
  %162 = select i1 %153, i1 %161, i1 false
  %163 = zext i32 %152 to i64
  %164 = add i64 %98, %163
  %165 = select i1 %162, i64 %164, i64 %136
  %166 = getelementptr i32, ptr %2, i64 %165
  %167 = load i32, ptr %166, align 4
  %168 = getelementptr i32, ptr %7, i64 %136
  store i32 %167, ptr %168, align 4
  br i1 %95, label %172, label %169

169:                                              ; preds = %157
  %170 = zext i1 %153 to i8
  %171 = getelementptr i8, ptr %8, i64 %136
  store i8 %170, ptr %171, align 1
  br label %172

172:                                              ; preds = %169, %157, %134
  %173 = add nuw nsw i64 %135, 1
  %174 = icmp eq i64 %173, %129
  br i1 %174, label %130, label %134, !llvm.loop !24

175:                                              ; preds = %130, %51, %92, %13
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind memory(argmem: readwrite)
define void @ptx_block_shfl_bfly(ptr noundef readonly %0, i64 noundef %1, ptr nocapture noundef readonly %2, ptr nocapture noundef readonly %3, i64 noundef %4, ptr nocapture noundef readonly %5, i64 noundef %6, ptr nocapture noundef writeonly %7, ptr noundef writeonly %8) local_unnamed_addr #7 {
  %10 = or i64 %6, %4
  %11 = icmp eq i64 %10, 0
  %12 = icmp eq i64 %1, 0
  br i1 %11, label %13, label %92

13:                                               ; preds = %9
  br i1 %12, label %175, label %14

14:                                               ; preds = %13
  %15 = icmp eq ptr %0, null
  %16 = icmp eq ptr %8, null
  br label %17

17:                                               ; preds = %51, %14
  %18 = phi i64 [ %1, %14 ], [ %54, %51 ]
  %19 = phi i64 [ 0, %14 ], [ %52, %51 ]
  %20 = tail call i64 @llvm.umin.i64(i64 %18, i64 32)
  %21 = trunc nuw nsw i64 %20 to i32
  %22 = tail call i32 @llvm.umax.i32(i32 %21, i32 1)
  %23 = sub i64 %1, %19
  %24 = tail call i64 @llvm.umin.i64(i64 %23, i64 32)
  %25 = trunc nuw nsw i64 %24 to i32
  br i1 %15, label %30, label %26

26:                                               ; preds = %17
  %27 = getelementptr i8, ptr %0, i64 %19
  %28 = tail call i32 @llvm.umax.i32(i32 %25, i32 1)
  %29 = zext nneg i32 %28 to i64
  br label %34

30:                                               ; preds = %17
  %31 = icmp ult i64 %23, 32
  %32 = shl nsw i32 -1, %25
  %33 = xor i32 %32, -1
  br i1 %31, label %45, label %48

34:                                               ; preds = %34, %26
  %35 = phi i64 [ 0, %26 ], [ %43, %34 ]
  %36 = phi i32 [ 0, %26 ], [ %42, %34 ]
  %37 = getelementptr i8, ptr %27, i64 %35
  %38 = load i8, ptr %37, align 1
  %39 = zext i8 %38 to i32
  %40 = trunc nuw nsw i64 %35 to i32
  %41 = shl i32 %39, %40
  %42 = or i32 %41, %36
  %43 = add nuw nsw i64 %35, 1
  %44 = icmp eq i64 %43, %29
  br i1 %44, label %45, label %34, !llvm.loop !22

45:                                               ; preds = %34, %30
  %46 = phi i32 [ %33, %30 ], [ %42, %34 ]
  %47 = icmp eq i32 %46, 0
  br i1 %47, label %51, label %48

48:                                               ; preds = %45, %30
  %49 = phi i32 [ %46, %45 ], [ -1, %30 ]
  %50 = zext nneg i32 %22 to i64
  br label %55

51:                                               ; preds = %89, %45
  %52 = add nuw i64 %19, 32
  %53 = icmp ult i64 %52, %1
  %54 = add i64 %18, -32
  br i1 %53, label %17, label %175, !llvm.loop !23

55:                                               ; preds = %89, %48
  %56 = phi i64 [ 0, %48 ], [ %90, %89 ]
  %57 = add nuw nsw i64 %56, %19
  %58 = load i32, ptr %3, align 4
  %59 = and i32 %58, 31
  %60 = load i32, ptr %5, align 4
  %61 = and i32 %60, 31
  %62 = lshr i32 %60, 8
  %63 = and i32 %62, 31
  %64 = trunc nuw nsw i64 %56 to i32
  %65 = and i32 %63, %64
  %66 = xor i32 %63, -1
  %67 = and i32 %61, %66
  %68 = or i32 %65, %67
  %69 = xor i32 %59, %64
  %70 = icmp sle i32 %69, %68
  %71 = shl nuw i32 1, %64
  %72 = and i32 %71, %49
  %73 = icmp eq i32 %72, 0
  br i1 %73, label %89, label %74

74:                                               ; preds = %55
  %75 = and i32 %69, 31
  %76 = shl nuw i32 1, %75
  %77 = and i32 %76, %49
  %78 = icmp ne i32 %77, 0
  %79 = select i1 %70, i1 %78, i1 false
  %80 = zext i32 %69 to i64
  %81 = add i64 %19, %80
  %82 = select i1 %79, i64 %81, i64 %57
  %83 = getelementptr i32, ptr %2, i64 %82
  %84 = load i32, ptr %83, align 4
  %85 = getelementptr i32, ptr %7, i64 %57
  store i32 %84, ptr %85, align 4
  br i1 %16, label %89, label %86

86:                                               ; preds = %74
  %87 = zext i1 %70 to i8
  %88 = getelementptr i8, ptr %8, i64 %57
  store i8 %87, ptr %88, align 1
  br label %89

89:                                               ; preds = %86, %74, %55
  %90 = add nuw nsw i64 %56, 1
  %91 = icmp eq i64 %90, %50
  br i1 %91, label %51, label %55, !llvm.loop !24

92:                                               ; preds = %9
  br i1 %12, label %175, label %93

93:                                               ; preds = %92
  %94 = icmp eq ptr %0, null
  %95 = icmp eq ptr %8, null
  br label %96

96:                                               ; preds = %130, %93
  %97 = phi i64 [ %1, %93 ], [ %133, %130 ]
  %98 = phi i64 [ 0, %93 ], [ %131, %130 ]
  %99 = tail call i64 @llvm.umin.i64(i64 %97, i64 32)
  %100 = trunc nuw nsw i64 %99 to i32
  %101 = tail call i32 @llvm.umax.i32(i32 %100, i32 1)
  %102 = sub i64 %1, %98
  %103 = tail call i64 @llvm.umin.i64(i64 %102, i64 32)
  %104 = trunc nuw nsw i64 %103 to i32
  br i1 %94, label %109, label %105

105:                                              ; preds = %96
  %106 = getelementptr i8, ptr %0, i64 %98
  %107 = tail call i32 @llvm.umax.i32(i32 %104, i32 1)
  %108 = zext nneg i32 %107 to i64
  br label %113

109:                                              ; preds = %96
  %110 = icmp ult i64 %102, 32
  %111 = shl nsw i32 -1, %104
  %112 = xor i32 %111, -1
  br i1 %110, label %124, label %127

113:                                              ; preds = %113, %105
  %114 = phi i64 [ 0, %105 ], [ %122, %113 ]
  %115 = phi i32 [ 0, %105 ], [ %121, %113 ]
  %116 = getelementptr i8, ptr %106, i64 %114
  %117 = load i8, ptr %116, align 1
  %118 = zext i8 %117 to i32
  %119 = trunc nuw nsw i64 %114 to i32
  %120 = shl i32 %118, %119
  %121 = or i32 %120, %115
  %122 = add nuw nsw i64 %114, 1
  %123 = icmp eq i64 %122, %108
  br i1 %123, label %124, label %113, !llvm.loop !22

124:                                              ; preds = %113, %109
  %125 = phi i32 [ %112, %109 ], [ %121, %113 ]
  %126 = icmp eq i32 %125, 0
  br i1 %126, label %130, label %127

127:                                              ; preds = %124, %109
  %128 = phi i32 [ %125, %124 ], [ -1, %109 ]
  %129 = zext nneg i32 %101 to i64
  br label %134

130:                                              ; preds = %172, %124
  %131 = add nuw i64 %98, 32
  %132 = icmp ult i64 %131, %1
  %133 = add i64 %97, -32
  br i1 %132, label %96, label %175, !llvm.loop !23

134:                                              ; preds = %172, %127
  %135 = phi i64 [ 0, %127 ], [ %173, %172 ]
  %136 = add nuw nsw i64 %135, %98
  %137 = mul i64 %136, %4
  %138 = getelementptr i32, ptr %3, i64 %137
  %139 = load i32, ptr %138, align 4
  %140 = and i32 %139, 31
  %141 = mul i64 %136, %6
  %142 = getelementptr i32, ptr %5, i64 %141
  %143 = load i32, ptr %142, align 4
  %144 = and i32 %143, 31
  %145 = lshr i32 %143, 8
  %146 = and i32 %145, 31
  %147 = trunc nuw nsw i64 %135 to i32
  %148 = and i32 %146, %147
  %149 = xor i32 %146, -1
  %150 = and i32 %144, %149
  %151 = or i32 %148, %150
  %152 = xor i32 %140, %147
  %153 = icmp sle i32 %152, %151
  %154 = shl nuw i32 1, %147
  %155 = and i32 %154, %128
  %156 = icmp eq i32 %155, 0
  br i1 %156, label %172, label %157

157:                                              ; preds = %134
  %158 = and i32 %152, 31
  %159 = shl nuw i32 1, %158
  %160 = and i32 %159, %128
  %161 = icmp ne i32 %160, 0
  %162 = select i1 %153, i1 %161, i1 false
  %163 = zext i32 %152 to i64
  %164 = add i64 %98, %163
  %165 = select i1 %162, i64 %164, i64 %136
  %166 = getelementptr i32, ptr %2, i64 %165
  %167 = load i32, ptr %166, align 4
  %168 = getelementptr i32, ptr %7, i64 %136
  store i32 %167, ptr %168, align 4
  br i1 %95, label %172, label %169

169:                                              ; preds = %157
  %170 = zext i1 %153 to i8
  %171 = getelementptr i8, ptr %8, i64 %136
  store i8 %170, ptr %171, align 1
  br label %172

172:                                              ; preds = %169, %157, %134
  %173 = add nuw nsw i64 %135, 1
  %174 = icmp eq i64 %173, %129
  br i1 %174, label %130, label %134, !llvm.loop !24

175:                                              ; preds = %130, %51, %92, %13
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind memory(argmem: readwrite)
define void @ptx_block_shfl_idx(ptr noundef readonly %0, i64 noundef %1, ptr nocapture noundef readonly %2, ptr nocapture noundef readonly %3, i64 noundef %4, ptr nocapture noundef readonly %5, i64 noundef %6, ptr nocapture noundef writeonly %7, ptr noundef writeonly %8) local_unnamed_addr #7 {
  %10 = or i64 %6, %4
  %11 = icmp eq i64 %10, 0
  %12 = icmp eq i64 %1, 0
  br i1 %11, label %13, label %90

13:                                               ; preds = %9
  br i1 %12, label %171, label %14

14:                                               ; preds = %13
  %15 = icmp eq ptr %0, null
  %16 = icmp eq ptr %8, null
  br label %17

17:                                               ; preds = %51, %14
  %18 = phi i64 [ %1, %14 ], [ %54, %51 ]
  %19 = phi i64 [ 0, %14 ], [ %52, %51 ]
  %20 = tail call i64 @llvm.umin.i64(i64 %18, i64 32)
  %21 = trunc nuw nsw i64 %20 to i32
  %22 = tail call i32 @llvm.umax.i32(i32 %21, i32 1)
  %23 = sub i64 %1, %19
  %24 = tail call i64 @llvm.umin.i64(i64 %23, i64 32)
  %25 = trunc nuw nsw i64 %24 to i32
  br i1 %15, label %30, label %26

26:                                               ; preds = %17
  %27 = getelementptr i8, ptr %0, i64 %19
  %28 = tail call i32 @llvm.umax.i32(i32 %25, i32 1)
  %29 = zext nneg i32 %28 to i64
  br label %34

30:                                               ; preds = %17
  %31 = icmp ult i64 %23, 32
  %32 = shl nsw i32 -1, %25
  %33 = xor i32 %32, -1
  br i1 %31, label %45, label %48

34:                                               ; preds = %34, %26
  %35 = phi i64 [ 0, %26 ], [ %43, %34 ]
  %36 = phi i32 [ 0, %26 ], [ %42, %34 ]
  %37 = getelementptr i8, ptr %27, i64 %35
  %38 = load i8, ptr %37, align 1
  %39 = zext i8 %38 to i32
  %40 = trunc nuw nsw i64 %35 to i32
  %41 = shl i32 %39, %40
  %42 = or i32 %41, %36
  %43 = add nuw nsw i64 %35, 1
  %44 = icmp eq i64 %43, %29
  br i1 %44, label %45, label %34, !llvm.loop !22

45:                                               ; preds = %34, %30
  %46 = phi i32 [ %33, %30 ], [ %42, %34 ]
  %47 = icmp eq i32 %46, 0
  br i1 %47, label %51, label %48

48:                                               ; preds = %45, %30
  %49 = phi i32 [ %46, %45 ], [ -1, %30 ]
  %50 = zext nneg i32 %22 to i64
  br label %55

51:                                               ; preds = %87, %45
  %52 = add nuw i64 %19, 32
  %53 = icmp ult i64 %52, %1
  %54 = add i64 %18, -32
  br i1 %53, label %17, label %171, !llvm.loop !23

55:                                               ; preds = %87, %48
  %56 = phi i64 [ 0, %48 ], [ %88, %87 ]
  %57 = add nuw nsw i64 %56, %19
  %58 = load i32, ptr %3, align 4
  %59 = load i32, ptr %5, align 4
  %60 = lshr i32 %59, 8
  %61 = and i32 %60, 31
  %62 = trunc nuw nsw i64 %56 to i32
  %63 = and i32 %61, %62
  %64 = xor i32 %61, 31
  %65 = and i32 %64, %59
  %66 = or i32 %63, %65
  %67 = and i32 %64, %58
  %68 = or i32 %63, %67
  %69 = icmp ule i32 %68, %66
  %70 = shl nuw i32 1, %62
  %71 = and i32 %70, %49
  %72 = icmp eq i32 %71, 0
  br i1 %72, label %87, label %73

73:                                               ; preds = %55
  %74 = shl nuw i32 1, %68
  %75 = and i32 %74, %49
  %76 = icmp ne i32 %75, 0
  %77 = select i1 %69, i1 %76, i1 false
  %78 = zext nneg i32 %68 to i64
  %79 = or disjoint i64 %19, %78
  %80 = select i1 %77, i64 %79, i64 %57
  %81 = getelementptr i32, ptr %2, i64 %80
  %82 = load i32, ptr %81, align 4
  %83 = getelementptr i32, ptr %7, i64 %57
  store i32 %82, ptr %83, align 4
  br i1 %16, label %87, label %84

84:                                               ; preds = %73
  %85 = zext i1 %69 to i8
  %86 = getelementptr i8, ptr %8, i64 %57
  store i8 %85, ptr %86, align 1
  br label %87

87:                                               ; preds = %84, %73, %55
  %88 = add nuw nsw i64 %56, 1
  %89 = icmp eq i64 %88, %50
  br i1 %89, label %51, label %55, !llvm.loop !24

90:                                               ; preds = %9
  br i1 %12, label %171, label %91

91:                                               ; preds = %90
  %92 = icmp eq ptr %0, null
  %93 = icmp eq ptr %8, null
  br label %94

94:                                               ; preds = %128, %91
  %95 = phi i64 [ %1, %91 ], [ %131, %128 ]
  %96 = phi i64 [ 0, %91 ], [ %129, %128 ]
  %97 = tail call i64 @llvm.umin.i64(i64 %95, i64 32)
  %98 = trunc nuw nsw i64 %97 to i32
  %99 = tail call i32 @llvm.umax.i32(i32 %98, i32 1)
  %100 = sub i64 %1, %96
  %101 = tail call i64 @llvm.umin.i64(i64 %100, i64 32)
  %102 = trunc nuw nsw i64 %101 to i32
  br i1 %92, label %107, label %103

103:                                              ; preds = %94
  %104 = getelementptr i8, ptr %0, i64 %96
  %105 = tail call i32 @llvm.umax.i32(i32 %102, i32 1)
  %106 = zext nneg i32 %105 to i64
  br label %111

107:                                              ; preds = %94
  %108 = icmp ult i64 %100, 32
  %109 = shl nsw i32 -1, %102
  %110 = xor i32 %109, -1
  br i1 %108, label %122, label %125

111:                                              ; preds = %111, %103
  %112 = phi i64 [ 0, %103 ], [ %120, %111 ]
  %113 = phi i32 [ 0, %103 ], [ %119, %111 ]
  %114 = getelementptr i8, ptr %104, i64 %112
  %115 = load i8, ptr %114, align 1
  %116 = zext i8 %115 to i32
  %117 = trunc nuw nsw i64 %112 to i32
  %118 = shl i32 %116, %117
  %119 = or i32 %118, %113
  %120 = add nuw nsw i64 %112, 1
  %121 = icmp eq i64 %120, %106
  br i1 %121, label %122, label %111, !llvm.loop !22

122:                                              ; preds = %111, %107
  %123 = phi i32 [ %110, %107 ], [ %119, %111 ]
  %124 = icmp eq i32 %123, 0
  br i1 %124, label %128, label %125

125:                                              ; preds = %122, %107
  %126 = phi i32 [ %123, %122 ], [ -1, %107 ]
  %127 = zext nneg i32 %99 to i64
  br label %132

128:                                              ; preds = %168, %122
  %129 = add nuw i64 %96, 32
  %130 = icmp ult i64 %129, %1
  %131 = add i64 %95, -32
  br i1 %130, label %94, label %171, !llvm.loop !23

132:                                              ; preds = %168, %125
  %133 = phi i64 [ 0, %125 ], [ %169, %168 ]
  %134 = add nuw nsw i64 %133, %96
  %135 = mul i64 %134, %4
  %136 = getelementptr i32, ptr %3, i64 %135
  %137 = load i32, ptr %136, align 4
  %138 = mul i64 %134, %6
  %139 = getelementptr i32, ptr %5, i64 %138
  %140 = load i32, ptr %139, align 4
  %141 = lshr i32 %140, 8
  %142 = and i32 %141, 31
  %143 = trunc nuw nsw i64 %133 to i32
  %144 = and i32 %142, %143
  %145 = xor i32 %142, 31
  %146 = and i32 %145, %140
  %147 = or i32 %144, %146
  %148 = and i32 %145, %137
  %149 = or i32 %144, %148
  %150 = icmp ule i32 %149, %147
  %151 = shl nuw i32 1, %143
  %152 = and i32 %151, %126
  %153 = icmp eq i32 %152, 0
  br i1 %153, label %168, label %154

154:                                              ; preds = %132
  %155 = shl nuw i32 1, %149
  %156 = and i32 %155, %126
  %157 = icmp ne i32 %156, 0
  %158 = select i1 %150, i1 %157, i1 false
  %159 = zext nneg i32 %149 to i64
  %160 = or disjoint i64 %96, %159
  %161 = select i1 %158, i64 %160, i64 %134
  %162 = getelementptr i32, ptr %2, i64 %161
  %163 = load i32, ptr %162, align 4
  %164 = getelementptr i32, ptr %7, i64 %134
  store i32 %163, ptr %164, align 4
  br i1 %93, label %168, label %165

165:                                              ; preds = %154
  %166 = zext i1 %150 to i8
  %167 = getelementptr i8, ptr %8, i64 %134
  store i8 %166, ptr %167, align 1
  br label %168

168:                                              ; preds = %165, %154, %132
  %169 = add nuw nsw i64 %133, 1
  %170 = icmp eq i64 %169, %127
  br i1 %170, label %128, label %132, !llvm.loop !24

171:                                              ; preds = %128, %51, %90, %13
  ret void
}

; Function Attrs: noinline nounwind
define noundef i32 @ptx_block_warp(ptr noundef %0, ptr noundef %1, ptr noundef readonly %2, ptr noundef readonly %3, i64 noundef %4, i32 noundef %5, i32 noundef %6, i32 noundef %7, ptr noundef readonly %8, ptr noundef writeonly %9, ptr noundef writeonly %10) local_unnamed_addr #8 {
  %12 = icmp eq i64 %4, 0
  br i1 %12, label %248, label %13

13:                                               ; preds = %11
  %14 = icmp eq ptr %2, null
  %15 = icmp eq i32 %5, 0
  %16 = icmp eq ptr %8, null
  %17 = add i32 %5, -5
  %18 = icmp ult i32 %17, 4
  %19 = icmp eq i32 %5, 9
  %20 = icmp eq i32 %5, 20
  %21 = icmp eq ptr %9, null
  %22 = icmp eq ptr %10, null
  %23 = icmp eq ptr %3, null
  br label %24

24:                                               ; preds = %13, %245
  %25 = phi i64 [ 0, %13 ], [ %246, %245 ]
  %26 = sub i64 %4, %25
  %27 = tail call i64 @llvm.umin.i64(i64 %26, i64 32)
  %28 = trunc nuw nsw i64 %27 to i32
  br i1 %14, label %33, label %29

29:                                               ; preds = %24
  %30 = getelementptr i8, ptr %2, i64 %25
  %31 = tail call i32 @llvm.umax.i32(i32 %28, i32 1)
  %32 = zext nneg i32 %31 to i64
  br label %37

33:                                               ; preds = %24
  %34 = icmp ult i64 %26, 32
  %35 = shl nsw i32 -1, %28
  %36 = xor i32 %35, -1
  br i1 %34, label %48, label %51

37:                                               ; preds = %37, %29
  %38 = phi i64 [ 0, %29 ], [ %46, %37 ]
  %39 = phi i32 [ 0, %29 ], [ %45, %37 ]
  %40 = getelementptr i8, ptr %30, i64 %38
  %41 = load i8, ptr %40, align 1
  %42 = zext i8 %41 to i32
  %43 = trunc nuw nsw i64 %38 to i32
  %44 = shl i32 %42, %43
  %45 = or i32 %44, %39
  %46 = add nuw nsw i64 %38, 1
  %47 = icmp eq i64 %46, %32
  br i1 %47, label %48, label %37, !llvm.loop !22

48:                                               ; preds = %37, %33
  %49 = phi i32 [ %36, %33 ], [ %45, %37 ]
  %50 = icmp eq i32 %49, 0
  br i1 %50, label %245, label %51

51:                                               ; preds = %33, %48
  %52 = phi i32 [ %49, %48 ], [ -1, %33 ]
  %53 = and i32 %52, %6
  %54 = icmp eq i32 %53, 0
  %55 = select i1 %54, i32 %52, i32 %53
  %56 = tail call range(i32 0, 33) i32 @llvm.cttz.i32(i32 %55, i1 true)
  %57 = zext nneg i32 %56 to i64
  %58 = or disjoint i64 %25, %57
  %59 = getelementptr i64, ptr %8, i64 %58
  %60 = icmp eq i32 %56, 31
  %61 = getelementptr i64, ptr %8, i64 %25
  %62 = getelementptr i8, ptr %3, i64 %25
  %63 = tail call i32 @llvm.umax.i32(i32 %28, i32 1)
  %64 = zext nneg i32 %63 to i64
  %65 = xor i32 %52, -1
  %66 = and i32 %65, %6
  br i1 %15, label %67, label %87

67:                                               ; preds = %51
  %68 = icmp ult i64 %26, 32
  %69 = shl nsw i32 -1, %28
  %70 = xor i32 %69, -1
  %71 = select i1 %68, i32 %70, i32 -1
  br i1 %23, label %83, label %72

72:                                               ; preds = %67, %72
  %73 = phi i64 [ %81, %72 ], [ 0, %67 ]
  %74 = phi i32 [ %80, %72 ], [ 0, %67 ]
  %75 = getelementptr i8, ptr %62, i64 %73
  %76 = load i8, ptr %75, align 1
  %77 = zext i8 %76 to i32
  %78 = trunc nuw nsw i64 %73 to i32
  %79 = shl i32 %77, %78
  %80 = or i32 %79, %74
  %81 = add nuw nsw i64 %73, 1
  %82 = icmp eq i64 %81, %64
  br i1 %82, label %83, label %72, !llvm.loop !22

83:                                               ; preds = %72, %67
  %84 = phi i32 [ %71, %67 ], [ %80, %72 ]
  %85 = and i32 %66, %84
  %86 = icmp eq i32 %85, 0
  br i1 %86, label %245, label %244

87:                                               ; preds = %51
  br i1 %16, label %90, label %88

88:                                               ; preds = %87
  %89 = load i64, ptr %59, align 8
  br label %90

90:                                               ; preds = %87, %88
  %91 = phi i64 [ %89, %88 ], [ 0, %87 ]
  br i1 %18, label %92, label %111

92:                                               ; preds = %90, %107
  %93 = phi i64 [ %109, %107 ], [ 0, %90 ]
  %94 = phi i32 [ %108, %107 ], [ 0, %90 ]
  %95 = trunc nuw nsw i64 %93 to i32
  %96 = shl nuw i32 1, %95
  %97 = and i32 %96, %55
  %98 = icmp eq i32 %97, 0
  br i1 %98, label %107, label %99

99:                                               ; preds = %92
  %100 = or disjoint i64 %25, %93
  %101 = getelementptr i64, ptr %8, i64 %100
  %102 = load i64, ptr %101, align 8
  %103 = icmp ne i64 %102, 0
  %104 = zext i1 %103 to i32
  %105 = shl nuw i32 %104, %95
  %106 = or i32 %105, %94
  br label %107

107:                                              ; preds = %92, %99
  %108 = phi i32 [ %106, %99 ], [ %94, %92 ]
  %109 = add nuw nsw i64 %93, 1
  %110 = icmp eq i64 %109, 32
  br i1 %110, label %111, label %92, !llvm.loop !25

111:                                              ; preds = %107, %90
  %112 = phi i32 [ 0, %90 ], [ %108, %107 ]
  switch i32 %5, label %150 [
    i32 5, label %113
    i32 6, label %116
    i32 7, label %119
    i32 8, label %124
    i32 19, label %125
    i32 20, label %126
    i32 10, label %131
    i32 9, label %187
  ]

113:                                              ; preds = %111
  %114 = icmp eq i32 %112, %55
  %115 = zext i1 %114 to i32
  br label %187

116:                                              ; preds = %111
  %117 = icmp ne i32 %112, 0
  %118 = zext i1 %117 to i32
  br label %187

119:                                              ; preds = %111
  %120 = icmp eq i32 %112, 0
  %121 = icmp eq i32 %112, %55
  %122 = or i1 %120, %121
  %123 = zext i1 %122 to i32
  br label %187

124:                                              ; preds = %111
  br label %187

125:                                              ; preds = %111
  br label %187

126:                                              ; preds = %111
  br label %187

127:                                              ; preds = %146
  %128 = icmp eq i32 %147, %55
  %129 = zext i1 %128 to i32
  %130 = select i1 %128, i32 %55, i32 0
  br label %187

131:                                              ; preds = %111, %146
  %132 = phi i64 [ %148, %146 ], [ 0, %111 ]
  %133 = phi i32 [ %147, %146 ], [ %112, %111 ]
  %134 = trunc nuw nsw i64 %132 to i32
  %135 = shl nuw i32 1, %134
  %136 = and i32 %135, %55
  %137 = icmp eq i32 %136, 0
  br i1 %137, label %146, label %138

138:                                              ; preds = %131
  %139 = or disjoint i64 %25, %132
  %140 = getelementptr i64, ptr %8, i64 %139
  %141 = load i64, ptr %140, align 8
  %142 = icmp eq i64 %141, %91
  %143 = zext i1 %142 to i32
  %144 = shl nuw i32 %143, %134
  %145 = or i32 %144, %133
  br label %146

146:                                              ; preds = %131, %138
  %147 = phi i32 [ %145, %138 ], [ %133, %131 ]
  %148 = add nuw nsw i64 %132, 1
  %149 = icmp eq i64 %148, 32
  br i1 %149, label %127, label %131, !llvm.loop !26

150:                                              ; preds = %111
  %151 = trunc i64 %91 to i32
  br i1 %60, label %187, label %152

152:                                              ; preds = %150
  %153 = tail call i32 @llvm.umax.i32(i32 %56, i32 30)
  %154 = add nuw nsw i32 %153, 1
  %155 = zext nneg i32 %154 to i64
  br label %156

156:                                              ; preds = %152, %184
  %157 = phi i64 [ %57, %152 ], [ %159, %184 ]
  %158 = phi i32 [ %151, %152 ], [ %185, %184 ]
  %159 = add nuw nsw i64 %157, 1
  %160 = trunc nuw nsw i64 %157 to i32
  %161 = shl nuw i32 2, %160
  %162 = and i32 %161, %55
  %163 = icmp eq i32 %162, 0
  br i1 %163, label %184, label %164

164:                                              ; preds = %156
  %165 = getelementptr i64, ptr %61, i64 %159
  %166 = load i64, ptr %165, align 8
  %167 = trunc i64 %166 to i32
  switch i32 %5, label %182 [
    i32 11, label %168
    i32 12, label %170
    i32 13, label %172
    i32 14, label %174
    i32 15, label %176
    i32 16, label %178
    i32 17, label %180
  ]

168:                                              ; preds = %164
  %169 = add i32 %158, %167
  br label %184

170:                                              ; preds = %164
  %171 = tail call i32 @llvm.umin.i32(i32 %158, i32 %167)
  br label %184

172:                                              ; preds = %164
  %173 = tail call i32 @llvm.umax.i32(i32 %158, i32 %167)
  br label %184

174:                                              ; preds = %164
  %175 = tail call i32 @llvm.smin.i32(i32 %158, i32 %167)
  br label %184

176:                                              ; preds = %164
  %177 = tail call i32 @llvm.smax.i32(i32 %158, i32 %167)
  br label %184

178:                                              ; preds = %164
  %179 = and i32 %158, %167
  br label %184

180:                                              ; preds = %164
  %181 = or i32 %158, %167
  br label %184

182:                                              ; preds = %164
  %183 = xor i32 %158, %167
  br label %184

184:                                              ; preds = %168, %170, %172, %174, %176, %178, %180, %182, %156
  %185 = phi i32 [ %158, %156 ], [ %183, %182 ], [ %181, %180 ], [ %179, %178 ], [ %177, %176 ], [ %175, %174 ], [ %173, %172 ], [ %171, %170 ], [ %169, %168 ]
  %186 = icmp eq i64 %159, %155
  br i1 %186, label %187, label %156, !llvm.loop !27

187:                                              ; preds = %184, %150, %111, %127, %126, %125, %124, %119, %116, %113
  %188 = phi i32 [ %115, %113 ], [ %118, %116 ], [ %123, %119 ], [ 0, %124 ], [ 0, %125 ], [ 0, %126 ], [ %129, %127 ], [ 0, %111 ], [ 0, %150 ], [ 0, %184 ]
  %189 = phi i32 [ %115, %113 ], [ %118, %116 ], [ %123, %119 ], [ %112, %124 ], [ %52, %125 ], [ %56, %126 ], [ %130, %127 ], [ 0, %111 ], [ %151, %150 ], [ %185, %184 ]
  br label %190

190:                                              ; preds = %187, %239
  %191 = phi i64 [ %242, %239 ], [ 0, %187 ]
  %192 = phi i32 [ %241, %239 ], [ %188, %187 ]
  %193 = phi i32 [ %240, %239 ], [ %189, %187 ]
  %194 = trunc nuw nsw i64 %191 to i32
  %195 = shl nuw i32 1, %194
  %196 = and i32 %195, %52
  %197 = icmp eq i32 %196, 0
  br i1 %197, label %239, label %198

198:                                              ; preds = %190
  br i1 %19, label %199, label %225

199:                                              ; preds = %198
  %200 = or disjoint i64 %25, %191
  %201 = getelementptr i64, ptr %8, i64 %200
  br label %205

202:                                              ; preds = %221
  %203 = icmp ne i32 %222, 0
  %204 = zext i1 %203 to i32
  br label %225

205:                                              ; preds = %199, %221
  %206 = phi i64 [ 0, %199 ], [ %223, %221 ]
  %207 = phi i32 [ 0, %199 ], [ %222, %221 ]
  %208 = trunc nuw nsw i64 %206 to i32
  %209 = shl nuw i32 1, %208
  %210 = and i32 %209, %55
  %211 = icmp eq i32 %210, 0
  br i1 %211, label %221, label %212

212:                                              ; preds = %205
  %213 = or disjoint i64 %25, %206
  %214 = getelementptr i64, ptr %8, i64 %213
  %215 = load i64, ptr %214, align 8
  %216 = load i64, ptr %201, align 8
  %217 = icmp eq i64 %215, %216
  %218 = zext i1 %217 to i32
  %219 = shl nuw i32 %218, %208
  %220 = or i32 %219, %207
  br label %221

221:                                              ; preds = %205, %212
  %222 = phi i32 [ %220, %212 ], [ %207, %205 ]
  %223 = add nuw nsw i64 %206, 1
  %224 = icmp eq i64 %223, 32
  br i1 %224, label %202, label %205, !llvm.loop !28

225:                                              ; preds = %202, %198
  %226 = phi i32 [ %222, %202 ], [ %193, %198 ]
  %227 = phi i32 [ %204, %202 ], [ %192, %198 ]
  %228 = icmp eq i64 %191, %57
  %229 = zext i1 %228 to i32
  %230 = select i1 %20, i32 %229, i32 %227
  br i1 %21, label %234, label %231

231:                                              ; preds = %225
  %232 = or disjoint i64 %25, %191
  %233 = getelementptr i32, ptr %9, i64 %232
  store i32 %226, ptr %233, align 4
  br label %234

234:                                              ; preds = %231, %225
  br i1 %22, label %239, label %235

235:                                              ; preds = %234
  %236 = trunc nuw nsw i32 %230 to i8
  %237 = or disjoint i64 %25, %191
  %238 = getelementptr i8, ptr %10, i64 %237
  store i8 %236, ptr %238, align 1
  br label %239

239:                                              ; preds = %234, %235, %190
  %240 = phi i32 [ %226, %235 ], [ %226, %234 ], [ %193, %190 ]
  %241 = phi i32 [ %230, %235 ], [ %230, %234 ], [ %192, %190 ]
  %242 = add nuw nsw i64 %191, 1
  %243 = icmp eq i64 %242, 32
  br i1 %243, label %245, label %190, !llvm.loop !29

244:                                              ; preds = %83
  tail call fastcc void @divergent_operation(ptr noundef %0, ptr noundef %1, i64 noundef %25, i32 noundef %52, i32 noundef %6, i32 noundef %84, i32 noundef %7) #15
  br label %248

245:                                              ; preds = %239, %83, %48
  %246 = add i64 %25, 32
  %247 = icmp ult i64 %246, %4
  br i1 %247, label %24, label %248, !llvm.loop !30

248:                                              ; preds = %245, %11, %244
  %249 = phi i32 [ 1, %244 ], [ 0, %11 ], [ 0, %245 ]
  ret i32 %249
}

; Function Attrs: cold noinline nounwind optsize
define internal fastcc void @divergent_operation(ptr noundef %0, ptr noundef %1, i64 noundef %2, i32 noundef %3, i32 noundef %4, i32 noundef %5, i32 noundef %6) unnamed_addr #9 {
  %8 = tail call range(i32 0, 33) i32 @llvm.cttz.i32(i32 %3, i1 true)
  %9 = zext nneg i32 %8 to i64
  %10 = add i64 %9, %2
  %11 = getelementptr inbounds i8, ptr %0, i64 20
  %12 = load i32, ptr %11, align 4
  %13 = zext i32 %12 to i64
  %14 = getelementptr i8, ptr %0, i64 24
  %15 = load i32, ptr %14, align 4
  %16 = zext i32 %15 to i64
  %17 = urem i64 %10, %13
  %18 = trunc nuw i64 %17 to i32
  %19 = udiv i64 %10, %13
  %20 = urem i64 %19, %16
  %21 = trunc nuw i64 %20 to i32
  %22 = udiv i64 %19, %16
  %23 = trunc i64 %22 to i32
  tail call void @record_fault(ptr noundef %0, ptr noundef %1, i32 noundef %18, i32 noundef %21, i32 noundef %23, i32 noundef 9, i32 noundef 0, i32 noundef %6, i64 noundef 0, i64 noundef 0) #14
  %24 = xor i32 %5, -1
  %25 = getelementptr inbounds i8, ptr %0, i64 152
  store i32 %3, ptr %25, align 4
  %26 = getelementptr inbounds i8, ptr %0, i64 156
  store i32 %4, ptr %26, align 4
  %27 = getelementptr inbounds i8, ptr %0, i64 160
  store i32 0, ptr %27, align 4
  %28 = getelementptr inbounds i8, ptr %0, i64 164
  store i32 %24, ptr %28, align 4
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.cttz.i32(i32, i1 immarg) #2

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: read)
define i32 @ptx_block_reduction(ptr noundef readonly %0, i64 noundef %1, i32 noundef %2, ptr nocapture noundef readonly %3) local_unnamed_addr #6 {
  %5 = icmp eq i64 %1, 0
  br i1 %5, label %8, label %6

6:                                                ; preds = %4
  %7 = icmp eq ptr %0, null
  br label %12

8:                                                ; preds = %20, %4
  %9 = phi i64 [ 0, %4 ], [ %28, %20 ]
  %10 = phi i64 [ 0, %4 ], [ %22, %20 ]
  %11 = icmp eq i32 %2, 1
  br i1 %11, label %31, label %34

12:                                               ; preds = %6, %20
  %13 = phi i64 [ 0, %6 ], [ %22, %20 ]
  %14 = phi i64 [ 0, %6 ], [ %29, %20 ]
  %15 = phi i64 [ 0, %6 ], [ %28, %20 ]
  br i1 %7, label %20, label %16

16:                                               ; preds = %12
  %17 = getelementptr i8, ptr %0, i64 %14
  %18 = load i8, ptr %17, align 1
  %19 = zext i8 %18 to i64
  br label %20

20:                                               ; preds = %12, %16
  %21 = phi i64 [ %19, %16 ], [ 1, %12 ]
  %22 = add i64 %21, %13
  %23 = getelementptr i64, ptr %3, i64 %14
  %24 = load i64, ptr %23, align 8
  %25 = icmp eq i64 %24, 0
  %26 = and i64 %21, 1
  %27 = select i1 %25, i64 0, i64 %26
  %28 = add i64 %27, %15
  %29 = add nuw i64 %14, 1
  %30 = icmp eq i64 %29, %1
  br i1 %30, label %8, label %12, !llvm.loop !31

31:                                               ; preds = %8
  %32 = icmp eq i64 %9, %10
  %33 = zext i1 %32 to i32
  br label %40

34:                                               ; preds = %8
  %35 = icmp eq i32 %2, 2
  %36 = icmp ne i64 %9, 0
  %37 = zext i1 %36 to i32
  %38 = trunc i64 %9 to i32
  %39 = select i1 %35, i32 %37, i32 %38
  br label %40

40:                                               ; preds = %34, %31
  %41 = phi i32 [ %33, %31 ], [ %39, %34 ]
  ret i32 %41
}

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: readwrite)
define void @ptx_fill_u8(ptr noundef readonly %0, i64 noundef %1, i32 noundef %2, ptr nocapture noundef writeonly %3) local_unnamed_addr #10 {
  %5 = icmp eq i64 %1, 0
  br i1 %5, label %10, label %6

6:                                                ; preds = %4
  %7 = icmp eq ptr %0, null
  %8 = icmp ne i32 %2, 0
  %9 = zext i1 %8 to i8
  br label %11

10:                                               ; preds = %19, %4
  ret void

11:                                               ; preds = %6, %19
  %12 = phi i64 [ 0, %6 ], [ %20, %19 ]
  br i1 %7, label %17, label %13

13:                                               ; preds = %11
  %14 = getelementptr i8, ptr %0, i64 %12
  %15 = load i8, ptr %14, align 1
  %16 = icmp eq i8 %15, 0
  br i1 %16, label %19, label %17

17:                                               ; preds = %13, %11
  %18 = getelementptr i8, ptr %3, i64 %12
  store i8 %9, ptr %18, align 1
  br label %19

19:                                               ; preds = %13, %17
  %20 = add nuw i64 %12, 1
  %21 = icmp eq i64 %20, %1
  br i1 %21, label %10, label %11, !llvm.loop !32
}

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: readwrite)
define void @ptx_fill_u32(ptr noundef readonly %0, i64 noundef %1, i32 noundef %2, ptr nocapture noundef writeonly %3) local_unnamed_addr #10 {
  %5 = icmp eq i64 %1, 0
  br i1 %5, label %8, label %6

6:                                                ; preds = %4
  %7 = icmp eq ptr %0, null
  br label %9

8:                                                ; preds = %17, %4
  ret void

9:                                                ; preds = %6, %17
  %10 = phi i64 [ 0, %6 ], [ %18, %17 ]
  br i1 %7, label %15, label %11

11:                                               ; preds = %9
  %12 = getelementptr i8, ptr %0, i64 %10
  %13 = load i8, ptr %12, align 1
  %14 = icmp eq i8 %13, 0
  br i1 %14, label %17, label %15

15:                                               ; preds = %11, %9
  %16 = getelementptr i32, ptr %3, i64 %10
  store i32 %2, ptr %16, align 4
  br label %17

17:                                               ; preds = %11, %15
  %18 = add nuw i64 %10, 1
  %19 = icmp eq i64 %18, %1
  br i1 %19, label %8, label %9, !llvm.loop !33
}

; Function Attrs: cold noinline nounwind optsize
define { i64, i64 } @ptx_find_global(ptr noundef %0, ptr noundef %1, i32 noundef %2, i32 noundef %3, i32 noundef %4, i64 noundef %5, i64 noundef %6, i32 noundef %7, i32 noundef %8) local_unnamed_addr #9 {
  %10 = and i32 %7, 255
  %11 = add i64 %6, -1
  %12 = and i64 %11, %5
  %13 = icmp eq i64 %12, 0
  br i1 %13, label %14, label %44

14:                                               ; preds = %9
  %15 = tail call ptr @find_range(ptr noundef %0, i64 noundef %5, i64 noundef %6) #14
  %16 = icmp eq ptr %15, null
  br i1 %16, label %44, label %17

17:                                               ; preds = %14
  %18 = icmp eq i32 %10, 1
  br i1 %18, label %24, label %19

19:                                               ; preds = %17
  %20 = getelementptr inbounds i8, ptr %15, i64 16
  %21 = load i64, ptr %20, align 8
  %22 = and i64 %21, 1
  %23 = icmp eq i64 %22, 0
  br i1 %23, label %44, label %24

24:                                               ; preds = %19, %17
  %25 = icmp ult i32 %7, 4096
  br i1 %25, label %26, label %40

26:                                               ; preds = %24
  %27 = load i64, ptr %15, align 8
  %28 = xor i64 %27, -1
  %29 = getelementptr inbounds i8, ptr %1, i64 112
  %30 = lshr i32 %7, 7
  %31 = and i32 %30, 30
  %32 = zext nneg i32 %31 to i64
  %33 = getelementptr [32 x i64], ptr %29, i64 0, i64 %32
  store i64 %28, ptr %33, align 8
  %34 = getelementptr inbounds i8, ptr %15, i64 8
  %35 = load i64, ptr %34, align 8
  %36 = xor i64 %35, -1
  %37 = or i32 %30, 1
  %38 = zext nneg i32 %37 to i64
  %39 = getelementptr [32 x i64], ptr %29, i64 0, i64 %38
  store i64 %36, ptr %39, align 8
  br label %40

40:                                               ; preds = %24, %26
  %41 = load i64, ptr %15, align 8
  %42 = getelementptr inbounds i8, ptr %15, i64 8
  %43 = load i64, ptr %42, align 8
  br label %46

44:                                               ; preds = %14, %19, %9
  %45 = phi i32 [ 2, %9 ], [ 1, %14 ], [ 10, %19 ]
  tail call void @record_fault(ptr noundef %0, ptr noundef %1, i32 noundef %2, i32 noundef %3, i32 noundef %4, i32 noundef %45, i32 noundef %10, i32 noundef %8, i64 noundef %5, i64 noundef %6) #14
  br label %46

46:                                               ; preds = %40, %44
  %47 = phi i64 [ 0, %44 ], [ %41, %40 ]
  %48 = phi i64 [ 0, %44 ], [ %43, %40 ]
  %49 = insertvalue { i64, i64 } poison, i64 %47, 0
  %50 = insertvalue { i64, i64 } %49, i64 %48, 1
  ret { i64, i64 } %50
}

declare ptr @find_range(ptr noundef, i64 noundef, i64 noundef) local_unnamed_addr #11

declare void @record_fault(ptr noundef, ptr noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i64 noundef, i64 noundef) local_unnamed_addr #11

; Function Attrs: cold noinline nounwind optsize
define { i64, i64 } @ptx_find_generic(ptr noundef %0, ptr noundef %1, i32 noundef %2, i32 noundef %3, i32 noundef %4, i64 noundef %5, i64 noundef %6, i32 noundef %7, i32 noundef %8, i64 noundef %9, i64 noundef %10, i64 noundef %11) local_unnamed_addr #9 {
  %13 = add i64 %6, -1
  %14 = and i64 %13, %5
  %15 = icmp eq i64 %14, 0
  br i1 %15, label %16, label %51

16:                                               ; preds = %12
  %17 = getelementptr inbounds i8, ptr %1, i64 32
  %18 = load ptr, ptr %17, align 8
  %19 = ptrtoint ptr %18 to i64
  %20 = load ptr, ptr %0, align 8
  %21 = ptrtoint ptr %20 to i64
  %22 = sub i64 %5, %19
  %23 = getelementptr inbounds i8, ptr %0, i64 40
  %24 = load i32, ptr %23, align 8
  %25 = zext i32 %24 to i64
  %26 = icmp uge i64 %22, %25
  %27 = sub nsw i64 %25, %22
  %28 = icmp ult i64 %27, %6
  %29 = select i1 %26, i1 true, i1 %28
  br i1 %29, label %32, label %30

30:                                               ; preds = %16
  %31 = add i64 %25, %19
  br label %55

32:                                               ; preds = %16
  %33 = sub i64 %5, %9
  %34 = icmp uge i64 %33, %10
  %35 = sub i64 %10, %33
  %36 = icmp ult i64 %35, %6
  %37 = or i1 %34, %36
  br i1 %37, label %40, label %38

38:                                               ; preds = %32
  %39 = add i64 %10, %9
  br label %55

40:                                               ; preds = %32
  %41 = and i32 %7, 255
  %42 = icmp eq i32 %41, 1
  br i1 %42, label %43, label %51

43:                                               ; preds = %40
  %44 = sub i64 %5, %21
  %45 = icmp uge i64 %44, %11
  %46 = sub i64 %11, %44
  %47 = icmp ult i64 %46, %6
  %48 = or i1 %45, %47
  br i1 %48, label %51, label %49

49:                                               ; preds = %43
  %50 = add i64 %21, %11
  br label %55

51:                                               ; preds = %43, %40, %12
  %52 = tail call { i64, i64 } @ptx_find_global(ptr noundef %0, ptr noundef %1, i32 noundef %2, i32 noundef %3, i32 noundef %4, i64 noundef %5, i64 noundef %6, i32 noundef %7, i32 noundef %8) #15
  %53 = extractvalue { i64, i64 } %52, 0
  %54 = extractvalue { i64, i64 } %52, 1
  br label %55

55:                                               ; preds = %49, %38, %30, %51
  %56 = phi i64 [ %53, %51 ], [ %21, %49 ], [ %9, %38 ], [ %19, %30 ]
  %57 = phi i64 [ %54, %51 ], [ %50, %49 ], [ %39, %38 ], [ %31, %30 ]
  %58 = insertvalue { i64, i64 } poison, i64 %56, 0
  %59 = insertvalue { i64, i64 } %58, i64 %57, 1
  ret { i64, i64 } %59
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.ctlz.i64(i64, i1 immarg) #2

; Function Attrs: nounwind
declare i32 @clock_gettime(i32 noundef, ptr noundef) local_unnamed_addr #12

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.abs.i64(i64, i1 immarg) #13

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i16 @llvm.smax.i16(i16, i16) #13

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.umin.i32(i32, i32) #13

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.usub.sat.i32(i32, i32) #13

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.abs.i32(i32, i1 immarg) #13

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.umax.i32(i32, i32) #13

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #13

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smax.i32(i32, i32) #13

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smin.i32(i32, i32) #13

attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { nofree norecurse nosync nounwind memory(none) }
attributes #4 = { nofree norecurse nounwind memory(argmem: readwrite) }
attributes #5 = { nounwind }
attributes #6 = { nofree norecurse nosync nounwind memory(argmem: read) }
attributes #7 = { nofree noinline norecurse nosync nounwind memory(argmem: readwrite) }
attributes #8 = { noinline nounwind }
attributes #9 = { cold noinline nounwind optsize }
attributes #10 = { nofree norecurse nosync nounwind memory(argmem: readwrite) }
attributes #11 = { nounwind }
attributes #12 = { nounwind }
attributes #13 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #14 = { nounwind }
attributes #15 = { cold }


!3 = distinct !{!3, !4}
!4 = !{!"llvm.loop.mustprogress"}
!6 = distinct !{!6, !4}
!7 = distinct !{!7}
!8 = distinct !{!8}
!9 = distinct !{!9}
!10 = distinct !{!10}
!11 = distinct !{!11}
!12 = distinct !{!12}
!13 = distinct !{!13}
!14 = distinct !{!14}
!15 = distinct !{!15}
!16 = distinct !{!16}
!17 = distinct !{!17}
!18 = distinct !{!18}
!19 = distinct !{!19}
!20 = distinct !{!20}
!21 = distinct !{!21, !4}
!22 = distinct !{!22, !4}
!23 = distinct !{!23, !4}
!24 = distinct !{!24, !4}
!25 = distinct !{!25, !4}
!26 = distinct !{!26, !4}
!27 = distinct !{!27, !4}
!28 = distinct !{!28, !4}
!29 = distinct !{!29, !4}
!30 = distinct !{!30, !4}
!31 = distinct !{!31, !4}
!32 = distinct !{!32, !4}
!33 = distinct !{!33, !4}
