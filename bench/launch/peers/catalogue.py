"""The peers by name, and the command that brings each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Peer:
    """`name` is the module here that launches it."""

    name: str
    title: str
    install: str


PEERS = (
    Peer("cuda_bindings", "cuda.bindings", "pip install cuda-bindings"),
)
