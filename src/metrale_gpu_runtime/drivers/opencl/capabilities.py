"""What an OpenCL device can do, as it tells it itself.

Source: clGetDeviceInfo; the OpenCL 3.0 API and C specifications.
"""

from __future__ import annotations

from typing import Any

from ...capabilities import Capabilities
from .bindings import Bindings
from .devices import CPU, Found
from .memory import ALIGN

SVM_GRAINS = (
    (1, "coarse-grain buffer"),
    (2, "fine-grain buffer"),
    (4, "fine-grain system"),
    (8, "atomics"),
)
"""CL_DEVICE_SVM_… (cl.h)."""

FINE_GRAIN_BUFFER = 2
FINE_GRAIN_SYSTEM = 4


POCL_MOST_BLOCKS = 2**32 - 1
"""PoCL counts a launch's blocks in 32 bits: of 2**32 + 16 it ran 16 and said nothing, and 2**32 ended the process."""


def read_capabilities(bindings: Bindings, found: Found, *, memory: str) -> Capabilities:
    """The capabilities of a device that is opened with memory "svm" or "buffers".

    OpenCL has no figure for how many blocks there may be: positions are of the type size_t, so the whole grid has to
    fit the device's addresses. On PoCL its threads stay below what it counts blocks in, which is less.
    """
    device = found.device
    is_svm = memory == "svm"
    grains = svm_grains(bindings, device) if is_svm else 0
    most = 2 ** int(device.address_bits) - 1
    if found.is_pocl:
        most = min(most, POCL_MOST_BLOCKS)
    block = [int(extent) for extent in device.max_work_item_sizes][:3]
    largest = int(device.max_mem_alloc_size)
    unsupported = {"bool"}
    if not has_halves(device):
        unsupported.add("f16")
    if not has_doubles(bindings, device):
        unsupported |= {"f64", "c128"}
    return Capabilities(
        backend="opencl",
        device=f"{found.name} on {found.platform_title}",
        code_formats=("opencl-c", "spirv") if takes_spirv(bindings, device) else ("opencl-c",),
        max_grid=(most, most, most),
        max_block=(block[0], block[1], block[2]),
        max_threads_per_block=int(device.max_work_group_size),
        max_threads_per_launch=most,
        max_static_and_dynamic_shared_mem=int(device.local_mem_size),
        max_parameter_nbytes=int(device.max_parameter_size),
        # Shared virtual memory is allocated a little larger, for its alignment.
        max_allocation_nbytes=largest - ALIGN if is_svm else largest,
        buffer_offset_alignment=1 if is_svm else max(1, int(device.mem_base_addr_align) // 8),
        warp_size=preferred_multiple(bindings, device),
        multiprocessor_count=int(device.max_compute_units),
        max_cluster_blocks=1,
        device_index=found.index,
        driver_version=None,
        # DLPack's number for OpenCL is for cl_mem handles, of which this backend hands none out.
        dlpack_device=None,
        software=is_software(device),
        raw_addresses=is_svm,
        local_arguments=True,
        shared_mem_is_last_local=True,
        tensor_maps=False,
        # Memory that host and kernels use at once, without mapping: fine-grain buffers.
        managed_memory=bool(grains & FINE_GRAIN_BUFFER),
        pinned_memory=bool(grains & FINE_GRAIN_BUFFER),
        unsupported_scalars=frozenset(unsupported),
        unified_memory=bool(device.host_unified_memory),
        pageable_memory_access=bool(grains & FINE_GRAIN_SYSTEM),
        explicit_residency=is_svm and not grains & FINE_GRAIN_SYSTEM,
        # A kernel that reaches where it must not takes the process along, or spoils other memory: nothing tells of it.
        kernel_faults=False,
        module_variables=False,
        mangled_names=False,
        # Drivers wait for threads of theirs, which a fork loses.
        usable_after_fork=False,
    )


def svm_grains(bindings: Bindings, device: Any) -> int:
    """CL_DEVICE_SVM_CAPABILITIES; 0 where there is no shared virtual memory."""
    try:
        return int(device.svm_capabilities)
    except bindings.cl.Error:
        return 0  # before OpenCL 2.0 there is no such question


def svm_words(bindings: Bindings, device: Any) -> str:
    """The kinds of shared virtual memory of a device, for people."""
    grains = svm_grains(bindings, device)
    return ", ".join(word for bit, word in SVM_GRAINS if grains & bit) or "none"


def il_version(bindings: Bindings, device: Any) -> str:
    """The intermediate languages that a device takes, as it writes them ("SPIR-V_1.2"); empty where it takes none."""
    try:
        return str(device.il_version).strip("\0 ")
    except bindings.cl.Error:
        return ""  # before OpenCL 2.1 there is no such question


def takes_spirv(bindings: Bindings, device: Any) -> bool:
    """Whether clCreateProgramWithIL takes SPIR-V for it (CL_DEVICE_IL_VERSION)."""
    return "SPIR-V" in il_version(bindings, device)


def has_doubles(bindings: Bindings, device: Any) -> bool:
    """Whether kernels can use `double`: a bit field that is 0 where they cannot (CL_DEVICE_DOUBLE_FP_CONFIG)."""
    try:
        return bool(int(device.double_fp_config))
    except bindings.cl.Error:
        return False  # before OpenCL 1.2 there is no such question where there is no such type


def is_software(device: Any) -> bool:
    """Whether it is the host's own processor."""
    return bool(int(device.type) & CPU)


def preferred_multiple(bindings: Bindings, device: Any) -> int:
    """What work-group sizes should be a multiple of; 1 where the device has no such number (before OpenCL 3.0)."""
    try:
        return max(1, int(device.preferred_work_group_size_multiple))
    except bindings.cl.Error:
        return 1


def has_halves(device: Any) -> bool:
    """Whether kernels can compute with `half`."""
    return "cl_khr_fp16" in str(device.extensions).split()
