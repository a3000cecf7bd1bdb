"""Tiny `transformers` architectures: one row a model type, random weights, built from a local configuration."""
