"""The whole service in one process on a laptop: HTTP, stream, queue and clock around the same app as in the cloud."""
