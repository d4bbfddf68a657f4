"""A limit on requests: a bucket that fills steadily, and never beyond its brim."""

from rosenblatt.server.guard import RateLimit


def test_whoever_waits_long_gets_one_burst_and_no_more():
    now = [0.0]
    limit = RateLimit(1.0, 2.0, ticks=lambda: now[0])
    assert [limit.take("a") for _ in range(3)] == [0, 0, 1]
    now[0] = 86_400.0
    assert [limit.take("a") for _ in range(4)] == [0, 0, 1, 1]
    now[0] += 1.0
    assert [limit.take("a"), limit.take("a")] == [0, 1]
