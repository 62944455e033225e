"""The bulk load of a rebuild: the log from offset zero to its targets into a schema of its own, by worker processes (ADR 25)."""
