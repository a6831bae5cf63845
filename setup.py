"""The native launch core, built where there is a C compiler; without one the package is whole all the same."""

from glob import glob

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "metrale_gpu_runtime.native._core",
            sources=["src/metrale_gpu_runtime/native/module.c"],
            depends=sorted(glob("src/metrale_gpu_runtime/native/*.[ch]")),
            # No stack guards, which some interpreters' flags ask for: one in each function that a launch passes costs a
            # good part of what its checks do. What has an array on its stack bounds it, and is fuzzed under sanitizers.
            extra_compile_args=[
                "-std=gnu11",
                "-O2",
                "-fno-plt",
                "-fno-stack-protector",
                "-fvisibility=hidden",
                "-Wall",
                "-Wextra",
            ],
            optional=True,
        )
    ]
)
