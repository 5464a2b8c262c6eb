"""Doors that nobody knocks at: the table's stream, the queue, the clock."""
