"""Compiled loops over pairs: no classes, no validation, nothing of ours imported but each other.

Every kernel runs on one thread without the GIL; engines hand tiles to threads.
"""
