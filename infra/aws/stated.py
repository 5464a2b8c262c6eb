"""How a deployed template tells which settings were stated: by their names, never by their values."""

STATED = "Palimpsest:stated"
