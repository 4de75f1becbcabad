"""The artifact as one page that needs nothing but itself: no network, no other file, and no script to be read."""
