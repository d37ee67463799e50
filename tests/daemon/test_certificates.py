"""A certificate's files: what they become, and the sentence where they cannot be used."""

from __future__ import annotations

import hashlib
import os
import ssl
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509 import load_pem_x509_certificate

from tests.daemon.secured import Authority, Pair, leaf_of
from waybread_daemon.certificates import CertificateFault, read_certificate

DAY_MS = 24 * 3600 * 1000


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def fault(cert: Path, key: Path) -> str:
    with pytest.raises(CertificateFault) as refused:
        read_certificate(str(cert), str(key))
    return str(refused.value)


@pytest.mark.parametrize("key_type", ["ECDSA", "RSA"])
def test_a_pair_becomes_a_context_of_tls_1_2_and_later(tmp_path: Path, authority: Authority, key_type: str) -> None:
    pair = authority.issue(tmp_path, key_type=key_type)
    read = read_certificate(str(pair.cert), str(pair.key))
    assert read.context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert read.fingerprint == hashlib.sha256(leaf_of(pair)).hexdigest()


@pytest.mark.parametrize("days", [30, 365 * 40])
def test_its_time_is_read_whichever_way_it_is_written(tmp_path: Path, authority: Authority, days: int) -> None:
    # From 2050 on a certificate writes years with four digits.
    pair = authority.issue(tmp_path, days=days)
    read = read_certificate(str(pair.cert), str(pair.key))
    known = load_pem_x509_certificate(pair.cert.read_bytes())
    assert read.begins_ms == int(known.not_valid_before_utc.timestamp() * 1000)
    assert read.expires_ms == int(known.not_valid_after_utc.timestamp() * 1000)


def test_one_that_is_in_its_time_has_no_warning_and_one_that_is_not_says_so(
    tmp_path: Path, authority: Authority
) -> None:
    now_ms = int(time.time() * 1000)
    pair = authority.issue(tmp_path, days=3)
    read = read_certificate(str(pair.cert), str(pair.key))
    assert read.warning(now_ms) == ""
    assert read.warning(now_ms + 4 * DAY_MS).startswith("the certificate expired on 2")
    assert "renew it" in read.warning(now_ms + 4 * DAY_MS)
    assert "clock" in read.warning(0)


def test_a_file_that_is_not_there_is_named_with_its_setting(tmp_path: Path, authority: Authority) -> None:
    pair = authority.issue(tmp_path)
    gone = tmp_path / "gone.pem"
    assert fault(gone, pair.key) == f"tls_cert {gone} is not there: name a file that is"
    assert fault(pair.cert, gone) == f"tls_key {gone} is not there: name a file that is"


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, authority: Authority) -> None:
    pair = authority.issue(tmp_path)
    assert fault(pair.cert, tmp_path) == f"tls_key {tmp_path} is no regular file: name the PEM file itself"


def test_a_key_of_another_certificate_is_told(tmp_path: Path, authority: Authority) -> None:
    one, other = authority.issue(tmp_path, "one"), authority.issue(tmp_path, "other")
    assert fault(one.cert, other.key) == (
        f"tls_key {other.key} is not the key of the certificate in tls_cert {one.cert}: name the two that were made together"
    )
    other = authority.issue(tmp_path, "other", key_type="RSA")
    assert "is not the key of the certificate" in fault(one.cert, other.key)


def test_a_key_behind_a_passphrase_is_told_with_the_command_that_takes_it_off(
    tmp_path: Path, authority: Authority
) -> None:
    pair = authority.issue(tmp_path)
    key = load_pem_private_key(pair.key.read_bytes(), None)
    pair.key.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, BestAvailableEncryption(b"secret"))
    )
    sentence = fault(pair.cert, pair.key)
    assert "is locked by a passphrase" in sentence
    assert f"openssl pkey -in {pair.key} -out {pair.key}.open" in sentence


def test_files_that_hold_something_else_are_told(tmp_path: Path, authority: Authority) -> None:
    pair = authority.issue(tmp_path)
    der, empty, cut = tmp_path / "cert.der", tmp_path / "empty.pem", tmp_path / "cut.pem"
    der.write_bytes(leaf_of(pair))
    empty.write_text("")
    cut.write_text("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
    assert "is no PEM file" in fault(der, pair.key)
    assert "holds no certificate" in fault(empty, pair.key)
    assert "holds no certificate" in fault(pair.key, pair.key)
    assert "holds no private key" in fault(pair.cert, empty)
    assert "holds no private key" in fault(pair.cert, pair.cert)
    with pytest.raises(CertificateFault):
        read_certificate(str(cut), str(pair.key))


def test_a_file_that_is_half_written_is_refused(tmp_path: Path, authority: Authority) -> None:
    pair = authority.issue(tmp_path)
    whole = pair.cert.read_bytes()
    for size in range(0, len(whole) // 3, 97):
        half = Pair(tmp_path / "half.crt", pair.key)
        half.cert.write_bytes(whole[:size])
        fault(half.cert, half.key)
    os.truncate(pair.key, 60)
    assert "holds no private key" in fault(pair.cert, pair.key)
