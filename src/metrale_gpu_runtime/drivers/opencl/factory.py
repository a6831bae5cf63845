"""How discovery knows OpenCL. Importing this imports no bindings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...driver import DeviceListing, DriverFactory, DriverOptions
from ...errors import BackendUnavailable
from .bindings import load_bindings, require_bindings

if TYPE_CHECKING:
    from .driver import OpenclDriver

MEMORIES = ("svm", "buffers")


class OpenclFactory(DriverFactory):
    """The devices of every OpenCL platform, platform by platform.

    `DriverOptions.extra` takes `memory`: "svm" is shared virtual memory, where an address is one for kernels too;
    "buffers" are buffer objects. Without the option it is svm where the device has it. And `command_buffers`: True
    records sequences and refuses a device that cannot, False makes each of their launches. Without the option they are
    recorded where the device can and that is no slower (`is_worth_it`).
    """

    name = "opencl"

    def devices(self) -> Sequence[DeviceListing]:
        """Listed by a child process, so that this one can still fork."""
        require_bindings()
        from .listing import list_devices

        return list_devices()

    def index_of(self, words: Sequence[str]) -> int:
        """ "1" is the device of that number, "0:1" device 1 of platform 0, "pocl" the first with that in its names or
        its platform's. Without words it is the first GPU, else the first device.

        Raises BackendUnavailable, which lists what is there, ValueError for words that are no device.
        """
        from .devices import choose_device, find_devices

        return choose_device(find_devices(load_bindings()), words)

    def open(self, index: int, options: DriverOptions) -> OpenclDriver:
        """Raises BackendUnavailable, TypeError for an unknown option, ValueError for a memory that is none."""
        options.require_known(self.name, "memory", "command_buffers")
        command_buffers = options.extra.get("command_buffers")
        if command_buffers not in (None, True, False):
            raise ValueError(f"opencl: command_buffers={command_buffers!r}; it is True, False or None")
        memory = options.extra.get("memory")
        if memory is not None and memory not in MEMORIES:
            raise ValueError(f"opencl: memory={memory!r}; it is 'svm', 'buffers' or None")
        bindings = load_bindings()
        from .capabilities import svm_grains
        from .command_buffer_extension import why_unused
        from .command_buffers import is_worth_it
        from .devices import find_devices
        from .driver import OpenclDriver
        from .pocl_needs import warn_of_needs

        there = find_devices(bindings)
        if index >= len(there):
            raise BackendUnavailable(
                f"opencl: there is no device {index}; here {'; '.join(map(str, there))}", backend="opencl"
            )
        found = there[index]
        has_svm = bool(svm_grains(bindings, found.device)) and bindings.calls.enqueue_svm_memcpy is not None
        if memory == "svm" and not has_svm:
            raise BackendUnavailable(
                f"opencl: {found.name} on {found.platform_title} has no shared virtual memory "
                '(CL_DEVICE_SVM_CAPABILITIES); open it with memory="buffers"',
                backend="opencl",
            )
        lacks_recording = why_unused(bindings, found.device) if command_buffers else ""
        if lacks_recording:
            raise BackendUnavailable(
                f"opencl: {found.name} on {found.platform_title} records no sequences: {lacks_recording}; open it "
                "without command_buffers=True",
                backend="opencl",
            )
        if found.is_pocl:
            warn_of_needs()
        memory = str(memory or ("svm" if has_svm else "buffers"))
        if command_buffers is None:
            command_buffers = is_worth_it(found, memory)
        return OpenclDriver(bindings, found, memory=memory, command_buffers=bool(command_buffers))
