"""How the GPU's side behaves: order, events, faults, what is dropped, residency, the test's own controls."""

from __future__ import annotations

import struct
import threading
from pathlib import Path
from typing import Any

import pytest

from .control import MetalStandIn
from .fixtures import metal_standin
from .ownership import lock
from .setting import Setting

__all__ = ["metal_standin"]


@pytest.fixture
def setting(metal_standin: MetalStandIn) -> Setting:
    return Setting(metal_standin)


def _described(setting: Setting) -> Any:
    """A command buffer that will say how far each encoder came."""
    descriptor = setting.metal.MTLCommandBufferDescriptor.alloc().init()
    descriptor.setErrorOptions_(setting.metal.MTLCommandBufferErrorOptionEncoderExecutionStatus)
    return setting.queue.commandBufferWithDescriptor_(descriptor)


def _encode_follow(setting: Setting, commands: Any, target: Any, offset: int, *, named: bool) -> None:
    """An encoder that writes 7.0 at an address which lies in memory."""
    pointers = setting.buffer(8)
    pointers.contents().as_buffer(8)[:] = struct.pack("Q", target.gpuAddress() + offset)
    encoder = commands.computeCommandEncoder()
    encoder.setLabel_("3 follow")
    encoder.setComputePipelineState_(setting.pipeline("follow"))
    encoder.setBuffer_offset_atIndex_(pointers, 0, 0)
    if named:
        encoder.useResource_usage_(target, setting.metal.MTLResourceUsageRead | setting.metal.MTLResourceUsageWrite)
    encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
    encoder.endEncoding()


def test_a_launch_computes(setting: Setting) -> None:
    """Two threadgroups of five threads add to ten floats; the eleventh is as it was."""
    buffer = setting.buffer(44, *range(11))
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        setting.encode_add(commands, setting.pipeline("add"), buffer, 0.5, groups=2)
        commands.commit()
        commands.waitUntilCompleted()
        assert commands.status() == setting.metal.MTLCommandBufferStatusCompleted
        assert commands.error() is None
        assert 0 < commands.GPUStartTime() <= commands.GPUEndTime()
    assert setting.floats(buffer, 11) == (*(value + 0.5 for value in range(10)), 10.0)


def test_threadgroup_memory_and_offsets_reach_the_kernel(setting: Setting) -> None:
    """The length that was set, at the place that the offset says."""
    buffer = setting.buffer(16)
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(setting.pipeline("shared"))
        encoder.setBuffer_offset_atIndex_(buffer, 8, 0)
        encoder.setThreadgroupMemoryLength_atIndex_(48, 1)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
    assert setting.floats(buffer, 4) == (0.0, 0.0, 48.0, 0.0)


def test_private_storage_is_reached_by_blits(setting: Setting) -> None:
    """Bytes go in and come back through shared buffers, in the queue's order."""
    source, private, target = setting.buffer(32, *range(1, 9)), setting.buffer(40, options=32), setting.buffer(32)
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        encoder = commands.blitCommandEncoder()
        encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(source, 4, private, 8, 20)
        encoder.fillBuffer_range_value_(private, (12, 4), 0)
        encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(private, 8, target, 12, 16)
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
    assert setting.floats(target, 8) == (0.0, 0.0, 0.0, 2.0, 0.0, 4.0, 5.0, 0.0)


def test_memory_reached_through_memory_must_be_named(setting: Setting) -> None:
    """useResource opens it; without that the kernel faults, as it does in a buffer that was not named."""
    target, stranger = setting.buffer(12), setting.buffer(12)
    beyond = stranger.gpuAddress() - target.gpuAddress()
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        _encode_follow(setting, commands, target, 4, named=True)
        commands.commit()
        commands.waitUntilCompleted()
        assert commands.error() is None
        assert setting.floats(target, 3) == (0.0, 7.0, 0.0)
        for offset, named in ((beyond, True), (8, False)):
            setting.queue = setting.device.newCommandQueue()
            commands = setting.queue.commandBuffer()
            _encode_follow(setting, commands, target, offset, named=named)
            commands.commit()
            commands.waitUntilCompleted()
            assert commands.error().code() == setting.metal.MTLCommandBufferErrorPageFault
    assert setting.floats(target, 3) == (0.0, 7.0, 0.0)


def test_a_fault_names_its_encoder_and_drops_what_is_behind(setting: Setting) -> None:
    """Completed, faulted, pending; the next command buffers are ignored, signal nothing, and leave memory alone."""
    buffer, state = setting.buffer(20), setting.pipeline("add")
    event = setting.device.newSharedEvent()
    setting.standin.fail_next(code=3, encoder="5 add")
    setting.standin.hold()
    with setting.objc.autorelease_pool():
        failing = _described(setting)
        for ordinal in (4, 5, 6):
            setting.encode_add(failing, state, buffer, 10.0, f"{ordinal} add")
        behind = _described(setting)
        setting.encode_add(behind, state, buffer, 100.0, "7 add")
        behind.encodeSignalEvent_value_(event, 3)
        failing.commit()
        behind.commit()
        setting.standin.release()
        behind.waitUntilCompleted()
        error = failing.error()
        assert (error.domain(), error.code()) == (setting.metal.MTLCommandBufferErrorDomain, 3)
        infos = error.userInfo()[setting.metal.MTLCommandBufferEncoderInfoErrorKey]
        assert [(info.label(), info.errorState()) for info in infos] == [
            ("4 add", setting.metal.MTLCommandEncoderErrorStateCompleted),
            ("5 add", setting.metal.MTLCommandEncoderErrorStateFaulted),
            ("6 add", setting.metal.MTLCommandEncoderErrorStatePending),
        ]
        assert (behind.status(), behind.error().code()) == (5, setting.metal.MTLCommandBufferErrorAccessRevoked)
    assert event.signaledValue() == 0
    assert setting.floats(buffer, 5) == (10.0,) * 5


def test_without_error_options_nothing_is_said_of_encoders(setting: Setting) -> None:
    """Encoder information is given to who asked for it."""
    setting.standin.fail_next(code=8)
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        setting.encode_add(commands, setting.pipeline("add"), setting.buffer(20), 1.0, "1 add")
        commands.commit()
        commands.waitUntilCompleted()
        assert commands.error().code() == setting.metal.MTLCommandBufferErrorOutOfMemory
        assert commands.error().userInfo().get(setting.metal.MTLCommandBufferEncoderInfoErrorKey) is None


def test_the_error_is_known_only_after_completion(setting: Setting) -> None:
    """Held on the GPU, a command buffer that will fail is scheduled and has no error."""
    setting.standin.fail_next(code=2)
    setting.standin.hold()
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        assert commands.status() == setting.metal.MTLCommandBufferStatusNotEnqueued
        setting.encode_add(commands, setting.pipeline("add"), setting.buffer(20), 1.0)
        commands.commit()
        commands.waitUntilScheduled()
        assert commands.status() == setting.metal.MTLCommandBufferStatusScheduled
        assert commands.error() is None
        setting.standin.release()
        commands.waitUntilCompleted()
        assert commands.error().code() == setting.metal.MTLCommandBufferErrorTimeout


def test_queues_wait_for_each_other_by_events(setting: Setting) -> None:
    """The waiting queue runs its encoder after the signal, although it was committed first."""
    buffer, state = setting.buffer(20), setting.pipeline("add")
    event, other = setting.device.newSharedEvent(), setting.device.newCommandQueue()
    with setting.objc.autorelease_pool():
        second = other.commandBuffer()
        second.encodeWaitForEvent_value_(event, 4)
        setting.encode_add(second, state, buffer, 1.0)
        second.commit()
        first = setting.queue.commandBuffer()
        setting.encode_add(first, state, buffer, 2.0)
        first.encodeSignalEvent_value_(event, 4)
        assert second.status() < setting.metal.MTLCommandBufferStatusCompleted
        first.commit()
        assert event.waitUntilSignaledValue_timeoutMS_(4, 2**64 - 1)
        second.waitUntilCompleted()
    assert setting.floats(buffer, 5) == (3.0,) * 5


def test_the_host_signals_and_waits(setting: Setting) -> None:
    """A queue that waits goes on when the host sets the value; a wait in vain ends with its time."""
    event = setting.device.newSharedEvent()
    assert not event.waitUntilSignaledValue_timeoutMS_(1, 0)
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        commands.encodeWaitForEvent_value_(event, 1)
        commands.commit()
        event.setSignaledValue_(1)
        commands.waitUntilCompleted()
    assert event.signaledValue() == 1


def test_handlers_are_called_with_the_command_buffer(setting: Setting) -> None:
    """Scheduled, then completed, before waitUntilCompleted returns; by then the status is final."""
    told: list[tuple[str, int]] = []
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        commands.addScheduledHandler_(lambda buffer: told.append(("scheduled", buffer.status())))
        commands.addCompletedHandler_(lambda buffer: told.append(("completed", buffer.status())))
        commands.commit()
        commands.waitUntilCompleted()
    assert told == [("scheduled", 3), ("completed", 4)]


def test_a_handler_that_raises_is_entered(setting: Setting) -> None:
    """PyObjC would end the process."""

    def handler(buffer: Any) -> None:
        raise KeyError("gone")

    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        commands.addCompletedHandler_(handler)
        commands.commit()
        commands.waitUntilCompleted()
    assert "KeyError('gone')" in setting.standin.take_violations()[0]


def test_held_work_is_let_go_one_by_one(setting: Setting) -> None:
    """release(1) runs exactly one command buffer; committed() tells all of them with their encoders."""
    buffer, state = setting.buffer(20), setting.pipeline("add")
    setting.standin.hold()
    with setting.objc.autorelease_pool():
        made = []
        for step in (1.0, 20.0):
            commands = setting.queue.commandBuffer()
            setting.encode_add(commands, state, buffer, step, f"{step:g} add")
            commands.commit()
            made.append(commands)
        setting.standin.release(1)
        made[0].waitUntilCompleted()
        assert setting.floats(buffer, 1) == (1.0,)
        assert made[1].status() < 4
        setting.standin.release()
        made[1].waitUntilCompleted()
    assert setting.floats(buffer, 1) == (21.0,)
    assert [(one.encoders, one.operations) for one in setting.standin.committed()] == [
        (("1 add",), ("dispatch add",)),
        (("20 add",), ("dispatch add",)),
    ]


def test_one_queue_is_let_go_and_another_stays_held(setting: Setting) -> None:
    """release(2, queue=...) is for that queue alone, whichever asks first."""
    setting.standin.hold()
    other = setting.device.newCommandQueue()
    with setting.objc.autorelease_pool():
        held, first, second = other.commandBuffer(), setting.queue.commandBuffer(), setting.queue.commandBuffer()
        for commands in (held, first, second):
            commands.commit()
        held.waitUntilScheduled()
        setting.standin.release(2, queue=setting.queue)
        second.waitUntilCompleted()
        assert held.status() == setting.metal.MTLCommandBufferStatusScheduled
        setting.standin.release()
        held.waitUntilCompleted()


def test_a_full_queue_waits_for_room(setting: Setting) -> None:
    """With 64 committed command buffers the next one is handed out when the first is done, and not before."""
    setting.standin.hold()
    got: list[Any] = []

    def take() -> None:
        with setting.objc.autorelease_pool():
            got.append(setting.queue.commandBuffer())

    with setting.objc.autorelease_pool():
        held = [setting.queue.commandBuffer() for _ in range(64)]
        for commands in held:
            commands.commit()
        other = threading.Thread(target=take)
        other.start()
        held[0].waitUntilScheduled()
        assert not got
        setting.standin.release(1)
        other.join()
        assert held[0].status() == setting.metal.MTLCommandBufferStatusCompleted
        assert held[1].status() < setting.metal.MTLCommandBufferStatusCompleted
    assert len(got) == 1
    setting.standin.release()
    setting.standin.wait_idle()


def test_what_fails_next_is_the_nth_of_its_kind(setting: Setting) -> None:
    """The device returns nil for the second buffer and the first queue; for a library and a pipeline an error."""
    setting.standin.fail_next("buffer", nth=2)
    assert setting.buffer(4) is not None
    assert setting.device.newBufferWithLength_options_(4, 0) is None
    assert setting.buffer(4) is not None
    setting.standin.fail_next("queue")
    assert setting.device.newCommandQueue() is None
    setting.standin.fail_next("event")
    assert setting.device.newSharedEvent() is None
    setting.standin.fail_next("library", 2, text="no compiler")
    setting.standin.fail_next("pipeline", 3, text="no room")
    with setting.objc.autorelease_pool():
        _, error = setting.device.newLibraryWithSource_options_error_("kernels", None, None)
        assert (error.code(), error.localizedDescription()) == (2, "no compiler")
        state, error = setting.device.newComputePipelineStateWithFunction_error_(setting.function("add"), None)
        assert (state, error.localizedDescription()) == (None, "no room")
    with pytest.raises(KeyError):
        setting.standin.fail_next("memory")


def test_memory_is_counted_and_given_back_zeroed(setting: Setting) -> None:
    """currentAllocatedSize follows the live buffers; beyond the device's memory there is nil."""
    before = setting.device.currentAllocatedSize()
    buffer = setting.buffer(5000, *range(1, 9))
    assert setting.device.currentAllocatedSize() - before == buffer.allocatedSize() == 8192
    address = buffer.gpuAddress()
    del buffer
    assert setting.device.currentAllocatedSize() == before
    again = setting.buffer(5000)
    assert again.gpuAddress() == address
    assert setting.floats(again, 8) == (0.0,) * 8
    setting.standin.reset(memory=1 << 20)
    import Metal

    assert Metal.MTLCreateSystemDefaultDevice().newBufferWithLength_options_((1 << 20) + 1, 0) is None


def test_many_live_buffers_are_no_more_mappings(setting: Setting) -> None:
    """Three thousand buffers leave the process's map as it was, and a launch among them makes two resident."""
    state = setting.pipeline("add")
    count = len(Path("/proc/self/maps").read_text().splitlines())
    buffers = [setting.buffer(20) for _ in range(3000)]
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        setting.encode_add(commands, state, buffers[1500], 1.0)
        commands.commit()
        commands.waitUntilCompleted()
    assert setting.floats(buffers[1500], 5) == (1.0,) * 5
    assert setting.floats(buffers[1501], 5) == (0.0,) * 5
    assert len(Path("/proc/self/maps").read_text().splitlines()) < count + 200


def test_no_devices_and_a_world_of_its_own(metal_standin: MetalStandIn) -> None:
    """A machine without Metal has an empty list and no default; a reset forgets what was alive."""
    metal_standin.reset(devices=0)
    import Metal

    assert len(Metal.MTLCopyAllDevices()) == 0
    assert Metal.MTLCreateSystemDefaultDevice() is None
    setting = Setting(metal_standin, name="M9", threadgroup_memory=65536)
    assert "MTLLibrary" in metal_standin.live()
    with setting.objc.autorelease_pool():
        assert (setting.device.name(), setting.device.maxThreadgroupMemoryLength()) == ("M9", 65536)
    metal_standin.reset()
    assert metal_standin.live() == {}
    with pytest.raises(KeyError, match="colour"):
        metal_standin.reset(colour=3)


def test_a_queues_thread_is_started_without_the_lock(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector may run first in a new thread, and lets go of objects, which takes the lock; its starter waits."""
    start, owned = threading.Thread.start, []

    def noted(thread: threading.Thread) -> None:
        owned.append(lock._is_owned())  # type: ignore[attr-defined]
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        commands.commit()
        commands.waitUntilCompleted()
    assert owned == [False]
