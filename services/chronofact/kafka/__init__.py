"""Bytes in, bytes out: the only place that speaks Kafka."""
