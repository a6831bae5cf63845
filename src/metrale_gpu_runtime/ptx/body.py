"""Function bodies: scopes, labels, declarations and instructions."""

from __future__ import annotations

import re
from dataclasses import replace

from .constants import natural
from .declarations import parameters, variables
from .element_types import REGISTER_TYPES
from .initializers import Budget
from .lexer import DOTTED, END, WORD, Tokens
from .operands import OperandReader
from .scopes import Naming, Scope, find_label
from .sources import Sources, pragma
from .symbols import UnresolvedSymbols
from .syntax import (
    ArgumentList,
    CallPrototype,
    Guard,
    Instruction,
    Label,
    Operand,
    Register,
    Statement,
    Symbol,
    Variable,
)

DEEPEST_BRACES = 128
_SPACES = frozenset({".local", ".shared", ".param", ".global", ".const"})
_MODULE_DIRECTIVES = frozenset({".entry", ".func", ".visible", ".extern", ".weak", ".version", ".target"})
_OPCODE = re.compile(r"[a-z][a-z0-9_]*")
_BRANCHES = frozenset({"bra", "brx"})
_NEEDS_OPERANDS = {"bra": "a label", "brx": '"," and the name of .branchtargets', "call": "a function"}


class BodyReader(OperandReader):
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
        super().__init__(tokens, naming, unresolved)
        self.sources, self.budget, self.spellings = sources, budget, spellings
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
            if word in ("v2", "v4"):
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
        operand = self.named(at)
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
                        operands.append(self.operand(0))
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
                        elements.append(self.operand(0))
                        if tokens.accept(")"):
                            break
                        tokens.expect(",", ' or ")" after an argument')
                operands.append(ArgumentList(tuple(elements)))
            elif has_callee:
                operands.append(self._target(len(operands)))
            else:
                has_callee = True
                operands.append(self.operand(0))
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
