"""The whole service in one process on a laptop: HTTP front, outbox, queue and clock around the same app."""
