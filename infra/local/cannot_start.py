"""What keeps a laptop's service from starting, in words for the person at the terminal."""


class CannotStartError(Exception):
    """One plain sentence of what is wrong, and one of what to do. The process ends with it."""
