"""The contents of the packages `Metal`, `objc` and `Foundation`, as the site folder's thin packages give them."""

from __future__ import annotations

from typing import Any

from . import blit_encoders, command_buffers, compute_encoders, descriptors, devices, pipelines
from .declared import DECLARED
from .foundation import NSArray
from .interface import DATA
from .journal import journal
from .messages import STRUCTS
from .metadata import registry
from .ownership import AutoreleasePool
from .proxies import ObjCObject, proxy, proxy_class
from .values import NULL, VarList
from .world import world

__all__ = ["OBJC", "foundation", "metal"]
# Importing them is what fills the table of native classes.
_MODELLED = (blit_encoders, command_buffers, compute_encoders, descriptors, devices, pipelines)
_CONSTANTS: dict[str, str] = {name: name for name in DATA["constants"]}


def the_devices() -> list[Any]:
    """The devices of the present world, made when they are first asked for."""
    here = world()
    with here.change:
        while len(here.devices) < here.facts.devices:
            here.devices.append(devices.Device(here, len(here.devices)))
    return here.devices


def _copy_all_devices(*arguments: Any) -> Any:
    if arguments:
        raise TypeError(f"Need 0 arguments, got {len(arguments)}")
    journal.sent["Metal", "MTLCopyAllDevices"] += 1
    array = NSArray(world(), the_devices())
    found = proxy(array)
    array.release()  # already_cfretained, as shipped
    return found


def _default_device(*arguments: Any) -> Any:
    if arguments:
        raise TypeError(f"Need 0 arguments, got {len(arguments)}")
    journal.sent["Metal", "MTLCreateSystemDefaultDevice"] += 1
    found = the_devices()
    return proxy(found[0]) if found else None


def _make(name: str) -> Any:
    encoding = DATA["structs"][name][0]

    def make(*values: int) -> Any:
        return STRUCTS[encoding](*values)

    return make


_FUNCTIONS: dict[str, Any] = {
    "MTLCopyAllDevices": _copy_all_devices,
    "MTLCreateSystemDefaultDevice": _default_device,
    "MTLSizeMake": _make("MTLSize"),
    "MTLOriginMake": _make("MTLOrigin"),
}


def metal(name: str) -> Any:
    """What `Metal.name` is. Raises AttributeError as the package does."""
    if name in DATA["enums"]:
        return DATA["enums"][name]
    if name in DATA["aliases"]:
        return metal(DATA["aliases"][name])
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    if name in DATA["structs"]:
        return STRUCTS[DATA["structs"][name][0]]
    if name in DECLARED and DECLARED[name].is_class:
        return proxy_class(name)
    raise AttributeError(f"module 'Metal' has no attribute '{name}'")


def foundation(name: str) -> Any:
    """What `Foundation.name` is."""
    if name in ("NSArray", "NSDictionary", "NSError", "NSURL", "NSObject"):
        return proxy_class(name)
    if name == "NSLocalizedDescriptionKey":
        return "NSLocalizedDescription"
    raise AttributeError(f"module 'Foundation' has no attribute '{name}'")


def _update(is_updating: bool) -> None:
    registry.updating = bool(is_updating)


def _look_up_class(name: str) -> Any:
    if name in DECLARED and DECLARED[name].is_class:
        return proxy_class(name)
    raise no_such_class(name)


class no_such_class(Exception):  # the name that users meet is objc.nosuchclass_error
    """objc.nosuchclass_error."""


class objc_error(Exception):
    """objc.error: an exception of Objective-C."""


OBJC: dict[str, Any] = {
    "__version__": "13.0",
    "autorelease_pool": AutoreleasePool,
    "registerMetaDataForSelector": registry.register,
    "_updatingMetadata": _update,
    "lookUpClass": _look_up_class,
    "nosuchclass_error": no_such_class,
    "error": objc_error,
    "objc_object": ObjCObject,
    "varlist": VarList,
    "NULL": NULL,
    "nil": None,
    "YES": True,
    "NO": False,
}
