"""What a device can do and its limits; device profiles for the mock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One device, as its backend describes it. Asked, never assumed.

    Sizes in bytes; a limit of None means that the backend has none. `code_formats` are the forms of code that the
    driver itself takes, best first ("ptx", "cubin", "fatbin", "hsaco", "metallib", "msl", "opencl-c", "spirv",
    "wgsl", "any"); `source_languages` those that the engine can compile for it ("cuda-c").
    `cuda_architecture` is what CUDA C is compiled for ("compute_80"), None where that makes no sense.
    `graphs`: the driver captures and replays graphs itself; without it the engine records and replays them.
    `launch_priorities` are (least urgent, most urgent), the most urgent being the lower number. `dlpack_device` is
    DLPack's (device type, index) of its memory. `pageable_memory_access`: kernels read all memory of the host, whoever
    allocated it, by its own address. `driver_version` is the vendor's number (13000 for CUDA 13.0).
    `lazy_memory`: address ranges can be reserved and backed later. `raw_stream_handles`: takes streams of other
    libraries by `__cuda_stream__` or by their handle. `multiprocessor_count` is None where the vendor does not tell it.
    `usable_after_loss`: once its context is lost, the device can be opened again in the same process.
    `null_pointers`: a pointer argument may be null. `explicit_residency`: kernels reach memory that is no argument only
    where the launch names it (`.uses`). `function_constants`: a kernel is specialised by values given when it is looked
    up. `module_variables`: the variables of a module are memory.
    `mangled_names`: kernels of C++ have mangled symbols. A value over `max_inline_argument_nbytes` is put into memory
    of the driver's own for the time of the launch; where that is stated, values take buffers' places
    (`max_buffer_arguments`) as pointers do. `shared_mem_is_last_local`: shared memory is the kernel's last parameter in
    local memory, where it is the first otherwise. `aliased_writes`: one launch may be given memory twice that it
    writes. `kernel_faults`: a kernel that does what is forbidden is found out and told as a fault; without it
    such a kernel can do no harm, or, on a device that is this process, takes it along. `bounded_accesses`: no kernel
    reaches beyond what its arguments are bound to. `software`: the host's processor in a GPU's place,
    which "gpu" does not take for one.
    """

    backend: str
    device: str
    code_formats: tuple[str, ...]
    source_languages: tuple[str, ...] = ()
    cuda_architecture: str | None = None
    # launch limits
    max_grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    max_block: tuple[int, int, int] = (1024, 1024, 64)
    max_threads_per_block: int = 1024
    max_threads_per_launch: int | None = None
    max_registers_per_block: int | None = None
    max_static_and_dynamic_shared_mem: int = 48 * 1024
    shared_mem_granularity: int = 1
    max_parameter_nbytes: int | None = 4096
    max_arguments: int | None = None
    max_buffer_arguments: int | None = None
    max_inline_argument_nbytes: int | None = None
    max_allocation_nbytes: int | None = None
    buffer_offset_alignment: int = 1
    warp_size: int = 32
    multiprocessor_count: int | None = 1
    max_cluster_blocks: int = 8
    # what device it is
    device_index: int = 0
    compute_capability: tuple[int, int] | None = None
    driver_version: int | None = None
    dlpack_device: tuple[int, int] | None = None
    software: bool = False
    # what it can do
    raw_addresses: bool = True
    untracked_pointers: bool = False
    host_arrays_are_device_arrays: bool = False
    asynchronous: bool = True
    graphs: bool = False
    cooperative: bool = False
    clusters: bool = False
    programmatic_launches: bool = False
    launch_priorities: tuple[int, int] | None = None
    memory_sync_domains: bool = False
    local_arguments: bool = False
    shared_mem_is_last_local: bool = False
    aliased_writes: bool = True
    kernel_faults: bool = True
    bounded_accesses: bool = False
    tensor_maps: bool = True
    managed_memory: bool = True
    pinned_memory: bool = True
    event_timing: bool = True
    memory_check: bool = False
    unsupported_scalars: frozenset[str] = frozenset()
    unified_memory: bool = False
    pageable_memory_access: bool = False
    stream_ordered_memory: bool = False
    lazy_memory: bool = False
    peer_access: bool = False
    raw_stream_handles: bool = False
    tensor_map_encoding: bool = False
    linking: bool = False
    null_pointers: bool = True
    explicit_residency: bool = False
    function_constants: bool = False
    module_variables: bool = True
    mangled_names: bool = True
    usable_after_fork: bool = True
    usable_after_loss: bool = True
