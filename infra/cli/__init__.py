"""The command `palimpsest`: a person's and an operator's way to a service, over its HTTP API. Ships to no Lambda."""
