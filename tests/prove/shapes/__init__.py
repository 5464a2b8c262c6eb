"""R9: stored text of every shape comes back as it was said. `python -m tests.prove.shapes` runs the full size."""
