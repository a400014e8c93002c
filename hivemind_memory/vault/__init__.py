"""The vault: secrets of one home, in a file of their own, and nowhere else.

Programs get them through the environment. Everything else of the package asks only
which values are secret, to leave them out of what it writes, shows and sends.
"""
