"""Files are written whole or not at all, and what is no file is not replaced by one."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from bringup.errors import OptionError
from bringup_coverage.files import write_at_once, write_output


def test_whole_and_nothing_left(tmp_path: Path) -> None:
    """Missing folders are made, the mode stays, no temporary file is left."""
    path = tmp_path / "new" / "report.json"
    write_at_once(path, "one")
    path.chmod(0o640)
    write_at_once(path, "two")
    assert path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == ["report.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What it points to is written."""
    (tmp_path / "to").write_text("old")
    (tmp_path / "link").symlink_to("to")
    write_at_once(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "to").read_text() == "new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    """It is not replaced by a file; so are terminals and devices."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_output(pipe, "text")
    reader.join(10)
    assert read == ["text\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_failure_leaves_the_old_text(tmp_path: Path) -> None:
    """And nothing beside it."""
    path = tmp_path / "report"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_at_once(path, "\ud800")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report"]


def test_why_it_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """A folder in the way, or a file where a folder has to be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="file/x cannot be written: "):
        write_output(tmp_path / "file" / "x", "text")
    with pytest.raises(OptionError, match="cannot be written: Is a directory"):
        write_output(tmp_path, "text")
