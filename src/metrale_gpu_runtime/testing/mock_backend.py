"""MockGpuBackend: the engine over the mock driver, with the driver's log and switches at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..backend import GpuBackend
from ..capabilities import Capabilities
from ..driver import FunctionAttributes, FunctionConstant
from ..drivers.mock import Call, FaultPlan, KernelBody, Log, MockDriver

if TYPE_CHECKING:
    from ..kernel import Kernel, Module


class MockGpuBackend(GpuBackend):
    """A backend that records every driver call, keeps real bytes, orders work in queues and fails on request.

    `profile`, `strict`, `strict_pointers`, `plan`, `fill`, `total_memory`, `queue_depth`, `keep_log` are MockDriver's,
    and are not looked at when a `driver` is given; what else is given goes to GpuBackend (debug_sync, redzone).
    Kernels may be looked up without a module, by any name, unless `strict`.
    """

    def __init__(
        self,
        profile: str | Capabilities = "generic",
        *,
        strict: bool = False,
        strict_pointers: bool = False,
        plan: FaultPlan | None = None,
        fill: int | None = None,
        total_memory: int | None = None,
        queue_depth: int = 1024,
        keep_log: bool = True,
        driver: MockDriver | None = None,
        **options: Any,
    ) -> None:
        if driver is None:
            memory = {} if total_memory is None else {"total_memory": total_memory}
            driver = MockDriver(
                profile,
                strict=strict,
                strict_pointers=strict_pointers,
                plan=plan,
                fill=fill,
                queue_depth=queue_depth,
                keep_log=keep_log,
                **memory,
            )
        self.mock = driver
        super().__init__(driver, **options)

    # ------------------------------------------------ kernels

    def kernel(
        self,
        module: str | Module,
        function: str,
        *,
        signature: str | None = None,
        constants: Mapping[str | int, object] | None = None,
    ) -> Kernel:
        """As GpuBackend's; a module that was never loaded is an empty one here, unless the mock is strict."""
        if isinstance(module, str) and not self.mock.strict:
            # Looked up under the lock as well: another thread may be half-way through loading it.
            with self._lock:
                if not self.has_module(module):
                    self.load_module(module, binary=b"mock")
        return super().kernel(module, function, signature=signature, constants=constants)

    def define_kernel(
        self,
        module: str,
        function: str,
        body: KernelBody | None = None,
        *,
        attributes: FunctionAttributes | None = None,
        blocks_per_multiprocessor: int | None = None,
        max_cluster_blocks: int | None = None,
        constants: Sequence[FunctionConstant] | Mapping[str, str] = (),
    ) -> None:
        """Let a Python function stand for a kernel's body; see MockDriver.define_kernel."""
        self.mock.define_kernel(
            module,
            function,
            body,
            attributes=attributes,
            blocks_per_multiprocessor=blocks_per_multiprocessor,
            max_cluster_blocks=max_cluster_blocks,
            constants=constants,
        )

    def declare_kernels(self, module: str, *functions: str) -> None:
        """Say that a module has these kernels, for a strict mock."""
        self.mock.declare_kernels(module, *functions)

    def deny_kernel(self, module: str, function: str) -> None:
        """Let every lookup of this kernel fail; it is recorded all the same."""
        self.mock.deny_kernel(module, function)

    def define_global(self, module: str, symbol: str, data: bytes) -> None:
        """Give a module that is loaded afterwards a variable with these first bytes."""
        self.mock.define_global(module, symbol, data)

    # ------------------------------------------------ what happened

    @property
    def log(self) -> Log:
        """Every driver call in order, with counters."""
        return self.mock.log

    @property
    def launch_count(self) -> int:
        """Launches the driver accepted."""
        return self.mock.log.launch_count

    @property
    def sync_count(self) -> int:
        """Waits for a stream."""
        return self.mock.log.sync_count

    @property
    def ran(self) -> list[Call]:
        """The queued calls that have run, in the order in which they ran."""
        return self.mock.ran

    @property
    def queued_count(self) -> int:
        """Operations that wait in queues."""
        return self.mock.queued_count

    def run_queued(self, *, seed: int | None = None) -> None:
        """Run all queued work now, stream by stream or interleaved from a seed. Raises KernelFault."""
        self._ask(None, self.mock.run_queued, seed=seed)

    def inject(self, plan: FaultPlan) -> None:
        """Let calls fail from now on as the plan says; the former plan is forgotten."""
        self.mock.plan = plan
