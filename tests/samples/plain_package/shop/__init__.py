import six

TEXT = six.ensure_str(b"tea")
