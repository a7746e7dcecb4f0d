"""The tasks that have commands."""

from typing import Any

from .parsing import ParseCommands
from .tagging import TagCommands
from .task import TaskCommands
from .transduction import TransduceCommands

COMMANDS: dict[str, TaskCommands[Any, Any, Any]] = {
    commands.kind.name: commands
    for commands in (TagCommands(), ParseCommands(), TransduceCommands())
}
