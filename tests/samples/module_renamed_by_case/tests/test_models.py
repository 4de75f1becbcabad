from shop import models


def test_a_model_has_a_name():
    assert models.NAME == "tea"
