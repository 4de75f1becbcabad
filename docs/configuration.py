"""Write `configuration.md` beside this file anew."""

from pathlib import Path

from paritygate.config import reference as config_reference

if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(config_reference.render(), encoding="utf-8")
