import time
from collections.abc import Callable

import pytest

from waybread_daemon.link.accounts import make_token
from waybread_daemon.link.codes import make_code
from waybread_daemon.redaction import OTHER_CLIENT, client_name, without_likely_secrets, without_secrets

CODE = "7ZK4M-0Q9XW-V5N2T-8HJ3R-D1GYPA"


@pytest.mark.parametrize("redact", [without_secrets, without_likely_secrets])
def test_a_token_loses_itself_and_not_what_stands_around_it(redact: Callable[[str], str]) -> None:
    for _ in range(200):
        text = make_token().text
        assert redact(f"session '{text}' is unknown") == "session '[secret]' is unknown"
        assert redact(f"'{text.partition('.')[2]}' it is") == "'[secret]' it is"
        assert redact(text[:30]) == "[secret]"


@pytest.mark.parametrize(
    "code",
    [
        CODE,
        CODE.lower(),
        CODE.replace("-", ""),
        CODE.replace("-", " "),
        "ABCDE-FGHJK-MNPQR-STVWX-YZABCD",
        "7ZK4-M0Q9-XWV5-N2T8-HJ3R-D1GY-PA",
    ],
)
def test_a_pairing_code_is_taken_out_of_the_log(code: str) -> None:
    assert without_likely_secrets(f"client '{code}'.") == "client '[secret]'."


@pytest.mark.parametrize(
    "text",
    [
        "0123456789abcdef",
        "the first message is no valid hello",
        "first message is no valid hello",
        "these words have four six bytes",
        "give a network whose last bits are 0, like 172.16.0.0/12",
        "each word here must have less than 1024 bytes",
        "some-well-known-plain-words",
        "https://waybread.example.org/link",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "3f2b8a9e-6c1d-4f7a-9b0e-2d5c8e7f1a3b",
        "2026-01-02T03:04:05.123456Z",
        "",
    ],
)
def test_ids_hashes_times_and_sentences_stay(text: str) -> None:
    assert without_likely_secrets(text) == text


@pytest.mark.parametrize("redact", [without_secrets, without_likely_secrets])
def test_a_code_as_it_is_shown_is_taken_out_of_everything(redact: Callable[[str], str]) -> None:
    for _ in range(200):
        code = make_code()
        assert redact(f"there is no message of type '{code}'") == "there is no message of type '[secret]'"
        assert redact(f"code={code.lower()}&x") == "code=[secret]&x"


@pytest.mark.parametrize("client", ["waybread-client 1", "my-app/1.2.0", "App/v2.0-rc1", "page/0.1.0b3"])
def test_a_client_is_named_in_the_log_by_its_name_and_version(client: str) -> None:
    assert client_name(client) == client


@pytest.mark.parametrize(
    "client",
    [
        *(
            " ".join(CODE.replace("-", "")),
            CODE.replace("-", "."),
            CODE.replace("-", "_"),
            CODE[:20],
            CODE.replace("-", "/"),
        ),
        *(f"app {CODE}", f"app/{CODE[:7]}", "", "app", "a/1\n", "x" * 40 + "/1", "app/1.٣", "\ud800/1", "app/1 beside"),
    ],
)
def test_whatever_else_a_client_calls_itself_stays_out_of_the_log(client: str) -> None:
    assert client_name(client) == OTHER_CLIENT


def test_text_of_any_length_is_looked_through_in_no_time() -> None:
    for text in ("a " * 32_000, "abcd " * 12_000, "a" * 65_000, "abcd-" * 12_000, "0123456789abcdef." * 3_000):
        began = time.monotonic()
        without_likely_secrets(text)
        assert time.monotonic() - began < 1


def test_a_clients_own_id_that_looks_like_a_code_stays_in_a_sentence_for_it() -> None:
    assert without_secrets("key '01ARZ3NDEKTSV4RRFFQ69G5FAV'") == "key '01ARZ3NDEKTSV4RRFFQ69G5FAV'"
