"""What a compilation depends on: every header that is read, and nothing is kept where that cannot be told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from metrale_gpu_runtime.modules.cache.headers import HeadersUnknown, folders_of, names_in, user_headers
from metrale_gpu_runtime.modules.cache.kept import KeptCode
from metrale_gpu_runtime.modules.cache.keys import key_of, key_of_source
from metrale_gpu_runtime.modules.cache.toolkit import toolkit_headers


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('#include "a.h"', [('"', "a.h")]),
        ("#include <a/b.h>\n", [("<", "a/b.h")]),
        ("  #  include\t<a.h>  // why", [("<", "a.h")]),
        ('#include/* of ours */"a.h"', [('"', "a.h")]),
        ('/* first */ # /* x */ include "a.h"', [('"', "a.h")]),
        ('/* over\n two lines */ #include "a.h"', [('"', "a.h")]),
        ('#include \\\n "a.h"', [('"', "a.h")]),
        ('#inc\\\nlude "a.h"', [('"', "a.h")]),
        ('%:include "a.h"', [('"', "a.h")]),
        ('??=include "a.h"', [('"', "a.h")]),
        ('#include_next <a.h>\n#import "b.h"', [("<", "a.h"), ('"', "b.h")]),
        ("#if 0\n#include <never.h>\n#endif", [("<", "never.h")]),
        ('#if __has_include("a.h")\n#endif', [('"', "a.h")]),
        ("#if defined(__has_include) && __has_include ( <a.h> )\n#endif", [("<", "a.h")]),
        ('const char* s = "# include"; x = a # b', []),
        ("#includes nothing\n#define include_all 1", []),
        ('#include "a.h"\n#include "a.h"\n', [('"', "a.h")]),
        ('\ufeff#include "a.h"\n', [('"', "a.h")]),
        ('// one\r#include "a.h"\r\n#inc\\\r\nlude "b.h"', [('"', "a.h"), ('"', "b.h")]),
        ('\0#\0include\0"a.h"', [('"', "a.h")]),
        ('#if __has_include/* of ours */(/**/"a.h")\n#endif', [('"', "a.h")]),
        ("#ifdef __has_include\n#endif\n#if !defined __has_include || !defined( __has_embed )\n#endif", []),
    ],
)
def test_every_way_to_name_a_header_is_read(text: str, names: list[tuple[str, str]]) -> None:
    """White space, comments, line ends, marks, splices, digraphs, trigraphs and conditions hide no header."""
    assert list(names_in(text)) == names


@pytest.mark.parametrize(
    "text",
    [
        "#include HEADER",
        "#\\\ninclude HEADER",
        "/* a */ #include STRINGIFY(a.h)",
        "#if __has_include(HEADER)\n#endif",
        '#embed "table.bin"',
        '#define HAS __has_include\n#if HAS("a.h")\n#endif',
    ],
)
def test_a_header_named_by_a_macro_is_not_guessed(text: str) -> None:
    """Only the compiler knows which one it is, so there is no key."""
    with pytest.raises(HeadersUnknown):
        names_in(text)
    assert key_of_source("nvrtc", [], text, (), ()).key is None


@pytest.mark.parametrize("clock", ["__DATE__", "__TIME__", "__TIMESTAMP__"])
def test_a_text_that_asks_what_time_it_is_gives_no_key(clock: str, tmp_path: Path) -> None:
    """It is another text at each compilation, also where a header asks."""
    (tmp_path / "when.h").write_text(f"const char when[] = {clock};\n")
    assert key_of_source("opencl", [], f"const char when[] = {clock};\n", (), ()).key is None
    assert key_of_source("opencl", [], "#include <when.h>\n", (), [tmp_path]).key is None
    assert key_of_source("opencl", [], f"const char when[] = {clock}MORE;\n", (), ()).key is not None


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("opencl", "POCL_EXTRA_BUILD_FLAGS"), ("opencl", "AMD_OCL_BUILD_OPTIONS"), ("opencl", "AMD_OCL_BUILD_OPTIONS_APPEND"),
        ("driver", "HIPRTC_COMPILE_OPTIONS_APPEND"),
    ],
)  # fmt: skip
def test_options_that_a_compiler_takes_from_the_environment_give_no_key(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what they read nothing is known here; compilers of other kinds do not look at them."""
    assert key_of_source(kind, [], "int x;", (), ()).key is not None
    assert KeptCode().entry(kind, "x", ["code"])._key is not None
    monkeypatch.setenv(name, "-DX=1")
    assert key_of_source(kind, [], "int x;", (), ()).key is None
    assert KeptCode().entry(kind, "x", ["code"])._key is None
    assert key_of_source("nvrtc", [], "int x;", (), ()).key is not None


def test_the_working_folder_counts_for_every_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PoCL's compiler looks there for a name in angle brackets too, and from headers in other folders; a compiler that does
    not is still held to its own header of that name."""
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text("1")
    monkeypatch.chdir(tmp_path)
    found = user_headers("#include <a.h>\n#include <b.h>\n", [str(tmp_path / "inc")])
    assert sorted(found.digests) == [str(tmp_path / "b.h"), str(tmp_path / "inc" / "a.h")]
    assert found.elsewhere == [("<", "b.h"), ('"', "b.h")]


@pytest.mark.parametrize(
    "option",
    [
        "-include=x.h", "--pre-include=x.h", "-includex.h", "-imacros x", "-isystem", "-isystem/x", "-iquote/x", "-idirafter/x",
        "--sysroot=/x", "-isysroot", "@options.txt", "--options-file=x", "-optf", "-Xcompiler", "-Xclang", "--use-pch=x",
        "-pch", "-fplugin=x.so", "-fmodule-map-file=x", "-B/x", "--rocm-path=/x", "-mlink-builtin-bitcode", "-resource-dir=/x",
        "-DA=1 -I/somewhere", "-fprofile-use=x", "--config=x",
    ],
)  # fmt: skip
def test_an_option_that_reads_files_of_its_own_gives_no_key(option: str) -> None:
    """What it reads is not looked for here."""
    assert key_of_source("driver", [], "int x;", (option,), ()).key is None


@pytest.mark.parametrize(
    "option",
    ["-DNAME=1", "-D", "-O3", "--use_fast_math", "-std=c++17", "-arch=sm_90", "-cl-std=CL3.0", "-cl-fast-relaxed-math",
     "-rdc=true", "-G", "-lineinfo", "--maxrregcount=32", "-ffp-contract=off", "-fno-math-errno", "-w", "-Werror", "-dlto"],
)  # fmt: skip
def test_other_options_are_part_of_the_key(option: str) -> None:
    """They change it, and keep it."""
    with_it = key_of_source("driver", [], "int x;", (option,), ()).key
    assert with_it is not None
    assert with_it == key_of_source("driver", [], "int x;", (option,), ()).key
    assert with_it != key_of_source("driver", [], "int x;", (), ()).key


def test_headers_are_followed_through_headers(tmp_path: Path) -> None:
    """A header of a header counts, found beside it; what is in no folder is the compiler's."""
    (tmp_path / "inc" / "deep").mkdir(parents=True)
    (tmp_path / "inc" / "a.h").write_text('#include "deep/b.h"\n#include <cuda_fp16.h>\n')
    (tmp_path / "inc" / "deep" / "b.h").write_text('#include "c.h"\n')
    (tmp_path / "inc" / "deep" / "c.h").write_text("int c;\n")
    found = user_headers("#include <a.h>", [str(tmp_path / "inc")])
    assert sorted(found.digests) == [str(tmp_path / "inc" / each) for each in ("a.h", "deep/b.h", "deep/c.h")]
    assert found.elsewhere == [("<", "cuda_fp16.h")]
    before = key_of_source("nvrtc", [], "#include <a.h>", (), [tmp_path / "inc"])
    (tmp_path / "inc" / "deep" / "c.h").write_text("int d;\n")
    after = key_of_source("nvrtc", [], "#include <a.h>", (), [tmp_path / "inc"])
    assert before.key != after.key
    (tmp_path / "inc" / "deep" / "c.h").write_text("#include WHICH\n")
    assert key_of_source("nvrtc", [], "#include <a.h>", (), [tmp_path / "inc"]).key is None


def test_folders_of_the_environment_are_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CPATH and its kin name folders to compilers of the Clang family."""
    (tmp_path / "e.h").write_text("1")
    monkeypatch.setenv("CPATH", f"/nowhere{os.pathsep}{tmp_path}")
    before = key_of_source("driver", [], "#include <e.h>", (), ()).key
    (tmp_path / "e.h").write_text("2")
    assert before != key_of_source("driver", [], "#include <e.h>", (), ()).key
    assert folders_of(("-I", "x", "-Iy"), ["own"]) == ["own", "x", "y", "/nowhere", str(tmp_path)]


def test_a_header_that_cannot_be_read_gives_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler is to say what is wrong."""
    (tmp_path / "a.h").write_text("1")

    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr("builtins.open", refused)
    assert key_of_source("driver", [], '#include "a.h"', (), [tmp_path]).key is None


def test_no_two_lists_of_parts_have_one_key() -> None:
    """Where a part ends counts, and its kind, and whether it is there at all."""
    lists = [["ab", "c"], ["a", "bc"], ["abc"], ["ab", "c", ""], ["", "ab", "c"], [b"ab", "d"]]
    keys = {key_of(kind, each) for each in lists for kind in ("cpu", "nvrtc")}
    assert len(keys) == 2 * len(lists)
    assert key_of("cpu", ["ab"]) == key_of("cpu", [b"ab"])


def test_a_toolkits_headers_are_held_to_what_they_were(tmp_path: Path) -> None:
    """All that are reached are listed; another time alone is no change, other contents are, and so is one that is gone."""
    first, second = tmp_path / "first", tmp_path / "second"
    for each in (first, second):
        each.mkdir()
    (first / "a.h").write_text("#include <b.h>\n#include COMPUTED\n")
    (first / "b.h").write_text('#include "beside.h"\n')
    (second / "b.h").write_text("never: the first folder has it\n")
    (first / "beside.h").write_text("1")
    (second / "c.h").write_text("2")
    read = toolkit_headers([("<", "a.h"), ("<", "c.h"), ("<", "missing.h")], [str(first), str(second)])
    assert read is not None
    assert sorted(each.path for each in read) == sorted(
        map(str, (first / "a.h", first / "b.h", first / "beside.h", second / "c.h"))
    )
    assert all(each.is_unchanged() for each in read)
    os.utime(first / "b.h", (1000.0, 1000.0))
    assert all(each.is_unchanged() for each in read)
    (first / "beside.h").write_text("3")
    os.utime(first / "beside.h", (1000.0, 1000.0))
    assert [each.path for each in read if not each.is_unchanged()] == [str(first / "beside.h")]
    (second / "c.h").unlink()
    assert sum(not each.is_unchanged() for each in read) == 2
