"""The study of paths as an experiment: what the words mean, and a whole campaign on a scripted machine."""

from iosonde.campaign import document
from iosonde.campaign.request import Request
from iosonde.campaign.spec import file
from iosonde.measure import design
from iosonde_extras.path_study import experiment as path_study
from messages import raises


def test_the_study_of_paths_is_such_a_fraction():
    found = path_study.find("path-study")
    assert found["design"]["cells"] == 96
    assert path_study.find("path-study:200")["design"]["cells"] == 200
    assert path_study.find("path-study:full")["design"]["kind"] == "full"
    assert "load" not in found["factors"]
    assert path_study.find("path-study", ["load=off,on"])["factors"]["load"] == ["off", "on"]
    with raises("not-an-integer", cells="many"):
        path_study.find("path-study:many")


def test_the_document_is_an_experiment_whose_cells_are_all_meaningful():
    spec = file.build_experiment(document.build_document(Request(what="path-study", target=("/tmp",), seed=1)), ()).spec
    made = design.build_cells(spec.factors, spec.design, 1)
    assert len(made.cells) == 96 and not made.n_dropped and spec.repetitions == 1
    assert {(cell["state"], cell["direction"]) for cell in made.cells} == {
        ("discard", "read"),
        ("cached", "read"),
        ("uncached", "read"),
        ("discard", "write"),
        ("uncached", "write"),
        ("first", "write"),
        ("again", "write"),
    }


def test_quick_is_a_small_look_and_fake_needs_no_target():
    found = document.build_document(Request(what="path-study", quick=True, fake="lock"))
    assert found.data["design"]["cells"] == path_study.QUICK_CELLS and found.data["repetitions"] == 1
    assert found.data["steps"][0]["machine"] == "lock"
    assert found.data["target"]


def test_fake_is_for_the_study_alone():
    with raises("option-not-applicable", option="fake"):
        document.build_document(Request(target=("/tmp",), fake="lock"))
