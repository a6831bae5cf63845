"""Libraries of kernels: compiled from text, asked for their functions, specialised, run."""

from __future__ import annotations

import ctypes
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import building, diagnostics, native, reading, rewriting, rules
from .diagnostics import CompileFailure, Complaint
from .tokens import Misread, tokenize


@dataclass(frozen=True, slots=True)
class Binding:
    """One buffer or threadgroup parameter, as pipeline reflection tells it: `kind` is "buffer" or "threadgroup",
    `access` "read" or "readwrite", `data_type` an MTLDataType."""

    kind: str
    index: int
    name: str
    access: str
    data_type: int
    data_size: int
    alignment: int
    is_used: bool


@dataclass(frozen=True, slots=True)
class FunctionConstant:
    """A function constant of a kernel. A required one is read somewhere without being asked whether it is defined."""

    name: str
    data_type: int
    index: int
    required: bool


@dataclass(frozen=True, slots=True)
class KernelCrash:
    """How a kernel ended that did not finish: "page fault", "barrier", "illegal instruction", "stack overflow".

    `address` is None where it is no access to memory that failed, and 0 also for an address that no memory can have.
    """

    kind: str
    address: int | None
    threadgroup: tuple[int, int, int] = (0, 0, 0)
    thread: tuple[int, int, int] = (0, 0, 0)
    detail: str = ""


class CompiledFunction:
    """One kernel with its function constants fixed, ready to run."""

    def __init__(self, loaded: native.Loaded, number: int, name: str) -> None:
        self._loaded = loaded
        self.name = name
        self._entry = loaded.address(f"__msl_entry_{number}")
        self.bindings = tuple(_bindings(loaded.address(f"__msl_parameters_{number}")))
        limit = ctypes.c_int.from_address(loaded.address(f"__msl_max_threads_{number}")).value
        self.max_total_threads = limit
        """What max_total_threads_per_threadgroup says; 0 where the kernel does not say it."""
        self.static_threadgroup_nbytes = loaded.static_nbytes(number)

    def run(
        self,
        buffers: Mapping[int, int],
        threadgroup_nbytes: Mapping[int, int],
        grid: Sequence[int],
        block: Sequence[int],
    ) -> KernelCrash | None:
        """Run every thread of `grid` threadgroups of `block` threads; other Python threads run meanwhile.

        `buffers` and `threadgroup_nbytes` are by index; a buffer that is not there is at address 0. None when the
        kernel finished. Memory written before a crash stays written.
        """
        request = native.Request(entry=self._entry, static_nbytes=self.static_threadgroup_nbytes)
        for index, address in buffers.items():
            request.buffers[index] = address
        for index, nbytes in threadgroup_nbytes.items():
            request.threadgroup_nbytes[index] = nbytes
        for binding in self.bindings:
            if binding.kind == "threadgroup":
                request.threadgroup_alignment[binding.index] = binding.alignment
        for axis in range(3):
            request.grid[axis] = grid[axis] if axis < len(grid) else 1
            request.block[axis] = block[axis] if axis < len(block) else 1
        threads = request.block[0] * request.block[1] * request.block[2]
        if not 1 <= threads <= 1024:
            raise ValueError(f"{self.name}: a threadgroup has 1 to 1024 threads, not {threads}")
        crash = native.Crash()
        native.calls().msl_run(ctypes.byref(request), ctypes.byref(crash))
        if crash.kind == 0:
            return None
        kind = native.CRASHES[crash.kind]
        address = crash.address if kind in ("page fault", "stack overflow") else None
        return KernelCrash(kind, address, tuple(crash.group), tuple(crash.thread), crash.detail.decode())


class CompiledLibrary:
    """What a text was compiled to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._facts: dict[str, Any] = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
        self._loaded = self._load({})

    @property
    def function_names(self) -> tuple[str, ...]:
        """The kernels, by the names under which a pipeline asks for them."""
        return tuple(self._facts["kernels"])

    def constants(self, name: str) -> tuple[FunctionConstant, ...]:
        """The function constants that a kernel reads, itself or through what it calls."""
        found = []
        for constant in self._facts["constants"]:
            if constant["name"] not in self._kernel(name)["constants"]:
                continue
            index, data_type = (ctypes.c_int * 2).from_address(
                self._loaded.address(f"__msl_constant_{constant['name']}")
            )
            found.append(FunctionConstant(constant["name"], data_type, index, constant["required"]))
        return tuple(found)

    def function(self, name: str, constants: Mapping[int, bytes] | None = None) -> CompiledFunction:
        """A kernel; `constants` are the bytes of each function constant by its index. KeyError for an unknown name."""
        number = self._kernel(name)["number"]
        loaded = self._load(dict(constants)) if constants else self._loaded
        return CompiledFunction(loaded, number, name)

    def _kernel(self, name: str) -> dict[str, Any]:
        return dict(self._facts["kernels"][name])

    def _load(self, constants: dict[int, bytes]) -> native.Loaded:
        library = self._folder / "kernels.so"
        if not self._facts["constants"]:
            return native.Loaded(str(library), constants)
        # The loader knows a file again: a copy of its own gives each set of values its own variables.
        with tempfile.NamedTemporaryFile(prefix="metrale-msl-", suffix=".so") as copy:
            shutil.copyfile(library, copy.name)
            return native.Loaded(copy.name, constants)


def compile_library(
    source: str, *, macros: Mapping[str, str] | None = None, fast_math: bool = False
) -> CompiledLibrary:
    """Compile a text, or find what an earlier process made of the same. Raises CompileFailure with Metal's log."""
    defined = dict(macros or {})
    place = building.entry("library", source, json.dumps(sorted(defined.items())), str(fast_math))
    if not place.is_dir():
        work = building.scratch()
        try:
            _compile(source, defined, fast_math, work)
        except CompileFailure as failure:
            (work / "log.txt").write_text(failure.log, encoding="utf-8")
        except BaseException:
            shutil.rmtree(work)
            raise
        building.publish(work, place)
    log = place / "log.txt"
    if log.is_file():
        raise CompileFailure(log.read_text(encoding="utf-8"))
    return CompiledLibrary(place)


def _compile(source: str, macros: dict[str, str], fast_math: bool, work: Path) -> None:
    for folder, text in (("asked", source), ("checked", _checkable(source))):
        (work / folder).mkdir()
        (work / folder / building.NAME).write_text(text, encoding="utf-8")
    checking = building.start(work / "checked", *building.checking(work / "checked", macros))
    preprocessing = building.start(work / "asked", *building.preprocessing(macros))
    preprocessed, complaint = preprocessing.communicate()
    _, checked = checking.communicate()
    complaints = diagnostics.read(checked, from_check=True)
    if preprocessing.returncode:
        raise diagnostics.failure(diagnostics.read(complaint) or complaints, source)
    places = rules.Places(preprocessed, source)
    try:
        found = reading.declarations(tokenize(preprocessed))
        complaints += rules.broken(found, preprocessed, places)
        exported = list(_exported(found, places))
        if complaints:
            raise diagnostics.failure(complaints, source)
        text = rewriting.for_code(preprocessed, found, exported)
    except Misread as misread:
        # Where the compiler saw the same, its words are the better ones.
        raise diagnostics.failure(complaints or [Complaint(*places.of(misread.at), misread.message)], source) from None
    (work / "kernels.cpp").write_text(text, encoding="utf-8")
    making = building.start(work, *building.code_making("kernels.cpp", "kernels.so", fast_math=fast_math))
    _, errors = making.communicate()
    if making.returncode:
        made = diagnostics.read(errors)
        if not made:
            raise RuntimeError(f"the stand-in's own compilation failed:\n{errors}")
        raise diagnostics.failure(made, source)
    building.write_json(work / "facts.json", _facts(found, exported))


def _checkable(source: str) -> str:
    try:
        return rewriting.for_check(source)
    except Misread:
        return source  # The compiler says what is wrong with it.


def _exported(found: Sequence[reading.Declaration], places: rules.Places) -> Iterator[rewriting.Export]:
    kernels = {kernel.name: kernel for kernel in found if kernel.kind == "kernel"}
    for declaration in found:
        line = places.of(declaration.tokens[0].start)[0]
        if declaration.kind == "kernel" and declaration.template is None:
            yield rewriting.Export(declaration.name, declaration, None, line)
        elif declaration.kind == "instantiation":
            kernel = kernels.get(declaration.name)
            if kernel is None or kernel.template is None:
                raise Misread(f"no kernel template named '{declaration.name}'", declaration.tokens[0].start)
            host_name = declaration.attribute("host_name")
            name = host_name.text.replace('" "', "").strip('"') if host_name else declaration.name
            yield rewriting.Export(name, kernel, declaration.arguments, line)


def _facts(found: Sequence[reading.Declaration], exported: Sequence[rewriting.Export]) -> dict[str, Any]:
    by_name: dict[str, set[str]] = {}
    for declaration in found:
        if declaration.name:
            by_name.setdefault(declaration.name, set()).update(declaration.words())
    constants = [declaration for declaration in found if declaration.kind == "function constant"]
    guarded: set[str] = set()
    for declaration in found:
        words = [token.text for token in declaration.tokens]
        guarded |= {words[i + 2] for i, word in enumerate(words[:-2]) if word == "is_function_constant_defined"}

    def reached(start: str) -> list[str]:
        seen, waiting = {start}, [start]
        while waiting:
            for word in by_name.get(waiting.pop(), ()):
                if word in by_name and word not in seen:
                    seen.add(word)
                    waiting.append(word)
        return [constant.name for constant in constants if constant.name in seen]

    return {
        "kernels": {
            export.name: {"number": number, "constants": reached(export.kernel.name)}
            for number, export in enumerate(exported)
        },
        "constants": [{"name": constant.name, "required": constant.name not in guarded} for constant in constants],
    }


def _bindings(address: int) -> Iterator[Binding]:
    while True:
        row = native.Parameter.from_address(address)
        if not row.name:
            return
        yield Binding(
            kind="threadgroup" if row.is_threadgroup else "buffer",
            index=row.index,
            name=row.name.decode(),
            access="read" if row.is_read_only else "readwrite",
            data_type=row.data_type,
            data_size=row.data_nbytes,
            alignment=row.alignment,
            is_used=bool(row.is_used),
        )
        address += ctypes.sizeof(native.Parameter)
