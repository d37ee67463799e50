"""Real reverse proxies in front of a real daemon, with the very examples of `deploy/`."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import trustme

from tests.house.checkout import ROOT
from tests.running import ROOMY, Daemon, running

NAME = "waybread.example.org"
EXAMPLES = {"nginx": ROOT / "deploy/nginx/waybread.conf", "caddy": ROOT / "deploy/caddy/Caddyfile"}
_START_S = 20
_NGINX = """\
daemon off;
worker_processes 1;
pid {place}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    scgi_temp_path {place}/scgi;
    uwsgi_temp_path {place}/uwsgi;
    include {place}/waybread.conf;
}}
"""
# Caddy listens for an administrator and asks for certificates unless it is told not to: neither has a part here.
_CADDY = "{\n\tadmin off\n\tauto_https off\n}\n"


def found(name: str, place: Path) -> Path | None:
    """The program: this machine's, or out of Debian's package, unpacked and not installed; None where there is neither."""
    known = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if known is not None:
        return Path(known)
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        return None
    if not _fetched(name, place) and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
        _fetched(name, place)
    for package in place.glob(f"{name}_*.deb"):
        subprocess.run(["dpkg", "-x", package, place], check=True)
    return next((path for path in (place / "usr/sbin" / name, place / "usr/bin" / name) if path.exists()), None)


def _fetched(name: str, place: Path) -> bool:
    done = subprocess.run(["apt-get", "download", "-q", name], cwd=place, capture_output=True, check=False)
    return done.returncode == 0


def settings(example: Path) -> list[str]:
    """The lines of `waybread.toml` that an example asks for, in its comment."""
    return re.findall(r"^#   (\w+ = .+)$", example.read_text(encoding="utf-8"), re.MULTILINE)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Front:
    """A proxy with TLS before a daemon of its own. `url` is the public one; `daemon` may be replaced."""

    def __init__(self, kind: str, place: Path, daemon: Daemon, port: int) -> None:
        self.kind = kind
        self.place = place
        self.daemon = daemon
        self.port = port
        self.url = f"wss://{NAME}:{port}/link"
        self.origin = f"https://{NAME}:{port}"
        self.ca = trustme.CA()

    def config(self) -> Path:
        """The example with this test's ports and certificate in it, and nothing else changed."""
        issued = self.ca.issue_cert(NAME)
        chain, key = self.place / "fullchain.pem", self.place / "privkey.pem"
        chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(str(key))
        text = _replaced(EXAMPLES[self.kind].read_text(), "127.0.0.1:8787", f"127.0.0.1:{self.daemon.port}")
        if self.kind == "nginx":
            text = _replaced(text, "listen 443 ssl;", f"listen 127.0.0.1:{self.port} ssl;")
            text = _replaced(text, "listen [::]:443 ssl;", "")
            text = _replaced(text, "/etc/ssl/waybread/fullchain.pem", str(chain))
            text = _replaced(text, "/etc/ssl/waybread/privkey.pem", str(key))
            (self.place / "waybread.conf").write_text(text)
            whole = _NGINX.format(place=self.place)
        else:
            text = _replaced(text, f"\n{NAME} {{", f"\n{NAME}:{self.port} {{")
            asked = "# tls /etc/ssl/waybread/fullchain.pem /etc/ssl/waybread/privkey.pem"
            whole = _CADDY + _replaced(text, asked, f"tls {chain} {key}")
        path = self.place / "config"
        path.write_text(whole)
        return path


def _replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


@contextmanager
def fronted(kind: str, program: Path, place: Path, *further: str) -> Generator[Front]:
    """A daemon with an example's settings and `further` ones, behind that example's proxy."""
    port = free_port()
    lines = [line.replace(NAME, f"{NAME}:{port}") for line in settings(EXAMPLES[kind])]
    data = place / "data"
    data.mkdir(parents=True, mode=0o700)
    (data / "waybread.toml").write_text("\n".join([*lines, *further]) + "\n")
    # Other tests want room for wrong tokens; here it is the daemon's own limit that they have to come up against.
    tight = {name: value for name, value in ROOMY.items() if name != "WAYBREAD_MAX_FAILED_HELLOS"}
    with patch.dict(ROOMY, tight, clear=True), running(data) as daemon:
        front = Front(kind, place, daemon, port)
        words = {
            "nginx": [str(program), "-p", str(place), "-c", str(front.config())],
            "caddy": [str(program), "run", "--adapter", "caddyfile", "--config", str(front.config())],
        }[kind]
        environment = {**os.environ, "XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place), "HOME": str(place)}
        with (place / "proxy.log").open("wb") as log, subprocess.Popen(words, stderr=log, env=environment) as proxy:
            try:
                _wait_for(front, proxy)
                yield front
            finally:
                proxy.terminate()
                if front.daemon is not daemon and front.daemon.process.poll() is None:
                    front.daemon.kill()


def _wait_for(front: Front, proxy: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_S
    while proxy.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", front.port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError((front.place / "proxy.log").read_text())
