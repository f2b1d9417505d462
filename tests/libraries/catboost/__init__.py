"""CatBoost: its trees against its own leaves and predictions, its export and its files."""
