"""The metadata of real code objects, made by clang, as values and as signatures."""

from __future__ import annotations

import subprocess
import sys

import msgpack
import pytest
from amd_objects import code_object

from metrale_gpu_runtime.code_objects import read_code_object
from metrale_gpu_runtime.errors import BackendUnavailable, ModuleLoadError, SignatureError
from metrale_gpu_runtime.signature import from_code_object, from_mangled, merge, parse_declaration

ADD = "_Z3addIdEvPT_S0_"


def kernels(name="kernels.gfx90a"):
    return read_code_object(code_object(name), "m").kernels


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("kernels.gfx90a", "gfx90a"),
        ("kernels.gfx1100", "gfx1100"),
        ("kernels.gfx90a-xnack", "gfx90a:xnack+"),
        ("kernels.version4", "gfx90a"),
        ("typed.gfx906", "gfx906"),
    ],
)
def test_a_code_object_tells_its_target(name, target):
    """The target of every version of code objects is read, features included."""
    assert str(read_code_object(code_object(name), "m").target) == target


@pytest.mark.parametrize("name", ["kernels.gfx90a", "kernels.gfx1100", "kernels.version4"])
def test_a_code_object_tells_its_kernels(name):
    """All kernels are listed by the names that the driver knows them by."""
    assert set(kernels(name)) == {"scale", ADD, "nothing", "tables"}


@pytest.mark.parametrize("name", ["kernels.gfx90a", "kernels.gfx1100", "kernels.version4"])
def test_offsets_and_sizes_are_those_of_c(name):
    """Each argument that a caller gives has its place and size; what the runtime fills in is left out."""
    scale = kernels(name)["scale"]
    places = [(each.offset, each.nbytes, each.value_kind) for each in scale.given_arguments]
    assert places == [
        (0, 8, "global_buffer"),
        (8, 8, "global_buffer"),
        (16, 4, "by_value"),
        (20, 4, "by_value"),
        (24, 1, "by_value"),
        (32, 16, "by_value"),
    ]
    hidden = len(scale.arguments) - len(scale.given_arguments)
    assert (hidden > 0) is (name != "kernels.version4")


def test_resources_are_told():
    """Wavefront, registers, fixed shared memory and the bounds of the block come from the metadata."""
    gfx90a, gfx1100 = kernels("kernels.gfx90a"), kernels("kernels.gfx1100")
    assert (gfx90a["scale"].wavefront_size, gfx1100["scale"].wavefront_size) == (64, 32)
    assert gfx90a["nothing"].max_threads_per_block == 96
    assert gfx90a["scale"].max_threads_per_block == 1024
    assert gfx90a["tables"].static_shared_mem == 33 * 4
    assert gfx90a["scale"].vector_registers > 0
    assert kernels("typed.gfx906")["blend"].required_block == (32, 3, 2)


def test_the_signature_knows_places_and_pointers():
    """A signature from metadata says where each parameter lies and whether it is a pointer, and nothing it cannot know."""
    signature = from_code_object(kernels()["scale"])
    assert signature.sources == ("code object",)
    assert [(p.offset, p.nbytes, p.kind) for p in signature.parameters] == [
        (0, 8, "pointer"),
        (8, 8, "pointer"),
        (16, 4, "value"),
        (20, 4, "value"),
        (24, 1, "value"),
        (32, 16, "value"),
    ]
    assert all(p.scalar is None and p.signed is None and p.name is None for p in signature.parameters)
    assert signature.parameters[3].floating is None
    assert from_code_object(kernels()["nothing"]).parameters == ()


def test_a_mangled_name_adds_types_to_the_places():
    """The C++ name's types and the metadata's offsets become one signature."""
    merged = merge(from_mangled(ADD), from_code_object(kernels()[ADD]))
    pointer, step = merged.parameters
    assert (pointer.kind, pointer.element.name, pointer.offset) == ("pointer", "f64", 0)
    assert (step.scalar.name, step.offset) == ("f64", 8)
    assert merged.sources == ("mangled name", "code object")


@pytest.mark.parametrize(
    "declared",
    [
        "float* out, const float* in, unsigned n, float factor, unsigned char flag",
        "float* out, const float* in, unsigned n, double factor, unsigned char flag, struct(16, 8) pair",
        "float* out, unsigned long long in, unsigned n, float factor, unsigned char flag, struct(16, 8) pair",
        "float* out, const float* in, unsigned n, float factor, unsigned short flag, struct(16, 8) pair",
    ],
)
def test_a_declaration_that_contradicts_the_code_is_refused(declared):
    """A declared signature that differs from the code object in count, size or kind raises."""
    with pytest.raises(SignatureError):
        merge(parse_declaration(declared, kernel="scale"), from_code_object(kernels()["scale"]))


def test_a_declaration_that_agrees_takes_the_code_objects_places():
    """The declared names and types stay, the offsets come from the code."""
    declared = "float* out, const float* in, unsigned n, float factor, unsigned char flag, struct(16, 8) pair"
    merged = merge(parse_declaration(declared, kernel="scale"), from_code_object(kernels()["scale"]))
    assert [(p.name, p.offset) for p in merged.parameters] == [
        ("out", 0),
        ("in", 8),
        ("n", 16),
        ("factor", 20),
        ("flag", 24),
        ("pair", 32),
    ]


def test_names_and_types_are_taken_where_the_compiler_wrote_them():
    """OpenCL C with argument information names its parameters; a type is believed where its size agrees."""
    x, out, n, weights, part = from_code_object(kernels("typed.gfx906")["blend"]).parameters
    assert [p.name for p in (x, out, n, weights, part)] == ["x", "out", "n", "weights", "part"]
    assert (x.element.name, x.constant, out.element.name) == ("f32", True, "u16")
    assert (n.scalar.name, n.kind) == ("u32", "value")
    assert (weights.nbytes, weights.kind) == (32, "value")
    assert (part.space, part.nbytes) == ("shared", 4)


def _metadata(data):
    from io import BytesIO

    from elftools.elf.elffile import ELFFile

    for segment in ELFFile(BytesIO(data)).iter_segments(type="PT_NOTE"):
        for note in segment.iter_notes():
            return msgpack.unpackb(note["n_descdata"])
    raise AssertionError("no note")


@pytest.mark.parametrize(
    ("what", "change"),
    [
        (".offset", lambda m: m["amdhsa.kernels"][0][".args"][0].update({".offset": True})),
        (".name", lambda m: m["amdhsa.kernels"][0].update({".name": 7 * ["x"], ".symbol": "s"})),
    ],
)
def test_a_wrong_type_in_the_metadata_is_refused(what, change):
    """A field that is no number or no text where one belongs is named; nothing is guessed in its place."""
    from metrale_gpu_runtime.code_objects.metadata import _Reader

    metadata = _metadata(code_object("kernels.gfx90a"))
    change(metadata)
    with pytest.raises(ModuleLoadError, match=what.replace(".", r"\.")):
        _Reader("m").read(msgpack.packb(metadata))


def test_what_is_no_code_object_is_refused_by_name():
    """Text, an ELF file for another machine and an empty note are refused, each with what it is."""
    data = bytearray(code_object("kernels.gfx90a"))
    with pytest.raises(ModuleLoadError, match="ELF structure is damaged"):
        read_code_object(b"not an ELF file at all", "m")
    data[18:20] = (62).to_bytes(2, "little")
    with pytest.raises(ModuleLoadError, match="EM_X86_64, not for AMD"):
        read_code_object(bytes(data), "m")
    with pytest.raises(ModuleLoadError, match="module 'm'"):
        read_code_object(code_object("kernels.gfx90a")[:300], "m")


def test_without_the_readers_the_remedy_is_named(monkeypatch):
    """Without pyelftools or msgpack the error says what to install."""
    for missing in ("elftools.elf.elffile", "msgpack"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, missing, None)
            with pytest.raises(BackendUnavailable, match=r"metrale-gpu-runtime\[hip\]"):
                read_code_object(code_object("kernels.gfx90a"), "m")


def test_importing_the_reader_loads_no_library():
    """Importing the reader imports neither pyelftools nor msgpack."""
    code = (
        "import sys, metrale_gpu_runtime.code_objects, metrale_gpu_runtime.signature;"
        "sys.exit(any(m in sys.modules for m in ('elftools', 'msgpack', 'zlib_ng')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
