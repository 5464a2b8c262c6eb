"""The Chalice app: every HTTP door, registered. Nothing else happens here, and nothing at import."""

from chalicelib.web.app_object import ThreadSafeChalice
from chalicelib.web.doors import DOORS

app = ThreadSafeChalice("palimpsest")
for door in DOORS:
    app.register_blueprint(door.blueprint)
