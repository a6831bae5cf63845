"""Every message that the backend sends, held to what the real bindings declare: count and types of its arguments.

Nothing here runs on a Mac. What is compared is data: the selectors that the source sends, those that the stand-in saw,
and the interface of pyobjc-framework-Metal as its macOS wheel carries it (tests/metal_standin/interface.json).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from metal_standin.control import MetalStandIn
from metal_standin.encodings import declared_types, method_types, one_type
from metal_standin.fixtures import metal_standin
from metal_standin.interface import DATA, DECLARED, messages, owners
from metal_standin.libraries import make_metallib

import metrale_gpu_runtime as mg
import metrale_gpu_runtime.drivers.metal as room
from metrale_gpu_runtime.drivers.metal import listing
from metrale_gpu_runtime.drivers.metal.bindings import OWNED, metadata

__all__ = ["metal_standin"]

FOLDER = Path(room.__file__).parent
FILES = sorted(FOLDER.glob("*.py"))

# Result, then arguments, as Objective-C encodes them: @ an object, Q NSUInteger, q NSInteger, Z BOOL, ^@ an object that
# comes back, ^v memory.
SENT = {
    # MTLDevice
    "name": "@",
    "registryID": "Q",
    "hasUnifiedMemory": "Z",
    "isLowPower": "Z",
    "isRemovable": "Z",
    "supportsFamily:": "Z q",
    "maxBufferLength": "Q",
    "maxThreadgroupMemoryLength": "Q",
    "maxThreadsPerThreadgroup": "{MTLSize=QQQ}",
    "recommendedMaxWorkingSetSize": "Q",
    "currentAllocatedSize": "Q",
    "newBufferWithLength:options:": "@ Q Q",
    "newCommandQueue": "@",
    "newSharedEvent": "@",
    "newLibraryWithSource:options:error:": "@ @ @ ^@",
    "newLibraryWithURL:error:": "@ @ ^@",
    "newComputePipelineStateWithDescriptor:options:reflection:error:": "@ @ Q ^@ ^@",
    # MTLBuffer, MTLSharedEvent
    "contents": "^v",
    "gpuAddress": "Q",
    "signaledValue": "Q",
    "setSignaledValue:": "v Q",
    # MTLCompileOptions, MTLLibrary, MTLFunction, MTLFunctionConstant, MTLFunctionConstantValues
    "alloc": "@",
    "init": "@",
    "setFastMathEnabled:": "v Z",
    "setLanguageVersion:": "v Q",
    "setPreprocessorMacros:": "v @",
    "functionNames": "@",
    "newFunctionWithName:": "@ @",
    "newFunctionWithName:constantValues:error:": "@ @ @ ^@",
    "functionType": "Q",
    "functionConstantsDictionary": "@",
    "type": "Q",
    "index": "Q",
    "required": "Z",
    "setConstantValue:type:atIndex:": "v ^v Q Q",
    # MTLComputePipelineDescriptor, MTLComputePipelineState, MTLComputePipelineReflection, MTLBinding
    "setComputeFunction:": "v @",
    "setLabel:": "v @",
    "maxTotalThreadsPerThreadgroup": "Q",
    "staticThreadgroupMemoryLength": "Q",
    "threadExecutionWidth": "Q",
    "bindings": "@",
    "access": "Q",
    "isArgument": "Z",
    "bufferAlignment": "Q",
    "bufferDataSize": "Q",
    "bufferDataType": "Q",
    "threadgroupMemoryAlignment": "Q",
    "threadgroupMemoryDataSize": "Q",
    # MTLCommandQueue, MTLCommandBufferDescriptor, MTLCommandBuffer
    "commandBufferWithDescriptor:": "@ @",
    "setErrorOptions:": "v Q",
    "computeCommandEncoder": "@",
    "blitCommandEncoder": "@",
    "encodeSignalEvent:value:": "v @ Q",
    "encodeWaitForEvent:value:": "v @ Q",
    "commit": "v",
    "status": "q",
    "error": "@",
    "waitUntilCompleted": "v",
    "GPUEndTime": "d",
    # MTLCommandEncoder, MTLComputeCommandEncoder, MTLBlitCommandEncoder
    "endEncoding": "v",
    "setComputePipelineState:": "v @",
    "setBuffer:offset:atIndex:": "v @ Q Q",
    "setBytes:length:atIndex:": "v ^v Q Q",
    "setThreadgroupMemoryLength:atIndex:": "v Q Q",
    "useResource:usage:": "v @ Q",
    "dispatchThreadgroups:threadsPerThreadgroup:": "v {MTLSize=QQQ} {MTLSize=QQQ}",
    "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:": "v @ Q @ Q Q",
    "fillBuffer:range:value:": "v @ {_NSRange=QQ} C",
    # NSError, MTLCommandBufferEncoderInfo, NSURL
    "domain": "@",
    "code": "q",
    "userInfo": "@",
    "localizedDescription": "@",
    "label": "@",
    "errorState": "q",
    "fileURLWithPath:": "@ @",
}

# Selectors of Foundation, and of classes of Metal: the wheel lists protocols and its own corrections only. These were
# written down from Apple's headers (tests/metal_standin/declared.py names the header).
FROM_HEADERS_ONLY = {
    "alloc",
    "bindings",
    "code",
    "domain",
    "fileURLWithPath:",
    "init",
    "localizedDescription",
    "setComputeFunction:",
    "setConstantValue:type:atIndex:",
    "setErrorOptions:",
    "setLanguageVersion:",
    "setPreprocessorMacros:",
    "userInfo",
}

FUNCTIONS = {"MTLCopyAllDevices", "MTLCreateSystemDefaultDevice"}

# Small numbers that Apple's headers and PyObjC's metadata call signed in one place and unsigned in another.
EITHER_SIGN = {"type"}

# Methods of Python's own objects that are spelled like a selector without arguments.
PYTHONS = {"release": "a lock's"}

_SPELLED = re.compile(r"[a-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*_")


def _bare_selectors() -> set[str]:
    return {selector for owner in owners() for selector in messages(owner) if ":" not in selector} | {"alloc", "init"}


def _sent_by(path: Path) -> Iterator[tuple[str, int, int | None]]:
    """(selector, line, arguments given) of what a file sends; None where the source does not tell how many."""
    tree = ast.parse(path.read_text())
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    bare = _bare_selectors() - set(PYTHONS)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        call = called.get(id(node))
        if _SPELLED.fullmatch(node.attr):
            is_open = call is None or any(isinstance(argument, ast.Starred) for argument in call.args)
            yield node.attr.replace("_", ":"), node.lineno, None if is_open else len(call.args)
        elif node.attr in bare and call is not None and not call.args and not call.keywords:
            yield node.attr, node.lineno, 0


def _sent() -> set[str]:
    return {selector for path in FILES for selector, _, _ in _sent_by(path)}


def _same(code: str) -> str:
    """One spelling of what is the same: BOOL is `c` or `B` by the processor and `Z` in PyObjC's metadata, which has a
    letter of its own for a byte that is a number; a struct is what it is made of."""
    if code.startswith("{"):
        return code.partition("=")[2]
    return {"c": "Z", "B": "Z", "z": "C"}.get(code, code)


def _stated(selector: str) -> Iterator[tuple[str, str | None, tuple[str | None, ...]]]:
    """(who says it, result, arguments) of each entry for a selector in the wheel; None where an entry says nothing."""
    for owner, protocol in DATA["protocols"].items():
        for table in ("methods", "optional"):
            if selector in protocol[table]:
                result, arguments = method_types(protocol[table][selector])
                yield f"protocol {owner}", _same(result.code), tuple(_same(each.code) for each in arguments)
    for owner, table in DATA["selectors"].items():
        entry = table.get(selector)
        if entry is not None:
            yield f"metadata of {owner}", *_of_entry(entry, selector.count(":"))


def _of_entry(entry: dict[str, dict[str, dict[str, str]]], count: int) -> tuple[str | None, tuple[str | None, ...]]:
    def code(of: dict[str, str] | None) -> str | None:
        return None if of is None or "type" not in of else _same(one_type(of["type"])[0].code)

    arguments = entry.get("arguments", {})
    assert set(arguments) <= {str(number) for number in range(2, 2 + count)}
    return code(entry.get("retval")), tuple(code(arguments.get(str(number))) for number in range(2, 2 + count))


def _listed(selector: str) -> tuple[str, tuple[str, ...]]:
    result, *arguments = (_same(code) for code in SENT[selector].split())
    return result, tuple(arguments)


SOURCE = """
#include <metal_stdlib>
using namespace metal;

constant uint STEP [[function_constant(3)]];

struct Large {
    uint words[1025];
};

kernel void add(device uint* x [[buffer(0)]], constant uint& plus [[buffer(1)]],
                threadgroup uint* room [[threadgroup(0)]], uint at [[thread_position_in_grid]],
                uint mine [[thread_position_in_threadgroup]]) {
    room[mine] = plus;
    x[at] += room[mine] * TIMES;
}

kernel void follow(device const ulong* addresses [[buffer(0)]], constant Large& value [[buffer(1)]],
                   uint at [[thread_position_in_grid]]) {
    reinterpret_cast<device uint*>(addresses[0])[at] += STEP + value.words[1024];
}
"""


def test_every_selector_that_is_sent_is_listed() -> None:
    """The list above is what the source sends, no more and no less."""
    assert _sent() == set(SENT)


def test_what_the_stand_in_saw_is_what_the_source_sends(metal_standin: MetalStandIn) -> None:
    """A run through all that the backend does sends each selector of the list, and no other."""
    for storage in ("shared", "private"):
        _run_through(metal_standin, storage)
    assert listing._devices()[0]["name"] == metal_standin.world.facts.name
    assert {selector for _, selector in metal_standin.sent()} == set(SENT) | FUNCTIONS


def _run_through(standin: MetalStandIn, storage: str) -> None:
    with mg.open_backend("metal", storage=storage) as gpu:
        options = ("-DTIMES=3", "-std=metal3.1")
        module = gpu.load_module("m", source=SOURCE, options=options)
        gpu.load_module("compiled", binary=make_metallib(SOURCE, {"TIMES": "3"}))
        assert set(module) == {"add", "follow"}
        with pytest.raises(mg.CompileError, match="TIMES"):
            gpu.load_module("bad", source=SOURCE)
        assert gpu.total_memory() >= gpu.free_memory() > 0

        x = gpu.array(np.arange(6, dtype=np.uint32))
        module["add"][2, 3, 3 * 4](x, 5)
        copied = gpu.empty(6, np.uint32)
        gpu.copy_d2d(x, copied, 24)
        assert copied.numpy().tolist() == [15, 16, 17, 18, 19, 20]
        gpu.memset(x, 7, 24)
        assert x.numpy().tolist() == [0x07070707] * 6

        places = gpu.array(np.array([x.ptr.address], dtype=np.uint64))
        follow = gpu.kernel("m", "follow", constants={"STEP": 11})
        large = bytes(4096) + (13).to_bytes(4, "little")
        with gpu.create_stream() as stream, gpu.create_event() as event:
            mg.KernelLaunch(gpu, follow).grid(2).block(3).uses(x).arg_ptr(places).arg_bytes(large, align=4).launch(
                stream
            )
            event.record(stream)
            gpu.default_stream().wait_event(event)
            module["add"][2, 3, 3 * 4](x, 1)
            gpu.synchronize()
        assert x.numpy().tolist() == [0x07070707 + 11 + 13 + 3] * 6

        places.copy_from(np.array([0x40], dtype=np.uint64))
        with gpu.create_stream() as stream, gpu.create_event() as event:
            mg.KernelLaunch(gpu, follow).grid(1).block(3).uses(x).arg_ptr(places).arg_bytes(large, align=4).launch(
                stream
            )
            event.record(stream)
            gpu.default_stream().wait_event(event)
            with pytest.raises(mg.KernelFault, match="follow"):
                gpu.synchronize()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_message_is_sent_with_as_many_arguments_as_it_has(path: Path) -> None:
    """Each call gives one argument for each colon of its selector."""
    for selector, line, given in _sent_by(path):
        if given is not None:
            assert given == selector.count(":"), f"{path.name}:{line}: {selector} was given {given} arguments"


@pytest.mark.parametrize("selector", sorted(SENT))
def test_every_selector_is_in_the_real_bindings(selector: str) -> None:
    """The wheel knows each selector with these types, or it is one of the few that only Apple's headers tell."""
    result, arguments = _listed(selector)
    assert len(arguments) == selector.count(":")
    said = list(_stated(selector))
    assert bool(said) is (selector not in FROM_HEADERS_ONLY)
    for who, stated_result, stated_arguments in said:
        assert stated_result in (result, None) or selector in EITHER_SIGN, f"{who} says {stated_result}"
        assert len(stated_arguments) == len(arguments), who
        for listed, stated in zip(arguments, stated_arguments, strict=True):
            assert stated in (listed, None), f"{who} says {stated_arguments}"


@pytest.mark.parametrize("selector", sorted(FROM_HEADERS_ONLY))
def test_what_only_headers_tell_is_declared_with_its_header(selector: str) -> None:
    """A selector that the wheel does not list is declared for a class of a named header, with the same types."""
    found = [
        (declared.source, types)
        for declared in DECLARED.values()
        for table in (declared.methods, declared.class_methods)
        if (types := table.get(selector)) is not None
    ]
    assert found
    for source, types in found:
        assert source.endswith(".h")
        result, arguments = declared_types(types)
        assert (_same(result.code), tuple(_same(each.code) for each in arguments)) == _listed(selector)


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_every_function_is_in_the_real_bindings(function: str) -> None:
    """Both take nothing and return an object, which the shipped metadata already says is the caller's."""
    encoding, _, stated = DATA["functions"][function]
    assert encoding == "@"
    assert stated == {"retval": {"already_cfretained": True}}


def test_every_new_method_that_is_sent_hands_its_result_over() -> None:
    """Exactly the methods named new… that the backend sends are registered as owned by the caller."""
    assert {selector.decode() for selector in OWNED} == {each for each in _sent() if re.match("new(?![a-z])", each)}


@pytest.mark.parametrize("selector", sorted(OWNED))
def test_a_registration_restates_all_that_the_shipped_one_says(selector: bytes) -> None:
    """PyObjC replaces an entry whole: ours says what the wheel's says, and that the result is the caller's.

    The one other difference is the reflection of a pipeline, which the wheel leaves without a direction.
    """
    shipped = DATA["selectors"]["NSObject"][selector.decode()]
    ours = metadata(OWNED[selector])
    assert ours["retval"] == {"type": shipped["retval"]["type"].encode(), "already_retained": True}
    assert ours["required"] is shipped["required"]
    stated = {
        int(number): {word: value.encode() for word, value in entry.items()}
        for number, entry in shipped.get("arguments", {}).items()
    }
    if b":reflection:" in selector:
        assert stated[4] == {"type": b"^@"}
        stated[4] = {"type": b"^@", "type_modifier": b"o"}
    assert ours.get("arguments", {}) == stated
