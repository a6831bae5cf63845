"""The native launch core, built where there is a C compiler; without one the package is whole all the same."""

from glob import glob

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "metrale_gpu_runtime.native._core",
            sources=["src/metrale_gpu_runtime/native/module.c"],
            depends=sorted(glob("src/metrale_gpu_runtime/native/*.[ch]")),
            extra_compile_args=["-std=gnu11", "-O2", "-fno-plt", "-fvisibility=hidden", "-Wall", "-Wextra"],
            optional=True,
        )
    ]
)
