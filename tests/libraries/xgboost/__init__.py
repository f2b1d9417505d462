"""XGBoost: its trees against its own leaves and predictions, its JSON and its files."""
