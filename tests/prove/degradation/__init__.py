"""R14: each dependency down, slow or talking nonsense, one at a time: `python -m tests.prove.degradation`.

Writes are accepted unless it is the table that fails; answers say what kept them from being the best; nothing is
silently empty; health tells; and when the fault is over everything is whole again, by itself.
"""
