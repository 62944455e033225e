"""Compares what a projection says with the events and the log; repairs nothing."""
