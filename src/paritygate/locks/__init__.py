"""The fixture lock: sha256 of the files that tests read, so that mending a fixture shows in the diff."""
