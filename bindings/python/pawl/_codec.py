# SPDX-License-Identifier: Apache-2.0
"""Values and JSON: what annotations say about a value, and the codec that an application puts in between."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import enum
import json
import sys
import types
import typing
from collections.abc import Callable
from typing import Any, Protocol, Union, runtime_checkable


@runtime_checkable
class Codec(Protocol):
    """Changes every payload on its way to the database and back, for example to encrypt it.

    Both functions take and return JSON: encrypted bytes become a JSON string or object. Inputs,
    outputs, results of steps, payloads of events and signals, arguments of undos, log lines and the
    texts of errors pass through it. Names, keys, tenants, topics, metadata and the codes of errors
    do not.
    """

    def encode(self, data: bytes) -> bytes:
        """Returns the JSON that is stored for this JSON."""
        ...

    def decode(self, data: bytes) -> bytes:
        """Returns the JSON that encode() was given."""
        ...


def _is_one(value: Any, module: str, name: str) -> bool:
    """Whether a value is of a class whose module may not be imported; importing it here would cost every program."""
    found = sys.modules.get(module)
    return found is not None and isinstance(value, getattr(found, name))


def _default(value: Any) -> Any:
    """What json.dumps() asks for values that JSON does not have."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    if hasattr(value, "__struct_fields__"):
        return sys.modules["msgspec"].to_builtins(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if _is_one(value, "uuid", "UUID") or _is_one(value, "decimal", "Decimal"):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    raise TypeError(f"a value of type {type(value).__qualname__} cannot be stored as JSON: return a dataclass, a model or plain data")


_encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_default)


def dump(value: Any) -> bytes:
    """Returns a value as JSON."""
    if value is None:
        return b"null"
    if hasattr(value, "model_dump_json"):
        data: str = value.model_dump_json()
        return data.encode()
    return _encoder.encode(value).encode()


Loader = Callable[[bytes], Any]
Convert = Callable[[Any], Any]

# Kinds for which the values of json.loads() need no conversion.
_plain = {None, Any, object, dict, list, str, int, float, bool, type(None), typing.Dict, typing.List}  # noqa: UP006
_loaders: dict[Any, Loader] = {}


_decode = json.JSONDecoder().decode


def load(data: bytes, kind: Any = None) -> Any:
    """Returns the value of a JSON text, as the annotation kind asks for it."""
    if kind is None:
        return _decode(data.decode())
    try:
        loader = _loaders.get(kind)
    except TypeError:
        return make_loader(kind)(data)
    if loader is None:
        loader = _loaders[kind] = make_loader(kind)
    return loader(data)


def make_loader(kind: Any) -> Loader:
    """Returns the function that reads JSON as a kind: a model, a struct, a dataclass, or a composition of them."""
    if _is_plain(kind):
        return json.loads
    if isinstance(kind, type) and hasattr(kind, "model_validate_json"):
        return typing.cast(Loader, kind.model_validate_json)
    if _mentions(kind, "__struct_fields__"):
        msgspec = sys.modules["msgspec"]
        return lambda data: msgspec.json.decode(data, type=kind, strict=False)
    if _mentions(kind, "__pydantic_core_schema__"):
        return typing.cast(Loader, sys.modules["pydantic"].TypeAdapter(kind).validate_json)
    convert = make_convert(kind)
    return lambda data: convert(json.loads(data))


def _is_plain(kind: Any) -> bool:
    try:
        if kind in _plain:
            return True
    except TypeError:
        return False
    if isinstance(kind, typing.TypeVar):
        return True
    if typing.get_origin(kind) in (dict, list):
        return all(_is_plain(part) for part in typing.get_args(kind))
    return typing.is_typeddict(kind) and all(_is_plain(part) for part in typing.get_type_hints(kind).values())


def _mentions(kind: Any, attribute: str) -> bool:
    """Whether a type with this attribute occurs in the kind, such as in list[Model]."""
    if isinstance(kind, type) and hasattr(kind, attribute):
        return True
    return any(_mentions(part, attribute) for part in typing.get_args(kind))


_simple: dict[Any, Convert] = {
    datetime.datetime: lambda value: datetime.datetime.fromisoformat(value),
    datetime.date: lambda value: datetime.date.fromisoformat(value),
    datetime.time: lambda value: datetime.time.fromisoformat(value),
    datetime.timedelta: lambda value: datetime.timedelta(seconds=value),
    bytes: base64.b64decode,
}


def make_convert(kind: Any) -> Convert:
    """Returns the function that makes a value of a kind from what json.loads() returned."""
    if _is_plain(kind):
        return lambda value: value
    if kind in _simple:
        return _simple[kind]
    if isinstance(kind, type) and (kind.__module__, kind.__name__) in (("uuid", "UUID"), ("decimal", "Decimal")):
        return lambda value: kind(str(value))
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return _convert_union(parts)
    if origin is typing.Annotated:
        return make_convert(parts[0])
    if origin is typing.Literal:
        return lambda value: value
    if origin in (list, set, frozenset, tuple, dict):
        return _convert_many(origin, parts)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind
    if dataclasses.is_dataclass(kind):
        return _convert_dataclass(kind)
    if kind in (set, frozenset, tuple):
        return typing.cast(Convert, kind)
    if hasattr(kind, "__supertype__"):
        return make_convert(kind.__supertype__)
    return lambda value: value


def _convert_union(parts: tuple[Any, ...]) -> Convert:
    converts = [make_convert(part) for part in parts if part is not type(None)]

    def convert(value: Any) -> Any:
        if value is None and type(None) in parts:
            return None
        for attempt in converts[:-1]:
            try:
                return attempt(value)
            except (TypeError, ValueError, KeyError, AttributeError):
                continue
        return converts[-1](value)

    return convert


def _convert_many(origin: Any, parts: tuple[Any, ...]) -> Convert:
    if origin is dict:
        key, item = make_convert(parts[0]), make_convert(parts[1])
        if parts[0] is int:
            key = int
        return lambda value: {key(name): item(inner) for name, inner in value.items()}
    if origin is tuple and (len(parts) != 2 or parts[1] is not Ellipsis):
        converts = [make_convert(part) for part in parts]
        return lambda value: tuple(convert(inner) for convert, inner in zip(converts, value, strict=True))
    item = make_convert(parts[0])
    return lambda value: origin(item(inner) for inner in value)


def _convert_dataclass(kind: Any) -> Convert:
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = {field.name: make_convert(hints[field.name]) for field in dataclasses.fields(kind) if field.init}

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeError(f"{kind.__qualname__} needs a JSON object, not {type(value).__name__}")
        return kind(**{name: fields[name](inner) for name, inner in value.items() if name in fields})

    return convert


_returns: dict[Any, Any] = {}


def kind_of_result(function: Any) -> Any:
    """What a function is annotated to return; None if that needs no conversion."""
    found = getattr(function, "__annotations__", None)
    if not found:
        return None
    found = found.get("return")
    if found is None or found in (dict, list, str, int, float, bool):
        return None
    code = getattr(function, "__code__", None)
    if code in _returns:
        return _returns[code]
    kind = hints_of(function).get("return")
    kind = None if _is_plain(kind) else kind
    if code is not None:
        _returns[code] = kind
    return kind


def hints_of(function: Any) -> dict[str, Any]:
    """The annotations of a function; none if one of them cannot be resolved."""
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError):
        return {}


class Payloads:
    """Values to stored payloads and back: annotations first, then the codec of the application."""

    __slots__ = ("codec",)

    def __init__(self, codec: Codec | None = None) -> None:
        self.codec = codec

    def dump(self, value: Any) -> bytes:
        """Returns what is stored for a value."""
        data = dump(value)
        return data if self.codec is None else self.codec.encode(data)

    def load(self, data: bytes | None, kind: Any = None) -> Any:
        """Returns the value of a stored payload; None if there is none."""
        if data is None:
            return None
        return load(data if self.codec is None else self.codec.decode(data), kind)

    def dump_text(self, text: str) -> bytes:
        """Returns what is stored for a log line."""
        if self.codec is None:
            return text.replace("\0", "\ufffd").encode("utf-8", "replace")
        return self.codec.encode(_encoder.encode(text).encode("utf-8", "replace"))

    def load_text(self, text: str) -> str:
        """Returns the log line that dump_text() was given."""
        return text if self.codec is None else str(json.loads(self.codec.decode(text.encode())))

    def dump_error(self, error: dict[str, Any]) -> dict[str, Any]:
        """Returns the error that is stored: with a codec, only its code can be read without the key."""
        if self.codec is None or "encoded" in error:
            return error
        data = json.dumps(error, ensure_ascii=False, default=str).encode("utf-8", "replace")
        return {"code": error.get("code"), "message": "(encoded)", "encoded": json.loads(self.codec.encode(data))}

    def load_error(self, error: Any) -> Any:
        """Returns the error that dump_error() was given."""
        if self.codec is None or not isinstance(error, dict) or "encoded" not in error:
            return error
        return json.loads(self.codec.decode(json.dumps(error["encoded"], ensure_ascii=False).encode()))
