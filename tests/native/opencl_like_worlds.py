"""Worlds over the real OpenCL driver with the stand-in behind it: kernel objects hold the arguments, and say what they were."""

from __future__ import annotations

from launch_world import World
from opencl_standin import SIMULTANEOUS, open_standin, standin


def _declared() -> str:
    many = ", ".join(f"uint v{at}" for at in range(23))
    crowd = ", ".join(f"uint v{at}" for at in range(40))
    numbers = ("uchar", "ushort", "uint", "ulong", "char", "short", "int", "long", "float", "double")
    pairs = ", ".join(f"double2 w{at}" for at in range(14))
    return f"""
kernel void empty() {{}}
kernel void scale(global float *x, uint count, float factor) {{}}
kernel void pair(global float *x, global const float *y) {{}}
kernel void numbers({", ".join(f"{name} v{at}" for at, name in enumerate(numbers))}, global int *out) {{}}
kernel void opened(global void *p0, uint p1, float p2, local uint *room, global const void *p3) {{}}
kernel void many(global int *x, {many}) {{}}
kernel void complexes(float2 z, double2 w, uint n) {{}}
kernel void crowd(global int *x, {crowd}) {{}}
kernel void full(global float *x, {pairs}, uint a, uint b, uint c, uint d) {{}}
kernel void wide({pairs}, double2 w14, double2 w15, global float *x) {{}}
"""


KERNELS = ("empty", "scale", "pair", "numbers", "opened", "many", "complexes", "crowd", "full", "wide")

# Values that the stand-in takes nowhere: as clSetKernelArg refuses one, and as it does when the device is gone.
REFUSED, LOST = 0x0BADCA5E, 0x0BADDEAD

_CODES = {1: -5, 2: -4, 701: -50, 719: -36}


class OpenclLikeWorld(World):
    """Shared virtual memory: pointers are addresses."""

    memory = "svm"
    # Of cl_khr_command_buffer: its version, its capabilities, and how often a command buffer is still pending.
    recording: tuple[int, int, int] | None = None

    def _open(self) -> None:
        self.standin = standin()
        self.standin.reset()
        if self.recording is not None:
            self.standin.library.standin_command_buffers(*self.recording)
        self.standin.library.standin_refuse_value(0, REFUSED, -50)
        self.standin.library.standin_refuse_value(1, LOST, -36)
        self.gpu, self.other = (open_standin(self.memory, command_buffers=self.recording is not None) for _ in range(2))
        module = self.gpu.load_module("m", source={".cl": _declared()})
        self.kernels = {name: module[name] for name in KERNELS}

    def _fail_launch(self, code: int, nth: int) -> None:
        self.standin.refuse(_CODES[code], nth)

    def _clear_faults(self) -> None:
        self.standin.refuse(0, 0)

    def _launched(self) -> list[object]:
        # What is sent when is no other for recorded launches, but for where in the midst of them.
        return [
            tuple(self._word(each) for each in words)
            for words in self.standin.journal()
            if words[0] == "launch" or self.recording is None
        ]

    def _word(self, word: str) -> str:
        return self.at(int(word[1:], 16)) if word.startswith("@") else word

    def violations(self) -> list[str]:
        # Kernel objects may be more in the one than in the other core, and command buffers are.
        return [self.standin.violation]

    @property
    def left(self) -> str:
        kernels, command_buffers = self.standin.alive
        return f"{kernels} kernel objects, {command_buffers} command buffers" if kernels or command_buffers else ""


class OpenclLikeBuffersWorld(OpenclLikeWorld):
    """Memory objects: pointers are numbers, and one into an allocation is a part of it."""

    memory = "buffers"


class OpenclLikeRecordedWorld(OpenclLikeWorld):
    """Sequences are recorded; every third time that it is asked for, a command buffer is still pending."""

    recording = (9 << 12, 0, 3)


class OpenclLikeRecordedBuffersWorld(OpenclLikeBuffersWorld):
    """Sequences are recorded, each for the queue of its first use."""

    recording = (1 << 22, 0, 0)


class OpenclLikeSimultaneousWorld(OpenclLikeBuffersWorld):
    """Sequences are recorded, and may be pending as often as one likes, on any queue."""

    recording = (9 << 12, SIMULTANEOUS, 0)


WORLDS = (
    OpenclLikeWorld,
    OpenclLikeBuffersWorld,
    OpenclLikeRecordedWorld,
    OpenclLikeRecordedBuffersWorld,
    OpenclLikeSimultaneousWorld,
)
