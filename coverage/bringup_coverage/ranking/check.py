"""The set held against the verdict: with its kernels, is every call that was refused taken?"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from bringup.target.call import Call
from bringup.target.dtypes import ANY
from bringup.target.kernel import Engine, Kernel
from bringup.target.target import Target
from bringup.torch_internals import find_overload
from bringup_coverage.calls import recipes
from bringup_coverage.pool import run_isolated
from bringup_coverage.progress import progress


@dataclass(frozen=True)
class Checked:
    """One overload with the kernels.

    Attributes:
        overload: its name.
        calls: how many calls were judged; none where there is no call of it.
        problem: why a call is refused even so.
    """

    overload: str
    calls: int
    problem: str = ""


def with_all(target: Target, kernels: Iterable[str]) -> Target:
    """The target with kernels that take every call of these overloads, where the installed torch has them."""
    rows = [Kernel(name, Engine.VECTOR, ANY) for name in kernels if find_overload(name) is not None]
    return target.with_kernels(rows)


def check(
    target: Target, kernels: Iterable[str], overloads: Sequence[str], dtype: str, *, jobs: int, timeout: float
) -> list[Checked]:
    """Judge a call of each overload on the target with further kernels.

    Args:
        target: as it is.
        kernels: what is added to it.
        overloads: what they are said to cover.
        dtype: of the calls.
        jobs: workers at a time.
        timeout: seconds for one overload.
    """
    judge = partial(_judge, with_all(target, kernels), dtype)
    found = []
    with progress("the set, checked", total=len(overloads)) as advance:
        for row in run_isolated(overloads, judge, _lost, jobs=jobs, timeout=timeout, per_worker=300):
            found.append(row)
            advance(row.overload)
    return found


def _judge(target: Target, dtype: str, name: str) -> Checked:
    overload = find_overload(name)
    if overload is None or overload.namespace != "aten":
        return Checked(name, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = recipes(name, dtype, 1)
        for recipe in found:
            args, kwargs = recipe.fresh()
            verdict = target.verdict(Call(overload, args, kwargs))
            if not verdict:
                return Checked(name, len(found), str(verdict))
    return Checked(name, len(found))


def _lost(name: str, status: str, detail: str) -> Checked:
    return Checked(name, 1, f"{status}: {detail}")
