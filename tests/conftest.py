"""Fixtures and settings of the whole suite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def fresh_compiler() -> Iterator[None]:
    """Each test starts without compiled graphs, without records and with the same random numbers."""
    import torch

    import bringup

    torch.set_num_threads(1)
    torch._dynamo.reset()
    bringup.reset()
    torch.manual_seed(0)
    yield
