"""The machine behind golden texts and doc tests finds what it is there to find."""

import pytest

from console import Session, blocks_of, matches, pages_with_sessions, play, record, shape

PAGE = """# A page

```console
$ make run
```

<!-- not run: needs a cluster -->
```console
$ iosonde run --launcher slurm
```

<!-- measured -->
<!-- exit 2 -->
<!-- setup: echo '7 files' >made -->
```console
$ iosonde --version >/dev/null; \\
> cat made
12 files
$ exit 2
```
"""

SHELL = ["iosonde --version >/dev/null; \\\ncat made\n", "exit 2\n"]


def test_only_sessions_of_iosonde_are_run_and_their_marks_are_read():
    (block,) = blocks_of(PAGE)
    assert [command.shell for command in block.commands] == SHELL
    assert (block.measured, block.exit_code, block.setup) == (True, 2, ("echo '7 files' >made",))
    assert PAGE.splitlines()[block.line - 1].startswith("$ iosonde --version")


def test_a_page_that_is_true_shows_no_difference(tmp_path):
    assert play(PAGE, tmp_path)[0] == []


def test_a_changed_word_is_found_and_recorded(tmp_path):
    page = PAGE.replace("12 files", "12 trees")
    differences, recorded = play(page, tmp_path)
    assert [difference.actual for difference in differences] == ["7 files\n"]
    assert "7 files\n$ exit 2" in recorded


def test_an_example_runs_only_where_the_programs_are_that_it_needs(tmp_path):
    page = PAGE.replace("12 files", "12 trees").replace("<!-- measured -->", "<!-- measured -->\n<!-- needs: sh -->")
    assert blocks_of(page)[0].needs == ("sh",)
    assert len(play(page, tmp_path)[0]) == 1
    (tmp_path / "other").mkdir()
    without = page.replace("needs: sh", "needs: no-such-program")
    assert play(without, tmp_path / "other") == ([], without)


def test_an_unexpected_exit_code_fails(tmp_path):
    with pytest.raises(AssertionError) as failed:
        play(PAGE.replace("<!-- exit 2 -->\n", ""), tmp_path)
    assert " 2, " in str(failed.value)


def test_a_failing_setup_fails(tmp_path):
    with pytest.raises(AssertionError) as failed:
        play(PAGE.replace("echo '7 files' >made", "false"), tmp_path)
    assert ": false\n" in str(failed.value)


def test_recording_changes_only_what_differs(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    assert not record(page)
    assert page.read_text(encoding="utf-8") == PAGE


def test_output_before_a_prompt_is_refused():
    with pytest.raises(ValueError) as refused:
        blocks_of("```console\nlost\n$ iosonde\n```\n")
    assert "'lost" in str(refused.value)


def test_names_of_this_machine_are_taken_out(tmp_path):
    output, _ = Session(tmp_path).run("echo $HOME/x $(hostname)")
    assert output == "/home/you/x node1\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("write 212 MiB/s ± 3 %", "write 3.1 GiB/s ± 12 %"),
        ("took 850 ms", "took 4 min 10 s"),
        ("run 7f3a91c2 at 2026-11-21T10:00:00Z", "run 0bd41e77 at 2025-01-02T03:04:05.678Z"),
        ("read   12.5 kop/s", "read 9 op/s"),
        ("████▌ 4", "█ 2"),
        ("low -1.5e-3", "low 2"),
    ],
)
def test_measured_text_has_one_shape(one, other):
    assert shape(one) == shape(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("write 212 MiB/s", "read 212 MiB/s"),
        ("12 MiB/s", "12 op/s"),
        ("12 ms", "12 MiB"),
        ("4 nodes", "4 ranks"),
        ("n=6 (90–95)", "n=6"),
    ],
)
def test_different_statements_have_different_shapes(one, other):
    assert shape(one) != shape(other)


def test_dots_stand_for_any_lines_but_not_for_part_of_one():
    assert matches("first\n...\nlast\n", "first\n1\n2\nlast\n", measured=False)
    assert matches("...\nlast\n", "last\n", measured=False)
    assert not matches("first\n...\nlast\n", "first\n1\nlast 2\n", measured=False)


def test_exact_text_is_compared_exactly():
    assert not matches("12 files\n", "13 files\n", measured=False)
    assert matches("12 files\n", "13 files\n", measured=True)


def test_pages_without_sessions_are_left_out(tmp_path):
    (tmp_path / "plain.md").write_text("no session")
    (tmp_path / "page.md").write_text(PAGE)
    assert pages_with_sessions(tmp_path, tmp_path / "absent.md") == [tmp_path / "page.md"]
