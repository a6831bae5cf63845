"""The laws themselves, one file per subject."""
