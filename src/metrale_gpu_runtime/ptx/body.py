"""Function bodies: statements, operands and the names in them."""

from __future__ import annotations

import re
from dataclasses import replace

from .constants import constant, integer, natural, starts_constant
from .declarations import REGISTER_TYPES, Budget, parameters, variables
from .lexer import DOTTED, END, NUMBER, STRING, WORD, Tokens
from .scopes import COMPONENT_NAMES, Meaning, Naming, Scope, find_label
from .special_registers import COMPONENTS, SCALARS, VECTORS
from .symbols import UnresolvedSymbols
from .syntax import (
    Address,
    ArgumentList,
    CallPrototype,
    Guard,
    Immediate,
    Instruction,
    Label,
    Negated,
    Operand,
    Pair,
    Part,
    Register,
    Sink,
    SourceLine,
    SpecialRegister,
    Statement,
    Symbol,
    Variable,
    Vector,
)

DEEPEST_BRACES = 128
_DEEPEST_OPERAND = 8
_SINK = Sink()
_SPACES = frozenset({".local", ".shared", ".param", ".global", ".const", ".tex"})
_MODULE_DIRECTIVES = frozenset({".entry", ".func", ".visible", ".extern", ".weak", ".version", ".target"})
_PART = re.compile(r"[bh][0-7]{1,4}")
_OPCODE = re.compile(r"[a-z][a-z0-9_]*")
_BRANCHES = frozenset({"bra", "brx"})
_NEEDS_OPERANDS = {"bra": "a label", "brx": '"," and the name of .branchtargets', "call": "a function"}


class Sources:
    """The `.file` table of a module and the source line in force."""

    def __init__(self, files: dict[int, str]) -> None:
        self.files = files
        self.current: SourceLine | None = None
        self._known: dict[tuple[int, int, int], SourceLine] = {}

    def loc(self, tokens: Tokens) -> None:
        """Read what follows `.loc`: file, line, column and, for inlined code, the function's name and the call."""
        number = natural(tokens, "the number of a file")
        line = natural(tokens, "a line")
        column = natural(tokens, "a column")
        while tokens.accept(","):
            if tokens.accept("function_name"):
                if tokens.kinds[tokens.at] not in (WORD, DOTTED, NUMBER):
                    tokens.unexpected("the label of a function's name")
                tokens.at += 1
                if tokens.texts[tokens.at] in ("+", "-"):
                    integer(tokens, "an offset")
            elif tokens.accept("inlined_at"):
                for what in ("the number of a file", "a line", "a column"):
                    natural(tokens, what)
            else:
                tokens.unexpected("function_name or inlined_at")
        key = (number, line, column)
        known = self._known.get(key)
        if known is None:
            # A stripped table must not lose the line, so an unknown number is shown as it stands.
            file = self.files.get(number, f"<.file {number}>")
            known = self._known[key] = SourceLine(file, line, column)
        self.current = known


def pragma(tokens: Tokens) -> None:
    """Pass the strings after `.pragma`: they are hints, and unknown ones are no error (PTX ISA, ".pragma")."""
    while True:
        if tokens.kinds[tokens.at] != STRING:
            tokens.unexpected("a string after .pragma")
        tokens.at += 1
        if not tokens.accept(","):
            break
    tokens.expect(";", " after .pragma")


class BodyReader:
    """Reads one body into its function. The next token must be the opening brace."""

    def __init__(
        self,
        tokens: Tokens,
        naming: Naming,
        sources: Sources,
        unresolved: UnresolvedSymbols,
        budget: Budget,
        spellings: dict[str, tuple[str, tuple[str, ...]]],
    ) -> None:
        self.tokens, self.naming, self.sources = tokens, naming, sources
        self.function, self.module = naming.function, naming.module
        self.unresolved, self.budget, self.spellings = unresolved, budget, spellings
        self.statements: list[Statement] = []
        # Labels may stand after their use, so these wait for the last brace: an operand with its statement, place,
        # scope and token; a table of branches with its name, scope and labels.
        self.pending: list[tuple[int, int, Scope, str, int]] = []
        self.pending_tables: list[tuple[str, Scope, list[tuple[str, int]]]] = []

    def read(self) -> None:
        """Read to the closing brace and store the statements in the function."""
        tokens, texts, kinds, naming = self.tokens, self.tokens.texts, self.tokens.kinds, self.naming
        opened = [tokens.at]
        tokens.expect("{", " before a body")
        while opened:
            text = texts[tokens.at]
            kind = kinds[tokens.at]
            if kind == WORD:
                if texts[tokens.at + 1] == ":":
                    self._label()
                else:
                    self._instruction(None)
            elif text == "@":
                self._guarded()
            elif kind == DOTTED:
                self._directive(text)
            elif text == ";":
                tokens.at += 1
            elif text == "{":
                if len(opened) >= DEEPEST_BRACES:
                    tokens.fail(f"braces nest deeper than {DEEPEST_BRACES}")
                opened.append(tokens.at)
                tokens.at += 1
                naming.scope = Scope(naming.scope)
            elif text == "}":
                tokens.at += 1
                opened.pop()
                if opened:
                    assert naming.scope.parent is not None
                    naming.scope = naming.scope.parent
            elif kind == END:
                line = tokens.position(opened[-1]).line
                tokens.unexpected(f'"}}" for the "{{" of line {line}')
            else:
                tokens.unexpected("an instruction, a label, a directive or a brace")
        self._resolve()
        self.function.body = tuple(self.statements)

    # ------------------------------------------------------------ labels and directives

    def _label(self) -> None:
        tokens, at = self.tokens, self.tokens.at
        name = tokens.word("a label")
        tokens.at += 1
        following = tokens.texts[tokens.at]
        unique = self.naming.label(name, at)
        if following == ".callprototype":
            tokens.at += 1
            self._prototype(unique)
        elif following in (".branchtargets", ".calltargets"):
            tokens.at += 1
            names: list[tuple[str, int]] = []
            while True:
                names.append((tokens.texts[tokens.at], tokens.at))
                tokens.word("a label" if following == ".branchtargets" else "a function")
                if not tokens.accept(","):
                    break
            tokens.expect(";", f' or "," after a name of {following}')
            if following == ".branchtargets":
                self.pending_tables.append((unique, self.naming.scope, names))
                return
            for name, token in names:
                self.unresolved.add(name, token)
            self.function.call_tables[unique] = tuple(name for name, _ in names)
        else:
            self.statements.append(Label(unique, tokens.position(at)))

    def _prototype(self, name: str) -> None:
        """`(results) _ (parameters) [.noreturn] [.abi_preserve n];`"""
        tokens = self.tokens
        returns: tuple[Variable, ...] = ()
        if tokens.texts[tokens.at] == "(":
            returns = parameters(tokens)
        tokens.word('"_" in place of the function\'s name')
        taken = parameters(tokens) if tokens.texts[tokens.at] == "(" else ()
        noreturn = False
        while tokens.kinds[tokens.at] == DOTTED:
            word = tokens.take()
            if word == ".noreturn":
                noreturn = True
            elif word in (".abi_preserve", ".abi_preserve_control"):
                natural(tokens, "a count of registers")
            else:
                tokens.unexpected('".noreturn", ".abi_preserve" or ";"', tokens.at - 1)
        tokens.expect(";", " after .callprototype")
        self.function.prototypes[name] = CallPrototype(name, returns, taken, noreturn)

    def _directive(self, text: str) -> None:
        tokens = self.tokens
        tokens.at += 1
        if text == ".reg":
            self._registers()
        elif text == ".loc":
            self.sources.loc(tokens)
        elif text in _SPACES:
            for variable in variables(tokens, text[1:], None, self.budget, self.unresolved):
                unique = self.naming.variable(variable)
                self.function.variables[unique] = (
                    variable if unique == variable.name else replace(variable, name=unique)
                )
        elif text == ".pragma":
            pragma(tokens)
        elif text in _MODULE_DIRECTIVES:
            tokens.fail(f'{text} inside the body of {self.function.name}: a "}}" is missing', tokens.at - 1)
        else:
            tokens.fail(f"{text} is no directive of a body", tokens.at - 1)

    def _registers(self) -> None:
        tokens, naming = self.tokens, self.naming
        kind, vector = "", 1
        while tokens.kinds[tokens.at] == DOTTED:
            word = tokens.take()[1:]
            if word in ("v2", "v4", "v8"):
                vector = int(word[1])
            elif word == "align":
                natural(tokens, "an alignment")
            elif word in REGISTER_TYPES and not kind:
                kind = word
            else:
                tokens.unexpected("the type of a register", tokens.at - 1)
        if not kind:
            tokens.unexpected("the type of a register")
        while True:
            at = tokens.at
            name = tokens.word("the name of a register")
            if tokens.accept("<"):
                count = natural(tokens, "a count of registers")
                tokens.expect(">", " after a count of registers")
                naming.register_range(name, count, kind, vector, at)
            else:
                naming.register(name, kind, vector, at)
            if not tokens.accept(","):
                break
        tokens.expect(";", ' or "," after a register')

    # ------------------------------------------------------------ instructions

    def _guarded(self) -> None:
        tokens = self.tokens
        tokens.at += 1
        negated = tokens.accept("!")
        at = tokens.at
        if tokens.kinds[at] != WORD:
            tokens.unexpected("a predicate register")
        operand = self._named(at)
        if not isinstance(operand, Register):
            tokens.unexpected("a predicate register", at)
        declared = self.function.registers[operand.name].type
        if declared != "pred":
            tokens.fail(f"{tokens.texts[at]} guards an instruction but is declared .{declared}, not .pred", at)
        if tokens.kinds[tokens.at] != WORD or tokens.texts[tokens.at + 1] == ":":
            tokens.unexpected("an instruction after its guard")
        self._instruction(Guard(operand.name, negated))

    def _instruction(self, guard: Guard | None) -> None:
        tokens = self.tokens
        texts = tokens.texts
        start = tokens.at
        text = texts[start]
        tokens.at = start + 1
        spelling = self.spellings.get(text)
        if spelling is None:
            opcode, *words = text.split(".")
            if not _OPCODE.fullmatch(opcode):
                tokens.unexpected("an instruction", start)
            spelling = self.spellings[text] = (opcode, tuple(words))
        opcode, modifiers = spelling
        if tokens.kinds[tokens.at] == DOTTED:
            words = list(modifiers)
            while tokens.kinds[tokens.at] == DOTTED:
                words.append(tokens.take()[1:])
            modifiers = tuple(words)
        operands: list[Operand] = []
        branch = opcode in _BRANCHES
        if texts[tokens.at] != ";":
            if opcode == "call":
                self._call_operands(operands)
            else:
                while True:
                    # `bra label` and `brx.idx index, table`
                    if branch and (operands or opcode == "bra"):
                        operands.append(self._target(len(operands)))
                    else:
                        operands.append(self._operand(0))
                    if texts[tokens.at] != ",":
                        break
                    tokens.at += 1
            if texts[tokens.at] != ";":
                tokens.unexpected(f'"," or ";" after an operand of {opcode}')
            if branch and len(operands) > 1 + (opcode == "brx"):
                tokens.fail(f"{opcode} has too many operands", tokens.at - 1)
        if opcode in _NEEDS_OPERANDS and len(operands) < 1 + (opcode == "brx"):
            tokens.unexpected(_NEEDS_OPERANDS[opcode])
        tokens.at += 1
        self.statements.append(
            Instruction(opcode, modifiers, tuple(operands), guard, tokens.position(start), self.sources.current)
        )

    def _target(self, place: int) -> Operand:
        tokens, at = self.tokens, self.tokens.at
        name = tokens.word("a label")
        self.pending.append((len(self.statements), place, self.naming.scope, name, at))
        return Symbol(name)

    def _call_operands(self, operands: list[Operand]) -> None:
        """`(results), function, (arguments), prototype`; all but the function may be missing."""
        tokens = self.tokens
        has_callee = False
        while True:
            if tokens.texts[tokens.at] == "(":
                tokens.at += 1
                elements: list[Operand] = []
                if not tokens.accept(")"):
                    while True:
                        elements.append(self._operand(0))
                        if tokens.accept(")"):
                            break
                        tokens.expect(",", ' or ")" after an argument')
                operands.append(ArgumentList(tuple(elements)))
            elif has_callee:
                operands.append(self._target(len(operands)))
            else:
                has_callee = True
                operands.append(self._operand(0))
            if not tokens.accept(","):
                if not has_callee:
                    tokens.unexpected('"," and the function that is called')
                return

    def _resolve(self) -> None:
        """Give each use of a label the unique name that its scope means."""
        tokens, function = self.tokens, self.function
        labels = {statement.name for statement in self.statements if isinstance(statement, Label)}
        for table, scope, names in self.pending_tables:
            targets = []
            for name, token in names:
                unique = find_label(scope, name)
                if unique is None or unique not in labels:
                    tokens.fail(f"there is no label {name} in these braces or around them", token)
                targets.append(unique)
            function.branch_tables[table] = tuple(targets)
        for index, place, scope, name, token in self.pending:
            instruction = self.statements[index]
            assert isinstance(instruction, Instruction)
            unique = find_label(scope, name)
            if instruction.opcode == "bra":
                known, what = unique in labels, "label"
            elif instruction.opcode == "brx":
                known, what = unique in function.branch_tables, ".branchtargets"
            else:
                known, what = unique in function.prototypes or unique in function.call_tables, ".callprototype"
            if unique is None or not known:
                tokens.fail(f"there is no {what} {name} in these braces or around them", token)
            if unique != name:
                operands = list(instruction.operands)
                operands[place] = Symbol(unique)
                self.statements[index] = replace(instruction, operands=tuple(operands))

    # ------------------------------------------------------------ operands

    def _operand(self, depth: int) -> Operand:
        tokens = self.tokens
        at = tokens.at
        text = tokens.texts[at]
        kind = tokens.kinds[at]
        operand: Operand
        if kind == WORD:
            meaning = self.naming.scope.names.get(text)
            if meaning is not None:
                tokens.at = at + 1
                operand = meaning
            else:
                operand = self._named(at)
            following = tokens.texts[tokens.at]
            if following == "," or following == ";":
                return operand
            if following == "[" and isinstance(operand, Symbol):
                operand = self._indexed(operand)
            elif following in ("+", "-") and isinstance(operand, Symbol):
                operand = Symbol(operand.name, integer(tokens, "an offset"))
        elif text == "{":
            operand = self._vector(depth)
        elif text == "[":
            operand = self._address(depth)
        elif text in ("!", "-") and tokens.kinds[at + 1] == WORD and tokens.texts[at + 1] != "WARP_SZ":
            tokens.at += 1
            operand = Negated(self._named(tokens.at))
            if not isinstance(operand.operand, (Register, Part)):
                tokens.unexpected("a register or a number after the sign", at + 1)
        elif starts_constant(tokens):
            operand = constant(tokens)
        else:
            tokens.unexpected("an operand")
        if tokens.texts[tokens.at] == "|" and depth < _DEEPEST_OPERAND:
            tokens.at += 1
            operand = Pair(operand, self._operand(_DEEPEST_OPERAND))
        return operand

    def _named(self, at: int) -> Operand:
        """The operand that the word at `at` names; the word is passed."""
        tokens = self.tokens
        tokens.at = at + 1
        name = tokens.texts[at]
        if name == "_":
            return _SINK
        meaning = self.naming.find(name)
        if meaning is not None:
            return meaning
        if name in SCALARS:
            return SpecialRegister(name)
        if name == "WARP_SZ":
            tokens.at = at
            return constant(tokens)
        base, dot, part = name.partition(".")
        if base in VECTORS:
            if not dot:
                return Vector(tuple(SpecialRegister(f"{base}.{component}") for component in COMPONENTS))
            if part in COMPONENT_NAMES:
                return SpecialRegister(f"{base}.{COMPONENTS[COMPONENT_NAMES[part]]}")
            tokens.fail(f"{base} has no component .{part}; it has .x, .y, .z and .w", at)
        if dot:
            return self._part(at, base, part)
        if not self.naming.in_module(name):
            # A register's name tells that it is none of the module's; at once is the better place to say so.
            if name[0] == "%":
                tokens.fail(f"{name} is not declared", at)
            self.unresolved.add(name, at)
        return Symbol(name)

    def _part(self, at: int, base: str, part: str) -> Operand:
        tokens = self.tokens
        whole: Meaning | None = self.naming.find(base)
        if whole is None:
            tokens.fail(f"{base} is not declared", at)
        component = self.naming.component(whole, part)
        if component is not None:
            return component
        if isinstance(whole, Register) and _PART.fullmatch(part):
            return Part(whole, part)
        return tokens.fail(f"{base} has no component .{part}", at)

    def _vector(self, depth: int) -> Operand:
        tokens = self.tokens
        if depth >= _DEEPEST_OPERAND:
            tokens.fail("braces inside of braces inside of an operand")
        tokens.at += 1
        elements: list[Operand] = []
        while True:
            elements.append(self._operand(depth + 1))
            if tokens.accept("}"):
                return Vector(tuple(elements))
            tokens.expect(",", ' or "}" after an element')

    def _address(self, depth: int) -> Operand:
        """`[base]`, `[base+offset]`, `[base, sampler, {x, y}]`; the next token is the bracket."""
        tokens = self.tokens
        tokens.at += 1
        at = tokens.at
        base: Operand
        if tokens.kinds[at] == WORD and tokens.texts[at] != "WARP_SZ":
            base = self._named(at)
            offset = integer(tokens, "an offset") if tokens.texts[tokens.at] in ("+", "-") else 0
            if tokens.texts[tokens.at] == "[" and isinstance(base, Symbol):
                indexed = self._indexed(base)
                base, offset = Symbol(indexed.name), offset + indexed.offset
        elif starts_constant(tokens):
            base, offset = Immediate(integer(tokens, "an address")), 0
        else:
            tokens.unexpected("a register, a symbol or a number")
        if not isinstance(base, (Register, Symbol, Immediate)):
            tokens.unexpected("a register, a symbol or a number", at)
        subscripts: list[Operand] = []
        while tokens.accept(","):
            if depth >= _DEEPEST_OPERAND:
                tokens.fail("brackets nest too deeply")
            subscripts.append(self._operand(depth + 1))
        tokens.expect("]", " at the end of an address")
        return Address(base, offset, tuple(subscripts))

    def _indexed(self, symbol: Symbol) -> Symbol:
        """`x[3]`: the address of an element (PTX ISA, "Arrays as Operands")."""
        tokens = self.tokens
        at = tokens.at
        variable = self.function.variables.get(symbol.name)
        if variable is None:
            named = (v for v in (*self.function.parameters, *self.function.returns) if v.name == symbol.name)
            variable = next(named, None) or self.module.variables.get(symbol.name)
        if variable is None or variable.count is None:
            tokens.fail(f"{symbol.name} is not a declared array", at - 1)
        tokens.at += 1
        if tokens.kinds[tokens.at] == WORD and tokens.texts[tokens.at] != "WARP_SZ":
            tokens.fail("an array index must be constant here; compute the address in a register instead")
        index = integer(tokens, "the index of an element")
        tokens.expect("]", " after an index")
        if not 0 <= index < max(variable.count, 1):
            tokens.fail(f"{symbol.name} has {variable.count} elements; there is none at {index}", at)
        return Symbol(symbol.name, index * (variable.nbytes // max(variable.count, 1)))
