"""Tools of Writ for LangChain: one for each operation that the caller may use.

Needs `langchain-core`, which is imported when it is used; another class with the same `from_function` can be passed in.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from .._clients import AsyncClient, Client
from .._model import Effect, Operation
from .openai import Only, named, told


def langchain_tools(
    client: Client,
    *,
    asynchronous: Optional[AsyncClient] = None,
    only: Optional[Only] = None,
    run: str = "main",
    wait: float = 0.0,
    structured_tool: Any = None,
) -> list[Any]:
    """The tools, for `create_agent` or `bind_tools`. `asynchronous` serves `ainvoke`; without it LangChain uses a thread.

    A tool with a JSON Schema is not told the id of its call, so two equal calls are two effects.
    """
    made: Any = structured_tool
    if made is None:
        from langchain_core.tools import StructuredTool

        made = StructuredTool
    operations = named(client.operations(run), only)
    return [
        made.from_function(
            func=_called(client, operation, run, wait),
            coroutine=None
            if asynchronous is None
            else _awaited(asynchronous, operation, run, wait),
            name=name,
            description=operation.description or name,
            args_schema=dict(operation.input),
        )
        for name, operation in operations.items()
    ]


def _called(
    client: Client, operation: Operation, run: str, wait: float
) -> Callable[..., str]:
    def call(**params: Any) -> str:
        effect = Effect(operation.tool, params, operation.name, operation.version)
        return told(client.call(effect, run=run, wait=wait))

    return call


def _awaited(client: AsyncClient, operation: Operation, run: str, wait: float) -> Any:
    async def call(**params: Any) -> str:
        effect = Effect(operation.tool, params, operation.name, operation.version)
        return told(await client.call(effect, run=run, wait=wait))

    return call
