"""One BLAS thread for small matrices; the libraries are looked for once."""

from __future__ import annotations

import threadpoolctl

from iosonde.core.blas_threads import _find_libraries, use_single_blas_thread

CONTROLLER = threadpoolctl.ThreadpoolController


def count_blas_threads() -> list[int]:
    return [each["num_threads"] for each in CONTROLLER().info() if each["user_api"] == "blas"]


def test_one_thread_within_and_as_many_as_before_after(monkeypatch):
    searches = []
    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", lambda: searches.append(1) or CONTROLLER())
    _find_libraries.cache_clear()
    before = count_blas_threads()
    for _ in range(3):
        with use_single_blas_thread():
            assert set(count_blas_threads()) <= {1}
        assert count_blas_threads() == before
    assert len(searches) == 1
