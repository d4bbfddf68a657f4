"""From whatever people hold their data in to one immutable `Batch`."""
