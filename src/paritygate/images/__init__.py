"""The images: found or made from a project's own files, named by content, looked up before anything is built."""
