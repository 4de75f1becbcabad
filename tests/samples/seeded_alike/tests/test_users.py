import random
import string

USERS = set()


def name():
    return "".join(random.choices(string.ascii_lowercase, k=8))


def add(user):
    assert user not in USERS, f"{user} is taken"
    USERS.add(user)


def test_a_new_user_can_be_added():
    add(name())


def test_a_guest_can_be_added():
    add(name())


def test_a_name_has_eight_letters():
    assert len(name()) == 8
