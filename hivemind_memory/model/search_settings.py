"""How an answer is made, as the settings say. Apart: a sync needs nothing else."""

from __future__ import annotations

from hivemind_memory.model.value import value


@value
class SearchSettings:
    """How hits are found, fused, weighed and cut: each a key of config.json."""

    min_score: float = 0.3
    """Relevance, before age and importance, under which a candidate is not a hit."""

    fusion: str = "standardised"
    """standardised, weighted or rrf."""

    vector_weight: float = 0.4
    """Share of the vector lane in ``standardised`` fusion, 0..1."""

    half_life_days: float = 69.3147
    """Days after which age has taken half of what it may take: ln 2 / 0.01."""

    decay_floor: float = 0.9
    """The least that age leaves of a score, 0..1; 0 is the seed's unbounded decay."""

    diversity: bool = False
    """Maximal marginal relevance over the hits."""

    diversity_lambda: float = 0.7
    """Share of relevance against novelty, 0..1, where ``diversity`` is on."""
