import os


def test_the_service_is_ours(service):
    assert service == [str(os.getpid())]


def test_without_the_service():
    assert True
