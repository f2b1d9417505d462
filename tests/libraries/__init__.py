"""What each library's folder knows, held against the library itself; here what holds for all of them."""
