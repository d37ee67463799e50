"""A certificate and its key, from two PEM files to what a socket is encrypted with, or to a sentence that says what is wrong."""

from __future__ import annotations

import datetime as dt
import hashlib
import ssl
from pathlib import Path
from typing import NamedTuple, NoReturn

from waybread_daemon.plain_files import NoPlainFile, read_plain

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
_CONTEXT_0, _UTC_TIME = 0xA0, 0x17


class CertificateFault(Exception):  # noqa: N818  # as the store names its refusals
    """Why a pair of files cannot be used: a sentence that names the file, and what to do."""


class Certificate(NamedTuple):
    """What the files hold. `fingerprint` is the SHA-256 of the certificate itself, in lower-case hex."""

    context: ssl.SSLContext
    fingerprint: str
    begins_ms: int
    expires_ms: int

    def warning(self, now_ms: int) -> str:
        """A sentence where clients will not take it at that time, else empty."""
        if now_ms >= self.expires_ms:
            return f"the certificate expired on {_day(self.expires_ms)}, and clients refuse it: renew it"
        if now_ms < self.begins_ms:
            return f"the certificate is good from {_day(self.begins_ms)} on only: is this machine's clock right?"
        return ""


def read_certificate(cert: str, key: str) -> Certificate:
    """Reads the chain of `cert` and its `key`. Raises `CertificateFault`."""
    der = _leaf(cert, _text("tls_cert", cert))
    _text("tls_key", key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])

    def no_password() -> NoReturn:
        raise CertificateFault(
            f"tls_key {key} is locked by a passphrase, which nobody is there to type: write it without one by "
            f"`openssl pkey -in {key} -out {key}.open` and name that file, readable by the daemon's user alone"
        )

    try:
        context.load_cert_chain(cert, key, no_password)
    except ssl.SSLError as fault:
        raise CertificateFault(_misfit(cert, key, fault)) from None
    except OSError as fault:
        # Gone since it was read.
        raise CertificateFault(f"{cert} or {key} cannot be read ({fault.strerror}): name files that stay") from None
    begins_ms, expires_ms = _validity(cert, der)
    return Certificate(context, hashlib.sha256(der).hexdigest(), begins_ms, expires_ms)


def _misfit(cert: str, key: str, fault: ssl.SSLError) -> str:
    match fault.reason:
        case "KEY_VALUES_MISMATCH" | "KEY_TYPE_MISMATCH" | "NO_CERTIFICATE_ASSIGNED":
            return f"tls_key {key} is not the key of the certificate in tls_cert {cert}: name the two that were made together"
        case "EE_KEY_TOO_SMALL" | "CA_KEY_TOO_SMALL" | "CA_MD_TOO_WEAK":
            return (
                f"the certificate in tls_cert {cert} is too weak for today's clients ({fault.reason}): make a new one"
            )
        case _:
            why = fault.reason or "no private key in it"
            return (
                f"tls_key {key} holds no private key in PEM form that fits tls_cert {cert} ({why}): name the key's file"
            )


def _text(setting: str, path: str) -> str:
    try:
        return read_plain(Path(path))
    except FileNotFoundError:
        raise CertificateFault(f"{setting} {path} is not there: name a file that is") from None
    except NoPlainFile:
        raise CertificateFault(f"{setting} {path} is no regular file: name the PEM file itself") from None
    except UnicodeDecodeError:
        raise CertificateFault(
            f"{setting} {path} is no PEM file: it begins with -----BEGIN; `openssl x509 -inform der` reads the other form"
        ) from None
    except OSError as fault:
        raise CertificateFault(
            f"{setting} {path} cannot be read ({fault.strerror}): let the daemon's user read it, and its folder"
        ) from None


def _leaf(path: str, text: str) -> bytes:
    """The first certificate of the file: the daemon's own."""
    start, end = text.find(_BEGIN), text.find(_END)
    if not 0 <= start < end:
        raise CertificateFault(
            f"tls_cert {path} holds no certificate: name the PEM file of the whole chain, the daemon's own first"
        )
    try:
        return ssl.PEM_cert_to_DER_cert(text[start : end + len(_END)])
    except ValueError:
        raise _broken(path) from None


def _broken(path: str) -> CertificateFault:
    return CertificateFault(f"the certificate in tls_cert {path} is broken: fetch or make it again")


def _validity(path: str, der: bytes) -> tuple[int, int]:
    """From when until when, in milliseconds since 1970 (RFC 5280, 4.1): nothing that Python has tells it."""
    try:
        inside = _value(_value(der, 0)[1], 0)[1]
        at = 0
        # A version, where there is one; then the serial number, the algorithm and the issuer.
        for _ in range(4 if inside[0] == _CONTEXT_0 else 3):
            at = _value(inside, at)[2]
        validity = _value(inside, at)[1]
        begins_kind, begins, after = _value(validity, 0)
        expires_kind, expires, _ = _value(validity, after)
        return _time_ms(begins_kind, begins), _time_ms(expires_kind, expires)
    except (IndexError, ValueError):
        raise _broken(path) from None


def _value(der: bytes, at: int) -> tuple[int, bytes, int]:
    """The tag and the value that stand there, and where the next one begins."""
    tag, length, start = der[at], der[at + 1], at + 2
    if length >= 0x80:
        size = length & 0x7F
        length, start = int.from_bytes(der[start : start + size]), start + size
    return tag, der[start : start + length], start + length


def _time_ms(kind: int, text: bytes) -> int:
    digits = text.decode("ascii")
    if kind == _UTC_TIME:
        digits = ("19" if digits >= "50" else "20") + digits
    return int(dt.datetime.strptime(f"{digits[:14]}+0000", "%Y%m%d%H%M%S%z").timestamp() * 1000)


def _day(at_ms: int) -> str:
    return dt.datetime.fromtimestamp(at_ms / 1000, dt.UTC).strftime("%Y-%m-%d")
