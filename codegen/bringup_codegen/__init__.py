"""Code generation from operator snapshots."""
