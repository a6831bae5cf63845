"""Reference counts as PyObjC has them: one too many from `new...`, pools, proxies."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from .control import MetalStandIn
from .fixtures import metal_standin
from .setting import Setting, remedy

__all__ = ["metal_standin"]


@pytest.fixture
def setting(metal_standin: MetalStandIn) -> Setting:
    return Setting(metal_standin)


def test_new_keeps_one_reference_too_many_as_shipped(setting: Setting) -> None:
    """A buffer from newBufferWithLength:options: outlives its proxy, until the selector is registered again."""
    with setting.standin.shipped_metadata():
        buffer = setting.device.newBufferWithLength_options_(48, 0)
        assert buffer.retainCount() == 2
        del buffer
        assert setting.standin.live()["MTLBuffer"] == [1]
        remedy(setting.objc, "newBufferWithLength:options:")
        buffer = setting.device.newBufferWithLength_options_(48, 0)
        assert buffer.retainCount() == 1
        del buffer
        assert setting.standin.live()["MTLBuffer"] == [1]


def test_registering_replaces_what_was_registered(setting: Setting) -> None:
    """Stating only the result takes the error's modifier away: it is no out parameter any more."""
    with setting.standin.shipped_metadata(), setting.objc.autorelease_pool():
        setting.objc.registerMetaDataForSelector(
            b"NSObject", b"newLibraryWithSource:options:error:", {"retval": {"already_retained": True}}
        )
        library = setting.device.newLibraryWithSource_options_error_("kernels", None, None)
        assert library.owner == "MTLLibrary"


@pytest.mark.parametrize(
    ("owner", "selector", "metadata", "text"),
    [
        (b"MTLDevice", b"newCommandQueue", {}, "under a protocol"),
        (b"NSObject", b"newCommandQueue", {"retvalue": {}}, "no word 'retvalue'"),
        (b"NSObject", b"newCommandQueue", {"retval": {"already_retain": True}}, "no word 'already_retain'"),
        (b"NSObject", b"newFunctionWithName:", {"arguments": {3: {}}}, "numbered from 2"),
    ],
)
def test_metadata_that_has_no_effect_is_entered(
    setting: Setting, owner: bytes, selector: bytes, metadata: Any, text: str
) -> None:
    """PyObjC ignores these without a word."""
    with setting.standin.shipped_metadata():
        setting.objc.registerMetaDataForSelector(owner, selector, metadata)
    (entered,) = setting.standin.take_violations()
    assert text in entered


def test_metadata_of_another_type_is_ignored_and_entered(setting: Setting) -> None:
    """A type of another size does not replace the method's own."""
    with setting.standin.shipped_metadata():
        setting.objc.registerMetaDataForSelector(
            b"NSObject",
            b"newBufferWithLength:options:",
            {"retval": {"already_retained": True}, "arguments": {2: {"type": b"I"}, 3: {"type": b"q"}}},
        )
        assert setting.device.newBufferWithLength_options_(48, 0).length() == 48
    assert "metadata says I, the method has Q" in setting.standin.take_violations()[0]


def test_a_result_that_is_not_retained_is_called_so_to_its_harm(setting: Setting) -> None:
    """already_retained on what is autoreleased would release it once too often."""
    with setting.standin.shipped_metadata(), setting.objc.autorelease_pool():
        setting.objc.registerMetaDataForSelector(b"NSObject", b"commandBuffer", {"retval": {"already_retained": True}})
        setting.queue.commandBuffer()
    assert "already retained, which commandBuffer does not" in setting.standin.take_violations()[0]


def test_without_a_pool_what_is_autoreleased_leaks(setting: Setting) -> None:
    """A command buffer made outside of a pool stays for ever, and the record says so; on each thread anew."""
    setting.queue.commandBuffer()
    assert setting.standin.live()["MTLCommandBuffer"] == [1]
    with setting.objc.autorelease_pool():
        other = threading.Thread(target=lambda: setting.queue.commandBuffer() and None)
        other.start()
        other.join()
    assert setting.standin.live()["MTLCommandBuffer"] == [1, 1]
    entered = setting.standin.take_violations()
    assert entered == ["MTLCommandQueue commandBuffer: autoreleased with no pool in place; it leaks"] * 2


def test_a_pool_releases_at_its_end(setting: Setting) -> None:
    """Inside the pool an object has the pool's reference and the proxy's; afterwards the proxy's alone."""
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        assert commands.retainCount() == 2
        with setting.objc.autorelease_pool():
            assert commands.commandQueue() is setting.queue
            assert setting.queue.retainCount() == 3
        assert setting.queue.retainCount() == 2
    assert commands.retainCount() == 1
    del commands
    assert "MTLCommandBuffer" not in setting.standin.live()
    assert setting.queue.retainCount() == 1


def test_one_object_has_one_proxy(setting: Setting) -> None:
    """As long as a proxy lives the same object is the same proxy."""
    assert setting.metal.MTLCreateSystemDefaultDevice() is setting.device
    with setting.objc.autorelease_pool():
        assert setting.library.device() is setting.device


def test_class_methods_give_what_they_made(setting: Setting) -> None:
    """`alloc().init()` and `new()` on classes are right as shipped."""
    for made in (setting.metal.MTLCompileOptions.alloc().init(), setting.metal.MTLCompileOptions.new()):
        assert made.retainCount() == 1
    del made
    assert "MTLCompileOptions" not in setting.standin.live()


def test_an_array_and_a_dictionary_hold_their_items(setting: Setting) -> None:
    """What comes out of a container lives on when the container goes."""
    with setting.objc.autorelease_pool():
        constants = setting.function("scaled").functionConstantsDictionary()
        assert sorted(constants) == ["FAST", "SCALE"]
        scale = constants["SCALE"]
        assert (scale.index(), scale.type(), scale.required()) == (4, setting.metal.MTLDataTypeInt, True)
        assert not constants["FAST"].required()
        assert constants.get("NONE") is None
    del constants
    assert scale.retainCount() == 1
    names = None
    with setting.objc.autorelease_pool():
        names = setting.library.functionNames()
        assert (len(names), names[0], list(names)[-1], names.count()) == (4, "add", "shared", 4)


def test_rounds_end_at_the_counts_they_began_with(setting: Setting) -> None:
    """Nothing gathers over 300 rounds of alloc, launch and free."""
    state = setting.pipeline("add")
    before = setting.standin.live()
    for _ in range(300):
        with setting.objc.autorelease_pool():
            buffer = setting.buffer(4 * 5)
            commands = setting.queue.commandBuffer()
            setting.encode_add(commands, state, buffer, 1.5)
            commands.commit()
            commands.waitUntilCompleted()
            del buffer, commands
    setting.standin.wait_idle()
    assert setting.standin.live() == before
