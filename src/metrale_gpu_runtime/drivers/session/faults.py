"""What a driver's return codes mean here: the caller's error, the device's memory, a capture, or a lost context."""

from __future__ import annotations

from ...errors import BackendUnavailable, CaptureError, DriverError, DriverFault, NotSupported, OutOfDeviceMemory
from .api import ApiError, MissingEntryPoint, Traits

# Both vendors have the same numbers. Source: cuda.h, CUresult; hip_runtime_api.h, hipError_t.
_CAPTURE_REASONS = {
    900: "this call is not allowed while a stream is being captured",
    901: "an earlier call has invalidated the capture; end or abort it and capture again",
    902: "this would merge two captures that began independently",
    903: "the capture did not begin on this stream; end it where it began",
    904: "a stream that was drawn in was not joined again before the end",
    905: "a dependency would cross the border of the capture",
    906: "this would wait implicitly for a captured stream (the legacy default stream does)",
    907: "the event was recorded in a capture and marks nothing that runs",
    908: "the capture was begun by another thread, in a mode that only lets that thread end it; end it there or begin "
    'it with mode="relaxed"',
}


class Faults:
    """Turns one session's ApiErrors into the contract's errors, and remembers the first that took the context."""

    def __init__(self, traits: Traits, device: str) -> None:
        self._traits, self._device = traits, device
        self.lost: DriverFault | None = None

    def error(self, error: ApiError, nbytes: int = 0, figures: tuple[int, int] | None = None) -> Exception:
        """The exception to raise for what a call returned.

        DriverFault after a code that costs the context, OutOfDeviceMemory (`nbytes` were asked for, `figures` are free
        and total), CaptureError, NotSupported, else DriverError.
        """
        traits, code = self._traits, error.code
        if isinstance(error, MissingEntryPoint):
            return NotSupported(
                f"{traits.name}: the driver of this machine has no {error.call}; a newer driver has it",
                backend=traits.name,
                feature=error.call,
            )
        if code in traits.sticky_codes:
            return self._fault(error, f"{error.text} (found by {error.call})")
        if code in traits.deinitialized_codes:
            return self._fault(
                error, f"{error.text} (found by {error.call}): the driver has shut down, or somebody ended the context"
            )
        if code in traits.out_of_memory_codes:
            return self._out_of_memory(error, nbytes, figures)
        if code in traits.capture_codes:
            reason = _CAPTURE_REASONS.get(code, error.text)
            return CaptureError(f"{error.call}: {reason} ({error.code_name}, {code})")
        if code in traits.not_supported_codes:
            return NotSupported(
                f"{traits.name}: {self._device} does not support this: {error.call}: {error.code_name} ({code}): "
                f"{error.text}",
                backend=traits.name,
                feature=error.call,
            )
        return DriverError(str(error), call=error.call, code=code, code_name=error.code_name)

    def _fault(self, error: ApiError, message: str) -> DriverFault:
        fault = DriverFault(error.code_name, message, context_lost=True)
        if self.lost is None:
            self.lost = fault
        return fault

    def _out_of_memory(self, error: ApiError, nbytes: int, figures: tuple[int, int] | None) -> OutOfDeviceMemory:
        free, total = figures if figures is not None else (None, None)
        asked = f"{nbytes:,} bytes were asked for" if nbytes else "the driver needs memory of its own for this"
        left = f"; {free:,} of {total:,} are free" if figures is not None else ""
        return OutOfDeviceMemory(
            f"{self._device}: out of memory in {error.call}: {asked}{left}", nbytes=nbytes, free=free, total=total
        )


def cannot_be_opened(backend: str, index: int, error: Exception) -> BackendUnavailable:
    """What opening a device raises for what its driver said; a context that was lost earlier is told as such."""
    if isinstance(error, DriverFault) and error.context_lost:
        return BackendUnavailable(
            f"{backend}: device {index} cannot be opened: this process lost its context on it earlier "
            f"({error.code_name}), and the driver gives no other one to the same process; start a new process "
            "(mg.testing.run_isolated runs a case in one)",
            backend=backend,
        )
    return BackendUnavailable(f"{backend}: device {index} cannot be opened: {error}", backend=backend)
