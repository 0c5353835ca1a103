"""Blocks, pairs and pairs in tandem: how often identical programs are called different."""
