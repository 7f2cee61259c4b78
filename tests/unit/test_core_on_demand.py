"""A package whose modules are loaded when they are named."""

import sys

import pytest


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "lazily"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from iosonde.core.on_demand import modules_of\n__getattr__ = modules_of(__name__)\n"
    )
    (folder / "there.py").write_text("answer = 42\n")
    (folder / "needy.py").write_text("import a_library_that_nobody_has\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("lazily")
    for name in [name for name in sys.modules if name.split(".")[0] == "lazily"]:
        del sys.modules[name]


def test_a_module_is_loaded_when_it_is_named(package):
    assert "lazily.there" not in sys.modules
    assert package.there.answer == 42 and "lazily.there" in sys.modules


def test_what_is_no_module_is_no_attribute(package):
    with pytest.raises(AttributeError) as caught:
        _ = package.absent
    assert "lazily" in str(caught.value) and "absent" in str(caught.value)


def test_a_library_that_a_module_lacks_is_named(package):
    with pytest.raises(ModuleNotFoundError) as caught:
        _ = package.needy
    assert caught.value.name == "a_library_that_nobody_has"
