"""Chronofact: memory for AI agents that knows when a fact held and when we learned it."""
