"""Arguments against signatures: every kind of wrong argument is refused, and what is right is laid out as C does."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_gpu_runtime.errors import (
    ArgumentCountError,
    ArgumentError,
    ArgumentKindError,
    ArgumentRangeError,
    ArgumentSizeError,
    ElementTypeError,
)
from metrale_gpu_runtime.handles import DevicePtr
from metrale_gpu_runtime.layout import ArgumentKind
from metrale_gpu_runtime.scalars import (
    SCALARS,
    Scalar,
    ScalarType,
    bf16,
    boolean,
    c64,
    c128,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)
from metrale_gpu_runtime.signature import (
    ArgumentDescription,
    KernelSignature,
    Parameter,
    from_driver,
    parse_declaration,
)

value = ArgumentDescription.of_scalar
pointer = ArgumentDescription.of_pointer
UNKNOWN = KernelSignature("k")


def _declared(text: str) -> KernelSignature:
    return parse_declaration(text, "k")


def _opaque(nbytes: int, align: int | None = None, structured: bool = False) -> ArgumentDescription:
    return ArgumentDescription("value", nbytes=nbytes, align=align, opaque=True, structured=structured)


def _ptx_like(*rows: tuple[int, str | None, bool | None]) -> KernelSignature:
    """A signature as PTX tells it: (bytes, kind, floating), the sign unknown."""
    parameters = tuple(
        Parameter(index, nbytes=nbytes, align=nbytes, kind=kind, floating=floating, source="PTX")
        for index, (nbytes, kind, floating) in enumerate(rows)
    )
    return KernelSignature("k", parameters, ("PTX",))


NORM = _declared("const float* x, float* y, unsigned int hidden, float eps")
GOOD = (pointer(f32), pointer(f32), value(u32), value(f32))


def test_the_right_arguments_are_laid_out() -> None:
    """Arguments that agree with the signature get the declared offsets, sizes and alignments."""
    layout = NORM.check(GOOD)
    assert layout.kinds == (ArgumentKind.POINTER, ArgumentKind.POINTER, ArgumentKind.VALUE, ArgumentKind.VALUE)
    assert (layout.offsets, layout.sizes, layout.alignments, layout.nbytes) == (
        (0, 8, 16, 20),
        (8, 8, 4, 4),
        (8, 8, 4, 4),
        24,
    )


@pytest.mark.parametrize("given_", [(), GOOD[:3], (*GOOD, value(u8))], ids=len)
def test_the_count_is_checked_first(given_: tuple[ArgumentDescription, ...]) -> None:
    """Too few and too many arguments are one error, with both numbers and the parameters' names."""
    with pytest.raises(
        ArgumentCountError, match=rf"k expects 4 arguments \(const float\* x, .*eps\), got {len(given_)}"
    ) as caught:
        NORM.check(given_)
    error = caught.value
    assert (error.kernel, error.index, error.expected, error.given) == ("k", None, 4, len(given_))
    assert isinstance(error, TypeError)


@pytest.mark.parametrize(
    ("position", "argument", "error", "words"),
    [
        (3, value(f64), ArgumentSizeError, r"4 bytes expected, 8 given: use arg_f32 \(mg\.f32"),
        (2, value(u64), ArgumentSizeError, "4 bytes expected, 8 given: use arg_u32"),
        (2, value(u16), ArgumentSizeError, "4 bytes expected, 2 given"),
        (2, value(i32), ArgumentKindError, "it is unsigned: use arg_u32"),
        (2, value(f32), ArgumentKindError, "it is an integer, not a float: use arg_u32"),
        (3, value(u32), ArgumentKindError, "it is a float, not an integer: use arg_f32"),
        (3, value(i32), ArgumentKindError, "it is a float, not an integer"),
        (0, value(u64), ArgumentKindError, "it is a pointer: use arg_ptr"),
        (0, _opaque(8), ArgumentKindError, "it is a pointer: use arg_ptr"),
        (2, pointer(), ArgumentKindError, "it is a value, not a pointer: use arg_u32"),
        (0, pointer(f64), ElementTypeError, "its elements are float .f32., not f64"),
        (1, pointer(i32), ElementTypeError, "not i32"),
        (2, _opaque(8), ArgumentSizeError, "4 bytes expected, 8 given"),
        (3, ArgumentDescription("local", nbytes=64, align=1), ArgumentKindError, "shared_mem"),
    ],
)
def test_each_wrong_argument_is_refused_by_what_is_wrong(
    position: int, argument: ArgumentDescription, error: type[ArgumentError], words: str
) -> None:
    """Size, kind, float, sign, pointer and element mismatches each raise their error, naming place, both and remedy."""
    arguments = tuple(argument if index == position else each for index, each in enumerate(GOOD))
    with pytest.raises(error, match=words) as caught:
        NORM.check(arguments)
    raised = caught.value
    assert type(raised) is error
    assert (raised.kernel, raised.index) == ("k", position)
    assert raised.name == ("x", "y", "hidden", "eps")[position]
    assert f"argument {position} ({raised.name})" in str(raised)
    assert raised.expected is not None
    assert raised.given is not None


def test_a_float_of_eight_bytes_for_one_of_four() -> None:
    """The oldest mistake: f64 for float names kernel, index, name, 4 expected and 8 given."""
    with pytest.raises(ArgumentSizeError) as caught:
        NORM.check((*GOOD[:3], value(f64)))
    assert (caught.value.expected, caught.value.given) == (4, 8)


_CHARS = {i8, u8}


@pytest.mark.parametrize("declared", SCALARS.values(), ids=str)
@pytest.mark.parametrize("given_", SCALARS.values(), ids=str)
def test_a_declared_scalar_takes_its_own_type_only(declared: ScalarType, given_: ScalarType) -> None:
    """Of all scalar types exactly the declared one passes: width, float, sign, bool, half and bf16 are told apart."""
    signature = _declared(f"{declared.c_name} n")
    if given_ == declared:
        signature.check((value(given_),))
        return
    error = ArgumentSizeError if given_.nbytes != declared.nbytes else ArgumentKindError
    with pytest.raises(error) as caught:
        signature.check((value(given_),))
    assert type(caught.value) is error


@pytest.mark.parametrize("declared", SCALARS.values(), ids=str)
@pytest.mark.parametrize("given_", SCALARS.values(), ids=str)
def test_a_declared_pointee_takes_its_own_elements_only(declared: ScalarType, given_: ScalarType) -> None:
    """Of all element types the declared one passes, and for bytes either sign; a float pair is a complex number."""
    signature = _declared(f"const {declared.c_name}* x")
    # cuComplex is a float2, so buffers of its component lie alike.
    alike = {declared, given_} in ({c64, f32}, {c128, f64}) and declared.kind == "complex"
    if given_ == declared or {declared, given_} == _CHARS or alike:
        signature.check((pointer(given_),))
        return
    with pytest.raises(ElementTypeError) as caught:
        signature.check((pointer(given_),))
    assert (caught.value.expected, caught.value.given) == (declared.name, given_.name)


@pytest.mark.parametrize(
    ("declared", "elements"),
    [
        ("void* x", [f32, u8, c128]),
        ("struct Particle* x", [f32, i64]),
        ("char* x", [i8, u8]),
        ("float4* x", [f32]),
        ("float2* x", [f32, c64]),
        ("double2* x", [f64, c128]),
        ("half2* x", [f16]),
        ("float** x", [u64, i64]),
        ("long* x", [i64]),
    ],
)
def test_pointees_of_several_readings(declared: str, elements: list[ScalarType]) -> None:
    """void and structures take anything, vectors their component, pointer tables 64-bit integers."""
    signature = _declared(declared)
    for element in elements:
        signature.check((pointer(element),))
    signature.check((pointer(None),))


@pytest.mark.parametrize(
    ("declared", "element"), [("float4* x", f64), ("float** x", f32), ("half2* x", bf16), ("float* x", c64)]
)
def test_pointees_of_several_readings_still_refuse_others(declared: str, element: ScalarType) -> None:
    """A vector's component and a pointer table's width are checked."""
    with pytest.raises(ElementTypeError):
        _declared(declared).check((pointer(element),))


# ---------------------------------------------------------------- structures and bytes


def test_a_structure_is_checked_by_size_and_alignment() -> None:
    """The right size passes; the packed sizes are refused, naming both."""
    signature = _declared("struct(24, 8) p")
    signature.check((_opaque(24),))
    signature.check((_opaque(24, 8),))
    signature.check((_opaque(24, 8, structured=True),))
    for nbytes in (13, 16):
        with pytest.raises(ArgumentSizeError, match=f"24 bytes expected, {nbytes} given"):
            signature.check((_opaque(nbytes),))


def test_bytes_that_ask_for_less_alignment_are_refused() -> None:
    """An explicit alignment under the declared one was made for another type."""
    with pytest.raises(ArgumentSizeError, match="alignment 8 expected, 4 given") as caught:
        _declared("struct(24, 8) p").check((_opaque(24, 4),))
    assert (caught.value.expected, caught.value.given) == (8, 4)


def test_a_structure_of_wider_fields_is_refused() -> None:
    """Fields that want more alignment than the parameter has cannot be its fields; over-aligned parameters are fine."""
    with pytest.raises(ArgumentSizeError, match="fields want alignment 8, the parameter has 4"):
        _declared("struct(24, 4) p").check((_opaque(24, 8, structured=True),))
    _declared("float4 v").check((_opaque(16, 4, structured=True),))


@pytest.mark.parametrize(
    ("declared", "taken"),
    [
        ("float2 v", {c64}),
        ("const double2 v", {c128}),
        ("int2 v", set()),
        ("uchar4 v", set()),
        ("__half2 v", set()),
        ("float1 v", {f32}),
        ("longlong1 v", {i64}),
    ],
)
def test_a_number_is_no_vector(declared: str, taken: set[ScalarType]) -> None:
    """No number of a vector's size stands for its components, but the complex number of two floats does."""
    signature = _declared(declared)
    (parameter,) = signature.parameters or ()
    assert parameter.nbytes is not None
    for scalar in SCALARS.values():
        if scalar in taken:
            signature.check((value(scalar),))
        else:
            with pytest.raises((ArgumentKindError, ArgumentSizeError)) as refused:
                signature.check((value(scalar),))
            assert isinstance(refused.value, ArgumentKindError) == (scalar.nbytes == parameter.nbytes)
    signature.check((_opaque(parameter.nbytes, 1, structured=True),))
    with pytest.raises(ArgumentKindError, match=r"use arg_struct or arg_bytes|use arg_c64"):
        _declared("float2 v").encode(0, 1.5)


@pytest.mark.parametrize("signature", [UNKNOWN, _declared("struct(8, 8) s")], ids=["unknown", "declared"])
def test_no_parameter_has_zero_bytes(signature: KernelSignature) -> None:
    """An empty byte argument is refused at the check, whatever is known."""
    with pytest.raises(ArgumentSizeError, match="0"):
        signature.check((_opaque(0),))


def test_raw_bytes_may_stand_for_a_scalar_of_their_size() -> None:
    """Bytes carry no type, so only their size is checked against a scalar parameter."""
    NORM.check((pointer(), pointer(), _opaque(4), _opaque(4)))


# ---------------------------------------------------------------- what is not known is not checked


def test_an_unknown_signature_takes_everything_in_c_layout() -> None:
    """Where nothing is known any list passes and lies as C would lay it out."""
    layout = UNKNOWN.check(
        (value(u8), value(u64), value(u32), pointer(), value(u16), value(f64), _opaque(128, 64), value(u8))
    )
    assert layout.offsets == (0, 8, 16, 24, 32, 40, 64, 192)
    assert layout.nbytes == 193


def test_the_block_ends_with_its_last_byte() -> None:
    """A pointer and a 16-bit value are 10 bytes: the end is not padded."""
    assert UNKNOWN.check((pointer(), value(u16))).nbytes == 10
    assert _declared("float* x, short n").check((pointer(), value(i16))).nbytes == 10


def test_bytes_without_alignment_lie_naturally() -> None:
    """Bytes that ask for no alignment take that of a scalar of their size, else a slot's 8."""
    layout = UNKNOWN.check((value(u8), _opaque(2), value(u8), _opaque(12), value(u8), _opaque(1)))
    assert layout.offsets == (0, 2, 4, 8, 20, 21)


def test_parameters_without_places_lie_as_their_arguments_want() -> None:
    """Where a source tells types but no alignment or offset, the argument's own alignment decides."""
    parameters = tuple(Parameter(index, source="mangled name") for index in range(4))
    signature = KernelSignature("k", parameters, ("mangled name",))
    layout = signature.check((value(u8), _opaque(48, 16), _opaque(12), value(u16)))
    assert (layout.offsets, layout.alignments, layout.nbytes) == ((0, 16, 64, 76), (1, 16, 8, 2), 78)


def test_arguments_describe_themselves() -> None:
    """What was given is told in words, for errors."""
    described = [str(each) for each in (pointer(f32), pointer(), value(u8), _opaque(12), _opaque(1, 1, True))]
    described.append(str(ArgumentDescription("local", nbytes=64)))
    described.append(str(ArgumentDescription("value", nbytes=4)))
    assert described == [
        "a pointer to f32 elements",
        "an untyped pointer",
        "u8 (1 byte)",
        "12 bytes as they are",
        "a structure of 1 byte",
        "64 bytes of local memory",
        "an integer of 4 bytes",
    ]


def test_sizes_alone_are_checked_alone() -> None:
    """A driver's signature checks count and sizes, and lets kinds be."""
    signature = from_driver("k", [(0, 8), (8, 4)])
    signature.check((pointer(f64), value(f32)))
    signature.check((value(u64), value(i32)))
    assert signature.check((value(f64), _opaque(4))).offsets == (0, 8)
    with pytest.raises(ArgumentSizeError):
        signature.check((value(u32), value(u32)))
    with pytest.raises(ArgumentSizeError, match="a pointer has 8 bytes"):
        signature.check((pointer(), pointer()))


def test_ptx_tells_floats_but_no_signs() -> None:
    """An integer parameter of unknown sign takes either sign and no float; an unknown word takes all."""
    integer, word, wide = _ptx_like((4, "value", False)), _ptx_like((4, "value", None)), _ptx_like((8, None, False))
    for each in (u32, i32):
        integer.check((value(each),))
    with pytest.raises(ArgumentKindError, match=r"use arg_i32 .* or arg_u32"):
        integer.check((value(f32),))
    for each in (u32, i32, f32):
        word.check((value(each),))
    for argument in (value(u64), value(i64), pointer(f32)):
        wide.check((argument,))
    with pytest.raises(ArgumentKindError):
        wide.check((value(f64),))


def test_ptx_cannot_tell_bool_from_char() -> None:
    """A byte of PTX takes every byte type, typed."""
    for each in (u8, i8, boolean):
        _ptx_like((1, "value", False)).check((value(each),))


def test_plain_char_takes_both_byte_types_and_no_bool() -> None:
    """`char` has the sign of the host, which the kernel's author may have meant either way."""
    signature = _declared("char c")
    signature.check((value(i8),))
    signature.check((value(u8),))
    with pytest.raises(ArgumentKindError):
        signature.check((value(boolean),))


def test_local_memory_goes_where_it_is_declared() -> None:
    """A __local parameter takes local memory, without bytes in the image; a pointer is refused there."""
    signature = _declared("__global float* x, __local float* scratch, int n")
    local = ArgumentDescription("local", nbytes=640, align=1)
    layout = signature.check((pointer(f32), local, value(i32)))
    assert layout.kinds[1] is ArgumentKind.LOCAL
    assert (layout.offsets, layout.sizes, layout.nbytes) == ((0, 8, 8), (8, 640, 4), 12)
    with pytest.raises(ArgumentKindError, match="use arg_local"):
        signature.check((pointer(f32), pointer(f32), value(i32)))
    assert UNKNOWN.check((local,)).nbytes == 0


_FIELDS = {
    u8: ctypes.c_uint8,
    i16: ctypes.c_int16,
    u32: ctypes.c_uint32,
    f32: ctypes.c_float,
    f64: ctypes.c_double,
    i64: ctypes.c_int64,
}


@given(st.lists(st.sampled_from([*_FIELDS, None]), min_size=1, max_size=14))
def test_any_order_of_arguments_lies_as_c_lays_it(types: list[ScalarType | None]) -> None:
    """For any list of scalars and pointers the offsets are those of a C structure, and each is aligned."""
    arguments = tuple(pointer() if each is None else value(each) for each in types)
    fields = [(f"f{n}", ctypes.c_void_p if each is None else _FIELDS[each]) for n, each in enumerate(types)]
    oracle = type("Block", (ctypes.Structure,), {"_fields_": fields})
    layout = UNKNOWN.check(arguments)
    assert list(layout.offsets) == [getattr(oracle, name).offset for name, _ in fields]
    last = fields[-1][0]
    assert layout.nbytes == getattr(oracle, last).offset + getattr(oracle, last).size


# ---------------------------------------------------------------- bare values


@pytest.mark.parametrize(
    ("declared", "given_", "expected"),
    [
        ("float x", 2.0, f32(2.0)),
        ("float x", 3, f32(3)),
        ("double x", 0.1, f64(0.1)),
        ("int n", -7, i32(-7)),
        ("unsigned n", 2**32 - 1, u32(2**32 - 1)),
        ("size_t n", 2**63, u64(2**63)),
        ("long n", -(2**63), i64(-(2**63))),
        ("half h", 1.5, f16(1.5)),
        ("__nv_bfloat16 h", 1.5, bf16(1.5)),
        ("bool b", True, boolean(True)),
        ("unsigned char c", 200, u8(200)),
        ("cuComplex z", 1 - 2j, c64(1 - 2j)),
        ("unsigned short n", 65535, u16(65535)),
    ],
)
def test_a_bare_number_is_encoded_as_the_parameter(declared: str, given_: object, expected: Scalar) -> None:
    """A Python number takes the declared type, bit for bit."""
    data, description = _declared(declared).encode(0, given_)
    assert data == expected.data
    assert description.scalar == expected.type
    _declared(declared).check((description,))


@pytest.mark.parametrize(
    ("declared", "given_", "error"),
    [
        ("int n", 2**31, ArgumentRangeError),
        ("unsigned n", -1, ArgumentRangeError),
        ("signed char c", -129, ArgumentRangeError),
        ("int n", 1.0, ArgumentKindError),
        ("int n", True, ArgumentKindError),
        ("float x", True, ArgumentKindError),
        ("bool b", 1, ArgumentKindError),
        ("float x", 1j, ArgumentKindError),
        ("float* x", 4096, ArgumentKindError),
        ("float* x", 0, ArgumentKindError),
        ("struct(4, 4) s", 5, ArgumentKindError),
        ("float4 v", 1.0, ArgumentKindError),
        ("int n", None, ArgumentKindError),
        ("int n", "5", ArgumentKindError),
        ("int n", [5], ArgumentKindError),
    ],
)
def test_a_bare_value_that_does_not_fit_is_refused(declared: str, given_: object, error: type[ArgumentError]) -> None:
    """Range and kind errors name kernel, index and parameter."""
    with pytest.raises(error) as caught:
        _declared(f"float* first, {declared}").encode(1, given_)
    assert type(caught.value) is error
    assert (caught.value.kernel, caught.value.index) == ("k", 1)
    assert caught.value.name == declared.split()[-1]


@pytest.mark.parametrize(
    "signature", [UNKNOWN, _declared("int n"), _ptx_like((4, "value", False)), _declared("float* x")], ids=str
)
def test_a_number_of_thousands_of_digits_is_refused_like_any_other(signature: KernelSignature) -> None:
    """An integer that Python itself refuses to print is refused with our error, in a message of bearable length."""
    with pytest.raises(ArgumentError, match="an integer of 16610 bits") as caught:
        signature.encode(0, 10**5000)
    assert len(str(caught.value)) < 500


def test_a_range_error_carries_the_range() -> None:
    """The bounds are in the error as numbers."""
    with pytest.raises(ArgumentRangeError, match="-2147483648 to 2147483647") as caught:
        _declared("int n").encode(0, 2**31)
    assert (caught.value.expected, caught.value.given) == ((-(2**31), 2**31 - 1), 2**31)


def test_an_unknown_sign_takes_what_fits_both() -> None:
    """Where the sign is unknown a bare integer must fit both readings; the typed forms are named."""
    signature = _ptx_like((4, "value", False))
    data, description = signature.encode(0, 2**31 - 1)
    assert data == b"\xff\xff\xff\x7f"
    assert description.scalar is None
    signature.check((description,))
    for number in (-5, 3_000_000_000):
        with pytest.raises(ArgumentRangeError, match=r"0 to 2147483647.*mg\.i32.*mg\.u32") as caught:
            signature.encode(0, number)
        assert caught.value.expected == (0, 2**31 - 1)
    with pytest.raises(ArgumentKindError):
        signature.encode(0, 1.5)


@pytest.mark.parametrize(
    ("signature", "given_", "words"),
    [
        (_ptx_like((8, None, False)), 5, r"mg\.i64.*mg\.u64.*DevicePtr"),
        (_ptx_like((8, None, None)), 5, r"mg\.u64\(n\).*DevicePtr"),
        (_ptx_like((8, None, None)), 1.5, r"mg\.f64"),
        (_ptx_like((4, "value", None)), 5, r"mg\.i32\(n\), mg\.f32"),
        (_ptx_like((1, "value", False)), 1, "bool from char"),
        (_ptx_like((1, "value", False)), True, "bool from char"),
        (_ptx_like((2, "value", True)), 1.5, r"mg\.f16 or mg\.bf16"),
        (_ptx_like((12, "value", None)), 5, "say the type"),
        (UNKNOWN, 5, "nothing tells its kind"),
        (UNKNOWN, 1.5, "nothing tells its kind"),
    ],
)
def test_a_bare_number_for_an_unknown_kind_is_refused(signature: KernelSignature, given_: object, words: str) -> None:
    """Where the kind is not known a bare number is not guessed; the error says what to write."""
    with pytest.raises(ArgumentKindError, match=words):
        signature.encode(0, given_)


@pytest.mark.parametrize(
    ("given_", "data", "scalar"),
    [
        (u64(5), b"\x05" + bytes(7), u64),
        (np.int32(-2), b"\xfe\xff\xff\xff", i32),
        (np.float64(0.5), bytes(6) + b"\xe0\x3f", f64),
        (ctypes.c_uint8(9), b"\x09", u8),
        (np.array(3, "u2"), b"\x03\x00", u16),
    ],
    ids=repr,
)
@pytest.mark.parametrize("signature", [UNKNOWN, _declared("float x")], ids=["unknown", "float"])
def test_typed_values_keep_their_type(
    signature: KernelSignature, given_: object, data: bytes, scalar: ScalarType
) -> None:
    """A typed value is not converted to the parameter's type: the check compares the two."""
    assert signature.encode(0, given_) == (data, value(scalar, signature.parameter(0) and "x"))


def test_a_numpy_double_for_a_float_is_refused_by_the_check() -> None:
    """np.float64 carries 8 bytes, so it is not quietly narrowed to a float parameter."""
    signature = _declared("float x")
    _, description = signature.encode(0, np.float64(2.0))
    with pytest.raises(ArgumentSizeError, match="4 bytes expected, 8 given"):
        signature.check((description,))


def test_pointers_structures_and_bytes_are_encoded() -> None:
    """A DevicePtr is its address, a structure its C bytes, bytes themselves."""
    assert UNKNOWN.encode(0, DevicePtr(0x1234)) == ((0x1234).to_bytes(8, "little"), pointer())
    pair = np.array((7, 0.5), np.dtype([("n", "i4"), ("x", "f8")], align=True))[()]
    data, description = UNKNOWN.encode(0, pair)
    assert data == pair.tobytes()
    assert (description.nbytes, description.align, description.opaque, description.structured) == (16, 8, True, True)
    assert UNKNOWN.encode(2, bytearray(b"abc"))[0] == b"abc"
    with pytest.raises(ArgumentKindError, match="packed=True"):
        UNKNOWN.encode(0, np.array((7, 0.5), [("n", "i4"), ("x", "f8")])[()])


def test_an_array_for_a_value_says_so() -> None:
    """An array where a number is declared is refused naming the slot."""
    with pytest.raises(ArgumentKindError, match=r"argument 0 \(n\).*ndarray"):
        _declared("int n").encode(0, np.zeros(3, "i4"))


def test_a_position_beyond_the_last_is_a_count_error() -> None:
    """Encoding more values than there are parameters is the wrong count."""
    with pytest.raises(ArgumentCountError, match=r"expects 1 argument \(int n\), got at least 2"):
        _declared("int n").encode(1, 5)


# ---------------------------------------------------------------- by name


def test_names_are_positions() -> None:
    """Each name has its index; a name nearly right is suggested; the list is given."""
    assert [NORM.index_of(name) for name in ("x", "y", "hidden", "eps")] == [0, 1, 2, 3]
    with pytest.raises(ArgumentCountError, match=r"did you mean 'hidden'.*x, y, hidden, eps") as caught:
        NORM.index_of("hiden")
    assert (caught.value.name, caught.value.expected) == ("hiden", ("x", "y", "hidden", "eps"))


def test_a_parameter_is_had_by_position() -> None:
    """parameter(i) is the i-th one, and None beyond either end and where nothing is known."""
    assert [NORM.parameter(index) and NORM.parameter(index).name for index in range(-1, 5)] == [  # type: ignore[union-attr]
        None,
        "x",
        "y",
        "hidden",
        "eps",
        None,
    ]
    assert UNKNOWN.parameter(0) is None


@pytest.mark.parametrize("signature", [UNKNOWN, _ptx_like((4, "value", False)), _declared("int, float")])
def test_names_that_nobody_told_are_not_guessed(signature: KernelSignature) -> None:
    """Where no source tells names, a name is refused with the way to declare them."""
    with pytest.raises(ArgumentCountError, match=r"not known.*signature="):
        signature.index_of("n")
