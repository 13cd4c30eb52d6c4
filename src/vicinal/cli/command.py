"""A command as a value: what runs, and examples of it."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any

from vicinal.cli.wording import examples

if TYPE_CHECKING:
    import typer

__all__ = ["Command"]


@dataclass(frozen=True)
class Command:
    """What can be typed after ``vicinal``.

    Attributes
    ----------
    run : callable
        What it does. Its name is that of the command, its docstring the help, its
        parameters are arguments and options as typer wants them annotated, one by one
        (`vicinal.cli.options`) or in groups (`vicinal.cli.groups`).
    examples : tuple of str
        Lines to type, shown below the options.
    """

    run: Callable[..., None]
    examples: tuple[str, ...]

    @property
    def name(self) -> str:
        """The word to type."""
        return self.run.__name__

    def add_to(self, app: "typer.Typer") -> None:
        """Let an application know the command."""
        app.command(self.name, epilog=examples(*self.examples))(_with_single_options(self.run))


def _with_single_options(run: Callable[..., None]) -> Callable[..., None]:
    """A function of all options, which hands those of a group on as one value."""
    parameters = signature(run, eval_str=True).parameters.values()
    groups: dict[str, Any] = {p.name: p.annotation for p in parameters if _is_group(p)}
    single = [one for p in parameters for one in _options_of(p)]

    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(*[given.pop(option) for option in group._fields])
        run(**given)

    called.__name__, called.__doc__ = run.__name__, run.__doc__
    called.__annotations__ = {p.name: p.annotation for p in single}
    called.__signature__ = Signature(single)  # type: ignore[attr-defined]
    return called


def _is_group(parameter: Parameter) -> bool:
    """Whether it is annotated by a NamedTuple of options."""
    return hasattr(parameter.annotation, "_fields")


def _options_of(parameter: Parameter) -> list[Parameter]:
    """The parameter itself, or those of the group that it stands for."""
    options = [parameter]
    if _is_group(parameter):
        options = list(signature(parameter.annotation, eval_str=True).parameters.values())
    return [option.replace(kind=Parameter.KEYWORD_ONLY) for option in options]
