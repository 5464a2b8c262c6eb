"""D1: what a laptop acknowledged is there, whatever happens to its process, its disk and its folder:
`python -m tests.prove.durability`."""
