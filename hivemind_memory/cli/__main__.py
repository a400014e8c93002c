"""``python -m hivemind_memory.cli`` is ``hm``."""

from hivemind_memory.cli.start import run

if __name__ == "__main__":
    run()
