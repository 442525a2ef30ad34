"""Who made a packet: the names and the version that receipts carry."""

__version__ = "0.1.0"

REDUCER_NAME = "context-firewall/test-output"
"""`receipt.reducer.name` of a packet."""

MECHANISM_ID = "opsle.context-firewall"
MECHANISM_NAME = "Context Firewall"
"""How value receipts and the indicator name the mechanism, whichever implementation made them."""
