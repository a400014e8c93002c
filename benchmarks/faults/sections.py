"""Faults in what agents are shown, and in what keeps it out of git."""

from __future__ import annotations

from benchmarks.faults.fault import Fault

FAULTS = (
    Fault(
        name="no hook looks for the section",
        rig="section_escapes --every 24 --made 2",
        module="inject/commit_check.py",
        code="assert HOOKS\nHOOKS = {name: ('# nothing',) for name in HOOKS}\n",
        says=r"a commit has a part of the section",
    ),
    Fault(
        name="no filter takes the section out of copies",
        rig="section_escapes --every 100 --made 6",
        module="inject/commit_guard.py",
        code=(
            "assert CommitGuard._install_filter\n"
            "CommitGuard._install_filter = lambda _: None\n"
        ),
        says=r"an ordinary command was refused",
    ),
    Fault(
        name="a push is not compared with the memories",
        rig="section_escapes --every 12 --made 2",
        module="inject/find_copies.py",
        code="assert Copies.look\nCopies.look = lambda *_: None\n",
        says=r"the remote has the text of a memory",
    ),
    Fault(
        name="a folder on this machine counts as another machine",
        rig="section_escapes --every 6 --kinds beside",
        module="inject/commit_origin.py",
        code=(
            "assert 'hivemind_is_shared() (' in START\n"
            "START = START.replace('hivemind_is_shared() (', "
            "'hivemind_is_shared() ( exit 0;')\n"
        ),
        says=r"the remote has the text of a memory",
    ),
    Fault(
        name="nothing counts as another machine",
        rig="section_escapes --every 6 --kinds elsewhere",
        module="inject/commit_origin.py",
        code=(
            "assert 'hivemind_is_shared() (' in START\n"
            "START = START.replace('hivemind_is_shared() (', "
            "'hivemind_is_shared() ( exit 1;')\n"
        ),
        says=r"an ordinary command was refused",
    ),
    Fault(
        name="what was fetched is not remembered",
        rig="section_escapes --every 5 --kinds elsewhere",
        module="inject/commit_origin.py",
        code="assert FETCHED\nFETCHED = '\\n'\n",
        says=r"an ordinary command was refused",
    ),
    Fault(
        name="what a remote on this machine has counts as published",
        rig="section_escapes --every 5 --kinds beside",
        module="inject/commit_origin.py",
        code="assert REMOTES\nREMOTES = '\\n'\n",
        says=r"the remote has the text of a memory",
    ),
    Fault(
        name="a fetch is taken for a commit",
        rig="section_escapes --every 17 --kinds elsewhere",
        module="inject/commit_origin.py",
        code="assert ARRIVING\nARRIVING = '\\n'\n",
        says=r"an ordinary command was refused",
    ),
    Fault(
        name="every command is taken for a fetch",
        rig="section_escapes --every 40 --kinds escape --made 2",
        module="inject/commit_origin.py",
        code="assert ARRIVING\nARRIVING = '    exit 0\\n'\n",
        says=r"a commit has a part of the section",
    ),
    Fault(
        name="every source is trusted",
        rig="poison --entries 40",
        module="model/trust.py",
        code=(
            "assert is_trusted\n"
            "is_trusted = lambda source: True\n"
            "untrusted_source = lambda source: ''\n"
        ),
        says=r"[1-9]\d* told",
    ),
)
