"""What on this machine disturbs measurements: one function a condition, each of which reads what the kernel tells.

Where the kernel does not tell, the condition is `unknown`, and never an error. Each function is given the tree of files
and what was read twice, a moment apart; none writes anything.
"""
