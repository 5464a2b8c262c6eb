"""`palimpsest memories …`: add, find, read and change memories of one space."""

import typer

from infra.cli.memories import adding, changing, finding, reading, revising


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(
        no_args_is_help=True, help="Add, find, read and change memories.", rich_markup_mode=None
    )
    for module in (adding, finding, reading, revising, changing):
        module.register(group)
    app.add_typer(group, name="memories")
