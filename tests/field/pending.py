"""What is not answered rightly today: the list may only become shorter, and a wrong answer only become none.

A question that is listed here and has another grade fails the test, as one does that is not listed and is not right.
"""

from __future__ import annotations

from .judge import Grade

NO_ANSWER, WRONG = Grade.NO_ANSWER, Grade.WRONG

# Question → its grade today.
PENDING: dict[str, Grade] = {
    "fio-789": NO_ANSWER,
    "fio-805": NO_ANSWER,
    "ior-328": NO_ANSWER,
    "ior-500": NO_ANSWER,
    "io-500-dev-14": NO_ANSWER,
    "io500-109": NO_ANSWER,
    "sysbench-72": NO_ANSWER,
    "ceph-16381": NO_ANSWER,
}
