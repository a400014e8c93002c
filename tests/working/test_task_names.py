"""What shares names with a piece about a task is worth showing: callers, tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory import NewMemory, environment
from hivemind_memory.memory import Memory
from hivemind_memory.working import task_files
from hivemind_memory.working.blocks import Priority
from hivemind_memory.working.code_outline import Section
from hivemind_memory.working.task_context import (
    ContextRequest,
    TaskContext,
    build_context,
)
from hivemind_memory.working.task_names import is_test_of, names_in, weights_of

GRIND = """\
package mill

// It breaks the beans between two stones.
func crushBag(bag Bag) Powder {
	speed := limitOf("MOTOR_RPM")
	powder := turn(bag, speed)
	powder.seal()
	return powder
}
"""
BARISTA = """\
package counter

func serveGuest(order Order) Cup {
	powder := crushBag(order.bag)
	cup := pour(powder)
	cup.lid = order.away
	return cup
}
"""
COMPOSE = """\
services:
  counter:
    image: counter
    environment:
      MOTOR_RPM: "40"
"""
OTHER = """\
package roof

func openWindow(room Room) {
	room.window.angle = 40
	room.heating = false
	room.note = "fresh air"
	room.save()
}
"""


def write(root: Path, files: dict[str, str]) -> Path:
    """Write some files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def built(memory: Memory, root: Path, task: str) -> TaskContext:
    request = ContextRequest(max_tokens=8_000, root=str(root), task=task)
    return build_context(memory, request, environ=environment.git_environ())


def reasons(context: TaskContext) -> dict[str, str]:
    """Return why each piece is there, by its source."""
    return {
        str(entry["metadata"].get("source")): str(entry["metadata"].get("why"))
        for entry in context.built.entries
    }


def test_callers_and_settings_arrive_without_any_word_of_the_task(
    memory: Memory, tmp_path: Path
) -> None:
    """Only the definition has words of the task; the others share names with it."""
    files = {
        "mill/mill.go": GRIND,
        "counter/barista.go": BARISTA,
        "compose.yaml": COMPOSE,
        "roof/window.go": OTHER,
    }
    root = write(tmp_path / "cafe", files)

    found = reasons(built(memory, root, "The stones break too few beans"))

    assert found["mill/mill.go"].startswith("words: ")
    assert found["counter/barista.go"] == "shares crushBag with mill/mill.go"
    assert found["compose.yaml"] == "shares MOTOR_RPM with mill/mill.go"
    assert "roof/window.go" not in found


def test_the_test_of_a_file_is_named_as_such(memory: Memory, tmp_path: Path) -> None:
    text = "package mill\n\nfunc TestNothing(t *testing.T) {\n\tcrushBag(Bag{})\n}\n"
    root = write(tmp_path / "cafe", {"mill/mill.go": GRIND, "mill/mill_test.go": text})

    found = reasons(built(memory, root, "The stones break too few beans"))

    assert found["mill/mill_test.go"].startswith("it is the test of mill/mill.go: ")


def test_a_memory_about_what_a_section_defines_arrives(
    memory: Memory, tmp_path: Path
) -> None:
    """The name of the function is the subject; the task has none of its words."""
    memory.save(
        NewMemory(
            key="crush-bag",
            content="Crush a bag in the morning only: the neighbours sleep.",
            type="decision",
            scope="global",
        )
    )
    root = write(tmp_path / "cafe", {"mill/mill.go": GRIND})

    context = built(memory, root, "The stones turn too slowly")

    why = {entry["id"]: entry["metadata"]["why"] for entry in context.built.entries}
    assert 'found by "crush bag", a name in mill/mill.go' in why.values()


def test_a_section_with_few_words_comes_after_all_others(
    memory: Memory, tmp_path: Path
) -> None:
    """It fills what is left, and says that it has few words."""
    weak = (
        "# Roof\n\nThe heating is switched off while a window is open, stones or not.\n"
    )
    root = write(tmp_path / "cafe", {"mill/mill.go": GRIND, "roof/roof.md": weak})

    task = "Grind beans between two stones and seal the powder at another speed"
    context = built(memory, root, task)

    chosen = [it.block for it in context.built.selection.selected]
    assert reasons(context)["roof/roof.md"] == "few words: stones"
    assert chosen[-1].rank is Priority.LOW
    assert chosen[0].rank is Priority.MEDIUM


def test_a_name_that_most_files_have_is_no_link() -> None:
    texts = {f"{n}.go": "the_common_name" for n in range(20)}
    texts |= {"a.go": "the_common_name rare_name", "b.go": "rare_name"}

    assert set(weights_of(("the_common_name", "rare_name"), texts)) == {"rare_name"}


def test_a_name_is_a_whole_word() -> None:
    """`book` was in `booked_room`, so that it seemed to link two files."""
    texts = {"a.go": "func book()", "b.go": "booked_room", "c.go": "x.book(1)"}

    assert set(weights_of(("book",), texts)) == {"book"}
    del texts["c.go"]
    assert weights_of(("book",), texts) == {}


def test_each_file_is_cut_into_sections_once(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was cut again for each piece that it shares names with."""
    cut: list[str] = []
    sections_of = task_files.sections_of

    def counted(text: str, suffix: str) -> list[Section]:
        cut.append(text)
        return sections_of(text, suffix)

    monkeypatch.setattr(task_files, "sections_of", counted)
    files = {"mill/mill.go": GRIND, "counter/barista.go": BARISTA}
    root = write(tmp_path / "cafe", {**files, "compose.yaml": COMPOSE})

    built(memory, root, "The stones break too few beans for the barista")

    assert len(cut) == len(set(cut)) > 1


def test_plain_words_are_no_names() -> None:
    assert names_in("The powder is sealed at once by sealPowder.") == ("sealPowder",)


@pytest.mark.parametrize(
    ("path", "other", "is_one"),
    [
        ("src/cart.ts", "test/cart.test.ts", True),
        ("app/cart.rb", "spec/cart_spec.rb", True),
        ("cart.go", "cart_test.go", True),
        ("test_cart.py", "test_order.py", False),
        ("tests/test_cart.py", "tests/test_cart.py", False),
        ("src/contest.py", "src/con.py", False),
    ],
)
def test_a_test_is_known_by_its_name(path: str, other: str, is_one: bool) -> None:
    assert is_test_of(path, other) is is_one
    assert is_test_of(other, path) is is_one
