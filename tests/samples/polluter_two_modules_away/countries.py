CURRENT = {"rate": 19}
