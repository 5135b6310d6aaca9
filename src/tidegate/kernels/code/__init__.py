"""Machine code from expressions: vectors with Python's operators, functions, loops, a cache.

Read upwards: ``vector``, ``indices`` and ``places`` are values of code, ``functions`` what cells
may apply to them, ``emit`` a function being written, ``tiles`` and ``products`` matrix products;
``cpu`` says for which processor, ``jit`` turns text into something to call.
"""
