"""The log, message by message, beside what the projection keeps of it: loss, doubles, wrong places, wrong times."""
