"""What PyTorch itself says of a dispatch key: the dispatcher of this build, and the operator table of the release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bringup.errors import OptionError, nearest
from bringup.torch_internals import dispatch_rules, registrations
from bringup_coverage.catalogue import Catalogue, Operator, catalogue
from bringup_coverage.scan.declared import Claim
from bringup_coverage.scan.operator_table import OperatorTable, operator_table
from bringup_coverage.scan.report import report

BUILD = "registered in this build"
TABLE = "listed in the release's operator table"

COMPOSITE = {
    "math kernel": "CompositeImplicitAutograd",
    "nested kernel": "CompositeImplicitAutogradNestedTensor",
    "default backend kernel": "CompositeExplicitAutograd",
    "autograd kernel": "Autograd",
    "batched kernel": "FuncTorchBatchedDecomposition",
}
"""The alias key whose kernel serves many keys, by what the dispatcher calls it."""

NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"


def scan_key(key: str, *, chosen: Callable[[Operator], bool] = lambda _: True) -> dict[str, Any]:
    """The report of a dispatch key.

    Args:
        key: such as ``CUDA`` or ``PrivateUse1``.
        chosen: which operators to list.

    Raises:
        OptionError: torch has no such key.
    """
    everything = catalogue()
    wanted = Catalogue({n: o for n, o in everything.operators.items() if chosen(o)}, everything.builtins)
    complete = len(wanted.operators) == len(everything.operators)
    made = report(f"dispatch key {key}", "declared", wanted, DispatchKey.of(key, operator_table()), {})
    return made | {"complete": complete}


@dataclass(frozen=True)
class DispatchKey:
    """What is known of one key.

    Attributes:
        key: the key.
        rules: by operator, what the dispatcher of this build would call for it.
        listed: operators with a kernel of the key in the release's table, when this build was made without the key.
        table: the release's table.
        non_functional: operators whose generic kernel calls their out= form.
    """

    key: str
    rules: dict[str, str]
    listed: frozenset[str]
    table: OperatorTable
    non_functional: frozenset[str]
    _known: dict[str, Claim] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(key: str, table: OperatorTable | None) -> DispatchKey:
        """What the installed torch says.

        Raises:
            OptionError: torch has no such key.
        """
        rules = dispatch_rules()
        table = table or OperatorTable({}, {}, {})
        if key not in rules:
            listed_keys = frozenset[str]().union(*table.keys.values())
            known = [
                k for k, ops in rules.items() if _of_a_device(k, ops) and (k in listed_keys or "kernel" in ops.values())
            ]
            raise OptionError(
                f"torch has no dispatch key {key!r}{nearest(key, rules)}; "
                f"with kernels in this build or in the release's operator table are {', '.join(known)}"
            )
        listed = table.listed(key)
        here = sum(rules[key].get(name) == "kernel" for name in listed)
        built = 2 * here > len(listed)  # then what the build has not registered is not there
        return DispatchKey(key, rules[key], frozenset() if built else listed, table, registrations(NON_FUNCTIONAL))

    def claim(self, operator: Operator) -> Claim:
        """Native by a kernel of the key's own; decomposed by a kernel of PyTorch that serves many keys; or none."""
        if operator.name not in self._known:
            self._known[operator.name] = self._claim(operator.name)
        return self._known[operator.name]

    def _claim(self, name: str) -> Claim:
        rule = self.rules.get(name)
        if rule == "kernel":
            return Claim("native", detail=BUILD, sources=(BUILD,))
        if name in self.listed:
            return Claim("native", detail=f"{TABLE}; this build has no kernels of {self.key}", sources=(TABLE,))
        if rule in COMPOSITE:
            return self._composite(name, NON_FUNCTIONAL if self._calls_out(name, rule) else COMPOSITE[rule])
        if rule == "fallthrough":
            return self._none(f"{self.key} is passed over for {name}: the next key decides")
        if rule == "backend fallback":
            return self._none(f"{name} has only the fallback that {self.key} has for every operator")
        also = ", and the release's operator table lists nothing" if self.listed else ""
        return self._none(f"nothing is registered for {self.key} in this build that could run {name}{also}")

    def _calls_out(self, name: str, rule: str) -> bool:
        return rule == "default backend kernel" and name in self.non_functional

    def _composite(self, name: str, alias: str) -> Claim:
        """By a kernel that serves many keys; where the table says which overload it calls, that one must have a verdict."""
        through = self.table.generated.get(name)
        if alias == NON_FUNCTIONAL:
            through = self.table.delegates.get(name, through)
        if through is None or COMPOSITE["math kernel"] == alias:
            return Claim(
                "decomposed", detail=f"by PyTorch: its {alias} kernel, which serves many keys", sources=(BUILD,)
            )
        called = catalogue().operators.get(through)
        if called is not None and self.claim(called).status == "none":
            detail = f"its {alias} kernel calls {through}, which has no kernel for {self.key}"
            return Claim("none", "leaf-missing", detail, missing=(through,), sources=(BUILD,))
        return Claim(
            "decomposed", detail=f"by PyTorch: its {alias} kernel calls {through}", through=(through,), sources=(BUILD,)
        )

    def _none(self, detail: str) -> Claim:
        return Claim("none", "no-registration", detail, sources=(BUILD, TABLE) if self.listed else (BUILD,))


def _of_a_device(key: str, rules: dict[str, str]) -> bool:
    """Whether tensors of a device or a layout have the key, not a feature such as autograd."""
    return "math kernel" in rules.values() and not key.startswith("Autograd")
