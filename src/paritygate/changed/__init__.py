"""Selection from the diff: which tests can see what a patch touches. Where that is not known, all of them."""
