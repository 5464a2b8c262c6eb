"""`python -m infra.cli`: the command `palimpsest`, where it is not installed."""

from infra.cli.app import main

if __name__ == "__main__":
    main()
