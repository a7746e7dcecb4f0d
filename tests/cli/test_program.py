import sys

from beamlearn.cli.program import program


def test_the_name_is_enough_where_the_shell_finds_it(monkeypatch, tmp_path):
    command = tmp_path / "beamlearn"
    command.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", [str(command)])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program() == "beamlearn"
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    assert program() == str(command)


def test_another_program_is_not_suggested(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/python"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program() == "beamlearn"
