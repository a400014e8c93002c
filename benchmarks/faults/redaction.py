"""Faults in what finds secrets."""

from __future__ import annotations

from benchmarks.faults.fault import Fault

FAULTS = (
    Fault(
        name="no place makes letters a password",
        rig="secrets --each 2 --lines 200 --no-speed",
        module="redaction/values/letter_check.py",
        code="assert may_be_letters\nmay_be_letters = may_be_any = lambda _: False\n",
        says=r"first list: 208 forms, [1-8]\d\.\d% found",
    ),
    Fault(
        name="every word beside a password's name is one",
        rig="secrets --each 2 --lines 200 --no-speed",
        module="redaction/values/letter_check.py",
        code=(
            "assert may_be_letters\n"
            "may_be_letters = may_be_bare = may_be_said = may_be_any = "
            "lambda value: len(value) > 3\n"
        ),
        says=r"made lines: 200 lines, [1-9]\d* alarms",
    ),
)
