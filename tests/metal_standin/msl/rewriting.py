"""An MSL text in words that the host's compiler takes: once to be checked as it stands, once to become code."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from .reading import Declaration, Parameter, without_attributes
from .tokens import Misread, Token, attributes, blanked, closing, closing_angle, edited, split, tokenize

_ELEMENTS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "bfloat", "bool")
VECTORS = frozenset(f"{element}{count}" for element in _ELEMENTS for count in (2, 3, 4))

# Built-in parameters of compute functions and the expression that gives each. MSL specification, 5.2.3.6.
_EXTENTS = {
    "thread_position_in_grid": "position_in_grid",
    "thread_position_in_threadgroup": "position_in_threadgroup",
    "threadgroup_position_in_grid": "threadgroup_position",
    "threads_per_threadgroup": "threads_per_threadgroup",
    "dispatch_threads_per_threadgroup": "threads_per_threadgroup",
    "threadgroups_per_grid": "threadgroups_per_grid",
    "threads_per_grid": "threads_per_grid",
}
_INDICES = {
    "thread_index_in_threadgroup": "t->index_in_threadgroup",
    "thread_index_in_simdgroup": "t->index_in_simdgroup",
    "simdgroup_index_in_threadgroup": "t->simdgroup_index",
    "threads_per_simdgroup": "MSL_SIMD_WIDTH",
    "thread_execution_width": "MSL_SIMD_WIDTH",
    "simdgroups_per_threadgroup": "metal::__msl_simdgroups(t)",
    "dispatch_simdgroups_per_threadgroup": "metal::__msl_simdgroups(t)",
}
BUILT_IN = frozenset({*_EXTENTS, *_INDICES})


def for_check(source: str) -> str:
    """The user's text with the least changes that let it be read; lines, and nearly all columns, stay what they were."""
    tokens = tokenize(source)
    edits = [*_blanked_attributes(source, tokens), *_literals(tokens), *_declarators(tokens), *_constructions(tokens)]
    for token, _ in threadgroup_variables(tokens):
        edits.append((token.start, token.end, "__tg_static"))
    for first, last in attributes(tokens):
        if (
            tokens[first + 2].text == "function_constant"
            and tokens[last + 1 : last + 2]
            and tokens[last + 1].text == ";"
        ):
            word = next((t for t in reversed(tokens[:first]) if t.text in ("constant", ";", "}", "{")), None)
            if word is not None and word.text == "constant":
                edits.append((word.start, word.end, "__msl_cs"))
    return edited(source, edits)


def for_code(text: str, found: Sequence[Declaration], exported: Sequence[Export]) -> str:
    """The preprocessed text with one kind of memory, and the functions by which each kernel is launched behind it."""
    tokens = tokenize(text)
    edits = [*_literals(tokens), *_declarators(tokens), *_constructions(tokens)]
    numbers = {id(export.kernel): index for index, export in enumerate(exported)}
    for declaration in found:
        if declaration.kind in ("instantiation", "function constant"):
            start, end = declaration.tokens[0].start, declaration.tokens[-1].end
            kept = [edit for edit in edits if not start <= edit[0] < end]
            edits[:] = kept
            new = _constant(declaration) if declaration.kind == "function constant" else ""
            edits.append((start, end, new + blanked(text[start:end])))
            continue
        edits += _blanked_attributes(text, declaration.tokens)
        if declaration.kind != "kernel":
            continue
        if declaration.template is not None:
            edits.append((declaration.template[0] + 1, declaration.template[0] + 1, "unsigned __msl_k, "))
        elif declaration.body is not None:
            at = declaration.body[0] + 1
            # A kernel that nothing exports is compiled all the same.
            edits.append((at, at, f" constexpr unsigned __msl_k = {numbers.get(id(declaration), 0)};"))
        for index, (word, statement) in enumerate(threadgroup_variables(declaration.tokens)):
            edits = [edit for edit in edits if not word.start <= edit[0] < statement[-1].end]
            edits.append((word.start, statement[-1].end, _threadgroup_variable(text, statement, index)))
    constants = [declaration for declaration in found if declaration.kind == "function constant"]
    return "\n".join(
        [edited(text, edits), _tables(constants, len(exported)), *map(_launched, range(len(exported)), exported), ""]
    )


class Export:
    """A kernel under the name that a pipeline asks for, with the line it stands on."""

    def __init__(self, name: str, kernel: Declaration, arguments: str | None, line: int) -> None:
        self.name, self.kernel, self.arguments, self.line = name, kernel, arguments, line

    def function(self, number: int) -> str:
        """The function in C++."""
        name = f"::{self.kernel.scope}{self.kernel.name}"
        return name if self.arguments is None else f"{name}<{number}u, {self.arguments}>"


# ------------------------------------------------ what both texts need


def _blanked_attributes(text: str, tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    for first, last in attributes(tokens):
        start, end = tokens[first].start, tokens[last].end
        yield start, end, blanked(text[start:end])


def _literals(tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    for token in tokens:
        if token.kind != "number" or token.text.lower().startswith("0x"):
            continue
        if token.text.lower().endswith("bf"):
            yield token.start, token.end, f"{token.text[:-2]}_b"
        elif token.text.endswith("H"):
            yield token.start, token.end, f"{token.text[:-1]}h"


def _declarators(tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """`float4 (&tile)[8]` declares; everywhere else float4( makes a vector."""
    for name, opening, mark in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if name.text in VECTORS and opening.text == "(" and mark.text in ("&", "*"):
            yield name.start, name.end, f"__msl_{name.text}"


def _constructions(tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """vec<T, N>(…), static_cast<float4>(…) and (float4)x convert by component; so does `float3 v(a, 1);`."""
    depth = 0
    for index, token in enumerate(tokens):
        following = tokens[index + 1 : index + 4]
        depth += (token.text == "{") - (token.text == "}")
        if token.text in VECTORS and depth and len(following) == 3 and following[0].kind == "word":
            if following[1].text == "(" and _are_values(tokens, index + 2):
                yield following[1].start, following[1].start, f" = {token.text}"
            continue
        if token.text in ("vec", "static_cast") and following and following[0].text == "<":
            last = closing_angle(tokens, index + 1)
            inside = [t.text for t in tokens[index + 2 : last]]
            called = last + 2 < len(tokens) and tokens[last + 1].text == "(" and tokens[last + 2].text not in ("&", "*")
            if token.text == "vec" and called:
                yield token.start, token.start, "__msl_construct<"
                yield tokens[last].end, tokens[last].end, ">"
            elif (
                token.text == "static_cast"
                and called
                and (inside[:1] == ["vec"] or inside[0] in VECTORS)
                and "*" not in inside
            ):
                yield token.start, token.end, "__msl_construct"
        elif token.text == "(" and len(following) == 3 and following[0].text in VECTORS and following[1].text == ")":
            operand = following[2]
            before = tokens[index - 1] if index else None
            is_call = before is not None and (
                (before.kind == "word" and before.text != "return") or before.text in (")", "]", ">")
            )
            if not is_call and (operand.kind in ("word", "number") or operand.text in ("(", "-", "*", "~")):
                yield token.start, following[1].end, f"__msl_caster<{following[0].text}>{{}} ->* "


def _are_values(tokens: Sequence[Token], opening: int) -> bool:
    """Whether the parentheses behind a name hold values: a declared function would have types with names in them."""
    last = closing(tokens, opening)
    if last == opening + 1 or tokens[last + 1 : last + 2] == [] or tokens[last + 1].text not in (";", ","):
        return False
    inside = tokens[opening + 1 : last]
    return not any(a.kind == b.kind == "word" for a, b in itertools.pairwise(inside))


def threadgroup_variables(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[Token]]]:
    """Each statement inside a function that declares threadgroup memory: its first word, and all of it."""
    depth = 0
    for index, token in enumerate(tokens):
        if token.text == "{":
            depth += 1
        elif token.text == "}":
            depth -= 1
        if token.text != "threadgroup" or depth == 0 or tokens[index - 1].text not in (";", "{", "}"):
            continue
        end = next((i for i in range(index, len(tokens)) if tokens[i].text == ";"), None)
        if end is None:
            raise Misread("a declaration does not end", token.start)
        statement = tokens[index : end + 1]
        depths = 0
        for part in statement:
            depths += (part.text in ("[", "(", "<")) - (part.text in ("]", ")", ">"))
            if part.text in ("*", "&") and depths == 0:
                break
        else:
            yield token, statement


# ------------------------------------------------ the code


def _threadgroup_variable(text: str, statement: Sequence[Token], number: int) -> str:
    """`threadgroup float a[4], b;` as references into the memory that the runtime gives each threadgroup."""
    if any(token.text == "=" for token in statement):
        raise Misread("variable in threadgroup address space cannot have an initializer", statement[0].start)
    parts = split(without_attributes(statement[1:-1])[0])
    first_name = _declared(parts[0])
    specifiers = " ".join(token.text for token in parts[0][:first_name])
    made = []
    for place, part in enumerate(parts):
        at = _declared(part)
        name, alias = part[at].text, f"__msl_type_of_{part[at].text}"
        extents = "".join(token.text for token in part[at + 1 :])
        made.append(
            f"typedef {specifiers} {alias} {extents}; {alias} &{name} = __msl_threadgroup<__msl_k, {number * 64 + place}, {alias}>();"
        )
    start, end = statement[0].start, statement[-1].end
    return " ".join(made) + "\n" * text[start:end].count("\n")


def _declared(part: Sequence[Token]) -> int:
    bracket = next((index for index, token in enumerate(part) if token.text == "["), len(part))
    return bracket - 1


def _constant(declaration: Declaration) -> str:
    kept = without_attributes(declaration.tokens)[0]
    words = [token.text for token in kept[:-1]]
    kind = " ".join(word for word in words[:-1] if word not in ("constant", "const"))
    index = declaration.attribute("function_constant")
    assert index is not None
    return (
        f"static const {kind} {words[-1]} = __msl_constant<{kind}>({index.text}); "
        f"static const bool __msl_given_{words[-1]} = msl_constant_given({index.text}); "
        f'extern "C" MSL_EXPORT const int __msl_constant_{words[-1]}[2] = {{{index.text}, metal::__msl_code<{kind}>::value}};'
    )


def _tables(constants: Sequence[Declaration], count: int) -> str:
    del constants
    return f"\nuint32_t __msl_static_nbytes[{max(count, 1)}];\n" + (
        f'extern "C" MSL_EXPORT uint32_t __msl_static_nbytes_of(unsigned k) {{ return k < {count} ? __msl_static_nbytes[k] : 0; }}'
    )


def _launched(number: int, export: Export) -> str:
    """The function that calls one kernel with what a thread has, and the table of what is bound to it."""
    kernel = export.kernel
    kind = f"__msl_f_{number}"
    # On one line, the kernel's own: what is wrong with its parameters is said there.
    parts = [f"using {kind} = decltype({export.function(number)});"]

    def type_of(place: int) -> str:
        return f"metal::__msl_parameter_type<{place}, {kind}>::type"

    bound: dict[str, list[tuple[int, Parameter, str]]] = {"buffer": [], "threadgroup": []}
    arguments, extents = [], []
    body_words = {token.text for token in kernel.tokens if kernel.body and token.start > kernel.body[0]}
    for place, parameter in enumerate(kernel.parameters):
        built_in = next((a.name for a in parameter.attributes if a.name in BUILT_IN), None)
        if built_in in _INDICES:
            arguments.append(f"metal::__msl_index_value<{type_of(place)}>::of({_INDICES[built_in]})")
        elif built_in is not None:
            extents.append(type_of(place))
            arguments.append(f"metal::__msl_position<{type_of(place)}>::of(t->{_EXTENTS[built_in]})")
        else:
            which = "threadgroup" if parameter.space == "threadgroup" else "buffer"
            index = next((a.text for a in parameter.attributes if a.name == which), "-1")
            at = f"__msl_{which}_{number}.at[{len(bound[which])}]"
            address = f"t->buffers[{at}]" if which == "buffer" else f"(unsigned long)t->local_memory[{at}]"
            arguments.append(f"metal::__msl_bound<{type_of(place)}>::at({address})")
            bound[which].append((place, parameter, index))
    for which, found in bound.items():
        indices = ", ".join(index for _, _, index in found) or "0"
        parts.append(f"static constexpr metal::__msl_indices<{len(found)}> __msl_{which}_{number}({{{indices}}});")
    if extents:
        parts.append(
            f"static_assert(metal::__msl_components_agree<{', '.join(extents)}>(), "
            '"the vectors among the positions and extents of a kernel must have one number of components");'
        )
    call = f"{export.function(number)}({', '.join(arguments)});"
    parts.append(f'extern "C" MSL_EXPORT void __msl_entry_{number}(const msl_thread *t) {{ (void)t; {call} }}')
    rows = [
        f'metal::__msl_describe<{type_of(place)}>("{parameter.name}", {int(which == "threadgroup")}, '
        f"__msl_{which}_{number}.at[{rank}], {int(parameter.name in body_words)})"
        for which, found in bound.items()
        for rank, (place, parameter, _) in enumerate(found)
    ]
    table = ", ".join([*rows, "{nullptr, 0, 0, 0, 0, 0, 0, 0}"])
    parts.append(f'extern "C" MSL_EXPORT const msl_parameter __msl_parameters_{number}[] = {{{table}}};')
    limit = kernel.attribute("max_total_threads_per_threadgroup")
    parts.append(f'extern "C" MSL_EXPORT const int __msl_max_threads_{number} = {limit.text if limit else 0};')
    return f'# {export.line} "program_source"\n' + " ".join(parts)


__all__ = ["BUILT_IN", "Export", "closing", "for_check", "for_code", "threadgroup_variables"]
