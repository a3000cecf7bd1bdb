"""Run a program on the host."""

from bringup.engine.portable import Boxed, build

__all__ = ["Boxed", "build"]
