"""A program as CUDA C, to be compiled by NVRTC: what real compilers make of loops, branches and predicates."""

from __future__ import annotations

from operations import C_TYPES, OPERATIONS
from programs import (
    Array,
    Assign,
    Atomic,
    BallotIf,
    BallotLoop,
    Barrier,
    BarrierReduce,
    Break,
    Call,
    Const,
    Continue,
    Exchange,
    Exit,
    Expr,
    Fault,
    Function,
    If,
    Load,
    LoadEither,
    LoadVector,
    Loop,
    Match,
    Op,
    Param,
    Program,
    Redux,
    Return,
    SharedTotal,
    Shuffle,
    Special,
    SplitExchange,
    Statement,
    Store,
    Switch,
    Trap,
    Tree,
    Var,
    Vote,
    Walk,
    WarpExchange,
)

_EXIT = 'asm volatile("exit;");'
_HEAD = """#include <cuda_fp16.h>
typedef unsigned u32; typedef unsigned long long u64; typedef int s32; typedef long long s64;
__device__ __forceinline__ u32 linear_() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
__device__ __forceinline__ u32 block_() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
#define SPECIAL(name) __device__ __forceinline__ u32 name##_() { u32 d; asm("mov.u32 %0, %" #name ";" : "=r"(d)); return d; }
SPECIAL(laneid) SPECIAL(warpid) SPECIAL(lanemask_lt) SPECIAL(lanemask_ge)
template <class T> __device__ __forceinline__ T bfe_(T a, u32 p, u32 n);
#define BFE(T, word, r) template <> __device__ __forceinline__ T bfe_<T>(T a, u32 p, u32 n) \\
  { T d; asm("bfe." word " %0, %1, %2, %3;" : "=" r (d) : r (a), "r"(p), "r"(n)); return d; }
BFE(s32, "s32", "r") BFE(u32, "u32", "r") BFE(s64, "s64", "l") BFE(u64, "u64", "l")
__device__ __forceinline__ u32 bfi_(u32 a, u32 b, u32 p, u32 n)
  { u32 d; asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(p), "r"(n)); return d; }
__device__ __forceinline__ u64 bfi_(u64 a, u64 b, u32 p, u32 n)
  { u64 d; asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(d) : "l"(a), "l"(b), "r"(p), "r"(n)); return d; }
__device__ __forceinline__ u32 prmt_(u32 a, u32 b, u32 c)
  { u32 d; asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }
template <int T> __device__ __forceinline__ u32 lop3_(u32 a, u32 b, u32 c)
  { u32 d; asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(T)); return d; }
#define SHFL(mode) __device__ __forceinline__ u32 shfl_##mode(u32 a, u32 b, u32 c, u32 m, u32 &in) \\
  { u32 d; asm volatile("{ .reg .pred p; shfl.sync." #mode ".b32 %0|p, %2, %3, %4, %5; selp.u32 %1, 1, 0, p; }" \\
    : "=r"(d), "=r"(in) : "r"(a), "r"(b), "r"(c), "r"(m)); return d; }
SHFL(up) SHFL(down) SHFL(bfly) SHFL(idx)
// Conversions whose C form says less than PTX does.
#define CVT(name, D, S, word, d, s) __device__ __forceinline__ D name(S a) \\
  { D r; asm("cvt.rzi." word " %0, %1;" : "=" d (r) : s (a)); return r; }
#define CVTS(S, sn, s) CVT(cvt_s32, s32, S, "s32." sn, "r", s) CVT(cvt_u32, u32, S, "u32." sn, "r", s) \\
  CVT(cvt_s64, s64, S, "s64." sn, "l", s) CVT(cvt_u64, u64, S, "u64." sn, "l", s)
CVTS(float, "f32", "f") CVTS(double, "f64", "d") CVTS(unsigned short, "f16", "h")
"""


class _Writer:
    def __init__(self, program: Program, function: Function | None = None) -> None:
        self.program, self.function = program, function
        self.lines: list[str] = []
        # Declared in front: gotos may not jump over the initialisation of a variable.
        self.declared: list[str] = []
        self.count = 0

    # ------------------------------------------------------------ expressions

    def value(self, e: Expr) -> str:
        if isinstance(e, Const):
            return self._literal(e)
        if isinstance(e, Var):
            return e.name
        if isinstance(e, Param):
            return f"(({C_TYPES[e.type]}){e.name})"
        if isinstance(e, Special):
            if e.name in ("linear", "block"):
                return f"{e.name}_()"
            if e.name == "thread":
                return f"(block_() * {self.program.threads_per_block}u + linear_())"
            if "." not in e.name:
                return f"{e.name}_()"
            base, axis = e.name.split(".")
            return (
                f"{ {'tid': 'threadIdx', 'ctaid': 'blockIdx', 'ntid': 'blockDim', 'nctaid': 'gridDim'}[base] }.{axis}"
            )
        if isinstance(e, Load):
            index = self.value(e.index)
            text = f"{e.array}[{index}]"
            own = self._find(e.array).type
            return f"((u32){text})" if own in ("u8", "u16") else f"__ushort_as_half({text})" if own == "f16" else text
        return self._operation(e)

    def _literal(self, e: Const) -> str:
        if e.type == "pred":
            return "true" if e.value else "false"
        if e.type == "f32":
            return f"__int_as_float({e.value:#x})"
        if e.type == "f64":
            return f"__longlong_as_double({e.value:#x}ll)"
        if e.type == "f16":
            return f"__ushort_as_half((unsigned short){e.value:#x})"
        return f"(({C_TYPES[e.type]}){e.value}{'ull' if e.type[1:] == '64' else 'u'})"

    def _operation(self, e: Op) -> str:
        args = [self.value(a) for a in e.args]
        if e.name == "cvt":
            return self._conversion(args[0], e.over, e.type)
        if e.name == "bfe":
            return f"bfe_<{e.over}>({', '.join(args)})"
        if e.name == "bfi":
            return f"bfi_({', '.join(args)})"
        if e.name == "prmt":  # __byte_perm takes no sign bits
            return f"prmt_({', '.join(args)})"
        if e.name == "lop3":
            return f"lop3_<{e.literal}>({', '.join(args)})"
        text = OPERATIONS[e.name].cuda(e.over)
        for n, argument in enumerate(args):
            text = text.replace(f"{{{n}}}", f"({argument})")
        return f"({text})"

    def _conversion(self, a: str, source: str, target: str) -> str:
        if source == "f16" and target in ("f32", "f64"):
            return f"(({C_TYPES[target]})__half2float({a}))"
        if target == "f16":
            kind = {"f32": "__float2half_rn", "f64": "__double2half", "s32": "__int2half_rn", "u32": "__uint2half_rn",
                    "s64": "__ll2half_rn", "u64": "__ull2half_rn"}[source]  # fmt: skip
            return f"{kind}({a})"
        if source in ("f16", "f32", "f64") and target[0] in "su":
            return f"cvt_{target}({f'__half_as_ushort({a})' if source == 'f16' else a})"
        return f"(({C_TYPES[target]})({a}))"

    def _find(self, name: str) -> Array:
        for array in self.function.arrays if self.function is not None else ():
            if array.name == name:
                return array
        return self.program.arrays[name]

    # ------------------------------------------------------------ statements

    def do(self, text: str) -> None:
        self.lines.append(text)

    def block(self, statements: list[Statement]) -> None:
        for statement in statements:
            getattr(self, "_" + type(statement).__name__.lower())(statement)

    def _assign(self, s: Assign) -> None:
        self.do(f"{s.var.name} = {self.value(s.value)};")

    def _store_to(self, name: str, index: str, value: str) -> None:
        own = self._find(name).type
        if own == "f16":
            value = f"__half_as_ushort({value})"
        self.do(f"{name}[{index}] = {value};")

    def _store(self, s: Store) -> None:
        self._store_to(s.array, self.value(s.index), self.value(s.value))

    def _loadvector(self, s: LoadVector) -> None:
        kind = {"u32": "uint", "f32": "float", "u64": "ulonglong", "f64": "double"}[s.targets[0].type] + str(
            len(s.targets)
        )
        self.count += 1
        self.declared.append(f"{kind} vector{self.count};")
        self.do(f"vector{self.count} = reinterpret_cast<const {kind} *>({s.array})[{self.value(s.index)}];")
        for var, part in zip(s.targets, "xyzw", strict=False):
            self.do(f"{var.name} = vector{self.count}.{part};")

    def _if(self, s: If) -> None:
        self.do(f"if ({self.value(s.condition)}) {{")
        self.block(s.then)
        if s.other:
            self.do("} else {")
            self.block(s.other)
        self.do("}")

    def _switch(self, s: Switch) -> None:
        # A break inside of a switch would mean the switch: branches to labels leave loops here.
        self.do(f"switch ({self.value(s.selector)}) {{")
        for n, case in enumerate(s.cases):
            self.do(f"case {n}:" if n < len(s.cases) - 1 else "default:")
            self.do("{")
            self.block(case)
            self.do("} break;")
        self.do("}")

    def _loop(self, s: Loop) -> None:
        self.count += 1
        number = self.count
        self.do(f"{s.limit_var.name} = {self.value(s.limit)};")
        self.do(f"{s.counter.name} = {'0' if s.start is None else self.value(s.start)};")
        step = "1" if s.step is None else self.value(s.step)
        self.do(f"for (bool first{number} = {'true' if s.tests_last else 'false'}; first{number} || "
                f"{s.counter.name} < {s.limit_var.name}; {s.counter.name} += {step}) {{ first{number} = false;")  # fmt: skip
        outer = getattr(self, "loop", 0)
        self.loop = number
        self.block(s.body)
        self.loop = outer
        self.do(f"step{number}:; }} after{number}:;")

    def _break(self, s: Break) -> None:
        self.do(f"if ({self.value(s.condition)}) goto after{self.loop};")

    def _continue(self, s: Continue) -> None:
        self.do(f"if ({self.value(s.condition)}) goto step{self.loop};")

    def _exit(self, s: Exit) -> None:
        self.do(f"if ({self.value(s.condition)}) {'return;' if self.function is None else _EXIT}")

    def _return(self, s: Return) -> None:
        assert self.function is not None
        assert self.function.result is not None
        self.do(f"if ({self.value(s.condition)}) return {self.function.result.name};")

    def _trap(self, s: Trap) -> None:
        self.do(f"if ({self.value(s.condition)}) __trap();")

    # ------------------------------------------------------------ waiting

    def _barrier(self, s: Barrier) -> None:
        self.do("__syncthreads();")

    def _element(self, name: str, index: Expr) -> str:
        return self.value(Load(_value_type(self._find(name).type), name, index))

    def _exchange(self, s: Exchange) -> None:
        self._store_to(s.array, self.value(s.slot), self.value(s.value))
        self.block(s.stored)
        self.do("__syncthreads();")
        self.block(s.met)
        self.do(f"{s.target.name} = {self._element(s.array, s.source)};")
        self.block(s.read)
        self.do("__syncthreads();")

    def _splitexchange(self, s: SplitExchange) -> None:
        # __syncthreads wants all threads at one place: the PTX form has the barrier on both sides.
        self.count += 1
        side = f"side{self.count}"
        self.declared.append(f"bool {side};")
        self.do(f"{side} = {self.value(s.condition)};")
        for text, value in ((side, s.values[0]), (f"!{side}", s.values[1])):
            self.do(f"if ({text}) {{")
            self._store_to(s.array, self.value(s.slot), self.value(value))
            self.do("}")
        self.do("__syncthreads();")
        sources = [self.value(source) for source in s.sources]
        index = f"index{self.count}"
        self.declared.append(f"u32 {index};")
        self.do(f"{index} = {side} ? {sources[0]} : {sources[1]};")
        self.do(f"{s.target.name} = {self._element(s.array, Var('u32', index))}; __syncthreads();")

    def _sharedtotal(self, s: SharedTotal) -> None:
        self.do(f"{s.array}[{s.element}] = ({C_TYPES[self._find(s.array).type]}){s.initial}ull; __syncthreads();")
        self.block(s.combine)
        self.do(f"__syncthreads(); {s.target.name} = {s.array}[{s.element}]; __syncthreads();")

    def _tree(self, s: Tree) -> None:
        half, name = s.counter.name, s.array
        self.do(f"{name}[linear_()] = {self.value(s.value)}; __syncthreads();")
        self.do(f"for ({half} = {s.half}; {half} > 0; {half} >>= 1) {{")
        self.do(
            f"if (linear_() < {half} && linear_() + {half} < live_threads) {name}[linear_()] += {name}[linear_() + {half}];"
        )
        self.do(f"__syncthreads(); }} {s.target.name} = {name}[0]; __syncthreads();")

    def _walk(self, s: Walk) -> None:
        self.count += 1
        last, place = f"last{self.count}", f"place{self.count}"
        self.declared.append(f"u32 {last}; const {_stored(self._find(s.array))} *{place};")
        self.do(f"{last} = {self.value(s.count)}; {place} = {s.array} + {self.value(s.start)};")
        meets = "__syncthreads();" if s.meets else ""
        self.do(f"for ({s.counter.name} = 0; {s.counter.name} < {last}; ++{s.counter.name}) {{ "
                f"{s.target.name} += *{place}; {place} += {s.step}; {meets} }}")  # fmt: skip

    def _loadeither(self, s: LoadEither) -> None:
        first, second = s.arrays
        self.do(f"{s.target.name} = (({self.value(s.condition)}) ? (const u32 *){first} : (const u32 *){second})"
                f"[{self.value(s.index)}];")  # fmt: skip

    def _fault(self, s: Fault) -> None:
        wrong = {
            "trap": "__trap();",
            "null-pointer": "*(volatile u32 *)16 = 0;",
            "out-of-bounds": f"*(volatile u32 *)((u64){s.array} + (1ull << 44));",
            "misaligned": f"*(volatile u32 *)((u64){s.array} + 2);",
            "shared-bounds": f"((volatile u32 *){s.array})[1 << 18] = 0;",
            "local-bounds": f"((volatile u32 *){s.array})[1 << 18] = 0;",
        }[s.kind]
        self.do(f"if (block_() * {self.program.threads_per_block}u + linear_() == {s.thread}u) {{ {wrong} }}")

    def _barrierreduce(self, s: BarrierReduce) -> None:
        name = {"and": "__syncthreads_and", "or": "__syncthreads_or", "popc": "__syncthreads_count"}[s.operation]
        self.do(f"{s.target.name} = {name}({self.value(s.predicate)});")

    def _shuffle(self, s: Shuffle) -> None:
        self.count += 1
        inside = f"inside{self.count}"
        value, back = self.value(s.value), "{}"
        if s.value.type == "f32":
            value, back = f"__float_as_uint({value})", "__uint_as_float({})"
        text = f"shfl_{s.mode}((u32)({value}), {self.value(s.lane)}, {self.value(s.control)}, {self.value(s.mask)}, {inside})"
        self.declared.append(f"u32 {inside};")
        self.do(f"{s.target.name} = {back.format(text)};")
        if s.inside is not None:
            self.do(f"{s.inside.name} = {inside} != 0;")

    def _vote(self, s: Vote) -> None:
        name = {"all": "__all_sync", "any": "__any_sync", "uni": "__uni_sync", "ballot": "__ballot_sync"}[s.mode]
        tail = "" if s.mode == "ballot" else " != 0"
        self.do(f"{s.target.name} = {name}({self.value(s.mask)}, {self.value(s.predicate)}){tail};")

    def _match(self, s: Match) -> None:
        value, mask = self.value(s.value), self.value(s.mask)
        if s.mode == "any":
            self.do(f"{s.target.name} = __match_any_sync({mask}, {value});")
            return
        self.count += 1
        self.declared.append(f"int same{self.count};")
        self.do(f"{s.target.name} = __match_all_sync({mask}, {value}, &same{self.count});")
        if s.same is not None:
            self.do(f"{s.same.name} = same{self.count} != 0;")

    def _redux(self, s: Redux) -> None:
        self.do(f"{s.target.name} = __reduce_{s.operation}_sync({self.value(s.mask)}, {self.value(s.value)});")

    def _warpexchange(self, s: WarpExchange) -> None:
        self.count += 1
        n = self.count
        mask = self.value(s.mask)
        self.do(f"warpwise[linear_()] = {self.value(s.value)}; __syncwarp({mask});")
        self.declared.append(f"u32 source{n}, index{n};")
        self.do(f"source{n} = (linear_() & 31) ^ {s.offset}; index{n} = linear_() - (linear_() & 31) + source{n};")
        self.do(
            f"{s.target.name} = warpwise[(({mask}) >> source{n} & 1) && index{n} < live_threads ? index{n} : linear_()];"
        )
        self.do(f"__syncwarp({mask});")

    def _ballotif(self, s: BallotIf) -> None:
        self.count += 1
        side = f"side{self.count}"
        self.declared.append(f"bool {side};")
        self.do(f"{side} = {self.value(s.condition)};")
        self.do(f"{s.lanes.name} = __ballot_sync({self.value(s.mask)}, {side}); if ({side}) {{")
        self.block(s.then)
        self.do("} else {")
        self.block(s.other)
        self.do("}")

    def _ballotloop(self, s: BallotLoop) -> None:
        lanes, counter = s.lanes.name, s.counter.name
        self.do(f"{s.limit_var.name} = {self.value(s.limit)}; {lanes} = {self.value(s.mask)};")
        self.do(f"for ({counter} = 0; ; ++{counter}) {{")
        self.do(f"{lanes} = __ballot_sync({lanes}, {counter} < {s.limit_var.name});")
        self.do(f"if (!({counter} < {s.limit_var.name})) break;")
        self.block(s.body)
        self.do("}")

    # ------------------------------------------------------------ atomics and calls

    def _atomic(self, s: Atomic) -> None:
        name = {"add": "Add", "min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor", "exch": "Exch",
                "cas": "CAS", "inc": "Inc", "dec": "Dec"}[s.operation]  # fmt: skip
        values = ", ".join(self.value(v) for v in s.values)
        target = f"{s.target.name} = " if s.target is not None else ""
        self.do(f"{target}atomic{name}(&{s.array}[{self.value(s.index)}], {values});")

    def _call(self, s: Call) -> None:
        arguments = ", ".join(self.value(a) for a in s.arguments)
        assert s.target is not None
        self.do(f"{s.target.name} = {s.function}({arguments});")


def _value_type(element: str) -> str:
    return "u32" if element in ("u8", "u16") else element


def _stored(array: Array) -> str:
    return "unsigned short" if array.type == "f16" else C_TYPES[array.type]


def _variables(variables: tuple[Var, ...]) -> str:
    return " ".join(
        f"{C_TYPES[v.type]} {v.name} = {'0' if v.type != 'f16' else '__ushort_as_half(0)'};" for v in variables
    )


def _function(program: Program, function: Function) -> list[str]:
    writer = _Writer(program, function)
    writer.block(function.body)
    assert function.result is not None
    formal = ", ".join(f"{C_TYPES[p.type]} {p.name}" for p in function.parameters)
    attribute = "__noinline__" if program.seed % 2 else ""
    return [
        f"__device__ {attribute} {C_TYPES[function.result.type]} {function.name}({formal}) {{",
        _variables(function.locals),
        *(f"{_stored(a)} {a.name}[{a.count}];" for a in function.arrays),
        *writer.declared,
        *writer.lines,
        f"return {function.result.name}; }}",
    ]


def write_cuda(program: Program) -> str:
    """The program's CUDA C."""
    lines = [_HEAD]
    dynamic = [a for a in program.arrays.values() if a.dynamic]
    for array in program.arrays.values():
        kind = _stored(array)
        if array.space == "const":
            lines.append(
                f"__constant__ {kind} {array.name}[{array.count}] = {{{', '.join(f'{v}u' for v in array.initial)}}};"
            )
        elif array.space == "shared" and not array.dynamic:
            lines.append(f"__shared__ {kind} {array.name}[{array.count}];")
    lines += [f"extern __shared__ __align__(16) {_stored(a)} {a.name}[];" for a in dynamic]
    for function in program.functions.values():
        lines += _function(program, function)
    formal = []
    for name, (type_, _) in program.parameters.items():
        known = program.arrays.get(name)
        if known is not None and known.space == "global":
            restrict = " __restrict__" if known.role == "in" else ""
            formal.append(f"{'const ' if known.role == 'in' else ''}{_stored(known)} *{restrict} {name}")
        else:
            formal.append(f"{C_TYPES[type_]} {name}")
    lines.append(f'extern "C" __global__ void k({", ".join(formal)}) {{')
    lines.append(_variables(tuple(program.variables.values())))
    lines += [f"{_stored(a)} {a.name}[{a.count}];" for a in program.arrays.values() if a.space == "local"]
    writer = _Writer(program)
    writer.block(program.body)
    lines += writer.declared + writer.lines
    for n, var in enumerate(program.outputs):
        bits = {
            "f32": f"({var.name} != {var.name} ? 0x7fffffffu : __float_as_uint({var.name}))",
            "f64": f"({var.name} != {var.name} ? 0x7ff8000000000000ull : (u64)__double_as_longlong({var.name}))",
            "f16": f"(__hisnan({var.name}) ? (u64)0x7fff : (u64)__half_as_ushort({var.name}))",
            "s32": f"(u32){var.name}",
        }.get(var.type, var.name)
        lines.append(
            f"out[(u64)(block_() * {program.threads_per_block}u + linear_()) + {n * program.thread_count}u] = (u64){bits};"
        )
    lines.append("}")
    return "\n".join(lines) + "\n"


def compile_cuda(program: Program) -> str:
    """The PTX that NVRTC makes of it."""
    from metrale_gpu_runtime.modules.compiling import compile_cuda as compile_source

    source = write_cuda(program)
    options = (
        ("-arch=compute_80", "--fmad=false", "-G") if program.seed % 7 == 3 else ("-arch=compute_80", "--fmad=false")
    )
    return compile_source("case", source, options=options).ptx.decode().rstrip("\0")
