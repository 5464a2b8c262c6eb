"""Every kind of test, sorted by what it checks."""
