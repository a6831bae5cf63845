"""Metal's documented rules: each broken once, refused and entered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .control import MetalStandIn
from .fixtures import metal_standin
from .journal import ValidationAbort
from .setting import Setting

__all__ = ["metal_standin"]

PRIVATE = 32


@pytest.fixture
def setting(metal_standin: MetalStandIn) -> Setting:
    return Setting(metal_standin)


def _commands(setting: Setting) -> Any:
    return setting.queue.commandBuffer()


def _compute(setting: Setting) -> Any:
    return _commands(setting).computeCommandEncoder()


def _ready(setting: Setting, name: str = "add") -> Any:
    """An encoder with everything that the kernel needs."""
    encoder = _compute(setting)
    encoder.setComputePipelineState_(setting.pipeline(name))
    encoder.setBuffer_offset_atIndex_(setting.buffer(4 * 300), 0, 0)
    if name == "add":
        encoder.setBytes_length_atIndex_(b"1234", 4, 2)
    return encoder


def _after_end(setting: Setting) -> None:
    encoder = _compute(setting)
    encoder.endEncoding()
    encoder.setBytes_length_atIndex_(b"1234", 4, 0)


def _twice_ended(setting: Setting) -> None:
    encoder = _compute(setting)
    encoder.endEncoding()
    encoder.endEncoding()


def _second_encoder(setting: Setting) -> None:
    commands = _commands(setting)
    encoder = commands.computeCommandEncoder()
    try:
        commands.blitCommandEncoder()
    finally:
        encoder.endEncoding()


def _commit_open(setting: Setting) -> None:
    commands = _commands(setting)
    encoder = commands.computeCommandEncoder()
    try:
        commands.commit()
    finally:
        encoder.endEncoding()


def _commit_twice(setting: Setting) -> None:
    commands = _commands(setting)
    commands.commit()
    commands.commit()


def _encode_committed(setting: Setting) -> None:
    commands = _commands(setting)
    commands.commit()
    commands.computeCommandEncoder()


def _signal_committed(setting: Setting) -> None:
    commands = _commands(setting)
    commands.commit()
    commands.encodeSignalEvent_value_(setting.device.newSharedEvent(), 1)


def _late_handler(setting: Setting) -> None:
    commands = _commands(setting)
    commands.commit()
    commands.addCompletedHandler_(lambda done: None)


def _dispatch(
    setting: Setting, change: Callable[[Any], object], grid: tuple[int, int, int] = (2, 1, 1), block: tuple[int, int, int] = (3, 1, 1),
    name: str = "add",
) -> None:  # fmt: skip
    encoder = _ready(setting, name)
    try:
        change(encoder)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(grid, block)
    finally:
        encoder.endEncoding()


def _blit(setting: Setting, send: Callable[[Any, Any, Any], object]) -> None:
    encoder = _commands(setting).blitCommandEncoder()
    try:
        send(encoder, setting.buffer(64), setting.buffer(48))
    finally:
        encoder.endEncoding()


_COPY = "copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_"
RULES: dict[str, tuple[Callable[[Setting], object], str]] = {
    "nothing after endEncoding": (_after_end, "has ended"),
    "endEncoding once": (_twice_ended, "has ended"),
    "one open encoder": (_second_encoder, "has not ended"),
    "commit with an open encoder": (_commit_open, "has not ended"),
    "commit once": (_commit_twice, "committed already"),
    "no encoding after commit": (_encode_committed, "committed already"),
    "no signal after commit": (_signal_committed, "committed already"),
    "handlers before commit": (_late_handler, "committed already"),
    "no wait before commit": (lambda s: _commands(s).waitUntilCompleted(), "wait for ever"),
    "31 slots for buffers": (lambda s: _dispatch(s, lambda e: e.setBuffer_offset_atIndex_(s.buffer(16), 0, 31)), "31 buffer slots"),
    "31 slots for bytes": (lambda s: _dispatch(s, lambda e: e.setBytes_length_atIndex_(b"1234", 4, 31)), "31 buffer slots"),
    "4096 inline bytes": (lambda s: _dispatch(s, lambda e: e.setBytes_length_atIndex_(bytes(4097), 4097, 2)), "at most 4096"),
    "no zero length": (lambda s: _dispatch(s, lambda e: e.setBytes_length_atIndex_(b"", 0, 2)), "length is 0"),
    "threadgroup lengths in 16": (lambda s: _dispatch(s, lambda e: e.setThreadgroupMemoryLength_atIndex_(24, 0)), "no multiple of 16"),
    "threadgroup length of the device": (
        lambda s: _dispatch(s, lambda e: e.setThreadgroupMemoryLength_atIndex_(32784, 0)), "the device has 32768",
    ),
    "threadgroup memory with the static": (
        lambda s: _dispatch(s, lambda e: e.setThreadgroupMemoryLength_atIndex_(32768 - 1024 + 16, 1), name="shared"),
        "32784 bytes of threadgroup memory",
    ),
    "threadgroup memory that is declared": (lambda s: _dispatch(s, lambda e: None, name="shared"), "room at index 1 of shared has no length"),
    "threads of the pipeline": (lambda s: _dispatch(s, lambda e: None, block=(257, 1, 1)), "257 threads per threadgroup; pipeline add allows 256"),
    "an empty grid": (lambda s: _dispatch(s, lambda e: None, grid=(3, 0, 1)), "has no thread"),
    "an unbound buffer": (lambda s: _dispatch(s, lambda e: e.setBuffer_offset_atIndex_(None, 0, 0)), "missing buffer binding at index 0"),
    "an offset at the end": (lambda s: _dispatch(s, lambda e: e.setBuffer_offset_atIndex_(s.buffer(16), 16, 0)), "offset 16 of a buffer of 16"),
    "an unaligned offset": (lambda s: _dispatch(s, lambda e: e.setBuffer_offset_atIndex_(s.buffer(16), 6, 0)), "offset 6, alignment 4"),
    "fewer bytes than read": (lambda s: _dispatch(s, lambda e: e.setBytes_length_atIndex_(b"12", 2, 2)), "2 bytes bound, 4 needed"),
    "inline bytes are constant": (lambda s: _dispatch(s, lambda e: e.setBytes_length_atIndex_(b"1234", 4, 0)), "inline bytes are constant"),
    "useResource of nothing": (lambda s: _dispatch(s, lambda e: e.useResource_usage_(None, 1)), "resource is nil"),
    "a blit past the source": (lambda s: _blit(s, lambda e, a, b: getattr(e, _COPY)(a, 32, b, 0, 36)), "source bytes [32, 68) of 64"),
    "a blit past the destination": (lambda s: _blit(s, lambda e, a, b: getattr(e, _COPY)(a, 0, b, 16, 36)), "destination bytes [16, 52) of 48"),
    "a blit of odd size": (lambda s: _blit(s, lambda e, a, b: getattr(e, _COPY)(a, 0, b, 0, 6)), "size is 6; on macOS it is a multiple of 4"),
    "a blit at an odd offset": (lambda s: _blit(s, lambda e, a, b: getattr(e, _COPY)(a, 0, b, 2, 4)), "destinationOffset is 2"),
    "a blit over itself": (lambda s: _blit(s, lambda e, a, b: getattr(e, _COPY)(a, 0, a, 8, 12)), "overlap"),
    "a blit of nothing": (lambda s: _blit(s, lambda e, a, b: getattr(e, _COPY)(a, 0, b, 0, 0)), "size is 0"),
    "a fill past the end": (lambda s: _blit(s, lambda e, a, b: e.fillBuffer_range_value_(b, (40, 12), 1)), "destination bytes [40, 52) of 48"),
    "contents of private storage": (lambda s: s.buffer(16, options=PRIVATE).contents(), "private storage"),
    "a buffer of nothing": (lambda s: s.buffer(0), "length is 0"),
    "a buffer over the limit": (lambda s: s.buffer((1 << 33) + 1), "exceeds maxBufferLength"),
    "managed storage with unified memory": (lambda s: s.buffer(16, options=16), "no buffers of storage mode 1"),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_a_broken_rule_is_refused_and_entered(setting: Setting, rule: str) -> None:
    """The message raises where Metal's validation would end the process, and the record has one entry."""
    break_it, text = RULES[rule]
    with setting.objc.autorelease_pool():
        with pytest.raises(ValidationAbort) as raised:
            break_it(setting)
        setting.standin.wait_idle()
    assert text in str(raised.value)
    assert setting.standin.take_violations() == [str(raised.value)]


def test_a_dispatch_needs_a_pipeline(setting: Setting) -> None:
    """Bindings alone are no kernel."""
    with setting.objc.autorelease_pool():
        encoder = _compute(setting)
        with pytest.raises(ValidationAbort, match="no pipeline state is set"):
            encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
        encoder.endEncoding()
    setting.standin.take_violations()


def test_an_encoder_that_never_ended_is_entered_when_it_goes(setting: Setting) -> None:
    """Metal ends the process at its release."""
    with setting.objc.autorelease_pool():
        _compute(setting).setLabel_("7 lost")
    assert setting.standin.take_violations() == ["MTLComputeCommandEncoder '7 lost': released without endEncoding"]


def test_what_keeps_to_the_rules_is_left_alone(setting: Setting) -> None:
    """The limits themselves are allowed: slot 30, 4096 bytes, 32768 bytes of threadgroup memory, 256 threads."""
    with setting.objc.autorelease_pool():
        encoder = _ready(setting)
        encoder.setBytes_length_atIndex_(bytes(4096), 4096, 30)
        encoder.setThreadgroupMemoryLength_atIndex_(32768, 0)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (256, 1, 1))
        encoder.endEncoding()
    assert setting.standin.violations() == []


def test_another_devices_buffer_is_refused(metal_standin: MetalStandIn) -> None:
    """A buffer belongs to the device that made it."""
    setting = Setting(metal_standin, devices=2)
    with setting.objc.autorelease_pool():
        first, second = setting.metal.MTLCopyAllDevices()
        assert first is setting.device
        foreign = second.newBufferWithLength_options_(16, 0)
        encoder = _compute(setting)
        with pytest.raises(ValidationAbort, match="another device's"):
            encoder.setBuffer_offset_atIndex_(foreign, 0, 0)
        encoder.endEncoding()
    setting.standin.take_violations()


def test_a_queue_hands_out_so_many_command_buffers(setting: Setting) -> None:
    """The sixty-fifth that is not committed would wait for ever; one that completes makes room."""
    with setting.objc.autorelease_pool():
        held = [setting.queue.commandBuffer() for _ in range(64)]
        with pytest.raises(ValidationAbort, match="all 64 command buffers"):
            setting.queue.commandBuffer()
        setting.standin.take_violations()
        held[40].commit()
        setting.queue.commandBuffer()


def test_a_function_with_required_constants_makes_no_pipeline_without_them(setting: Setting) -> None:
    """The error names the constant, and the record says that it was tried."""
    with setting.objc.autorelease_pool():
        state, error = setting.device.newComputePipelineStateWithFunction_error_(setting.function("scaled"), None)
        assert state is None
        assert "SCALE" in error.localizedDescription()
    assert len(setting.standin.take_violations()) == 1


def test_a_buffer_that_nobody_kept_faults(setting: Setting) -> None:
    """With unretained references the caller keeps the buffer; gone before the work has run, it is a fault and entered."""
    state = setting.pipeline("add")
    setting.standin.hold()
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBufferWithUnretainedReferences()
        setting.encode_add(commands, state, setting.buffer(20), 2.0)
        commands.commit()
        setting.standin.release()
        commands.waitUntilCompleted()
        assert commands.status() == setting.metal.MTLCommandBufferStatusError
    assert "MTLBuffer was deallocated before" in setting.standin.take_violations()[0]
