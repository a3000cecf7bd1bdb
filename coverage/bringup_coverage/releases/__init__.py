"""Releases of PyTorch: a snapshot against the runtime, what a release changes for a target."""
