"""`parse`: a PTX text -> a PtxModule. The module's own directives are read here; bodies in `body.py`."""

from __future__ import annotations

from dataclasses import replace

from .body import BodyReader
from .constants import integer, natural
from .declarations import attributes, parameters, variables
from .initializers import Budget
from .lexer import DOTTED, END, NUMBER, STRING, Tokens
from .scopes import Naming
from .sections import section
from .sources import Sources, pragma
from .symbols import UnresolvedSymbols
from .syntax import Function, LaunchBounds, PtxModule, Variable

_LINKAGE = frozenset({".visible", ".extern", ".weak", ".common"})
_MODULE_SPACES = frozenset({".global", ".const", ".shared", ".local", ".param", ".tex", ".reg"})
_EXTENTS = frozenset({".reqntid", ".maxntid", ".reqnctapercluster"})
_COUNTS = frozenset({".minnctapersm", ".maxnreg", ".maxnctapersm", ".maxclusterrank"})


def parse(text: str | bytes, *, name: str = "<ptx>") -> PtxModule:
    """Read one PTX module; every instruction is read, none is judged.

    `name` is what errors call the text. A version newer than any known is no reason to refuse. Raises
    `PtxSyntaxError` with line, column and what was expected, for any text that is no PTX, uses a name that it
    does not declare, or asks for more than a module may (1,000,000 registers by one declaration, 256 MiB of
    initial values, 128 nested braces).
    """
    if isinstance(text, (bytes, bytearray, memoryview)):
        # Paths and comments may be in any encoding; nothing else is beyond ASCII.
        text = bytes(text).decode("utf-8", "backslashreplace")
    # NVRTC and fat binaries end the text with a zero byte, and the driver accepts it.
    return _ModuleReader(Tokens(text.rstrip("\0"), name)).read()


class _ModuleReader:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.module = PtxModule((0, 0), "", (), 32, {}, {}, {}, {})
        self.sources = Sources(self.module.files)
        self.unresolved = UnresolvedSymbols()
        self.budget = Budget()
        self.spellings: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.alias_tokens: dict[str, int] = {}

    def read(self) -> PtxModule:
        """Read to the end of the text."""
        tokens, module = self.tokens, self.module
        self._files()
        tokens.expect(".version", " at the beginning")
        self._version()
        tokens.expect(".target", " after .version")
        self._target()
        while tokens.kinds[tokens.at] != END:
            self._directive()
        self._resolve_aliases()
        self.unresolved.check(tokens, module.variables, module.functions)
        return module

    def _files(self) -> None:
        """Read the `.file` table ahead of all else: nvcc writes it after the code whose lines it names."""
        tokens = self.tokens
        for at, text in enumerate(tokens.texts):
            if text == ".file" and tokens.kinds[at] == DOTTED:
                tokens.at = at + 1
                self._file()
        tokens.at = 0

    def _file(self) -> None:
        tokens = self.tokens
        number = natural(tokens, "the number of a file")
        if tokens.kinds[tokens.at] != STRING:
            tokens.unexpected("the path of a file in quotes")
        # A string has no escapes; producers double the backslashes of Windows paths all the same.
        self.module.files[number] = tokens.take()[1:-1].replace("\\\\", "\\")
        if tokens.accept(","):
            natural(tokens, "the time stamp of a file")
            tokens.expect(",", " before the size of a file")
            natural(tokens, "the size of a file")

    def _version(self) -> None:
        tokens = self.tokens
        major, dot, minor = tokens.texts[tokens.at].partition(".")
        if tokens.kinds[tokens.at] != NUMBER or not dot or not (major + minor).isdigit() or len(minor + major) > 8:
            tokens.unexpected("a version such as 8.7")
        if not major or not minor:
            tokens.unexpected("a version such as 8.7")
        tokens.at += 1
        self.module.version = (int(major), int(minor))

    def _target(self) -> None:
        tokens, module = self.tokens, self.module
        module.target = tokens.word("an architecture such as sm_80")
        while tokens.accept(","):
            module.target_options += (tokens.word("an option of .target"),)

    # ------------------------------------------------------------ directives

    def _directive(self) -> None:
        tokens = self.tokens
        at = tokens.at
        text = tokens.texts[at]
        if text == ";":
            tokens.at += 1
            return
        if tokens.kinds[at] != DOTTED:
            tokens.unexpected("a directive of the module")
        linkage: str | None = None
        while text in _LINKAGE:
            if linkage is not None and text[1:] != linkage:
                tokens.fail(f"{text} after .{linkage}")
            linkage = text[1:]
            tokens.at += 1
            text = tokens.texts[tokens.at]
        tokens.at += 1
        if text in (".entry", ".func"):
            self._function(text == ".entry", linkage, at)
        elif text in _MODULE_SPACES:
            self._variables(text[1:], linkage)
        elif linkage is not None:
            tokens.unexpected(".entry, .func or a state space", tokens.at - 1)
        elif text == ".address_size":
            if self.module.functions or self.module.variables:
                tokens.fail(".address_size stands before the first declaration", at)
            size = natural(tokens, "32 or 64")
            if size not in (32, 64):
                tokens.unexpected("32 or 64", tokens.at - 1)
            self.module.address_size = size
        elif text == ".file":
            self._file()
        elif text == ".loc":
            self.sources.loc(tokens)
        elif text == ".section":
            found = section(tokens)
            self.module.sections[found.name] = found
        elif text == ".pragma":
            pragma(tokens)
        elif text == ".alias":
            self._alias()
        elif text in (".version", ".target"):
            tokens.fail(f"a second {text}; this text holds two modules", at)
        else:
            tokens.fail(f"{text} is no directive of a module", at)

    def _variables(self, space: str, linkage: str | None) -> None:
        tokens, module = self.tokens, self.module
        if space == "const" and tokens.accept("["):
            # A constant bank of PTX 2.1 and older; an open one holds external arrays. All are one space now.
            natural(tokens, "the number of a constant bank")
            tokens.expect("]", " after the number of a constant bank")
        if space == "reg":
            tokens.fail(".reg outside of a function", tokens.at - 1)
        for variable in variables(tokens, space, linkage, self.budget, self.unresolved):
            known = module.variables.get(variable.name)
            if variable.name in module.functions:
                tokens.fail_at(f"{variable.name} is a function already", variable.position)
            if known is not None and known.linkage != "extern":
                if variable.linkage != "extern":
                    line = known.position.line
                    tokens.fail_at(f"{variable.name} is defined a second time; first in line {line}", variable.position)
                continue
            # An .extern declaration gives way, and the definition takes its own place in the order of the text.
            module.variables.pop(variable.name, None)
            module.variables[variable.name] = variable

    def _alias(self) -> None:
        tokens = self.tokens
        at = tokens.at
        name = tokens.word("the name of an alias")
        tokens.expect(",", " after the name of an alias")
        target = tokens.word("the function that the alias stands for")
        tokens.expect(";", " after .alias")
        if name in self.module.aliases:
            tokens.fail(f"{name} is an alias already", at)
        self.module.aliases[name] = target
        self.alias_tokens[name] = at

    def _resolve_aliases(self) -> None:
        module, tokens = self.module, self.tokens
        for name, target in module.aliases.items():
            function = module.functions.get(target)
            if function is None or function.body is None:
                tokens.fail(f"{target}, which {name} stands for, has no body here", self.alias_tokens[name])
            known = module.functions.get(name)
            if known is not None and known.body is not None:
                tokens.fail(f"{name} has a body of its own", self.alias_tokens[name])
            linkage = function.linkage if known is None else known.linkage
            module.functions[name] = replace(function, name=name, linkage=linkage)

    # ------------------------------------------------------------ functions

    def _function(self, is_kernel: bool, linkage: str | None, at: int) -> None:
        tokens, module = self.tokens, self.module
        noreturn = False
        while tokens.kinds[tokens.at] == DOTTED:
            word = tokens.take()
            if word == ".attribute":
                attributes(tokens)
            elif word == ".noreturn":
                noreturn = True
            else:
                tokens.unexpected("the name of a function", tokens.at - 1)
        returns: tuple[Variable, ...] = ()
        if not is_kernel and tokens.texts[tokens.at] == "(":
            returns = parameters(tokens)
        name_at = tokens.at
        name = tokens.word("the name of a function")
        taken = parameters(tokens) if tokens.texts[tokens.at] == "(" else ()
        if is_kernel and any(parameter.space != "param" for parameter in taken):
            tokens.fail(f"the parameters of the kernel {name} must be .param, not .reg", name_at)
        function = Function(name, is_kernel, linkage, taken, returns, tokens.position(at), noreturn=noreturn)
        self._performance_directives(function)
        known = module.functions.get(name)
        if name in module.variables:
            tokens.fail(f"{name} is a variable already", name_at)
        if known is not None and known.is_kernel != is_kernel:
            tokens.fail(f"{name} is declared as both .entry and .func", name_at)
        if tokens.texts[tokens.at] != "{":
            tokens.expect(";", ' or "{" after the head of a function')
            if known is None:
                module.functions[name] = function
            return
        if known is not None and known.body is not None:
            line = known.position.line
            tokens.fail(f"{name} is defined a second time; first in line {line}", name_at)
        # Known before its body is read, for recursion; the definition takes its own place in the order of the text.
        module.functions.pop(name, None)
        module.functions[name] = function
        naming = Naming(tokens, module, function)
        for parameter in (*returns, *taken):
            naming.parameter(parameter)
        BodyReader(tokens, naming, self.sources, self.unresolved, self.budget, self.spellings).read()
        self.sources.current = None

    def _performance_directives(self, function: Function) -> None:
        tokens = self.tokens
        found: dict[str, int | tuple[int, int, int] | bool] = {}
        while tokens.kinds[tokens.at] == DOTTED:
            at = tokens.at
            word = tokens.take()
            if word in _EXTENTS:
                extents = [self._limit(word)]
                while tokens.accept(","):
                    extents.append(self._limit(word))
                if len(extents) > 3:
                    tokens.fail(f"{word} takes up to three extents, not {len(extents)}", at)
                x, y, z = (*extents, 1, 1)[:3]
                found[word[1:]] = (x, y, z)
            elif word in _COUNTS:
                found[word[1:]] = self._limit(word)
            elif word == ".explicitcluster":
                found["explicit_cluster"] = True
            elif word == ".blocksareclusters":
                found["blocks_are_clusters"] = True
            elif word == ".noreturn":
                function.noreturn = True
            elif word in (".abi_preserve", ".abi_preserve_control"):
                natural(tokens, "a count of registers")
            elif word == ".pragma":
                pragma(tokens)
            else:
                tokens.unexpected('a performance directive, "{" or ";"', at)
        if found:
            function.bounds = LaunchBounds(**found)  # type: ignore[arg-type]

    def _limit(self, word: str) -> int:
        at = self.tokens.at
        value = integer(self.tokens, f"a number after {word}")
        if not 1 <= value < 1 << 32:
            self.tokens.fail(f"{word} cannot be {value}", at)
        return value
