"""Tests of the recorder and the plugin inside a real pytest."""
