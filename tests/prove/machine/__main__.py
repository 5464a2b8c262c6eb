"""`python -m tests.prove.machine --programs 2000 --steps 50`."""

import sys

from tests.prove.machine.command import main

if __name__ == "__main__":
    sys.exit(main())
