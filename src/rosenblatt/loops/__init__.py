"""The hot loops: arrays in, arrays out; no objects, no input or output, no validation.

`reference` is the textbook in plain Python, against which every fast loop is tested. The fast ones are one loop
(`passes`) over rows of any layout (`rows`, made of `dense` and `sparse`) by a rule (`rules`), and a screen
(`screen`) that avoids reading most of large dense data.
"""
