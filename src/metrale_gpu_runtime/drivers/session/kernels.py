"""One kernel: what the driver knows of it, and how far its launches have raised its limits."""

from __future__ import annotations

import threading

from ...driver import FunctionAttributes
from ...geometry import Geometry
from .api import ApiError
from .calls import Calls

PORTABLE_CLUSTER_BLOCKS = 8
"""Clusters up to this size run on every device that has clusters. Source: CUDA Programming Guide, thread block
clusters."""


class SessionKernel:
    """A kernel of a loaded module. Safe to use from several threads.

    The limits on dynamic shared memory and on the cluster belong to the function, not to a launch: they are raised when
    a launch needs it, once for each level, and never lowered, since another thread may be about to make the launch that
    needed them.
    """

    __slots__ = ("_allows_large_clusters", "_calls", "_dynamic", "_lock", "handle", "module", "name")

    def __init__(self, calls: Calls, handle: int, name: str, module: int) -> None:
        self._calls, self.handle, self.name, self.module = calls, handle, name, module
        # Not known yet: only a launch that asks for dynamic shared memory needs to know.
        self._dynamic = 0
        self._allows_large_clusters = False
        self._lock = threading.Lock()

    def allow(self, geometry: Geometry) -> None:
        """Raise whatever this launch needs raised. Raises DriverError."""
        if geometry.shared_mem > self._dynamic:
            self._allow_dynamic(geometry.shared_mem)
        cluster = geometry.cluster
        if cluster is not None and cluster.volume > PORTABLE_CLUSTER_BLOCKS:
            self.allow_large_clusters()

    def allow_large_clusters(self) -> None:
        """Let it be launched with clusters over the portable size."""
        with self._lock:
            if not self._allows_large_clusters:
                self._calls.ask(self._calls.api.allow_large_clusters, self.handle)
                self._allows_large_clusters = True

    def _allow_dynamic(self, nbytes: int) -> None:
        calls = self._calls
        with self._lock:
            if self._dynamic == 0:
                self._dynamic = calls.ask(calls.api.function_attribute, self.handle, "max_dynamic_shared_size_bytes")
            if nbytes > self._dynamic:
                calls.ask(calls.api.set_max_dynamic_shared, self.handle, nbytes)
                self._dynamic = nbytes

    def attributes(self) -> FunctionAttributes:
        """What the driver tells of it."""

        def attribute(name: str) -> int:
            return self._calls.ask(self._calls.api.function_attribute, self.handle, name)

        return FunctionAttributes(
            max_threads_per_block=attribute("max_threads_per_block"),
            static_shared_mem=attribute("shared_size_bytes"),
            local_mem=attribute("local_size_bytes"),
            registers=attribute("num_regs"),
            parameters=self._calls.ask(self._calls.api.function_parameters, self.handle),
            extra={name: attribute(name) for name in ("binary_version", "ptx_version")},
        )

    def why_refused(self, geometry: Geometry, device: int) -> str:
        """What a refused launch asked for and what there is: asked only then, so that a good launch pays nothing.

        "" where nothing asked for is over a limit.
        """
        api, run = self._calls.api, self._calls.context.run

        def function(name: str) -> int:
            return run(api.function_attribute, self.handle, name)

        try:
            threads, per_thread = geometry.block.volume, function("num_regs")
            most_threads, registers = (
                function("max_threads_per_block"),
                run(api.attribute, device, "max_registers_per_block"),
            )
            static, dynamic = function("shared_size_bytes"), geometry.shared_mem
            shared = run(api.attribute, device, "max_shared_memory_per_block_optin")
        except ApiError as error:
            return f"what the kernel needs could not be asked: {error}"
        reasons = []
        if threads > most_threads:
            reasons.append(f"a block of {threads} threads; this kernel runs with at most {most_threads}")
        if threads * per_thread > registers:
            reasons.append(
                f"{per_thread} registers per thread x {threads} threads = {threads * per_thread}; the device has "
                f"{registers} per block"
            )
        elif threads > most_threads:
            reasons.append(f"it takes {per_thread} registers per thread, of {registers} per block")
        if static + dynamic > shared:
            reasons.append(
                f"{static} bytes of static and {dynamic} of dynamic shared memory; the device has {shared} per block"
            )
        return "; ".join(reasons)
