"""What of PyTorch a backend runs, with evidence."""
