"""The grammar behind scripts/make_fables.py: words, the story writer, and the plots."""
