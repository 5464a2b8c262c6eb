"""The Chalice app: every HTTP door and every function beside it, registered. Nothing else happens here, and nothing at
import."""

from chalicelib.jobs.functions import functions
from chalicelib.web.app_object import ThreadSafeChalice
from chalicelib.web.doors import DOORS

app = ThreadSafeChalice("palimpsest")
for door in DOORS:
    app.register_blueprint(door.blueprint)
app.register_blueprint(functions)
