"""The formats of sessions: one module each, none of which knows another. The table is in `conversation.reader`."""
