"""Doors for coding agents: what they run, and what they tell a hook, in their own documented forms."""
