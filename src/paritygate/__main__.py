"""`python -m paritygate`."""

from paritygate.cli import main

if __name__ == "__main__":
    main()
