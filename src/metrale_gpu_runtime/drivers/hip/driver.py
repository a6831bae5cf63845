"""One AMD GPU: the shared session, plus code objects (bundles, targets, their metadata) and hiprtc."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...code_objects import CodeObject, Target, choose_code_object, is_bundle, read_code_object
from ...driver import CodeImage, CompiledSource, FunctionAttributes
from ...errors import ModuleLoadError
from ...handles import KernelHandle, ModuleHandle
from ..session.driver import SessionDriver
from .api import HipApi
from .compiling import compile_source, compiler_version


class HipDriver(SessionDriver):
    """One device of an initialised HIP runtime.

    `target_id` is what it runs ("gfx90a:sramecc+:xnack-"); all code is held against it before HIP is asked.
    """

    def __init__(self, api: HipApi, device: int) -> None:
        super().__init__(api, device)
        try:
            self.target_id = self.architecture()
        except BaseException:
            self.close()
            raise
        # None for an id of a form that is not known here: HIP then judges alone.
        self.target = Target.read(self.target_id)
        self._code: dict[int, CodeObject] = {}

    # ------------------------------------------------ code

    def compiler(self) -> str:
        return f"{compiler_version(self.name)} for {self.target_id}"

    def compile(
        self,
        source: CodeImage,
        *,
        path: str | None = None,
        names: Sequence[str] = (),
        folders: Sequence[str] = (),
        debug: bool = False,
    ) -> CompiledSource:
        if debug:
            source = replace(source, options=(*source.options, "-g"))
        return compile_source(source, target=self.target_id, path=path, names=names, folders=folders)

    def select_code(self, image: CodeImage) -> CodeImage:
        """The code object of an offload bundle that fits this device best."""
        if self.target is None or not is_bundle(image.data):
            return image
        return replace(image, data=choose_code_object(image.data, self.target, image.name))

    def load_module(self, image: CodeImage) -> ModuleHandle:
        image = self.select_code(image)
        if image.options:
            raise ModuleLoadError(
                f"module {image.name!r}: options {', '.join(image.options)} were given for a code object, which is "
                "compiled already; hiprtc takes options with source",
                module=image.name,
            )
        code = None if is_bundle(image.data) else read_code_object(image.data, image.name)
        if code is not None:
            self._require_target(code, image)
        handle = super().load_module(image)
        if code is not None:
            self._code[handle] = code
        return handle

    def _require_target(self, code: CodeObject, image: CodeImage) -> None:
        if code.target is None or self.target is None or code.target.runs_on(self.target):
            return
        raise ModuleLoadError(
            f"module {image.name!r}: the code object is for {code.target} and does not run on "
            f"{self.capabilities.device} ({self.target_id}): {code.target.why_not_on(self.target)}. Compile it with "
            f"--offload-arch={self.target.processor}, or load its source",
            module=image.name,
        )

    def explain_refusal(self, image: CodeImage) -> str:
        """Which target the code is for, and the device's."""
        try:
            target = read_code_object(image.data, image.name).target
        except ModuleLoadError as error:
            return str(error)
        return f"The code object is for {target or 'a target that it does not name'}, the device is {self.target_id}"

    def unload_module(self, module: ModuleHandle) -> None:
        super().unload_module(module)
        self._code.pop(module, None)

    def function_names(self, module: ModuleHandle) -> tuple[str, ...] | None:
        """As the code object lists them: HIP itself cannot."""
        code = self._code.get(module)
        return tuple(code.kernels) if code is not None else super().function_names(module)

    def function_attributes(self, kernel: KernelHandle) -> FunctionAttributes:
        """What HIP tells, and the block that the metadata demands."""
        told = super().function_attributes(kernel)
        held = self._modules.kernel(kernel)
        code = self._code.get(held.module)
        described = code.kernels.get(held.name) if code is not None else None
        if described is None:
            return told
        facts = {
            "vector_registers": described.vector_registers,
            "scalar_registers": described.scalar_registers,
            "wavefront_size": described.wavefront_size,
        }
        return replace(
            told,
            required_block=described.required_block,
            extra={**told.extra, **{name: value for name, value in facts.items() if value is not None}},
        )
