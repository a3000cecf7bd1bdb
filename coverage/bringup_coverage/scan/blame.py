"""Whose fault a wrong result is: the compiler's, or that of eager or of PyTorch's capture, which give it too."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bringup_coverage.experiment import Compiler, Experiment, Finding, Function


@dataclass(frozen=True)
class Eager:
    """Eager, as a compiler."""

    def compile(self, function: Function, *, dynamic: bool) -> Function:
        """The function itself."""
        return function

    control = compile


@dataclass(frozen=True)
class Control:
    """The control of a compiler, as a compiler: the same capture, run by eager."""

    of: Compiler

    def compile(self, function: Function, *, dynamic: bool) -> Function:
        """As `of` captures it."""
        return self.of.control(function, dynamic=dynamic)

    control = compile


def judged(experiment: Experiment) -> Finding:
    """What an experiment finds, with the fault where it lies."""
    return attributed(experiment, experiment.run())


def attributed(experiment: Experiment, finding: Finding) -> Finding:
    """A finding with the fault where it lies: a result that eager does not give twice, or that the capture alone gives too, is untraceable."""
    if finding.status != "fail":
        return finding
    if replace(experiment, compiler=Eager()).run().status == "fail":
        return Finding("untraceable", f"eager itself gives another result at every call: {finding.detail}")
    if replace(experiment, compiler=Control(experiment.under_test)).run().status == "fail":
        return Finding("untraceable", f"PyTorch's capture alone, run by eager, is wrong as well: {finding.detail}")
    return finding
