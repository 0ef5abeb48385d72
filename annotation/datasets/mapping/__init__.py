"""What the fields of other people's files mean. Pure: no Django, no database."""
