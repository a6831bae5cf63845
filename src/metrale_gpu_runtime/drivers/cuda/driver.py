"""One open NVIDIA GPU: the session, with what only CUDA has: cubins, PTX, nvJitLink."""

from __future__ import annotations

from collections.abc import Sequence

from ...driver import CodeImage
from ...errors import ModuleLoadError
from ..session.api import ApiError
from ..session.driver import SessionDriver
from . import images as code_images
from . import linking
from .api import CudaApi
from .jit import check_options


class CudaDriver(SessionDriver):
    """One CUDA device. The library has been initialised."""

    def __init__(self, api: CudaApi, device: int) -> None:
        self.is_linking = linking.is_available()
        super().__init__(api, device)

    @property
    def _capability(self) -> tuple[int, int]:
        capability = self.capabilities.compute_capability
        assert capability is not None
        return capability

    @property
    def _driver_version(self) -> int:
        version = self.capabilities.driver_version
        assert version is not None
        return version

    def compile_architecture(self) -> str:
        return self.architecture().replace("sm_", "compute_")

    def check_image(self, image: CodeImage) -> None:
        check_options(image, self._capability)
        code_images.check_loadable(
            image,
            compute_capability=self._capability,
            driver_version=self._driver_version,
            device=self.capabilities.device,
        )

    def refused_image(self, image: CodeImage, answer: ApiError, log: str) -> ModuleLoadError:
        return code_images.explain_load_failure(
            image,
            call=answer.call,
            code=answer.code,
            code_name=answer.code_name,
            log=log,
            compute_capability=self._capability,
            driver_version=self._driver_version,
            device=self.capabilities.device,
        )

    def linker(self) -> str | None:
        identity = linking.linker_identity()
        return f"{identity} for {self.architecture()}" if identity is not None else None

    def link(self, name: str, images: Sequence[CodeImage], options: Sequence[str] = ()) -> CodeImage:
        return linking.link(name, images, architecture=self.architecture(), options=options)
