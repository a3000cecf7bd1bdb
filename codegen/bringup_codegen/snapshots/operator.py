"""What a snapshot says of one overload, and of one release."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Operator:
    """One overload of a release; `name` is without the namespace `aten`."""

    name: str
    schema: str
    tags: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    composite: str = ""
    structured: bool = False
    variants: tuple[str, ...] = ("function",)
    autogen: tuple[str, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """The operators that one release writes out in its YAML, by name, and where they were read."""

    torch: str
    git: str
    source: str
    operators: dict[str, Operator] = field(repr=False)

    @property
    def names(self) -> set[str]:
        """All overloads: those written out and those that PyTorch's build generates from them."""
        return set(self.operators) | {g for o in self.operators.values() for g in o.autogen}
