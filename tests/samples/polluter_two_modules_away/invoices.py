import tax


def total(amount):
    return amount + tax.tax(amount)
