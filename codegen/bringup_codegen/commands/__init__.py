"""Commands of the code generator."""
