"""What the commands do, as functions: read, train, evaluate, predict, inspect, trace, report, compile."""
