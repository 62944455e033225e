"""What is derived from a text, once, when it is written: frames and an embedding; and what two texts are to one another."""
