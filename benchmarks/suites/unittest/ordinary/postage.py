"""Postage of parcels, in hundredths of a cent."""

STEPS = {500: 23500, 1000: 31000, 2000: 44500, 5000: 67000, 10000: 98500}


def postage(grams: int) -> int:
    """The price of the first step that is heavy enough; a step ends below its weight."""
    return next(price for step, price in STEPS.items() if grams < step)
