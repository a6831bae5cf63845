"""Which names of a module the words of a WGSL declaration mean: those that nothing inside of it has taken for itself.

Source: "WebGPU Shading Language", sections "Declaration and Scope", "Static Access". What a body does is not looked at,
only the scopes of what it declares.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .wgsl_tokens import SIGN, WORD, Token

_DECLARING = ("let", "var", "const")


def names_used(tokens: Sequence[Token], own: Collection[str] = ()) -> frozenset[str]:
    """The words that name something outside of these, of which `own` are the parameters. More than the module declares
    may be among them."""
    found: set[str] = set()
    # One set of names for each open scope; a loop's header is a scope around that of its body.
    scopes: list[set[str]] = [set(own)]
    headers: list[int] = []
    awaiting_body = False
    coming: str | None = None
    at = 0
    while at < len(tokens):
        token = tokens[at]
        before = tokens[at - 1] if at else None
        if token.kind == WORD:
            if before is not None and before.kind == SIGN and before.text in (".", "@"):
                # A member, or an attribute, whose parentheses name what no variable is.
                if before.text == "@" and token.text == "diagnostic":
                    while at + 1 < len(tokens) and tokens[at].text != ")":
                        at += 1
            elif token.text == "for":
                scopes.append(set())
                awaiting_body = True
            elif token.text in _DECLARING:
                at, coming = _declared(tokens, at, found, scopes)
            elif not any(token.text in scope for scope in scopes):
                found.add(token.text)
        elif token.kind == SIGN and token.text == "{":
            scopes.append(set())
            if awaiting_body:
                headers.append(len(scopes))
                awaiting_body = False
        elif token.kind == SIGN and token.text == "}":
            if headers and headers[-1] == len(scopes):
                headers.pop()
                scopes.pop()
            if len(scopes) > 1:
                scopes.pop()
        elif token.kind == SIGN and token.text == ";" and coming is not None:
            # A name is known behind the statement that declares it: what stands within means another.
            scopes[-1].add(coming)
            coming = None
        at += 1
    return frozenset(found)


def _declared(tokens: Sequence[Token], at: int, found: set[str], scopes: Sequence[set[str]]) -> tuple[int, str | None]:
    """The name that is declared behind `let`, `const` or `var<…>`, and where it stands."""
    at += 1
    if at < len(tokens) and tokens[at].text == "<":
        while at < len(tokens) and tokens[at].text != ">":
            at += 1
        at += 1
    if at < len(tokens) and tokens[at].kind == WORD:
        return at, tokens[at].text
    return at - 1, None
