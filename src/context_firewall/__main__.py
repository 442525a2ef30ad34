"""`python -m context_firewall` is the command line."""

from context_firewall.cli import main

if __name__ == "__main__":
    main(prog_name="context-firewall")
