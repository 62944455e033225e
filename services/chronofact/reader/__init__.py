"""Answers what held when, as known when, and how fresh that is."""
