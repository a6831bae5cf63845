"""CUlaunchConfig for a geometry: made once, used by every launch that has it."""

from __future__ import annotations

from typing import Any

from ...geometry import Geometry

_MOST_SHAPES = 32
_MOST_STREAMS = 64


class LaunchConfigs:
    """The configurations that launches of one driver use. Safe to use from several threads: they are only read."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self._kept: dict[int, dict[Geometry, Any]] = {}
        # Programs launch with one geometry object again and again; hashing it costs as much as the launch.
        self._latest: tuple[Geometry | None, int, Any] = (None, 0, None)

    def get(self, geometry: Geometry, stream: int) -> Any:
        latest, on, config = self._latest
        if latest is geometry and on == stream:
            return config
        shapes = self._kept.get(stream)
        if shapes is None:
            if len(self._kept) >= _MOST_STREAMS:
                # Those of other libraries: nobody tells us when they go.
                self._kept = {}
            shapes = self._kept[stream] = {}
        config = shapes.get(geometry)
        if config is None:
            if len(shapes) >= _MOST_SHAPES:
                shapes.clear()
            config = shapes[geometry] = self._make(geometry, stream)
        self._latest = (geometry, stream, config)
        return config

    def forget(self, stream: int) -> None:
        """Drop what is kept for a stream that is destroyed."""
        self._kept.pop(stream, None)
        if self._latest[1] == stream:
            self._latest = (None, 0, None)

    def _make(self, geometry: Geometry, stream: int) -> Any:
        config = self._driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = geometry.grid.as_tuple()
        config.blockDimX, config.blockDimY, config.blockDimZ = geometry.block.as_tuple()
        config.sharedMemBytes = geometry.shared_mem
        config.hStream = stream
        attributes = self._attributes(geometry)
        config.attrs = attributes
        config.numAttrs = len(attributes)
        return config

    def _attributes(self, geometry: Geometry) -> list[Any]:
        """CUlaunchAttribute values; only what was asked for, since older drivers do not know them all."""
        attributes = []
        if geometry.cluster is not None:
            attribute = self._attribute("CLUSTER_DIMENSION")
            size = attribute.value.clusterDim
            size.x, size.y, size.z = geometry.cluster.as_tuple()
            attributes.append(attribute)
        if geometry.cooperative:
            attribute = self._attribute("COOPERATIVE")
            attribute.value.cooperative = 1
            attributes.append(attribute)
        wanted = geometry.attributes
        if wanted is None:
            return attributes
        if wanted.programmatic:
            attribute = self._attribute("PROGRAMMATIC_STREAM_SERIALIZATION")
            attribute.value.programmaticStreamSerializationAllowed = 1
            attributes.append(attribute)
        if wanted.priority is not None:
            attribute = self._attribute("PRIORITY")
            attribute.value.priority = wanted.priority
            attributes.append(attribute)
        if wanted.memory_sync_domain is not None:
            attribute = self._attribute("MEM_SYNC_DOMAIN")
            domains = self._driver.CUlaunchMemSyncDomain
            attribute.value.memSyncDomain = getattr(
                domains, f"CU_LAUNCH_MEM_SYNC_DOMAIN_{wanted.memory_sync_domain.upper()}"
            )
            attributes.append(attribute)
        return attributes

    def _attribute(self, name: str) -> Any:
        attribute = self._driver.CUlaunchAttribute()
        attribute.id = getattr(self._driver.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name}")
        return attribute


def needs_extended_launch(geometry: Geometry) -> bool:
    """Whether a launch asks for what only cuLaunchKernelEx has."""
    return geometry.cluster is not None or geometry.attributes is not None
