"""Plain callables."""
