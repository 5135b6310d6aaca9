"""The version, in the one place from which all else takes it."""

__version__ = "0.1.0"
