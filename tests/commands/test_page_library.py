"""The drawing library is made once a version; what somebody else could have written is not put into a page."""

from __future__ import annotations

import os

import pytest
from jinja2 import Environment, TemplateAssertionError

from iosonde.page import library as page_library
from iosonde.page.environment import create_template_cache, make_environment
from iosonde.page.library import load_vega_script
from messages import codes


@pytest.fixture
def made(monkeypatch, tmp_path):
    """How often it was made; its text is short here."""
    count = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(page_library, "_build_script", lambda: count.append(1) or "draw();")
    return count


def kept(tmp_path):
    (file,) = (tmp_path / "cache" / "iosonde").iterdir()
    return file


def test_it_is_made_once_and_then_read(made, tmp_path):
    said = []
    assert [load_vega_script(said.append) for _ in range(3)] == ["draw();"] * 3
    assert (len(made), said) == (1, [])
    assert kept(tmp_path).stat().st_mode & 0o777 == 0o600 and "vega-" in kept(tmp_path).name


@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "others may write", "no text"])
def test_what_is_not_ours_or_not_whole_is_made_again(made, tmp_path, harm):
    load_vega_script(print)
    file = kept(tmp_path)
    if harm == "others may write":
        file.chmod(0o666)
    else:
        content = file.read_bytes()
        new = {"cut": content[:-1], "changed": b"evil();" + content[7:], "empty": b"", "no text": b"\xff" * 9}[harm]
        file.write_bytes(new)
    assert load_vega_script(print) == "draw();" and len(made) == 2
    assert load_vega_script(print) == "draw();" and len(made) == 2, "and kept"


def test_where_it_cannot_be_kept_that_is_said_and_the_page_is_made(made, tmp_path):
    (tmp_path / "cache").write_text("a file where a directory should be")
    said = []
    assert load_vega_script(said.append) == "draw();"
    assert codes(said) == ["io-error"]


def test_without_a_home_that_is_said(made, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(page_library.Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    said = []
    assert load_vega_script(said.append) == "draw();"
    assert codes(said) == ["no-home-directory"]


def test_a_relative_cache_directory_is_no_cache_directory(made, monkeypatch, tmp_path):
    """As the XDG base directory specification says."""
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    load_vega_script(print)
    assert os.listdir(tmp_path) == ["home"] and (tmp_path / "home" / ".cache" / "iosonde").is_dir()


@pytest.mark.long
@pytest.mark.slow
def test_the_library_itself_ends_no_element_and_names_no_address(monkeypatch, tmp_path):
    text = page_library._build_script()
    assert "</script" not in text and "<!--" not in text and "vegaEmbed" in text
    assert "https://" not in text and "http://" not in text.replace("http://www.w3.org/", "")


def test_compiled_templates_are_kept_only_where_nobody_else_can_write(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert create_template_cache(Environment()) is not None
    (tmp_path / "iosonde").chmod(0o777)
    assert create_template_cache(Environment()) is None
    (tmp_path / "iosonde").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "iosonde").symlink_to(tmp_path / "elsewhere")
    assert create_template_cache(Environment()) is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    assert create_template_cache(Environment()) is None


@pytest.mark.parametrize("name", make_environment().list_templates(extensions=["html"]))
def test_every_template_compiles_where_none_was_compiled_before(name):
    """Jinja looks for the filters of a template, and of what it includes, when it compiles it."""
    environment = make_environment()
    environment.bytecode_cache = None
    environment.get_template(name)


def test_a_template_that_was_compiled_with_other_filters_is_compiled_again(empty_cache):
    """Else what fails on a new account works on one that ever made another page."""
    make_environment().get_template("macros.html")
    other = make_environment()
    del other.filters["sentence"]
    other.bytecode_cache = create_template_cache(other)
    with pytest.raises(TemplateAssertionError):
        other.get_template("macros.html")


def test_a_template_that_did_not_change_is_compiled_once(empty_cache):
    make_environment({"one"}).get_template("macros.html")
    kept = {path: path.stat().st_mtime_ns for path in empty_cache.rglob("*.cache")}
    make_environment({"two"}).get_template("macros.html")
    assert kept and kept == {path: path.stat().st_mtime_ns for path in empty_cache.rglob("*.cache")}
