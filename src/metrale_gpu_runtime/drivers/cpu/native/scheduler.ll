; Made by build.py from scheduler.c: do not edit.
; flags -std=c17 -O2 -S -emit-llvm -Wall -Wextra -Werror -Wno-pass-failed -ffp-contract=off -fno-math-errno -fwrapv -fno-strict-aliasing -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-stack-protector -fno-asynchronous-unwind-tables -fPIC
; sha256 abi.h 1bf809b2ae45aeff1442d603e5ed2f0859357d8926add5f3961dbe2993351f1b
; sha256 scheduler.c b15632c1d1fffa563ee95da4aa930603e0121f6cc932169367ccd97932681a50
source_filename = "scheduler.c"

%struct.Range = type { i64, i64, i64 }
%struct.Barrier = type { i32, i32, i32, i32 }
%struct.Block = type { ptr, [3 x i32], i32, i64, ptr, ptr, [16 x i32] }
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
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %7) #12
  %14 = getelementptr inbounds i8, ptr %7, i64 8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(112) %14, i8 0, i64 104, i1 false)
  store ptr %0, ptr %7, align 8
  %15 = getelementptr inbounds i8, ptr %7, i64 32
  %16 = getelementptr inbounds i8, ptr %13, i64 128
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
  %33 = getelementptr inbounds i8, ptr %13, i64 120
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
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %7) #12
  br label %873

76:                                               ; preds = %9, %4
  %77 = load i32, ptr @KERNEL_SUSPENDS, align 4
  %78 = icmp eq i32 %77, 0
  br i1 %78, label %870, label %79

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
  br i1 %80, label %873, label %92

92:                                               ; preds = %79, %861
  %93 = phi i64 [ %94, %861 ], [ %3, %79 ]
  %94 = sub i64 %93, %91
  br label %95

95:                                               ; preds = %92, %856
  %96 = phi i64 [ %859, %856 ], [ 0, %92 ]
  %97 = phi i64 [ %107, %856 ], [ %93, %92 ]
  %98 = phi i32 [ %858, %856 ], [ 0, %92 ]
  %99 = phi i32 [ %857, %856 ], [ 0, %92 ]
  %100 = getelementptr ptr, ptr %1, i64 %96
  %101 = load ptr, ptr %100, align 8
  %102 = getelementptr inbounds i8, ptr %101, i64 136
  %103 = load i32, ptr %102, align 8
  %104 = load atomic i32, ptr %81 monotonic, align 8
  %105 = icmp eq i32 %104, 0
  br i1 %105, label %106, label %873

106:                                              ; preds = %95
  %107 = add i64 %97, -1
  %108 = icmp eq i64 %97, 0
  br i1 %108, label %873, label %109

109:                                              ; preds = %106
  %110 = icmp eq i32 %103, 0
  br i1 %110, label %111, label %224

111:                                              ; preds = %109
  %112 = load atomic i64, ptr %82 monotonic, align 8
  %113 = load i64, ptr %83, align 8
  %114 = icmp ult i64 %112, %113
  br i1 %114, label %115, label %856

115:                                              ; preds = %111
  %116 = atomicrmw add ptr %82, i64 1 monotonic, align 8
  %117 = icmp ult i64 %116, %113
  br i1 %117, label %118, label %856

118:                                              ; preds = %115
  %119 = load i32, ptr %84, align 8
  %120 = getelementptr inbounds i8, ptr %101, i64 140
  %121 = load i32, ptr %120, align 4
  %122 = icmp eq i32 %121, 0
  br i1 %122, label %123, label %189

123:                                              ; preds = %118
  store ptr %0, ptr %101, align 8
  %124 = getelementptr inbounds i8, ptr %101, i64 128
  %125 = load ptr, ptr %124, align 8
  %126 = getelementptr inbounds i8, ptr %101, i64 32
  store ptr %125, ptr %126, align 8
  %127 = getelementptr inbounds i8, ptr %101, i64 112
  %128 = load ptr, ptr %127, align 8
  %129 = getelementptr inbounds i8, ptr %101, i64 40
  store ptr %128, ptr %129, align 8
  %130 = load i32, ptr %86, align 4
  %131 = icmp eq i32 %130, 0
  br i1 %131, label %144, label %132

132:                                              ; preds = %123
  %133 = getelementptr inbounds i8, ptr %101, i64 120
  %134 = load i32, ptr %87, align 4
  br label %135

135:                                              ; preds = %153, %132
  %136 = phi i32 [ %130, %132 ], [ %154, %153 ]
  %137 = phi i32 [ %134, %132 ], [ %155, %153 ]
  %138 = phi i32 [ %134, %132 ], [ %156, %153 ]
  %139 = phi i32 [ 0, %132 ], [ %157, %153 ]
  %140 = phi i32 [ 0, %132 ], [ %158, %153 ]
  %141 = icmp eq i32 %138, 0
  br i1 %141, label %153, label %142

142:                                              ; preds = %135
  %143 = load i32, ptr %85, align 4
  br label %145

144:                                              ; preds = %153, %123
  store i32 1, ptr %120, align 4
  br label %189

145:                                              ; preds = %162, %142
  %146 = phi i32 [ %163, %162 ], [ %137, %142 ]
  %147 = phi i32 [ %164, %162 ], [ %143, %142 ]
  %148 = phi i32 [ %165, %162 ], [ %139, %142 ]
  %149 = phi i32 [ %166, %162 ], [ 0, %142 ]
  %150 = icmp eq i32 %147, 0
  br i1 %150, label %162, label %168

151:                                              ; preds = %162
  %152 = load i32, ptr %86, align 4
  br label %153

153:                                              ; preds = %151, %135
  %154 = phi i32 [ %136, %135 ], [ %152, %151 ]
  %155 = phi i32 [ %137, %135 ], [ %163, %151 ]
  %156 = phi i32 [ 0, %135 ], [ %163, %151 ]
  %157 = phi i32 [ %139, %135 ], [ %165, %151 ]
  %158 = add nuw i32 %140, 1
  %159 = icmp ult i32 %158, %154
  br i1 %159, label %135, label %144, !llvm.loop !9

160:                                              ; preds = %168
  %161 = load i32, ptr %87, align 4
  br label %162

162:                                              ; preds = %160, %145
  %163 = phi i32 [ %146, %145 ], [ %161, %160 ]
  %164 = phi i32 [ 0, %145 ], [ %187, %160 ]
  %165 = phi i32 [ %148, %145 ], [ %186, %160 ]
  %166 = add nuw i32 %149, 1
  %167 = icmp ult i32 %166, %163
  br i1 %167, label %145, label %151, !llvm.loop !10

168:                                              ; preds = %145, %168
  %169 = phi i32 [ %186, %168 ], [ %148, %145 ]
  %170 = phi i32 [ %185, %168 ], [ 0, %145 ]
  %171 = load ptr, ptr %127, align 8
  %172 = zext i32 %169 to i64
  %173 = getelementptr %struct.Thread, ptr %171, i64 %172
  %174 = getelementptr inbounds i8, ptr %173, i64 8
  store i32 %170, ptr %174, align 8
  %175 = getelementptr i8, ptr %173, i64 12
  store i32 %149, ptr %175, align 4
  %176 = getelementptr i8, ptr %173, i64 16
  store i32 %140, ptr %176, align 8
  %177 = getelementptr inbounds i8, ptr %173, i64 20
  store i32 %169, ptr %177, align 4
  %178 = getelementptr inbounds i8, ptr %173, i64 40
  store i32 0, ptr %178, align 8
  %179 = load ptr, ptr %133, align 8
  %180 = load i32, ptr %88, align 4
  %181 = zext i32 %180 to i64
  %182 = mul nuw i64 %181, %172
  %183 = getelementptr i8, ptr %179, i64 %182
  %184 = getelementptr inbounds i8, ptr %173, i64 72
  store ptr %183, ptr %184, align 8
  %185 = add nuw i32 %170, 1
  %186 = add i32 %169, 1
  %187 = load i32, ptr %85, align 4
  %188 = icmp ult i32 %185, %187
  br i1 %188, label %168, label %160, !llvm.loop !11

189:                                              ; preds = %144, %118
  %190 = load i32, ptr %89, align 8
  %191 = zext i32 %190 to i64
  %192 = udiv i64 %116, %191
  %193 = getelementptr inbounds i8, ptr %101, i64 24
  store i64 %116, ptr %193, align 8
  %194 = load i32, ptr %89, align 8
  %195 = zext i32 %194 to i64
  %196 = urem i64 %116, %195
  %197 = trunc nuw i64 %196 to i32
  %198 = getelementptr inbounds i8, ptr %101, i64 8
  store i32 %197, ptr %198, align 8
  %199 = load i32, ptr %90, align 4
  %200 = zext i32 %199 to i64
  %201 = urem i64 %192, %200
  %202 = trunc nuw i64 %201 to i32
  %203 = getelementptr i8, ptr %101, i64 12
  store i32 %202, ptr %203, align 4
  %204 = load i32, ptr %90, align 4
  %205 = zext i32 %204 to i64
  %206 = udiv i64 %192, %205
  %207 = trunc i64 %206 to i32
  %208 = getelementptr i8, ptr %101, i64 16
  store i32 %207, ptr %208, align 8
  %209 = getelementptr inbounds i8, ptr %101, i64 20
  store i32 %119, ptr %209, align 4
  %210 = getelementptr inbounds i8, ptr %101, i64 48
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(64) %210, i8 0, i64 64, i1 false)
  %211 = icmp eq i32 %119, 0
  br i1 %211, label %223, label %212

212:                                              ; preds = %189
  %213 = getelementptr inbounds i8, ptr %101, i64 112
  %214 = zext i32 %119 to i64
  br label %215

215:                                              ; preds = %215, %212
  %216 = phi i64 [ 0, %212 ], [ %221, %215 ]
  %217 = load ptr, ptr %213, align 8
  %218 = getelementptr %struct.Thread, ptr %217, i64 %216
  store i32 0, ptr %218, align 8
  %219 = load ptr, ptr %213, align 8
  %220 = getelementptr %struct.Thread, ptr %219, i64 %216, i32 1
  store i32 5, ptr %220, align 4
  %221 = add nuw nsw i64 %216, 1
  %222 = icmp eq i64 %221, %214
  br i1 %222, label %223, label %215, !llvm.loop !12

223:                                              ; preds = %215, %189
  store i32 1, ptr %102, align 8
  br label %224

224:                                              ; preds = %223, %109
  %225 = phi i32 [ %99, %109 ], [ 1, %223 ]
  %226 = getelementptr inbounds i8, ptr %101, i64 112
  %227 = load ptr, ptr %226, align 8
  %228 = load i32, ptr %84, align 8
  %229 = icmp ne i32 %103, 0
  %230 = icmp ne i32 %228, 0
  %231 = select i1 %229, i1 %230, i1 false
  br i1 %231, label %232, label %275

232:                                              ; preds = %224
  %233 = zext i32 %228 to i64
  br label %234

234:                                              ; preds = %269, %232
  %235 = phi i64 [ 0, %232 ], [ %273, %269 ]
  %236 = phi i32 [ 0, %232 ], [ %272, %269 ]
  %237 = phi i32 [ 0, %232 ], [ %271, %269 ]
  %238 = phi i32 [ 0, %232 ], [ %270, %269 ]
  %239 = getelementptr %struct.Thread, ptr %227, i64 %235
  %240 = getelementptr inbounds i8, ptr %239, i64 4
  %241 = load i32, ptr %240, align 4
  %242 = icmp eq i32 %241, 1
  br i1 %242, label %243, label %269

243:                                              ; preds = %234
  %244 = getelementptr inbounds i8, ptr %239, i64 24
  %245 = load i32, ptr %244, align 8
  %246 = icmp eq i32 %245, 0
  br i1 %246, label %247, label %252

247:                                              ; preds = %243
  %248 = getelementptr inbounds i8, ptr %239, i64 32
  %249 = load i32, ptr %248, align 8
  %250 = icmp eq i32 %249, 0
  %251 = icmp eq i32 %238, 0
  br i1 %251, label %254, label %259

252:                                              ; preds = %243
  %253 = icmp eq i32 %238, 0
  br i1 %253, label %254, label %265

254:                                              ; preds = %252, %247
  %255 = phi i1 [ false, %252 ], [ %250, %247 ]
  %256 = zext i1 %255 to i32
  %257 = getelementptr inbounds i8, ptr %239, i64 28
  %258 = load i32, ptr %257, align 4
  br label %269

259:                                              ; preds = %247
  br i1 %250, label %260, label %265

260:                                              ; preds = %259
  %261 = getelementptr inbounds i8, ptr %239, i64 28
  %262 = load i32, ptr %261, align 4
  %263 = icmp eq i32 %262, %237
  %264 = zext i1 %263 to i32
  br label %265

265:                                              ; preds = %260, %259, %252
  %266 = phi i32 [ 0, %259 ], [ %264, %260 ], [ 0, %252 ]
  %267 = and i32 %266, %236
  %268 = add i32 %238, 1
  br label %269

269:                                              ; preds = %265, %254, %234
  %270 = phi i32 [ %238, %234 ], [ %268, %265 ], [ 1, %254 ]
  %271 = phi i32 [ %237, %234 ], [ %237, %265 ], [ %258, %254 ]
  %272 = phi i32 [ %236, %234 ], [ %267, %265 ], [ %256, %254 ]
  %273 = add nuw nsw i64 %235, 1
  %274 = icmp eq i64 %273, %233
  br i1 %274, label %275, label %234, !llvm.loop !13

275:                                              ; preds = %269, %224
  %276 = phi i32 [ 0, %224 ], [ %270, %269 ]
  %277 = phi i32 [ 0, %224 ], [ %271, %269 ]
  %278 = phi i32 [ 0, %224 ], [ %272, %269 ]
  %279 = icmp eq i32 %228, 0
  %280 = getelementptr inbounds i8, ptr %101, i64 8
  %281 = getelementptr i8, ptr %101, i64 12
  %282 = getelementptr i8, ptr %101, i64 16
  %283 = getelementptr inbounds i8, ptr %101, i64 20
  %284 = getelementptr inbounds i8, ptr %101, i64 48
  %285 = getelementptr inbounds i8, ptr %101, i64 40
  br label %286

286:                                              ; preds = %841, %275
  %287 = phi i32 [ %276, %275 ], [ %670, %841 ]
  %288 = phi i32 [ %277, %275 ], [ %536, %841 ]
  %289 = phi i32 [ %278, %275 ], [ %671, %841 ]
  %290 = phi i32 [ 0, %275 ], [ %669, %841 ]
  %291 = phi i32 [ 0, %275 ], [ %846, %841 ]
  %292 = load atomic i32, ptr %81 monotonic, align 8
  %293 = icmp eq i32 %292, 0
  br i1 %293, label %294, label %873

294:                                              ; preds = %286
  br i1 %279, label %534, label %295

295:                                              ; preds = %294, %526
  %296 = phi i32 [ %533, %526 ], [ %228, %294 ]
  %297 = phi i32 [ %400, %526 ], [ 0, %294 ]
  %298 = phi i32 [ %398, %526 ], [ 0, %294 ]
  %299 = phi i32 [ %530, %526 ], [ 0, %294 ]
  %300 = phi i32 [ %531, %526 ], [ 0, %294 ]
  %301 = phi i32 [ %396, %526 ], [ %289, %294 ]
  %302 = phi i32 [ %395, %526 ], [ %288, %294 ]
  %303 = phi i32 [ %394, %526 ], [ %287, %294 ]
  %304 = tail call i32 @llvm.umin.i32(i32 %296, i32 32)
  %305 = tail call i32 @llvm.umax.i32(i32 %304, i32 1)
  %306 = zext nneg i32 %305 to i64
  %307 = zext i32 %300 to i64
  %308 = getelementptr %struct.Thread, ptr %227, i64 %307
  %309 = sub i32 %228, %300
  %310 = tail call i32 @llvm.umin.i32(i32 %309, i32 32)
  %311 = zext nneg i32 %310 to i64
  br label %312

312:                                              ; preds = %524, %295
  %313 = phi i32 [ %303, %295 ], [ %394, %524 ]
  %314 = phi i32 [ %302, %295 ], [ %395, %524 ]
  %315 = phi i32 [ %301, %295 ], [ %396, %524 ]
  %316 = phi i32 [ %299, %295 ], [ %397, %524 ]
  %317 = phi i32 [ %298, %295 ], [ %398, %524 ]
  %318 = phi i1 [ true, %295 ], [ false, %524 ]
  %319 = phi i32 [ 1, %295 ], [ 0, %524 ]
  %320 = phi i32 [ 0, %295 ], [ %404, %524 ]
  %321 = phi i32 [ %297, %295 ], [ %400, %524 ]
  %322 = and i32 %319, %290
  %323 = icmp ne i32 %322, 0
  br label %324

324:                                              ; preds = %393, %312
  %325 = phi i64 [ 0, %312 ], [ %401, %393 ]
  %326 = phi i32 [ %321, %312 ], [ %400, %393 ]
  %327 = phi i32 [ 0, %312 ], [ %399, %393 ]
  %328 = phi i32 [ %317, %312 ], [ %398, %393 ]
  %329 = phi i32 [ %316, %312 ], [ %397, %393 ]
  %330 = phi i32 [ %315, %312 ], [ %396, %393 ]
  %331 = phi i32 [ %314, %312 ], [ %395, %393 ]
  %332 = phi i32 [ %313, %312 ], [ %394, %393 ]
  %333 = getelementptr %struct.Thread, ptr %308, i64 %325
  %334 = getelementptr inbounds i8, ptr %333, i64 4
  %335 = load i32, ptr %334, align 4
  %336 = icmp eq i32 %335, 5
  %337 = icmp eq i32 %335, 3
  %338 = and i1 %318, %337
  %339 = or i1 %336, %338
  %340 = icmp eq i32 %335, 1
  %341 = and i1 %323, %340
  %342 = or i1 %341, %339
  br i1 %342, label %349, label %343

343:                                              ; preds = %324
  %344 = icmp eq i32 %335, 2
  %345 = zext i1 %344 to i32
  %346 = trunc nuw nsw i64 %325 to i32
  %347 = shl nuw i32 %345, %346
  %348 = or i32 %347, %327
  br label %393

349:                                              ; preds = %324
  %350 = getelementptr inbounds i8, ptr %333, i64 8
  %351 = load i32, ptr %350, align 8
  %352 = getelementptr i8, ptr %333, i64 12
  %353 = load i32, ptr %352, align 4
  %354 = getelementptr i8, ptr %333, i64 16
  %355 = load i32, ptr %354, align 8
  %356 = load i32, ptr %280, align 8
  %357 = load i32, ptr %281, align 4
  %358 = load i32, ptr %282, align 8
  %359 = tail call i32 @kernel_thread(ptr noundef %0, ptr noundef %101, ptr noundef %333, i32 noundef %351, i32 noundef %353, i32 noundef %355, i32 noundef %356, i32 noundef %357, i32 noundef %358) #12
  store i32 %359, ptr %334, align 4
  switch i32 %359, label %848 [
    i32 1, label %360
    i32 2, label %386
    i32 3, label %393
    i32 0, label %390
  ]

360:                                              ; preds = %349
  %361 = getelementptr inbounds i8, ptr %333, i64 24
  %362 = load i32, ptr %361, align 8
  %363 = icmp eq i32 %362, 0
  br i1 %363, label %364, label %369

364:                                              ; preds = %360
  %365 = getelementptr inbounds i8, ptr %333, i64 32
  %366 = load i32, ptr %365, align 8
  %367 = icmp eq i32 %366, 0
  %368 = icmp eq i32 %332, 0
  br i1 %368, label %371, label %376

369:                                              ; preds = %360
  %370 = icmp eq i32 %332, 0
  br i1 %370, label %371, label %382

371:                                              ; preds = %369, %364
  %372 = phi i1 [ false, %369 ], [ %367, %364 ]
  %373 = zext i1 %372 to i32
  %374 = getelementptr inbounds i8, ptr %333, i64 28
  %375 = load i32, ptr %374, align 4
  br label %393

376:                                              ; preds = %364
  br i1 %367, label %377, label %382

377:                                              ; preds = %376
  %378 = getelementptr inbounds i8, ptr %333, i64 28
  %379 = load i32, ptr %378, align 4
  %380 = icmp eq i32 %379, %331
  %381 = zext i1 %380 to i32
  br label %382

382:                                              ; preds = %377, %376, %369
  %383 = phi i32 [ 0, %376 ], [ %381, %377 ], [ 0, %369 ]
  %384 = and i32 %383, %330
  %385 = add i32 %332, 1
  br label %393

386:                                              ; preds = %349
  %387 = trunc nuw nsw i64 %325 to i32
  %388 = shl nuw i32 1, %387
  %389 = or i32 %388, %327
  br label %393

390:                                              ; preds = %349
  %391 = load i32, ptr %283, align 4
  %392 = add i32 %391, -1
  store i32 %392, ptr %283, align 4
  br label %393

393:                                              ; preds = %390, %386, %382, %371, %349, %343
  %394 = phi i32 [ 1, %371 ], [ %385, %382 ], [ %332, %343 ], [ %332, %386 ], [ %332, %349 ], [ %332, %390 ]
  %395 = phi i32 [ %375, %371 ], [ %331, %382 ], [ %331, %343 ], [ %331, %386 ], [ %331, %349 ], [ %331, %390 ]
  %396 = phi i32 [ %373, %371 ], [ %384, %382 ], [ %330, %343 ], [ %330, %386 ], [ %330, %349 ], [ %330, %390 ]
  %397 = phi i32 [ %329, %371 ], [ %329, %382 ], [ %329, %343 ], [ %329, %386 ], [ 1, %349 ], [ %329, %390 ]
  %398 = phi i32 [ %328, %371 ], [ %328, %382 ], [ %328, %343 ], [ 1, %386 ], [ %328, %349 ], [ %328, %390 ]
  %399 = phi i32 [ %327, %371 ], [ %327, %382 ], [ %348, %343 ], [ %389, %386 ], [ %327, %349 ], [ %327, %390 ]
  %400 = phi i32 [ 1, %371 ], [ 1, %382 ], [ %326, %343 ], [ %326, %386 ], [ %326, %349 ], [ 1, %390 ]
  %401 = add nuw nsw i64 %325, 1
  %402 = icmp eq i64 %401, %306
  br i1 %402, label %403, label %324, !llvm.loop !14

403:                                              ; preds = %393
  %404 = add nuw nsw i32 %320, 1
  %405 = icmp eq i32 %399, 0
  br i1 %405, label %526, label %406

406:                                              ; preds = %403, %406
  %407 = phi i64 [ %416, %406 ], [ 0, %403 ]
  %408 = phi i32 [ %415, %406 ], [ 0, %403 ]
  %409 = getelementptr %struct.Thread, ptr %308, i64 %407, i32 1
  %410 = load i32, ptr %409, align 4
  %411 = icmp ne i32 %410, 0
  %412 = zext i1 %411 to i32
  %413 = trunc nuw i64 %407 to i32
  %414 = shl nuw i32 %412, %413
  %415 = or i32 %414, %408
  %416 = add nuw nsw i64 %407, 1
  %417 = icmp eq i64 %416, %311
  br i1 %417, label %418, label %406, !llvm.loop !15

418:                                              ; preds = %406, %474
  %419 = phi i32 [ %460, %474 ], [ %399, %406 ]
  %420 = phi i32 [ %476, %474 ], [ 0, %406 ]
  %421 = phi i32 [ %475, %474 ], [ 0, %406 ]
  %422 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %419, i1 true)
  %423 = zext nneg i32 %422 to i64
  %424 = getelementptr %struct.Thread, ptr %308, i64 %423
  %425 = getelementptr inbounds i8, ptr %424, i64 24
  %426 = load i32, ptr %425, align 8
  %427 = getelementptr inbounds i8, ptr %424, i64 36
  %428 = getelementptr inbounds i8, ptr %424, i64 40
  %429 = load i32, ptr %428, align 8
  %430 = icmp eq i32 %426, 0
  br label %431

431:                                              ; preds = %445, %418
  %432 = phi i32 [ 0, %418 ], [ %454, %445 ]
  %433 = phi i32 [ %419, %418 ], [ %456, %445 ]
  %434 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %433, i1 true)
  %435 = zext nneg i32 %434 to i64
  %436 = getelementptr %struct.Thread, ptr %308, i64 %435
  %437 = getelementptr inbounds i8, ptr %436, i64 24
  %438 = load i32, ptr %437, align 8
  %439 = icmp eq i32 %438, %426
  br i1 %439, label %440, label %445

440:                                              ; preds = %431
  %441 = getelementptr inbounds i8, ptr %436, i64 36
  %442 = load i32, ptr %441, align 4
  %443 = load i32, ptr %427, align 4
  %444 = icmp eq i32 %442, %443
  br label %445

445:                                              ; preds = %440, %431
  %446 = phi i1 [ false, %431 ], [ %444, %440 ]
  %447 = getelementptr inbounds i8, ptr %436, i64 40
  %448 = load i32, ptr %447, align 8
  %449 = icmp eq i32 %448, %429
  %450 = or i1 %430, %449
  %451 = and i1 %446, %450
  %452 = zext i1 %451 to i32
  %453 = shl nuw i32 %452, %434
  %454 = or i32 %453, %432
  %455 = add i32 %433, -1
  %456 = and i32 %455, %433
  %457 = icmp eq i32 %456, 0
  br i1 %457, label %458, label %431, !llvm.loop !16

458:                                              ; preds = %445
  %459 = xor i32 %454, -1
  %460 = and i32 %419, %459
  %461 = icmp eq i32 %426, 19
  br i1 %461, label %465, label %462

462:                                              ; preds = %458
  %463 = load i32, ptr %427, align 4
  %464 = icmp eq i32 %463, 0
  br i1 %464, label %465, label %467

465:                                              ; preds = %462, %458
  %466 = or i32 %454, %420
  br label %474

467:                                              ; preds = %462
  %468 = and i32 %415, %459
  %469 = and i32 %468, %463
  %470 = icmp eq i32 %469, 0
  br i1 %470, label %471, label %474

471:                                              ; preds = %467
  %472 = and i32 %463, %454
  tail call fastcc void @complete_operation(ptr noundef nonnull %308, i32 noundef %454, i32 noundef %472)
  %473 = or i32 %454, %421
  br label %474

474:                                              ; preds = %471, %467, %465
  %475 = phi i32 [ %421, %465 ], [ %473, %471 ], [ %421, %467 ]
  %476 = phi i32 [ %466, %465 ], [ %420, %471 ], [ %420, %467 ]
  %477 = icmp eq i32 %460, 0
  br i1 %477, label %478, label %418, !llvm.loop !17

478:                                              ; preds = %474
  %479 = icmp eq i32 %475, 0
  br i1 %479, label %480, label %524

480:                                              ; preds = %478
  %481 = icmp eq i32 %476, 0
  br i1 %481, label %526, label %482

482:                                              ; preds = %480, %520
  %483 = phi i32 [ %522, %520 ], [ %476, %480 ]
  %484 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %483, i1 true)
  %485 = zext nneg i32 %484 to i64
  %486 = getelementptr %struct.Thread, ptr %308, i64 %485
  %487 = getelementptr inbounds i8, ptr %486, i64 24
  %488 = load i32, ptr %487, align 8
  %489 = getelementptr inbounds i8, ptr %486, i64 36
  %490 = getelementptr inbounds i8, ptr %486, i64 40
  %491 = load i32, ptr %490, align 8
  %492 = icmp eq i32 %488, 0
  br label %493

493:                                              ; preds = %507, %482
  %494 = phi i32 [ 0, %482 ], [ %516, %507 ]
  %495 = phi i32 [ %483, %482 ], [ %518, %507 ]
  %496 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %495, i1 true)
  %497 = zext nneg i32 %496 to i64
  %498 = getelementptr %struct.Thread, ptr %308, i64 %497
  %499 = getelementptr inbounds i8, ptr %498, i64 24
  %500 = load i32, ptr %499, align 8
  %501 = icmp eq i32 %500, %488
  br i1 %501, label %502, label %507

502:                                              ; preds = %493
  %503 = getelementptr inbounds i8, ptr %498, i64 36
  %504 = load i32, ptr %503, align 4
  %505 = load i32, ptr %489, align 4
  %506 = icmp eq i32 %504, %505
  br label %507

507:                                              ; preds = %502, %493
  %508 = phi i1 [ false, %493 ], [ %506, %502 ]
  %509 = getelementptr inbounds i8, ptr %498, i64 40
  %510 = load i32, ptr %509, align 8
  %511 = icmp eq i32 %510, %491
  %512 = or i1 %492, %511
  %513 = and i1 %508, %512
  %514 = zext i1 %513 to i32
  %515 = shl nuw i32 %514, %496
  %516 = or i32 %515, %494
  %517 = add i32 %495, -1
  %518 = and i32 %517, %495
  %519 = icmp eq i32 %518, 0
  br i1 %519, label %520, label %493, !llvm.loop !16

520:                                              ; preds = %507
  %521 = xor i32 %516, -1
  %522 = and i32 %483, %521
  tail call fastcc void @complete_operation(ptr noundef nonnull %308, i32 noundef %516, i32 noundef %516)
  %523 = icmp eq i32 %522, 0
  br i1 %523, label %524, label %482, !llvm.loop !18

524:                                              ; preds = %520, %478
  %525 = icmp eq i32 %404, 256
  br i1 %525, label %526, label %312, !llvm.loop !19

526:                                              ; preds = %524, %480, %403
  %527 = phi i32 [ %404, %480 ], [ %404, %403 ], [ 256, %524 ]
  %528 = icmp eq i32 %527, 256
  %529 = zext i1 %528 to i32
  %530 = or i32 %397, %529
  %531 = add i32 %300, 32
  %532 = icmp ult i32 %531, %228
  %533 = add i32 %296, -32
  br i1 %532, label %295, label %534, !llvm.loop !20

534:                                              ; preds = %526, %294
  %535 = phi i32 [ %287, %294 ], [ %394, %526 ]
  %536 = phi i32 [ %288, %294 ], [ %395, %526 ]
  %537 = phi i32 [ %289, %294 ], [ %396, %526 ]
  %538 = phi i32 [ 0, %294 ], [ %530, %526 ]
  %539 = phi i32 [ 0, %294 ], [ %398, %526 ]
  %540 = phi i32 [ 0, %294 ], [ %400, %526 ]
  %541 = load i32, ptr %283, align 4
  %542 = icmp eq i32 %541, 0
  br i1 %542, label %849, label %543

543:                                              ; preds = %534
  %544 = icmp ne i32 %537, 0
  %545 = icmp eq i32 %535, %541
  %546 = select i1 %544, i1 %545, i1 false
  br i1 %546, label %547, label %553

547:                                              ; preds = %543
  %548 = and i32 %536, 15
  %549 = zext nneg i32 %548 to i64
  %550 = getelementptr [16 x i32], ptr %284, i64 0, i64 %549
  %551 = load i32, ptr %550, align 4
  %552 = icmp eq i32 %551, 0
  br i1 %552, label %668, label %555

553:                                              ; preds = %543
  %554 = icmp eq i32 %535, 0
  br i1 %554, label %668, label %555

555:                                              ; preds = %553, %547
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %6) #12
  %556 = call fastcc i32 @look_at_barriers(ptr noundef readonly %0, ptr noundef nonnull %101, ptr noundef nonnull %6)
  %557 = icmp eq i32 %556, 0
  br i1 %557, label %656, label %558

558:                                              ; preds = %555, %596
  %559 = phi i32 [ %598, %596 ], [ 0, %555 ]
  %560 = phi i32 [ %599, %596 ], [ 0, %555 ]
  %561 = phi i32 [ %601, %596 ], [ %556, %555 ]
  %562 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %561, i1 true)
  %563 = zext nneg i32 %562 to i64
  %564 = getelementptr [16 x %struct.Barrier], ptr %6, i64 0, i64 %563
  %565 = getelementptr [16 x i32], ptr %284, i64 0, i64 %563
  %566 = load i32, ptr %565, align 4
  %567 = getelementptr inbounds i8, ptr %564, i64 12
  %568 = load i32, ptr %567, align 4
  %569 = icmp eq i32 %568, 0
  br i1 %569, label %575, label %579

570:                                              ; preds = %596
  %571 = icmp eq i32 %598, 0
  br i1 %571, label %656, label %572

572:                                              ; preds = %570
  %573 = load i32, ptr %84, align 8
  %574 = icmp eq i32 %573, 0
  br i1 %574, label %658, label %603

575:                                              ; preds = %558
  %576 = load i32, ptr %564, align 16
  %577 = add i32 %576, %566
  %578 = icmp ult i32 %577, %541
  br i1 %578, label %596, label %590

579:                                              ; preds = %558
  %580 = add i32 %568, 31
  %581 = and i32 %580, -32
  %582 = getelementptr inbounds i8, ptr %564, i64 4
  %583 = load i32, ptr %582, align 4
  %584 = add i32 %583, %566
  %585 = icmp ult i32 %584, %581
  br i1 %585, label %596, label %586

586:                                              ; preds = %579
  %587 = tail call i32 @llvm.usub.sat.i32(i32 %581, i32 %583)
  %588 = tail call i32 @llvm.usub.sat.i32(i32 %566, i32 %587)
  %589 = load i32, ptr %564, align 16
  br label %590

590:                                              ; preds = %586, %575
  %591 = phi i32 [ %589, %586 ], [ %576, %575 ]
  %592 = phi i32 [ %588, %586 ], [ 0, %575 ]
  store i32 %592, ptr %565, align 4
  %593 = shl nuw nsw i32 1, %562
  %594 = or i32 %593, %559
  %595 = add i32 %591, %560
  br label %596

596:                                              ; preds = %590, %579, %575
  %597 = phi i32 [ %595, %590 ], [ %560, %575 ], [ %560, %579 ]
  %598 = phi i32 [ %594, %590 ], [ %559, %575 ], [ %559, %579 ]
  %599 = freeze i32 %597
  %600 = add nsw i32 %561, -1
  %601 = and i32 %600, %561
  %602 = icmp eq i32 %601, 0
  br i1 %602, label %570, label %558, !llvm.loop !21

603:                                              ; preds = %572, %651
  %604 = phi i32 [ %652, %651 ], [ %573, %572 ]
  %605 = phi i64 [ %653, %651 ], [ 0, %572 ]
  %606 = load ptr, ptr %285, align 8
  %607 = getelementptr %struct.Thread, ptr %606, i64 %605
  %608 = getelementptr inbounds i8, ptr %607, i64 28
  %609 = load i32, ptr %608, align 4
  %610 = and i32 %609, 15
  %611 = getelementptr inbounds i8, ptr %607, i64 4
  %612 = load i32, ptr %611, align 4
  %613 = icmp eq i32 %612, 1
  br i1 %613, label %614, label %651

614:                                              ; preds = %603
  %615 = shl nuw nsw i32 1, %610
  %616 = and i32 %615, %598
  %617 = icmp eq i32 %616, 0
  br i1 %617, label %651, label %618

618:                                              ; preds = %614
  %619 = zext nneg i32 %610 to i64
  %620 = getelementptr [16 x %struct.Barrier], ptr %6, i64 0, i64 %619
  %621 = getelementptr inbounds i8, ptr %607, i64 24
  %622 = load i32, ptr %621, align 8
  switch i32 %622, label %623 [
    i32 1, label %626
    i32 2, label %632
    i32 3, label %637
    i32 0, label %646
  ]

623:                                              ; preds = %618
  %624 = getelementptr inbounds i8, ptr %607, i64 64
  %625 = load i32, ptr %624, align 8
  br label %643

626:                                              ; preds = %618
  %627 = getelementptr inbounds i8, ptr %620, i64 8
  %628 = load i32, ptr %627, align 8
  %629 = load i32, ptr %620, align 16
  %630 = icmp eq i32 %628, %629
  %631 = zext i1 %630 to i32
  br label %640

632:                                              ; preds = %618
  %633 = getelementptr inbounds i8, ptr %620, i64 8
  %634 = load i32, ptr %633, align 8
  %635 = icmp ne i32 %634, 0
  %636 = zext i1 %635 to i32
  br label %640

637:                                              ; preds = %618
  %638 = getelementptr inbounds i8, ptr %620, i64 8
  %639 = load i32, ptr %638, align 8
  br label %640

640:                                              ; preds = %637, %632, %626
  %641 = phi i32 [ %631, %626 ], [ %639, %637 ], [ %636, %632 ]
  %642 = getelementptr inbounds i8, ptr %607, i64 64
  store i32 %641, ptr %642, align 8
  br label %643

643:                                              ; preds = %640, %623
  %644 = phi i32 [ %625, %623 ], [ %641, %640 ]
  %645 = icmp ne i32 %644, 0
  br label %646

646:                                              ; preds = %643, %618
  %647 = phi i1 [ %645, %643 ], [ false, %618 ]
  %648 = zext i1 %647 to i32
  %649 = getelementptr inbounds i8, ptr %607, i64 68
  store i32 %648, ptr %649, align 4
  store i32 5, ptr %611, align 4
  %650 = load i32, ptr %84, align 8
  br label %651

651:                                              ; preds = %646, %614, %603
  %652 = phi i32 [ %604, %603 ], [ %604, %614 ], [ %650, %646 ]
  %653 = add nuw nsw i64 %605, 1
  %654 = zext i32 %652 to i64
  %655 = icmp ult i64 %653, %654
  br i1 %655, label %603, label %658, !llvm.loop !22

656:                                              ; preds = %570, %555
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %6) #12
  %657 = and i32 %537, 1
  br label %663

658:                                              ; preds = %651, %572
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %6) #12
  %659 = sub i32 %535, %599
  %660 = icmp eq i32 %599, 0
  %661 = and i32 %537, 1
  %662 = select i1 %660, i32 %661, i32 0
  br label %663

663:                                              ; preds = %658, %656
  %664 = phi i32 [ %535, %656 ], [ %659, %658 ]
  %665 = phi i32 [ 0, %656 ], [ %599, %658 ]
  %666 = phi i32 [ %657, %656 ], [ %662, %658 ]
  %667 = or i32 %665, %540
  br label %668

668:                                              ; preds = %663, %553, %547
  %669 = phi i32 [ 0, %553 ], [ 0, %663 ], [ 1, %547 ]
  %670 = phi i32 [ 0, %553 ], [ %664, %663 ], [ 0, %547 ]
  %671 = phi i32 [ %537, %553 ], [ %666, %663 ], [ %537, %547 ]
  %672 = phi i32 [ %540, %553 ], [ %667, %663 ], [ 1, %547 ]
  %673 = or i32 %539, %538
  %674 = or i32 %673, %672
  %675 = icmp eq i32 %674, 0
  br i1 %675, label %676, label %841

676:                                              ; preds = %668
  %677 = load ptr, ptr %285, align 8
  %678 = load i32, ptr %84, align 8
  %679 = icmp ne i32 %678, 0
  tail call void @llvm.assume(i1 %679)
  %680 = zext i32 %678 to i64
  br label %684

681:                                              ; preds = %694
  %682 = icmp eq ptr %695, null
  %683 = select i1 %682, ptr %696, ptr %695
  br i1 %682, label %789, label %698

684:                                              ; preds = %694, %676
  %685 = phi i64 [ %680, %676 ], [ %688, %694 ]
  %686 = phi ptr [ null, %676 ], [ %696, %694 ]
  %687 = phi ptr [ null, %676 ], [ %695, %694 ]
  %688 = add nsw i64 %685, -1
  %689 = getelementptr %struct.Thread, ptr %677, i64 %688
  %690 = getelementptr inbounds i8, ptr %689, i64 4
  %691 = load i32, ptr %690, align 4
  switch i32 %691, label %693 [
    i32 1, label %694
    i32 2, label %692
  ]

692:                                              ; preds = %684
  br label %694

693:                                              ; preds = %684
  br label %694

694:                                              ; preds = %693, %692, %684
  %695 = phi ptr [ %689, %692 ], [ %687, %684 ], [ %687, %693 ]
  %696 = phi ptr [ %686, %692 ], [ %689, %684 ], [ %686, %693 ]
  %697 = icmp eq i64 %688, 0
  br i1 %697, label %681, label %684, !llvm.loop !23

698:                                              ; preds = %681
  %699 = getelementptr inbounds i8, ptr %695, i64 20
  %700 = load i32, ptr %699, align 4
  %701 = and i32 %700, -32
  %702 = sub i32 %678, %701
  %703 = tail call i32 @llvm.umin.i32(i32 %702, i32 32)
  %704 = icmp eq i32 %678, %701
  br i1 %704, label %727, label %705

705:                                              ; preds = %698
  %706 = zext i32 %701 to i64
  %707 = tail call i32 @llvm.umax.i32(i32 %703, i32 1)
  %708 = zext nneg i32 %707 to i64
  br label %776

709:                                              ; preds = %776
  %710 = getelementptr %struct.Thread, ptr %677, i64 %706
  %711 = zext nneg i32 %703 to i64
  br label %712

712:                                              ; preds = %712, %709
  %713 = phi i64 [ 0, %709 ], [ %722, %712 ]
  %714 = phi i32 [ 0, %709 ], [ %721, %712 ]
  %715 = getelementptr %struct.Thread, ptr %710, i64 %713, i32 1
  %716 = load i32, ptr %715, align 4
  %717 = icmp ne i32 %716, 0
  %718 = zext i1 %717 to i32
  %719 = trunc nuw i64 %713 to i32
  %720 = shl nuw i32 %718, %719
  %721 = or i32 %720, %714
  %722 = add nuw nsw i64 %713, 1
  %723 = icmp eq i64 %722, %711
  br i1 %723, label %724, label %712, !llvm.loop !15

724:                                              ; preds = %712
  %725 = xor i32 %721, -1
  %726 = icmp eq i32 %786, 0
  br i1 %726, label %727, label %731

727:                                              ; preds = %724, %698
  %728 = phi i32 [ %725, %724 ], [ -1, %698 ]
  %729 = getelementptr inbounds i8, ptr %683, i64 24
  %730 = load i32, ptr %729, align 8
  br label %765

731:                                              ; preds = %724
  %732 = getelementptr inbounds i8, ptr %683, i64 24
  %733 = load i32, ptr %732, align 8
  %734 = getelementptr inbounds i8, ptr %683, i64 36
  %735 = getelementptr inbounds i8, ptr %683, i64 40
  %736 = load i32, ptr %735, align 8
  %737 = icmp eq i32 %733, 0
  br label %738

738:                                              ; preds = %752, %731
  %739 = phi i32 [ 0, %731 ], [ %761, %752 ]
  %740 = phi i32 [ %786, %731 ], [ %763, %752 ]
  %741 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %740, i1 true)
  %742 = zext nneg i32 %741 to i64
  %743 = getelementptr %struct.Thread, ptr %710, i64 %742
  %744 = getelementptr inbounds i8, ptr %743, i64 24
  %745 = load i32, ptr %744, align 8
  %746 = icmp eq i32 %745, %733
  br i1 %746, label %747, label %752

747:                                              ; preds = %738
  %748 = getelementptr inbounds i8, ptr %743, i64 36
  %749 = load i32, ptr %748, align 4
  %750 = load i32, ptr %734, align 4
  %751 = icmp eq i32 %749, %750
  br label %752

752:                                              ; preds = %747, %738
  %753 = phi i1 [ false, %738 ], [ %751, %747 ]
  %754 = getelementptr inbounds i8, ptr %743, i64 40
  %755 = load i32, ptr %754, align 8
  %756 = icmp eq i32 %755, %736
  %757 = or i1 %737, %756
  %758 = and i1 %753, %757
  %759 = zext i1 %758 to i32
  %760 = shl nuw i32 %759, %741
  %761 = or i32 %760, %739
  %762 = add i32 %740, -1
  %763 = and i32 %762, %740
  %764 = icmp eq i32 %763, 0
  br i1 %764, label %765, label %738, !llvm.loop !16

765:                                              ; preds = %752, %727
  %766 = phi i32 [ %728, %727 ], [ %725, %752 ]
  %767 = phi i32 [ %730, %727 ], [ %733, %752 ]
  %768 = phi i32 [ 0, %727 ], [ %761, %752 ]
  %769 = getelementptr inbounds i8, ptr %683, i64 36
  %770 = load i32, ptr %769, align 4
  %771 = icmp ugt i32 %702, 31
  %772 = shl nsw i32 -1, %703
  %773 = xor i32 %772, -1
  %774 = select i1 %771, i32 -1, i32 %773
  %775 = and i32 %766, %774
  br label %807

776:                                              ; preds = %776, %705
  %777 = phi i64 [ 0, %705 ], [ %787, %776 ]
  %778 = phi i32 [ 0, %705 ], [ %786, %776 ]
  %779 = add nuw nsw i64 %777, %706
  %780 = getelementptr %struct.Thread, ptr %677, i64 %779, i32 1
  %781 = load i32, ptr %780, align 4
  %782 = icmp eq i32 %781, 2
  %783 = zext i1 %782 to i32
  %784 = trunc nuw nsw i64 %777 to i32
  %785 = shl nuw i32 %783, %784
  %786 = or i32 %785, %778
  %787 = add nuw nsw i64 %777, 1
  %788 = icmp eq i64 %787, %708
  br i1 %788, label %709, label %776, !llvm.loop !24

789:                                              ; preds = %681
  %790 = load i32, ptr %283, align 4
  %791 = sub i32 %678, %790
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %5) #12
  %792 = getelementptr inbounds i8, ptr %696, i64 28
  %793 = load i32, ptr %792, align 4
  %794 = and i32 %793, 15
  %795 = call fastcc i32 @look_at_barriers(ptr noundef %0, ptr noundef nonnull readonly %101, ptr noundef nonnull %5)
  %796 = zext nneg i32 %794 to i64
  %797 = getelementptr [16 x %struct.Barrier], ptr %5, i64 0, i64 %796
  %798 = load i32, ptr %797, align 16
  %799 = getelementptr [16 x i32], ptr %284, i64 0, i64 %796
  %800 = load i32, ptr %799, align 4
  %801 = add i32 %800, %798
  %802 = getelementptr inbounds i8, ptr %797, i64 12
  %803 = load i32, ptr %802, align 4
  %804 = icmp eq i32 %803, 0
  %805 = select i1 %804, i32 %790, i32 %803
  %806 = load i32, ptr %792, align 4
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %5) #12
  br label %807

807:                                              ; preds = %789, %765
  %808 = phi ptr [ %696, %789 ], [ %683, %765 ]
  %809 = phi i32 [ 8, %789 ], [ 9, %765 ]
  %810 = phi i32 [ %791, %789 ], [ %775, %765 ]
  %811 = phi i32 [ %806, %789 ], [ %767, %765 ]
  %812 = phi i32 [ %805, %789 ], [ %770, %765 ]
  %813 = phi i32 [ %801, %789 ], [ %768, %765 ]
  %814 = getelementptr inbounds i8, ptr %0, i64 96
  %815 = atomicrmw xchg ptr %814, i32 1 acq_rel, align 8
  %816 = icmp eq i32 %815, 0
  br i1 %816, label %817, label %848

817:                                              ; preds = %807
  %818 = getelementptr inbounds i8, ptr %0, i64 100
  store i32 %809, ptr %818, align 4
  %819 = getelementptr inbounds i8, ptr %0, i64 104
  store i32 0, ptr %819, align 8
  %820 = getelementptr inbounds i8, ptr %808, i64 40
  %821 = load i32, ptr %820, align 8
  %822 = getelementptr inbounds i8, ptr %0, i64 108
  store i32 %821, ptr %822, align 4
  %823 = getelementptr inbounds i8, ptr %0, i64 112
  %824 = getelementptr inbounds i8, ptr %808, i64 8
  %825 = getelementptr inbounds i8, ptr %0, i64 124
  br label %831

826:                                              ; preds = %831
  %827 = getelementptr inbounds i8, ptr %0, i64 152
  store i32 %813, ptr %827, align 4
  %828 = getelementptr inbounds i8, ptr %0, i64 156
  store i32 %812, ptr %828, align 4
  %829 = getelementptr inbounds i8, ptr %0, i64 160
  store i32 %811, ptr %829, align 4
  %830 = getelementptr inbounds i8, ptr %0, i64 164
  store i32 %810, ptr %830, align 4
  br label %848

831:                                              ; preds = %831, %817
  %832 = phi i64 [ 0, %817 ], [ %839, %831 ]
  %833 = getelementptr [3 x i32], ptr %280, i64 0, i64 %832
  %834 = load i32, ptr %833, align 4
  %835 = getelementptr [3 x i32], ptr %823, i64 0, i64 %832
  store i32 %834, ptr %835, align 4
  %836 = getelementptr [3 x i32], ptr %824, i64 0, i64 %832
  %837 = load i32, ptr %836, align 4
  %838 = getelementptr [3 x i32], ptr %825, i64 0, i64 %832
  store i32 %837, ptr %838, align 4
  %839 = add nuw nsw i64 %832, 1
  %840 = icmp eq i64 %839, 3
  br i1 %840, label %826, label %831, !llvm.loop !25

841:                                              ; preds = %668
  %842 = icmp eq i32 %538, 0
  %843 = icmp eq i32 %672, 0
  %844 = select i1 %843, i32 4096, i32 256
  %845 = select i1 %842, i32 16, i32 %844
  %846 = add i32 %845, %291
  %847 = icmp ult i32 %846, 1048576
  br i1 %847, label %286, label %850, !llvm.loop !26

848:                                              ; preds = %349, %826, %807
  store atomic i32 1, ptr %81 release, align 8
  br label %873

849:                                              ; preds = %534
  store i32 0, ptr %102, align 8
  br label %852

850:                                              ; preds = %841
  %851 = load i32, ptr %102, align 8
  br label %852

852:                                              ; preds = %850, %849
  %853 = phi i32 [ 0, %849 ], [ %851, %850 ]
  %854 = phi i32 [ 1, %849 ], [ %225, %850 ]
  %855 = add i32 %853, %98
  br label %856

856:                                              ; preds = %852, %115, %111
  %857 = phi i32 [ %854, %852 ], [ %99, %111 ], [ %99, %115 ]
  %858 = phi i32 [ %855, %852 ], [ %98, %111 ], [ %98, %115 ]
  %859 = add nuw nsw i64 %96, 1
  %860 = icmp eq i64 %859, %91
  br i1 %860, label %861, label %95, !llvm.loop !27

861:                                              ; preds = %856
  %862 = icmp eq i32 %857, 0
  br i1 %862, label %863, label %92, !llvm.loop !28

863:                                              ; preds = %861
  %864 = icmp eq i32 %858, 0
  br i1 %864, label %873, label %865

865:                                              ; preds = %863
  %866 = load atomic i64, ptr %82 monotonic, align 8
  %867 = load i64, ptr %83, align 8
  %868 = icmp ult i64 %866, %867
  %869 = select i1 %868, i32 3, i32 2
  br label %873

870:                                              ; preds = %76
  %871 = load ptr, ptr %1, align 8
  %872 = tail call fastcc i32 @run_plain(ptr noundef %0, ptr noundef %871, i64 noundef %3)
  br label %873

873:                                              ; preds = %106, %95, %286, %79, %865, %863, %848, %870, %74
  %874 = phi i32 [ %75, %74 ], [ %872, %870 ], [ 0, %863 ], [ %869, %865 ], [ 0, %848 ], [ 0, %79 ], [ 0, %286 ], [ 1, %106 ], [ 0, %95 ]
  ret i32 %874
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
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %5) #12
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
