"""Tables of papers, printed and computed again from the data that was published with them."""
