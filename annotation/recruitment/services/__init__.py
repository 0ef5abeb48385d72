"""Services of recruitment. Requests to a provider are never made inside a transaction.

The answer is stored afterwards; an answer that is lost in between is read again by the next refresh.
"""
