"""Which places a loader reads, by its own rules: variables, folders, single files; nothing is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from doctor_machines import manifest, vendor_folder

from metrale_gpu_runtime.drivers.opencl import vendors
from metrale_gpu_runtime.drivers.opencl.vendors import KHRONOS, OCL_ICD, Loader
from metrale_gpu_runtime.drivers.webgpu import vulkan


def test_ocl_icd_takes_the_stronger_variable(tmp_path: Path) -> None:
    """OCL_ICD_VENDORS before OPENCL_VENDOR_PATH before the folder that is built in; empty is not set."""
    first, second, third = (vendor_folder(tmp_path / name, a=f"lib{name}.so") for name in "xyz")
    loader = Loader("/lib/libOpenCL.so.1", OCL_ICD, folder=str(third))
    both = {"OCL_ICD_VENDORS": str(first), "OPENCL_VENDOR_PATH": str(second)}
    assert [(each.path, each.named_by) for each in vendors.places(loader, both)] == [(str(first), "OCL_ICD_VENDORS")]
    (place,) = vendors.places(loader, both | {"OCL_ICD_VENDORS": ""})
    assert (place.path, place.named_by) == (str(second), "OPENCL_VENDOR_PATH")
    (place,) = vendors.places(loader, {})
    assert (place.path, place.entries[0].library) == (str(third), "libz.so")


def test_ocl_icd_takes_one_file_or_one_library(tmp_path: Path) -> None:
    """What is no folder is an .icd file, looked for in the folder first when it has no slash, or else a library."""
    folder = vendor_folder(tmp_path / "vendors", one="libone.so.1", two="libtwo.so.2")
    loader = Loader("/lib/libOpenCL.so.1", OCL_ICD, folder=str(folder), own_folder=str(folder))
    (place,) = vendors.places(loader, {"OCL_ICD_VENDORS": "two.icd"})
    assert (place.path, [each.library for each in place.entries]) == (f"{folder}/two.icd", ["libtwo.so.2"])
    (place,) = vendors.places(loader, {"OCL_ICD_VENDORS": f"{folder}/one.icd"})
    assert [each.library for each in place.entries] == ["libone.so.1"]
    (place,) = vendors.places(loader, {"OCL_ICD_VENDORS": "libthree.so.3"})
    assert [(each.file, each.library) for each in place.entries] == [("", "libthree.so.3")]
    assert "taken for a driver library" in place.problem


def test_khronos_loader_reads_its_own_variables(tmp_path: Path) -> None:
    """OCL_ICD_FILENAMES adds libraries in front; OPENCL_VENDOR_PATH is none of its variables."""
    folder = vendor_folder(tmp_path / "vendors", one="libone.so.1")
    loader = Loader("/lib/libOpenCL.so.1", KHRONOS, folder=str(folder))
    environment = {"OCL_ICD_FILENAMES": "liba.so:libb.so", "OPENCL_VENDOR_PATH": "/elsewhere"}
    libraries, usual = vendors.places(loader, environment)
    assert [each.library for each in libraries.entries] == ["liba.so", "libb.so"]
    assert (usual.path, usual.named_by) == (str(folder), "")
    assert vendors.set_variables(loader, environment) == ("OCL_ICD_FILENAMES",)


def test_only_icd_files_count(tmp_path: Path) -> None:
    """Other files of the folder are not read, nor is a file that is called .icd alone."""
    folder = vendor_folder(tmp_path / "vendors", b="libb.so", a="liba.so")
    for name in ("c.icd.off", "README", ".icd"):
        (folder / name).write_text("libno.so\n")
    assert [each.library for each in vendors.read_folder(str(folder)).entries] == ["liba.so", "libb.so"]


def test_the_loader_is_told_by_its_texts(tmp_path: Path) -> None:
    """Which loader a file is, and the folder built into it, stand in the file; conda's has its own folder."""
    conda = tmp_path / "libOpenCL.so.1"
    conda.write_bytes(b"\x7fELF\0OCL Icd free software\0/opt/conda/etc/OpenCL/vendors\0")
    assert vendors.kind_of(str(conda)) == OCL_ICD
    assert vendors.built_in_folder(str(conda)) == "/opt/conda/etc/OpenCL/vendors"
    assert vendors.kind_of(str(conda), "Khronos Group") == KHRONOS
    assert vendors.kind_of(str(tmp_path / "none")) == ""
    assert vendors.built_in_folder(str(tmp_path / "none")) == "/etc/OpenCL/vendors"


def test_vulkans_usual_folders_follow_xdg() -> None:
    """Configuration before data, the user's before the system's, each with vulkan/icd.d behind it, none twice."""
    environment = {"HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_CONFIG_DIRS": "/c1:/c2", "XDG_DATA_DIRS": "/s1:/etc"}
    assert [(each.path, each.named_by) for each in vulkan.default_places(environment)] == [
        ("/h/.config/vulkan/icd.d", ""),
        ("/c1/vulkan/icd.d", "XDG_CONFIG_DIRS"),
        ("/c2/vulkan/icd.d", "XDG_CONFIG_DIRS"),
        ("/etc/vulkan/icd.d", ""),
        ("/d/vulkan/icd.d", "XDG_DATA_HOME"),
        ("/s1/vulkan/icd.d", "XDG_DATA_DIRS"),
    ]


def test_vulkans_variables(tmp_path: Path) -> None:
    """VK_DRIVER_FILES counts before VK_ICD_FILENAMES, both replace the folders; VK_ADD_DRIVER_FILES adds to them."""
    one = manifest(tmp_path / "one.json", "libone.so")
    folder = tmp_path / "folder"
    folder.mkdir()
    manifest(folder / "two.json", "../libtwo.so")
    environment = {"VK_DRIVER_FILES": f"{one}:{folder}:/gone.json", "VK_ICD_FILENAMES": "/other", "HOME": "/h"}
    places = vulkan.places(environment)
    assert [each.library for place in places for each in place.manifests] == ["libone.so", str(tmp_path / "libtwo.so")]
    assert [each.problem for each in places] == ["", "", "does not exist"]
    assert {each.named_by for each in places} == {"VK_DRIVER_FILES"}
    added = vulkan.places({"VK_ADD_DRIVER_FILES": str(one), "HOME": "/h"})
    assert (added[0].path, added[0].named_by) == (str(one), "VK_ADD_DRIVER_FILES")
    assert added[1].path == "/h/.config/vulkan/icd.d"


@pytest.mark.parametrize("content", ["", "[]", '{"ICD": 3}', '{"ICD": {"library_path": ""}}', '{"layer": {}}'])
def test_what_is_no_manifest(tmp_path: Path, content: str) -> None:
    """A file that is no JSON, or names no library, is told as that."""
    path = tmp_path / "bad.json"
    path.write_text(content)
    found = vulkan.read_manifest(str(path))
    assert found.library == ""
    assert "library" in found.problem
