"""Kafka and Postgres on this machine, for a demo, tests and small use."""
