"""The command line: argv, environment, streams and exit codes.

Nothing else prints, reads `os.environ` or turns an error into text.
"""
