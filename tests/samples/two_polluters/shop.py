REBATES = []
RATES = {}


def price(amount):
    return amount - sum(REBATES) * RATES.get("rebate", 0)
