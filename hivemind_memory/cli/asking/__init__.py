"""Commands run by the helper of a leader, as by themselves: no rules of their own.

A command that begins imports 150 to 400 modules, which takes most of its time. The
process that leads (``hm watch``, ``hm mcp``) keeps a helper: a process with those
modules, one thread and no open file but its socket. A command connects to it, and a
child is forked that becomes the command: with its words, environment, folder, streams
and limits. So it does the same, by the same code, as if it ran by itself.

``client`` is the side of the command, ``helper`` the process, ``child`` what it forks.
``program_id`` and ``peer`` say when the two don't fit together; then, and whenever no
answer comes in time, the command does its work itself, as if there were no helper.
"""
