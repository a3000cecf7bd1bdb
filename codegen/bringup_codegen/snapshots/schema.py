"""Schema strings: `name(arguments) -> returns`, parsed once; printing gives the same text back."""

from __future__ import annotations

from dataclasses import dataclass, replace


class SnapshotError(ValueError):
    """A text that should describe operators does not; the message says what, where and what to do."""


def split_commas(text: str) -> list[str]:
    """Parts between the commas that are outside of brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


@dataclass(frozen=True)
class Argument:
    """One argument: its type with the alias annotation, as in `Tensor(a!)[]`."""

    type: str
    name: str
    default: str | None = None
    keyword_only: bool = False

    @property
    def written(self) -> bool:
        """Whether the operator writes to it."""
        return "!" in self.type

    def __str__(self) -> str:
        return f"{self.type} {self.name}" + ("" if self.default is None else f"={self.default}")


@dataclass(frozen=True)
class Schema:
    """A schema; `name` is without namespace, as in `add.Tensor`."""

    name: str
    arguments: tuple[Argument, ...]
    returns: tuple[str, ...]
    bare_return: bool = True

    @staticmethod
    def parse(text: str) -> Schema:
        """Read a schema string; an error if it does not print back as it was."""
        head, arrow, tail = text.rpartition(" -> ")
        name, paren, inner = head.partition("(")
        if not arrow or not paren or not inner.endswith(")"):
            raise SnapshotError(f"no schema: {text!r}; expected `name(arguments) -> returns`")
        arguments, keyword_only = [], False
        for part in split_commas(inner[:-1]):
            if part == "*":
                keyword_only = True
                continue
            declared, _, default = part.partition("=")
            type_, _, argument = declared.rpartition(" ")
            arguments.append(Argument(type_, argument, default if "=" in part else None, keyword_only))
        bare = not tail.startswith("(")
        returns = (tail,) if bare else tuple(split_commas(tail[1:-1]))
        schema = Schema(name, tuple(arguments), returns, bare)
        if str(schema) != text:
            raise SnapshotError(f"schema does not round-trip: {text!r} became {str(schema)!r}")
        return schema

    @staticmethod
    def name_of(text: str) -> str:
        """The name in a schema string, of which nothing else is read."""
        return text.partition("(")[0].strip()

    @property
    def kind(self) -> str:
        """functional, inplace, out or mutable, by the alias annotations; names lie for about a hundred overloads.

        Out arguments are keyword-only; an in-place operator writes to its first argument alone, and returns it or is of tensor lists.
        """
        written = [a for a in self.arguments if a.written]
        if not written:
            return "functional"
        if all(a.keyword_only for a in written):
            return "out"
        first = self.arguments[0]
        returned = sum("!" in r for r in self.returns)
        alone = len(written) == 1 and first.written
        listed = not self.returns and "[]" in first.type
        return "inplace" if alone and (returned == 1 or listed) else "mutable"

    def renamed(self, name: str) -> Schema:
        """The same under another name."""
        return replace(self, name=name)

    def __str__(self) -> str:
        parts, starred = [], False
        for a in self.arguments:
            if a.keyword_only and not starred:
                parts.append("*")
                starred = True
            parts.append(str(a))
        returns = self.returns[0] if self.bare_return else f"({', '.join(self.returns)})"
        return f"{self.name}({', '.join(parts)}) -> {returns}"
