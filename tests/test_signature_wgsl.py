"""WGSL's declarations: what an entry point binds, how large its types are, which constants can be overridden."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from metrale_gpu_runtime.errors import ArgumentKindError, ArgumentSizeError, ElementTypeError, SignatureError
from metrale_gpu_runtime.scalars import c64, f16, f32, i32, u32, u64
from metrale_gpu_runtime.signature import ArgumentDescription, merge, parse_declaration
from metrale_gpu_runtime.signature.wgsl import NO_PLACE, parse_wgsl
from metrale_gpu_runtime.signature.wgsl_signature import from_wgsl

POINTER, SCALAR = ArgumentDescription.of_pointer, ArgumentDescription.of_scalar


def entry(text, name="main"):
    return parse_wgsl(text).entry_points[name]


def main(declarations, body="", size="1"):
    return entry(f"{declarations}\n@compute @workgroup_size({size}) fn main() {{ {body} }}")


def type_of(spelled, declarations="", space="storage"):
    return main(f"{declarations}\n@group(0) @binding(0) var<{space}> x: {spelled};", "_ = x;").bindings[0].type


def refusal(text):
    with pytest.raises(SignatureError) as info:
        parse_wgsl(text)
    return info.value


def bindings(text, name="main"):
    return [each.name for each in entry(text, name).bindings]


# ------------------------------------------------ what is bound


def test_bindings_stand_by_their_numbers():
    """The arguments are the bindings of group 0 by rising number, however the text orders them."""
    found = main(
        "@group(0) @binding(7) var<uniform> scale: f32;\n"
        "@binding(2) @group(0) var<storage, read_write> y: array<f32>;\n"
        "@group(0) @binding(5) var<storage> x: array<f32>;",
        "y[0] = x[0] * scale;",
    )
    assert [(each.name, each.group, each.binding, each.space, each.access, each.line) for each in found.bindings] == [
        ("y", 0, 2, "storage", "read-write", 2),
        ("x", 0, 5, "storage", "read", 3),
        ("scale", 0, 7, "uniform", "read", 1),
    ]
    assert (found.immediates, found.unfillable, found.line) == (None, (), 4)


TWO = """
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@group(0) @binding(1) var<storage, read_write> c: array<u32>;
"""


def test_each_entry_point_has_what_it_reaches():
    """What no function on the way names is not bound, so two kernels may use one number for different memory."""
    text = TWO + (
        "@compute @workgroup_size(1) fn main() { late(); }\n"
        "@compute @workgroup_size(1) fn other() { c[0] = 1u; }\n"
        "fn late() { middle(); }\n"
        "fn middle() { b[0] = last(); }\n"
        "fn last() -> u32 { return a[1]; }\n"
    )
    assert bindings(text) == ["a", "b"]
    assert bindings(text, "other") == ["c"]


def test_one_number_twice_in_one_kernel_is_refused():
    """A kernel that reaches two variables of one number is refused with both names."""
    error = refusal(TWO + "@compute @workgroup_size(1) fn main() { b[0] = c[0]; }")
    assert (error.line, "b and c" in str(error), "@binding(1)" in str(error)) == (4, True, True)


@pytest.mark.parametrize(
    ("body", "reached"),
    [
        ("let a = 5u; b[0] = a;", ["b"]),
        ("let a = a[0]; b[0] = a;", ["a", "b"]),
        ("{ let a = 5u; b[0] = a; } b[1] = a[0];", ["a", "b"]),
        ("if (true) { var a = 1u; b[0] = a; }", ["b"]),
        ("for (var a = 0u; a < 4u; a++) { b[a] = 1u; }", ["b"]),
        ("for (var a = 0u; a < 4u; a++) { b[0] = 1u; } b[1] = a[0];", ["a", "b"]),
        ("for (var i = a[0]; i < 4u; i++) {}", ["a"]),
        ("loop { let a = 1u; b[0] = a; continuing { break if a > 2u; } }", ["b"]),
        ("switch b[0] { case 1u { let a = 2u; b[1] = a; } default { b[2] = 3u; } }", ["b"]),
        ("var x: S; x.a = 5u; b[0] = x.a;", ["b"]),
        ("const a = 3u; b[0] = a;", ["b"]),
        ("var<function> a = 3u; b[0] = a;", ["b"]),
        ("let p = &a; b[0] = (*p)[0];", ["a", "b"]),
        ("_ = &a;", ["a"]),
        ("@diagnostic(off, derivative_uniformity) if (true) { b[0] = 1u; }", ["b"]),
        ("b[0] = f(a[0] < 2u, b[0] > (3u));", ["a", "b"]),
        ("b[0] = shadowed(4u);", ["b"]),
        ("// a[0] = 1u;\n /* a[0] /* a */ a */ b[0] = 1u;", ["b"]),
    ],
)
def test_names_within_functions_mean_what_their_scope_says(body, reached):
    """A name that a function has taken for itself is not the module's, from its declaration to its scope's end."""
    text = (
        "struct S { a: u32 }\n" + TWO + "fn f(x: bool, y: bool) -> u32 { return 1u; }\n"
        "fn shadowed(a: u32) -> u32 { return a; }\n"
        f"@compute @workgroup_size(1) fn main() {{ {body} }}"
    )
    assert bindings(text) == reached


def test_immediates_stand_apart():
    """One variable of immediates has no place; a second one in the same kernel is refused."""
    found = main("struct P { n: u32, scale: f32 }\nvar<immediate> p: P;", "_ = p;")
    assert (found.bindings, found.immediates.name, found.immediates.space) == ((), "p", "immediate")
    assert (found.immediates.group, found.immediates.binding) == (NO_PLACE, NO_PLACE)
    both = "var<immediate> p: u32;\nvar<immediate> q: u32;\n@compute @workgroup_size(1) fn main() { _ = p + q; }"
    assert "p and q" in str(refusal(both))


def test_what_no_argument_fills_stands_apart():
    """Textures, samplers and other groups are none of the arguments, and are not lost."""
    found = main(
        "@group(0) @binding(0) var picture: texture_2d<f32>;\n"
        "@group(0) @binding(1) var how: sampler;\n"
        "@group(1) @binding(0) var<storage> x: array<f32>;\n"
        "@group(0) @binding(3) var<storage> y: array<f32>;",
        "_ = x[0] + y[0] + textureSampleLevel(picture, how, vec2f(), 0.0).x;",
    )
    assert [each.name for each in found.bindings] == ["y"]
    assert [(each.name, each.group, each.space) for each in found.unfillable] == [
        ("picture", 0, "handle"),
        ("how", 0, "handle"),
        ("x", 1, "storage"),
    ]


# ------------------------------------------------ work-groups and overrides


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("64", (64, 1, 1)),
        ("8, 4,", (8, 4, 1)),
        ("8u, 4i, 0x2", (8, 4, 2)),
        ("N", (40, 1, 1)),
        ("N / 3 + 1, (N % 7) << 1u, 2 * -(-2)", (14, 10, 4)),
        ("max(N, 64u), min(3, 2), u32(7)", (64, 2, 7)),
        ("width, 2", ("width", 2, 1)),
        ("2, width * 2u", (2, "width * 2u", 1)),
        ("select(1, 2, true)", ("select(1, 2, true)", 1, 1)),
    ],
)
def test_extents_of_a_workgroup(size, expected):
    """Constants are worked out; what an override has a part in stays as it is spelled."""
    found = main("const N = 4u * 8 + (1 << 3);\noverride width: u32 = 32;", size=size)
    assert found.workgroup_size == expected
    whole = all(isinstance(each, int) for each in expected)
    assert found.fixed_workgroup_size == (expected if whole else None)


def test_overrides():
    """An override has its name, number, type and whether it has a value; a kernel tells which it uses."""
    module = parse_wgsl(
        "override width: u32;\n@id(42) override scale = 1.5;\noverride is_on = true;\n@id(1 + 2) override few = 4u;\n"
        "override half = 2h;\noverride other = few;\noverride sum: i32 = i32(width) + 1;\noverride cast = f32(width);\n"
        "override less = width < 4u;\n"
        "const twice = 2;\nvar<workgroup> tile: array<f32, sum * twice>;\n"
        "@compute @workgroup_size(width) fn main() { tile[0] = scale; }\n"
        "@compute @workgroup_size(4) fn none() {}\n"
    )
    assert [(each.name, each.id, each.type_name, each.has_default) for each in module.overrides] == [
        ("width", None, "u32", False),
        ("scale", 42, "f32", True),
        ("is_on", None, "bool", True),
        ("few", 3, "u32", True),
        ("half", None, "f16", True),
        ("other", None, "u32", True),
        ("sum", None, "i32", True),
        ("cast", None, "f32", True),
        ("less", None, None, True),
    ]
    assert (module.override("scale").key, module.override("width").key, module.override("nothing")) == (
        "42",
        "width",
        None,
    )
    assert set(module.entry_points["main"].overrides) == {"width", "scale", "sum"}
    assert module.entry_points["none"].overrides == ()


def test_workgroup_memory():
    """The bytes of a kernel's own workgroup memory, unless an override says how long some of it is."""
    text = (
        "override n: u32 = 4;\nvar<workgroup> a: array<vec3<f32>, 5>;\nvar<workgroup> b: u32;\n"
        "var<workgroup> c: array<u32, n>;\nvar<private> d: array<u32, 9>;\n"
    )
    assert main(text, "a[0] = vec3f(); b = d[0];").workgroup_nbytes == 84
    assert main(text, "b = 1u; c[0] = 1u;").workgroup_nbytes is None
    assert main(text).workgroup_nbytes == 0


# ------------------------------------------------ types


@pytest.mark.parametrize(
    ("spelled", "nbytes", "align", "element"),
    [
        ("f32", 4, 4, f32),
        ("atomic<i32>", 4, 4, i32),
        ("vec2<u32>", 8, 8, u32),
        ("vec3f", 12, 16, f32),
        ("vec4<f32>", 16, 16, f32),
        ("vec3h", 6, 8, f16),
        ("vec2<u64>", 16, 16, u64),
        ("mat2x3<f32>", 32, 16, f32),
        ("mat3x2f", 24, 8, f32),
        ("mat4x3<f16>", 32, 8, f16),
        ("array<f32, 5>", 20, 4, f32),
        ("array<vec3<f32>, 3>", 48, 16, f32),
        ("array<array<atomic<u32>, 3>, 2>", 24, 4, u32),
        ("array<vec2<f32>>", None, 8, f32),
        ("array<Pair>", None, 16, None),
        ("Pair", 32, 16, None),
        ("Row", 96, 16, None),
        ("Tail", None, 16, None),
        ("array<vec4<f32>, 4>", 64, 16, f32),
        ("array<u32, (2 + 1)>", 12, 4, u32),
        ("array<u32, count>", 28, 4, u32),
    ],
)
def test_sizes_and_alignments(spelled, nbytes, align, element):
    """Sizes are the specification's: vectors of three are aligned as four, arrays go by strides."""
    found = type_of(
        spelled,
        "const count = 7;\nstruct Pair { where: vec3<f32>, size: f32, flag: u32 }\nalias Row = array<Pair, 3>;\n"
        "struct Tail { count: u32, rows: array<vec3<f32>> }",
    )
    assert (found.nbytes, found.align, found.element) == (nbytes, align, element)
    assert found.is_runtime_sized is (nbytes is None)


def test_members_of_a_structure():
    """Members lie where their alignment, @align and @size put them; what ends in an array has its least size."""
    found = type_of(
        "S",
        "const big = 32;\nstruct In { a: vec3<f32>, b: f32 }\n"
        "struct S { a: u32, @align(16) b: f32, c: In, @size(big) d: vec2<f32>, e: u32, f: array<vec3<u32>> }",
    )
    assert [(each.name, each.offset, each.nbytes) for each in found.fields] == [
        ("a", 0, 4),
        ("b", 16, 4),
        ("c", 32, 16),
        ("d", 48, 32),
        ("e", 80, 4),
        ("f", 96, None),
    ]
    assert (found.nbytes, found.least_nbytes, found.align) == (None, 112, 16)


SIZES = {"f32": 4, "u32": 4, "i32": 4, "f16": 2}


@st.composite
def plain_types(draw, depth=2):
    """(spelling, size, alignment) by the specification's table, which is written down here once more."""
    scalar = draw(st.sampled_from(sorted(SIZES)))
    size = SIZES[scalar]
    kind = draw(st.sampled_from(["scalar", "vector", "matrix", "array"] if depth else ["scalar", "vector"]))
    if kind == "scalar":
        return scalar, size, size
    lanes = draw(st.integers(2, 4))
    if kind == "vector":
        return f"vec{lanes}<{scalar}>", size * lanes, size * (2 if lanes == 2 else 4)
    if kind == "matrix":
        columns, scalar = draw(st.integers(2, 4)), draw(st.sampled_from(["f32", "f16"]))
        column = SIZES[scalar] * (2 if lanes == 2 else 4)
        return f"mat{columns}x{lanes}<{scalar}>", columns * column, column
    inner, inner_size, align = draw(plain_types(depth - 1))
    count = draw(st.integers(1, 9))
    return f"array<{inner}, {count}>", count * ((inner_size + align - 1) // align * align), align


@given(st.lists(plain_types(), min_size=1, max_size=6))
def test_structures_by_independent_formulas(members):
    """Each member begins at the first multiple of its alignment behind the one before; the whole is a multiple of the
    largest."""
    declared = ", ".join(f"m{place}: {spelled}" for place, (spelled, _, _) in enumerate(members))
    found = type_of("S", f"struct S {{ {declared} }}")
    place, largest = 0, 1
    for field, (_, size, align) in zip(found.fields, members, strict=True):
        while place % align:
            place += 1
        assert (field.offset, field.nbytes, field.type.align) == (place, size, align)
        place, largest = place + size, max(largest, align)
    while place % largest:
        place += 1
    assert (found.nbytes, found.align) == (place, largest)


# ------------------------------------------------ reading


@st.composite
def sums(draw, depth=3):
    """An expression of small whole numbers, and what Python makes of it."""
    if not depth or draw(st.booleans()):
        value = draw(st.integers(0, 9))
        return str(value), value
    sign = draw(st.sampled_from("+-*"))
    first, second = draw(sums(depth - 1)), draw(sums(depth - 1))
    value = {"+": first[1] + second[1], "-": first[1] - second[1], "*": first[1] * second[1]}[sign]
    return f"({first[0]} {sign} {second[0]})", value


@given(sums(), sums())
def test_constants_are_worked_out(first, second):
    """Precedence, brackets and signs are the language's."""
    text, value = f"{first[0]} + {second[0]} * 3 - -2", first[1] + second[1] * 3 + 2
    assume(value >= 1)
    assert main(f"const n = {text};", size="n").workgroup_size[0] == value


NOISE = st.sampled_from([" ", "\n", "\t", "/* < */", "/*/**/*/", "// x\n", "\r\n"])


@given(st.lists(NOISE, min_size=40, max_size=40))
def test_blanks_and_comments_change_nothing(noise):
    """Blanks and comments between words, however nested, leave what is declared as it is."""
    text = (
        "@ group ( 0 ) @ binding ( 1 ) var < storage , read_write > x : array < vec4 < f32 > , 3 > ; "
        "@ compute @ workgroup_size ( 8 ) fn main ( ) { x [ 0 ] = vec4f ( ) ; }"
    )
    words = text.split(" ")
    found = entry("".join(word + noise[place % len(noise)] for place, word in enumerate(words)))
    assert (found.bindings[0].type.spelling, found.bindings[0].access) == ("array<vec4<f32>, 3>", "read-write")


def test_templates_are_told_from_comparisons():
    """Angle brackets enclose a template's arguments or compare, by the language's own rule."""
    found = main(
        "const a = 1;\nconst b = 2;\nconst is_less = a < b;\nconst both = (a<b) || (b>a);\n"
        "override less = a < b && b > a;\n"
        "@group(0) @binding(0) var<storage,read_write>x:array<array<vec2<u32>,3>,4>;\n"
        "const shifted = 1 << 2 >> 1;",
        "if (x[0][0].x<3u) { x[1>>0u][0].y=u32(a<b); }",
        size="shifted",
    )
    assert (found.bindings[0].type.nbytes, found.workgroup_size[0]) == (96, 2)


def test_directives_and_other_declarations_are_passed_over():
    """enable, requires, diagnostic, const_assert, other stages and stray semicolons are no bindings."""
    found = entry(
        "enable f16, subgroups;\nrequires pointer_composite_access;\ndiagnostic(off, derivative_uniformity);\n;\n"
        "struct V { @builtin(position) p: vec4f, @location(0) @interpolate(flat) n: u32 };\n"
        "const_assert 1 < 2;\n@vertex fn v() -> V { return V(); }\n@must_use fn unused() -> i32 { return 1; }\n"
        "@group(0) @binding(0) var<uniform> n: u32;\n"
        "@fragment fn f(in: V) -> @location(0) vec4f { return vec4f(f32(n)); }\n"
        "@workgroup_size(3) @compute fn main(@builtin(local_invocation_index) i: u32) {}"
    )
    assert (found.bindings, found.workgroup_size) == ((), (3, 1, 1))


def test_own_names_go_before_the_languages():
    """A name that the text declares means that, though the language has one of it too."""
    text = "alias vec4f = u32;\nstruct sampler { a: f32, b: f32 }\n"
    assert type_of("array<vec4f, 3>", text).nbytes == 12
    assert type_of("sampler", text).nbytes == 8
    assert main("const min = 3;", size="min").workgroup_size[0] == 3


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("var<storage> x array<f32>;", 1, ("';'", "array")),
        ("\n\n/* open", 3, ("never closed",)),
        ("fn f() {\n", 1, ("never closed",)),
        ("fn f() { ) }", 1, ("closes nothing",)),
        ("struct S { a: u32 }\nstruct S { b: u32 }", 2, ("line 1",)),
        ("struct S { a: u32, a: f32 }", 1, ("two members",)),
        ("type X = f32;", 1, ("'type'", "alias")),
        ("@group(0) @binding(0) var<storage> x: $;", 1, ("'$'",)),
        ("fn\n", 1, ("ends",)),
        ("K var<storage> x: f32;", 1, ("'K'",)),
        ("@compute @workgroup_size(0) fn main() {}", 1, ("main", "0", "at least 1")),
        ("@compute\nfn main() {}", 2, ("main", "@workgroup_size")),
        ("override x;", 1, ("x", "neither")),
        ("alias A = B;\nalias B = A;\nK var<storage> x: A;", 3, ("'K'",)),
        ("alias A = array<A, 2>;\nB var<storage> x: A;", 2, ("'B'",)),
    ],
)
def test_declarations_that_cannot_be_read_are_refused_with_their_line(text, line, words):
    """What is no declaration is refused with its line and what is wanted there."""
    error = refusal(text)
    assert error.line == line, str(error)
    assert all(word in str(error) for word in words), str(error)


@pytest.mark.parametrize(
    ("spelled", "words"),
    [
        ("Missing", ("Missing", "no type")),
        ("array<f32, n>", ("'n'", "overrides")),
        ("array<f32, 0>", ("at least 1",)),
        ("array<array<f32>, 3>", ("known size",)),
        ("vec3<vec2<f32>>", ("scalars",)),
        ("vec3", ("vec3<component>",)),
        ("array<f32, 2, 3>", ("array<element, count>",)),
        ("Self", ("contains itself",)),
        ("A", ("contains itself",)),
        ("Early", ("last member",)),
        ("Small", ("@size", "4", "16")),
        ("Odd", ("@align", "12", "power of two")),
        ("texture_2d<f32>", ("does not lie in",)),
        ("f32 f32", ("no type",)),
        ("main", ("no type",)),
        ("ptr<function, f32>", ("does not lie in",)),
    ],
)
def test_types_that_cannot_be_laid_out_are_refused(spelled, words):
    """A type that a kernel needs and that cannot be laid out is refused with the reason; one that it does not need
    is nobody's business."""
    declarations = (
        "override n = 4;\nstruct Self { a: u32, b: Self }\nalias A = B;\nalias B = A;\n"
        "struct Early { a: array<u32>, b: u32 }\nstruct Small { @size(4) a: vec4f }\nstruct Odd { @align(12) a: u32 }\n"
    )
    text = f"{declarations}@group(0) @binding(0) var<storage> x: {spelled};\n"
    parse_wgsl(text + "@compute @workgroup_size(1) fn main() {}")
    error = refusal(text + "@compute @workgroup_size(1) fn main() { _ = &x; }")
    assert all(word in str(error) for word in words), str(error)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ("@group(0) var<storage> x: u32;", ("x", "@binding")),
        ("@group(0) @binding(-1) var<storage> x: u32;", ("@binding", "'-1'")),
        ("@group(0) @binding(y) var<storage> x: u32;\noverride y = 2;", ("@binding", "'y'")),
        ("@group(0) @binding(0) var<uniform> x: array<u32>;", ("length is not known",)),
        ("@group(0) @binding(0) var<storage, append> x: u32;", ("append", "read_write")),
        ("@group(0) @binding(0) var<storage> x = 5;", ("no type",)),
    ],
)
def test_variables_that_cannot_be_bound_are_refused(declared, words):
    """A variable whose place, access or length is not known is refused by name."""
    error = refusal(f"{declared}\n@compute @workgroup_size(1) fn main() {{ _ = &x; }}")
    assert all(word in str(error) for word in words), str(error)


def test_deep_nesting_is_refused_and_not_followed():
    """What lies deeper than any compiler takes it ends in a refusal, or is left to the compiler."""
    deep = "array<" * 500 + "f32" + ", 1>" * 500
    assert "deep" in str(
        refusal(f"@group(0) @binding(0) var<storage> x: {deep};\n@compute @workgroup_size(1) fn main() {{ _ = &x; }}")
    )
    brackets = "(" * 3000 + "1" + ")" * 3000
    assert main(f"const n = {brackets};", size="n").workgroup_size == ("n", 1, 1)
    chain = "".join(f"const c{place + 1} = c{place};\n" for place in range(300))
    assert main(f"const c0 = 4;\n{chain}", size="c300").workgroup_size[0] in (4, "c300")


def read_or_refused(text):
    error = None
    try:
        parse_wgsl(text)
    except SignatureError as refused:
        error = refused
    assert error is None or error.line is not None


WORDS = [
    *"<>(){}[],;:=@.&|!+-*/%_",
    *("struct", "var", "fn", "let", "for", "override", "const", "alias", "array", "vec3", "f32", "storage", "x", "S"),
    *("@compute", "@workgroup_size(", "@group(0)", "@binding(0)", "var<storage>", "0x", "1u", "1.5", "/*", "*/", "//"),
    *("\n", " ", "é", "$", '"', "->", "::", "workgroup", "read_write", "main"),
]


@given(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join) | st.text(max_size=80))
def test_any_text_is_read_or_refused(text):
    """No text does anything but be read or be refused with a line."""
    read_or_refused(text)


SOUND = """
struct P { n: u32, @align(16) scale: vec3<f32> }
override wide: u32 = 4u;
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> x: array<vec2<f32>>;
@compute @workgroup_size(wide, 2) fn main() { let i = f(p.n); x[i] = vec2f(p.scale.xy); }
fn f(i: u32) -> u32 { return i; }
"""


@given(st.integers(0, len(SOUND)), st.integers(0, 12), st.sampled_from(WORDS))
def test_damaged_text_is_read_or_refused(at, length, put):
    """A sound text with something cut out and something put in is read or refused, never anything else."""
    read_or_refused(SOUND[:at] + put + SOUND[at + length :])


# ------------------------------------------------ as a signature

LAUNCHED = """
struct Params { n: u32, where: vec3<f32>, few: array<u32, 3> }
struct Tail { count: u32, rows: array<vec2<f32>> }
@group(0) @binding(0) var<storage> x: array<vec2<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> scale: f32;
@group(0) @binding(3) var<uniform> params: Params;
@group(0) @binding(4) var<storage, read_write> tail: Tail;
@group(0) @binding(5) var<uniform> pair: vec2<u32>;
var<immediate> now: Now;
struct Now { step: i32, gain: vec3<f32> }
@compute @workgroup_size(64) fn main() {
    y[0] = x[0].x * scale * params.where.x + f32(now.step) + f32(tail.count) + f32(pair.x);
}
"""


def signature():
    return from_wgsl(entry(LAUNCHED))


def test_a_signature_from_a_text():
    """Storage is memory, constant where it is only read; uniforms and the members of immediates are values."""
    found = signature()
    assert found.sources == ("WGSL text",)
    assert [(each.name, each.kind, each.constant, each.scalar, each.element) for each in found.parameters] == [
        ("x", "pointer", True, None, f32),
        ("y", "pointer", False, None, f32),
        ("scale", "value", None, f32, None),
        ("params", "value", None, None, None),
        ("tail", "pointer", False, None, None),
        ("pair", "value", None, None, None),
        ("step", "value", None, i32, None),
        ("gain", "value", None, None, None),
    ]
    assert [(each.nbytes, each.align) for each in found.parameters if each.kind == "value"] == [
        (4, 4),
        (48, 16),
        (8, 8),
        (4, 4),
        (12, 16),
    ]
    assert str(found) == (
        "void main(storage array<vec2<f32>> x, storage read_write array<f32> y, uniform f32 scale, "
        "uniform Params params, storage read_write Tail tail, uniform vec2<u32> pair, immediate i32 step, "
        "immediate vec3<f32> gain)  [WGSL text]"
    )


def opaque(nbytes, align=None):
    return ArgumentDescription("value", nbytes=nbytes, align=align, opaque=True)


def given_with(index, argument):
    arguments = [
        POINTER(c64),
        POINTER(f32),
        SCALAR(f32),
        opaque(48),
        POINTER(),
        opaque(8),
        SCALAR(i32),
        opaque(12),
    ]
    arguments[index] = argument
    return signature().check(tuple(arguments))


def test_arguments_are_laid_out():
    """Each value lies at its own alignment; two floats are a complex number, or any buffer of floats."""
    layout = given_with(0, POINTER(f32))
    assert layout.offsets == (0, 8, 16, 32, 80, 88, 96, 112)
    assert given_with(0, POINTER(c64)) == layout


@pytest.mark.parametrize(
    ("index", "argument", "error", "words"),
    [
        (0, POINTER(u32), ElementTypeError, ("x", "vec2<f32>", "u32")),
        (1, POINTER(c64), ElementTypeError, ("y", "f32", "c64")),
        (1, SCALAR(f32), ArgumentKindError, ("y", "array<f32>", "pointer")),
        (2, SCALAR(u32), ArgumentKindError, ("scale", "uniform f32", "arg_f32")),
        (2, POINTER(f32), ArgumentKindError, ("scale", "value")),
        (3, opaque(44), ArgumentSizeError, ("params", "48 bytes", "44")),
        (3, opaque(48, 4), ArgumentSizeError, ("params", "16", "4")),
        (5, SCALAR(u64), ArgumentKindError, ("pair", "2 u32", "8 bytes")),
        (6, SCALAR(u32), ArgumentKindError, ("step", "signed", "arg_i32")),
        (7, opaque(16), ArgumentSizeError, ("gain", "12 bytes", "16")),
    ],
)
def test_refusals_name_parameter_given_and_wanted(index, argument, error, words):
    """What does not fit is refused with the parameter's name, what was given and what is wanted."""
    with pytest.raises(error) as info:
        given_with(index, argument)
    assert info.value.index == index
    assert all(word in str(info.value) for word in words), str(info.value)


def test_a_declaration_is_held_against_the_text():
    """What the caller declares may fill in nothing that the text contradicts."""
    text = from_wgsl(
        entry("@group(0) @binding(0) var<uniform> n: u32;@compute @workgroup_size(1) fn main() { _ = n; }")
    )
    assert merge(parse_declaration("unsigned count", "main"), text).parameters[0].name == "count"
    with pytest.raises(SignatureError, match="float"):
        merge(parse_declaration("float n", "main"), text)


def test_a_structure_that_compilers_place_differently_is_no_value():
    """A structure that @align aligns more than its members, within another, is refused as a value and fine as memory."""
    text = (
        "struct In { @align(32) a: u32 }\nstruct Out { a: u32, b: In }\n"
        "@group(0) @binding(0) var<uniform> v: Out;\n@group(0) @binding(1) var<storage> m: Out;\n"
        "@group(0) @binding(2) var<uniform> alone: In;\n"
        "@compute @workgroup_size(1) fn main() { _ = v; _ = m; _ = alone; }"
    )
    found = from_wgsl(entry(text))
    assert entry(text).bindings[0].type.disputed.spelling == "In"
    with pytest.raises(ArgumentKindError, match=r"v.*In lies in it.*32 bytes"):
        found.check((opaque(64), POINTER(), opaque(32)))
    assert found.parameters[1].unfillable is found.parameters[2].unfillable is None
