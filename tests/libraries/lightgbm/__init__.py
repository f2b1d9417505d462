"""LightGBM: its trees against its own leaves and predictions, its text and its files."""
