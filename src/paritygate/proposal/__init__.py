"""What a project needs to be gated by one word: looked for in its files, shown, and only then written beside what is there."""
