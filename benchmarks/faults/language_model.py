"""Faults in the jobs of the language model."""

from __future__ import annotations

from benchmarks.faults.fault import Fault

FAULTS = (
    Fault(
        name="the jobs of a killed leader are run again",
        rig="kill_jobs --kills 60",
        module="state/jobs.py",
        code=(
            "assert Jobs.interrupt_others\n"
            "_SQL = \"UPDATE jobs SET state = 'waiting' WHERE state = 'running'\"\n"
            "Jobs.interrupt_others = lambda self, _: self._count_changes(_SQL, ())\n"
        ),
        says="asked more than once",
    ),
    Fault(
        name="requests are sent without being counted",
        rig="kill_jobs --kills 60",
        module="state/model_requests.py",
        code=(
            "assert ModelRequests.take_request\n"
            "ModelRequests.take_request = lambda _self: 0.0\n"
        ),
        says="requests counted",
    ),
    Fault(
        name="a reply may name memories that the model was not given",
        rig="model_replies --replies 200",
        module="jobs/relations.py",
        code=(
            "_Any = type('_Any', (), {'__contains__': lambda *_: True})\n"
            "_checked = relations_in\n\n"
            "def relations_in(reply, refs):\n"
            "    return _checked(reply, _Any())\n"
        ),
        says=r"[1-9]\d* problems",
    ),
    Fault(
        name="a save waits while a language model is chosen",
        rig="language_model --rounds 40 --notes 20",
        module="memory/memory.py",
        code=(
            "_saved = Memory.save\n\n"
            "def _save(self, *given, **named):\n"
            "    if self.settings.llm_provider != 'none':\n"
            "        sum(range(2_000_000))\n"
            "    return _saved(self, *given, **named)\n\n"
            "Memory.save = _save\n"
        ),
        says="slower",
    ),
)
