import importlib.metadata
import importlib.resources

import six

VERSION = importlib.metadata.version("shop-setuptools")
TEXT = six.ensure_str(b"tea")
MENU = importlib.resources.files(__name__).joinpath("menu.txt").read_text(encoding="utf-8")
