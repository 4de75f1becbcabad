"""The working tree in one state: what a cell gets to see, listed with a digest and packed as a stream."""
