import time


def opens():
    return time.strftime("%H:%M", time.localtime(0))


def never_covered():
    return 1
