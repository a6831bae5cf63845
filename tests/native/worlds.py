"""Every world by its name, and a program run in one."""

from __future__ import annotations

from typing import Any

import launch_world
import opencl_like_worlds

WORLDS: dict[str, type[launch_world.World]] = {
    each.__name__: each
    for each in (
        launch_world.World,
        launch_world.MockWorld,
        launch_world.QuietMockWorld,
        launch_world.AlignedWorld,
        launch_world.MetalLikeWorld,
        launch_world.CpuWorld,
        launch_world.OpenclWorld,
        launch_world.OpenclBuffersWorld,
        *opencl_like_worlds.WORLDS,
    )
}


def run_program(steps: list[Any], *, with_books: bool = True, world: str = "World") -> tuple[list[object], int]:
    """Run a program in a world of its own: what each step did, then what a correct caller never does.

    Beside it, how many launches were made natively.
    """
    here = WORLDS[world]()
    try:
        done: list[object] = [here.run(step, with_books=with_books) for step in steps]
        done.append(here.violations())
        native_count = here.gpu._gate.native_count
    finally:
        here.close()
    assert not here.left, here.left
    return done, native_count
