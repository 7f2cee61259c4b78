"""One BLAS thread for small matrices: threads that share one wait for each other longer than they work."""

import sys
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, cast

# Each may bring a BLAS of its own.
_BRINGERS = ("numpy", "scipy.linalg", "sklearn")


def use_single_blas_thread() -> AbstractContextManager[None]:
    """Have the libraries loaded so far use one thread within this context."""
    controller = _find_libraries(tuple(name in sys.modules for name in _BRINGERS))
    return cast(AbstractContextManager[None], controller.limit(limits=1, user_api="blas"))


@cache
def _find_libraries(_loaded: tuple[bool, ...]) -> Any:
    """Find the libraries once, which takes longer than a small fit."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
