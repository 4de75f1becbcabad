import six

VERSION = six.__version__
