"""Blocks of any kind and priority, for tests of what is done with them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from hivemind_memory.working import (
    ContextMemoryBlock,
    FileMemoryBlock,
    HistoryMemoryBlock,
    KnowledgeMemoryBlock,
    MemoryBlock,
    MessageMemoryBlock,
    Priority,
    StatusMemoryBlock,
    TaskMemoryBlock,
)

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)

_LINES = st.integers(1, 50)
_COMMON = {
    "confidence": st.floats(0, 1).map(lambda share: round(share, 3)),
    "priority": st.sampled_from([None, *Priority]),
    "timestamp": st.integers(-90, 90_000).map(lambda s: NOW - timedelta(seconds=s)),
    "expiry": st.none()
    | st.integers(-100, 100).map(lambda s: NOW + timedelta(seconds=s)),
    "metadata": st.dictionaries(
        st.text(max_size=4), st.none() | st.integers() | st.text(max_size=4), max_size=2
    ),
}
_WORD = st.text("abcdefgh", min_size=1, max_size=5)
BLOCKS: st.SearchStrategy[MemoryBlock] = st.one_of(
    st.builds(
        FileMemoryBlock, location=_WORD, start_line=st.none() | _LINES, **_COMMON
    ),
    st.builds(StatusMemoryBlock, status_type=_WORD, value=st.integers(), **_COMMON),
    st.builds(
        TaskMemoryBlock,
        task_id=_WORD,
        description=st.text(max_size=20),
        dependencies=st.lists(_WORD, unique=True, max_size=2).map(tuple),
        **_COMMON,
    ),
    st.builds(
        MessageMemoryBlock,
        from_agent=_WORD,
        to_agent=_WORD,
        subject=st.text(max_size=5),
        preview=st.text(max_size=120),
        read=st.booleans(),
        **_COMMON,
    ),
    st.builds(
        KnowledgeMemoryBlock,
        topic=st.text(max_size=9),
        location=_WORD.map(lambda key: f"hm:{key}"),
        **_COMMON,
    ),
    st.builds(
        HistoryMemoryBlock,
        action_type=_WORD,
        action_detail=st.text(max_size=9),
        **_COMMON,
    ),
    st.builds(ContextMemoryBlock, context_type=_WORD, summary=st.text(), **_COMMON),
)
SETS = st.lists(BLOCKS, max_size=25, unique_by=lambda block: block.id)
