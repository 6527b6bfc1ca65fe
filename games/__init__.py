"""Games: the module contract, the referee, records, checks and the verified library."""
