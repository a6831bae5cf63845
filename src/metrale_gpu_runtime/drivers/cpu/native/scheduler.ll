; Made by build.py from scheduler.c: do not edit.
; flags -std=c17 -O2 -S -emit-llvm -Wall -Wextra -Werror -Wno-pass-failed -ffp-contract=off -fno-math-errno -fwrapv -fno-strict-aliasing -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-stack-protector -fno-asynchronous-unwind-tables -fPIC
; sha256 abi.h ca7446598e3ce8b0166402d2b8683aad911b3d9b486026d639f4ca8b2229a683
; sha256 scheduler.c d5a81472ee4041991dd07f757da3b3e87e4b6def8c548d5a4b8ff0f8519936fd
source_filename = "scheduler.c"

%struct.Range = type { i64, i64, i64 }
%struct.Barrier = type { i32, i32, i32, i32 }
%struct.Thread = type { i32, i32, [3 x i32], i32, i32, i32, i32, i32, i32, i32, i32, i32, i64, i32, i32, ptr }
%struct.Launch = type { ptr, [3 x i32], [3 x i32], i32, i32, i32, i32, i64, i64, i32, i32, ptr, i64, i64, %struct.Fault }
%struct.Fault = type { i32, i32, i32, i32, [3 x i32], [3 x i32], i64, i64, [4 x i32] }
%struct.Block = type { ptr, [3 x i32], i32, i64, ptr, ptr, [16 x i32] }

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
  %7 = load i32, ptr @KERNEL_SUSPENDS, align 4
  %8 = icmp eq i32 %7, 0
  br i1 %8, label %812, label %9

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
  br i1 %10, label %815, label %22

22:                                               ; preds = %9, %803
  %23 = phi i64 [ %24, %803 ], [ %3, %9 ]
  %24 = sub i64 %23, %21
  br label %25

25:                                               ; preds = %22, %798
  %26 = phi i64 [ %801, %798 ], [ 0, %22 ]
  %27 = phi i64 [ %37, %798 ], [ %23, %22 ]
  %28 = phi i32 [ %800, %798 ], [ 0, %22 ]
  %29 = phi i32 [ %799, %798 ], [ 0, %22 ]
  %30 = getelementptr ptr, ptr %1, i64 %26
  %31 = load ptr, ptr %30, align 8
  %32 = getelementptr inbounds i8, ptr %31, i64 136
  %33 = load i32, ptr %32, align 8
  %34 = load atomic i32, ptr %11 monotonic, align 8
  %35 = icmp eq i32 %34, 0
  br i1 %35, label %36, label %815

36:                                               ; preds = %25
  %37 = add i64 %27, -1
  %38 = icmp eq i64 %27, 0
  br i1 %38, label %815, label %39

39:                                               ; preds = %36
  %40 = icmp eq i32 %33, 0
  br i1 %40, label %41, label %154

41:                                               ; preds = %39
  %42 = load atomic i64, ptr %12 monotonic, align 8
  %43 = load i64, ptr %13, align 8
  %44 = icmp ult i64 %42, %43
  br i1 %44, label %45, label %798

45:                                               ; preds = %41
  %46 = atomicrmw add ptr %12, i64 1 monotonic, align 8
  %47 = icmp ult i64 %46, %43
  br i1 %47, label %48, label %798

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
  %217 = phi i32 [ %206, %205 ], [ %601, %772 ]
  %218 = phi i32 [ %207, %205 ], [ %466, %772 ]
  %219 = phi i32 [ %208, %205 ], [ %602, %772 ]
  %220 = phi i32 [ 0, %205 ], [ %599, %772 ]
  %221 = phi i32 [ 0, %205 ], [ %777, %772 ]
  %222 = load atomic i32, ptr %11 monotonic, align 8
  %223 = icmp eq i32 %222, 0
  br i1 %223, label %224, label %815

224:                                              ; preds = %216
  br i1 %209, label %464, label %225

225:                                              ; preds = %224, %456
  %226 = phi i32 [ %463, %456 ], [ %158, %224 ]
  %227 = phi i32 [ %330, %456 ], [ 0, %224 ]
  %228 = phi i32 [ %328, %456 ], [ 0, %224 ]
  %229 = phi i32 [ %460, %456 ], [ 0, %224 ]
  %230 = phi i32 [ %461, %456 ], [ 0, %224 ]
  %231 = phi i32 [ %326, %456 ], [ %219, %224 ]
  %232 = phi i32 [ %325, %456 ], [ %218, %224 ]
  %233 = phi i32 [ %324, %456 ], [ %217, %224 ]
  %234 = tail call i32 @llvm.umin.i32(i32 %226, i32 32)
  %235 = tail call i32 @llvm.umax.i32(i32 %234, i32 1)
  %236 = zext nneg i32 %235 to i64
  %237 = zext i32 %230 to i64
  %238 = getelementptr %struct.Thread, ptr %157, i64 %237
  %239 = sub i32 %158, %230
  %240 = tail call i32 @llvm.umin.i32(i32 %239, i32 32)
  %241 = zext nneg i32 %240 to i64
  br label %242

242:                                              ; preds = %454, %225
  %243 = phi i32 [ %233, %225 ], [ %324, %454 ]
  %244 = phi i32 [ %232, %225 ], [ %325, %454 ]
  %245 = phi i32 [ %231, %225 ], [ %326, %454 ]
  %246 = phi i32 [ %229, %225 ], [ %327, %454 ]
  %247 = phi i32 [ %228, %225 ], [ %328, %454 ]
  %248 = phi i1 [ true, %225 ], [ false, %454 ]
  %249 = phi i32 [ 1, %225 ], [ 0, %454 ]
  %250 = phi i32 [ 0, %225 ], [ %334, %454 ]
  %251 = phi i32 [ %227, %225 ], [ %330, %454 ]
  %252 = and i32 %249, %220
  %253 = icmp ne i32 %252, 0
  br label %254

254:                                              ; preds = %323, %242
  %255 = phi i64 [ 0, %242 ], [ %331, %323 ]
  %256 = phi i32 [ %251, %242 ], [ %330, %323 ]
  %257 = phi i32 [ 0, %242 ], [ %329, %323 ]
  %258 = phi i32 [ %247, %242 ], [ %328, %323 ]
  %259 = phi i32 [ %246, %242 ], [ %327, %323 ]
  %260 = phi i32 [ %245, %242 ], [ %326, %323 ]
  %261 = phi i32 [ %244, %242 ], [ %325, %323 ]
  %262 = phi i32 [ %243, %242 ], [ %324, %323 ]
  %263 = getelementptr %struct.Thread, ptr %238, i64 %255
  %264 = getelementptr inbounds i8, ptr %263, i64 4
  %265 = load i32, ptr %264, align 4
  %266 = icmp eq i32 %265, 5
  %267 = icmp eq i32 %265, 3
  %268 = and i1 %248, %267
  %269 = or i1 %266, %268
  %270 = icmp eq i32 %265, 1
  %271 = and i1 %253, %270
  %272 = or i1 %271, %269
  br i1 %272, label %279, label %273

273:                                              ; preds = %254
  %274 = icmp eq i32 %265, 2
  %275 = zext i1 %274 to i32
  %276 = trunc nuw nsw i64 %255 to i32
  %277 = shl nuw i32 %275, %276
  %278 = or i32 %277, %257
  br label %323

279:                                              ; preds = %254
  %280 = getelementptr inbounds i8, ptr %263, i64 8
  %281 = load i32, ptr %280, align 8
  %282 = getelementptr i8, ptr %263, i64 12
  %283 = load i32, ptr %282, align 4
  %284 = getelementptr i8, ptr %263, i64 16
  %285 = load i32, ptr %284, align 8
  %286 = load i32, ptr %210, align 8
  %287 = load i32, ptr %211, align 4
  %288 = load i32, ptr %212, align 8
  %289 = tail call i32 @kernel_thread(ptr noundef %0, ptr noundef %31, ptr noundef %263, i32 noundef %281, i32 noundef %283, i32 noundef %285, i32 noundef %286, i32 noundef %287, i32 noundef %288) #12
  store i32 %289, ptr %264, align 4
  switch i32 %289, label %792 [
    i32 1, label %290
    i32 2, label %316
    i32 3, label %323
    i32 0, label %320
  ]

290:                                              ; preds = %279
  %291 = getelementptr inbounds i8, ptr %263, i64 24
  %292 = load i32, ptr %291, align 8
  %293 = icmp eq i32 %292, 0
  br i1 %293, label %294, label %299

294:                                              ; preds = %290
  %295 = getelementptr inbounds i8, ptr %263, i64 32
  %296 = load i32, ptr %295, align 8
  %297 = icmp eq i32 %296, 0
  %298 = icmp eq i32 %262, 0
  br i1 %298, label %301, label %306

299:                                              ; preds = %290
  %300 = icmp eq i32 %262, 0
  br i1 %300, label %301, label %312

301:                                              ; preds = %299, %294
  %302 = phi i1 [ false, %299 ], [ %297, %294 ]
  %303 = zext i1 %302 to i32
  %304 = getelementptr inbounds i8, ptr %263, i64 28
  %305 = load i32, ptr %304, align 4
  br label %323

306:                                              ; preds = %294
  br i1 %297, label %307, label %312

307:                                              ; preds = %306
  %308 = getelementptr inbounds i8, ptr %263, i64 28
  %309 = load i32, ptr %308, align 4
  %310 = icmp eq i32 %309, %261
  %311 = zext i1 %310 to i32
  br label %312

312:                                              ; preds = %307, %306, %299
  %313 = phi i32 [ 0, %306 ], [ %311, %307 ], [ 0, %299 ]
  %314 = and i32 %313, %260
  %315 = add i32 %262, 1
  br label %323

316:                                              ; preds = %279
  %317 = trunc nuw nsw i64 %255 to i32
  %318 = shl nuw i32 1, %317
  %319 = or i32 %318, %257
  br label %323

320:                                              ; preds = %279
  %321 = load i32, ptr %213, align 4
  %322 = add i32 %321, -1
  store i32 %322, ptr %213, align 4
  br label %323

323:                                              ; preds = %320, %316, %312, %301, %279, %273
  %324 = phi i32 [ 1, %301 ], [ %315, %312 ], [ %262, %273 ], [ %262, %316 ], [ %262, %279 ], [ %262, %320 ]
  %325 = phi i32 [ %305, %301 ], [ %261, %312 ], [ %261, %273 ], [ %261, %316 ], [ %261, %279 ], [ %261, %320 ]
  %326 = phi i32 [ %303, %301 ], [ %314, %312 ], [ %260, %273 ], [ %260, %316 ], [ %260, %279 ], [ %260, %320 ]
  %327 = phi i32 [ %259, %301 ], [ %259, %312 ], [ %259, %273 ], [ %259, %316 ], [ 1, %279 ], [ %259, %320 ]
  %328 = phi i32 [ %258, %301 ], [ %258, %312 ], [ %258, %273 ], [ 1, %316 ], [ %258, %279 ], [ %258, %320 ]
  %329 = phi i32 [ %257, %301 ], [ %257, %312 ], [ %278, %273 ], [ %319, %316 ], [ %257, %279 ], [ %257, %320 ]
  %330 = phi i32 [ 1, %301 ], [ 1, %312 ], [ %256, %273 ], [ %256, %316 ], [ %256, %279 ], [ 1, %320 ]
  %331 = add nuw nsw i64 %255, 1
  %332 = icmp eq i64 %331, %236
  br i1 %332, label %333, label %254, !llvm.loop !12

333:                                              ; preds = %323
  %334 = add nuw nsw i32 %250, 1
  %335 = icmp eq i32 %329, 0
  br i1 %335, label %456, label %336

336:                                              ; preds = %333, %336
  %337 = phi i64 [ %346, %336 ], [ 0, %333 ]
  %338 = phi i32 [ %345, %336 ], [ 0, %333 ]
  %339 = getelementptr %struct.Thread, ptr %238, i64 %337, i32 1
  %340 = load i32, ptr %339, align 4
  %341 = icmp ne i32 %340, 0
  %342 = zext i1 %341 to i32
  %343 = trunc nuw i64 %337 to i32
  %344 = shl nuw i32 %342, %343
  %345 = or i32 %344, %338
  %346 = add nuw nsw i64 %337, 1
  %347 = icmp eq i64 %346, %241
  br i1 %347, label %348, label %336, !llvm.loop !13

348:                                              ; preds = %336, %404
  %349 = phi i32 [ %390, %404 ], [ %329, %336 ]
  %350 = phi i32 [ %406, %404 ], [ 0, %336 ]
  %351 = phi i32 [ %405, %404 ], [ 0, %336 ]
  %352 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %349, i1 true)
  %353 = zext nneg i32 %352 to i64
  %354 = getelementptr %struct.Thread, ptr %238, i64 %353
  %355 = getelementptr inbounds i8, ptr %354, i64 24
  %356 = load i32, ptr %355, align 8
  %357 = getelementptr inbounds i8, ptr %354, i64 36
  %358 = getelementptr inbounds i8, ptr %354, i64 40
  %359 = load i32, ptr %358, align 8
  %360 = icmp eq i32 %356, 0
  br label %361

361:                                              ; preds = %375, %348
  %362 = phi i32 [ 0, %348 ], [ %384, %375 ]
  %363 = phi i32 [ %349, %348 ], [ %386, %375 ]
  %364 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %363, i1 true)
  %365 = zext nneg i32 %364 to i64
  %366 = getelementptr %struct.Thread, ptr %238, i64 %365
  %367 = getelementptr inbounds i8, ptr %366, i64 24
  %368 = load i32, ptr %367, align 8
  %369 = icmp eq i32 %368, %356
  br i1 %369, label %370, label %375

370:                                              ; preds = %361
  %371 = getelementptr inbounds i8, ptr %366, i64 36
  %372 = load i32, ptr %371, align 4
  %373 = load i32, ptr %357, align 4
  %374 = icmp eq i32 %372, %373
  br label %375

375:                                              ; preds = %370, %361
  %376 = phi i1 [ false, %361 ], [ %374, %370 ]
  %377 = getelementptr inbounds i8, ptr %366, i64 40
  %378 = load i32, ptr %377, align 8
  %379 = icmp eq i32 %378, %359
  %380 = or i1 %360, %379
  %381 = and i1 %376, %380
  %382 = zext i1 %381 to i32
  %383 = shl nuw i32 %382, %364
  %384 = or i32 %383, %362
  %385 = add i32 %363, -1
  %386 = and i32 %385, %363
  %387 = icmp eq i32 %386, 0
  br i1 %387, label %388, label %361, !llvm.loop !14

388:                                              ; preds = %375
  %389 = xor i32 %384, -1
  %390 = and i32 %349, %389
  %391 = icmp eq i32 %356, 19
  br i1 %391, label %395, label %392

392:                                              ; preds = %388
  %393 = load i32, ptr %357, align 4
  %394 = icmp eq i32 %393, 0
  br i1 %394, label %395, label %397

395:                                              ; preds = %392, %388
  %396 = or i32 %384, %350
  br label %404

397:                                              ; preds = %392
  %398 = and i32 %345, %389
  %399 = and i32 %398, %393
  %400 = icmp eq i32 %399, 0
  br i1 %400, label %401, label %404

401:                                              ; preds = %397
  %402 = and i32 %393, %384
  tail call fastcc void @complete_operation(ptr noundef nonnull %238, i32 noundef %384, i32 noundef %402)
  %403 = or i32 %384, %351
  br label %404

404:                                              ; preds = %401, %397, %395
  %405 = phi i32 [ %351, %395 ], [ %403, %401 ], [ %351, %397 ]
  %406 = phi i32 [ %396, %395 ], [ %350, %401 ], [ %350, %397 ]
  %407 = icmp eq i32 %390, 0
  br i1 %407, label %408, label %348, !llvm.loop !15

408:                                              ; preds = %404
  %409 = icmp eq i32 %405, 0
  br i1 %409, label %410, label %454

410:                                              ; preds = %408
  %411 = icmp eq i32 %406, 0
  br i1 %411, label %456, label %412

412:                                              ; preds = %410, %450
  %413 = phi i32 [ %452, %450 ], [ %406, %410 ]
  %414 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %413, i1 true)
  %415 = zext nneg i32 %414 to i64
  %416 = getelementptr %struct.Thread, ptr %238, i64 %415
  %417 = getelementptr inbounds i8, ptr %416, i64 24
  %418 = load i32, ptr %417, align 8
  %419 = getelementptr inbounds i8, ptr %416, i64 36
  %420 = getelementptr inbounds i8, ptr %416, i64 40
  %421 = load i32, ptr %420, align 8
  %422 = icmp eq i32 %418, 0
  br label %423

423:                                              ; preds = %437, %412
  %424 = phi i32 [ 0, %412 ], [ %446, %437 ]
  %425 = phi i32 [ %413, %412 ], [ %448, %437 ]
  %426 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %425, i1 true)
  %427 = zext nneg i32 %426 to i64
  %428 = getelementptr %struct.Thread, ptr %238, i64 %427
  %429 = getelementptr inbounds i8, ptr %428, i64 24
  %430 = load i32, ptr %429, align 8
  %431 = icmp eq i32 %430, %418
  br i1 %431, label %432, label %437

432:                                              ; preds = %423
  %433 = getelementptr inbounds i8, ptr %428, i64 36
  %434 = load i32, ptr %433, align 4
  %435 = load i32, ptr %419, align 4
  %436 = icmp eq i32 %434, %435
  br label %437

437:                                              ; preds = %432, %423
  %438 = phi i1 [ false, %423 ], [ %436, %432 ]
  %439 = getelementptr inbounds i8, ptr %428, i64 40
  %440 = load i32, ptr %439, align 8
  %441 = icmp eq i32 %440, %421
  %442 = or i1 %422, %441
  %443 = and i1 %438, %442
  %444 = zext i1 %443 to i32
  %445 = shl nuw i32 %444, %426
  %446 = or i32 %445, %424
  %447 = add i32 %425, -1
  %448 = and i32 %447, %425
  %449 = icmp eq i32 %448, 0
  br i1 %449, label %450, label %423, !llvm.loop !14

450:                                              ; preds = %437
  %451 = xor i32 %446, -1
  %452 = and i32 %413, %451
  tail call fastcc void @complete_operation(ptr noundef nonnull %238, i32 noundef %446, i32 noundef %446)
  %453 = icmp eq i32 %452, 0
  br i1 %453, label %454, label %412, !llvm.loop !16

454:                                              ; preds = %450, %408
  %455 = icmp eq i32 %334, 256
  br i1 %455, label %456, label %242, !llvm.loop !17

456:                                              ; preds = %454, %410, %333
  %457 = phi i32 [ %334, %410 ], [ %334, %333 ], [ 256, %454 ]
  %458 = icmp eq i32 %457, 256
  %459 = zext i1 %458 to i32
  %460 = or i32 %327, %459
  %461 = add i32 %230, 32
  %462 = icmp ult i32 %461, %158
  %463 = add i32 %226, -32
  br i1 %462, label %225, label %464, !llvm.loop !18

464:                                              ; preds = %456, %224
  %465 = phi i32 [ %217, %224 ], [ %324, %456 ]
  %466 = phi i32 [ %218, %224 ], [ %325, %456 ]
  %467 = phi i32 [ %219, %224 ], [ %326, %456 ]
  %468 = phi i32 [ 0, %224 ], [ %460, %456 ]
  %469 = phi i32 [ 0, %224 ], [ %328, %456 ]
  %470 = phi i32 [ 0, %224 ], [ %330, %456 ]
  %471 = load i32, ptr %213, align 4
  %472 = icmp eq i32 %471, 0
  br i1 %472, label %793, label %473

473:                                              ; preds = %464
  %474 = icmp ne i32 %467, 0
  %475 = icmp eq i32 %465, %471
  %476 = select i1 %474, i1 %475, i1 false
  br i1 %476, label %477, label %483

477:                                              ; preds = %473
  %478 = and i32 %466, 15
  %479 = zext nneg i32 %478 to i64
  %480 = getelementptr [16 x i32], ptr %214, i64 0, i64 %479
  %481 = load i32, ptr %480, align 4
  %482 = icmp eq i32 %481, 0
  br i1 %482, label %598, label %485

483:                                              ; preds = %473
  %484 = icmp eq i32 %465, 0
  br i1 %484, label %598, label %485

485:                                              ; preds = %483, %477
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %6) #12
  %486 = call fastcc i32 @look_at_barriers(ptr noundef readonly %0, ptr noundef nonnull %31, ptr noundef nonnull %6)
  %487 = icmp eq i32 %486, 0
  br i1 %487, label %586, label %488

488:                                              ; preds = %485, %526
  %489 = phi i32 [ %528, %526 ], [ 0, %485 ]
  %490 = phi i32 [ %529, %526 ], [ 0, %485 ]
  %491 = phi i32 [ %531, %526 ], [ %486, %485 ]
  %492 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %491, i1 true)
  %493 = zext nneg i32 %492 to i64
  %494 = getelementptr [16 x %struct.Barrier], ptr %6, i64 0, i64 %493
  %495 = getelementptr [16 x i32], ptr %214, i64 0, i64 %493
  %496 = load i32, ptr %495, align 4
  %497 = getelementptr inbounds i8, ptr %494, i64 12
  %498 = load i32, ptr %497, align 4
  %499 = icmp eq i32 %498, 0
  br i1 %499, label %505, label %509

500:                                              ; preds = %526
  %501 = icmp eq i32 %528, 0
  br i1 %501, label %586, label %502

502:                                              ; preds = %500
  %503 = load i32, ptr %14, align 8
  %504 = icmp eq i32 %503, 0
  br i1 %504, label %588, label %533

505:                                              ; preds = %488
  %506 = load i32, ptr %494, align 16
  %507 = add i32 %506, %496
  %508 = icmp ult i32 %507, %471
  br i1 %508, label %526, label %520

509:                                              ; preds = %488
  %510 = add i32 %498, 31
  %511 = and i32 %510, -32
  %512 = getelementptr inbounds i8, ptr %494, i64 4
  %513 = load i32, ptr %512, align 4
  %514 = add i32 %513, %496
  %515 = icmp ult i32 %514, %511
  br i1 %515, label %526, label %516

516:                                              ; preds = %509
  %517 = tail call i32 @llvm.usub.sat.i32(i32 %511, i32 %513)
  %518 = tail call i32 @llvm.usub.sat.i32(i32 %496, i32 %517)
  %519 = load i32, ptr %494, align 16
  br label %520

520:                                              ; preds = %516, %505
  %521 = phi i32 [ %519, %516 ], [ %506, %505 ]
  %522 = phi i32 [ %518, %516 ], [ 0, %505 ]
  store i32 %522, ptr %495, align 4
  %523 = shl nuw nsw i32 1, %492
  %524 = or i32 %523, %489
  %525 = add i32 %521, %490
  br label %526

526:                                              ; preds = %520, %509, %505
  %527 = phi i32 [ %525, %520 ], [ %490, %505 ], [ %490, %509 ]
  %528 = phi i32 [ %524, %520 ], [ %489, %505 ], [ %489, %509 ]
  %529 = freeze i32 %527
  %530 = add nsw i32 %491, -1
  %531 = and i32 %530, %491
  %532 = icmp eq i32 %531, 0
  br i1 %532, label %500, label %488, !llvm.loop !19

533:                                              ; preds = %502, %581
  %534 = phi i32 [ %582, %581 ], [ %503, %502 ]
  %535 = phi i64 [ %583, %581 ], [ 0, %502 ]
  %536 = load ptr, ptr %215, align 8
  %537 = getelementptr %struct.Thread, ptr %536, i64 %535
  %538 = getelementptr inbounds i8, ptr %537, i64 28
  %539 = load i32, ptr %538, align 4
  %540 = and i32 %539, 15
  %541 = getelementptr inbounds i8, ptr %537, i64 4
  %542 = load i32, ptr %541, align 4
  %543 = icmp eq i32 %542, 1
  br i1 %543, label %544, label %581

544:                                              ; preds = %533
  %545 = shl nuw nsw i32 1, %540
  %546 = and i32 %545, %528
  %547 = icmp eq i32 %546, 0
  br i1 %547, label %581, label %548

548:                                              ; preds = %544
  %549 = zext nneg i32 %540 to i64
  %550 = getelementptr [16 x %struct.Barrier], ptr %6, i64 0, i64 %549
  %551 = getelementptr inbounds i8, ptr %537, i64 24
  %552 = load i32, ptr %551, align 8
  switch i32 %552, label %553 [
    i32 1, label %556
    i32 2, label %562
    i32 3, label %567
    i32 0, label %576
  ]

553:                                              ; preds = %548
  %554 = getelementptr inbounds i8, ptr %537, i64 64
  %555 = load i32, ptr %554, align 8
  br label %573

556:                                              ; preds = %548
  %557 = getelementptr inbounds i8, ptr %550, i64 8
  %558 = load i32, ptr %557, align 8
  %559 = load i32, ptr %550, align 16
  %560 = icmp eq i32 %558, %559
  %561 = zext i1 %560 to i32
  br label %570

562:                                              ; preds = %548
  %563 = getelementptr inbounds i8, ptr %550, i64 8
  %564 = load i32, ptr %563, align 8
  %565 = icmp ne i32 %564, 0
  %566 = zext i1 %565 to i32
  br label %570

567:                                              ; preds = %548
  %568 = getelementptr inbounds i8, ptr %550, i64 8
  %569 = load i32, ptr %568, align 8
  br label %570

570:                                              ; preds = %567, %562, %556
  %571 = phi i32 [ %561, %556 ], [ %569, %567 ], [ %566, %562 ]
  %572 = getelementptr inbounds i8, ptr %537, i64 64
  store i32 %571, ptr %572, align 8
  br label %573

573:                                              ; preds = %570, %553
  %574 = phi i32 [ %555, %553 ], [ %571, %570 ]
  %575 = icmp ne i32 %574, 0
  br label %576

576:                                              ; preds = %573, %548
  %577 = phi i1 [ %575, %573 ], [ false, %548 ]
  %578 = zext i1 %577 to i32
  %579 = getelementptr inbounds i8, ptr %537, i64 68
  store i32 %578, ptr %579, align 4
  store i32 5, ptr %541, align 4
  %580 = load i32, ptr %14, align 8
  br label %581

581:                                              ; preds = %576, %544, %533
  %582 = phi i32 [ %534, %533 ], [ %534, %544 ], [ %580, %576 ]
  %583 = add nuw nsw i64 %535, 1
  %584 = zext i32 %582 to i64
  %585 = icmp ult i64 %583, %584
  br i1 %585, label %533, label %588, !llvm.loop !20

586:                                              ; preds = %500, %485
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %6) #12
  %587 = and i32 %467, 1
  br label %593

588:                                              ; preds = %581, %502
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %6) #12
  %589 = sub i32 %465, %529
  %590 = icmp eq i32 %529, 0
  %591 = and i32 %467, 1
  %592 = select i1 %590, i32 %591, i32 0
  br label %593

593:                                              ; preds = %588, %586
  %594 = phi i32 [ %465, %586 ], [ %589, %588 ]
  %595 = phi i32 [ 0, %586 ], [ %529, %588 ]
  %596 = phi i32 [ %587, %586 ], [ %592, %588 ]
  %597 = or i32 %595, %470
  br label %598

598:                                              ; preds = %593, %483, %477
  %599 = phi i32 [ 0, %483 ], [ 0, %593 ], [ 1, %477 ]
  %600 = phi i1 [ false, %483 ], [ false, %593 ], [ true, %477 ]
  %601 = phi i32 [ 0, %483 ], [ %594, %593 ], [ 0, %477 ]
  %602 = phi i32 [ %467, %483 ], [ %596, %593 ], [ %467, %477 ]
  %603 = phi i32 [ %470, %483 ], [ %597, %593 ], [ 1, %477 ]
  %604 = or i32 %469, %468
  %605 = or i32 %604, %603
  %606 = icmp eq i32 %605, 0
  br i1 %606, label %607, label %772

607:                                              ; preds = %598
  %608 = load ptr, ptr %215, align 8
  %609 = load i32, ptr %14, align 8
  %610 = icmp ne i32 %609, 0
  tail call void @llvm.assume(i1 %610)
  %611 = zext i32 %609 to i64
  br label %615

612:                                              ; preds = %625
  %613 = icmp eq ptr %626, null
  %614 = select i1 %613, ptr %627, ptr %626
  br i1 %613, label %720, label %629

615:                                              ; preds = %625, %607
  %616 = phi i64 [ %611, %607 ], [ %619, %625 ]
  %617 = phi ptr [ null, %607 ], [ %627, %625 ]
  %618 = phi ptr [ null, %607 ], [ %626, %625 ]
  %619 = add nsw i64 %616, -1
  %620 = getelementptr %struct.Thread, ptr %608, i64 %619
  %621 = getelementptr inbounds i8, ptr %620, i64 4
  %622 = load i32, ptr %621, align 4
  switch i32 %622, label %624 [
    i32 1, label %625
    i32 2, label %623
  ]

623:                                              ; preds = %615
  br label %625

624:                                              ; preds = %615
  br label %625

625:                                              ; preds = %624, %623, %615
  %626 = phi ptr [ %620, %623 ], [ %618, %615 ], [ %618, %624 ]
  %627 = phi ptr [ %617, %623 ], [ %620, %615 ], [ %617, %624 ]
  %628 = icmp eq i64 %619, 0
  br i1 %628, label %612, label %615, !llvm.loop !21

629:                                              ; preds = %612
  %630 = getelementptr inbounds i8, ptr %626, i64 20
  %631 = load i32, ptr %630, align 4
  %632 = and i32 %631, -32
  %633 = sub i32 %609, %632
  %634 = tail call i32 @llvm.umin.i32(i32 %633, i32 32)
  %635 = icmp eq i32 %609, %632
  br i1 %635, label %658, label %636

636:                                              ; preds = %629
  %637 = zext i32 %632 to i64
  %638 = tail call i32 @llvm.umax.i32(i32 %634, i32 1)
  %639 = zext nneg i32 %638 to i64
  br label %707

640:                                              ; preds = %707
  %641 = getelementptr %struct.Thread, ptr %608, i64 %637
  %642 = zext nneg i32 %634 to i64
  br label %643

643:                                              ; preds = %643, %640
  %644 = phi i64 [ 0, %640 ], [ %653, %643 ]
  %645 = phi i32 [ 0, %640 ], [ %652, %643 ]
  %646 = getelementptr %struct.Thread, ptr %641, i64 %644, i32 1
  %647 = load i32, ptr %646, align 4
  %648 = icmp ne i32 %647, 0
  %649 = zext i1 %648 to i32
  %650 = trunc nuw i64 %644 to i32
  %651 = shl nuw i32 %649, %650
  %652 = or i32 %651, %645
  %653 = add nuw nsw i64 %644, 1
  %654 = icmp eq i64 %653, %642
  br i1 %654, label %655, label %643, !llvm.loop !13

655:                                              ; preds = %643
  %656 = xor i32 %652, -1
  %657 = icmp eq i32 %717, 0
  br i1 %657, label %658, label %662

658:                                              ; preds = %655, %629
  %659 = phi i32 [ %656, %655 ], [ -1, %629 ]
  %660 = getelementptr inbounds i8, ptr %614, i64 24
  %661 = load i32, ptr %660, align 8
  br label %696

662:                                              ; preds = %655
  %663 = getelementptr inbounds i8, ptr %614, i64 24
  %664 = load i32, ptr %663, align 8
  %665 = getelementptr inbounds i8, ptr %614, i64 36
  %666 = getelementptr inbounds i8, ptr %614, i64 40
  %667 = load i32, ptr %666, align 8
  %668 = icmp eq i32 %664, 0
  br label %669

669:                                              ; preds = %683, %662
  %670 = phi i32 [ 0, %662 ], [ %692, %683 ]
  %671 = phi i32 [ %717, %662 ], [ %694, %683 ]
  %672 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %671, i1 true)
  %673 = zext nneg i32 %672 to i64
  %674 = getelementptr %struct.Thread, ptr %641, i64 %673
  %675 = getelementptr inbounds i8, ptr %674, i64 24
  %676 = load i32, ptr %675, align 8
  %677 = icmp eq i32 %676, %664
  br i1 %677, label %678, label %683

678:                                              ; preds = %669
  %679 = getelementptr inbounds i8, ptr %674, i64 36
  %680 = load i32, ptr %679, align 4
  %681 = load i32, ptr %665, align 4
  %682 = icmp eq i32 %680, %681
  br label %683

683:                                              ; preds = %678, %669
  %684 = phi i1 [ false, %669 ], [ %682, %678 ]
  %685 = getelementptr inbounds i8, ptr %674, i64 40
  %686 = load i32, ptr %685, align 8
  %687 = icmp eq i32 %686, %667
  %688 = or i1 %668, %687
  %689 = and i1 %684, %688
  %690 = zext i1 %689 to i32
  %691 = shl nuw i32 %690, %672
  %692 = or i32 %691, %670
  %693 = add i32 %671, -1
  %694 = and i32 %693, %671
  %695 = icmp eq i32 %694, 0
  br i1 %695, label %696, label %669, !llvm.loop !14

696:                                              ; preds = %683, %658
  %697 = phi i32 [ %659, %658 ], [ %656, %683 ]
  %698 = phi i32 [ %661, %658 ], [ %664, %683 ]
  %699 = phi i32 [ 0, %658 ], [ %692, %683 ]
  %700 = getelementptr inbounds i8, ptr %614, i64 36
  %701 = load i32, ptr %700, align 4
  %702 = icmp ugt i32 %633, 31
  %703 = shl nsw i32 -1, %634
  %704 = xor i32 %703, -1
  %705 = select i1 %702, i32 -1, i32 %704
  %706 = and i32 %697, %705
  br label %738

707:                                              ; preds = %707, %636
  %708 = phi i64 [ 0, %636 ], [ %718, %707 ]
  %709 = phi i32 [ 0, %636 ], [ %717, %707 ]
  %710 = add nuw nsw i64 %708, %637
  %711 = getelementptr %struct.Thread, ptr %608, i64 %710, i32 1
  %712 = load i32, ptr %711, align 4
  %713 = icmp eq i32 %712, 2
  %714 = zext i1 %713 to i32
  %715 = trunc nuw nsw i64 %708 to i32
  %716 = shl nuw i32 %714, %715
  %717 = or i32 %716, %709
  %718 = add nuw nsw i64 %708, 1
  %719 = icmp eq i64 %718, %639
  br i1 %719, label %640, label %707, !llvm.loop !22

720:                                              ; preds = %612
  %721 = load i32, ptr %213, align 4
  %722 = sub i32 %609, %721
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %5) #12
  %723 = getelementptr inbounds i8, ptr %627, i64 28
  %724 = load i32, ptr %723, align 4
  %725 = and i32 %724, 15
  %726 = call fastcc i32 @look_at_barriers(ptr noundef %0, ptr noundef nonnull readonly %31, ptr noundef nonnull %5)
  %727 = zext nneg i32 %725 to i64
  %728 = getelementptr [16 x %struct.Barrier], ptr %5, i64 0, i64 %727
  %729 = load i32, ptr %728, align 16
  %730 = getelementptr [16 x i32], ptr %214, i64 0, i64 %727
  %731 = load i32, ptr %730, align 4
  %732 = add i32 %731, %729
  %733 = getelementptr inbounds i8, ptr %728, i64 12
  %734 = load i32, ptr %733, align 4
  %735 = icmp eq i32 %734, 0
  %736 = select i1 %735, i32 %721, i32 %734
  %737 = load i32, ptr %723, align 4
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %5) #12
  br label %738

738:                                              ; preds = %720, %696
  %739 = phi ptr [ %627, %720 ], [ %614, %696 ]
  %740 = phi i32 [ 8, %720 ], [ 9, %696 ]
  %741 = phi i32 [ %722, %720 ], [ %706, %696 ]
  %742 = phi i32 [ %737, %720 ], [ %698, %696 ]
  %743 = phi i32 [ %736, %720 ], [ %701, %696 ]
  %744 = phi i32 [ %732, %720 ], [ %699, %696 ]
  %745 = getelementptr inbounds i8, ptr %0, i64 96
  %746 = atomicrmw xchg ptr %745, i32 1 acq_rel, align 8
  %747 = icmp eq i32 %746, 0
  br i1 %747, label %748, label %792

748:                                              ; preds = %738
  %749 = getelementptr inbounds i8, ptr %0, i64 100
  store i32 %740, ptr %749, align 4
  %750 = getelementptr inbounds i8, ptr %0, i64 104
  store i32 0, ptr %750, align 8
  %751 = getelementptr inbounds i8, ptr %739, i64 40
  %752 = load i32, ptr %751, align 8
  %753 = getelementptr inbounds i8, ptr %0, i64 108
  store i32 %752, ptr %753, align 4
  %754 = getelementptr inbounds i8, ptr %0, i64 112
  %755 = getelementptr inbounds i8, ptr %739, i64 8
  %756 = getelementptr inbounds i8, ptr %0, i64 124
  br label %762

757:                                              ; preds = %762
  %758 = getelementptr inbounds i8, ptr %0, i64 152
  store i32 %744, ptr %758, align 4
  %759 = getelementptr inbounds i8, ptr %0, i64 156
  store i32 %743, ptr %759, align 4
  %760 = getelementptr inbounds i8, ptr %0, i64 160
  store i32 %742, ptr %760, align 4
  %761 = getelementptr inbounds i8, ptr %0, i64 164
  store i32 %741, ptr %761, align 4
  br label %792

762:                                              ; preds = %762, %748
  %763 = phi i64 [ 0, %748 ], [ %770, %762 ]
  %764 = getelementptr [3 x i32], ptr %210, i64 0, i64 %763
  %765 = load i32, ptr %764, align 4
  %766 = getelementptr [3 x i32], ptr %754, i64 0, i64 %763
  store i32 %765, ptr %766, align 4
  %767 = getelementptr [3 x i32], ptr %755, i64 0, i64 %763
  %768 = load i32, ptr %767, align 4
  %769 = getelementptr [3 x i32], ptr %756, i64 0, i64 %763
  store i32 %768, ptr %769, align 4
  %770 = add nuw nsw i64 %763, 1
  %771 = icmp eq i64 %770, 3
  br i1 %771, label %757, label %762, !llvm.loop !23

772:                                              ; preds = %598
  %773 = icmp eq i32 %468, 0
  %774 = icmp eq i32 %603, 0
  %775 = select i1 %774, i32 4096, i32 256
  %776 = select i1 %773, i32 16, i32 %775
  %777 = add i32 %776, %221
  %778 = icmp ugt i32 %777, 1048575
  br i1 %778, label %779, label %216, !llvm.loop !24

779:                                              ; preds = %772
  %780 = select i1 %600, i1 %160, i1 false
  br i1 %780, label %781, label %794

781:                                              ; preds = %779
  %782 = zext i32 %158 to i64
  br label %783

783:                                              ; preds = %789, %781
  %784 = phi i64 [ 0, %781 ], [ %790, %789 ]
  %785 = getelementptr %struct.Thread, ptr %157, i64 %784, i32 1
  %786 = load i32, ptr %785, align 4
  %787 = icmp eq i32 %786, 1
  br i1 %787, label %788, label %789

788:                                              ; preds = %783
  store i32 5, ptr %785, align 4
  br label %789

789:                                              ; preds = %788, %783
  %790 = add nuw nsw i64 %784, 1
  %791 = icmp eq i64 %790, %782
  br i1 %791, label %794, label %783, !llvm.loop !25

792:                                              ; preds = %279, %757, %738
  store atomic i32 1, ptr %11 release, align 8
  br label %815

793:                                              ; preds = %464
  store i32 0, ptr %32, align 8
  br label %794

794:                                              ; preds = %789, %793, %779
  %795 = phi i32 [ 1, %793 ], [ %155, %779 ], [ %155, %789 ]
  %796 = load i32, ptr %32, align 8
  %797 = add i32 %796, %28
  br label %798

798:                                              ; preds = %794, %45, %41
  %799 = phi i32 [ %795, %794 ], [ %29, %41 ], [ %29, %45 ]
  %800 = phi i32 [ %797, %794 ], [ %28, %41 ], [ %28, %45 ]
  %801 = add nuw nsw i64 %26, 1
  %802 = icmp eq i64 %801, %21
  br i1 %802, label %803, label %25, !llvm.loop !26

803:                                              ; preds = %798
  %804 = icmp eq i32 %799, 0
  br i1 %804, label %805, label %22, !llvm.loop !27

805:                                              ; preds = %803
  %806 = icmp eq i32 %800, 0
  br i1 %806, label %815, label %807

807:                                              ; preds = %805
  %808 = load atomic i64, ptr %12 monotonic, align 8
  %809 = load i64, ptr %13, align 8
  %810 = icmp ult i64 %808, %809
  %811 = select i1 %810, i32 3, i32 2
  br label %815

812:                                              ; preds = %4
  %813 = load ptr, ptr %1, align 8
  %814 = tail call fastcc i32 @run_plain(ptr noundef %0, ptr noundef %813, i64 noundef %3)
  br label %815

815:                                              ; preds = %36, %25, %216, %9, %807, %805, %792, %812
  %816 = phi i32 [ %814, %812 ], [ 0, %805 ], [ %811, %807 ], [ 0, %792 ], [ 0, %9 ], [ 0, %216 ], [ 1, %36 ], [ 0, %25 ]
  ret i32 %816
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
  br i1 %82, label %108, label %83, !llvm.loop !28

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
  br i1 %95, label %105, label %87, !llvm.loop !29

96:                                               ; preds = %86, %96
  %97 = phi i32 [ %103, %96 ], [ 0, %86 ]
  %98 = phi i32 [ %102, %96 ], [ 0, %86 ]
  %99 = call i32 @kernel_thread(ptr noundef nonnull %4, ptr noundef nonnull %5, ptr noundef nonnull %6, i32 noundef %97, i32 noundef %84, i32 noundef %79, i32 noundef %71, i32 noundef %75, i32 noundef %77) #12, !llvm.access.group !30
  %100 = icmp eq i32 %99, 4
  %101 = zext i1 %100 to i32
  %102 = or i32 %98, %101
  %103 = add nuw i32 %97, 1
  %104 = icmp eq i32 %103, %19
  br i1 %104, label %105, label %96, !llvm.loop !31

105:                                              ; preds = %87, %96
  %106 = phi i32 [ %102, %96 ], [ %93, %87 ]
  %107 = icmp eq i32 %106, 0
  br i1 %107, label %80, label %111

108:                                              ; preds = %80, %78
  %109 = add nuw i32 %79, 1
  %110 = icmp eq i32 %109, %23
  br i1 %110, label %112, label %78, !llvm.loop !34

111:                                              ; preds = %105
  store atomic i32 1, ptr %27 release, align 8
  br label %115

112:                                              ; preds = %108, %66
  %113 = add nuw i64 %63, 1
  %114 = icmp ult i64 %113, %60
  br i1 %114, label %62, label %45, !llvm.loop !35

115:                                              ; preds = %48, %45, %52, %3, %111
  %116 = phi i32 [ 0, %111 ], [ 0, %3 ], [ 1, %48 ], [ 0, %45 ], [ 0, %52 ]
  call void @llvm.lifetime.end.p0(i64 80, ptr nonnull %6) #12
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %5) #12
  call void @llvm.lifetime.end.p0(i64 168, ptr nonnull %4) #12
  ret i32 %116
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
  br i1 %62, label %63, label %14, !llvm.loop !36

63:                                               ; preds = %45, %63
  %64 = phi i32 [ %69, %63 ], [ %1, %45 ]
  %65 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %64, i1 true)
  %66 = zext nneg i32 %65 to i64
  %67 = getelementptr %struct.Thread, ptr %0, i64 %66, i32 1
  store i32 5, ptr %67, align 4
  %68 = add i32 %64, -1
  %69 = and i32 %68, %64
  %70 = icmp eq i32 %69, 0
  br i1 %70, label %279, label %63, !llvm.loop !37

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
  br i1 %86, label %87, label %73, !llvm.loop !38

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
  br i1 %106, label %107, label %93, !llvm.loop !38

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
  br i1 %125, label %126, label %112, !llvm.loop !38

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
  br i1 %147, label %148, label %134, !llvm.loop !38

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
  br i1 %172, label %173, label %159, !llvm.loop !39

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
  br i1 %181, label %279, label %152, !llvm.loop !40

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
  br i1 %201, label %202, label %188, !llvm.loop !39

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
  br i1 %223, label %279, label %211, !llvm.loop !41

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
  br i1 %259, label %260, label %232, !llvm.loop !42

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
  br i1 %278, label %279, label %268, !llvm.loop !43

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
  br i1 %83, label %26, label %24, !llvm.loop !44

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
  br i1 %101, label %102, label %84, !llvm.loop !45

102:                                              ; preds = %84, %12, %24
  %103 = phi i32 [ %81, %24 ], [ %14, %12 ], [ %81, %84 ]
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %4) #12
  %104 = add i32 %15, 32
  %105 = load i32, ptr %5, align 8
  %106 = icmp ult i32 %104, %105
  br i1 %106, label %12, label %10, !llvm.loop !46
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
!26 = distinct !{!26, !4}
!27 = distinct !{!27}
!28 = distinct !{!28, !4}
!29 = distinct !{!29, !4}
!30 = distinct !{}
!31 = distinct !{!31, !4, !32}
!32 = !{!"llvm.loop.parallel_accesses", !30}
!34 = distinct !{!34, !4}
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
