"""One file a question: ``answer(source, asked, …) → Answer`` with its estimates, findings and sentence.

An answer chooses the estimators and says the sentence; ``stats``, ``model`` and ``explain`` compute, ``report`` shows.
"""
