"""Certificates of an authority that only the test knows, as files."""

from __future__ import annotations

import datetime as dt
import ssl
from pathlib import Path
from typing import NamedTuple

import trustme


class Pair(NamedTuple):
    """A certificate and its key, as files."""

    cert: Path
    key: Path

    def settings(self) -> dict[str, str]:
        return {"tls_cert": str(self.cert), "tls_key": str(self.key)}


class Authority:
    """Makes certificates, and contexts of clients that believe them."""

    def __init__(self) -> None:
        self._ca = trustme.CA()

    def issue(self, folder: Path, name: str = "daemon", *, days: int = 90, key_type: str = "ECDSA") -> Pair:
        """A pair for this machine that expires after so many days; negative: it has."""
        issued = self._ca.issue_cert(
            *("127.0.0.1", "localhost"),
            not_after=dt.datetime.now(dt.UTC) + dt.timedelta(days=days),
            key_type=trustme.KeyType[key_type],
        )
        pair = Pair(folder / f"{name}.crt", folder / f"{name}.key")
        chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
        pair.cert.write_bytes(chain)
        pair.key.write_bytes(issued.private_key_pem.bytes())
        return pair

    def client(self) -> ssl.SSLContext:
        """Of a client that believes this authority."""
        context = ssl.create_default_context()
        context.load_verify_locations(cadata=self._ca.cert_pem.bytes().decode())
        return context


def leaf_of(pair: Pair) -> bytes:
    """The certificate itself, as DER."""
    text = pair.cert.read_text("ascii")
    end = "-----END CERTIFICATE-----"
    return ssl.PEM_cert_to_DER_cert(text[: text.index(end) + len(end)])
