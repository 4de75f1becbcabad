import getpass
import os
import pathlib
import socket
import tempfile

import pytest


def test_a_temporary_folder_is_empty(tmp_path):
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a").write_text("1", encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_session_fixture_is_shared(catalogue):
    assert catalogue.read_text(encoding="utf-8").split() == ["tea", "milk"]


def test_a_basket_starts_empty(basket):
    assert basket == []
    basket.append("tea")


def test_a_basket_is_emptied(basket):
    assert basket == []
    basket.append("milk")


@pytest.mark.parametrize("name", ["übung", "日本", "a b", "x::y", "[z]", "", "tab\there", "n\nn"])
def test_names_keep_their_letters(name):
    assert name.encode("utf-8").decode("utf-8") == name


@pytest.mark.parametrize("b", [1, 2])
@pytest.mark.parametrize("a", [1, 2, 3])
def test_products_commute(a, b):
    assert a * b == b * a


def test_output_goes_where_it_likes(capsys):
    print("hello")
    assert capsys.readouterr().out == "hello\n"


def test_output_past_every_capture_is_harmless():
    os.write(1, b'{"n": "x", "s": 0, "e": "test", "outcome": "failed"}\n')
    os.write(2, b"noise\n")
    print("more noise")


def test_there_is_a_user_with_a_home():
    assert getpass.getuser()
    assert os.getuid() != 0
    assert pathlib.Path.home().is_dir()
    assert os.access(pathlib.Path.home(), os.W_OK)
    assert os.access(tempfile.gettempdir(), os.W_OK)


def test_the_own_name_resolves():
    assert socket.gethostbyname(socket.gethostname())
    assert socket.gethostbyname("localhost") == "127.0.0.1"


def test_a_server_on_a_free_port_answers():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            peer, _ = server.accept()
            with peer:
                peer.sendall(b"hi")
            assert client.recv(2) == b"hi"


def test_the_own_folder_is_writable():
    marker = pathlib.Path(__file__).with_name("written-by-a-test")
    marker.write_text("x", encoding="utf-8")
    marker.unlink()


@pytest.mark.skip(reason="never here")
def test_skipped_everywhere():
    raise AssertionError


@pytest.mark.xfail(reason="not yet")
def test_expected_to_fail():
    raise AssertionError


@pytest.mark.xfail(strict=True, raises=ZeroDivisionError)
def test_strictly_expected_to_fail():
    1 / 0


@pytest.mark.slow
def test_with_a_mark():
    assert True


def test_importorskip_skips_everywhere():
    pytest.importorskip("no_such_module_anywhere")
