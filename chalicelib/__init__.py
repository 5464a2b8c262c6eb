"""Palimpsest: a long-term memory for assistants and communities."""

__version__ = "0.1.0"
