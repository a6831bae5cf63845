"""Which architecture runs what, and which driver takes which PTX: the rules, and NVIDIA's own tables beside ours."""

from __future__ import annotations

import pytest
from artefacts import data
from rungs import require_rung

from metrale_gpu_runtime.cuda_images import Architecture, highest_ptx_version, needed_driver_version, read_ptx_header

DEVICES = ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (10, 3), (11, 0), (12, 0), (12, 1))


def runs(rule: str, name: str) -> list[str]:
    architecture = Architecture.parse(name)
    assert architecture is not None
    return [f"{a}.{b}" for a, b in DEVICES if getattr(architecture, f"{rule}_runs_on")((a, b))]


@pytest.mark.parametrize(
    ("target", "where"),
    [
        ("sm_86", "8.6 8.9 9.0 10.0 10.3 11.0 12.0 12.1"),
        ("compute_90", "9.0 10.0 10.3 11.0 12.0 12.1"),
        ("sm_90a", "9.0"),
        ("sm_100a", "10.0"),
        ("sm_100f", "10.0 10.3"),
        ("sm_103f", "10.3"),
        ("sm_120f", "12.0 12.1"),
        ("sm_121f", "12.1"),
        ("sm_101f", "11.0"),
        ("sm_121", "12.1"),
    ],
)
def test_ptx_runs_on_its_target_and_later_or_exactly_or_on_the_family(target: str, where: str) -> None:
    """PTX: plain on every later device, `a` on one, `f` on the family by table."""
    assert runs("ptx", target) == where.split()


@pytest.mark.parametrize(
    ("architecture", "where"),
    [
        ("sm_80", "8.0 8.6 8.9"),
        ("sm_86", "8.6 8.9"),
        ("sm_75", "7.5"),
        ("sm_90a", "9.0"),
        ("sm_100", "10.0 10.3"),
        ("sm_100f", "10.0 10.3"),
        ("sm_103", "10.3"),
        ("sm_100a", "10.0"),
        ("sm_120", "12.0 12.1"),
    ],
)
def test_a_cubin_runs_on_its_major_version_from_its_minor_on(architecture: str, where: str) -> None:
    """Machine code: the same major version and at least the minor; `a` exactly."""
    assert runs("cubin", architecture) == where.split()


def test_a_device_newer_than_the_table_is_left_to_its_driver() -> None:
    """A family target is not refused on a device of the same major version that no table knows; on another it is."""
    family = Architecture(10, 0, "f")
    assert family.ptx_runs_on((10, 9))
    assert not family.ptx_runs_on((13, 0))
    assert Architecture(13, 0, "f").ptx_runs_on((13, 2))


@pytest.mark.parametrize(
    ("driver", "highest"),
    [
        (11000, (7, 0)),
        (11080, (7, 8)),
        (12020, (8, 2)),
        (12060, (8, 5)),
        (12080, (8, 7)),
        (13000, (9, 0)),
        (13050, (9, 5)),
        (13060, None),
        (14000, None),
    ],
)
def test_the_highest_ptx_of_a_driver(driver: int, highest: tuple[int, int] | None) -> None:
    """Each driver takes PTX up to its toolkit's version; one that is newer than the table is trusted."""
    assert highest_ptx_version(driver) == highest


def test_the_table_is_nvidias() -> None:
    """Every version of PTX in cuda-bindings' table needs the driver that ours names."""
    table = pytest.importorskip("cuda.bindings.utils._ptx_utils")._ptx_to_cuda
    versions = {tuple(map(int, ptx.split("."))): 1000 * a + 10 * b for ptx, (a, b) in table.items()}
    assert len(versions) > 20
    for version, driver in versions.items():
        if version >= (6, 0):
            ours = needed_driver_version(version)
            assert ours is None or ours == driver, version
    assert highest_ptx_version(13000) == (9, 0)


def test_the_family_table_is_what_nvjitlink_compiles() -> None:
    """nvJitLink compiles PTX of a family target for the architectures that the table names, and for no other."""
    require_rung("nvjitlink")
    from cuda.bindings import nvjitlink

    def compiles(ptx: bytes, number: int) -> bool:
        handle = nvjitlink.create(1, [f"-arch=sm_{number}"])
        try:
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, ptx, len(ptx), "family")
            nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError:
            return False
        finally:
            nvjitlink.destroy(handle)
        return True

    text = data("defines.ptx")
    for target in ("100f", "103f", "110f", "120f", "121f", "90a"):
        architecture = Architecture.parse(f"sm_{target}")
        assert architecture is not None
        ptx = text.replace(b".target sm_90", b".target sm_" + target.encode())
        for major, minor in DEVICES[4:]:
            expected = architecture.ptx_runs_on((major, minor)) and target != "90a"
            if target == "90a":  # machine code of the very same name is asked for as sm_90a
                continue
            assert compiles(ptx, 10 * major + minor) is expected, (target, major, minor)


@pytest.mark.parametrize(
    ("text", "version", "target", "options"),
    [
        (".version 8.7\n.target sm_90a\n.address_size 64\n", (8, 7), "sm_90a", ()),
        ('// a\n/* b\n */ .file 1 "x.cu"\n.version 7.0\n.target sm_80, debug\n', (7, 0), "sm_80", ("debug",)),
        (".version 6.4 .target  sm_75 , texmode_independent", (6, 4), "sm_75", ("texmode_independent",)),
        (".version 9.0\n.target map_f64_to_f32\n", (9, 0), None, ("map_f64_to_f32",)),
    ],
)
def test_the_head_of_ptx_is_read(text: str, version: tuple[int, int], target: str | None, options: object) -> None:
    """Version, target and what stands behind it, past comments and `.file` lines."""
    header = read_ptx_header(text.encode())
    assert header is not None
    assert (header.version, header.target and str(header.target), header.options) == (version, target, options)


@pytest.mark.parametrize("text", ["", "hello", "/* .version 8.0", ".version x.y", ".target sm_90"])
def test_what_is_no_ptx_has_no_head(text: str) -> None:
    """Who compiles it says what is wrong with it."""
    assert read_ptx_header(text.encode()) is None
