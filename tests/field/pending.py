"""What is not answered rightly today: the list may only become shorter, and a wrong answer only become none.

A question that is listed here and has another grade fails the test, as one does that is not listed and is not right.
"""

from __future__ import annotations

from .judge import Grade

# Question → its grade today.
PENDING: dict[str, Grade] = {}
