"""A small memory, for tests of what is estimated before it is taken."""

from contextlib import contextmanager

import pytest

from rosenblatt.exceptions import InputError
from rosenblatt.rows import memory


@contextmanager
def refused_beyond(n_bytes, match):
    """Require that the block is refused for a lack of memory where so many bytes are free."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "free_memory", lambda: n_bytes)
        with pytest.raises(InputError, match=match) as caught:
            yield
    assert " of memory are free. " in str(caught.value)
