"""What can go wrong outside of the device: the weights, the words and the files they come from."""

from __future__ import annotations


class EmbedError(Exception):
    """Something the person at the keyboard can mend; the message says how."""


class WeightsMissing(EmbedError):
    """The package that ships the model is not installed, or files of it are gone."""
