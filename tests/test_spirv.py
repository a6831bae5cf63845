"""SPIR-V read from its words: kernels, parameters, work-group sizes, and damage refused with the word it is in."""

from __future__ import annotations

import struct
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_gpu_runtime.driver import CodeImage, KernelBinding
from metrale_gpu_runtime.errors import ArgumentKindError, ModuleLoadError
from metrale_gpu_runtime.modules.described import describe, merged_signature
from metrale_gpu_runtime.modules.parts import Part
from metrale_gpu_runtime.modules.sources import CodeInput
from metrale_gpu_runtime.scalars import f16, f32, f64, i32, u16, u32
from metrale_gpu_runtime.signature import ArgumentDescription
from metrale_gpu_runtime.signature.spirv_signature import from_spirv
from metrale_gpu_runtime.spirv import read_spirv

CODE = Path(__file__).parent / "spirv_code"
TRANSLATED, HANDMADE = ((CODE / name).read_bytes() for name in ("translated.spv", "handmade.spv"))

# ------------------------------------------------ an assembler of a few lines


def text(string):
    data = string.encode() + b"\0"
    data += b"\0" * (-len(data) % 4)
    return struct.unpack(f"<{len(data) // 4}I", data)


def op(number, *operands):
    words = [word for each in operands for word in (text(each) if isinstance(each, str) else (each,))]
    return ((len(words) + 1) << 16 | number, *words)


def assembled(*instructions, bound=100, version=0x00010000, order="<"):
    words = (0x07230203, version, 0, bound, 0, *(word for each in instructions for word in each))
    return struct.pack(f"{order}{len(words)}I", *words)


HEAD = (op(17, 6), op(14, 2, 2))
# A kernel "k" of one parameter of type 10: id 1 its type, 2 void, 3 the function, 4 its parameter.
KERNEL = op(15, 6, 3, "k")


def with_parameter(*types, decorations=(), extra=(), head=HEAD):
    return assembled(
        *head,
        KERNEL,
        *extra,
        *decorations,
        op(19, 2),
        *types,
        op(33, 1, 2, 10),
        op(54, 2, 3, 0, 1),
        op(55, 10, 4),
        op(56),
    )


def parameter(*types, **more):
    return read_spirv(with_parameter(*types, **more)).kernels["k"].parameters[0]


def refusal(data):
    with pytest.raises(ModuleLoadError) as info:
        read_spirv(data, "m")
    assert "'m'" in str(info.value)
    return str(info.value)


# ------------------------------------------------ what real tools make


def test_what_a_translator_makes():
    """Clang's kernels by way of the LLVM translator: spaces, sizes of structures by value, vectors of three, floats."""
    module = read_spirv(TRANSLATED)
    assert (module.version, module.language, module.language_version, module.addressing) == (
        (1, 0),
        "OpenCL C",
        200000,
        "Physical64",
    )
    assert list(module.kernels) == ["mixed", "fixed", "nothing"]
    found = module.kernels["mixed"].parameters
    assert [(each.kind, each.nbytes, each.align, each.scalar, each.space, each.constant) for each in found] == [
        ("pointer", 4, 4, f32, "global", None),
        ("pointer", 16, 16, None, "global", True),
        ("pointer", 4, 4, None, "constant", True),
        ("local", 8, 8, f64, "local", True),
        ("value", 4, 4, f32, None, None),
        ("value", 4, 4, None, None, None),
        ("value", 1, 1, None, None, None),
        ("value", 2, 2, f16, None, None),
        ("value", 8, 8, None, None, None),
        ("value", 32, 32, None, None, None),
        ("value", 24, 8, None, None, None),
        ("value", 32, 16, None, None, None),
    ]
    assert (found[1].element, found[1].lanes, found[9].width, found[9].lanes) == (f32, 4, 64, 3)
    assert module.kernels["fixed"].required_block == (32, 2, 1)
    assert module.kernels["fixed"].parameters[1].kind == "object"
    assert module.kernels["nothing"].hinted_block == (64, 1, 1)
    assert (module.kernels["nothing"].parameters, module.kernels["nothing"].required_block) == ((), None)


def test_what_translators_rarely_write():
    """Names from the function behind an entry point, types kept as a string, packed structures, decoration groups,
    extents by id, pointers into structures that hold themselves."""
    module = read_spirv(HANDMADE)
    spread, packed = module.kernels["spread"], module.kernels["packed"]
    assert [(each.name, each.type_name) for each in spread.parameters] == [
        ("out", "float8*"),
        ("few", "ushort"),
        ("low", "half"),
    ]
    assert (spread.required_block, spread.hinted_block) == ((16, 3, 2), None)
    assert (packed.required_block, packed.hinted_block) == (None, (128, 1, 1))
    record, link = packed.parameters
    assert (record.name, record.kind, record.nbytes, record.align) == ("bytes", "value", 2 + 8 + 5 * 2, 1)
    assert (link.kind, link.nbytes, link.space, link.constant) == ("pointer", 16, "global", True)


# ------------------------------------------------ types


@pytest.mark.parametrize(
    ("types", "kind", "nbytes", "align"),
    [
        ([op(21, 10, 16, 0)], "value", 2, 2),
        ([op(22, 10, 64)], "value", 8, 8),
        ([op(21, 11, 8, 0), op(23, 10, 11, 3)], "value", 4, 4),
        ([op(22, 11, 32), op(23, 10, 11, 16)], "value", 64, 64),
        ([op(21, 11, 32, 0), op(22, 12, 64), op(30, 10, 11, 12, 11)], "value", 24, 8),
        ([op(21, 11, 32, 0), op(43, 11, 13, 7), op(28, 10, 11, 13)], "value", 28, 4),
        ([op(22, 11, 32), op(23, 12, 11, 3), op(30, 10, 12, 11)], "value", 32, 16),
        ([op(20, 10)], "value", None, None),
        ([op(21, 10, 24, 0)], "value", None, None),
        ([op(26, 10)], "object", None, None),
        ([op(31, 11, "opencl.thing"), op(32, 10, 0, 11)], "object", None, None),
        ([op(22, 11, 32), op(32, 10, 8, 11)], "pointer", 4, 4),
        ([op(4417, 10, 5)], "pointer", None, None),
    ],
)
def test_types_of_parameters(types, kind, nbytes, align):
    """Sizes and alignments are OpenCL's; what has none in memory says so."""
    found = parameter(*types)
    assert (found.kind, found.nbytes, found.align) == (kind, nbytes, align)


def test_decorations_of_structures_and_parameters():
    """CPacked packs, Offset places, and the alignment of a structure by value is the parameter's own."""
    types = [op(21, 11, 8, 0), op(22, 12, 64), op(30, 13, 11, 12), op(32, 10, 7, 13)]
    by_value = op(71, 4, 38, 2)
    assert (parameter(*types, decorations=[by_value]).nbytes, parameter(*types, decorations=[by_value]).align) == (
        16,
        8,
    )
    packed = parameter(*types, decorations=[by_value, op(71, 13, 10)])
    assert (packed.nbytes, packed.align) == (9, 1)
    placed = parameter(*types, decorations=[by_value, op(72, 13, 1, 35, 24), op(71, 4, 44, 32)])
    assert (placed.nbytes, placed.align) == (32, 32)


def test_floats_of_other_formats():
    """A 16-bit float with an encoding of its own is no half."""
    assert parameter(op(22, 10, 16)).scalar == f16
    assert parameter(op(22, 10, 16, 0)).scalar.name == "bf16"
    assert parameter(op(22, 10, 8, 4214)).scalar is None


def test_both_byte_orders_are_read():
    """A module written on a machine of the other byte order is the same module."""
    little = read_spirv(assembled(*HEAD, op(5, 1, "an odd name"), op(3, 4, 210000)))
    assert little == read_spirv(assembled(*HEAD, op(5, 1, "an odd name"), op(3, 4, 210000), order=">"))
    assert (little.language, little.language_version, dict(little.kernels)) == ("OpenCL C++", 210000, {})


def test_entry_points_that_are_no_kernels():
    """A shader for graphics has no kernels, and what it has is told."""
    module = read_spirv(assembled(op(14, 0, 1), op(15, 5, 3, "main"), op(15, 77, 3, "odd")))
    assert (dict(module.kernels), module.others, module.addressing) == (
        {},
        (("GLCompute", "main"), ("model 77", "odd")),
        "Logical",
    )


def test_pointers_of_32_bits():
    """Structures that hold pointers are as large as the module's addresses make them."""
    types = [op(22, 11, 32), op(32, 12, 5, 11), op(30, 13, 12, 12), op(32, 10, 7, 13)]
    decorations = [op(71, 4, 38, 2)]
    assert parameter(*types, decorations=decorations).nbytes == 16
    assert parameter(*types, decorations=decorations, head=(op(14, 1, 2),)).nbytes == 8


# ------------------------------------------------ damage


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", ("0 bytes", "header")),
        (assembled(*HEAD) + b"\0", ("whole number of words",)),
        (b"\x03\x02\x23\x08" + assembled(*HEAD)[4:], ("no SPIR-V", "03 02 23 08")),
        (assembled(*HEAD, version=0x00020000), ("version",)),
        (assembled(*HEAD, bound=0), ("word 3",)),
        (assembled(op(17, 6)), ("addressing model",)),
        (assembled(*HEAD, (0,)), ("word 10", "no words")),
        (assembled(*HEAD, (5 << 16 | 5, 1, 0)), ("word 10", "5 words", "3 are left")),
        (assembled(*HEAD, op(5, 200, "x")), ("word 11", "id 200", "99")),
        (assembled(*HEAD, op(5, 0, "x")), ("word 11", "id 0")),
        (assembled(*HEAD, op(5)), ("word 10", "operand is missing")),
        (assembled(*HEAD, op(19, 2, 3)), ("word 10", "1 too many")),
        (assembled(*HEAD, (3 << 16 | 5, 1, 0x61616161)), ("word 12", "does not end")),
        (assembled(*HEAD, (3 << 16 | 5, 1, 0x0000FFFF)), ("word 12", "UTF-8")),
        (assembled(*HEAD, op(19, 2), op(19, 2)), ("word 12", "id 2", "again")),
        (assembled(*HEAD, KERNEL), ("word 10", "'k'", "id 3", "no function")),
        (assembled(*HEAD, op(19, 2), op(54, 2, 3, 0, 1)), ("word 12", "does not end")),
        (assembled(*HEAD, op(55, 2, 3)), ("word 10", "outside")),
        (assembled(*HEAD, op(54, 2, 3, 0, 1), op(54, 2, 4, 0, 1)), ("word 15", "within another")),
        (assembled(*HEAD, KERNEL, op(54, 2, 3, 0, 1), op(56)), ("word 14", "id 1", "no function's type")),
        (
            assembled(*HEAD, KERNEL, op(19, 2), op(33, 1, 2, 2), op(54, 2, 3, 0, 1), op(56)),
            ("'k'", "not those of its type"),
        ),
        (with_parameter(op(19, 9)), ("id 10", "no type")),
        (with_parameter(op(30, 10, 10)), ("deep",)),
        (with_parameter(op(22, 11, 32), op(23, 10, 11, 1)), ("1 components",)),
        (with_parameter(op(22, 11, 32), op(32, 10, 7, 11)), ("own memory",)),
        (with_parameter(op(22, 10, 32), extra=[op(16, 3, 17, 4, 4)]), ("2 extents",)),
        (with_parameter(op(22, 10, 32), extra=[KERNEL]), ("'k'", "twice")),
    ],
)
def test_damage_is_refused_with_its_word(data, words):
    """What is damaged is refused with the place of the word and what is wrong with it."""
    message = refusal(data)
    assert all(word in message for word in words), message


def test_extents_that_are_specialised_later():
    """A work-group's size by constants that are no plain ones is not known."""
    ints = [op(21, 20, 32, 0), op(43, 20, 21, 8), op(43, 20, 22, 2), op(22, 10, 32)]
    known = with_parameter(*ints, extra=[op(331, 3, 38, 21, 22, 22)])
    assert read_spirv(known).kernels["k"].required_block == (8, 2, 2)
    open_ = with_parameter(*ints, extra=[op(331, 3, 38, 21, 22, 23)])
    assert read_spirv(open_).kernels["k"].required_block is None


@given(st.sampled_from([TRANSLATED, HANDMADE]), st.data())
def test_damaged_modules_are_read_or_refused(data, draw):
    """A real module with words changed, cut out or put in is read or refused, never anything else."""
    words = list(struct.unpack(f"<{len(data) // 4}I", data))
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, len(words) - 1))
        number = draw.draw(
            st.sampled_from([0, 1, 2, 0xFFFF, 0xFFFFFFFF, words[at] ^ 1 << 16]) | st.integers(0, 2**32 - 1)
        )
        what = draw.draw(st.sampled_from(["change", "change", "cut", "put"]))
        if what == "change":
            words[at] = number
        elif what == "put":
            words.insert(at, number)
        elif len(words) > 1:
            del words[at : at + draw.draw(st.integers(1, 9))]
        if not words:
            break
    damaged = struct.pack(f"<{len(words)}I", *words)
    with suppress(ModuleLoadError):
        for kernel in read_spirv(damaged, "m").kernels.values():
            str(from_spirv(kernel))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    """Bytes of any kind behind a sound header are read or refused."""
    for whole in (data, assembled(*HEAD) + data):
        with suppress(ModuleLoadError):
            read_spirv(whole)


# ------------------------------------------------ as a signature


def test_a_signature_from_words():
    """Floats are known exactly, integers by their size; what is behind a pointer to integers is not known."""
    mixed = from_spirv(read_spirv(TRANSLATED).kernels["mixed"])
    assert mixed.sources == ("SPIR-V",)
    y, x, table, tile, scale, count, small = mixed.parameters[:7]
    assert (y.kind, y.element, x.element, table.element, tile.space) == ("pointer", f32, f32, None, "local")
    assert (scale.scalar, count.readings(), [each.name for each in small.readings()]) == (f32, (i32, u32), ["i8", "u8"])
    named = from_spirv(read_spirv(HANDMADE).kernels["spread"])
    assert str(named) == "void spread(global float8* out, ushort few, half low)  [SPIR-V]"
    assert named.parameters[1].scalar == u16


def described(data, bindings=None):
    part = Part("m", CodeInput("spirv", data))
    return describe("m", [part], CodeImage("m", "spirv", data), None, [])


def test_modules_list_their_kernels_and_required_blocks():
    """A module in SPIR-V lists its kernels, and says what block one was compiled for."""
    module = described(TRANSLATED)
    assert module.symbols == ("mixed", "fixed", "nothing")
    assert module.block_bounds("fixed") == ((32, 2, 1), None)
    assert (module.block_bounds("mixed"), module.notes) == ((None, None), [])


def test_argument_info_goes_before_and_is_held_against_the_words():
    """Names and signs come from argument info; where it contradicts the binary it is set aside with a note."""
    module = described(HANDMADE)
    info = [
        KernelBinding("pointer", 0, "given", "read-write", 32, 32, "float8", "global"),
        KernelBinding("value", 1, "few", "read", 2, 2, "ushort"),
        KernelBinding("value", 2, "low", "read", 2, 2, "half"),
    ]
    merged = merged_signature("spread", module.signatures("spread", info), module.notes)
    assert (merged.sources, merged.parameters[0].name, module.notes) == (
        ("OpenCL argument info", "SPIR-V"),
        "given",
        [],
    )
    wrong = [*info[:2], replace(info[2], type_name="float", nbytes=4, align=4)]
    kept = merged_signature("spread", module.signatures("spread", wrong), module.notes)
    assert (kept.sources, len(module.notes), "size in bytes is 4" in module.notes[0]) == (("SPIR-V",), 1, True)


def test_an_image_is_refused_as_an_argument():
    """A parameter that is an image takes no argument, and says so."""
    fixed = from_spirv(read_spirv(TRANSLATED).kernels["fixed"])
    pointer = ArgumentDescription.of_pointer()
    with pytest.raises(ArgumentKindError, match="an image"):
        fixed.check((pointer, pointer))


def test_a_binary_that_is_not_understood_becomes_a_note():
    """A driver that takes a module has the last word: what could not be read of it is a note."""
    module = described(HANDMADE[:-4])
    assert (module.spirv, module.symbols, module.signatures("spread")) == (None, None, [])
    assert "word" in module.notes[0]
