"""The words of the project as closed sets, and the values that are made of them."""
