NAME = "tea"
