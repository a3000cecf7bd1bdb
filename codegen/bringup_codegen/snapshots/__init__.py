"""Operator snapshots: one release's operators as text."""
