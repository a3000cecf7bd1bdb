"""What real programs call: the usage of `transformers` architectures and of PyTorch's OpInfos, shipped; and a recorder for others.

Everything here is read when it is first asked for, and without torch.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from bringup_coverage.usage.shipped import shipped

__all__ = ["models", "models_using", "opinfos", "recorded_on"]


@cache
def models() -> dict[str, dict[str, int]]:
    """By model type, how often one inference and one training step call each overload."""
    return {
        name: {n: c["forward"] + c["backward"] for n, c in usage.items()} for name, usage in _plain("models").items()
    }


@cache
def opinfos() -> dict[str, list[str]]:
    """By OpInfo (name and variant), the overloads that its first samples call, forward and backward."""
    return {name: sorted(usage) for name, usage in _plain("opinfos").items()}


def models_using(overload: str) -> list[str]:
    """The model types that call an overload such as ``aten::add.Tensor``, sorted."""
    return list(_users().get(overload, ()))


def recorded_on() -> str:
    """The torch release that the shipped models were recorded on."""
    return str(shipped("models")["torch"])


@cache
def _users() -> dict[str, list[str]]:
    users: dict[str, list[str]] = {}
    for name in sorted(models()):
        for overload in models()[name]:
            users.setdefault(overload, []).append(name)
    return users


def _plain(what: str) -> dict[str, dict[str, Any]]:
    return shipped(what)[what]
