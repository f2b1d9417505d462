"""PyTorch: modules asked as they would be in evaluation."""
