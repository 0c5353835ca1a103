"""Records of weighings held to limits."""
