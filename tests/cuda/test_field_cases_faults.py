"""Whose fault a fault is, and what is left after one (field cases 2, 8, 19)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from field_cases_places import Place, opened
from rungs import require_rung
from standin_in_child import isolated

import metrale_gpu_runtime as mg

SYNCHRONIZE = {"cuda": "cuStreamSynchronize", "hip": "hipStreamSynchronize"}
LAUNCH = {"cuda": "cuLaunchKernelEx", "hip": "hipModuleLaunchKernel"}
SIGNATURE = "unsigned int* out, unsigned int value"


@pytest.fixture(params=["cuda", "hip"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with opened(request.param) as place:
        yield place


# ------------------------------------------------ 2: a fault that an innocent call reports


def test_debug_sync_names_the_launch_that_was_waited_for(place: Place) -> None:
    """Launches 1 and 2 return 0 and the wait behind 2 returns 700: launch 2 is named with all that is known of it."""
    gpu, kernel = place.gpu, place.kernel("echo_32", SIGNATURE)
    out = gpu.empty(1, mg.u32, label="answer")
    with gpu.debug_sync():
        kernel[3, 32](out, mg.u32(41))
        # A launch is waited for before it and after it: the second wait from here is the one behind launch 2.
        place.standin.fail_call(SYNCHRONIZE[place.name], 700, nth=2)
        with pytest.raises(mg.KernelFault) as caught:
            kernel[(5, 7), (32, 2), 96](out, mg.u32(42))
    fault = caught.value
    assert fault.launch is not None
    assert not fault.earlier
    assert (fault.launch.kernel, fault.launch.ordinal) == ("echo_32", 2)
    assert (fault.launch.grid, fault.launch.block, fault.launch.shared_mem) == ((5, 7, 1), (32, 2, 1), 96)
    for word in ("echo_32", "launch 2", "(5, 7, 1)", "(32, 2, 1)", "u32 42", f"{__file__}:", "700", "llegal"):
        assert word in f"{fault} {fault.code_name} 700", (word, str(fault))
    assert "test_field_cases_faults.py:" in fault.launch.site


def test_a_fault_that_was_pending_is_not_charged_to_a_launch(place: Place) -> None:
    """A fault of earlier work is raised as older than this launch, names nobody as the culprit, and launches nothing."""
    gpu, kernel = place.gpu, place.kernel("echo_32", SIGNATURE)
    out = gpu.empty(1, mg.u32)
    place.standin.fail_call(SYNCHRONIZE[place.name], 700)
    with gpu.debug_sync(), pytest.raises(mg.KernelFault) as caught:
        kernel[3, 32](out, mg.u32(41))
    assert caught.value.earlier
    assert caught.value.launch is None
    assert "older than the launch" in str(caught.value)
    assert place.launch_calls == 0


def test_a_pending_fault_of_a_launch_accuses_that_one(place: Place) -> None:
    """A launch that faults unseen and one under debug sync behind it: the first is the suspect, the second is not."""
    gpu, kernel = place.gpu, place.kernel("echo_32", SIGNATURE)
    out = gpu.empty(1, mg.u32)
    place.standin.fail_launch(700)
    kernel[3, 32](out, mg.u32(41))
    with gpu.debug_sync(), pytest.raises(mg.KernelFault) as caught:
        kernel[5, 32](out, mg.u32(42))
    assert caught.value.earlier
    accused = [caught.value.launch] if caught.value.launch is not None else list(caught.value.suspects)
    assert [each.grid for each in accused] == [(3, 1, 1)]
    assert [grid for grid, _, _ in place.launches()] == [(3, 1, 1)]


def test_outside_of_debug_mode_the_suspects_are_listed(place: Place) -> None:
    """The error says that it is unattributed and lists the stream's launches since its last good wait, no others."""
    gpu, kernel = place.gpu, place.kernel("echo_32", SIGNATURE)
    out = gpu.empty(1, mg.u32)
    stream, other = gpu.create_stream(), gpu.create_stream()
    kernel[9, 32, 0, stream](out, mg.u32(39))
    stream.synchronize()
    kernel[8, 32, 0, other](out, mg.u32(40))
    kernel[3, 32, 0, stream](out, mg.u32(41))
    kernel[(5, 7), 32, 96, stream](out, mg.u32(42))
    place.standin.fail_call(SYNCHRONIZE[place.name], 700)
    with pytest.raises(mg.KernelFault) as caught:
        stream.synchronize()
    fault = caught.value
    assert fault.launch is None
    assert [(each.ordinal, each.kernel, each.grid) for each in fault.suspects] == [
        (3, "echo_32", (3, 1, 1)),
        (4, "echo_32", (5, 7, 1)),
    ]
    text = str(fault)
    assert "unattributed" in text
    assert "debug_sync" in text
    for word in ("launch 3", "launch 4", "(5, 7, 1)", "96 bytes", "u32 42", "test_field_cases_faults.py:"):
        assert word in text, (word, text)
    for word in ("launch 1 ", "launch 2 ", "u32 39", "u32 40"):
        assert word not in text, (word, text)
    del stream, other


# ------------------------------------------------ 8: a refused launch


@pytest.mark.parametrize("code", [1, 209])
def test_a_refused_launch_raises_and_the_next_wait_is_good(code: int) -> None:
    """On HIP too: the launch itself raises in every form, the trace shows it rejected, and the wait says all is well."""
    with opened("hip") as place:
        gpu, kernel = place.gpu, place.kernel("echo_32")
        out = gpu.empty(1, mg.u32)
        prepared = kernel[3, 32].prepare(out, mg.u32(5))
        with gpu.sequence() as sequence:
            kernel[3, 32](out, mg.u32(5))
        for form in (lambda: kernel[3, 32](out, mg.u32(5)), prepared, sequence):
            place.standin.fail_call(LAUNCH["hip"], code)
            with gpu.trace() as trace, pytest.raises(mg.DriverError) as refused:
                form()
            assert (refused.value.call, refused.value.code) == (LAUNCH["hip"], code)
            assert [each.outcome for each in trace.launches] == ["rejected"]
            gpu.synchronize()
        with gpu.create_stream() as stream:
            place.standin.fail_call(LAUNCH["hip"], code)
            with pytest.raises(mg.DriverError), gpu.capture(stream):
                kernel[3, 32, 0, stream](out, mg.u32(5))
            assert not gpu.stream_is_capturing(stream)
            kernel[4, 32, 0, stream](out, mg.u32(5))
            stream.synchronize()
        assert [grid for grid, _, _ in place.launches()] == [(4, 1, 1)]


# ------------------------------------------------ 19: after one fault every call fails


def test_everything_fails_at_once_with_the_first_cause(place: Place) -> None:
    """700 from the third launch on: later calls say "context lost since launch 3 (kernel …)" and ask no driver."""
    gpu, kernel = place.gpu, place.kernel("echo_32", SIGNATURE)
    x, stream, event = gpu.empty(37, mg.u32), gpu.create_stream(), gpu.create_event()
    prepared = kernel[3, 32].prepare(x, mg.u32(4))
    with gpu.capture(stream) as capture:
        kernel[3, 32, 0, stream](x, mg.u32(4))
    graph = capture.graph
    place.standin.fail_launch(700, nth=3)
    with gpu.debug_sync():
        for value in (1, 2):
            kernel[3, 32](x, mg.u32(value))
        with pytest.raises(mg.KernelFault) as first:
            kernel[3, 32](x, mg.u32(3))
    assert first.value.launch is not None
    assert gpu.is_lost
    ordinal = first.value.launch.ordinal
    place.standin.clear_journal()
    for call in (
        lambda: kernel[3, 32](x, mg.u32(4)),
        prepared,
        lambda: graph.launch(stream),
        lambda: gpu.alloc(10),
        x.numpy,
        lambda: gpu.memset(x, 0),
        stream.synchronize,
        stream.query,
        lambda: event.record(stream),
        gpu.synchronize,
        lambda: gpu.create_stream(),
        lambda: gpu.load_module("n", binary=b"\x7fELF"),
    ):
        with pytest.raises(mg.ContextLost) as lost:
            call()
        assert f"context lost since launch {ordinal} (kernel echo_32)" in str(lost.value), str(lost.value)
        assert lost.value.cause is first.value
    assert place.standin.names() == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.free()
        graph.close()
        event.close()
        stream.close()
        gpu.unload_module("suite " + SIGNATURE)
        gpu.close()


def lose_the_context(spec: str) -> str:
    """In a child: the third launch faults; what the fourth is told."""
    with opened(spec) as place:
        kernel, out = place.kernel("echo_32"), place.gpu.empty(1, mg.u32)
        place.standin.fail_launch(700, nth=3)
        for value in range(3):
            kernel[1, 1](out, mg.u32(value))
        with pytest.raises(mg.KernelFault):
            place.gpu.synchronize()
        with pytest.raises(mg.ContextLost) as lost:
            kernel[1, 1](out, mg.u32(4))
        return type(lost.value).__name__


def work(spec: str) -> list[tuple[int, int, int]]:
    with opened(spec) as place:
        kernel, out = place.kernel("echo_32"), place.gpu.empty(1, mg.u32)
        kernel[7, 1](out, mg.u32(4))
        place.gpu.synchronize()
        return [grid for grid, _, _ in place.launches()]


def abort(spec: str) -> None:
    import os

    with opened(spec):
        os.abort()


def test_a_session_goes_on_beside_a_case_in_a_child() -> None:
    """One child loses its context and one is killed; this process and the next child are not concerned."""
    require_rung("stand-in driver")
    assert isolated("test_field_cases_faults:lose_the_context", "cuda").check() == "ContextLost"
    killed = isolated("test_field_cases_faults:abort", "cuda")
    assert (killed.signal_name, killed.value) == ("SIGABRT", None)
    assert work("cuda") == [(7, 1, 1)]
    assert isolated("test_field_cases_faults:work", "cuda").check() == [(7, 1, 1)]
