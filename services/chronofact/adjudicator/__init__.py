"""Decides how text memories relate: by rule first, by a model only where the rule can't, and says so as events."""
