"""Settings: `waybread.toml` in the data folder, then the environment, then flags. Read once; all faults told at once."""

from __future__ import annotations

import difflib
import ipaddress
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from waybread_daemon.forms import (
    address_of,
    host_fault,
    listen_fault,
    origin_fault,
    page_daemon_fault,
    proxy_fault,
    public_url_fault,
)
from waybread_daemon.misfits import misfit, span_of
from waybread_daemon.plain_files import NoPlainFile, read_plain
from waybread_protocol.limits import (
    HELLO_TIMEOUT_S,
    LEAST_MAX_BYTES,
    MAX_FRAME_BYTES,
    MAX_MESSAGE_BYTES,
    PAGE_BYTES,
)

FILE_NAME = "waybread.toml"
STORE_NAME = "waybread.sqlite"
PREFIX = "WAYBREAD_"
TOKENS = {
    f"{PREFIX}TOKEN": "token",
    f"{PREFIX}AGENT_TOKEN": "agent_token",
    f"{PREFIX}VIEWER_TOKEN": "viewer_token",
    f"{PREFIX}OTHER_TOKEN": "other_token",
}
"""Variables that give `waybread conformance` its tokens, and the option that each stands for."""
NO_SETTINGS = frozenset({f"{PREFIX}DATA", f"{PREFIX}PYTHON", *TOKENS})
"""Variables that are read elsewhere: where the data folder is, and which Python a checkout's scripts take."""

_FILES = ("tls_cert", "tls_key")
"""Settings that name files."""

LogLevel = Literal["debug", "info", "warning", "error"]
MaxBytes = Annotated[int, Meta(ge=LEAST_MAX_BYTES, le=2**31 - 1)]
Port = Annotated[int, Meta(ge=0, le=65535)]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
SizeBytes = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every setting, with its default. A field's name is its key in the file; in capitals behind `WAYBREAD_`, its variable."""

    host: Annotated[str, Meta(min_length=1)] = "127.0.0.1"
    port: Port = 8787
    public_url: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    max_frame: MaxBytes = MAX_FRAME_BYTES
    max_message: MaxBytes = MAX_MESSAGE_BYTES
    page_bytes: Annotated[int, Meta(ge=1024, le=16 * 1024 * 1024)] = PAGE_BYTES
    hello_timeout_s: Annotated[float, Meta(gt=0, le=600)] = HELLO_TIMEOUT_S
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    page_daemons: tuple[str, ...] = ()
    allow_plaintext: bool = False
    trusted_proxies: tuple[str, ...] = ()
    max_connections: Count = 512
    max_device_connections: Count = 16
    max_waiting_hellos: Count = 32
    max_failed_hellos: Count = 10
    viewer_burst_requests: Count = 60
    viewer_requests_per_s: Count = 20
    device_quota_bytes: SizeBytes = 5 * 1024**3
    free_floor_bytes: SizeBytes = 2 * 1024**3
    free_floor_percent: Annotated[int, Meta(ge=0, le=90)] = 5
    keep_sessions_days: Annotated[int, Meta(ge=0, le=36_500)] = 0
    metrics: bool = False
    metrics_port: Port = 8788
    discovery: bool = False
    log_level: LogLevel = "info"


class ConfigError(Exception):
    """Settings that cannot be used: one sentence for each fault."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(faults)
        self.faults = faults

    def __str__(self) -> str:
        return "\n".join(self.faults)


def load_config(data: Path, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Config:
    """The settings in force. `flags` are those given on the command line. Raises `ConfigError` with all faults."""
    faults: list[str] = []
    merged: dict[str, Any] = {}
    for source, values in (
        (str(data / FILE_NAME), _from_file(data / FILE_NAME, faults)),
        ("the environment", _from_environment(environment, faults)),
        ("the flags", dict(flags)),
    ):
        merged |= {name: value for name, value in values.items() if _checked(name, value, source, faults)}
    config = msgspec.convert(merged, Config)
    faults += _misfits(config)
    if faults:
        raise ConfigError(faults)
    return config


def _misfits(config: Config) -> list[str]:
    """Settings that are right by themselves and do not fit together."""
    misfits: list[str] = []
    if config.max_message < config.max_frame:
        misfits.append(f"max_message is {config.max_message} and less than max_frame, {config.max_frame}: raise it")
    if config.metrics and config.port == config.metrics_port != 0:
        misfits.append(f"metrics_port is {config.metrics_port}, and port too: set one of them to another port")
    if sentence := listen_fault(config.host):
        misfits.append(sentence)
    elif not (config.tls_cert or config.allow_plaintext or is_loopback(config.host)):
        reaches = "reaches beyond" if address_of(config.host) else "is a name that may lead beyond"
        misfits.append(
            f"host is {config.host} and {reaches} this machine, where tokens and results would go unencrypted: "
            "keep 127.0.0.1 and put a reverse proxy with TLS or Tailscale in front, or name a certificate with --tls-cert "
            "and --tls-key, or say --allow-plaintext (allow_plaintext = true in the settings)"
        )
    return [*misfits, *_wrong_forms(config), *_wrong_certificate(config)]


def _wrong_forms(config: Config) -> list[str]:
    """Addresses, names and URLs that are none."""
    faults = [public_url_fault(config.public_url)]
    faults += [host_fault(text) for text in config.allowed_hosts]
    faults += [origin_fault(text) for text in config.allowed_origins]
    faults += [page_daemon_fault(text) for text in config.page_daemons]
    faults += [proxy_fault(text) for text in config.trusted_proxies]
    return [fault for fault in faults if fault is not None]


def _wrong_certificate(config: Config) -> list[str]:
    if not (config.tls_cert or config.tls_key):
        return []
    if not (config.tls_cert and config.tls_key):
        given, missing = ("tls_cert", "tls_key") if config.tls_cert else ("tls_key", "tls_cert")
        return [f"{given} is set and {missing} is not: a certificate and its key go together, so set both or none"]
    from waybread_daemon.certificates import CertificateFault, read_certificate  # noqa: PLC0415  # most have none

    try:
        read_certificate(config.tls_cert, config.tls_key)
    except CertificateFault as fault:
        return [str(fault)]
    return []


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there. Of names only `localhost` is known to be so."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _names() -> tuple[str, ...]:
    return Config.__struct_fields__


def _from_file(path: Path, faults: list[str]) -> dict[str, Any]:
    try:
        text = read_plain(path)
    except FileNotFoundError:
        return {}
    except NoPlainFile:
        faults.append(f"{path} is no regular file: move it away, and write the settings into a file of that name")
        return {}
    except (OSError, UnicodeDecodeError) as fault:
        faults.append(f"{path} cannot be read ({fault}): mend it or take it away")
        return {}
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as fault:  # Python's own limits of numbers and of nesting are told by these
        faults.append(f"{path} is no TOML ({fault}): mend that line")
        return {}
    for name in [name for name in _FILES if isinstance(values.get(name), str) and values[name]]:
        # A settings file that moves with its folder names what lies in that folder.
        # As a shell does it: what stands for no user's folder stays as it is.
        values[name] = str(path.parent / os.path.expanduser(values[name]))  # noqa: PTH111
    for name in [name for name in values if name not in _names()]:
        if isinstance(values[name], dict):
            faults.append(f"{path} has a section [{name}]: settings stand in none, so take that line away")
            del values[name]
            continue
        faults.append(f"{path} has an unknown setting {name!r}{_nearest(name, _names())}")
        del values[name]
    return values


def _from_environment(environment: Mapping[str, str], faults: list[str]) -> dict[str, Any]:
    variables = {f"{PREFIX}{name.upper()}": name for name in _names()}
    values: dict[str, Any] = {}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or variable in NO_SETTINGS:
            continue
        name = variables.get(variable)
        if name is None:
            faults.append(f"the environment has an unknown setting {variable}{_nearest(variable, tuple(variables))}")
            continue
        values[name] = _from_text(name, text)
    return values


def _from_text(name: str, text: str) -> object:
    """What a variable says: lists are separated by commas."""
    plain = get_type_hints(Config)[name]
    if get_origin(plain) is tuple:
        return [item.strip() for item in text.split(",") if item.strip()]
    if plain not in (bool, int, float):
        return text
    try:
        # Without its limits: a number that is out of them is told as one.
        return msgspec.convert(text, plain, strict=False)
    except msgspec.ValidationError:
        return text


def span(name: str) -> str:
    """What a setting may be, in a few words, with its least and its most."""
    return span_of(_type(name))


def _checked(name: str, value: object, source: str, faults: list[str]) -> bool:
    sentence = misfit(name, _type(name), value, source)
    if sentence:
        faults.append(sentence)
    return not sentence


def _type(name: str) -> Any:  # what msgspec takes for a type
    return get_type_hints(Config, include_extras=True)[name]


def _nearest(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, 1, 0.5)
    return f": is it {near[0]}?" if near else ": `waybread serve --help` lists them all"
