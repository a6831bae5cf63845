"""The rules of Metal, PyObjC and the backend's own design: the lines that keep each, and the tests that miss them.

`rules_by_mutation.py` takes each line away, in a copy of the package, and sees the named tests fail.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Break:
    """One line that keeps a rule, in a file of the package, and what stands there without it. `tests` fail then."""

    file: str
    kept_by: str
    broken: str
    tests: tuple[str, ...]
    also: tuple[tuple[str, str, str], ...] = ()
    """Further (file, line, what stands there) that belong to it: where two places keep one rule."""

    @property
    def edits(self) -> tuple[tuple[str, str, str], ...]:
        return ((self.file, self.kept_by, self.broken), *self.also)


LAUNCHING = "drivers/metal/launching.py"
STREAMS = "drivers/metal/streams.py"
BUFFERS = "drivers/metal/command_buffers.py"
BINDINGS = "drivers/metal/bindings.py"
COPIES = "drivers/metal/copies.py"
MEMORY = "drivers/metal/memory.py"
FAULTS = "drivers/metal/faults.py"
EVENTS = "drivers/metal/events.py"
LIBRARIES = "drivers/metal/libraries.py"

_LAUNCH = "metal/test_launching.py::"
_POLICY = "metal/test_command_buffers.py::"
_COPY = "metal/test_metal_copies.py::"
_FAULT = "metal/test_metal_faults.py::"
_MEMORY = "metal/test_memory.py::"
_EVENT = "metal/test_events.py::"
_RULE = "metal/test_metal_rules.py::"
_ROUND = "metal/test_metal_rounds.py::"
_CODE = "metal/test_libraries.py::"

_OWNED = {
    "newBufferWithLength:options:": ("(_COUNT, _COUNT)", _MEMORY + "test_allocations_and_launches_keep_no_reference"),
    "newCommandQueue": ("()", _RULE + "test_queues_and_events_of_streams_that_are_gone_are_gone"),
    "newComputePipelineStateWithDescriptor:options:reflection:error:": (
        "(_OBJECT, _COUNT, _OUT, _OUT)",
        _CODE + "test_unloading_gives_everything_back",
    ),
    "newFunctionWithName:": ("(_OBJECT,)", _CODE + "test_unloading_gives_everything_back"),
    "newFunctionWithName:constantValues:error:": (
        "(_OBJECT, _OBJECT, _OUT)",
        _CODE + "test_unloading_gives_everything_back",
    ),
    "newLibraryWithSource:options:error:": ("(_OBJECT, _OBJECT, _OUT)", _CODE + "test_unloading_gives_everything_back"),
    "newLibraryWithURL:error:": (
        "(_OBJECT, _OUT)",
        _CODE + "test_a_metallib_goes_through_a_file_that_is_gone_at_the_end",
    ),
    "newSharedEvent": ("()", _RULE + "test_queues_and_events_of_streams_that_are_gone_are_gone"),
}

RULES: dict[str, tuple[Break, ...]] = {
    "threadgroup memory lengths are multiples of 16": (
        Break(
            LAUNCHING,
            "rounded = [-(-length // THREADGROUP_GRANULE) * THREADGROUP_GRANULE for length in given]",
            "rounded = list(given)",
            (
                _LAUNCH + "test_threadgroup_memory_is_rounded_up",
                _LAUNCH + "test_local_arguments_are_the_next_threadgroup_indices",
            ),
        ),
        Break(
            "drivers/metal/capabilities.py",
            "THREADGROUP_GRANULE = 16",
            "THREADGROUP_GRANULE = 8",
            (_LAUNCH + "test_threadgroup_memory_is_rounded_up",),
        ),
    ),
    "the limit of threadgroup memory holds after rounding": (
        Break(
            LAUNCHING,
            "total = pipeline.static_threadgroup_nbytes + sum(rounded)",
            "total = pipeline.static_threadgroup_nbytes + sum(given)",
            (_LAUNCH + "test_threadgroup_memory_is_checked_after_rounding",),
        ),
        Break(
            LAUNCHING,
            "if total > self._threadgroup_limit:",
            "if False:",
            (_LAUNCH + "test_threadgroup_memory_is_checked_after_rounding",),
        ),
        Break(
            "limits.py",
            "total = static + -(-shared_mem // granularity) * granularity",
            "total = static + shared_mem",
            ("metal/test_field_cases_on_metal.py::test_33_threadgroup_memory_is_checked_after_rounding",),
        ),
        Break(
            "drivers/metal/capabilities.py",
            "shared_mem_granularity=THREADGROUP_GRANULE,",
            "",
            ("metal/test_field_cases_on_metal.py::test_33_threadgroup_memory_is_checked_after_rounding",),
        ),
    ),
    "the kernel's own threadgroup memory counts": (
        Break(
            LAUNCHING,
            "total = pipeline.static_threadgroup_nbytes + sum(rounded)",
            "total = sum(rounded)",
            (_LAUNCH + "test_threadgroup_memory_is_checked_after_rounding",),
        ),
    ),
    "a threadgroup memory length of 0 is never sent": (
        Break(
            LAUNCHING,
            "zip(rounded, indices, strict=False) if length)",
            "zip(rounded, indices, strict=False))",
            (_RULE + "test_a_local_argument_of_no_bytes_sends_no_length",),
        ),
        Break(
            LAUNCHING,
            "given = ([geometry.shared_mem] if geometry.shared_mem else []) + list(self._locals)",
            "given = [geometry.shared_mem] + list(self._locals)",
            (_LAUNCH + "test_local_arguments_are_the_next_threadgroup_indices",),
        ),
    ),
    "a value of 0 bytes is never sent": (
        Break(
            "signature/checking.py",
            "        if argument.nbytes < 1:\n",
            "        if False:\n",
            (_RULE + "test_a_value_of_no_bytes_never_reaches_metal",),
            also=(
                ("limits.py", 'if each.kind == "value" and each.nbytes == 0:', "if False:"),
                ("signature/checking.py", "argument.nbytes >= nbytes and argument.nbytes", "argument.nbytes"),
            ),
        ),
    ),
    "values up to 4096 bytes go inline, larger ones through a buffer": (
        Break(
            LAUNCHING,
            "elif len(value) <= MAX_INLINE_NBYTES:",
            "elif True:",
            (
                _LAUNCH + "test_a_large_value_lives_in_a_buffer_until_its_launch_is_done",
                _RULE + "test_4096_bytes_go_inline_and_4097_through_a_buffer",
            ),
        ),
        Break(
            LAUNCHING,
            "elif len(value) <= MAX_INLINE_NBYTES:",
            "elif len(value) < MAX_INLINE_NBYTES:",
            (_RULE + "test_4096_bytes_go_inline_and_4097_through_a_buffer",),
        ),
        Break(
            "drivers/metal/capabilities.py",
            "MAX_INLINE_NBYTES = 4096",
            "MAX_INLINE_NBYTES = 4097",
            (_RULE + "test_4096_bytes_go_inline_and_4097_through_a_buffer",),
        ),
    ),
    "a temporary buffer lives until the command buffer is done": (
        Break(
            LAUNCHING,
            "                is_queued = True\n",
            "",
            (_LAUNCH + "test_a_large_value_lives_in_a_buffer_until_its_launch_is_done",),
        ),
        Break(
            LAUNCHING,
            "                opened.temporaries.extend(temporaries)\n",
            "",
            (_LAUNCH + "test_a_large_value_lives_in_a_buffer_until_its_launch_is_done",),
        ),
        Break(
            BUFFERS,
            "            temporary.give_back()\n",
            "            pass\n",
            (_LAUNCH + "test_a_large_value_lives_in_a_buffer_until_its_launch_is_done",),
        ),
        Break(
            LAUNCHING,
            "            if not is_queued:\n                for temporary in temporaries:\n"
            "                    temporary.give_back()\n",
            "            pass\n",
            (_LAUNCH + "test_a_large_value_of_a_launch_that_fails_is_given_back",),
        ),
    ),
    "queued work keeps the buffers it uses": (
        Break(
            STREAMS,
            "            self._descriptor.setErrorOptions_(",
            "            self._descriptor.setRetainedReferences_(False)\n            self._descriptor.setErrorOptions_(",
            (_RULE + "test_memory_that_is_freed_lives_until_queued_work_is_done",),
        ),
    ),
    "status and error of every command buffer are read": (
        Break(
            BUFFERS,
            "if self.native.status() == self._bindings.metal.MTLCommandBufferStatusError:",
            "if False:",
            (
                _FAULT + "test_a_fault_names_its_launch_and_those_behind_it",
                _FAULT + "test_errors_keep_their_names",
                _FAULT + "test_whatever_comes_next_finds_the_fault",
            ),
        ),
        Break(
            STREAMS,
            "            last.wait()\n        with self._lock:\n            self._collect()\n            self._tell()\n",
            "            last.wait()\n",
            (
                _FAULT + "test_a_fault_names_its_launch_and_those_behind_it",
                _FAULT + "test_a_fault_is_told_once_and_the_stream_goes_on",
            ),
        ),
        Break(
            STREAMS,
            "            if done.failure is not None and (done.pending is None or done.failure.is_own):\n",
            "            if False:\n",
            (_FAULT + "test_whatever_comes_next_finds_the_fault",),
        ),
        Break(
            EVENTS,
            "            self.buffer.wait()\n        self._tell()\n",
            "            self.buffer.wait()\n",
            (_FAULT + "test_whatever_comes_next_finds_the_fault",),
        ),
        Break(
            EVENTS,
            "            return False\n        self._tell()\n        return True\n",
            "            return False\n        return True\n",
            (_FAULT + "test_whatever_comes_next_finds_the_fault",),
        ),
        Break(
            BUFFERS,
            "                self.failure = unreadable_failure(error, self.ordinals)\n",
            "                pass\n",
            (_FAULT + "test_a_command_buffer_that_cannot_be_read_is_a_fault",),
        ),
    ),
    "a fault names its launch by the encoder's label": (
        Break(
            STREAMS,
            "            encoder.setLabel_(self._label)\n",
            "",
            (
                _FAULT + "test_a_fault_names_its_launch_and_those_behind_it",
                _LAUNCH + "test_a_launch_is_these_messages",
            ),
        ),
        Break(
            STREAMS,
            "self._descriptor.setErrorOptions_(bindings.metal.MTLCommandBufferErrorOptionEncoderExecutionStatus)",
            "pass",
            (_FAULT + "test_a_fault_names_its_launch_and_those_behind_it",),
        ),
        Break(
            LAUNCHING,
            "                opened.ordinals.append(ordinal)\n",
            "",
            (_FAULT + "test_a_fault_names_its_launch_and_those_behind_it",),
        ),
    ),
    "launches dropped behind a failed one are told": (
        Break(
            FAULTS,
            "        not_run.extend(each.not_run)\n",
            "",
            (_FAULT + "test_a_fault_names_its_launch_and_those_behind_it",),
        ),
        Break(
            FAULTS,
            "    not_run.extend(dropped)\n",
            "",
            (
                _FAULT + "test_the_thread_that_commits_finds_faults_and_drops_the_rest",
                _FAULT + "test_collected_work_behind_a_wait_that_failed_is_dropped",
            ),
        ),
        Break(
            FAULTS,
            "        spoilt.extend(each.spoilt)\n",
            "",
            (_FAULT + "test_a_stream_that_waits_for_a_failed_one_is_released_and_told",),
        ),
        Break(
            STREAMS,
            "            self._queue = None\n        tail, self._open",
            "        tail, self._open",
            (_FAULT + "test_a_fault_is_told_once_and_the_stream_goes_on",),
        ),
    ),
    "a fault is told once": (
        Break(
            FAULTS,
            "            told, self._told = self._told, True\n",
            "            told = False\n",
            (_FAULT + "test_waiting_for_what_is_known_to_have_failed_tells_it",),
        ),
    ),
    "the host sets the event of work that failed": (
        Break(
            BUFFERS,
            "                self.event.setSignaledValue_(self.value)\n",
            "                pass\n",
            (_RULE + "test_the_host_signals_for_work_that_failed",),
        ),
    ),
    "what new methods return is the caller's": (
        *(
            Break(BINDINGS, f'    b"{selector}": {arguments},\n', "", (test,))
            for selector, (arguments, test) in _OWNED.items()
        ),
        Break(
            BINDINGS,
            '"already_retained": True',
            '"already_retained": False',
            (
                _MEMORY + "test_allocations_and_launches_keep_no_reference",
                _ROUND + "test_rounds_of_memory_and_launches_end_as_they_began",
            ),
        ),
        Break(
            BINDINGS,
            "            _register(bindings.objc)\n",
            "",
            ("metal/test_bindings.py::test_what_new_methods_return_is_freed_with_its_last_reference",),
        ),
    ),
    "an autorelease pool is around every submission": (
        Break(
            STREAMS,
            "            pool = self._bindings.pool()\n            pool.__enter__()\n",
            "            import contextlib\n\n            pool = contextlib.nullcontext()\n",
            (
                _MEMORY + "test_allocations_and_launches_keep_no_reference",
                _ROUND + "test_rounds_of_memory_and_launches_end_as_they_began",
            ),
        ),
        Break(
            STREAMS,
            "                pool.__exit__(None, None, None)\n            finally:\n",
            "                pass\n            finally:\n",
            (_MEMORY + "test_allocations_and_launches_keep_no_reference",),
        ),
        Break(
            STREAMS,
            "            except BaseException:\n                pool.__exit__(None, None, None)\n                raise\n",
            "            except BaseException:\n                raise\n",
            (_RULE + "test_a_refused_command_buffer_leaves_no_pool_behind",),
        ),
    ),
    "copies and fills are ordered with queued work": (
        Break(
            STREAMS,
            "yield self._open is None and not self._in_flight",
            "yield True",
            (_COPY + "test_copies_and_fills_keep_the_order_of_queued_work",),
        ),
        Break(
            STREAMS,
            "yield self._open is None and not self._in_flight",
            "yield self._open is None",
            (_COPY + "test_copies_and_fills_keep_the_order_of_queued_work",),
        ),
        Break(
            STREAMS,
            "yield self._open is None and not self._in_flight",
            "yield not self._in_flight",
            (_RULE + "test_the_host_does_not_copy_past_what_is_only_collected",),
        ),
        Break(
            BUFFERS,
            "            else:\n                for temporary, offset, target in self._deliveries:\n",
            "            if True:\n                for temporary, offset, target in self._deliveries:\n",
            (_COPY + "test_what_a_failed_stream_should_have_read_is_not_delivered",),
        ),
        Break(
            BUFFERS,
            "                    ctypes.memmove(address_of(target), temporary.host + offset, target.nbytes)\n",
            "                    pass\n",
            (_COPY + "test_copies_and_fills_do_what_they_say",),
        ),
        Break(
            COPIES,
            "                opened.temporaries.append(staging)\n                opened.deliver",
            "                opened.deliver",
            (_COPY + "test_copies_and_fills_keep_the_order_of_queued_work",),
        ),
        Break(
            COPIES,
            "        self._await_writes(address_of(src), nbytes)\n",
            "",
            (_RULE + "test_a_copy_waits_for_what_is_yet_to_write_its_source",),
        ),
        Break(
            COPIES,
            "        pinned = self._memory.find_pinned(address_of(src), nbytes)\n",
            "        pinned = None\n",
            (_RULE + "test_pinned_memory_is_copied_when_the_copys_turn_comes",),
        ),
        Break(
            COPIES,
            "        pinned = self._memory.find_pinned(address_of(dst), nbytes)\n",
            "        pinned = None\n",
            (_RULE + "test_pinned_memory_is_copied_when_the_copys_turn_comes",),
        ),
    ),
    "blits are in multiples of 4 bytes": (
        Break(
            COPIES,
            "        is_blit = _is_aligned(source[1], target[1], nbytes)\n",
            "        is_blit = True\n",
            (_COPY + "test_copies_and_fills_do_what_they_say",),
        ),
        Break(
            COPIES,
            "if is_one_byte and byte <= _LARGEST_BLIT_FILL and _is_aligned(target[1], nbytes):",
            "if is_one_byte and byte <= _LARGEST_BLIT_FILL:",
            (_COPY + "test_copies_and_fills_do_what_they_say",),
        ),
        Break(
            COPIES,
            "if is_one_byte and byte <= _LARGEST_BLIT_FILL and _is_aligned(target[1], nbytes):",
            "if is_one_byte and _is_aligned(target[1], nbytes):",
            (_COPY + "test_copies_and_fills_do_what_they_say",),
        ),
    ),
    "only what is bound or named by .uses is resident": (
        Break(
            LAUNCHING,
            "                        encoder.useResource_usage_(native, self._usage)\n",
            "                        pass\n",
            (
                _LAUNCH + "test_only_what_is_bound_or_named_is_resident",
                "conformance/test_metal.py::test_the_law_holds_on_metal[memory_that_a_launch_uses_is_reached]",
            ),
        ),
        Break(
            LAUNCHING,
            "used = {id(found.native): found.native for found in map(self._used, addresses)} if addresses else None",
            "used = {id(found.native): found.native for found in self._bases.values()}",
            (
                _LAUNCH + "test_only_what_is_bound_or_named_is_resident",
                _LAUNCH + "test_live_buffers_add_nothing_to_a_launch",
                _ROUND + "test_a_launch_costs_the_same_with_many_live_buffers",
            ),
        ),
        Break(
            LAUNCHING,
            "metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite",
            "metal.MTLResourceUsageRead",
            (_LAUNCH + "test_only_what_is_bound_or_named_is_resident",),
        ),
    ),
    "a kernel has 31 buffer slots": (
        Break(
            "drivers/metal/capabilities.py",
            "MAX_BUFFERS = 31",
            "MAX_BUFFERS = 32",
            (
                _LAUNCH + "test_arguments_that_have_no_place_are_refused",
                "metal/test_field_cases_on_metal.py::test_34_a_kernel_has_31_buffer_arguments",
            ),
        ),
        Break(
            LAUNCHING,
            "        if given > MAX_BUFFERS:\n",
            "        if False:\n",
            (_LAUNCH + "test_arguments_that_have_no_place_are_refused",),
        ),
        Break(
            LAUNCHING,
            "        self._check_count(len(places))\n",
            "",
            (_LAUNCH + "test_arguments_that_have_no_place_are_refused",),
        ),
    ),
    "an encoder is always ended": (
        Break(
            STREAMS,
            "            if self._encoder is not None:\n                try:\n",
            "            if self._encoder is not None and kind is None:\n                try:\n",
            (_LAUNCH + "test_an_encoder_is_ended_whatever_happens",),
        ),
        Break(
            STREAMS,
            "            self.__exit__(type(error), error, None)\n            raise\n",
            "            stream.end(0)\n            raise\n",
            (_LAUNCH + "test_an_encoder_is_ended_whatever_happens",),
        ),
        Break(
            STREAMS,
            "                    stream.give_up(second)\n",
            "                    pass\n",
            (_LAUNCH + "test_an_encoder_that_cannot_be_ended_takes_its_command_buffer_along",),
        ),
    ),
    "nothing is encoded after a commit": (
        Break(
            STREAMS,
            "        assert opened is not None\n        self._open = None\n",
            "        assert opened is not None\n",
            (_POLICY + "test_the_first_launches_start_at_once",),
        ),
        Break(
            STREAMS,
            "            opened.native.encodeSignalEvent_value_(self._event, opened.value)\n"
            "            opened.native.commit()\n",
            "            opened.native.commit()\n"
            "            opened.native.encodeSignalEvent_value_(self._event, opened.value)\n",
            (_LAUNCH + "test_a_launch_is_these_messages",),
        ),
        Break(
            STREAMS,
            "            self._lose(opened, error)\n            raise\n",
            "            raise\n",
            (_POLICY + "test_a_command_buffer_that_cannot_be_committed_is_told",),
        ),
    ),
    "a refused argument leaves encoder and command buffer usable": (
        Break(
            LAUNCHING,
            "        buffers, values, temporaries = self._arguments(image)\n        is_queued = False\n",
            "        temporaries = []\n        is_queued = False\n",
            (_LAUNCH + "test_an_argument_that_is_refused_leaves_everything_usable",),
            also=(
                (
                    LAUNCHING,
                    "                encoder.setComputePipelineState_(self._pipeline.state)\n",
                    "                encoder.setComputePipelineState_(self._pipeline.state)\n"
                    "                buffers, values, temporaries = self._arguments(image)\n",
                ),
            ),
        ),
        Break(
            LAUNCHING,
            "        if binding.align and offset % binding.align:\n",
            "        if False:\n",
            (_LAUNCH + "test_an_argument_that_is_refused_leaves_everything_usable",),
        ),
        Break(
            LAUNCHING,
            "        if needed > left:\n",
            "        if False:\n",
            (_LAUNCH + "test_a_buffer_too_small_for_what_the_kernel_declares_is_refused",),
        ),
        Break(
            STREAMS,
            "                operations = 1 if kind is None else 0\n",
            "                operations = 1\n",
            (_RULE + "test_a_launch_that_could_not_be_encoded_is_not_counted",),
        ),
        Break(
            STREAMS,
            "            elif opened.is_empty:\n                self._open = None\n                opened.discard()\n",
            "            elif opened.is_empty:\n                pass\n",
            (_RULE + "test_a_launch_that_could_not_be_encoded_leaves_the_stream_idle",),
        ),
    ),
    "null is never bound": (
        Break(
            "drivers/metal/capabilities.py",
            "        null_pointers=False,\n",
            "",
            ("metal/test_field_cases_on_metal.py::test_22_null_and_empty_buffers_are_refused_by_name",),
        ),
        Break(
            MEMORY,
            "        if allocation is None:\n            raise stray",
            "        if False:\n            raise stray",
            (_LAUNCH + "test_an_argument_that_is_refused_leaves_everything_usable",),
        ),
    ),
    "work is committed at once while the GPU has little to do": (
        Break(
            STREAMS,
            "if operations and (len(self._in_flight) < BUSY_COUNT or opened.operations >= MAX_OPERATIONS):",
            "if operations and opened.operations >= MAX_OPERATIONS:",
            (_POLICY + "test_the_first_launches_start_at_once",),
        ),
        Break(
            STREAMS,
            "                self._flush()\n                return\n            # When this one",
            "                return\n            # When this one",
            (_RULE + "test_the_tail_is_committed_once_the_gpu_is_about_to_run_out",),
        ),
        Break(
            STREAMS,
            "            elif operations:\n                self._watch()\n",
            "            elif operations:\n                pass\n",
            (_RULE + "test_the_tail_is_committed_once_the_gpu_is_about_to_run_out",),
        ),
        Break(
            STREAMS,
            "            self._is_watched = False\n            self._commit()\n            return\n        self._thread",
            "            self._is_watched = False\n            return\n        self._thread",
            (_POLICY + "test_without_threads_nothing_is_collected",),
        ),
    ),
    "at most 64 operations share a command buffer": (
        Break(
            STREAMS,
            "if operations and (len(self._in_flight) < BUSY_COUNT or opened.operations >= MAX_OPERATIONS):",
            "if operations and len(self._in_flight) < BUSY_COUNT:",
            (_POLICY + "test_a_busy_gpu_gets_full_command_buffers",),
        ),
        Break(
            STREAMS,
            "if operations and (len(self._in_flight) < BUSY_COUNT or opened.operations >= MAX_OPERATIONS):",
            "if operations:",
            (_RULE + "test_the_tail_is_committed_once_the_gpu_is_about_to_run_out",),
        ),
    ),
    "so many command buffers are in flight and no more": (
        Break(
            STREAMS,
            "                if len(self._in_flight) < MAX_IN_FLIGHT:\n                    return\n",
            "                return\n",
            (_POLICY + "test_so_many_command_buffers_are_in_flight_and_no_more",),
        ),
    ),
    "whoever asks or waits has collected work committed": (
        Break(
            STREAMS,
            '        """Wait until what is queued now is done. Raises DriverFault; the wait is over then, too."""\n'
            "        with self._lock:\n            self._flush()\n",
            '        """Wait until what is queued now is done. Raises DriverFault; the wait is over then, too."""\n'
            "        with self._lock:\n",
            (_RULE + "test_a_wait_is_for_what_is_collected_too",),
        ),
        Break(
            STREAMS,
            "        with self._lock:\n            self._flush()\n            self._collect()\n            self._tell()\n"
            "            return not self._in_flight\n",
            "        with self._lock:\n            self._collect()\n            self._tell()\n"
            "            return not self._in_flight\n",
            (_POLICY + "test_whoever_asks_has_collected_work_committed",),
        ),
    ),
    "a wait on an event of an uncommitted stream commits it": (
        Break(
            STREAMS,
            "            self._flush()\n            if not self._in_flight:\n",
            "            if not self._in_flight:\n",
            (
                _POLICY + "test_whoever_asks_has_collected_work_committed",
                _EVENT + "test_an_event_orders_two_streams",
            ),
        ),
        Break(
            STREAMS,
            "                opened.native.encodeWaitForEvent_value_(event, value)\n",
            "",
            (_RULE + "test_a_stream_waits_by_a_message_to_the_gpu",),
        ),
        Break(
            STREAMS,
            "            opened.native.encodeSignalEvent_value_(self._event, opened.value)\n",
            "",
            (_LAUNCH + "test_a_launch_is_these_messages",),
        ),
        Break(
            BUFFERS,
            "        return not self.operations and not self.awaits\n",
            "        return not self.operations\n",
            (_EVENT + "test_a_wait_that_nothing_follows_is_waited_for",),
        ),
    ),
    "an address belongs to the one live buffer that holds it, end excluded": (
        Break(
            "ranges.py",
            "        if at < 0 or address + nbytes > self._ends[at]:\n",
            "        if at < 0 or address + nbytes > self._ends[at] + 1:\n",
            (
                _MEMORY + "test_an_address_leads_to_its_buffer_and_ends_before_the_next",
                _MEMORY + "test_an_end_is_not_the_neighbours_beginning",
                _LAUNCH + "test_an_argument_that_is_refused_leaves_everything_usable",
            ),
        ),
        Break(
            "ranges.py",
            "        at = bisect_right(self._starts, address) - 1\n        if at < 0 or",
            "        at = bisect_left(self._starts, address) - 1\n        if at < 0 or",
            (_MEMORY + "test_an_end_is_not_the_neighbours_beginning",),
        ),
        Break(
            MEMORY,
            "        if not 0 <= offset < allocation.nbytes:\n            offset",
            "        if False:\n            offset",
            (_MEMORY + "test_pinned_memory_has_two_addresses_of_one_buffer",),
        ),
        Break(
            MEMORY,
            "                del self.bases[start]\n",
            "                pass\n",
            (_RULE + "test_freed_memory_is_not_bound",),
        ),
    ),
    "an address is found in O(log n)": (
        Break(
            "ranges.py",
            "        at = bisect_right(self._starts, address) - 1\n        if at < 0 or",
            "        at = sum(1 for _ in filter(lambda start: start <= address, self._starts)) - 1\n        if at < 0 or",
            (_ROUND + "test_a_launch_costs_the_same_with_many_live_buffers",),
        ),
    ),
    "a kernel with constants is always specialised": (
        Break(
            LIBRARIES,
            "        if declared:\n",
            "        if declared and constants:\n",
            (_CODE + "test_a_kernel_with_constants_is_always_specialised",),
        ),
    ),
    "memory that nobody uses is given back before memory is called out": (
        Break(
            MEMORY,
            "            if native is None and self._temporaries.drain():\n",
            "            if False:\n",
            (_MEMORY + "test_kept_temporary_buffers_make_room",),
        ),
    ),
}
