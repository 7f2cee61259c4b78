"""The interactions that a ranking names are those of a type II test, however unbalanced the cells are."""

import itertools

import numpy as np

from iosonde.core.message import Message
from iosonde.core.table import build_table
from iosonde.model.fit.features import build_examples
from iosonde.model.sensitivity.rank import rank_factors
from iosonde.model.sensitivity.ranking import Ranking


def rank_unbalanced(seed: int, planted: float) -> Ranking:
    """Rank fs, net and size, all of which matter; ``planted``: what the last levels of fs and net add together."""
    rng = np.random.default_rng(seed)
    rows = [
        (f, n, s, 100 + 25.0 * f + 30 * n + 8 * s + planted * (f == 2) * n + 6 * rng.standard_normal())
        for f, n, s in itertools.product(range(3), range(2), (2, 6, 10))
        for _ in range(int(rng.integers(1, 6)))
    ]
    fs, net, size, v = zip(*rows, strict=True)
    columns = {"fs": [f"fs{level}" for level in fs], "net": [f"net{level}" for level in net], "size": size, "v": v}
    table = build_table(columns)
    return rank_factors(build_examples(table, "v", ["fs", "net", "size"]), 0.95)


def test_the_planted_interaction_is_named_and_no_other_in_unbalanced_cells() -> None:
    for seed in range(8):
        ranking = rank_unbalanced(seed, 40.0)
        assert [(pair.first, pair.second) for pair in ranking.interactions] == [("fs", "net")]
        assert not any(factor.interacts for factor in ranking.factors if factor.name == "size")
        notes = [text for text in ranking.warnings if isinstance(text, Message) and text.code == "interactions"]
        assert any("fs × net" in note for note in notes) and not any("size" in note for note in notes)


def test_unbalanced_cells_alone_make_no_interaction() -> None:
    rankings = [rank_unbalanced(seed, 0.0) for seed in range(8)]
    assert not any(factor.interacts for ranking in rankings for factor in ranking.factors)
    assert sum(bool(ranking.interactions) for ranking in rankings) <= 1
