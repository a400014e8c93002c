"""hm model: list and fetch. The models that run on this machine."""

from __future__ import annotations

from shlex import quote

from hivemind_memory.cli.command import Argument, CommandRequest, command
from hivemind_memory.cli.options import JSON, YES
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    print_table,
    size_text,
)
from hivemind_memory.errors import UsageError
from hivemind_memory.model.keys import no_such

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.config.settings import Settings
    from hivemind_memory.providers.local_catalog import LocalModel

USE = "`hm config set embedding_provider local` uses it."


@command("model list", flags=(JSON,))
def list_models(request: CommandRequest) -> int:
    """Show each known model, its size, and whether it is here."""
    from hivemind_memory.providers.local_catalog import MODELS
    from hivemind_memory.providers.local_fetch import is_fetched

    settings, models = _settings_and_folder()
    chosen = _chosen(settings)
    rows = [
        {
            "name": model.name,
            "size_bytes": model.size_bytes,
            "is_fetched": is_fetched(model, models),
            "is_chosen": chosen.lower() == model.name.lower(),
            "about": model.about,
            "license": model.license,
        }
        for model in MODELS
    ]
    if request.values["json"]:
        print_json({"folder": models, "chosen": chosen, "models": rows})
        return 0
    shown = [
        (
            str(row["name"]),
            size_text(int(str(row["size_bytes"]))),
            _state(is_chosen=bool(row["is_chosen"]), is_here=bool(row["is_fetched"])),
            str(row["about"]),
        )
        for row in rows
    ]
    if "/" in chosen:
        shown.append((chosen, "", "chosen", "a folder of your own"))
    print_table(("model", "size", "state", "about"), shown)
    return 0


def _state(*, is_chosen: bool, is_here: bool) -> str:
    """Return whether a model is used, in a word or two."""
    if is_chosen:
        return "used" if is_here else "chosen, not fetched"
    return "fetched" if is_here else "not fetched"


@command(
    "model fetch",
    description=(
        "Without a name it fetches the model that the option local_model names, from"
        " huggingface.co or the mirror in HF_ENDPOINT. None of your data is sent."
        " An interrupted download resumes where it stopped. No other command downloads"
        " a model."
    ),
    arguments=(
        Argument(
            "name", "Name of a model.", is_required=False, completes="local models"
        ),
    ),
    flags=(YES,),
    examples=("hm model fetch", "hm model fetch bge-m3"),
)
def fetch(request: CommandRequest) -> int:
    """Download a model after asking."""
    from hivemind_memory.cli.commands.config import check_shell_may_configure

    check_shell_may_configure("hm model fetch")
    settings, models = _settings_and_folder()
    model = _model(request.values["name"] or settings.local_model)
    if not fetch_model(model, models, is_agreed=request.values["yes"]):
        return 1
    if _chosen(settings).lower() != model.name.lower():
        option = settings.local_model.lower() != model.name.lower()
        which = (
            f"`hm config set local_model {quote(model.name)}` and " if option else ""
        )
        print_notices([f"{which}{USE}"])
    else:
        print_notices(["`hm sync` computes the vectors of your notes"])
    return 0


def fetch_model(model: LocalModel, models: str, *, is_agreed: bool) -> bool:
    """Download a model if the person agrees; return whether it is here."""
    from hivemind_memory import environment
    from hivemind_memory.cli.confirm import is_sure
    from hivemind_memory.cli.progress import ProgressDisplay
    from hivemind_memory.providers import local_fetch
    from hivemind_memory.providers.choose import find_missing_packages

    if local_fetch.is_fetched(model, models):
        print_line(f"{model.name} is here already: {models}/{model.name}")
    else:
        server = environment.model_server()
        what = f"{model.name} ({size_text(model.size_bytes)}) from {server}"
        question = f"Download {what} to {models}?"
        if not is_agreed and not is_sure(question, "Nothing was downloaded"):
            return False
        with ProgressDisplay() as progress:
            folder = local_fetch.fetch_model(
                model, models, server=server, progress=progress
            )
        print_line(f"fetched {model.name}: {folder}", keep=[folder])
    from hivemind_memory.providers.install_command import install_command

    missing = find_missing_packages("local")
    if missing:
        print_notices([f"to run it: `{install_command(missing)}`"])
        return True
    _measure(model, models)
    return True


def _measure(model: LocalModel, models: str) -> None:
    """Load a model once, so that searches know how long that takes."""
    from hivemind_memory.providers.local_model import measure
    from hivemind_memory.providers.local_weights import find_weights, read_measured

    weights = find_weights(model.name, models)
    if not isinstance(weights, str) and read_measured(weights, models) is None:
        load_s = measure(weights, models).load_s
        print_line(f"loaded it in {load_s:.1f} s")


def _settings_and_folder() -> tuple[Settings, str]:
    """Return the settings, and the folder of the models."""
    from hivemind_memory import environment
    from hivemind_memory.files.places import models_folder

    home = environment.resolve_home(None)
    return environment.load_settings(home), models_folder(home)


def _chosen(settings: Settings) -> str:
    """Return the local model that is used; empty: none is."""
    is_local = settings.enabled and settings.embedding_provider == "local"
    return settings.local_model if is_local else ""


def _model(name: str) -> LocalModel:
    """Return the known model of a name.

    Raises:
        UsageError: There is none.
    """
    from hivemind_memory.model.keys import closest
    from hivemind_memory.providers.local_catalog import MODELS, find_model

    model = find_model(name)
    if model is not None:
        return model
    names = [known.name for known in MODELS]
    near = closest(name, names, 1, similarity=0.5)
    if "/" in name:
        raise UsageError(
            f"local_model is the folder {name}, which needs no download.",
            hint="`hm model fetch NAME` downloads one of those that `hm model` lists.",
        )
    raise UsageError(
        no_such("model", name),
        hint=f"Did you mean {near[0]}?" if near else "`hm model` lists them.",
    )
