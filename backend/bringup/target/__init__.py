"""What a target can run: `Target`, `Kernel`, `Call` and `Verdict`."""

from bringup.target.call import Call
from bringup.target.kernel import Engine, Kernel
from bringup.target.registry import find_target, target_names
from bringup.target.target import Target
from bringup.target.verdict import Reason, Status, Verdict

__all__ = ["Call", "Engine", "Kernel", "Reason", "Status", "Target", "Verdict", "find_target", "target_names"]
