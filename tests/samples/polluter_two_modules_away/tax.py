import countries


def tax(amount):
    return amount * countries.CURRENT["rate"] // 100
