"""Files that are there as a whole or not at all, and state that is made again where it can't be read."""

import os
from pathlib import Path

import pytest

from tefflab.whole_files import kept_json, write_whole


def test_a_file_that_can_not_be_written_stays_as_it_was_and_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    (folder / "kept").mkdir(parents=True)  # a folder can't be replaced by a file
    with pytest.raises(OSError, match=str(folder)) as caught:
        write_whole(folder, "new")
    assert caught.value.filename == str(folder)
    assert [each.name for each in tmp_path.iterdir()] == ["state"]
    write_whole(tmp_path / "new" / "folder" / "file", "whole")
    assert (tmp_path / "new" / "folder" / "file").read_text() == "whole"


def test_what_is_no_file_is_written_to_and_a_link_stays_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", "told")
    assert os.read(reader, 10) == b"told"
    os.close(reader)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", "told")
    assert (tmp_path / "file").read_text() == "told"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("content", ["", "{", "\x00", None])
def test_state_that_can_not_be_read_is_as_none(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "state.json").write_text(content)
    assert kept_json(tmp_path / "state.json") is None
