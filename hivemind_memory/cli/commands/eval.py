"""hm eval: how well the memory answers questions of your own."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import print_json, print_notices, write_stdout
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import count_text, escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.evaluation.ask import Interval, JudgedAnswer, Summary
    from hivemind_memory.evaluation.question_file import QuestionFile
    from hivemind_memory.evaluation.targets import (
        JudgedQuestion,
        TargetFinder,
        TargetProblem,
    )
    from hivemind_memory.memory import Memory

_AS_CONFIGURED = "as configured"
_DRAFTS = 20
_DRAFT_NOTICE = (
    "<!-- A draft from the titles of notes, because searches are not recorded. Reword"
    " each as you would ask it, and add some whose answer is: nothing. -->"
)

QUESTIONS = Argument(
    "file",
    "File or note with golden questions (golden.md in the home folder).",
    is_required=False,
    is_raw=True,
)


@command(
    "eval run",
    description=(
        "A question is a list item with an arrow: `- which port → setup.md:12`. After"
        " the arrow, name one or more of these, separated by commas: a note with a line"
        " or a range (setup.md:12-14), a whole note, or the key of a typed memory;"
        " `nothing` if the notes don't answer it. Prints how many answers are found and"
        " how high they rank, how far confidences can be trusted, and what an answer"
        " costs. Exits with 1 if a target does not exist or --min-ndcg is missed."
    ),
    arguments=(QUESTIONS,),
    flags=(
        Flag(
            ("--set-option",),
            "text",
            "Compare with another value of a search option; can be repeated.",
            metavar="NAME=VALUE",
            is_many=True,
        ),
        Flag(
            ("--min-ndcg",),
            "float",
            "Exit with 1 if nDCG@10 is below this.",
            metavar="X",
            low=0,
            high=1,
        ),
        JSON,
    ),
    examples=(
        "hm eval",
        "hm eval questions.md --min-ndcg 0.8",
        "hm eval questions.md --set-option decay_floor=1",
    ),
)
def run(request: CommandRequest) -> int:
    """Ask golden questions and print how good the answers are."""
    from hivemind_memory import opening
    from hivemind_memory.evaluation import ask, golden, question_file, targets

    values = request.values
    changed = _changed_options(values["set_option"])
    with request.open_memory() as memory:
        file = question_file.read_question_file(memory, values["file"])
        finder = targets.TargetFinder(memory)
        questions, problems = finder.judge(golden.parse_golden(file.text))
        if not questions and not problems:
            hint = f"A question is a list item such as: {question_file.EXAMPLE}"
            raise UsageError(f"{file.name} has no questions.", hint=hint)
        answers = _answers(memory, questions, finder, file)
        others = None
        if changed:
            folder = request.memory_dir
            with opening.open_memory(memory_dir=folder, flags=changed) as other:
                others = _answers(other, questions, finder, file)
    print_notices(
        f"{file.name}:{problem.line}: {problem.problem}" for problem in problems
    )
    if not questions:
        return 1
    summary = ask.sum_up(answers)
    other_summary = ask.sum_up(others) if others else None
    if values["json"]:
        print_json(_value(file, answers, others, problems, changed))
    else:
        write_stdout(_text(file, answers, summary))
        if others and other_summary:
            better = ask.differences(answers, others)
            write_stdout(_comparison(_names(changed), summary, other_summary, better))
        else:
            write_stdout(_missed(file, answers))
    wanted = values["min_ndcg"]
    last = other_summary or summary
    is_low = wanted is not None and _ndcg(last) < wanted
    if is_low:
        print_notices([f"nDCG@10 is {_ndcg(last):.3f}, below {wanted:g}"])
    return 1 if problems or is_low else 0


@command(
    "eval suggest",
    description=(
        "Searches are not recorded, so the draft is made of the titles and headings of"
        " your notes. Reword each item as you would ask it: a question in the words of"
        " the note is too easy. Add questions whose answer is `nothing`."
    ),
    flags=(
        Flag(
            ("-n", "--count"),
            "int",
            f"Maximum number of questions ({_DRAFTS}).",
            metavar="N",
            low=1,
            high=1000,
        ),
    ),
    examples=("hm eval suggest > golden.md",),
)
def suggest(request: CommandRequest) -> int:
    """Print a draft of golden questions."""
    from hivemind_memory.evaluation.suggest import draft_questions

    with request.open_memory() as memory:
        drafts = draft_questions(memory, request.values["count"] or _DRAFTS)
    if not drafts:
        raise UsageError("There is no note to draft a question from.")
    head = ["# Golden questions", "", _DRAFT_NOTICE, ""]
    write_stdout("".join(f"{escape_line(line)}\n" for line in [*head, *drafts]))
    return 0


def _changed_options(texts: Sequence[str] | None) -> dict[str, object]:
    """Return the search options that NAME=VALUE words set.

    Raises:
        UsageError: One is no such option, or may not have that value.
    """
    if not texts:
        return {}
    from hivemind_memory.cli.unknown_names import nearest
    from hivemind_memory.config import options
    from hivemind_memory.config.values import allowed_values, parse_value
    from hivemind_memory.model.query import SearchSettings
    from hivemind_memory.model.value import fields_of

    # Other chunks would be another index.
    kept = [name for name in fields_of(SearchSettings) if name != "chunk_chars"]
    names = (*kept, "embedding_provider", "rerank_provider")
    changed = {}
    for text in texts:
        name, equals, given = text.partition("=")
        if name not in names or not equals:
            near = nearest(name, names)
            hint = f"Did you mean {near}? " if near and near != name else ""
            message = (
                f"`--set-option` takes NAME=VALUE of a search option, not `{text}`."
            )
            raise UsageError(message, hint=f"{hint}It takes {', '.join(names)}.")
        try:
            changed[name] = parse_value(options()[name], given)
        except ValueError:
            message = (
                f"{name} must be {allowed_values(options()[name])}, not `{given}`."
            )
            raise UsageError(message) from None
    return changed


def _answers(
    memory: Memory,
    questions: Sequence[JudgedQuestion],
    finder: TargetFinder,
    file: QuestionFile,
) -> list[JudgedAnswer]:
    """Return the answers of one setting."""
    from hivemind_memory.evaluation.ask import ask_questions

    return ask_questions(memory, questions, finder.lengths_of, hidden=file.note)


def _ndcg(summary: Summary) -> float:
    """Return the mean nDCG@10; 1 if no question has an answer to rank."""
    found = summary.metrics.get("nDCG@10")
    return found.mean if found else 1.0


def _names(changed: dict[str, object]) -> str:
    """Return changed options as they are typed."""
    return ", ".join(f"{name}={value}" for name, value in changed.items())


def _text(file: QuestionFile, answers: Sequence[JudgedAnswer], summary: Summary) -> str:
    """Return the figures of one setting."""
    modes = " and ".join(dict.fromkeys(answer.mode for answer in answers))
    count = count_text(len(answers), "question")
    lines = [f"{count} from {escape_line(file.name)}, {modes} search", ""]
    if summary.metrics:
        rows = [
            (name, f"{value.mean:.3f}", f"{value.low:.3f} to {value.high:.3f}")
            for name, value in summary.metrics.items()
        ]
        lines += [*_columns(("", "mean", "95 % interval"), rows), ""]
    return "".join(f"{line}\n" for line in [*lines, *_sentences(summary)])


def _sentences(summary: Summary) -> list[str]:
    """Return the figures that are no metric of rank, a sentence each."""
    lines = []
    asked = {kind: sum(levels.values()) for kind, levels in summary.levels.items()}
    nones = {kind: levels["none"] for kind, levels in summary.levels.items()}
    if asked["nothing"]:
        weak = summary.levels["nothing"]["weak"]
        lines.append(
            f"questions without an answer: {nones['nothing']} of {asked['nothing']}"
            f" told that nothing is known, {weak} that the match is weak"
        )
    if asked["answered"]:
        lines.append(
            f"questions with an answer: {nones['answered']} of {asked['answered']}"
            " wrongly told that nothing is known"
        )
    found = summary.calibration
    if found:
        lines.append(
            f"confidence of first hits: {found.mean_confidence:.2f} on average,"
            f" {found.share_right:.0%} of them right (calibration error"
            f" {found.error:.2f}; chance alone makes up to {found.chance:.2f})"
        )
    return [*lines, f"tokens per answer: {summary.tokens:.0f}"]


def _comparison(
    name: str, before: Summary, after: Summary, better: dict[str, Interval]
) -> str:
    """Return two settings side by side."""
    rows = [
        (
            metric,
            f"{before.metrics[metric].mean:.3f}",
            f"{after.metrics[metric].mean:.3f}",
            f"{difference.mean:+.3f}",
            f"{difference.low:+.3f} to {difference.high:+.3f}",
        )
        for metric, difference in better.items()
    ]
    tokens = f"{before.tokens:.0f}", f"{after.tokens:.0f}"
    change = f"{after.tokens - before.tokens:+.0f}"
    rows.append(("tokens", *tokens, change, ""))
    heads = ("", _AS_CONFIGURED, name, "difference", "95 % interval")
    lines = ["", *_columns(heads, rows), "", f"{name}:", *_sentences(after)]
    return "".join(f"{line}\n" for line in lines)


def _missed(file: QuestionFile, answers: Sequence[JudgedAnswer]) -> str:
    """Return the questions that were answered badly, a line each."""
    lines = []
    for answer in answers:
        question = answer.question
        if question.evidence and not answer.rank:
            what = "not among the first ten hits"
        elif not question.evidence and not answer.is_right_nothing:
            what = f"no note says it, but the answer is {answer.level}"
        else:
            continue
        place = escape_line(f"{file.name}:{question.line}")
        lines.append(f"{place}: {what}: {escape_line(question.text)}")
    return "".join(f"{line}\n" for line in ["", *lines]) if lines else ""


def _columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows in columns, all but the first aligned to the right."""
    table = [heads, *rows]
    widths = [max(len(row[at]) for row in table) for at in range(len(heads))]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def _value(
    file: QuestionFile,
    answers: Sequence[JudgedAnswer],
    others: Sequence[JudgedAnswer] | None,
    problems: Sequence[TargetProblem],
    changed: dict[str, object],
) -> dict[str, object]:
    """Return everything for programs."""
    from hivemind_memory.evaluation.ask import differences, sum_up

    settings: list[tuple[dict[str, object], Sequence[JudgedAnswer]]] = [({}, answers)]
    if others:
        settings.append((changed, others))
    value: dict[str, object] = {
        "file": file.name,
        "questions": len(answers),
        "settings": [
            {"options": options, "summary": sum_up(some), "answers": some}
            for options, some in settings
        ],
        "problems": problems,
    }
    if others:
        value["differences"] = differences(answers, others)
    return value
