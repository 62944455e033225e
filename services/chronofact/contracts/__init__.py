"""What crosses a boundary: commands, answers, the event's encoding, the topic catalogue, position tokens."""
