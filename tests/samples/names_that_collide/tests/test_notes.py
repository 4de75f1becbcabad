import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOTES = os.path.join(ROOT, "notes")


def content(name):
    with open(os.path.join(NOTES, name), encoding="utf-8") as stream:
        return stream.read()


def test_both_notes_are_there():
    assert sorted(os.listdir(NOTES)) == ["Todo.txt", "plain.txt", "todo.txt"]


def test_the_first_note():
    assert content("Todo.txt") == "first\n"


def test_another_note():
    assert content("plain.txt") == "plain\n"


def test_two_folders_that_become_one_have_what_both_had():
    assert content("../Docs/first.txt") == "first\n"
    assert content("../docs/second.txt") == "plain\n"
