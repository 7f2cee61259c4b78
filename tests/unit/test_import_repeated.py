"""What several files say of one execution counts once: elbencho's CSV and text, a job's log, lists of IO500, trees."""

from __future__ import annotations

import pytest
from test_ingest_related_files import GIB, directory, imported, of, only, result, summary, whole

from iosonde.store import Store

COMMAND = '"elbencho" "--hosts" "a{0}b" "--threads" "2" "--write" "--sync" "/x"'
TEXT = f"""ISO DATE: 2024-05-03T09:25:44-0800
COMMAND LINE: {COMMAND.format(",")}

OPERATION RESULT TYPE        FIRST DONE  LAST DONE
========= ================   ==========  =========
SYNC      Elapsed ms       :          0          1
---
MKDIRS    Elapsed ms       :          2          4
          Dirs/s           :       1000       2000
---
SYNC      Elapsed ms       :          0          2
---
WRITE     Elapsed ms       :      45245      45248
          IOPS             :       {{0}}       3430
          Throughput MiB/s :         13         14
          IO lat us        : [ min=51us avg=60us max=70us ]
          IO lat % us      : [ 99%<=65 ]
---
"""
CSV = (
    "ISO date,label,path type,paths,hosts,threads,operation,time ms [first],time ms [last],entries/s [last],"
    "IOPS [last],MiB/s [last],command\n"
)
CSV += "".join(
    f"2024-05-03T09:2{at}:00-0800,,dir,1,2,2,{what},{COMMAND.format(' ')}\n"
    for at, what in enumerate(("SYNC,0,1,,,", "MKDIRS,2,4,2000,,", "SYNC,0,2,,,", "WRITE,45245,45248,,3430,14"))
)
MDTEST = """-- started at 05/03/2024 09:25:44 --
mdtest-4.0.0 was launched with 8 total task(s) on 2 node(s)
Command line used: ./mdtest '-n' '10' '-u' '-C'
8 tasks, 80 files
SUMMARY rate: (of 1 iterations)
   Operation                     Max            Min           Mean        Std Dev
   File creation               16000.000      16000.000      16000.000          0.000
   Tree creation                  50.000         50.000         50.000          0.000
-- finished at 05/03/2024 09:25:50 --
"""
RANKS = """rank,items,rate-File creation,time-File creation,rate-Tree creation,time-Tree creation
all,80,1.6000000000e+04,5.0000000000e-03,4.0000000000e+02,2.0000000000e-02
0,10,2.0000000000e+03,5.0000000000e-03,,
"""


def runs(store):
    opened = Store.open(store)
    return [opened.run(name) for name in opened.run_ids()]


def test_elbenchos_csv_and_its_text_are_one_run(tmp_path):
    made = imported(directory(tmp_path / "in", w__csv=CSV, w__out=TEXT.format(3402)), tmp_path / "s")
    assert (made["runs"], made["joined"]) == (1, 1)
    run = only(tmp_path / "s")
    assert of(run, "write", "access_rate_last_done") == [3430]
    assert of(run, "write", "bandwidth_last_done") == [14 * 1024.0**2]
    assert of(run, "write", "access_latency_p99") == [pytest.approx(65e-6)]  # which the text alone has
    assert of(run, "sync", "time_last_done") == [0.001, 0.002]
    assert run.factors["nodes"] == 2 and run.facts["joined_with"] == ["w.out"]
    assert [(one["format"], one["files"], one["runs"]) for one in made["by_format"]] == [("elbencho", 2, 1)]
    again = imported(tmp_path / "in", tmp_path / "s")
    assert again["runs"] == 0 and len(runs(tmp_path / "s")) == 1


def test_another_result_of_the_same_command_of_elbencho_is_another_run(tmp_path):
    other = TEXT.format(3402).replace("3430", "3530")
    made = imported(directory(tmp_path / "in", w__csv=CSV, w__out=other), tmp_path / "s")
    assert (made["runs"], made["joined"]) == (2, 0)


def test_elbenchos_sync_before_each_phase_begins_no_other_run(tmp_path):
    imported(directory(tmp_path / "in", w__csv=CSV), tmp_path / "s")
    assert {one.operation for one in only(tmp_path / "s").observations} == {"sync", "mkdirs", "write"}


def test_what_a_jobs_log_repeats_counts_once_in_whatever_order(tmp_path):
    other = MDTEST.replace("09:25:4", "09:35:4")
    for log in ("a", "z"):
        place = directory(
            tmp_path / log, **{f"{log}__out": f"+ srun mdtest\n{MDTEST}{other}", "m1__out": MDTEST, "m2__out": other}
        )
        made = imported(place, tmp_path / f"{log}s")
        assert (made["runs"], made["joined"]) == (2, 1)
        assert imported(place, tmp_path / f"{log}s")["runs"] == 0
        assert {one.facts["import"]["file"] for one in runs(tmp_path / f"{log}s")} == {"m1.out", "m2.out"}


def test_equal_numbers_of_another_start_are_a_repetition(tmp_path):
    later = MDTEST.replace("09:25:4", "09:35:4")
    assert imported(directory(tmp_path / "in", m1__out=MDTEST, m2__out=later), tmp_path / "s")["runs"] == 2


def test_the_trees_of_mdtests_csv_make_it_no_other_execution(tmp_path):
    """It counts one for each rank, the text one for all."""
    imported(
        directory(tmp_path / "in", result__txt=result(), mdtest_easy_write__txt=MDTEST, mdtest_easy_write__csv=RANKS),
        tmp_path / "s",
    )
    run = only(tmp_path / "s")
    assert not [one for one in run.facts["import"]["warnings"] if "mdtest_easy_write.csv" in one]
    assert of(run, "mdtest_easy_write_tree_creation", "rate_last_done") == [50]
    assert [one.value for one in run.observations if one.rank == 0 and one.operation == "mdtest_easy_write"]


def test_statistics_over_ranks_are_no_doubles_of_the_lists_value(tmp_path):
    """mdtest 3.3 prints the fastest rank, the slowest and the mean in one iteration; IO500 takes the first."""
    spread = MDTEST.replace(
        "16000.000      16000.000      16000.000          0.000",
        "16000.000      12000.000      15000.000          1.500",
    )
    imported(directory(tmp_path / "in", result__txt=result(), mdtest_easy_write__txt=spread), tmp_path / "s")
    run = only(tmp_path / "s")
    assert of(run, "mdtest_easy_write", "rate_last_done") == [16000] and not of(run, "mdtest_easy_write", "rate_max")
    assert [of(run, "mdtest_easy_write", f"rate_{one}") for one in ("min", "mean", "sd")] == [[12000], [15000], [1.5]]


def test_of_two_lists_of_another_execution_one_counts(tmp_path):
    """The tools' own files belong to ``result_summary.txt``, that of the last of them."""
    files = {
        "io-500-summary.1.txt": summary(0.5),
        "io-500-summary.2.txt": summary(0.25),
        "io-500-summary.3.txt": f"{summary(0.25)}\n",
        "result_summary.txt": summary(),
    }
    directory(tmp_path / "in", ior_easy_write__txt="")
    for name, text in files.items():
        (tmp_path / "in" / name).write_text(text)
    assert imported(tmp_path / "in", tmp_path / "s")["runs"] == 3
    bandwidths = sorted(of(run, "ior_easy_write", "bandwidth_last_done")[0] for run in runs(tmp_path / "s"))
    assert bandwidths == [GIB, 2 * GIB, 4 * GIB]


def test_two_lists_alone_are_one_run(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/io-500-summary.1.txt").write_text(f"{summary()}\n")
    made = imported(directory(tmp_path / "in", result_summary__txt=summary()), tmp_path / "s")
    assert (made["runs"], made["joined"], made["incomplete"]) == (1, 1, 0)


def test_a_list_beside_the_neighbours_execution_is_that_of_its_own(tmp_path):
    whole(tmp_path / "in/2023/submission-1/results")
    whole(tmp_path / "in/2023/submission-2/results", 0.5)
    directory(tmp_path / "in/2023/submission-1", result_summary__txt=summary(0.5))
    for _ in range(2):
        imported(tmp_path / "in", tmp_path / "s")
        assert len(runs(tmp_path / "s")) == 2


def test_a_script_that_holds_a_tools_words_is_quoted(tmp_path):
    (tmp_path / "Generate").write_text(f"#!/bin/sh\ncat <<END\n{MDTEST}END\n")
    (tmp_path / "m.txt").write_text(MDTEST)
    made = imported(tmp_path, tmp_path / "s")
    assert made["runs"] == 1 and [one["file"] for one in made["quoted"]] == [str(tmp_path / "Generate")]


def test_a_log_of_darshan_without_pydarshan_is_no_run(tmp_path, monkeypatch):
    """With it the same file is one later: an empty run would stand in its way."""
    import sys

    monkeypatch.setattr(sys, "executable", "/bin/true")
    (tmp_path / "j.darshan").write_bytes(b"3.41\0\0\0\0" + (6567223).to_bytes(8, "little") + bytes(99))
    (tmp_path / "m.txt").write_text(MDTEST)
    made = imported(tmp_path, tmp_path / "s")
    (refused,) = made["unknown"]
    assert "'iosonde[darshan]'" in refused["reason"] and made["runs"] == 1 and made["incomplete"] == 0
