"""What disturbs measurements on this machine: one function per condition, which reads what the kernel tells.

Where the kernel does not tell, the condition is `unknown`, never an error. A function is given the tree of files, or
two readings taken a moment apart; none writes anything.
"""
