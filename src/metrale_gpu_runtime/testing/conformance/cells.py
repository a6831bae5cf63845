"""Single words of device memory that every device can bind by their own address."""

from __future__ import annotations

import numpy as np

from ...backend import GpuBackend
from ...handles import DevicePtr


class Cells:
    """`count` u32 words, zero at first, each as far from the next as the device's offset alignment asks for."""

    def __init__(self, gpu: GpuBackend, count: int) -> None:
        self._step = max(gpu.capabilities.buffer_offset_alignment, 4)
        self.buffer = gpu.array(np.zeros((count, self._step // 4), dtype=np.uint32))

    def __getitem__(self, index: int) -> DevicePtr:
        """A pointer to one word."""
        return self.buffer.ptr + index * self._step

    def values(self) -> list[int]:
        """All words; waits for queued work on them. Nothing between them may have been written."""
        rows = self.buffer.numpy()
        assert not rows[:, 1:].any(), "something was written between the cells"
        return [int(word) for word in rows[:, 0]]
