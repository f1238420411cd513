"""A client of Writ: nothing happens to the world without a signed writ. spec/client.md says what it does and believes."""

from ._api import Settings
from ._clients import AsyncClient, Client
from ._crypto import Pinned, SigningKey, digest
from ._errors import Denied, NoAnswer, NotBelieved, PermittedBefore, Refused, WritError, WrongFile
from ._json import canonicalize
from ._model import (
    Agent,
    Effect,
    Event,
    Input,
    Operation,
    Outcome,
    Prepared,
    Request,
    Resources,
    Token,
    Waiting,
)

__version__ = "0.1.0"
__all__ = [
    "Agent",
    "AsyncClient",
    "Client",
    "Denied",
    "Effect",
    "Event",
    "Input",
    "NoAnswer",
    "NotBelieved",
    "Operation",
    "Outcome",
    "PermittedBefore",
    "Pinned",
    "Prepared",
    "Refused",
    "Request",
    "Resources",
    "Settings",
    "SigningKey",
    "Token",
    "Waiting",
    "WritError",
    "WrongFile",
    "canonicalize",
    "digest",
]
