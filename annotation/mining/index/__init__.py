"""BM25 over both sides of a conversation: built in bounded memory, opened by memory map, exact in its n best."""
