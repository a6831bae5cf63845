"""What is loaded on one backend: modules by name, kernels by (module, function), and who asked for what."""

from __future__ import annotations

import difflib
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..code_cache import Build
from ..driver import Driver, FunctionAttributes, FunctionConstant
from ..errors import FunctionConstantError, GpuError, KernelNotFound, ModuleLoadError, NotSupported
from ..function_constants import NO_CONSTANTS, GivenConstants, read_constants
from ..handles import KernelHandle
from ..signature import KernelSignature, parse_declaration
from ..trace.site import call_site
from .cache.kept import KeptCode
from .loading import LoadedModule, load
from .parts import LinkRequest
from .sources import CodeInput

_Encoded = tuple[tuple[str, bytes], ...]
_REMEMBERED_BUILDS = 4096


@dataclass(frozen=True, slots=True)
class LoadedFunction:
    """One kernel as it was looked up: `name` is its symbol, `notes` say why its signature knows less than it could.

    `constants` are what it was specialised by.
    """

    module: str
    name: str
    handle: KernelHandle
    signature: KernelSignature
    attributes: FunctionAttributes
    notes: tuple[str, ...] = ()
    constants: GivenConstants = NO_CONSTANTS


@dataclass(slots=True)
class Lookup:
    """One row of the audit: a name asked for, the symbol it meant (None: there was none), by whom first, how often."""

    module: str
    function: str
    resolved: str | None
    site: str
    count: int = 1


def _teller(registry: weakref.ref[ModuleRegistry]) -> Callable[[Build], None]:
    """What tells a registry without keeping it: its driver, which has the cache, may outlive it."""

    def tell(build: Build) -> None:
        own = registry()
        if own is not None:
            own._note(build)

    return tell


class ModuleRegistry:
    """The modules of one backend. Kernels of different modules never mix, whatever their names.

    A second look-up of the same kernel makes no driver call. When queued work may still use a module is the engine's
    to know: `retire` is called with a module that is no longer reachable, and has to unload it in time; by default it
    is unloaded at once. Safe to use from several threads at once; the lock is never held over a compilation or a
    driver call.
    """

    def __init__(
        self,
        driver: Driver,
        retire: Callable[[LoadedModule], None] | None = None,
        told: Callable[[Build], None] | None = None,
    ) -> None:
        self._driver = driver
        self._told = told
        self._builds: deque[Build] = deque(maxlen=_REMEMBERED_BUILDS)
        self.code_cache = KeptCode(_teller(weakref.ref(self)))
        self._retire = retire if retire is not None else self._unload_now
        self._modules: dict[str, LoadedModule] = {}
        self._loading: set[str] = set()
        self._functions: dict[tuple[str, str, str | None, _Encoded], LoadedFunction] = {}
        self._constants: dict[tuple[str, str], tuple[FunctionConstant, ...]] = {}
        self._lookups: dict[tuple[str, str], Lookup] = {}
        self._lock = threading.Lock()

    # ------------------------------------------------ modules

    def load(
        self,
        name: str,
        code: CodeInput | LinkRequest,
        *,
        options: Sequence[str] = (),
        names: Sequence[str] = (),
        signatures: Mapping[str, str] | None = None,
        replace: bool = False,
    ) -> LoadedModule:
        """Load code under a name. `signatures` declares kernels by name: {"add": "const float* x, int n"}.

        A name in use is refused unless `replace`; then the earlier module is retired, after the new one has loaded.
        Raises ModuleLoadError or one of its kinds, SignatureError for a declaration that cannot be read, KernelNotFound
        for one of a kernel that is not there; everything is as before then.
        """
        if not isinstance(name, str) or not name:
            raise ModuleLoadError(f"a module's name is a non-empty string, not {name!r}", module=str(name))
        self._reserve(name, replace)
        try:
            declared = dict(signatures or {})
            for kernel, declaration in declared.items():
                parse_declaration(declaration, kernel)
            module = load(self._driver, name, code, options=options, names=names, declared=declared)
            try:
                module.require_declared()
            except KernelNotFound:
                self._driver.unload_module(module.handle)
                raise
            with self._lock:
                earlier = self._modules.get(name)
                self._modules[name] = module
                self._forget_functions(name)
        finally:
            with self._lock:
                self._loading.discard(name)
        if earlier is not None:
            self._retire(earlier)
        return module

    def _reserve(self, name: str, replace: bool) -> None:
        with self._lock:
            if name in self._loading:
                raise ModuleLoadError(f"module {name!r} is being loaded by another thread", module=name)
            if name in self._modules and not replace:
                raise ModuleLoadError(
                    f"module {name!r} is already loaded ({self._modules[name].origin}); choose another name, unload it "
                    "first, or pass replace=True",
                    module=name,
                )
            self._loading.add(name)

    def unload(self, name: str) -> LoadedModule:
        """Forget a module and hand it to `retire`. Raises KernelNotFound when there is none."""
        module = self.module(name)
        with self._lock:
            if self._modules.get(name) is not module:
                raise self._no_module(name)
            del self._modules[name]
            self._forget_functions(name)
        self._retire(module)
        return module

    def _forget_functions(self, name: str) -> None:
        for key in [key for key in self._functions if key[0] == name]:
            del self._functions[key]
        for asked in [asked for asked in self._constants if asked[0] == name]:
            del self._constants[asked]

    def _unload_now(self, module: LoadedModule) -> None:
        self._driver.unload_module(module.handle)

    def has_module(self, name: str) -> bool:
        """True when a module of this name is loaded."""
        return name in self._modules

    def module_names(self) -> tuple[str, ...]:
        """The names of what is loaded, in the order of loading."""
        with self._lock:
            return tuple(self._modules)

    def module(self, name: str) -> LoadedModule:
        """The module of this name. Raises KernelNotFound with what is loaded."""
        found = self._modules.get(name)
        if found is None:
            raise self._no_module(name)
        return found

    def _no_module(self, name: str, function: str = "") -> KernelNotFound:
        loaded = tuple(self._modules)
        close = difflib.get_close_matches(str(name), loaded, n=3)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        there = f"Loaded: {', '.join(loaded)}" if loaded else "None is loaded"
        return KernelNotFound(
            f"no module {name!r} is loaded{hint or '.'} {there}. gpu.load_module(name, path=…) loads one",
            module=str(name),
            function=function,
            available=loaded,
            close=tuple(close),
        )

    # ------------------------------------------------ kernels

    def function(
        self,
        module: str,
        function: str,
        signature: str | None = None,
        constants: Mapping[str | int, object] | None = None,
    ) -> LoadedFunction:
        """The kernel of a module, by its symbol or its C++ name; looked up once, then remembered.

        `signature` declares its parameters ("const float* x, int n"); `constants` are the values that it is specialised
        by. Raises KernelNotFound with what there is and what comes near, UnsupportedInstruction where the backend
        cannot run it, SignatureError when the declaration contradicts the code, FunctionConstantError for constants
        that do not fit, NotSupported where a backend has none.
        """
        given = NO_CONSTANTS
        if constants:
            given = self._read_constants(module, function, constants)
        key = (module, function, signature, given.encoded)
        known = self._functions.get(key)
        if known is not None:
            with self._lock:
                self._lookups[module, function].count += 1
            return known
        loaded = self._modules.get(module)
        if loaded is None:
            self._record(module, function, None)
            raise self._no_module(module, function)
        if not isinstance(function, str) or not function:
            raise TypeError(f"a kernel's name is a non-empty string, not {function!r}")
        try:
            found = self._look_up(loaded, function, signature, given)
        except GpuError:
            self._record(module, function, None)
            raise
        self._record(module, function, found.name)
        with self._lock:
            if self._modules.get(module) is loaded:
                found = self._functions.setdefault(key, found)
        return found

    def _read_constants(self, module: str, function: str, constants: Mapping[str | int, object]) -> GivenConstants:
        """What was given, encoded; the driver is asked once for what a kernel has."""
        capabilities = self._driver.capabilities
        if not capabilities.function_constants:
            raise NotSupported(
                f"{function}: {capabilities.device} has no function constants; pass the values as arguments, or "
                "compile the kernel for them (options=, names=)",
                backend=capabilities.backend,
                feature="function constants",
            )
        if not isinstance(constants, Mapping):
            raise FunctionConstantError(
                f'{function}: constants= takes a mapping from names to values, {{"N": 4}}, not '
                f"{type(constants).__name__}",
                kernel=function,
                given=constants,
            )
        loaded = self._modules.get(module)
        if loaded is None or not isinstance(function, str):
            # The look-up itself says what is wrong.
            return NO_CONSTANTS
        return read_constants(constants, self._declared_constants(loaded, loaded.resolve(function), function), function)

    def _declared_constants(self, loaded: LoadedModule, symbol: str, function: str) -> tuple[FunctionConstant, ...]:
        known = self._constants.get((loaded.name, symbol))
        if known is None:
            try:
                known = self._driver.function_constants(loaded.handle, symbol)
            except KernelNotFound as error:
                raise loaded.not_found(function) from error
            with self._lock:
                if self._modules.get(loaded.name) is loaded:
                    self._constants[loaded.name, symbol] = known
        return known

    def _look_up(
        self, loaded: LoadedModule, function: str, signature: str | None, given: GivenConstants
    ) -> LoadedFunction:
        symbol = loaded.resolve(function)
        if self._driver.capabilities.function_constants and not given.encoded:
            # A kernel that has to be specialised cannot be made without.
            read_constants(None, self._declared_constants(loaded, symbol, function), function)
        try:
            if given.encoded:
                handle = self._driver.specialised_function(loaded.handle, symbol, dict(given.encoded))
            else:
                handle = self._driver.function(loaded.handle, symbol)
        except KernelNotFound as error:
            raise loaded.not_found(function) from error
        attributes = loaded.completed(symbol, self._driver.function_attributes(handle))
        declared = signature if signature is not None else loaded.declared_for(function, symbol)
        known = loaded.signature(symbol, declared=declared, attributes=attributes)
        return LoadedFunction(loaded.name, symbol, handle, known, attributes, loaded.notes, given)

    def function_names(self, module: str) -> tuple[str, ...] | None:
        """The symbols of a module's kernels, or None where they cannot be listed. Raises KernelNotFound."""
        return self.module(module).function_names()

    def variable_names(self, module: str) -> tuple[str, ...] | None:
        """The symbols of a module's variables, or None where they cannot be listed. Raises KernelNotFound."""
        return self.module(module).variable_names()

    # ------------------------------------------------ what was compiled

    @property
    def builds(self) -> tuple[Build, ...]:
        """Each time that compiled code was needed: built, or found in the compile cache. The latest 4096, in order."""
        return tuple(self._builds)

    def _note(self, build: Build) -> None:
        self._builds.append(build)
        if self._told is not None:
            self._told(build)

    # ------------------------------------------------ the audit

    def _record(self, module: str, function: str, resolved: str | None) -> None:
        site = call_site(2)
        with self._lock:
            row = self._lookups.get((module, function))
            if row is None:
                self._lookups[module, function] = Lookup(module, function, resolved, site)
            else:
                row.count += 1
                row.resolved = resolved if resolved is not None else row.resolved

    @property
    def lookups(self) -> tuple[Lookup, ...]:
        """Every name asked for, sorted by module and function; resolved if it ever was; with its first call site."""
        with self._lock:
            return tuple(self._lookups[key] for key in sorted(self._lookups))

    def report(self) -> str:
        """The audit as text: for each loaded module what was asked of it, what was missing, what nobody asked for; and
        what was compiled for them or found in the compile cache."""
        lines: list[str] = []
        rows = self.lookups
        for name in dict.fromkeys([*self.module_names(), *(row.module for row in rows)]):
            loaded = self._modules.get(name)
            origin = "not loaded" if loaded is None else loaded.origin
            lines.append(f"module {name} ({origin})")
            own = [row for row in rows if row.module == name]
            for row in own:
                outcome = "missing" if row.resolved is None else "found"
                alias = f" as {row.resolved}" if row.resolved not in (None, row.function) else ""
                lines.append(f"  {outcome:8}{row.function}{alias}  asked {row.count} times, first at {row.site}")
            asked = {row.resolved for row in own}
            for symbol in (loaded.function_names() or ()) if loaded is not None else ():
                if symbol not in asked:
                    lines.append(f"  unasked {symbol}")
        builds = self.builds
        if builds:
            built = sum(each.outcome == "built" for each in builds)
            lines.append(f"compiled code ({built} built, {len(builds) - built} found in the cache)")
            lines += [f"  {each}" for each in builds]
        return "\n".join(lines)
