"""``make fuzz``: files and requests that a stranger could send, and what must hold whatever they are."""
