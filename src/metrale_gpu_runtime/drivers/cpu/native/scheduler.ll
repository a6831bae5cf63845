; Made by build.py from scheduler.c: do not edit.
; flags -std=c17 -O2 -S -emit-llvm -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno -fwrapv -fno-strict-aliasing -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-stack-protector -fno-asynchronous-unwind-tables -fPIC
; sha256 abi.h 827519750e6b1e802655705322c65b19faa972467dcbc8d1a8f6e020dfb47546
; sha256 scheduler.c a3fe4aa003736af3aff1376655fd8296a6f872e3f90193a7da0632652233b8b0
source_filename = "scheduler.c"

%struct.Range = type { i64, i64, i64 }
%struct.Barrier = type { i32, i32, i32, i32 }
%struct.Thread = type { i32, i32, [3 x i32], i32, i32, i32, i32, i32, i32, i32, i32, i32, i64, i32, i32, ptr }
%struct.Launch = type { ptr, [3 x i32], [3 x i32], i32, i32, i32, i32, i64, i64, i32, i32, ptr, i64, i64, %struct.Fault }
%struct.Fault = type { i32, i32, i32, i32, [3 x i32], [3 x i32], i64, i64, [4 x i32] }
%struct.Block = type { ptr, [3 x i32], i32, i64, ptr, ptr, [16 x i32] }

@KERNEL_SUSPENDS = external local_unnamed_addr constant i32, align 4
@KERNEL_PARAM_NBYTES = external local_unnamed_addr constant i32, align 4

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
  %7 = load i32, ptr @KERNEL_SUSPENDS, align 4
  %8 = icmp eq i32 %7, 0
  br i1 %8, label %803, label %9

9:                                                ; preds = %4
  %10 = icmp eq i32 %2, 0
  %11 = getelementptr inbounds i8, ptr %0, i64 64
  %12 = getelementptr inbounds i8, ptr %0, i64 56
  %13 = getelementptr inbounds i8, ptr %0, i64 48
  %14 = getelementptr inbounds i8, ptr %0, i64 32
  %15 = getelementptr inbounds i8, ptr %0, i64 20
  %16 = getelementptr i8, ptr %0, i64 28
  %17 = getelementptr i8, ptr %0, i64 24
  %18 = getelementptr inbounds i8, ptr %0, i64 44
  %19 = getelementptr inbounds i8, ptr %0, i64 8
  %20 = getelementptr i8, ptr %0, i64 12
  %21 = zext i32 %2 to i64
  br i1 %10, label %806, label %22

22:                                               ; preds = %9, %794
  %23 = phi i64 [ %24, %794 ], [ %3, %9 ]
  %24 = sub i64 %23, %21
  br label %25

25:                                               ; preds = %22, %789
  %26 = phi i64 [ %792, %789 ], [ 0, %22 ]
  %27 = phi i64 [ %37, %789 ], [ %23, %22 ]
  %28 = phi i32 [ %791, %789 ], [ 0, %22 ]
  %29 = phi i32 [ %790, %789 ], [ 0, %22 ]
  %30 = getelementptr ptr, ptr %1, i64 %26
  %31 = load ptr, ptr %30, align 8
  %32 = getelementptr inbounds i8, ptr %31, i64 136
  %33 = load i32, ptr %32, align 8
  %34 = load atomic i32, ptr %11 monotonic, align 8
  %35 = icmp eq i32 %34, 0
  br i1 %35, label %36, label %806

36:                                               ; preds = %25
  %37 = add i64 %27, -1
  %38 = icmp eq i64 %27, 0
  br i1 %38, label %806, label %39

39:                                               ; preds = %36
  %40 = icmp eq i32 %33, 0
  br i1 %40, label %41, label %154

41:                                               ; preds = %39
  %42 = load atomic i64, ptr %12 monotonic, align 8
  %43 = load i64, ptr %13, align 8
  %44 = icmp ult i64 %42, %43
  br i1 %44, label %45, label %789

45:                                               ; preds = %41
  %46 = atomicrmw add ptr %12, i64 1 monotonic, align 8
  %47 = icmp ult i64 %46, %43
  br i1 %47, label %48, label %789

48:                                               ; preds = %45
  %49 = load i32, ptr %14, align 8
  %50 = getelementptr inbounds i8, ptr %31, i64 140
  %51 = load i32, ptr %50, align 4
  %52 = icmp eq i32 %51, 0
  br i1 %52, label %53, label %119

53:                                               ; preds = %48
  store ptr %0, ptr %31, align 8
  %54 = getelementptr inbounds i8, ptr %31, i64 128
  %55 = load ptr, ptr %54, align 8
  %56 = getelementptr inbounds i8, ptr %31, i64 32
  store ptr %55, ptr %56, align 8
  %57 = getelementptr inbounds i8, ptr %31, i64 112
  %58 = load ptr, ptr %57, align 8
  %59 = getelementptr inbounds i8, ptr %31, i64 40
  store ptr %58, ptr %59, align 8
  %60 = load i32, ptr %16, align 4
  %61 = icmp eq i32 %60, 0
  br i1 %61, label %74, label %62

62:                                               ; preds = %53
  %63 = getelementptr inbounds i8, ptr %31, i64 120
  %64 = load i32, ptr %17, align 4
  br label %65

65:                                               ; preds = %83, %62
  %66 = phi i32 [ %60, %62 ], [ %84, %83 ]
  %67 = phi i32 [ %64, %62 ], [ %85, %83 ]
  %68 = phi i32 [ %64, %62 ], [ %86, %83 ]
  %69 = phi i32 [ 0, %62 ], [ %87, %83 ]
  %70 = phi i32 [ 0, %62 ], [ %88, %83 ]
  %71 = icmp eq i32 %68, 0
  br i1 %71, label %83, label %72

72:                                               ; preds = %65
  %73 = load i32, ptr %15, align 4
  br label %75

74:                                               ; preds = %83, %53
  store i32 1, ptr %50, align 4
  br label %119

75:                                               ; preds = %92, %72
  %76 = phi i32 [ %93, %92 ], [ %67, %72 ]
  %77 = phi i32 [ %94, %92 ], [ %73, %72 ]
  %78 = phi i32 [ %95, %92 ], [ %69, %72 ]
  %79 = phi i32 [ %96, %92 ], [ 0, %72 ]
  %80 = icmp eq i32 %77, 0
  br i1 %80, label %92, label %98

81:                                               ; preds = %92
  %82 = load i32, ptr %16, align 4
  br label %83

83:                                               ; preds = %81, %65
  %84 = phi i32 [ %66, %65 ], [ %82, %81 ]
  %85 = phi i32 [ %67, %65 ], [ %93, %81 ]
  %86 = phi i32 [ 0, %65 ], [ %93, %81 ]
  %87 = phi i32 [ %69, %65 ], [ %95, %81 ]
  %88 = add nuw i32 %70, 1
  %89 = icmp ult i32 %88, %84
  br i1 %89, label %65, label %74, !llvm.loop !7

90:                                               ; preds = %98
  %91 = load i32, ptr %17, align 4
  br label %92

92:                                               ; preds = %90, %75
  %93 = phi i32 [ %76, %75 ], [ %91, %90 ]
  %94 = phi i32 [ 0, %75 ], [ %117, %90 ]
  %95 = phi i32 [ %78, %75 ], [ %116, %90 ]
  %96 = add nuw i32 %79, 1
  %97 = icmp ult i32 %96, %93
  br i1 %97, label %75, label %81, !llvm.loop !8

98:                                               ; preds = %75, %98
  %99 = phi i32 [ %116, %98 ], [ %78, %75 ]
  %100 = phi i32 [ %115, %98 ], [ 0, %75 ]
  %101 = load ptr, ptr %57, align 8
  %102 = zext i32 %99 to i64
  %103 = getelementptr %struct.Thread, ptr %101, i64 %102
  %104 = getelementptr inbounds i8, ptr %103, i64 8
  store i32 %100, ptr %104, align 8
  %105 = getelementptr i8, ptr %103, i64 12
  store i32 %79, ptr %105, align 4
  %106 = getelementptr i8, ptr %103, i64 16
  store i32 %70, ptr %106, align 8
  %107 = getelementptr inbounds i8, ptr %103, i64 20
  store i32 %99, ptr %107, align 4
  %108 = getelementptr inbounds i8, ptr %103, i64 40
  store i32 0, ptr %108, align 8
  %109 = load ptr, ptr %63, align 8
  %110 = load i32, ptr %18, align 4
  %111 = zext i32 %110 to i64
  %112 = mul nuw i64 %111, %102
  %113 = getelementptr i8, ptr %109, i64 %112
  %114 = getelementptr inbounds i8, ptr %103, i64 72
  store ptr %113, ptr %114, align 8
  %115 = add nuw i32 %100, 1
  %116 = add i32 %99, 1
  %117 = load i32, ptr %15, align 4
  %118 = icmp ult i32 %115, %117
  br i1 %118, label %98, label %90, !llvm.loop !9

119:                                              ; preds = %74, %48
  %120 = load i32, ptr %19, align 8
  %121 = zext i32 %120 to i64
  %122 = udiv i64 %46, %121
  %123 = getelementptr inbounds i8, ptr %31, i64 24
  store i64 %46, ptr %123, align 8
  %124 = load i32, ptr %19, align 8
  %125 = zext i32 %124 to i64
  %126 = urem i64 %46, %125
  %127 = trunc nuw i64 %126 to i32
  %128 = getelementptr inbounds i8, ptr %31, i64 8
  store i32 %127, ptr %128, align 8
  %129 = load i32, ptr %20, align 4
  %130 = zext i32 %129 to i64
  %131 = urem i64 %122, %130
  %132 = trunc nuw i64 %131 to i32
  %133 = getelementptr i8, ptr %31, i64 12
  store i32 %132, ptr %133, align 4
  %134 = load i32, ptr %20, align 4
  %135 = zext i32 %134 to i64
  %136 = udiv i64 %122, %135
  %137 = trunc i64 %136 to i32
  %138 = getelementptr i8, ptr %31, i64 16
  store i32 %137, ptr %138, align 8
  %139 = getelementptr inbounds i8, ptr %31, i64 20
  store i32 %49, ptr %139, align 4
  %140 = getelementptr inbounds i8, ptr %31, i64 48
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(64) %140, i8 0, i64 64, i1 false)
  %141 = icmp eq i32 %49, 0
  br i1 %141, label %153, label %142

142:                                              ; preds = %119
  %143 = getelementptr inbounds i8, ptr %31, i64 112
  %144 = zext i32 %49 to i64
  br label %145

145:                                              ; preds = %145, %142
  %146 = phi i64 [ 0, %142 ], [ %151, %145 ]
  %147 = load ptr, ptr %143, align 8
  %148 = getelementptr %struct.Thread, ptr %147, i64 %146
  store i32 0, ptr %148, align 8
  %149 = load ptr, ptr %143, align 8
  %150 = getelementptr %struct.Thread, ptr %149, i64 %146, i32 1
  store i32 5, ptr %150, align 4
  %151 = add nuw nsw i64 %146, 1
  %152 = icmp eq i64 %151, %144
  br i1 %152, label %153, label %145, !llvm.loop !10

153:                                              ; preds = %145, %119
  store i32 1, ptr %32, align 8
  br label %154

154:                                              ; preds = %153, %39
  %155 = phi i32 [ %29, %39 ], [ 1, %153 ]
  %156 = getelementptr inbounds i8, ptr %31, i64 112
  %157 = load ptr, ptr %156, align 8
  %158 = load i32, ptr %14, align 8
  %159 = icmp ne i32 %33, 0
  %160 = icmp ne i32 %158, 0
  %161 = select i1 %159, i1 %160, i1 false
  br i1 %161, label %162, label %205

162:                                              ; preds = %154
  %163 = zext i32 %158 to i64
  br label %164

164:                                              ; preds = %199, %162
  %165 = phi i64 [ 0, %162 ], [ %203, %199 ]
  %166 = phi i32 [ 0, %162 ], [ %202, %199 ]
  %167 = phi i32 [ 0, %162 ], [ %201, %199 ]
  %168 = phi i32 [ 0, %162 ], [ %200, %199 ]
  %169 = getelementptr %struct.Thread, ptr %157, i64 %165
  %170 = getelementptr inbounds i8, ptr %169, i64 4
  %171 = load i32, ptr %170, align 4
  %172 = icmp eq i32 %171, 1
  br i1 %172, label %173, label %199

173:                                              ; preds = %164
  %174 = getelementptr inbounds i8, ptr %169, i64 24
  %175 = load i32, ptr %174, align 8
  %176 = icmp eq i32 %175, 0
  br i1 %176, label %177, label %182

177:                                              ; preds = %173
  %178 = getelementptr inbounds i8, ptr %169, i64 32
  %179 = load i32, ptr %178, align 8
  %180 = icmp eq i32 %179, 0
  %181 = icmp eq i32 %168, 0
  br i1 %181, label %184, label %189

182:                                              ; preds = %173
  %183 = icmp eq i32 %168, 0
  br i1 %183, label %184, label %195

184:                                              ; preds = %182, %177
  %185 = phi i1 [ false, %182 ], [ %180, %177 ]
  %186 = zext i1 %185 to i32
  %187 = getelementptr inbounds i8, ptr %169, i64 28
  %188 = load i32, ptr %187, align 4
  br label %199

189:                                              ; preds = %177
  br i1 %180, label %190, label %195

190:                                              ; preds = %189
  %191 = getelementptr inbounds i8, ptr %169, i64 28
  %192 = load i32, ptr %191, align 4
  %193 = icmp eq i32 %192, %167
  %194 = zext i1 %193 to i32
  br label %195

195:                                              ; preds = %190, %189, %182
  %196 = phi i32 [ 0, %189 ], [ %194, %190 ], [ 0, %182 ]
  %197 = and i32 %196, %166
  %198 = add i32 %168, 1
  br label %199

199:                                              ; preds = %195, %184, %164
  %200 = phi i32 [ %168, %164 ], [ %198, %195 ], [ 1, %184 ]
  %201 = phi i32 [ %167, %164 ], [ %167, %195 ], [ %188, %184 ]
  %202 = phi i32 [ %166, %164 ], [ %197, %195 ], [ %186, %184 ]
  %203 = add nuw nsw i64 %165, 1
  %204 = icmp eq i64 %203, %163
  br i1 %204, label %205, label %164, !llvm.loop !11

205:                                              ; preds = %199, %154
  %206 = phi i32 [ 0, %154 ], [ %200, %199 ]
  %207 = phi i32 [ 0, %154 ], [ %201, %199 ]
  %208 = phi i32 [ 0, %154 ], [ %202, %199 ]
  %209 = icmp eq i32 %158, 0
  %210 = getelementptr inbounds i8, ptr %31, i64 8
  %211 = getelementptr i8, ptr %31, i64 12
  %212 = getelementptr i8, ptr %31, i64 16
  %213 = getelementptr inbounds i8, ptr %31, i64 20
  %214 = getelementptr inbounds i8, ptr %31, i64 48
  %215 = getelementptr inbounds i8, ptr %31, i64 40
  br label %216

216:                                              ; preds = %772, %205
  %217 = phi i32 [ %206, %205 ], [ %775, %772 ]
  %218 = phi i32 [ %207, %205 ], [ %462, %772 ]
  %219 = phi i32 [ %208, %205 ], [ %776, %772 ]
  %220 = phi i32 [ 0, %205 ], [ %773, %772 ]
  %221 = phi i32 [ 0, %205 ], [ %778, %772 ]
  %222 = load atomic i32, ptr %11 monotonic, align 8
  %223 = icmp eq i32 %222, 0
  br i1 %223, label %224, label %806

224:                                              ; preds = %216
  br i1 %209, label %460, label %225

225:                                              ; preds = %224, %452
  %226 = phi i32 [ %459, %452 ], [ %158, %224 ]
  %227 = phi i32 [ %326, %452 ], [ 0, %224 ]
  %228 = phi i32 [ %456, %452 ], [ 0, %224 ]
  %229 = phi i32 [ %457, %452 ], [ 0, %224 ]
  %230 = phi i32 [ %323, %452 ], [ %219, %224 ]
  %231 = phi i32 [ %322, %452 ], [ %218, %224 ]
  %232 = phi i32 [ %321, %452 ], [ %217, %224 ]
  %233 = tail call i32 @llvm.umin.i32(i32 %226, i32 32)
  %234 = tail call i32 @llvm.umax.i32(i32 %233, i32 1)
  %235 = zext nneg i32 %234 to i64
  %236 = zext i32 %229 to i64
  %237 = getelementptr %struct.Thread, ptr %157, i64 %236
  %238 = sub i32 %158, %229
  %239 = tail call i32 @llvm.umin.i32(i32 %238, i32 32)
  %240 = zext nneg i32 %239 to i64
  br label %241

241:                                              ; preds = %450, %225
  %242 = phi i32 [ %232, %225 ], [ %321, %450 ]
  %243 = phi i32 [ %231, %225 ], [ %322, %450 ]
  %244 = phi i32 [ %230, %225 ], [ %323, %450 ]
  %245 = phi i32 [ %228, %225 ], [ %324, %450 ]
  %246 = phi i1 [ true, %225 ], [ false, %450 ]
  %247 = phi i32 [ 1, %225 ], [ 0, %450 ]
  %248 = phi i32 [ 0, %225 ], [ %330, %450 ]
  %249 = phi i32 [ %227, %225 ], [ %326, %450 ]
  %250 = and i32 %247, %220
  %251 = icmp ne i32 %250, 0
  br label %252

252:                                              ; preds = %320, %241
  %253 = phi i64 [ 0, %241 ], [ %327, %320 ]
  %254 = phi i32 [ %249, %241 ], [ %326, %320 ]
  %255 = phi i32 [ 0, %241 ], [ %325, %320 ]
  %256 = phi i32 [ %245, %241 ], [ %324, %320 ]
  %257 = phi i32 [ %244, %241 ], [ %323, %320 ]
  %258 = phi i32 [ %243, %241 ], [ %322, %320 ]
  %259 = phi i32 [ %242, %241 ], [ %321, %320 ]
  %260 = getelementptr %struct.Thread, ptr %237, i64 %253
  %261 = getelementptr inbounds i8, ptr %260, i64 4
  %262 = load i32, ptr %261, align 4
  %263 = icmp eq i32 %262, 5
  %264 = icmp eq i32 %262, 3
  %265 = and i1 %246, %264
  %266 = or i1 %263, %265
  %267 = icmp eq i32 %262, 1
  %268 = and i1 %251, %267
  %269 = or i1 %268, %266
  br i1 %269, label %276, label %270

270:                                              ; preds = %252
  %271 = icmp eq i32 %262, 2
  %272 = zext i1 %271 to i32
  %273 = trunc nuw nsw i64 %253 to i32
  %274 = shl nuw i32 %272, %273
  %275 = or i32 %274, %255
  br label %320

276:                                              ; preds = %252
  %277 = getelementptr inbounds i8, ptr %260, i64 8
  %278 = load i32, ptr %277, align 8
  %279 = getelementptr i8, ptr %260, i64 12
  %280 = load i32, ptr %279, align 4
  %281 = getelementptr i8, ptr %260, i64 16
  %282 = load i32, ptr %281, align 8
  %283 = load i32, ptr %210, align 8
  %284 = load i32, ptr %211, align 4
  %285 = load i32, ptr %212, align 8
  %286 = tail call i32 @kernel_thread(ptr noundef %0, ptr noundef %31, ptr noundef %260, i32 noundef %278, i32 noundef %280, i32 noundef %282, i32 noundef %283, i32 noundef %284, i32 noundef %285) #12
  store i32 %286, ptr %261, align 4
  switch i32 %286, label %781 [
    i32 1, label %287
    i32 2, label %313
    i32 3, label %320
    i32 0, label %317
  ]

287:                                              ; preds = %276
  %288 = getelementptr inbounds i8, ptr %260, i64 24
  %289 = load i32, ptr %288, align 8
  %290 = icmp eq i32 %289, 0
  br i1 %290, label %291, label %296

291:                                              ; preds = %287
  %292 = getelementptr inbounds i8, ptr %260, i64 32
  %293 = load i32, ptr %292, align 8
  %294 = icmp eq i32 %293, 0
  %295 = icmp eq i32 %259, 0
  br i1 %295, label %298, label %303

296:                                              ; preds = %287
  %297 = icmp eq i32 %259, 0
  br i1 %297, label %298, label %309

298:                                              ; preds = %296, %291
  %299 = phi i1 [ false, %296 ], [ %294, %291 ]
  %300 = zext i1 %299 to i32
  %301 = getelementptr inbounds i8, ptr %260, i64 28
  %302 = load i32, ptr %301, align 4
  br label %320

303:                                              ; preds = %291
  br i1 %294, label %304, label %309

304:                                              ; preds = %303
  %305 = getelementptr inbounds i8, ptr %260, i64 28
  %306 = load i32, ptr %305, align 4
  %307 = icmp eq i32 %306, %258
  %308 = zext i1 %307 to i32
  br label %309

309:                                              ; preds = %304, %303, %296
  %310 = phi i32 [ 0, %303 ], [ %308, %304 ], [ 0, %296 ]
  %311 = and i32 %310, %257
  %312 = add i32 %259, 1
  br label %320

313:                                              ; preds = %276
  %314 = trunc nuw nsw i64 %253 to i32
  %315 = shl nuw i32 1, %314
  %316 = or i32 %315, %255
  br label %320

317:                                              ; preds = %276
  %318 = load i32, ptr %213, align 4
  %319 = add i32 %318, -1
  store i32 %319, ptr %213, align 4
  br label %320

320:                                              ; preds = %317, %313, %309, %298, %276, %270
  %321 = phi i32 [ 1, %298 ], [ %312, %309 ], [ %259, %270 ], [ %259, %313 ], [ %259, %276 ], [ %259, %317 ]
  %322 = phi i32 [ %302, %298 ], [ %258, %309 ], [ %258, %270 ], [ %258, %313 ], [ %258, %276 ], [ %258, %317 ]
  %323 = phi i32 [ %300, %298 ], [ %311, %309 ], [ %257, %270 ], [ %257, %313 ], [ %257, %276 ], [ %257, %317 ]
  %324 = phi i32 [ %256, %298 ], [ %256, %309 ], [ %256, %270 ], [ %256, %313 ], [ 1, %276 ], [ %256, %317 ]
  %325 = phi i32 [ %255, %298 ], [ %255, %309 ], [ %275, %270 ], [ %316, %313 ], [ %255, %276 ], [ %255, %317 ]
  %326 = phi i32 [ 1, %298 ], [ 1, %309 ], [ %254, %270 ], [ 1, %313 ], [ %254, %276 ], [ 1, %317 ]
  %327 = add nuw nsw i64 %253, 1
  %328 = icmp eq i64 %327, %235
  br i1 %328, label %329, label %252, !llvm.loop !12

329:                                              ; preds = %320
  %330 = add nuw nsw i32 %248, 1
  %331 = icmp eq i32 %325, 0
  br i1 %331, label %452, label %332

332:                                              ; preds = %329, %332
  %333 = phi i64 [ %342, %332 ], [ 0, %329 ]
  %334 = phi i32 [ %341, %332 ], [ 0, %329 ]
  %335 = getelementptr %struct.Thread, ptr %237, i64 %333, i32 1
  %336 = load i32, ptr %335, align 4
  %337 = icmp ne i32 %336, 0
  %338 = zext i1 %337 to i32
  %339 = trunc nuw i64 %333 to i32
  %340 = shl nuw i32 %338, %339
  %341 = or i32 %340, %334
  %342 = add nuw nsw i64 %333, 1
  %343 = icmp eq i64 %342, %240
  br i1 %343, label %344, label %332, !llvm.loop !13

344:                                              ; preds = %332, %400
  %345 = phi i32 [ %386, %400 ], [ %325, %332 ]
  %346 = phi i32 [ %402, %400 ], [ 0, %332 ]
  %347 = phi i32 [ %401, %400 ], [ 0, %332 ]
  %348 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %345, i1 true)
  %349 = zext nneg i32 %348 to i64
  %350 = getelementptr %struct.Thread, ptr %237, i64 %349
  %351 = getelementptr inbounds i8, ptr %350, i64 24
  %352 = load i32, ptr %351, align 8
  %353 = getelementptr inbounds i8, ptr %350, i64 36
  %354 = getelementptr inbounds i8, ptr %350, i64 40
  %355 = load i32, ptr %354, align 8
  %356 = icmp eq i32 %352, 0
  br label %357

357:                                              ; preds = %371, %344
  %358 = phi i32 [ 0, %344 ], [ %380, %371 ]
  %359 = phi i32 [ %345, %344 ], [ %382, %371 ]
  %360 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %359, i1 true)
  %361 = zext nneg i32 %360 to i64
  %362 = getelementptr %struct.Thread, ptr %237, i64 %361
  %363 = getelementptr inbounds i8, ptr %362, i64 24
  %364 = load i32, ptr %363, align 8
  %365 = icmp eq i32 %364, %352
  br i1 %365, label %366, label %371

366:                                              ; preds = %357
  %367 = getelementptr inbounds i8, ptr %362, i64 36
  %368 = load i32, ptr %367, align 4
  %369 = load i32, ptr %353, align 4
  %370 = icmp eq i32 %368, %369
  br label %371

371:                                              ; preds = %366, %357
  %372 = phi i1 [ false, %357 ], [ %370, %366 ]
  %373 = getelementptr inbounds i8, ptr %362, i64 40
  %374 = load i32, ptr %373, align 8
  %375 = icmp eq i32 %374, %355
  %376 = or i1 %356, %375
  %377 = and i1 %372, %376
  %378 = zext i1 %377 to i32
  %379 = shl nuw i32 %378, %360
  %380 = or i32 %379, %358
  %381 = add i32 %359, -1
  %382 = and i32 %381, %359
  %383 = icmp eq i32 %382, 0
  br i1 %383, label %384, label %357, !llvm.loop !14

384:                                              ; preds = %371
  %385 = xor i32 %380, -1
  %386 = and i32 %345, %385
  %387 = icmp eq i32 %352, 19
  br i1 %387, label %391, label %388

388:                                              ; preds = %384
  %389 = load i32, ptr %353, align 4
  %390 = icmp eq i32 %389, 0
  br i1 %390, label %391, label %393

391:                                              ; preds = %388, %384
  %392 = or i32 %380, %346
  br label %400

393:                                              ; preds = %388
  %394 = and i32 %341, %385
  %395 = and i32 %394, %389
  %396 = icmp eq i32 %395, 0
  br i1 %396, label %397, label %400

397:                                              ; preds = %393
  %398 = and i32 %389, %380
  tail call fastcc void @complete_operation(ptr noundef nonnull %237, i32 noundef %380, i32 noundef %398)
  %399 = or i32 %380, %347
  br label %400

400:                                              ; preds = %397, %393, %391
  %401 = phi i32 [ %347, %391 ], [ %399, %397 ], [ %347, %393 ]
  %402 = phi i32 [ %392, %391 ], [ %346, %397 ], [ %346, %393 ]
  %403 = icmp eq i32 %386, 0
  br i1 %403, label %404, label %344, !llvm.loop !15

404:                                              ; preds = %400
  %405 = icmp eq i32 %401, 0
  br i1 %405, label %406, label %450

406:                                              ; preds = %404
  %407 = icmp eq i32 %402, 0
  br i1 %407, label %452, label %408

408:                                              ; preds = %406, %446
  %409 = phi i32 [ %448, %446 ], [ %402, %406 ]
  %410 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %409, i1 true)
  %411 = zext nneg i32 %410 to i64
  %412 = getelementptr %struct.Thread, ptr %237, i64 %411
  %413 = getelementptr inbounds i8, ptr %412, i64 24
  %414 = load i32, ptr %413, align 8
  %415 = getelementptr inbounds i8, ptr %412, i64 36
  %416 = getelementptr inbounds i8, ptr %412, i64 40
  %417 = load i32, ptr %416, align 8
  %418 = icmp eq i32 %414, 0
  br label %419

419:                                              ; preds = %433, %408
  %420 = phi i32 [ 0, %408 ], [ %442, %433 ]
  %421 = phi i32 [ %409, %408 ], [ %444, %433 ]
  %422 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %421, i1 true)
  %423 = zext nneg i32 %422 to i64
  %424 = getelementptr %struct.Thread, ptr %237, i64 %423
  %425 = getelementptr inbounds i8, ptr %424, i64 24
  %426 = load i32, ptr %425, align 8
  %427 = icmp eq i32 %426, %414
  br i1 %427, label %428, label %433

428:                                              ; preds = %419
  %429 = getelementptr inbounds i8, ptr %424, i64 36
  %430 = load i32, ptr %429, align 4
  %431 = load i32, ptr %415, align 4
  %432 = icmp eq i32 %430, %431
  br label %433

433:                                              ; preds = %428, %419
  %434 = phi i1 [ false, %419 ], [ %432, %428 ]
  %435 = getelementptr inbounds i8, ptr %424, i64 40
  %436 = load i32, ptr %435, align 8
  %437 = icmp eq i32 %436, %417
  %438 = or i1 %418, %437
  %439 = and i1 %434, %438
  %440 = zext i1 %439 to i32
  %441 = shl nuw i32 %440, %422
  %442 = or i32 %441, %420
  %443 = add i32 %421, -1
  %444 = and i32 %443, %421
  %445 = icmp eq i32 %444, 0
  br i1 %445, label %446, label %419, !llvm.loop !14

446:                                              ; preds = %433
  %447 = xor i32 %442, -1
  %448 = and i32 %409, %447
  tail call fastcc void @complete_operation(ptr noundef nonnull %237, i32 noundef %442, i32 noundef %442)
  %449 = icmp eq i32 %448, 0
  br i1 %449, label %450, label %408, !llvm.loop !16

450:                                              ; preds = %446, %404
  %451 = icmp eq i32 %330, 1024
  br i1 %451, label %452, label %241, !llvm.loop !17

452:                                              ; preds = %450, %406, %329
  %453 = phi i32 [ %330, %406 ], [ %330, %329 ], [ 1024, %450 ]
  %454 = icmp eq i32 %453, 1024
  %455 = zext i1 %454 to i32
  %456 = or i32 %324, %455
  %457 = add i32 %229, 32
  %458 = icmp ult i32 %457, %158
  %459 = add i32 %226, -32
  br i1 %458, label %225, label %460, !llvm.loop !18

460:                                              ; preds = %452, %224
  %461 = phi i32 [ %217, %224 ], [ %321, %452 ]
  %462 = phi i32 [ %218, %224 ], [ %322, %452 ]
  %463 = phi i32 [ %219, %224 ], [ %323, %452 ]
  %464 = phi i32 [ 0, %224 ], [ %456, %452 ]
  %465 = phi i32 [ 0, %224 ], [ %326, %452 ]
  %466 = load i32, ptr %213, align 4
  %467 = icmp eq i32 %466, 0
  br i1 %467, label %782, label %468

468:                                              ; preds = %460
  %469 = icmp ne i32 %463, 0
  %470 = icmp eq i32 %461, %466
  %471 = select i1 %469, i1 %470, i1 false
  br i1 %471, label %472, label %481

472:                                              ; preds = %468
  %473 = and i32 %462, 15
  %474 = zext nneg i32 %473 to i64
  %475 = getelementptr [16 x i32], ptr %214, i64 0, i64 %474
  %476 = load i32, ptr %475, align 4
  %477 = icmp eq i32 %476, 0
  br i1 %477, label %478, label %483

478:                                              ; preds = %472
  %479 = icmp eq i32 %464, 0
  %480 = select i1 %479, i32 1, i32 256
  br label %772

481:                                              ; preds = %468
  %482 = icmp eq i32 %461, 0
  br i1 %482, label %596, label %483

483:                                              ; preds = %481, %472
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %6) #12
  %484 = call fastcc i32 @look_at_barriers(ptr noundef readonly %0, ptr noundef nonnull %31, ptr noundef nonnull %6)
  %485 = icmp eq i32 %484, 0
  br i1 %485, label %584, label %486

486:                                              ; preds = %483, %524
  %487 = phi i32 [ %526, %524 ], [ 0, %483 ]
  %488 = phi i32 [ %527, %524 ], [ 0, %483 ]
  %489 = phi i32 [ %529, %524 ], [ %484, %483 ]
  %490 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %489, i1 true)
  %491 = zext nneg i32 %490 to i64
  %492 = getelementptr [16 x %struct.Barrier], ptr %6, i64 0, i64 %491
  %493 = getelementptr [16 x i32], ptr %214, i64 0, i64 %491
  %494 = load i32, ptr %493, align 4
  %495 = getelementptr inbounds i8, ptr %492, i64 12
  %496 = load i32, ptr %495, align 4
  %497 = icmp eq i32 %496, 0
  br i1 %497, label %503, label %507

498:                                              ; preds = %524
  %499 = icmp eq i32 %526, 0
  br i1 %499, label %584, label %500

500:                                              ; preds = %498
  %501 = load i32, ptr %14, align 8
  %502 = icmp eq i32 %501, 0
  br i1 %502, label %586, label %531

503:                                              ; preds = %486
  %504 = load i32, ptr %492, align 16
  %505 = add i32 %504, %494
  %506 = icmp ult i32 %505, %466
  br i1 %506, label %524, label %518

507:                                              ; preds = %486
  %508 = add i32 %496, 31
  %509 = and i32 %508, -32
  %510 = getelementptr inbounds i8, ptr %492, i64 4
  %511 = load i32, ptr %510, align 4
  %512 = add i32 %511, %494
  %513 = icmp ult i32 %512, %509
  br i1 %513, label %524, label %514

514:                                              ; preds = %507
  %515 = tail call i32 @llvm.usub.sat.i32(i32 %509, i32 %511)
  %516 = tail call i32 @llvm.usub.sat.i32(i32 %494, i32 %515)
  %517 = load i32, ptr %492, align 16
  br label %518

518:                                              ; preds = %514, %503
  %519 = phi i32 [ %517, %514 ], [ %504, %503 ]
  %520 = phi i32 [ %516, %514 ], [ 0, %503 ]
  store i32 %520, ptr %493, align 4
  %521 = shl nuw nsw i32 1, %490
  %522 = or i32 %521, %487
  %523 = add i32 %519, %488
  br label %524

524:                                              ; preds = %518, %507, %503
  %525 = phi i32 [ %523, %518 ], [ %488, %503 ], [ %488, %507 ]
  %526 = phi i32 [ %522, %518 ], [ %487, %503 ], [ %487, %507 ]
  %527 = freeze i32 %525
  %528 = add nsw i32 %489, -1
  %529 = and i32 %528, %489
  %530 = icmp eq i32 %529, 0
  br i1 %530, label %498, label %486, !llvm.loop !19

531:                                              ; preds = %500, %579
  %532 = phi i32 [ %580, %579 ], [ %501, %500 ]
  %533 = phi i64 [ %581, %579 ], [ 0, %500 ]
  %534 = load ptr, ptr %215, align 8
  %535 = getelementptr %struct.Thread, ptr %534, i64 %533
  %536 = getelementptr inbounds i8, ptr %535, i64 28
  %537 = load i32, ptr %536, align 4
  %538 = and i32 %537, 15
  %539 = getelementptr inbounds i8, ptr %535, i64 4
  %540 = load i32, ptr %539, align 4
  %541 = icmp eq i32 %540, 1
  br i1 %541, label %542, label %579

542:                                              ; preds = %531
  %543 = shl nuw nsw i32 1, %538
  %544 = and i32 %543, %526
  %545 = icmp eq i32 %544, 0
  br i1 %545, label %579, label %546

546:                                              ; preds = %542
  %547 = zext nneg i32 %538 to i64
  %548 = getelementptr [16 x %struct.Barrier], ptr %6, i64 0, i64 %547
  %549 = getelementptr inbounds i8, ptr %535, i64 24
  %550 = load i32, ptr %549, align 8
  switch i32 %550, label %551 [
    i32 1, label %554
    i32 2, label %560
    i32 3, label %565
    i32 0, label %574
  ]

551:                                              ; preds = %546
  %552 = getelementptr inbounds i8, ptr %535, i64 64
  %553 = load i32, ptr %552, align 8
  br label %571

554:                                              ; preds = %546
  %555 = getelementptr inbounds i8, ptr %548, i64 8
  %556 = load i32, ptr %555, align 8
  %557 = load i32, ptr %548, align 16
  %558 = icmp eq i32 %556, %557
  %559 = zext i1 %558 to i32
  br label %568

560:                                              ; preds = %546
  %561 = getelementptr inbounds i8, ptr %548, i64 8
  %562 = load i32, ptr %561, align 8
  %563 = icmp ne i32 %562, 0
  %564 = zext i1 %563 to i32
  br label %568

565:                                              ; preds = %546
  %566 = getelementptr inbounds i8, ptr %548, i64 8
  %567 = load i32, ptr %566, align 8
  br label %568

568:                                              ; preds = %565, %560, %554
  %569 = phi i32 [ %559, %554 ], [ %567, %565 ], [ %564, %560 ]
  %570 = getelementptr inbounds i8, ptr %535, i64 64
  store i32 %569, ptr %570, align 8
  br label %571

571:                                              ; preds = %568, %551
  %572 = phi i32 [ %553, %551 ], [ %569, %568 ]
  %573 = icmp ne i32 %572, 0
  br label %574

574:                                              ; preds = %571, %546
  %575 = phi i1 [ %573, %571 ], [ false, %546 ]
  %576 = zext i1 %575 to i32
  %577 = getelementptr inbounds i8, ptr %535, i64 68
  store i32 %576, ptr %577, align 4
  store i32 5, ptr %539, align 4
  %578 = load i32, ptr %14, align 8
  br label %579

579:                                              ; preds = %574, %542, %531
  %580 = phi i32 [ %532, %531 ], [ %532, %542 ], [ %578, %574 ]
  %581 = add nuw nsw i64 %533, 1
  %582 = zext i32 %580 to i64
  %583 = icmp ult i64 %581, %582
  br i1 %583, label %531, label %586, !llvm.loop !20

584:                                              ; preds = %498, %483
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %6) #12
  %585 = and i32 %463, 1
  br label %591

586:                                              ; preds = %579, %500
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %6) #12
  %587 = sub i32 %461, %527
  %588 = icmp eq i32 %527, 0
  %589 = and i32 %463, 1
  %590 = select i1 %588, i32 %589, i32 0
  br label %591

591:                                              ; preds = %586, %584
  %592 = phi i32 [ %461, %584 ], [ %587, %586 ]
  %593 = phi i32 [ 0, %584 ], [ %527, %586 ]
  %594 = phi i32 [ %585, %584 ], [ %590, %586 ]
  %595 = or i32 %593, %465
  br label %596

596:                                              ; preds = %591, %481
  %597 = phi i32 [ 0, %481 ], [ %592, %591 ]
  %598 = phi i32 [ %463, %481 ], [ %594, %591 ]
  %599 = phi i32 [ %465, %481 ], [ %595, %591 ]
  %600 = freeze i32 %599
  %601 = icmp ne i32 %600, 0
  %602 = icmp ne i32 %464, 0
  %603 = select i1 %601, i1 true, i1 %602
  br i1 %603, label %769, label %604

604:                                              ; preds = %596
  %605 = load ptr, ptr %215, align 8
  %606 = load i32, ptr %14, align 8
  %607 = icmp ne i32 %606, 0
  tail call void @llvm.assume(i1 %607)
  %608 = zext i32 %606 to i64
  br label %612

609:                                              ; preds = %622
  %610 = icmp eq ptr %623, null
  %611 = select i1 %610, ptr %624, ptr %623
  br i1 %610, label %717, label %626

612:                                              ; preds = %622, %604
  %613 = phi i64 [ %608, %604 ], [ %616, %622 ]
  %614 = phi ptr [ null, %604 ], [ %624, %622 ]
  %615 = phi ptr [ null, %604 ], [ %623, %622 ]
  %616 = add nsw i64 %613, -1
  %617 = getelementptr %struct.Thread, ptr %605, i64 %616
  %618 = getelementptr inbounds i8, ptr %617, i64 4
  %619 = load i32, ptr %618, align 4
  switch i32 %619, label %621 [
    i32 1, label %622
    i32 2, label %620
  ]

620:                                              ; preds = %612
  br label %622

621:                                              ; preds = %612
  br label %622

622:                                              ; preds = %621, %620, %612
  %623 = phi ptr [ %617, %620 ], [ %615, %612 ], [ %615, %621 ]
  %624 = phi ptr [ %614, %620 ], [ %617, %612 ], [ %614, %621 ]
  %625 = icmp eq i64 %616, 0
  br i1 %625, label %609, label %612, !llvm.loop !21

626:                                              ; preds = %609
  %627 = getelementptr inbounds i8, ptr %623, i64 20
  %628 = load i32, ptr %627, align 4
  %629 = and i32 %628, -32
  %630 = sub i32 %606, %629
  %631 = tail call i32 @llvm.umin.i32(i32 %630, i32 32)
  %632 = icmp eq i32 %606, %629
  br i1 %632, label %655, label %633

633:                                              ; preds = %626
  %634 = zext i32 %629 to i64
  %635 = tail call i32 @llvm.umax.i32(i32 %631, i32 1)
  %636 = zext nneg i32 %635 to i64
  br label %704

637:                                              ; preds = %704
  %638 = getelementptr %struct.Thread, ptr %605, i64 %634
  %639 = zext nneg i32 %631 to i64
  br label %640

640:                                              ; preds = %640, %637
  %641 = phi i64 [ 0, %637 ], [ %650, %640 ]
  %642 = phi i32 [ 0, %637 ], [ %649, %640 ]
  %643 = getelementptr %struct.Thread, ptr %638, i64 %641, i32 1
  %644 = load i32, ptr %643, align 4
  %645 = icmp ne i32 %644, 0
  %646 = zext i1 %645 to i32
  %647 = trunc nuw i64 %641 to i32
  %648 = shl nuw i32 %646, %647
  %649 = or i32 %648, %642
  %650 = add nuw nsw i64 %641, 1
  %651 = icmp eq i64 %650, %639
  br i1 %651, label %652, label %640, !llvm.loop !13

652:                                              ; preds = %640
  %653 = xor i32 %649, -1
  %654 = icmp eq i32 %714, 0
  br i1 %654, label %655, label %659

655:                                              ; preds = %652, %626
  %656 = phi i32 [ %653, %652 ], [ -1, %626 ]
  %657 = getelementptr inbounds i8, ptr %611, i64 24
  %658 = load i32, ptr %657, align 8
  br label %693

659:                                              ; preds = %652
  %660 = getelementptr inbounds i8, ptr %611, i64 24
  %661 = load i32, ptr %660, align 8
  %662 = getelementptr inbounds i8, ptr %611, i64 36
  %663 = getelementptr inbounds i8, ptr %611, i64 40
  %664 = load i32, ptr %663, align 8
  %665 = icmp eq i32 %661, 0
  br label %666

666:                                              ; preds = %680, %659
  %667 = phi i32 [ 0, %659 ], [ %689, %680 ]
  %668 = phi i32 [ %714, %659 ], [ %691, %680 ]
  %669 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %668, i1 true)
  %670 = zext nneg i32 %669 to i64
  %671 = getelementptr %struct.Thread, ptr %638, i64 %670
  %672 = getelementptr inbounds i8, ptr %671, i64 24
  %673 = load i32, ptr %672, align 8
  %674 = icmp eq i32 %673, %661
  br i1 %674, label %675, label %680

675:                                              ; preds = %666
  %676 = getelementptr inbounds i8, ptr %671, i64 36
  %677 = load i32, ptr %676, align 4
  %678 = load i32, ptr %662, align 4
  %679 = icmp eq i32 %677, %678
  br label %680

680:                                              ; preds = %675, %666
  %681 = phi i1 [ false, %666 ], [ %679, %675 ]
  %682 = getelementptr inbounds i8, ptr %671, i64 40
  %683 = load i32, ptr %682, align 8
  %684 = icmp eq i32 %683, %664
  %685 = or i1 %665, %684
  %686 = and i1 %681, %685
  %687 = zext i1 %686 to i32
  %688 = shl nuw i32 %687, %669
  %689 = or i32 %688, %667
  %690 = add i32 %668, -1
  %691 = and i32 %690, %668
  %692 = icmp eq i32 %691, 0
  br i1 %692, label %693, label %666, !llvm.loop !14

693:                                              ; preds = %680, %655
  %694 = phi i32 [ %656, %655 ], [ %653, %680 ]
  %695 = phi i32 [ %658, %655 ], [ %661, %680 ]
  %696 = phi i32 [ 0, %655 ], [ %689, %680 ]
  %697 = getelementptr inbounds i8, ptr %611, i64 36
  %698 = load i32, ptr %697, align 4
  %699 = icmp ugt i32 %630, 31
  %700 = shl nsw i32 -1, %631
  %701 = xor i32 %700, -1
  %702 = select i1 %699, i32 -1, i32 %701
  %703 = and i32 %694, %702
  br label %735

704:                                              ; preds = %704, %633
  %705 = phi i64 [ 0, %633 ], [ %715, %704 ]
  %706 = phi i32 [ 0, %633 ], [ %714, %704 ]
  %707 = add nuw nsw i64 %705, %634
  %708 = getelementptr %struct.Thread, ptr %605, i64 %707, i32 1
  %709 = load i32, ptr %708, align 4
  %710 = icmp eq i32 %709, 2
  %711 = zext i1 %710 to i32
  %712 = trunc nuw nsw i64 %705 to i32
  %713 = shl nuw i32 %711, %712
  %714 = or i32 %713, %706
  %715 = add nuw nsw i64 %705, 1
  %716 = icmp eq i64 %715, %636
  br i1 %716, label %637, label %704, !llvm.loop !22

717:                                              ; preds = %609
  %718 = load i32, ptr %213, align 4
  %719 = sub i32 %606, %718
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %5) #12
  %720 = getelementptr inbounds i8, ptr %624, i64 28
  %721 = load i32, ptr %720, align 4
  %722 = and i32 %721, 15
  %723 = call fastcc i32 @look_at_barriers(ptr noundef %0, ptr noundef nonnull readonly %31, ptr noundef nonnull %5)
  %724 = zext nneg i32 %722 to i64
  %725 = getelementptr [16 x %struct.Barrier], ptr %5, i64 0, i64 %724
  %726 = load i32, ptr %725, align 16
  %727 = getelementptr [16 x i32], ptr %214, i64 0, i64 %724
  %728 = load i32, ptr %727, align 4
  %729 = add i32 %728, %726
  %730 = getelementptr inbounds i8, ptr %725, i64 12
  %731 = load i32, ptr %730, align 4
  %732 = icmp eq i32 %731, 0
  %733 = select i1 %732, i32 %718, i32 %731
  %734 = load i32, ptr %720, align 4
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %5) #12
  br label %735

735:                                              ; preds = %717, %693
  %736 = phi ptr [ %624, %717 ], [ %611, %693 ]
  %737 = phi i32 [ 8, %717 ], [ 9, %693 ]
  %738 = phi i32 [ %719, %717 ], [ %703, %693 ]
  %739 = phi i32 [ %734, %717 ], [ %695, %693 ]
  %740 = phi i32 [ %733, %717 ], [ %698, %693 ]
  %741 = phi i32 [ %729, %717 ], [ %696, %693 ]
  %742 = getelementptr inbounds i8, ptr %0, i64 96
  %743 = atomicrmw xchg ptr %742, i32 1 acq_rel, align 8
  %744 = icmp eq i32 %743, 0
  br i1 %744, label %745, label %781

745:                                              ; preds = %735
  %746 = getelementptr inbounds i8, ptr %0, i64 100
  store i32 %737, ptr %746, align 4
  %747 = getelementptr inbounds i8, ptr %0, i64 104
  store i32 0, ptr %747, align 8
  %748 = getelementptr inbounds i8, ptr %736, i64 40
  %749 = load i32, ptr %748, align 8
  %750 = getelementptr inbounds i8, ptr %0, i64 108
  store i32 %749, ptr %750, align 4
  %751 = getelementptr inbounds i8, ptr %0, i64 112
  %752 = getelementptr inbounds i8, ptr %736, i64 8
  %753 = getelementptr inbounds i8, ptr %0, i64 124
  br label %759

754:                                              ; preds = %759
  %755 = getelementptr inbounds i8, ptr %0, i64 152
  store i32 %741, ptr %755, align 4
  %756 = getelementptr inbounds i8, ptr %0, i64 156
  store i32 %740, ptr %756, align 4
  %757 = getelementptr inbounds i8, ptr %0, i64 160
  store i32 %739, ptr %757, align 4
  %758 = getelementptr inbounds i8, ptr %0, i64 164
  store i32 %738, ptr %758, align 4
  br label %781

759:                                              ; preds = %759, %745
  %760 = phi i64 [ 0, %745 ], [ %767, %759 ]
  %761 = getelementptr [3 x i32], ptr %210, i64 0, i64 %760
  %762 = load i32, ptr %761, align 4
  %763 = getelementptr [3 x i32], ptr %751, i64 0, i64 %760
  store i32 %762, ptr %763, align 4
  %764 = getelementptr [3 x i32], ptr %752, i64 0, i64 %760
  %765 = load i32, ptr %764, align 4
  %766 = getelementptr [3 x i32], ptr %753, i64 0, i64 %760
  store i32 %765, ptr %766, align 4
  %767 = add nuw nsw i64 %760, 1
  %768 = icmp eq i64 %767, 3
  br i1 %768, label %754, label %759, !llvm.loop !23

769:                                              ; preds = %596
  %770 = select i1 %602, i32 256, i32 1
  %771 = select i1 %601, i32 %770, i32 4096
  br label %772

772:                                              ; preds = %769, %478
  %773 = phi i32 [ 1, %478 ], [ 0, %769 ]
  %774 = phi i1 [ true, %478 ], [ false, %769 ]
  %775 = phi i32 [ 0, %478 ], [ %597, %769 ]
  %776 = phi i32 [ %463, %478 ], [ %598, %769 ]
  %777 = phi i32 [ %480, %478 ], [ %771, %769 ]
  %778 = add i32 %777, %221
  %779 = icmp ult i32 %778, 1048576
  %780 = or i1 %774, %779
  br i1 %780, label %216, label %783, !llvm.loop !24

781:                                              ; preds = %276, %754, %735
  store atomic i32 1, ptr %11 release, align 8
  br label %806

782:                                              ; preds = %460
  store i32 0, ptr %32, align 8
  br label %785

783:                                              ; preds = %772
  %784 = load i32, ptr %32, align 8
  br label %785

785:                                              ; preds = %783, %782
  %786 = phi i32 [ 0, %782 ], [ %784, %783 ]
  %787 = phi i32 [ 1, %782 ], [ %155, %783 ]
  %788 = add i32 %786, %28
  br label %789

789:                                              ; preds = %785, %45, %41
  %790 = phi i32 [ %787, %785 ], [ %29, %41 ], [ %29, %45 ]
  %791 = phi i32 [ %788, %785 ], [ %28, %41 ], [ %28, %45 ]
  %792 = add nuw nsw i64 %26, 1
  %793 = icmp eq i64 %792, %21
  br i1 %793, label %794, label %25, !llvm.loop !25

794:                                              ; preds = %789
  %795 = icmp eq i32 %790, 0
  br i1 %795, label %796, label %22, !llvm.loop !26

796:                                              ; preds = %794
  %797 = icmp eq i32 %791, 0
  br i1 %797, label %806, label %798

798:                                              ; preds = %796
  %799 = load atomic i64, ptr %12 monotonic, align 8
  %800 = load i64, ptr %13, align 8
  %801 = icmp ult i64 %799, %800
  %802 = select i1 %801, i32 3, i32 2
  br label %806

803:                                              ; preds = %4
  %804 = load ptr, ptr %1, align 8
  %805 = tail call fastcc i32 @run_plain(ptr noundef %0, ptr noundef %804, i64 noundef %3)
  br label %806

806:                                              ; preds = %36, %25, %216, %9, %798, %796, %781, %803
  %807 = phi i32 [ %805, %803 ], [ 0, %796 ], [ %802, %798 ], [ 0, %781 ], [ 0, %9 ], [ 0, %216 ], [ 1, %36 ], [ 0, %25 ]
  ret i32 %807
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
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %5) #12
  %11 = getelementptr inbounds i8, ptr %5, i64 8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(112) %11, i8 0, i64 104, i1 false)
  store ptr %0, ptr %5, align 8
  %12 = getelementptr inbounds i8, ptr %5, i64 32
  %13 = getelementptr inbounds i8, ptr %1, i64 128
  %14 = load ptr, ptr %13, align 8
  store ptr %14, ptr %12, align 8
  call void @llvm.lifetime.start.p0(i64 80, ptr nonnull %6) #12
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(80) %6, i8 0, i64 72, i1 false)
  %15 = getelementptr inbounds i8, ptr %6, i64 72
  %16 = getelementptr inbounds i8, ptr %1, i64 120
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
  br i1 %29, label %30, label %101

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
  %42 = icmp eq i32 %19, 0
  br label %46

43:                                               ; preds = %98, %60, %56
  %44 = load atomic i32, ptr %27 monotonic, align 8
  %45 = icmp eq i32 %44, 0
  br i1 %45, label %46, label %101

46:                                               ; preds = %30, %43
  %47 = phi i64 [ %2, %30 ], [ %48, %43 ]
  %48 = add i64 %47, -1
  %49 = icmp eq i64 %47, 0
  br i1 %49, label %101, label %50

50:                                               ; preds = %46
  %51 = load i32, ptr %31, align 4
  %52 = zext i32 %51 to i64
  %53 = atomicrmw add ptr %32, i64 %52 monotonic, align 8
  %54 = load i64, ptr %33, align 8
  %55 = icmp ult i64 %53, %54
  br i1 %55, label %56, label %101

56:                                               ; preds = %50
  %57 = add i64 %53, %52
  %58 = call i64 @llvm.umin.i64(i64 %57, i64 %54)
  %59 = icmp ugt i64 %57, %53
  br i1 %59, label %60, label %43

60:                                               ; preds = %56, %98
  %61 = phi i64 [ %99, %98 ], [ %53, %56 ]
  %62 = load atomic i32, ptr %27 monotonic, align 8
  %63 = icmp eq i32 %62, 0
  br i1 %63, label %64, label %43

64:                                               ; preds = %60
  %65 = load i32, ptr %34, align 8
  %66 = zext i32 %65 to i64
  %67 = udiv i64 %61, %66
  store i64 %61, ptr %35, align 8
  %68 = urem i64 %61, %66
  %69 = trunc nuw i64 %68 to i32
  store i32 %69, ptr %36, align 8
  %70 = load i32, ptr %37, align 4
  %71 = zext i32 %70 to i64
  %72 = urem i64 %67, %71
  %73 = trunc nuw i64 %72 to i32
  store i32 %73, ptr %38, align 4
  %74 = udiv i64 %67, %71
  %75 = trunc i64 %74 to i32
  store i32 %75, ptr %39, align 8
  br i1 %40, label %98, label %76

76:                                               ; preds = %64, %95
  %77 = phi i32 [ %96, %95 ], [ 0, %64 ]
  br i1 %41, label %95, label %81

78:                                               ; preds = %81, %83
  %79 = add nuw i32 %82, 1
  %80 = icmp eq i32 %79, %21
  br i1 %80, label %95, label %81, !llvm.loop !27

81:                                               ; preds = %76, %78
  %82 = phi i32 [ %79, %78 ], [ 0, %76 ]
  br i1 %42, label %78, label %85

83:                                               ; preds = %85
  %84 = icmp eq i32 %91, 0
  br i1 %84, label %78, label %94

85:                                               ; preds = %81, %85
  %86 = phi i32 [ %92, %85 ], [ 0, %81 ]
  %87 = phi i32 [ %91, %85 ], [ 0, %81 ]
  %88 = call i32 @kernel_thread(ptr noundef nonnull %4, ptr noundef nonnull %5, ptr noundef nonnull %6, i32 noundef %86, i32 noundef %82, i32 noundef %77, i32 noundef %69, i32 noundef %73, i32 noundef %75) #12
  %89 = icmp eq i32 %88, 4
  %90 = zext i1 %89 to i32
  %91 = or i32 %87, %90
  %92 = add nuw i32 %86, 1
  %93 = icmp eq i32 %92, %19
  br i1 %93, label %83, label %85, !llvm.loop !28

94:                                               ; preds = %83
  store atomic i32 1, ptr %27 release, align 8
  br label %101

95:                                               ; preds = %78, %76
  %96 = add nuw i32 %77, 1
  %97 = icmp eq i32 %96, %23
  br i1 %97, label %98, label %76, !llvm.loop !29

98:                                               ; preds = %95, %64
  %99 = add nuw i64 %61, 1
  %100 = icmp ult i64 %99, %58
  br i1 %100, label %60, label %43, !llvm.loop !30

101:                                              ; preds = %46, %43, %50, %3, %94
  %102 = phi i32 [ 0, %94 ], [ 0, %3 ], [ 1, %46 ], [ 0, %43 ], [ 0, %50 ]
  call void @llvm.lifetime.end.p0(i64 80, ptr nonnull %6) #12
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %5) #12
  call void @llvm.lifetime.end.p0(i64 168, ptr nonnull %4) #12
  ret i32 %102
}

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #5

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
  br i1 %62, label %63, label %14, !llvm.loop !31

63:                                               ; preds = %45, %63
  %64 = phi i32 [ %69, %63 ], [ %1, %45 ]
  %65 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %64, i1 true)
  %66 = zext nneg i32 %65 to i64
  %67 = getelementptr %struct.Thread, ptr %0, i64 %66, i32 1
  store i32 5, ptr %67, align 4
  %68 = add i32 %64, -1
  %69 = and i32 %68, %64
  %70 = icmp eq i32 %69, 0
  br i1 %70, label %279, label %63, !llvm.loop !32

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
  br i1 %86, label %87, label %73, !llvm.loop !33

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
  br i1 %106, label %107, label %93, !llvm.loop !33

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
  br i1 %125, label %126, label %112, !llvm.loop !33

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
  br i1 %147, label %148, label %134, !llvm.loop !33

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
  br i1 %172, label %173, label %159, !llvm.loop !34

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
  br i1 %181, label %279, label %152, !llvm.loop !35

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
  br i1 %201, label %202, label %188, !llvm.loop !34

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
  br i1 %223, label %279, label %211, !llvm.loop !36

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
  br i1 %259, label %260, label %232, !llvm.loop !37

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
  br i1 %278, label %279, label %268, !llvm.loop !38

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
  br i1 %83, label %26, label %24, !llvm.loop !39

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
  br i1 %101, label %102, label %84, !llvm.loop !40

102:                                              ; preds = %84, %12, %24
  %103 = phi i32 [ %81, %24 ], [ %14, %12 ], [ %81, %84 ]
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %4) #12
  %104 = add i32 %15, 32
  %105 = load i32, ptr %5, align 8
  %106 = icmp ult i32 %104, %105
  br i1 %106, label %12, label %10, !llvm.loop !41
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

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write)
declare void @llvm.assume(i1 noundef) #11

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #10

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
!24 = distinct !{!24}
!25 = distinct !{!25, !4}
!26 = distinct !{!26}
!27 = distinct !{!27, !4}
!28 = distinct !{!28, !4}
!29 = distinct !{!29, !4}
!30 = distinct !{!30, !4}
!31 = distinct !{!31, !4}
!32 = distinct !{!32, !4}
!33 = distinct !{!33, !4}
!34 = distinct !{!34, !4}
!35 = distinct !{!35, !4}
!36 = distinct !{!36, !4}
!37 = distinct !{!37, !4}
!38 = distinct !{!38, !4}
!39 = distinct !{!39, !4}
!40 = distinct !{!40, !4}
!41 = distinct !{!41, !4}
