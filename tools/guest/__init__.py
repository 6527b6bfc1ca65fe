"""The inside of the sandbox: the zygote and the workers it forks.

It is a package of its own, and imports nothing but the standard library and `games.contract`, so
that the zygote starts fast and holds none of the host's code.
"""
