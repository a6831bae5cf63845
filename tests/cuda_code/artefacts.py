"""Real compiled code, and a mock that takes what a CUDA driver takes, with the CUDA room's checks and linker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from metrale_gpu_runtime.driver import CodeImage
from metrale_gpu_runtime.drivers.cuda import images, linking
from metrale_gpu_runtime.drivers.mock.driver import MockDriver
from metrale_gpu_runtime.handles import ModuleHandle

DATA = Path(__file__).parent / "data"
_FORMS = {".o": "object", ".a": "library"}


def data(name: str) -> bytes:
    """One file of data/."""
    return (DATA / name).read_bytes()


def image(name: str) -> CodeImage:
    """One file of data/ as what a driver is given."""
    suffix = Path(name).suffix
    return CodeImage(name, _FORMS.get(suffix, suffix[1:]), data(name))


class CudaLikeDriver(MockDriver):
    """A mock of an sm_90 device under a driver of CUDA 13.0: refuses and links as the CUDA room does."""

    def __init__(self, capability: tuple[int, int] = (9, 0), driver_version: int = 13000) -> None:
        super().__init__(strict=False)
        self.loaded: list[CodeImage] = []
        self.capabilities = replace(
            self.capabilities,
            backend="cuda",
            device="Device under test",
            code_formats=("cubin", "ptx", "fatbin"),
            source_languages=("cuda-c",),
            cuda_architecture=f"compute_{10 * capability[0] + capability[1]}",
            compute_capability=capability,
            driver_version=driver_version,
            linking=True,
        )

    def load_module(self, image: CodeImage) -> ModuleHandle:
        capability, version = self.capabilities.compute_capability, self.capabilities.driver_version
        assert capability is not None
        assert version is not None
        images.check_loadable(
            image, compute_capability=capability, driver_version=version, device=self.capabilities.device
        )
        self.loaded.append(image)
        return super().load_module(image)

    def link(self, name: str, images: Sequence[CodeImage], options: Sequence[str] = ()) -> CodeImage:
        capability = self.capabilities.compute_capability
        assert capability is not None
        return linking.link(name, images, architecture=f"sm_{10 * capability[0] + capability[1]}", options=options)
