; Made by build.py from scheduler.c: do not edit.
; flags -std=c17 -O2 -S -emit-llvm -Wall -Wextra -Werror -Wno-pass-failed -ffp-contract=off -fno-math-errno -fwrapv -fno-strict-aliasing -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-stack-protector -fno-asynchronous-unwind-tables -fPIC
; sha256 abi.h 58efc0a1ba6830d8e5d987367b2b20864b3530d0f9f23755e26b9c495a3fc82a
; sha256 scheduler.c dcc6a2dc229596d154bc18c7dc63c691b28bcbc7bc7663713f3175b89c91c5f6
source_filename = "scheduler.c"

%struct.Range = type { i64, i64, i64 }
%struct.Barrier = type { i32, i32, i32, i32 }
%struct.Block = type { ptr, [3 x i32], i32, i64, ptr, ptr, [16 x i32], [32 x i64] }
%struct.Thread = type { i32, i32, [3 x i32], i32, i32, i32, i32, i32, i32, i32, i32, i32, i64, i32, i32, ptr }
%struct.Launch = type { ptr, [3 x i32], [3 x i32], i32, i32, i32, i32, i64, i64, i32, i32, ptr, i64, i64, %struct.Fault }
%struct.Fault = type { i32, i32, i32, i32, [3 x i32], [3 x i32], i64, i64, [4 x i32] }

@KERNEL_BY_BLOCK = extern_weak constant i32, align 4
@KERNEL_SUSPENDS = external local_unnamed_addr constant i32, align 4
@KERNEL_PARAM_NBYTES = external local_unnamed_addr constant i32, align 4
@KERNEL_HAS_PRIVATE_MEMORY = external local_unnamed_addr constant i32, align 4

; Function Attrs: cold nofree noinline norecurse nounwind optsize memory(readwrite, inaccessiblemem: none)
define void @record_fault(ptr nocapture noundef readnone %0, ptr nocapture noundef readonly %1, i32 noundef %2, i32 noundef %3, i32 noundef %4, i32 noundef %5, i32 noundef %6, i32 noundef %7, i64 noundef %8, i64 noundef %9) local_unnamed_addr #0 {
  %11 = load ptr, ptr %1, align 8
  %12 = getelementptr inbounds i8, ptr %11, i64 96
  %13 = atomicrmw xchg ptr %12, i32 1 acq_rel, align 8
  %14 = icmp eq i32 %13, 0
  br i1 %14, label %15, label %34

15:                                               ; preds = %10
  %16 = getelementptr inbounds i8, ptr %11, i64 100
  store i32 %5, ptr %16, align 4
  %17 = getelementptr inbounds i8, ptr %11, i64 104
  store i32 %6, ptr %17, align 8
  %18 = getelementptr inbounds i8, ptr %11, i64 108
  store i32 %7, ptr %18, align 4
  %19 = getelementptr inbounds i8, ptr %1, i64 8
  %20 = getelementptr inbounds i8, ptr %11, i64 112
  br label %27

21:                                               ; preds = %27
  %22 = getelementptr inbounds i8, ptr %11, i64 124
  store i32 %2, ptr %22, align 4
  %23 = getelementptr i8, ptr %11, i64 128
  store i32 %3, ptr %23, align 4
  %24 = getelementptr i8, ptr %11, i64 132
  store i32 %4, ptr %24, align 4
  %25 = getelementptr inbounds i8, ptr %11, i64 136
  store i64 %8, ptr %25, align 8
  %26 = getelementptr inbounds i8, ptr %11, i64 144
  store i64 %9, ptr %26, align 8
  br label %34

27:                                               ; preds = %15, %27
  %28 = phi i64 [ 0, %15 ], [ %32, %27 ]
  %29 = getelementptr [3 x i32], ptr %19, i64 0, i64 %28
  %30 = load i32, ptr %29, align 4
  %31 = getelementptr [3 x i32], ptr %20, i64 0, i64 %28
  store i32 %30, ptr %31, align 4
  %32 = add nuw nsw i64 %28, 1
  %33 = icmp eq i64 %32, 3
  br i1 %33, label %21, label %27, !llvm.loop !3

34:                                               ; preds = %21, %10
  %35 = getelementptr inbounds i8, ptr %11, i64 64
  store atomic i32 1, ptr %35 release, align 8
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: nofree norecurse nosync nounwind memory(read, inaccessiblemem: none)
define ptr @find_range(ptr nocapture noundef readonly %0, i64 noundef %1, i64 noundef %2) local_unnamed_addr #2 {
  %4 = getelementptr inbounds i8, ptr %0, i64 80
  %5 = load i64, ptr %4, align 8
  %6 = icmp eq i64 %5, 0
  br i1 %6, label %33, label %7

7:                                                ; preds = %3
  %8 = getelementptr inbounds i8, ptr %0, i64 72
  %9 = load ptr, ptr %8, align 8
  %10 = icmp eq i64 %5, 1
  br i1 %10, label %21, label %11

11:                                               ; preds = %7, %11
  %12 = phi ptr [ %18, %11 ], [ %9, %7 ]
  %13 = phi i64 [ %19, %11 ], [ %5, %7 ]
  %14 = lshr i64 %13, 1
  %15 = getelementptr %struct.Range, ptr %12, i64 %14
  %16 = load i64, ptr %15, align 8
  %17 = icmp ugt i64 %16, %1
  %18 = select i1 %17, ptr %12, ptr %15
  %19 = sub i64 %13, %14
  %20 = icmp ugt i64 %19, 1
  br i1 %20, label %11, label %21, !llvm.loop !6

21:                                               ; preds = %11, %7
  %22 = phi ptr [ %9, %7 ], [ %18, %11 ]
  %23 = load i64, ptr %22, align 8
  %24 = icmp ugt i64 %23, %1
  br i1 %24, label %33, label %25

25:                                               ; preds = %21
  %26 = getelementptr inbounds i8, ptr %22, i64 8
  %27 = load i64, ptr %26, align 8
  %28 = icmp ugt i64 %27, %1
  br i1 %28, label %29, label %33

29:                                               ; preds = %25
  %30 = sub i64 %27, %1
  %31 = icmp ult i64 %30, %2
  %32 = select i1 %31, ptr null, ptr %22
  br label %33

33:                                               ; preds = %21, %25, %29, %3
  %34 = phi ptr [ null, %3 ], [ null, %25 ], [ null, %21 ], [ %32, %29 ]
  ret ptr %34
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite)
define void @barrier_arrive(ptr nocapture noundef %0, i32 noundef %1) local_unnamed_addr #3 {
  %3 = getelementptr inbounds i8, ptr %0, i64 48
  %4 = and i32 %1, 15
  %5 = zext nneg i32 %4 to i64
  %6 = getelementptr [16 x i32], ptr %3, i64 0, i64 %5
  %7 = load i32, ptr %6, align 4
  %8 = add i32 %7, 1
  store i32 %8, ptr %6, align 4
  ret void
}

; Function Attrs: nounwind
define i32 @run_worker(ptr noundef %0, ptr nocapture noundef readonly %1, i32 noundef %2, i64 noundef %3) local_unnamed_addr #4 {
  %5 = alloca [16 x %struct.Barrier], align 16
  %6 = alloca [16 x %struct.Barrier], align 16
  %7 = alloca %struct.Block, align 8
  %8 = icmp eq ptr @KERNEL_BY_BLOCK, null
  br i1 %8, label %76, label %9

9:                                                ; preds = %4
  %10 = load i32, ptr @KERNEL_BY_BLOCK, align 4
  %11 = icmp eq i32 %10, 0
  br i1 %11, label %76, label %12

12:                                               ; preds = %9
  %13 = load ptr, ptr %1, align 8
  call void @llvm.lifetime.start.p0(i64 368, ptr nonnull %7) #12
  %14 = getelementptr inbounds i8, ptr %7, i64 8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(368) %14, i8 0, i64 360, i1 false)
  store ptr %0, ptr %7, align 8
  %15 = getelementptr inbounds i8, ptr %7, i64 32
  %16 = getelementptr inbounds i8, ptr %13, i64 384
  %17 = load ptr, ptr %16, align 8
  store ptr %17, ptr %15, align 8
  %18 = getelementptr inbounds i8, ptr %0, i64 32
  %19 = load i32, ptr %18, align 8
  %20 = getelementptr inbounds i8, ptr %7, i64 20
  store i32 %19, ptr %20, align 4
  %21 = getelementptr inbounds i8, ptr %0, i64 64
  %22 = load atomic i32, ptr %21 monotonic, align 8
  %23 = icmp eq i32 %22, 0
  br i1 %23, label %24, label %74

24:                                               ; preds = %12
  %25 = getelementptr inbounds i8, ptr %0, i64 68
  %26 = getelementptr inbounds i8, ptr %0, i64 56
  %27 = getelementptr inbounds i8, ptr %0, i64 48
  %28 = getelementptr inbounds i8, ptr %0, i64 8
  %29 = getelementptr inbounds i8, ptr %7, i64 24
  %30 = getelementptr i8, ptr %0, i64 12
  %31 = getelementptr inbounds i8, ptr %7, i64 12
  %32 = getelementptr inbounds i8, ptr %7, i64 16
  %33 = getelementptr inbounds i8, ptr %13, i64 376
  br label %34

34:                                               ; preds = %71, %24
  %35 = phi i64 [ %3, %24 ], [ %36, %71 ]
  %36 = add i64 %35, -1
  %37 = icmp eq i64 %35, 0
  br i1 %37, label %74, label %38

38:                                               ; preds = %34
  %39 = load i32, ptr %25, align 4
  %40 = zext i32 %39 to i64
  %41 = atomicrmw add ptr %26, i64 %40 monotonic, align 8
  %42 = load i64, ptr %27, align 8
  %43 = icmp ult i64 %41, %42
  br i1 %43, label %44, label %74

44:                                               ; preds = %38
  %45 = add i64 %41, %40
  %46 = call i64 @llvm.umin.i64(i64 %45, i64 %42)
  %47 = icmp ugt i64 %45, %41
  br i1 %47, label %51, label %71

48:                                               ; preds = %55
  %49 = add nuw i64 %52, 1
  %50 = icmp ult i64 %49, %46
  br i1 %50, label %51, label %71, !llvm.loop !7

51:                                               ; preds = %44, %48
  %52 = phi i64 [ %49, %48 ], [ %41, %44 ]
  %53 = load atomic i32, ptr %21 monotonic, align 8
  %54 = icmp eq i32 %53, 0
  br i1 %54, label %55, label %71

55:                                               ; preds = %51
  %56 = load i32, ptr %28, align 8
  %57 = zext i32 %56 to i64
  %58 = udiv i64 %52, %57
  store i64 %52, ptr %29, align 8
  %59 = urem i64 %52, %57
  %60 = trunc nuw i64 %59 to i32
  store i32 %60, ptr %14, align 8
  %61 = load i32, ptr %30, align 4
  %62 = zext i32 %61 to i64
  %63 = urem i64 %58, %62
  %64 = trunc nuw i64 %63 to i32
  store i32 %64, ptr %31, align 4
  %65 = udiv i64 %58, %62
  %66 = trunc i64 %65 to i32
  store i32 %66, ptr %32, align 8
  %67 = load ptr, ptr %33, align 8
  %68 = call i32 @kernel_block(ptr noundef nonnull %0, ptr noundef nonnull %7, ptr noundef %67, i32 noundef %60, i32 noundef %64, i32 noundef %66) #12
  %69 = icmp eq i32 %68, 4
  br i1 %69, label %70, label %48

70:                                               ; preds = %55
  store atomic i32 1, ptr %21 release, align 8
  br label %74

71:                                               ; preds = %51, %48, %44
  %72 = load atomic i32, ptr %21 monotonic, align 8
  %73 = icmp eq i32 %72, 0
  br i1 %73, label %34, label %74, !llvm.loop !8

74:                                               ; preds = %34, %38, %71, %12, %70
  %75 = phi i32 [ 0, %70 ], [ 0, %12 ], [ 0, %38 ], [ 0, %71 ], [ 1, %34 ]
  call void @llvm.lifetime.end.p0(i64 368, ptr nonnull %7) #12
  br label %874

76:                                               ; preds = %9, %4
  %77 = load i32, ptr @KERNEL_SUSPENDS, align 4
  %78 = icmp eq i32 %77, 0
  br i1 %78, label %871, label %79

79:                                               ; preds = %76
  %80 = icmp eq i32 %2, 0
  %81 = getelementptr inbounds i8, ptr %0, i64 64
  %82 = getelementptr inbounds i8, ptr %0, i64 56
  %83 = getelementptr inbounds i8, ptr %0, i64 48
  %84 = getelementptr inbounds i8, ptr %0, i64 32
  %85 = getelementptr inbounds i8, ptr %0, i64 20
  %86 = getelementptr i8, ptr %0, i64 28
  %87 = getelementptr i8, ptr %0, i64 24
  %88 = getelementptr inbounds i8, ptr %0, i64 44
  %89 = getelementptr inbounds i8, ptr %0, i64 8
  %90 = getelementptr i8, ptr %0, i64 12
  %91 = zext i32 %2 to i64
  br i1 %80, label %874, label %92

92:                                               ; preds = %79, %862
  %93 = phi i64 [ %94, %862 ], [ %3, %79 ]
  %94 = sub i64 %93, %91
  br label %95

95:                                               ; preds = %92, %857
  %96 = phi i64 [ %860, %857 ], [ 0, %92 ]
  %97 = phi i64 [ %107, %857 ], [ %93, %92 ]
  %98 = phi i32 [ %859, %857 ], [ 0, %92 ]
  %99 = phi i32 [ %858, %857 ], [ 0, %92 ]
  %100 = getelementptr ptr, ptr %1, i64 %96
  %101 = load ptr, ptr %100, align 8
  %102 = getelementptr inbounds i8, ptr %101, i64 392
  %103 = load i32, ptr %102, align 8
  %104 = load atomic i32, ptr %81 monotonic, align 8
  %105 = icmp eq i32 %104, 0
  br i1 %105, label %106, label %874

106:                                              ; preds = %95
  %107 = add i64 %97, -1
  %108 = icmp eq i64 %97, 0
  br i1 %108, label %874, label %109

109:                                              ; preds = %106
  %110 = icmp eq i32 %103, 0
  br i1 %110, label %111, label %225

111:                                              ; preds = %109
  %112 = load atomic i64, ptr %82 monotonic, align 8
  %113 = load i64, ptr %83, align 8
  %114 = icmp ult i64 %112, %113
  br i1 %114, label %115, label %857

115:                                              ; preds = %111
  %116 = atomicrmw add ptr %82, i64 1 monotonic, align 8
  %117 = icmp ult i64 %116, %113
  br i1 %117, label %118, label %857

118:                                              ; preds = %115
  %119 = load i32, ptr %84, align 8
  %120 = getelementptr inbounds i8, ptr %101, i64 396
  %121 = load i32, ptr %120, align 4
  %122 = icmp eq i32 %121, 0
  br i1 %122, label %123, label %190

123:                                              ; preds = %118
  store ptr %0, ptr %101, align 8
  %124 = getelementptr inbounds i8, ptr %101, i64 384
  %125 = load ptr, ptr %124, align 8
  %126 = getelementptr inbounds i8, ptr %101, i64 32
  store ptr %125, ptr %126, align 8
  %127 = getelementptr inbounds i8, ptr %101, i64 368
  %128 = load ptr, ptr %127, align 8
  %129 = getelementptr inbounds i8, ptr %101, i64 40
  store ptr %128, ptr %129, align 8
  %130 = getelementptr inbounds i8, ptr %101, i64 112
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(256) %130, i8 0, i64 256, i1 false)
  %131 = load i32, ptr %86, align 4
  %132 = icmp eq i32 %131, 0
  br i1 %132, label %145, label %133

133:                                              ; preds = %123
  %134 = getelementptr inbounds i8, ptr %101, i64 376
  %135 = load i32, ptr %87, align 4
  br label %136

136:                                              ; preds = %154, %133
  %137 = phi i32 [ %131, %133 ], [ %155, %154 ]
  %138 = phi i32 [ %135, %133 ], [ %156, %154 ]
  %139 = phi i32 [ %135, %133 ], [ %157, %154 ]
  %140 = phi i32 [ 0, %133 ], [ %159, %154 ]
  %141 = phi i32 [ 0, %133 ], [ %158, %154 ]
  %142 = icmp eq i32 %139, 0
  br i1 %142, label %154, label %143

143:                                              ; preds = %136
  %144 = load i32, ptr %85, align 4
  br label %146

145:                                              ; preds = %154, %123
  store i32 1, ptr %120, align 4
  br label %190

146:                                              ; preds = %163, %143
  %147 = phi i32 [ %164, %163 ], [ %138, %143 ]
  %148 = phi i32 [ %165, %163 ], [ %144, %143 ]
  %149 = phi i32 [ %167, %163 ], [ 0, %143 ]
  %150 = phi i32 [ %166, %163 ], [ %141, %143 ]
  %151 = icmp eq i32 %148, 0
  br i1 %151, label %163, label %169

152:                                              ; preds = %163
  %153 = load i32, ptr %86, align 4
  br label %154

154:                                              ; preds = %152, %136
  %155 = phi i32 [ %137, %136 ], [ %153, %152 ]
  %156 = phi i32 [ %138, %136 ], [ %164, %152 ]
  %157 = phi i32 [ 0, %136 ], [ %164, %152 ]
  %158 = phi i32 [ %141, %136 ], [ %166, %152 ]
  %159 = add nuw i32 %140, 1
  %160 = icmp ult i32 %159, %155
  br i1 %160, label %136, label %145, !llvm.loop !9

161:                                              ; preds = %169
  %162 = load i32, ptr %87, align 4
  br label %163

163:                                              ; preds = %161, %146
  %164 = phi i32 [ %147, %146 ], [ %162, %161 ]
  %165 = phi i32 [ 0, %146 ], [ %188, %161 ]
  %166 = phi i32 [ %150, %146 ], [ %187, %161 ]
  %167 = add nuw i32 %149, 1
  %168 = icmp ult i32 %167, %164
  br i1 %168, label %146, label %152, !llvm.loop !10

169:                                              ; preds = %146, %169
  %170 = phi i32 [ %186, %169 ], [ 0, %146 ]
  %171 = phi i32 [ %187, %169 ], [ %150, %146 ]
  %172 = load ptr, ptr %127, align 8
  %173 = zext i32 %171 to i64
  %174 = getelementptr %struct.Thread, ptr %172, i64 %173
  %175 = getelementptr inbounds i8, ptr %174, i64 8
  store i32 %170, ptr %175, align 8
  %176 = getelementptr i8, ptr %174, i64 12
  store i32 %149, ptr %176, align 4
  %177 = getelementptr i8, ptr %174, i64 16
  store i32 %140, ptr %177, align 8
  %178 = getelementptr inbounds i8, ptr %174, i64 20
  store i32 %171, ptr %178, align 4
  %179 = getelementptr inbounds i8, ptr %174, i64 40
  store i32 0, ptr %179, align 8
  %180 = load ptr, ptr %134, align 8
  %181 = load i32, ptr %88, align 4
  %182 = zext i32 %181 to i64
  %183 = mul nuw i64 %182, %173
  %184 = getelementptr i8, ptr %180, i64 %183
  %185 = getelementptr inbounds i8, ptr %174, i64 72
  store ptr %184, ptr %185, align 8
  %186 = add nuw i32 %170, 1
  %187 = add i32 %171, 1
  %188 = load i32, ptr %85, align 4
  %189 = icmp ult i32 %186, %188
  br i1 %189, label %169, label %161, !llvm.loop !11

190:                                              ; preds = %145, %118
  %191 = load i32, ptr %89, align 8
  %192 = zext i32 %191 to i64
  %193 = udiv i64 %116, %192
  %194 = getelementptr inbounds i8, ptr %101, i64 24
  store i64 %116, ptr %194, align 8
  %195 = load i32, ptr %89, align 8
  %196 = zext i32 %195 to i64
  %197 = urem i64 %116, %196
  %198 = trunc nuw i64 %197 to i32
  %199 = getelementptr inbounds i8, ptr %101, i64 8
  store i32 %198, ptr %199, align 8
  %200 = load i32, ptr %90, align 4
  %201 = zext i32 %200 to i64
  %202 = urem i64 %193, %201
  %203 = trunc nuw i64 %202 to i32
  %204 = getelementptr i8, ptr %101, i64 12
  store i32 %203, ptr %204, align 4
  %205 = load i32, ptr %90, align 4
  %206 = zext i32 %205 to i64
  %207 = udiv i64 %193, %206
  %208 = trunc i64 %207 to i32
  %209 = getelementptr i8, ptr %101, i64 16
  store i32 %208, ptr %209, align 8
  %210 = getelementptr inbounds i8, ptr %101, i64 20
  store i32 %119, ptr %210, align 4
  %211 = getelementptr inbounds i8, ptr %101, i64 48
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(64) %211, i8 0, i64 64, i1 false)
  %212 = icmp eq i32 %119, 0
  br i1 %212, label %224, label %213

213:                                              ; preds = %190
  %214 = getelementptr inbounds i8, ptr %101, i64 368
  %215 = zext i32 %119 to i64
  br label %216

216:                                              ; preds = %216, %213
  %217 = phi i64 [ 0, %213 ], [ %222, %216 ]
  %218 = load ptr, ptr %214, align 8
  %219 = getelementptr %struct.Thread, ptr %218, i64 %217
  store i32 0, ptr %219, align 8
  %220 = load ptr, ptr %214, align 8
  %221 = getelementptr %struct.Thread, ptr %220, i64 %217, i32 1
  store i32 5, ptr %221, align 4
  %222 = add nuw nsw i64 %217, 1
  %223 = icmp eq i64 %222, %215
  br i1 %223, label %224, label %216, !llvm.loop !12

224:                                              ; preds = %216, %190
  store i32 1, ptr %102, align 8
  br label %225

225:                                              ; preds = %224, %109
  %226 = phi i32 [ %99, %109 ], [ 1, %224 ]
  %227 = getelementptr inbounds i8, ptr %101, i64 368
  %228 = load ptr, ptr %227, align 8
  %229 = load i32, ptr %84, align 8
  %230 = icmp ne i32 %103, 0
  %231 = icmp ne i32 %229, 0
  %232 = select i1 %230, i1 %231, i1 false
  br i1 %232, label %233, label %276

233:                                              ; preds = %225
  %234 = zext i32 %229 to i64
  br label %235

235:                                              ; preds = %270, %233
  %236 = phi i64 [ 0, %233 ], [ %274, %270 ]
  %237 = phi i32 [ 0, %233 ], [ %273, %270 ]
  %238 = phi i32 [ 0, %233 ], [ %272, %270 ]
  %239 = phi i32 [ 0, %233 ], [ %271, %270 ]
  %240 = getelementptr %struct.Thread, ptr %228, i64 %236
  %241 = getelementptr inbounds i8, ptr %240, i64 4
  %242 = load i32, ptr %241, align 4
  %243 = icmp eq i32 %242, 1
  br i1 %243, label %244, label %270

244:                                              ; preds = %235
  %245 = getelementptr inbounds i8, ptr %240, i64 24
  %246 = load i32, ptr %245, align 8
  %247 = icmp eq i32 %246, 0
  br i1 %247, label %248, label %253

248:                                              ; preds = %244
  %249 = getelementptr inbounds i8, ptr %240, i64 32
  %250 = load i32, ptr %249, align 8
  %251 = icmp eq i32 %250, 0
  %252 = icmp eq i32 %239, 0
  br i1 %252, label %255, label %260

253:                                              ; preds = %244
  %254 = icmp eq i32 %239, 0
  br i1 %254, label %255, label %266

255:                                              ; preds = %253, %248
  %256 = phi i1 [ false, %253 ], [ %251, %248 ]
  %257 = zext i1 %256 to i32
  %258 = getelementptr inbounds i8, ptr %240, i64 28
  %259 = load i32, ptr %258, align 4
  br label %270

260:                                              ; preds = %248
  br i1 %251, label %261, label %266

261:                                              ; preds = %260
  %262 = getelementptr inbounds i8, ptr %240, i64 28
  %263 = load i32, ptr %262, align 4
  %264 = icmp eq i32 %263, %238
  %265 = zext i1 %264 to i32
  br label %266

266:                                              ; preds = %261, %260, %253
  %267 = phi i32 [ 0, %260 ], [ %265, %261 ], [ 0, %253 ]
  %268 = and i32 %267, %237
  %269 = add i32 %239, 1
  br label %270

270:                                              ; preds = %266, %255, %235
  %271 = phi i32 [ %239, %235 ], [ %269, %266 ], [ 1, %255 ]
  %272 = phi i32 [ %238, %235 ], [ %238, %266 ], [ %259, %255 ]
  %273 = phi i32 [ %237, %235 ], [ %268, %266 ], [ %257, %255 ]
  %274 = add nuw nsw i64 %236, 1
  %275 = icmp eq i64 %274, %234
  br i1 %275, label %276, label %235, !llvm.loop !13

276:                                              ; preds = %270, %225
  %277 = phi i32 [ 0, %225 ], [ %271, %270 ]
  %278 = phi i32 [ 0, %225 ], [ %272, %270 ]
  %279 = phi i32 [ 0, %225 ], [ %273, %270 ]
  %280 = icmp eq i32 %229, 0
  %281 = getelementptr inbounds i8, ptr %101, i64 8
  %282 = getelementptr i8, ptr %101, i64 12
  %283 = getelementptr i8, ptr %101, i64 16
  %284 = getelementptr inbounds i8, ptr %101, i64 20
  %285 = getelementptr inbounds i8, ptr %101, i64 48
  %286 = getelementptr inbounds i8, ptr %101, i64 40
  br label %287

287:                                              ; preds = %842, %276
  %288 = phi i32 [ %277, %276 ], [ %671, %842 ]
  %289 = phi i32 [ %278, %276 ], [ %537, %842 ]
  %290 = phi i32 [ %279, %276 ], [ %672, %842 ]
  %291 = phi i32 [ 0, %276 ], [ %670, %842 ]
  %292 = phi i32 [ 0, %276 ], [ %847, %842 ]
  %293 = load atomic i32, ptr %81 monotonic, align 8
  %294 = icmp eq i32 %293, 0
  br i1 %294, label %295, label %874

295:                                              ; preds = %287
  br i1 %280, label %535, label %296

296:                                              ; preds = %295, %527
  %297 = phi i32 [ %534, %527 ], [ %229, %295 ]
  %298 = phi i32 [ %401, %527 ], [ 0, %295 ]
  %299 = phi i32 [ %399, %527 ], [ 0, %295 ]
  %300 = phi i32 [ %531, %527 ], [ 0, %295 ]
  %301 = phi i32 [ %532, %527 ], [ 0, %295 ]
  %302 = phi i32 [ %397, %527 ], [ %290, %295 ]
  %303 = phi i32 [ %396, %527 ], [ %289, %295 ]
  %304 = phi i32 [ %395, %527 ], [ %288, %295 ]
  %305 = tail call i32 @llvm.umin.i32(i32 %297, i32 32)
  %306 = tail call i32 @llvm.umax.i32(i32 %305, i32 1)
  %307 = zext nneg i32 %306 to i64
  %308 = zext i32 %301 to i64
  %309 = getelementptr %struct.Thread, ptr %228, i64 %308
  %310 = sub i32 %229, %301
  %311 = tail call i32 @llvm.umin.i32(i32 %310, i32 32)
  %312 = zext nneg i32 %311 to i64
  br label %313

313:                                              ; preds = %525, %296
  %314 = phi i32 [ %304, %296 ], [ %395, %525 ]
  %315 = phi i32 [ %303, %296 ], [ %396, %525 ]
  %316 = phi i32 [ %302, %296 ], [ %397, %525 ]
  %317 = phi i32 [ %300, %296 ], [ %398, %525 ]
  %318 = phi i32 [ %299, %296 ], [ %399, %525 ]
  %319 = phi i1 [ true, %296 ], [ false, %525 ]
  %320 = phi i32 [ 1, %296 ], [ 0, %525 ]
  %321 = phi i32 [ 0, %296 ], [ %405, %525 ]
  %322 = phi i32 [ %298, %296 ], [ %401, %525 ]
  %323 = and i32 %320, %291
  %324 = icmp ne i32 %323, 0
  br label %325

325:                                              ; preds = %394, %313
  %326 = phi i64 [ 0, %313 ], [ %402, %394 ]
  %327 = phi i32 [ %322, %313 ], [ %401, %394 ]
  %328 = phi i32 [ 0, %313 ], [ %400, %394 ]
  %329 = phi i32 [ %318, %313 ], [ %399, %394 ]
  %330 = phi i32 [ %317, %313 ], [ %398, %394 ]
  %331 = phi i32 [ %316, %313 ], [ %397, %394 ]
  %332 = phi i32 [ %315, %313 ], [ %396, %394 ]
  %333 = phi i32 [ %314, %313 ], [ %395, %394 ]
  %334 = getelementptr %struct.Thread, ptr %309, i64 %326
  %335 = getelementptr inbounds i8, ptr %334, i64 4
  %336 = load i32, ptr %335, align 4
  %337 = icmp eq i32 %336, 5
  %338 = icmp eq i32 %336, 3
  %339 = and i1 %319, %338
  %340 = or i1 %337, %339
  %341 = icmp eq i32 %336, 1
  %342 = and i1 %324, %341
  %343 = or i1 %342, %340
  br i1 %343, label %350, label %344

344:                                              ; preds = %325
  %345 = icmp eq i32 %336, 2
  %346 = zext i1 %345 to i32
  %347 = trunc nuw nsw i64 %326 to i32
  %348 = shl nuw i32 %346, %347
  %349 = or i32 %348, %328
  br label %394

350:                                              ; preds = %325
  %351 = getelementptr inbounds i8, ptr %334, i64 8
  %352 = load i32, ptr %351, align 8
  %353 = getelementptr i8, ptr %334, i64 12
  %354 = load i32, ptr %353, align 4
  %355 = getelementptr i8, ptr %334, i64 16
  %356 = load i32, ptr %355, align 8
  %357 = load i32, ptr %281, align 8
  %358 = load i32, ptr %282, align 4
  %359 = load i32, ptr %283, align 8
  %360 = tail call i32 @kernel_thread(ptr noundef %0, ptr noundef %101, ptr noundef %334, i32 noundef %352, i32 noundef %354, i32 noundef %356, i32 noundef %357, i32 noundef %358, i32 noundef %359) #12
  store i32 %360, ptr %335, align 4
  switch i32 %360, label %849 [
    i32 1, label %361
    i32 2, label %387
    i32 3, label %394
    i32 0, label %391
  ]

361:                                              ; preds = %350
  %362 = getelementptr inbounds i8, ptr %334, i64 24
  %363 = load i32, ptr %362, align 8
  %364 = icmp eq i32 %363, 0
  br i1 %364, label %365, label %370

365:                                              ; preds = %361
  %366 = getelementptr inbounds i8, ptr %334, i64 32
  %367 = load i32, ptr %366, align 8
  %368 = icmp eq i32 %367, 0
  %369 = icmp eq i32 %333, 0
  br i1 %369, label %372, label %377

370:                                              ; preds = %361
  %371 = icmp eq i32 %333, 0
  br i1 %371, label %372, label %383

372:                                              ; preds = %370, %365
  %373 = phi i1 [ false, %370 ], [ %368, %365 ]
  %374 = zext i1 %373 to i32
  %375 = getelementptr inbounds i8, ptr %334, i64 28
  %376 = load i32, ptr %375, align 4
  br label %394

377:                                              ; preds = %365
  br i1 %368, label %378, label %383

378:                                              ; preds = %377
  %379 = getelementptr inbounds i8, ptr %334, i64 28
  %380 = load i32, ptr %379, align 4
  %381 = icmp eq i32 %380, %332
  %382 = zext i1 %381 to i32
  br label %383

383:                                              ; preds = %378, %377, %370
  %384 = phi i32 [ 0, %377 ], [ %382, %378 ], [ 0, %370 ]
  %385 = and i32 %384, %331
  %386 = add i32 %333, 1
  br label %394

387:                                              ; preds = %350
  %388 = trunc nuw nsw i64 %326 to i32
  %389 = shl nuw i32 1, %388
  %390 = or i32 %389, %328
  br label %394

391:                                              ; preds = %350
  %392 = load i32, ptr %284, align 4
  %393 = add i32 %392, -1
  store i32 %393, ptr %284, align 4
  br label %394

394:                                              ; preds = %391, %387, %383, %372, %350, %344
  %395 = phi i32 [ 1, %372 ], [ %386, %383 ], [ %333, %344 ], [ %333, %387 ], [ %333, %350 ], [ %333, %391 ]
  %396 = phi i32 [ %376, %372 ], [ %332, %383 ], [ %332, %344 ], [ %332, %387 ], [ %332, %350 ], [ %332, %391 ]
  %397 = phi i32 [ %374, %372 ], [ %385, %383 ], [ %331, %344 ], [ %331, %387 ], [ %331, %350 ], [ %331, %391 ]
  %398 = phi i32 [ %330, %372 ], [ %330, %383 ], [ %330, %344 ], [ %330, %387 ], [ 1, %350 ], [ %330, %391 ]
  %399 = phi i32 [ %329, %372 ], [ %329, %383 ], [ %329, %344 ], [ 1, %387 ], [ %329, %350 ], [ %329, %391 ]
  %400 = phi i32 [ %328, %372 ], [ %328, %383 ], [ %349, %344 ], [ %390, %387 ], [ %328, %350 ], [ %328, %391 ]
  %401 = phi i32 [ 1, %372 ], [ 1, %383 ], [ %327, %344 ], [ %327, %387 ], [ %327, %350 ], [ 1, %391 ]
  %402 = add nuw nsw i64 %326, 1
  %403 = icmp eq i64 %402, %307
  br i1 %403, label %404, label %325, !llvm.loop !14

404:                                              ; preds = %394
  %405 = add nuw nsw i32 %321, 1
  %406 = icmp eq i32 %400, 0
  br i1 %406, label %527, label %407

407:                                              ; preds = %404, %407
  %408 = phi i64 [ %417, %407 ], [ 0, %404 ]
  %409 = phi i32 [ %416, %407 ], [ 0, %404 ]
  %410 = getelementptr %struct.Thread, ptr %309, i64 %408, i32 1
  %411 = load i32, ptr %410, align 4
  %412 = icmp ne i32 %411, 0
  %413 = zext i1 %412 to i32
  %414 = trunc nuw i64 %408 to i32
  %415 = shl nuw i32 %413, %414
  %416 = or i32 %415, %409
  %417 = add nuw nsw i64 %408, 1
  %418 = icmp eq i64 %417, %312
  br i1 %418, label %419, label %407, !llvm.loop !15

419:                                              ; preds = %407, %475
  %420 = phi i32 [ %461, %475 ], [ %400, %407 ]
  %421 = phi i32 [ %477, %475 ], [ 0, %407 ]
  %422 = phi i32 [ %476, %475 ], [ 0, %407 ]
  %423 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %420, i1 true)
  %424 = zext nneg i32 %423 to i64
  %425 = getelementptr %struct.Thread, ptr %309, i64 %424
  %426 = getelementptr inbounds i8, ptr %425, i64 24
  %427 = load i32, ptr %426, align 8
  %428 = getelementptr inbounds i8, ptr %425, i64 36
  %429 = getelementptr inbounds i8, ptr %425, i64 40
  %430 = load i32, ptr %429, align 8
  %431 = icmp eq i32 %427, 0
  br label %432

432:                                              ; preds = %446, %419
  %433 = phi i32 [ 0, %419 ], [ %455, %446 ]
  %434 = phi i32 [ %420, %419 ], [ %457, %446 ]
  %435 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %434, i1 true)
  %436 = zext nneg i32 %435 to i64
  %437 = getelementptr %struct.Thread, ptr %309, i64 %436
  %438 = getelementptr inbounds i8, ptr %437, i64 24
  %439 = load i32, ptr %438, align 8
  %440 = icmp eq i32 %439, %427
  br i1 %440, label %441, label %446

441:                                              ; preds = %432
  %442 = getelementptr inbounds i8, ptr %437, i64 36
  %443 = load i32, ptr %442, align 4
  %444 = load i32, ptr %428, align 4
  %445 = icmp eq i32 %443, %444
  br label %446

446:                                              ; preds = %441, %432
  %447 = phi i1 [ false, %432 ], [ %445, %441 ]
  %448 = getelementptr inbounds i8, ptr %437, i64 40
  %449 = load i32, ptr %448, align 8
  %450 = icmp eq i32 %449, %430
  %451 = or i1 %431, %450
  %452 = and i1 %447, %451
  %453 = zext i1 %452 to i32
  %454 = shl nuw i32 %453, %435
  %455 = or i32 %454, %433
  %456 = add i32 %434, -1
  %457 = and i32 %456, %434
  %458 = icmp eq i32 %457, 0
  br i1 %458, label %459, label %432, !llvm.loop !16

459:                                              ; preds = %446
  %460 = xor i32 %455, -1
  %461 = and i32 %420, %460
  %462 = icmp eq i32 %427, 19
  br i1 %462, label %466, label %463

463:                                              ; preds = %459
  %464 = load i32, ptr %428, align 4
  %465 = icmp eq i32 %464, 0
  br i1 %465, label %466, label %468

466:                                              ; preds = %463, %459
  %467 = or i32 %455, %421
  br label %475

468:                                              ; preds = %463
  %469 = and i32 %416, %460
  %470 = and i32 %469, %464
  %471 = icmp eq i32 %470, 0
  br i1 %471, label %472, label %475

472:                                              ; preds = %468
  %473 = and i32 %464, %455
  tail call fastcc void @complete_operation(ptr noundef nonnull %309, i32 noundef %455, i32 noundef %473)
  %474 = or i32 %455, %422
  br label %475

475:                                              ; preds = %472, %468, %466
  %476 = phi i32 [ %422, %466 ], [ %474, %472 ], [ %422, %468 ]
  %477 = phi i32 [ %467, %466 ], [ %421, %472 ], [ %421, %468 ]
  %478 = icmp eq i32 %461, 0
  br i1 %478, label %479, label %419, !llvm.loop !17

479:                                              ; preds = %475
  %480 = icmp eq i32 %476, 0
  br i1 %480, label %481, label %525

481:                                              ; preds = %479
  %482 = icmp eq i32 %477, 0
  br i1 %482, label %527, label %483

483:                                              ; preds = %481, %521
  %484 = phi i32 [ %523, %521 ], [ %477, %481 ]
  %485 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %484, i1 true)
  %486 = zext nneg i32 %485 to i64
  %487 = getelementptr %struct.Thread, ptr %309, i64 %486
  %488 = getelementptr inbounds i8, ptr %487, i64 24
  %489 = load i32, ptr %488, align 8
  %490 = getelementptr inbounds i8, ptr %487, i64 36
  %491 = getelementptr inbounds i8, ptr %487, i64 40
  %492 = load i32, ptr %491, align 8
  %493 = icmp eq i32 %489, 0
  br label %494

494:                                              ; preds = %508, %483
  %495 = phi i32 [ 0, %483 ], [ %517, %508 ]
  %496 = phi i32 [ %484, %483 ], [ %519, %508 ]
  %497 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %496, i1 true)
  %498 = zext nneg i32 %497 to i64
  %499 = getelementptr %struct.Thread, ptr %309, i64 %498
  %500 = getelementptr inbounds i8, ptr %499, i64 24
  %501 = load i32, ptr %500, align 8
  %502 = icmp eq i32 %501, %489
  br i1 %502, label %503, label %508

503:                                              ; preds = %494
  %504 = getelementptr inbounds i8, ptr %499, i64 36
  %505 = load i32, ptr %504, align 4
  %506 = load i32, ptr %490, align 4
  %507 = icmp eq i32 %505, %506
  br label %508

508:                                              ; preds = %503, %494
  %509 = phi i1 [ false, %494 ], [ %507, %503 ]
  %510 = getelementptr inbounds i8, ptr %499, i64 40
  %511 = load i32, ptr %510, align 8
  %512 = icmp eq i32 %511, %492
  %513 = or i1 %493, %512
  %514 = and i1 %509, %513
  %515 = zext i1 %514 to i32
  %516 = shl nuw i32 %515, %497
  %517 = or i32 %516, %495
  %518 = add i32 %496, -1
  %519 = and i32 %518, %496
  %520 = icmp eq i32 %519, 0
  br i1 %520, label %521, label %494, !llvm.loop !16

521:                                              ; preds = %508
  %522 = xor i32 %517, -1
  %523 = and i32 %484, %522
  tail call fastcc void @complete_operation(ptr noundef nonnull %309, i32 noundef %517, i32 noundef %517)
  %524 = icmp eq i32 %523, 0
  br i1 %524, label %525, label %483, !llvm.loop !18

525:                                              ; preds = %521, %479
  %526 = icmp eq i32 %405, 256
  br i1 %526, label %527, label %313, !llvm.loop !19

527:                                              ; preds = %525, %481, %404
  %528 = phi i32 [ %405, %481 ], [ %405, %404 ], [ 256, %525 ]
  %529 = icmp eq i32 %528, 256
  %530 = zext i1 %529 to i32
  %531 = or i32 %398, %530
  %532 = add i32 %301, 32
  %533 = icmp ult i32 %532, %229
  %534 = add i32 %297, -32
  br i1 %533, label %296, label %535, !llvm.loop !20

535:                                              ; preds = %527, %295
  %536 = phi i32 [ %288, %295 ], [ %395, %527 ]
  %537 = phi i32 [ %289, %295 ], [ %396, %527 ]
  %538 = phi i32 [ %290, %295 ], [ %397, %527 ]
  %539 = phi i32 [ 0, %295 ], [ %531, %527 ]
  %540 = phi i32 [ 0, %295 ], [ %399, %527 ]
  %541 = phi i32 [ 0, %295 ], [ %401, %527 ]
  %542 = load i32, ptr %284, align 4
  %543 = icmp eq i32 %542, 0
  br i1 %543, label %850, label %544

544:                                              ; preds = %535
  %545 = icmp ne i32 %538, 0
  %546 = icmp eq i32 %536, %542
  %547 = select i1 %545, i1 %546, i1 false
  br i1 %547, label %548, label %554

548:                                              ; preds = %544
  %549 = and i32 %537, 15
  %550 = zext nneg i32 %549 to i64
  %551 = getelementptr [16 x i32], ptr %285, i64 0, i64 %550
  %552 = load i32, ptr %551, align 4
  %553 = icmp eq i32 %552, 0
  br i1 %553, label %669, label %556

554:                                              ; preds = %544
  %555 = icmp eq i32 %536, 0
  br i1 %555, label %669, label %556

556:                                              ; preds = %554, %548
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %6) #12
  %557 = call fastcc i32 @look_at_barriers(ptr noundef readonly %0, ptr noundef nonnull %101, ptr noundef nonnull %6)
  %558 = icmp eq i32 %557, 0
  br i1 %558, label %657, label %559

559:                                              ; preds = %556, %597
  %560 = phi i32 [ %599, %597 ], [ 0, %556 ]
  %561 = phi i32 [ %600, %597 ], [ 0, %556 ]
  %562 = phi i32 [ %602, %597 ], [ %557, %556 ]
  %563 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %562, i1 true)
  %564 = zext nneg i32 %563 to i64
  %565 = getelementptr [16 x %struct.Barrier], ptr %6, i64 0, i64 %564
  %566 = getelementptr [16 x i32], ptr %285, i64 0, i64 %564
  %567 = load i32, ptr %566, align 4
  %568 = getelementptr inbounds i8, ptr %565, i64 12
  %569 = load i32, ptr %568, align 4
  %570 = icmp eq i32 %569, 0
  br i1 %570, label %576, label %580

571:                                              ; preds = %597
  %572 = icmp eq i32 %599, 0
  br i1 %572, label %657, label %573

573:                                              ; preds = %571
  %574 = load i32, ptr %84, align 8
  %575 = icmp eq i32 %574, 0
  br i1 %575, label %659, label %604

576:                                              ; preds = %559
  %577 = load i32, ptr %565, align 16
  %578 = add i32 %577, %567
  %579 = icmp ult i32 %578, %542
  br i1 %579, label %597, label %591

580:                                              ; preds = %559
  %581 = add i32 %569, 31
  %582 = and i32 %581, -32
  %583 = getelementptr inbounds i8, ptr %565, i64 4
  %584 = load i32, ptr %583, align 4
  %585 = add i32 %584, %567
  %586 = icmp ult i32 %585, %582
  br i1 %586, label %597, label %587

587:                                              ; preds = %580
  %588 = tail call i32 @llvm.usub.sat.i32(i32 %582, i32 %584)
  %589 = tail call i32 @llvm.usub.sat.i32(i32 %567, i32 %588)
  %590 = load i32, ptr %565, align 16
  br label %591

591:                                              ; preds = %587, %576
  %592 = phi i32 [ %590, %587 ], [ %577, %576 ]
  %593 = phi i32 [ %589, %587 ], [ 0, %576 ]
  store i32 %593, ptr %566, align 4
  %594 = shl nuw nsw i32 1, %563
  %595 = or i32 %594, %560
  %596 = add i32 %592, %561
  br label %597

597:                                              ; preds = %591, %580, %576
  %598 = phi i32 [ %596, %591 ], [ %561, %576 ], [ %561, %580 ]
  %599 = phi i32 [ %595, %591 ], [ %560, %576 ], [ %560, %580 ]
  %600 = freeze i32 %598
  %601 = add nsw i32 %562, -1
  %602 = and i32 %601, %562
  %603 = icmp eq i32 %602, 0
  br i1 %603, label %571, label %559, !llvm.loop !21

604:                                              ; preds = %573, %652
  %605 = phi i32 [ %653, %652 ], [ %574, %573 ]
  %606 = phi i64 [ %654, %652 ], [ 0, %573 ]
  %607 = load ptr, ptr %286, align 8
  %608 = getelementptr %struct.Thread, ptr %607, i64 %606
  %609 = getelementptr inbounds i8, ptr %608, i64 28
  %610 = load i32, ptr %609, align 4
  %611 = and i32 %610, 15
  %612 = getelementptr inbounds i8, ptr %608, i64 4
  %613 = load i32, ptr %612, align 4
  %614 = icmp eq i32 %613, 1
  br i1 %614, label %615, label %652

615:                                              ; preds = %604
  %616 = shl nuw nsw i32 1, %611
  %617 = and i32 %616, %599
  %618 = icmp eq i32 %617, 0
  br i1 %618, label %652, label %619

619:                                              ; preds = %615
  %620 = zext nneg i32 %611 to i64
  %621 = getelementptr [16 x %struct.Barrier], ptr %6, i64 0, i64 %620
  %622 = getelementptr inbounds i8, ptr %608, i64 24
  %623 = load i32, ptr %622, align 8
  switch i32 %623, label %624 [
    i32 1, label %627
    i32 2, label %633
    i32 3, label %638
    i32 0, label %647
  ]

624:                                              ; preds = %619
  %625 = getelementptr inbounds i8, ptr %608, i64 64
  %626 = load i32, ptr %625, align 8
  br label %644

627:                                              ; preds = %619
  %628 = getelementptr inbounds i8, ptr %621, i64 8
  %629 = load i32, ptr %628, align 8
  %630 = load i32, ptr %621, align 16
  %631 = icmp eq i32 %629, %630
  %632 = zext i1 %631 to i32
  br label %641

633:                                              ; preds = %619
  %634 = getelementptr inbounds i8, ptr %621, i64 8
  %635 = load i32, ptr %634, align 8
  %636 = icmp ne i32 %635, 0
  %637 = zext i1 %636 to i32
  br label %641

638:                                              ; preds = %619
  %639 = getelementptr inbounds i8, ptr %621, i64 8
  %640 = load i32, ptr %639, align 8
  br label %641

641:                                              ; preds = %638, %633, %627
  %642 = phi i32 [ %632, %627 ], [ %640, %638 ], [ %637, %633 ]
  %643 = getelementptr inbounds i8, ptr %608, i64 64
  store i32 %642, ptr %643, align 8
  br label %644

644:                                              ; preds = %641, %624
  %645 = phi i32 [ %626, %624 ], [ %642, %641 ]
  %646 = icmp ne i32 %645, 0
  br label %647

647:                                              ; preds = %644, %619
  %648 = phi i1 [ %646, %644 ], [ false, %619 ]
  %649 = zext i1 %648 to i32
  %650 = getelementptr inbounds i8, ptr %608, i64 68
  store i32 %649, ptr %650, align 4
  store i32 5, ptr %612, align 4
  %651 = load i32, ptr %84, align 8
  br label %652

652:                                              ; preds = %647, %615, %604
  %653 = phi i32 [ %605, %604 ], [ %605, %615 ], [ %651, %647 ]
  %654 = add nuw nsw i64 %606, 1
  %655 = zext i32 %653 to i64
  %656 = icmp ult i64 %654, %655
  br i1 %656, label %604, label %659, !llvm.loop !22

657:                                              ; preds = %571, %556
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %6) #12
  %658 = and i32 %538, 1
  br label %664

659:                                              ; preds = %652, %573
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %6) #12
  %660 = sub i32 %536, %600
  %661 = icmp eq i32 %600, 0
  %662 = and i32 %538, 1
  %663 = select i1 %661, i32 %662, i32 0
  br label %664

664:                                              ; preds = %659, %657
  %665 = phi i32 [ %536, %657 ], [ %660, %659 ]
  %666 = phi i32 [ 0, %657 ], [ %600, %659 ]
  %667 = phi i32 [ %658, %657 ], [ %663, %659 ]
  %668 = or i32 %666, %541
  br label %669

669:                                              ; preds = %664, %554, %548
  %670 = phi i32 [ 0, %554 ], [ 0, %664 ], [ 1, %548 ]
  %671 = phi i32 [ 0, %554 ], [ %665, %664 ], [ 0, %548 ]
  %672 = phi i32 [ %538, %554 ], [ %667, %664 ], [ %538, %548 ]
  %673 = phi i32 [ %541, %554 ], [ %668, %664 ], [ 1, %548 ]
  %674 = or i32 %540, %539
  %675 = or i32 %674, %673
  %676 = icmp eq i32 %675, 0
  br i1 %676, label %677, label %842

677:                                              ; preds = %669
  %678 = load ptr, ptr %286, align 8
  %679 = load i32, ptr %84, align 8
  %680 = icmp ne i32 %679, 0
  tail call void @llvm.assume(i1 %680)
  %681 = zext i32 %679 to i64
  br label %685

682:                                              ; preds = %695
  %683 = icmp eq ptr %696, null
  %684 = select i1 %683, ptr %697, ptr %696
  br i1 %683, label %790, label %699

685:                                              ; preds = %695, %677
  %686 = phi i64 [ %681, %677 ], [ %689, %695 ]
  %687 = phi ptr [ null, %677 ], [ %697, %695 ]
  %688 = phi ptr [ null, %677 ], [ %696, %695 ]
  %689 = add nsw i64 %686, -1
  %690 = getelementptr %struct.Thread, ptr %678, i64 %689
  %691 = getelementptr inbounds i8, ptr %690, i64 4
  %692 = load i32, ptr %691, align 4
  switch i32 %692, label %694 [
    i32 1, label %695
    i32 2, label %693
  ]

693:                                              ; preds = %685
  br label %695

694:                                              ; preds = %685
  br label %695

695:                                              ; preds = %694, %693, %685
  %696 = phi ptr [ %690, %693 ], [ %688, %685 ], [ %688, %694 ]
  %697 = phi ptr [ %687, %693 ], [ %690, %685 ], [ %687, %694 ]
  %698 = icmp eq i64 %689, 0
  br i1 %698, label %682, label %685, !llvm.loop !23

699:                                              ; preds = %682
  %700 = getelementptr inbounds i8, ptr %696, i64 20
  %701 = load i32, ptr %700, align 4
  %702 = and i32 %701, -32
  %703 = sub i32 %679, %702
  %704 = tail call i32 @llvm.umin.i32(i32 %703, i32 32)
  %705 = icmp eq i32 %679, %702
  br i1 %705, label %728, label %706

706:                                              ; preds = %699
  %707 = zext i32 %702 to i64
  %708 = tail call i32 @llvm.umax.i32(i32 %704, i32 1)
  %709 = zext nneg i32 %708 to i64
  br label %777

710:                                              ; preds = %777
  %711 = getelementptr %struct.Thread, ptr %678, i64 %707
  %712 = zext nneg i32 %704 to i64
  br label %713

713:                                              ; preds = %713, %710
  %714 = phi i64 [ 0, %710 ], [ %723, %713 ]
  %715 = phi i32 [ 0, %710 ], [ %722, %713 ]
  %716 = getelementptr %struct.Thread, ptr %711, i64 %714, i32 1
  %717 = load i32, ptr %716, align 4
  %718 = icmp ne i32 %717, 0
  %719 = zext i1 %718 to i32
  %720 = trunc nuw i64 %714 to i32
  %721 = shl nuw i32 %719, %720
  %722 = or i32 %721, %715
  %723 = add nuw nsw i64 %714, 1
  %724 = icmp eq i64 %723, %712
  br i1 %724, label %725, label %713, !llvm.loop !15

725:                                              ; preds = %713
  %726 = xor i32 %722, -1
  %727 = icmp eq i32 %787, 0
  br i1 %727, label %728, label %732

728:                                              ; preds = %725, %699
  %729 = phi i32 [ %726, %725 ], [ -1, %699 ]
  %730 = getelementptr inbounds i8, ptr %684, i64 24
  %731 = load i32, ptr %730, align 8
  br label %766

732:                                              ; preds = %725
  %733 = getelementptr inbounds i8, ptr %684, i64 24
  %734 = load i32, ptr %733, align 8
  %735 = getelementptr inbounds i8, ptr %684, i64 36
  %736 = getelementptr inbounds i8, ptr %684, i64 40
  %737 = load i32, ptr %736, align 8
  %738 = icmp eq i32 %734, 0
  br label %739

739:                                              ; preds = %753, %732
  %740 = phi i32 [ 0, %732 ], [ %762, %753 ]
  %741 = phi i32 [ %787, %732 ], [ %764, %753 ]
  %742 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %741, i1 true)
  %743 = zext nneg i32 %742 to i64
  %744 = getelementptr %struct.Thread, ptr %711, i64 %743
  %745 = getelementptr inbounds i8, ptr %744, i64 24
  %746 = load i32, ptr %745, align 8
  %747 = icmp eq i32 %746, %734
  br i1 %747, label %748, label %753

748:                                              ; preds = %739
  %749 = getelementptr inbounds i8, ptr %744, i64 36
  %750 = load i32, ptr %749, align 4
  %751 = load i32, ptr %735, align 4
  %752 = icmp eq i32 %750, %751
  br label %753

753:                                              ; preds = %748, %739
  %754 = phi i1 [ false, %739 ], [ %752, %748 ]
  %755 = getelementptr inbounds i8, ptr %744, i64 40
  %756 = load i32, ptr %755, align 8
  %757 = icmp eq i32 %756, %737
  %758 = or i1 %738, %757
  %759 = and i1 %754, %758
  %760 = zext i1 %759 to i32
  %761 = shl nuw i32 %760, %742
  %762 = or i32 %761, %740
  %763 = add i32 %741, -1
  %764 = and i32 %763, %741
  %765 = icmp eq i32 %764, 0
  br i1 %765, label %766, label %739, !llvm.loop !16

766:                                              ; preds = %753, %728
  %767 = phi i32 [ %729, %728 ], [ %726, %753 ]
  %768 = phi i32 [ %731, %728 ], [ %734, %753 ]
  %769 = phi i32 [ 0, %728 ], [ %762, %753 ]
  %770 = getelementptr inbounds i8, ptr %684, i64 36
  %771 = load i32, ptr %770, align 4
  %772 = icmp ugt i32 %703, 31
  %773 = shl nsw i32 -1, %704
  %774 = xor i32 %773, -1
  %775 = select i1 %772, i32 -1, i32 %774
  %776 = and i32 %767, %775
  br label %808

777:                                              ; preds = %777, %706
  %778 = phi i64 [ 0, %706 ], [ %788, %777 ]
  %779 = phi i32 [ 0, %706 ], [ %787, %777 ]
  %780 = add nuw nsw i64 %778, %707
  %781 = getelementptr %struct.Thread, ptr %678, i64 %780, i32 1
  %782 = load i32, ptr %781, align 4
  %783 = icmp eq i32 %782, 2
  %784 = zext i1 %783 to i32
  %785 = trunc nuw nsw i64 %778 to i32
  %786 = shl nuw i32 %784, %785
  %787 = or i32 %786, %779
  %788 = add nuw nsw i64 %778, 1
  %789 = icmp eq i64 %788, %709
  br i1 %789, label %710, label %777, !llvm.loop !24

790:                                              ; preds = %682
  %791 = load i32, ptr %284, align 4
  %792 = sub i32 %679, %791
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %5) #12
  %793 = getelementptr inbounds i8, ptr %697, i64 28
  %794 = load i32, ptr %793, align 4
  %795 = and i32 %794, 15
  %796 = call fastcc i32 @look_at_barriers(ptr noundef %0, ptr noundef nonnull readonly %101, ptr noundef nonnull %5)
  %797 = zext nneg i32 %795 to i64
  %798 = getelementptr [16 x %struct.Barrier], ptr %5, i64 0, i64 %797
  %799 = load i32, ptr %798, align 16
  %800 = getelementptr [16 x i32], ptr %285, i64 0, i64 %797
  %801 = load i32, ptr %800, align 4
  %802 = add i32 %801, %799
  %803 = getelementptr inbounds i8, ptr %798, i64 12
  %804 = load i32, ptr %803, align 4
  %805 = icmp eq i32 %804, 0
  %806 = select i1 %805, i32 %791, i32 %804
  %807 = load i32, ptr %793, align 4
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %5) #12
  br label %808

808:                                              ; preds = %790, %766
  %809 = phi ptr [ %697, %790 ], [ %684, %766 ]
  %810 = phi i32 [ 8, %790 ], [ 9, %766 ]
  %811 = phi i32 [ %792, %790 ], [ %776, %766 ]
  %812 = phi i32 [ %807, %790 ], [ %768, %766 ]
  %813 = phi i32 [ %806, %790 ], [ %771, %766 ]
  %814 = phi i32 [ %802, %790 ], [ %769, %766 ]
  %815 = getelementptr inbounds i8, ptr %0, i64 96
  %816 = atomicrmw xchg ptr %815, i32 1 acq_rel, align 8
  %817 = icmp eq i32 %816, 0
  br i1 %817, label %818, label %849

818:                                              ; preds = %808
  %819 = getelementptr inbounds i8, ptr %0, i64 100
  store i32 %810, ptr %819, align 4
  %820 = getelementptr inbounds i8, ptr %0, i64 104
  store i32 0, ptr %820, align 8
  %821 = getelementptr inbounds i8, ptr %809, i64 40
  %822 = load i32, ptr %821, align 8
  %823 = getelementptr inbounds i8, ptr %0, i64 108
  store i32 %822, ptr %823, align 4
  %824 = getelementptr inbounds i8, ptr %0, i64 112
  %825 = getelementptr inbounds i8, ptr %809, i64 8
  %826 = getelementptr inbounds i8, ptr %0, i64 124
  br label %832

827:                                              ; preds = %832
  %828 = getelementptr inbounds i8, ptr %0, i64 152
  store i32 %814, ptr %828, align 4
  %829 = getelementptr inbounds i8, ptr %0, i64 156
  store i32 %813, ptr %829, align 4
  %830 = getelementptr inbounds i8, ptr %0, i64 160
  store i32 %812, ptr %830, align 4
  %831 = getelementptr inbounds i8, ptr %0, i64 164
  store i32 %811, ptr %831, align 4
  br label %849

832:                                              ; preds = %832, %818
  %833 = phi i64 [ 0, %818 ], [ %840, %832 ]
  %834 = getelementptr [3 x i32], ptr %281, i64 0, i64 %833
  %835 = load i32, ptr %834, align 4
  %836 = getelementptr [3 x i32], ptr %824, i64 0, i64 %833
  store i32 %835, ptr %836, align 4
  %837 = getelementptr [3 x i32], ptr %825, i64 0, i64 %833
  %838 = load i32, ptr %837, align 4
  %839 = getelementptr [3 x i32], ptr %826, i64 0, i64 %833
  store i32 %838, ptr %839, align 4
  %840 = add nuw nsw i64 %833, 1
  %841 = icmp eq i64 %840, 3
  br i1 %841, label %827, label %832, !llvm.loop !25

842:                                              ; preds = %669
  %843 = icmp eq i32 %539, 0
  %844 = icmp eq i32 %673, 0
  %845 = select i1 %844, i32 4096, i32 256
  %846 = select i1 %843, i32 16, i32 %845
  %847 = add i32 %846, %292
  %848 = icmp ult i32 %847, 1048576
  br i1 %848, label %287, label %851, !llvm.loop !26

849:                                              ; preds = %350, %827, %808
  store atomic i32 1, ptr %81 release, align 8
  br label %874

850:                                              ; preds = %535
  store i32 0, ptr %102, align 8
  br label %853

851:                                              ; preds = %842
  %852 = load i32, ptr %102, align 8
  br label %853

853:                                              ; preds = %851, %850
  %854 = phi i32 [ 0, %850 ], [ %852, %851 ]
  %855 = phi i32 [ 1, %850 ], [ %226, %851 ]
  %856 = add i32 %854, %98
  br label %857

857:                                              ; preds = %853, %115, %111
  %858 = phi i32 [ %855, %853 ], [ %99, %111 ], [ %99, %115 ]
  %859 = phi i32 [ %856, %853 ], [ %98, %111 ], [ %98, %115 ]
  %860 = add nuw nsw i64 %96, 1
  %861 = icmp eq i64 %860, %91
  br i1 %861, label %862, label %95, !llvm.loop !27

862:                                              ; preds = %857
  %863 = icmp eq i32 %858, 0
  br i1 %863, label %864, label %92, !llvm.loop !28

864:                                              ; preds = %862
  %865 = icmp eq i32 %859, 0
  br i1 %865, label %874, label %866

866:                                              ; preds = %864
  %867 = load atomic i64, ptr %82 monotonic, align 8
  %868 = load i64, ptr %83, align 8
  %869 = icmp ult i64 %867, %868
  %870 = select i1 %869, i32 3, i32 2
  br label %874

871:                                              ; preds = %76
  %872 = load ptr, ptr %1, align 8
  %873 = tail call fastcc i32 @run_plain(ptr noundef %0, ptr noundef %872, i64 noundef %3)
  br label %874

874:                                              ; preds = %106, %95, %287, %79, %866, %864, %849, %871, %74
  %875 = phi i32 [ %75, %74 ], [ %873, %871 ], [ 0, %864 ], [ %870, %866 ], [ 0, %849 ], [ 0, %79 ], [ 0, %287 ], [ 1, %106 ], [ 0, %95 ]
  ret i32 %875
}

; Function Attrs: nounwind
define internal fastcc noundef i32 @run_plain(ptr noundef %0, ptr nocapture noundef readonly %1, i64 noundef %2) unnamed_addr #4 {
  %4 = alloca %struct.Launch, align 8
  %5 = alloca %struct.Block, align 8
  %6 = alloca %struct.Thread, align 8
  %7 = load i32, ptr @KERNEL_PARAM_NBYTES, align 4
  %8 = zext i32 %7 to i64
  %9 = alloca i8, i64 %8, align 128
  %10 = load ptr, ptr %0, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 128 %9, ptr align 1 %10, i64 %8, i1 false)
  call void @llvm.lifetime.start.p0(i64 168, ptr nonnull %4) #12
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(168) %4, ptr noundef nonnull align 8 dereferenceable(168) %0, i64 168, i1 false)
  store ptr %9, ptr %4, align 8
  call void @llvm.lifetime.start.p0(i64 368, ptr nonnull %5) #12
  %11 = getelementptr inbounds i8, ptr %5, i64 8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(368) %11, i8 0, i64 360, i1 false)
  store ptr %0, ptr %5, align 8
  %12 = getelementptr inbounds i8, ptr %5, i64 32
  %13 = getelementptr inbounds i8, ptr %1, i64 384
  %14 = load ptr, ptr %13, align 8
  store ptr %14, ptr %12, align 8
  call void @llvm.lifetime.start.p0(i64 80, ptr nonnull %6) #12
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(80) %6, i8 0, i64 72, i1 false)
  %15 = getelementptr inbounds i8, ptr %6, i64 72
  %16 = getelementptr inbounds i8, ptr %1, i64 376
  %17 = load ptr, ptr %16, align 8
  store ptr %17, ptr %15, align 8
  %18 = getelementptr inbounds i8, ptr %0, i64 20
  %19 = load i32, ptr %18, align 4
  %20 = getelementptr i8, ptr %0, i64 24
  %21 = load i32, ptr %20, align 4
  %22 = getelementptr i8, ptr %0, i64 28
  %23 = load i32, ptr %22, align 4
  %24 = getelementptr inbounds i8, ptr %0, i64 32
  %25 = load i32, ptr %24, align 8
  %26 = getelementptr inbounds i8, ptr %5, i64 20
  store i32 %25, ptr %26, align 4
  %27 = getelementptr inbounds i8, ptr %0, i64 64
  %28 = load atomic i32, ptr %27 monotonic, align 8
  %29 = icmp eq i32 %28, 0
  br i1 %29, label %30, label %115

30:                                               ; preds = %3
  %31 = getelementptr inbounds i8, ptr %0, i64 68
  %32 = getelementptr inbounds i8, ptr %0, i64 56
  %33 = getelementptr inbounds i8, ptr %0, i64 48
  %34 = getelementptr inbounds i8, ptr %0, i64 8
  %35 = getelementptr inbounds i8, ptr %5, i64 24
  %36 = getelementptr inbounds i8, ptr %5, i64 8
  %37 = getelementptr i8, ptr %0, i64 12
  %38 = getelementptr inbounds i8, ptr %5, i64 12
  %39 = getelementptr inbounds i8, ptr %5, i64 16
  %40 = icmp eq i32 %23, 0
  %41 = icmp eq i32 %21, 0
  %42 = load i32, ptr @KERNEL_HAS_PRIVATE_MEMORY, align 4
  %43 = icmp eq i32 %42, 0
  %44 = icmp eq i32 %19, 0
  br label %48

45:                                               ; preds = %112, %62, %58
  %46 = load atomic i32, ptr %27 monotonic, align 8
  %47 = icmp eq i32 %46, 0
  br i1 %47, label %48, label %115

48:                                               ; preds = %30, %45
  %49 = phi i64 [ %2, %30 ], [ %50, %45 ]
  %50 = add i64 %49, -1
  %51 = icmp eq i64 %49, 0
  br i1 %51, label %115, label %52

52:                                               ; preds = %48
  %53 = load i32, ptr %31, align 4
  %54 = zext i32 %53 to i64
  %55 = atomicrmw add ptr %32, i64 %54 monotonic, align 8
  %56 = load i64, ptr %33, align 8
  %57 = icmp ult i64 %55, %56
  br i1 %57, label %58, label %115

58:                                               ; preds = %52
  %59 = add i64 %55, %54
  %60 = call i64 @llvm.umin.i64(i64 %59, i64 %56)
  %61 = icmp ugt i64 %59, %55
  br i1 %61, label %62, label %45

62:                                               ; preds = %58, %112
  %63 = phi i64 [ %113, %112 ], [ %55, %58 ]
  %64 = load atomic i32, ptr %27 monotonic, align 8
  %65 = icmp eq i32 %64, 0
  br i1 %65, label %66, label %45

66:                                               ; preds = %62
  %67 = load i32, ptr %34, align 8
  %68 = zext i32 %67 to i64
  %69 = udiv i64 %63, %68
  store i64 %63, ptr %35, align 8
  %70 = urem i64 %63, %68
  %71 = trunc nuw i64 %70 to i32
  store i32 %71, ptr %36, align 8
  %72 = load i32, ptr %37, align 4
  %73 = zext i32 %72 to i64
  %74 = urem i64 %69, %73
  %75 = trunc nuw i64 %74 to i32
  store i32 %75, ptr %38, align 4
  %76 = udiv i64 %69, %73
  %77 = trunc i64 %76 to i32
  store i32 %77, ptr %39, align 8
  br i1 %40, label %112, label %78

78:                                               ; preds = %66, %108
  %79 = phi i32 [ %109, %108 ], [ 0, %66 ]
  br i1 %41, label %108, label %83

80:                                               ; preds = %85, %86, %105
  %81 = add nuw i32 %84, 1
  %82 = icmp eq i32 %81, %21
  br i1 %82, label %108, label %83, !llvm.loop !29

83:                                               ; preds = %78, %80
  %84 = phi i32 [ %81, %80 ], [ 0, %78 ]
  br i1 %43, label %86, label %85

85:                                               ; preds = %83
  br i1 %44, label %80, label %87

86:                                               ; preds = %83
  br i1 %44, label %80, label %96

87:                                               ; preds = %85, %87
  %88 = phi i32 [ %94, %87 ], [ 0, %85 ]
  %89 = phi i32 [ %93, %87 ], [ 0, %85 ]
  %90 = call i32 @kernel_thread(ptr noundef nonnull %4, ptr noundef nonnull %5, ptr noundef nonnull %6, i32 noundef %88, i32 noundef %84, i32 noundef %79, i32 noundef %71, i32 noundef %75, i32 noundef %77) #12
  %91 = icmp eq i32 %90, 4
  %92 = zext i1 %91 to i32
  %93 = or i32 %89, %92
  %94 = add nuw i32 %88, 1
  %95 = icmp eq i32 %94, %19
  br i1 %95, label %105, label %87, !llvm.loop !30

96:                                               ; preds = %86, %96
  %97 = phi i32 [ %103, %96 ], [ 0, %86 ]
  %98 = phi i32 [ %102, %96 ], [ 0, %86 ]
  %99 = call i32 @kernel_thread(ptr noundef nonnull %4, ptr noundef nonnull %5, ptr noundef nonnull %6, i32 noundef %97, i32 noundef %84, i32 noundef %79, i32 noundef %71, i32 noundef %75, i32 noundef %77) #12, !llvm.access.group !31
  %100 = icmp eq i32 %99, 4
  %101 = zext i1 %100 to i32
  %102 = or i32 %98, %101
  %103 = add nuw i32 %97, 1
  %104 = icmp eq i32 %103, %19
  br i1 %104, label %105, label %96, !llvm.loop !32

105:                                              ; preds = %87, %96
  %106 = phi i32 [ %102, %96 ], [ %93, %87 ]
  %107 = icmp eq i32 %106, 0
  br i1 %107, label %80, label %111

108:                                              ; preds = %80, %78
  %109 = add nuw i32 %79, 1
  %110 = icmp eq i32 %109, %23
  br i1 %110, label %112, label %78, !llvm.loop !35

111:                                              ; preds = %105
  store atomic i32 1, ptr %27 release, align 8
  br label %115

112:                                              ; preds = %108, %66
  %113 = add nuw i64 %63, 1
  %114 = icmp ult i64 %113, %60
  br i1 %114, label %62, label %45, !llvm.loop !36

115:                                              ; preds = %48, %45, %52, %3, %111
  %116 = phi i32 [ 0, %111 ], [ 0, %3 ], [ 1, %48 ], [ 0, %45 ], [ 0, %52 ]
  call void @llvm.lifetime.end.p0(i64 80, ptr nonnull %6) #12
  call void @llvm.lifetime.end.p0(i64 368, ptr nonnull %5) #12
  call void @llvm.lifetime.end.p0(i64 168, ptr nonnull %4) #12
  ret i32 %116
}

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #5

declare extern_weak i32 @kernel_block(ptr noundef, ptr noundef, ptr noundef, i32 noundef, i32 noundef, i32 noundef) local_unnamed_addr #6

declare i32 @kernel_thread(ptr noundef, ptr noundef, ptr noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef) local_unnamed_addr #6

; Function Attrs: nofree norecurse nosync nounwind memory(read, argmem: readwrite, inaccessiblemem: none)
define internal fastcc void @complete_operation(ptr nocapture noundef %0, i32 noundef %1, i32 noundef %2) unnamed_addr #7 {
  %4 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %1, i1 true)
  %5 = zext nneg i32 %4 to i64
  %6 = getelementptr %struct.Thread, ptr %0, i64 %5, i32 4
  %7 = load i32, ptr %6, align 8
  %8 = icmp eq i32 %2, 0
  %9 = select i1 %8, i32 %1, i32 %2
  switch i32 %7, label %224 [
    i32 0, label %264
    i32 1, label %12
    i32 2, label %12
    i32 3, label %12
    i32 4, label %12
    i32 5, label %71
    i32 6, label %91
    i32 7, label %110
    i32 8, label %132
    i32 9, label %10
    i32 10, label %182
    i32 19, label %207
    i32 20, label %208
  ]

10:                                               ; preds = %3
  %11 = icmp eq i32 %1, 0
  br i1 %11, label %279, label %152

12:                                               ; preds = %3, %3, %3, %3
  %13 = icmp eq i32 %1, 0
  br i1 %13, label %279, label %14

14:                                               ; preds = %12, %45
  %15 = phi i32 [ %61, %45 ], [ %1, %12 ]
  %16 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %15, i1 true)
  %17 = zext nneg i32 %16 to i64
  %18 = getelementptr %struct.Thread, ptr %0, i64 %17
  %19 = getelementptr inbounds i8, ptr %18, i64 48
  %20 = load i32, ptr %19, align 8
  %21 = and i32 %20, 31
  %22 = getelementptr inbounds i8, ptr %18, i64 52
  %23 = load i32, ptr %22, align 4
  %24 = and i32 %23, 31
  %25 = lshr i32 %23, 8
  %26 = and i32 %25, %16
  %27 = xor i32 %25, -1
  %28 = and i32 %24, %27
  %29 = or i32 %26, %28
  %30 = getelementptr inbounds i8, ptr %18, i64 24
  %31 = load i32, ptr %30, align 8
  switch i32 %31, label %39 [
    i32 1, label %32
    i32 2, label %35
    i32 3, label %37
  ]

32:                                               ; preds = %14
  %33 = sub nsw i32 %16, %21
  %34 = icmp sge i32 %33, %29
  br label %45

35:                                               ; preds = %14
  %36 = add nuw nsw i32 %21, %16
  br label %42

37:                                               ; preds = %14
  %38 = xor i32 %21, %16
  br label %42

39:                                               ; preds = %14
  %40 = and i32 %21, %27
  %41 = or i32 %26, %40
  br label %42

42:                                               ; preds = %39, %37, %35
  %43 = phi i32 [ %36, %35 ], [ %38, %37 ], [ %41, %39 ]
  %44 = icmp ule i32 %43, %29
  br label %45

45:                                               ; preds = %42, %32
  %46 = phi i32 [ %33, %32 ], [ %43, %42 ]
  %47 = phi i1 [ %34, %32 ], [ %44, %42 ]
  %48 = zext i1 %47 to i32
  %49 = shl nuw i32 1, %46
  %50 = and i32 %49, %9
  %51 = icmp ne i32 %50, 0
  %52 = select i1 %47, i1 %51, i1 false
  %53 = sext i32 %46 to i64
  %54 = getelementptr %struct.Thread, ptr %0, i64 %53, i32 9
  %55 = getelementptr inbounds i8, ptr %18, i64 44
  %56 = select i1 %52, ptr %54, ptr %55
  %57 = load i32, ptr %56, align 4
  %58 = getelementptr inbounds i8, ptr %18, i64 64
  store i32 %57, ptr %58, align 8
  %59 = getelementptr inbounds i8, ptr %18, i64 68
  store i32 %48, ptr %59, align 4
  %60 = add i32 %15, -1
  %61 = and i32 %60, %15
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %63, label %14, !llvm.loop !37

63:                                               ; preds = %45, %63
  %64 = phi i32 [ %69, %63 ], [ %1, %45 ]
  %65 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %64, i1 true)
  %66 = zext nneg i32 %65 to i64
  %67 = getelementptr %struct.Thread, ptr %0, i64 %66, i32 1
  store i32 5, ptr %67, align 4
  %68 = add i32 %64, -1
  %69 = and i32 %68, %64
  %70 = icmp eq i32 %69, 0
  br i1 %70, label %279, label %63, !llvm.loop !38

71:                                               ; preds = %3
  %72 = icmp eq i32 %9, 0
  br i1 %72, label %87, label %73

73:                                               ; preds = %71, %73
  %74 = phi i32 [ %83, %73 ], [ 0, %71 ]
  %75 = phi i32 [ %85, %73 ], [ %9, %71 ]
  %76 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %75, i1 true)
  %77 = zext nneg i32 %76 to i64
  %78 = getelementptr %struct.Thread, ptr %0, i64 %77, i32 9
  %79 = load i32, ptr %78, align 4
  %80 = icmp ne i32 %79, 0
  %81 = zext i1 %80 to i32
  %82 = shl nuw i32 %81, %76
  %83 = or i32 %82, %74
  %84 = add i32 %75, -1
  %85 = and i32 %84, %75
  %86 = icmp eq i32 %85, 0
  br i1 %86, label %87, label %73, !llvm.loop !39

87:                                               ; preds = %73, %71
  %88 = phi i32 [ 0, %71 ], [ %83, %73 ]
  %89 = icmp eq i32 %88, %9
  %90 = zext i1 %89 to i32
  br label %264

91:                                               ; preds = %3
  %92 = icmp eq i32 %9, 0
  br i1 %92, label %264, label %93

93:                                               ; preds = %91, %93
  %94 = phi i32 [ %103, %93 ], [ 0, %91 ]
  %95 = phi i32 [ %105, %93 ], [ %9, %91 ]
  %96 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %95, i1 true)
  %97 = zext nneg i32 %96 to i64
  %98 = getelementptr %struct.Thread, ptr %0, i64 %97, i32 9
  %99 = load i32, ptr %98, align 4
  %100 = icmp ne i32 %99, 0
  %101 = zext i1 %100 to i32
  %102 = shl nuw i32 %101, %96
  %103 = or i32 %102, %94
  %104 = add i32 %95, -1
  %105 = and i32 %104, %95
  %106 = icmp eq i32 %105, 0
  br i1 %106, label %107, label %93, !llvm.loop !39

107:                                              ; preds = %93
  %108 = icmp ne i32 %103, 0
  %109 = zext i1 %108 to i32
  br label %264

110:                                              ; preds = %3
  %111 = icmp eq i32 %9, 0
  br i1 %111, label %126, label %112

112:                                              ; preds = %110, %112
  %113 = phi i32 [ %122, %112 ], [ 0, %110 ]
  %114 = phi i32 [ %124, %112 ], [ %9, %110 ]
  %115 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %114, i1 true)
  %116 = zext nneg i32 %115 to i64
  %117 = getelementptr %struct.Thread, ptr %0, i64 %116, i32 9
  %118 = load i32, ptr %117, align 4
  %119 = icmp ne i32 %118, 0
  %120 = zext i1 %119 to i32
  %121 = shl nuw i32 %120, %115
  %122 = or i32 %121, %113
  %123 = add i32 %114, -1
  %124 = and i32 %123, %114
  %125 = icmp eq i32 %124, 0
  br i1 %125, label %126, label %112, !llvm.loop !39

126:                                              ; preds = %112, %110
  %127 = phi i32 [ 0, %110 ], [ %122, %112 ]
  %128 = icmp eq i32 %127, 0
  %129 = icmp eq i32 %127, %9
  %130 = or i1 %128, %129
  %131 = zext i1 %130 to i32
  br label %264

132:                                              ; preds = %3
  %133 = icmp eq i32 %9, 0
  br i1 %133, label %148, label %134

134:                                              ; preds = %132, %134
  %135 = phi i32 [ %144, %134 ], [ 0, %132 ]
  %136 = phi i32 [ %146, %134 ], [ %9, %132 ]
  %137 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %136, i1 true)
  %138 = zext nneg i32 %137 to i64
  %139 = getelementptr %struct.Thread, ptr %0, i64 %138, i32 9
  %140 = load i32, ptr %139, align 4
  %141 = icmp ne i32 %140, 0
  %142 = zext i1 %141 to i32
  %143 = shl nuw i32 %142, %137
  %144 = or i32 %143, %135
  %145 = add i32 %136, -1
  %146 = and i32 %145, %136
  %147 = icmp eq i32 %146, 0
  br i1 %147, label %148, label %134, !llvm.loop !39

148:                                              ; preds = %134, %132
  %149 = phi i32 [ 0, %132 ], [ %144, %134 ]
  %150 = icmp ne i32 %149, 0
  %151 = zext i1 %150 to i32
  br label %264

152:                                              ; preds = %10, %173
  %153 = phi i32 [ %180, %173 ], [ %1, %10 ]
  %154 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %153, i1 true)
  %155 = zext nneg i32 %154 to i64
  %156 = getelementptr %struct.Thread, ptr %0, i64 %155
  %157 = getelementptr inbounds i8, ptr %156, i64 56
  %158 = load i64, ptr %157, align 8
  br label %159

159:                                              ; preds = %152, %159
  %160 = phi i32 [ %169, %159 ], [ 0, %152 ]
  %161 = phi i32 [ %171, %159 ], [ %9, %152 ]
  %162 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %161, i1 true)
  %163 = zext nneg i32 %162 to i64
  %164 = getelementptr %struct.Thread, ptr %0, i64 %163, i32 12
  %165 = load i64, ptr %164, align 8
  %166 = icmp eq i64 %165, %158
  %167 = zext i1 %166 to i32
  %168 = shl nuw i32 %167, %162
  %169 = or i32 %168, %160
  %170 = add i32 %161, -1
  %171 = and i32 %170, %161
  %172 = icmp eq i32 %171, 0
  br i1 %172, label %173, label %159, !llvm.loop !40

173:                                              ; preds = %159
  %174 = getelementptr inbounds i8, ptr %156, i64 64
  store i32 %169, ptr %174, align 8
  %175 = icmp ne i32 %169, 0
  %176 = zext i1 %175 to i32
  %177 = getelementptr inbounds i8, ptr %156, i64 68
  store i32 %176, ptr %177, align 4
  %178 = getelementptr inbounds i8, ptr %156, i64 4
  store i32 5, ptr %178, align 4
  %179 = add i32 %153, -1
  %180 = and i32 %179, %153
  %181 = icmp eq i32 %180, 0
  br i1 %181, label %279, label %152, !llvm.loop !41

182:                                              ; preds = %3
  %183 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %9, i1 true)
  %184 = zext nneg i32 %183 to i64
  %185 = getelementptr %struct.Thread, ptr %0, i64 %184, i32 12
  %186 = load i64, ptr %185, align 8
  %187 = icmp eq i32 %9, 0
  br i1 %187, label %202, label %188

188:                                              ; preds = %182, %188
  %189 = phi i32 [ %198, %188 ], [ 0, %182 ]
  %190 = phi i32 [ %200, %188 ], [ %9, %182 ]
  %191 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %190, i1 true)
  %192 = zext nneg i32 %191 to i64
  %193 = getelementptr %struct.Thread, ptr %0, i64 %192, i32 12
  %194 = load i64, ptr %193, align 8
  %195 = icmp eq i64 %194, %186
  %196 = zext i1 %195 to i32
  %197 = shl nuw i32 %196, %191
  %198 = or i32 %197, %189
  %199 = add i32 %190, -1
  %200 = and i32 %199, %190
  %201 = icmp eq i32 %200, 0
  br i1 %201, label %202, label %188, !llvm.loop !40

202:                                              ; preds = %188, %182
  %203 = phi i32 [ 0, %182 ], [ %198, %188 ]
  %204 = icmp eq i32 %203, %9
  %205 = zext i1 %204 to i32
  %206 = select i1 %204, i32 %9, i32 0
  br label %264

207:                                              ; preds = %3
  br label %264

208:                                              ; preds = %3
  %209 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %9, i1 true)
  %210 = icmp eq i32 %1, 0
  br i1 %210, label %279, label %211

211:                                              ; preds = %208, %211
  %212 = phi i32 [ %222, %211 ], [ %1, %208 ]
  %213 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %212, i1 true)
  %214 = zext nneg i32 %213 to i64
  %215 = getelementptr %struct.Thread, ptr %0, i64 %214
  %216 = getelementptr inbounds i8, ptr %215, i64 64
  store i32 %209, ptr %216, align 8
  %217 = icmp eq i32 %213, %209
  %218 = zext i1 %217 to i32
  %219 = getelementptr inbounds i8, ptr %215, i64 68
  store i32 %218, ptr %219, align 4
  %220 = getelementptr inbounds i8, ptr %215, i64 4
  store i32 5, ptr %220, align 4
  %221 = add i32 %212, -1
  %222 = and i32 %221, %212
  %223 = icmp eq i32 %222, 0
  br i1 %223, label %279, label %211, !llvm.loop !42

224:                                              ; preds = %3
  %225 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %9, i1 true)
  %226 = zext nneg i32 %225 to i64
  %227 = getelementptr %struct.Thread, ptr %0, i64 %226, i32 9
  %228 = load i32, ptr %227, align 4
  %229 = add i32 %9, -1
  %230 = and i32 %229, %9
  %231 = icmp eq i32 %230, 0
  br i1 %231, label %260, label %232

232:                                              ; preds = %224, %255
  %233 = phi i32 [ %256, %255 ], [ %228, %224 ]
  %234 = phi i32 [ %258, %255 ], [ %230, %224 ]
  %235 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %234, i1 true)
  %236 = zext nneg i32 %235 to i64
  %237 = getelementptr %struct.Thread, ptr %0, i64 %236, i32 9
  %238 = load i32, ptr %237, align 4
  switch i32 %7, label %253 [
    i32 11, label %239
    i32 12, label %241
    i32 13, label %243
    i32 14, label %245
    i32 15, label %247
    i32 16, label %249
    i32 17, label %251
  ]

239:                                              ; preds = %232
  %240 = add i32 %238, %233
  br label %255

241:                                              ; preds = %232
  %242 = tail call i32 @llvm.umin.i32(i32 %238, i32 %233)
  br label %255

243:                                              ; preds = %232
  %244 = tail call i32 @llvm.umax.i32(i32 %238, i32 %233)
  br label %255

245:                                              ; preds = %232
  %246 = tail call i32 @llvm.smin.i32(i32 %238, i32 %233)
  br label %255

247:                                              ; preds = %232
  %248 = tail call i32 @llvm.smax.i32(i32 %238, i32 %233)
  br label %255

249:                                              ; preds = %232
  %250 = and i32 %238, %233
  br label %255

251:                                              ; preds = %232
  %252 = or i32 %238, %233
  br label %255

253:                                              ; preds = %232
  %254 = xor i32 %238, %233
  br label %255

255:                                              ; preds = %253, %251, %249, %247, %245, %243, %241, %239
  %256 = phi i32 [ %254, %253 ], [ %252, %251 ], [ %250, %249 ], [ %248, %247 ], [ %246, %245 ], [ %244, %243 ], [ %242, %241 ], [ %240, %239 ]
  %257 = add i32 %234, -1
  %258 = and i32 %257, %234
  %259 = icmp eq i32 %258, 0
  br i1 %259, label %260, label %232, !llvm.loop !43

260:                                              ; preds = %255, %224
  %261 = phi i32 [ %228, %224 ], [ %256, %255 ]
  %262 = icmp ne i32 %261, 0
  %263 = zext i1 %262 to i32
  br label %264

264:                                              ; preds = %91, %107, %260, %207, %202, %3, %148, %126, %87
  %265 = phi i32 [ %263, %260 ], [ 1, %207 ], [ %205, %202 ], [ %151, %148 ], [ %131, %126 ], [ %90, %87 ], [ %7, %3 ], [ 0, %91 ], [ %109, %107 ]
  %266 = phi i32 [ %261, %260 ], [ %1, %207 ], [ %206, %202 ], [ %149, %148 ], [ %131, %126 ], [ %90, %87 ], [ %7, %3 ], [ 0, %91 ], [ %109, %107 ]
  %267 = icmp eq i32 %1, 0
  br i1 %267, label %279, label %268

268:                                              ; preds = %264, %268
  %269 = phi i32 [ %277, %268 ], [ %1, %264 ]
  %270 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %269, i1 true)
  %271 = zext nneg i32 %270 to i64
  %272 = getelementptr %struct.Thread, ptr %0, i64 %271
  %273 = getelementptr inbounds i8, ptr %272, i64 64
  store i32 %266, ptr %273, align 8
  %274 = getelementptr inbounds i8, ptr %272, i64 68
  store i32 %265, ptr %274, align 4
  %275 = getelementptr inbounds i8, ptr %272, i64 4
  store i32 5, ptr %275, align 4
  %276 = add i32 %269, -1
  %277 = and i32 %276, %269
  %278 = icmp eq i32 %277, 0
  br i1 %278, label %279, label %268, !llvm.loop !44

279:                                              ; preds = %211, %173, %63, %268, %12, %208, %10, %264
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.cttz.i32(i32, i1 immarg) #8

; Function Attrs: nofree norecurse nosync nounwind memory(read, argmem: readwrite, inaccessiblemem: none)
define internal fastcc range(i32 0, 65536) i32 @look_at_barriers(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, ptr nocapture noundef %2) unnamed_addr #7 {
  %4 = alloca [16 x i32], align 16
  %5 = getelementptr inbounds i8, ptr %0, i64 32
  %6 = load i32, ptr %5, align 8
  %7 = icmp eq i32 %6, 0
  br i1 %7, label %10, label %8

8:                                                ; preds = %3
  %9 = getelementptr inbounds i8, ptr %1, i64 40
  br label %12

10:                                               ; preds = %102, %3
  %11 = phi i32 [ 0, %3 ], [ %103, %102 ]
  ret i32 %11

12:                                               ; preds = %8, %102
  %13 = phi i32 [ %6, %8 ], [ %105, %102 ]
  %14 = phi i32 [ 0, %8 ], [ %103, %102 ]
  %15 = phi i32 [ 0, %8 ], [ %104, %102 ]
  %16 = load ptr, ptr %9, align 8
  %17 = zext i32 %15 to i64
  %18 = getelementptr %struct.Thread, ptr %16, i64 %17
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %4) #12
  %19 = icmp eq i32 %13, %15
  br i1 %19, label %102, label %20

20:                                               ; preds = %12
  %21 = sub i32 %13, %15
  %22 = tail call i32 @llvm.umin.i32(i32 %21, i32 32)
  %23 = zext nneg i32 %22 to i64
  br label %26

24:                                               ; preds = %78
  %25 = icmp eq i32 %80, 0
  br i1 %25, label %102, label %84

26:                                               ; preds = %20, %78
  %27 = phi i64 [ 0, %20 ], [ %82, %78 ]
  %28 = phi i32 [ %14, %20 ], [ %81, %78 ]
  %29 = phi i32 [ 0, %20 ], [ %80, %78 ]
  %30 = phi i32 [ 0, %20 ], [ %79, %78 ]
  %31 = getelementptr %struct.Thread, ptr %18, i64 %27
  %32 = getelementptr inbounds i8, ptr %31, i64 4
  %33 = load i32, ptr %32, align 4
  %34 = icmp eq i32 %33, 0
  br i1 %34, label %78, label %35

35:                                               ; preds = %26
  %36 = trunc nuw nsw i64 %27 to i32
  %37 = shl nuw i32 1, %36
  %38 = or i32 %30, %37
  %39 = icmp eq i32 %33, 1
  br i1 %39, label %40, label %78

40:                                               ; preds = %35
  %41 = getelementptr inbounds i8, ptr %31, i64 28
  %42 = load i32, ptr %41, align 4
  %43 = and i32 %42, 15
  %44 = shl nuw nsw i32 1, %43
  %45 = and i32 %44, %28
  %46 = icmp eq i32 %45, 0
  br i1 %46, label %47, label %56

47:                                               ; preds = %40
  %48 = zext nneg i32 %43 to i64
  %49 = getelementptr %struct.Barrier, ptr %2, i64 %48
  %50 = getelementptr inbounds i8, ptr %31, i64 32
  %51 = load i32, ptr %50, align 8
  store i32 0, ptr %49, align 4
  %52 = getelementptr inbounds i8, ptr %49, i64 4
  store i32 0, ptr %52, align 4
  %53 = getelementptr inbounds i8, ptr %49, i64 8
  store i32 0, ptr %53, align 4
  %54 = getelementptr inbounds i8, ptr %49, i64 12
  store i32 %51, ptr %54, align 4
  %55 = or i32 %44, %28
  br label %56

56:                                               ; preds = %47, %40
  %57 = phi i32 [ %28, %40 ], [ %55, %47 ]
  %58 = and i32 %44, %29
  %59 = icmp eq i32 %58, 0
  %60 = zext nneg i32 %43 to i64
  %61 = getelementptr [16 x i32], ptr %4, i64 0, i64 %60
  br i1 %59, label %64, label %62

62:                                               ; preds = %56
  %63 = load i32, ptr %61, align 4
  br label %66

64:                                               ; preds = %56
  store i32 0, ptr %61, align 4
  %65 = or i32 %44, %29
  br label %66

66:                                               ; preds = %62, %64
  %67 = phi i32 [ %63, %62 ], [ 0, %64 ]
  %68 = phi i32 [ %29, %62 ], [ %65, %64 ]
  %69 = getelementptr [16 x i32], ptr %4, i64 0, i64 %60
  %70 = or i32 %67, %37
  store i32 %70, ptr %69, align 4
  %71 = getelementptr inbounds i8, ptr %31, i64 44
  %72 = load i32, ptr %71, align 4
  %73 = icmp ne i32 %72, 0
  %74 = zext i1 %73 to i32
  %75 = getelementptr %struct.Barrier, ptr %2, i64 %60, i32 2
  %76 = load i32, ptr %75, align 4
  %77 = add i32 %76, %74
  store i32 %77, ptr %75, align 4
  br label %78

78:                                               ; preds = %35, %26, %66
  %79 = phi i32 [ %38, %66 ], [ %30, %26 ], [ %38, %35 ]
  %80 = phi i32 [ %68, %66 ], [ %29, %26 ], [ %29, %35 ]
  %81 = phi i32 [ %57, %66 ], [ %28, %26 ], [ %28, %35 ]
  %82 = add nuw nsw i64 %27, 1
  %83 = icmp ult i64 %82, %23
  br i1 %83, label %26, label %24, !llvm.loop !45

84:                                               ; preds = %24, %84
  %85 = phi i32 [ %100, %84 ], [ %80, %24 ]
  %86 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %85, i1 true)
  %87 = zext nneg i32 %86 to i64
  %88 = getelementptr [16 x i32], ptr %4, i64 0, i64 %87
  %89 = load i32, ptr %88, align 4
  %90 = tail call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %89)
  %91 = getelementptr %struct.Barrier, ptr %2, i64 %87
  %92 = load i32, ptr %91, align 4
  %93 = add i32 %92, %90
  store i32 %93, ptr %91, align 4
  %94 = icmp eq i32 %89, %79
  %95 = select i1 %94, i32 32, i32 %90
  %96 = getelementptr inbounds i8, ptr %91, i64 4
  %97 = load i32, ptr %96, align 4
  %98 = add i32 %97, %95
  store i32 %98, ptr %96, align 4
  %99 = add nsw i32 %85, -1
  %100 = and i32 %99, %85
  %101 = icmp eq i32 %100, 0
  br i1 %101, label %102, label %84, !llvm.loop !46

102:                                              ; preds = %84, %12, %24
  %103 = phi i32 [ %81, %24 ], [ %14, %12 ], [ %81, %84 ]
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %4) #12
  %104 = add i32 %15, 32
  %105 = load i32, ptr %5, align 8
  %106 = icmp ult i32 %104, %105
  br i1 %106, label %12, label %10, !llvm.loop !47
}

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #9

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.ctpop.i32(i32) #8

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.umin.i32(i32, i32) #10

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.usub.sat.i32(i32, i32) #10

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smax.i32(i32, i32) #10

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smin.i32(i32, i32) #10

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.umax.i32(i32, i32) #10

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #10

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write)
declare void @llvm.assume(i1 noundef) #11

attributes #0 = { cold nofree noinline norecurse nounwind optsize memory(readwrite, inaccessiblemem: none) }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { nofree norecurse nosync nounwind memory(read, inaccessiblemem: none) }
attributes #3 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite) }
attributes #4 = { nounwind }
attributes #5 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #6 = { nounwind }
attributes #7 = { nofree norecurse nosync nounwind memory(read, argmem: readwrite, inaccessiblemem: none) }
attributes #8 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #9 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #10 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #11 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }
attributes #12 = { nounwind }


!3 = distinct !{!3, !4}
!4 = !{!"llvm.loop.mustprogress"}
!6 = distinct !{!6, !4}
!7 = distinct !{!7, !4}
!8 = distinct !{!8, !4}
!9 = distinct !{!9, !4}
!10 = distinct !{!10, !4}
!11 = distinct !{!11, !4}
!12 = distinct !{!12, !4}
!13 = distinct !{!13, !4}
!14 = distinct !{!14, !4}
!15 = distinct !{!15, !4}
!16 = distinct !{!16, !4}
!17 = distinct !{!17, !4}
!18 = distinct !{!18, !4}
!19 = distinct !{!19, !4}
!20 = distinct !{!20, !4}
!21 = distinct !{!21, !4}
!22 = distinct !{!22, !4}
!23 = distinct !{!23, !4}
!24 = distinct !{!24, !4}
!25 = distinct !{!25, !4}
!26 = distinct !{!26}
!27 = distinct !{!27, !4}
!28 = distinct !{!28}
!29 = distinct !{!29, !4}
!30 = distinct !{!30, !4}
!31 = distinct !{}
!32 = distinct !{!32, !4, !33}
!33 = !{!"llvm.loop.parallel_accesses", !31}
!35 = distinct !{!35, !4}
!36 = distinct !{!36, !4}
!37 = distinct !{!37, !4}
!38 = distinct !{!38, !4}
!39 = distinct !{!39, !4}
!40 = distinct !{!40, !4}
!41 = distinct !{!41, !4}
!42 = distinct !{!42, !4}
!43 = distinct !{!43, !4}
!44 = distinct !{!44, !4}
!45 = distinct !{!45, !4}
!46 = distinct !{!46, !4}
!47 = distinct !{!47, !4}
