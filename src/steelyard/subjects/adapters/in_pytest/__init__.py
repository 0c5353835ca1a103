"""What the adapter for pytest-benchmark puts on the PYTHONPATH of pytest: nothing here may import anything of ours."""
