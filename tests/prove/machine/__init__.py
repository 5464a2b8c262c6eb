"""R8: the service equals a small model of what SPEC says, over random programs of everything that people and time do."""
