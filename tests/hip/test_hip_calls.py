"""HIP's calls through AMD's bindings: what arrives, what comes back, and how a code is told."""

from __future__ import annotations

import ctypes
import threading

import pytest
from amd_objects import code_object

from metrale_gpu_runtime.drivers.hip.api import HipApi
from metrale_gpu_runtime.drivers.hip.attributes import DEVICE_ATTRIBUTES
from metrale_gpu_runtime.drivers.session.api import ATTRIBUTES, ApiError, MissingEntryPoint
from metrale_gpu_runtime.geometry import Dim3, Geometry


@pytest.fixture
def api(standin):
    api = HipApi()
    api.initialize()
    return api


def test_every_attribute_that_the_session_asks_for_has_its_word(api):
    """Nothing the session asks is answered 0 because nobody translated it."""
    assert set(ATTRIBUTES) <= set(DEVICE_ATTRIBUTES)
    untranslated = [
        name for name in DEVICE_ATTRIBUTES for word in DEVICE_ATTRIBUTES[name] if api._attribute(0, word) < 0
    ]
    assert untranslated == []


def test_a_device_is_described(standin, api):
    """Name, architecture, memory and attributes are those of the device asked for."""
    standin.reset(devices=2, architecture="gfx90a:sramecc+:xnack-", warp_size=64, multiprocessor_count=104)
    assert api.device_count() == 2
    assert api.architecture(1) == "gfx90a:sramecc+:xnack-"
    assert "gfx90a" in api.device_name(1)
    assert "1" in api.device_name(1)
    assert api.total_memory(0) == 8 << 30
    assert (api.attribute(1, "warp_size"), api.attribute(1, "multiprocessor_count")) == (64, 104)
    assert api.attribute(0, "max_block_dim_z") == 1024
    assert api.attribute(0, "max_shared_memory_per_block_optin") == 65536
    assert api.attribute(0, "cluster_launch") == 0
    assert api.driver_version() == 70125424


@pytest.mark.parametrize(
    ("code", "name", "text"),
    [
        (2, "hipErrorOutOfMemory", "out of memory"),
        (719, "hipErrorLaunchFailure", "unspecified launch failure"),
        (209, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"),
    ],
)
def test_a_code_is_told_with_hips_name_and_words(standin, api, code, name, text):
    """A call that fails raises with its name, the number, HIP's name for it and HIP's explanation."""
    standin.fail_call("hipMalloc", code)
    with pytest.raises(ApiError) as told:
        api.mem_alloc(77)
    assert (told.value.call, told.value.code, told.value.code_name) == ("hipMalloc", code, name)
    assert told.value.text == text


def test_a_code_that_the_bindings_do_not_know_is_told(standin, api):
    """A number of a later release is an error like any other, with the number in it."""
    standin.fail_call("hipMalloc", 4321)
    with pytest.raises(ApiError, match="4321"):
        api.mem_alloc(77)


def test_a_call_that_the_library_lacks_is_told(api, monkeypatch):
    """A missing entry point says which, whether the bindings or the library lack it."""

    class Without:
        def __getattr__(self, name):
            raise AttributeError(name)

    monkeypatch.setattr(api, "_hip", Without())
    with pytest.raises(MissingEntryPoint, match="hipMemGetInfo"):
        api.memory_info()

    class NotInLibrary:
        def hipMemGetInfo(self):
            raise RuntimeError("failed to dlsym 'hipMemGetInfo'")

    monkeypatch.setattr(api, "_hip", NotInLibrary())
    with pytest.raises(MissingEntryPoint, match="hipMemGetInfo"):
        api.memory_info()


def test_provides_asks_the_library(api, monkeypatch):
    """What the library has is found out by its symbols; what AMD's GPUs have not is never provided."""
    assert api.provides("mem_alloc_async", "graph_set_enabled", "exchange_capture_mode")
    assert not api.provides("launch_extended")
    assert not api.provides("encode_tensor_map")

    class Older:
        @staticmethod
        def has_symbol(name):
            return name != "hipMemUnmap"

    monkeypatch.setattr(api, "_hip", Older())
    assert api.provides("mem_map")
    assert not api.provides("mem_map", "mem_unmap")


def test_a_context_is_the_threads_device(api):
    """Entering a device and leaving it changes this thread only and puts back what was there."""
    assert api.retain_context(1) == 2
    api.push_context(2)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(api.current_context()))
    thread.start()
    thread.join()
    assert (api.current_context(), seen) == (2, [1])
    api.pop_context(1)
    assert api.current_context() == 1


def test_memory_of_each_kind_is_made_and_given_back(standin, api):
    """Every kind of memory has an address, and what is made is given back by its own call."""
    stream = api.stream_create(0)
    made = [api.mem_alloc(100), api.mem_alloc_managed(200), api.host_alloc(300), api.mem_alloc_async(400, stream)]
    assert all(made)
    assert len(set(made)) == 4
    assert api.host_device_pointer(made[2])
    api.mem_free(made[0])
    api.mem_free(made[1])
    api.host_free(made[2])
    api.mem_free_async(made[3], stream)
    api.stream_synchronize(stream)
    api.stream_destroy(stream)
    assert standin.count("memory", "live") == standin.count("host_memory", "live") == 0


@pytest.mark.parametrize(("width", "value"), [(1, 0xAB), (2, 0xABCD), (4, 0xFEDCBA98), (4, 7)])
def test_fills_arrive_with_their_width_and_sign(api, width, value):
    """Every unsigned value of each width fills memory with its own bytes, those over the sign bit too."""
    stream, count = api.stream_create(0), 5
    address = api.mem_alloc(64)
    host = ctypes.create_string_buffer(64)
    api.memset_async(address, 0, 1, 64, stream)
    api.memset_async(address, value, width, count, stream)
    api.copy_d2h_async(ctypes.addressof(host), address, 64, stream)
    api.stream_synchronize(stream)
    assert host.raw == value.to_bytes(width, "little") * count + bytes(64 - width * count)
    api.mem_free(address)
    api.stream_destroy(stream)


def test_pitched_copies_keep_their_rows(api):
    """A 2-D copy moves rows at both pitches and leaves the gaps alone."""
    stream = api.stream_create(0)
    source, target = api.mem_alloc(128), api.mem_alloc(128)
    data = bytes(range(128))
    kept = ctypes.create_string_buffer(data, 128)
    api.copy_h2d_async(source, ctypes.addressof(kept), 128, stream)
    api.memset_async(target, 0xEE, 1, 128, stream)
    api.copy_2d_async(target, 10, source, 16, 7, 3, stream)
    host = ctypes.create_string_buffer(128)
    api.copy_d2h_async(ctypes.addressof(host), target, 128, stream)
    api.stream_synchronize(stream)
    rows = b"".join(data[16 * row : 16 * row + 7] + b"\xee" * 3 for row in range(3))
    assert host.raw == rows + b"\xee" * (128 - 30)
    for address in (source, target):
        api.mem_free(address)
    api.stream_destroy(stream)


def test_virtual_memory_is_reserved_mapped_and_given_back(standin, api):
    """Reserving, creating, mapping, allowing and their undoing leave nothing behind."""
    granule = api.memory_granularity(1)
    base = api.address_reserve(3 * granule)
    handle = api.mem_create(granule, 1)
    api.mem_map(base + granule, granule, handle)
    api.mem_set_access(base + granule, granule, 1)
    api.mem_unmap(base + granule, granule)
    api.mem_release(handle)
    api.address_free(base, 3 * granule)
    assert [standin.count(kind, "live") for kind in ("reservation", "physical", "mapping")] == [0, 0, 0]


def test_the_capture_mode_is_exchanged_both_ways(api):
    """The mode that is given becomes the thread's, and the one before comes back, which the bindings' form cannot do."""
    assert api.exchange_capture_mode("relaxed") == "global"
    assert api.exchange_capture_mode("thread_local") == "relaxed"
    assert api.exchange_capture_mode("global") == "thread_local"


def test_a_code_without_a_name_is_told_by_its_number(standin, api):
    """What a newer runtime answers is an error with its number, from whichever way the call was made."""
    for name, call in {
        "hipThreadExchangeStreamCaptureMode": lambda: api.exchange_capture_mode("relaxed"),
        "hipModuleLaunchKernel": lambda: api.launch(1, Geometry(Dim3(1), Dim3(1)), 0, 0),
        "hipGetDeviceCount": api.device_count,
    }.items():
        standin.fail_call(name, 98765)
        with pytest.raises(ApiError, match=f"{name}.*98765"):
            call()


def test_a_launch_arrives_as_it_was_made(standin, api):
    """Grid, block, shared memory and every byte of the parameters are what was given, cooperative or not."""
    module = api.module_load(code_object("kernels.gfx1100"), ())
    scale = api.module_function(module, "scale")
    stream = api.stream_create(0)
    values = (
        ctypes.c_uint64(0x1111),
        ctypes.c_uint64(0x2222),
        ctypes.c_uint32(33),
        ctypes.c_float(4.5),
        ctypes.c_uint8(56),
        (ctypes.c_char * 16)(*b"sixteen bytes!!!"),
    )
    addresses = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    for cooperative in (False, True):
        geometry = Geometry(Dim3(3, 2, 2), Dim3(32, 3, 1), 148, cooperative=cooperative)
        api.launch(scale, geometry, stream, ctypes.addressof(addresses))
    api.stream_synchronize(stream)
    first, second = standin.launches()
    assert (first.kernel, first.grid, first.block, first.shared) == ("scale", (3, 2, 2), (32, 3, 1), 148)
    assert (first.cooperative, second.cooperative) == (False, True)
    expected = bytes(values[0]) + bytes(values[1]) + bytes(values[2]) + bytes(values[3]) + b"\x38" + bytes(7)
    assert first.parameters[:25] == (expected + bytes(values[5]))[:25]
    assert first.parameters[32:48] == b"sixteen bytes!!!"
    api.stream_destroy(stream)
    api.module_unload(module)


def test_an_image_lives_as_long_as_its_module(api):
    """HIP reads the image of a loaded module where it lies, so the bytes stay until the module goes."""
    data = code_object("kernels.gfx1100")
    module = api.module_load(data, ())
    assert api._images == {module: data}
    api.module_unload(module)
    assert api._images == {}


def test_a_graph_node_takes_new_parameters(standin, api):
    """A captured launch is found as the node that comes next, changed, switched off, and replayed as changed."""
    module = api.module_load(code_object("kernels.gfx1100"), ())
    tables = api.module_function(module, "tables")
    memory, stream = api.mem_alloc(1024), api.stream_create(0)
    value = ctypes.c_uint64(memory)
    addresses = (ctypes.c_void_p * 1)(ctypes.addressof(value))
    api.stream_begin_capture(stream, "thread_local")
    assert api.stream_capture_info(stream) == (1, ())
    api.launch(tables, Geometry(Dim3(2), Dim3(32)), stream, ctypes.addressof(addresses))
    status, nodes = api.stream_capture_info(stream)
    graph = api.stream_end_capture(stream)
    assert (status, len(nodes), api.graph_node_count(graph)) == (1, 1, 1)
    assert api.stream_capture_info(stream) == (0, ())
    executable = api.graph_instantiate(graph)
    value.value = memory + 128
    api.graph_set_kernel(executable, nodes[0], tables, Geometry(Dim3(5), Dim3(64), 12), ctypes.addressof(addresses))
    api.graph_launch(executable, stream)
    api.stream_synchronize(stream)
    api.graph_set_enabled(executable, nodes[0], False)
    api.graph_launch(executable, stream)
    api.stream_synchronize(stream)
    (launch,) = standin.launches()
    assert (launch.grid, launch.block, launch.shared) == ((5, 1, 1), (64, 1, 1), 12)
    assert launch.parameters == bytes(value)
    api.graph_exec_destroy(executable)
    api.graph_destroy(graph)
    api.stream_destroy(stream)
    api.mem_free(memory)
    api.module_unload(module)


def test_events_order_and_time(api):
    """An event is not ready until its work is done, and two of them have a time between them."""
    stream, memory = api.stream_create(0), api.mem_alloc(64)
    start, end = api.event_create(True), api.event_create(True)
    api.event_record(start, stream)
    api.memset_async(memory, 1, 1, 64, stream)
    api.event_record(end, stream)
    assert api.event_query(end) is False
    api.event_synchronize(end)
    assert api.event_query(end) is True
    assert api.stream_query(stream) is True
    assert api.event_elapsed_ms(start, end) > 0
    for event in (start, end):
        api.event_destroy(event)
    api.mem_free(memory)
    api.stream_destroy(stream)


def test_peers_are_devices(api):
    """Access is asked and enabled by devices, a second time is told as HIP tells it, and copies name both."""
    assert api.can_access_peer(0, 1)
    assert not api.can_access_peer(0, 0)
    api.push_context(1)
    api.enable_peer_access(2)
    with pytest.raises(ApiError) as told:
        api.enable_peer_access(2)
    assert told.value.code == 704
