"""The hot loops: arrays in, arrays out; no objects, no I/O, no validation.

`reference` is the textbook in plain Python, and what every fast loop is tested against. The fast ones are
one loop (`passes`) over rows of any layout (`rows`, made of `dense` and `sparse`), with what an update is
as a value (`rules`), and a screen (`screen`) that spares large dense data most of its reading.
"""
