"""Learning: what training carries, the fit loop, the order of visits, streams and the record of a run."""
