"""PTX -> LLVM IR, kernel by kernel."""

from .api import translate, unsupported
from .kernel import Site, TranslatedKernel

__all__ = ["Site", "TranslatedKernel", "translate", "unsupported"]
