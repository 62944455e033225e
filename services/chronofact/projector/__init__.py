"""Consumes the facts topic and keeps a projection in step with it, exactly once in effect."""
