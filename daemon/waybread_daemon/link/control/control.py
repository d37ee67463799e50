"""The daemon's side of the control socket."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from pathlib import Path
from typing import Protocol

from waybread_daemon.config import is_loopback
from waybread_daemon.link.accounts import token_id
from waybread_daemon.link.control.addresses import bases, is_local, link_address, machine_addresses
from waybread_daemon.link.control.deleting import delete_device, delete_session
from waybread_daemon.link.control.messages import (
    LINE_BYTES,
    Asked,
    AskPair,
    AskStatus,
    Deleted,
    DeleteDevice,
    DeleteSession,
    LinkFacts,
    Noted,
    Offered,
    PairedWith,
    Purged,
    Refused,
    Revoking,
    Status,
    Void,
)
from waybread_daemon.link.control.place import Place, PlaceFault, is_owner
from waybread_daemon.link.control.talk import GoneError, RefusalError, Talk
from waybread_daemon.link.pairing import Offer, PairingVoid
from waybread_daemon.link.server import Server
from waybread_daemon.store.contract import Device, Reader, StoreFault, Token
from waybread_protocol.errors import RequestError

CONNECTIONS_MOST = 64
_LINKS_END_WITHIN_S = 10

_NO_ROOM = f"{CONNECTIONS_MOST} commands are connected already: end some of them and try again"
_STOPPING = "the daemon stops: start it again, then repeat the command"


class Log(Protocol):
    """The part of a structlog logger that the control socket uses."""

    def info(self, event: str, **fields: object) -> None:
        """What happens once a command."""
        ...

    def warning(self, event: str, **fields: object) -> None:
        """What an owner should see to."""
        ...


class Control:
    """Answers the commands of the owner at this machine. Good between `start` and `close`."""

    def __init__(self, server: Server, folder: Path, port: int, log: Log) -> None:
        """`port` is the one that the server listens on."""
        self._server = server
        self._desk = server.desk
        self._folder = folder
        self._port = port
        self._log = log
        self._started_ms = self._desk.now_ms()
        self._place: Place | None = None
        self._listening: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listens. For the process that holds the store. A folder where that cannot be costs the commands, not the links."""
        try:
            self._place = Place(self._folder)
            self._listening = await asyncio.start_unix_server(self._serve, sock=self._place.listen(), limit=LINE_BYTES)
        except (OSError, PlaceFault) as fault:
            self._log.warning("no_control_socket", why=str(fault))

    async def close(self) -> None:
        """Takes the socket away, and tells those who wait that the daemon stops."""
        if self._listening is not None:
            self._listening.close()
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(list(self._serving))
        if self._place is not None:
            if self._listening is not None:
                self._place.remove()
            self._place.close()
        self._place = self._listening = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        connection: socket.socket = writer.get_extra_info("socket")
        if task is None or not is_owner(connection):
            writer.close()
            return
        self._serving.add(task)
        talk = Talk(reader, writer)
        try:
            with contextlib.suppress(ConnectionError, GoneError):
                await self._answer(talk)
        except asyncio.CancelledError:
            # Only `close` cancels, and it waits for this task.
            with contextlib.suppress(ConnectionError):
                await talk.tell(Refused(message=_STOPPING))
        finally:
            self._serving.discard(task)
            writer.close()

    async def _answer(self, talk: Talk) -> None:
        try:
            asked = await talk.hear()
            if len(self._serving) > CONNECTIONS_MOST:
                raise RefusalError(_NO_ROOM)
            await self._carry_out(asked, talk)
        except RefusalError as fault:
            await talk.tell(Refused(message=str(fault)))
        except (RequestError, StoreFault) as fault:
            await talk.tell(Refused(message=fault.sentence))
        except (ConnectionError, GoneError):
            raise
        except Exception as fault:  # noqa: BLE001  # a fault of ours ends one command, never the daemon
            name = self._desk.report(fault)
            await talk.tell(Refused(message=f"a fault of the daemon, logged as {name}: try again"))

    async def _carry_out(self, asked: Asked, talk: Talk) -> None:
        match asked:
            case AskStatus():
                await talk.tell(await self._status())
            case AskPair():
                await self._pair(asked, talk)
            case Revoking():
                self._server.pairing.revoke(asked.device)
                await talk.tell(Noted())
            case DeleteSession():
                device = await self._device(asked.device)
                anew = await delete_session(self._desk, device, asked.session)
                self._log.info("session_deleted", device=device.device)
                await talk.tell(Deleted(sessions=int(anew)))
            case DeleteDevice():
                device = await self._device(asked.device)
                await self._end_links(device)
                deleted = await delete_device(self._desk, device)
                self._log.info("device_deleted", device=device.device, sessions=deleted)
                await talk.tell(Deleted(sessions=deleted))
        if isinstance(asked, DeleteSession | DeleteDevice) and asked.wait:
            await talk.while_there(self._desk.live.store.purged())
            await talk.tell(Purged())

    # --- What is asked -----------------------------------------------------------------------------------------------

    async def _status(self) -> Status:
        config, why, encryption = self._server.config, self._desk.not_ready, self._server.encryption
        certificate = None if encryption is None else encryption.certificate
        held = self._server.linked_tokens()

        def look(reader: Reader) -> list[Token | None]:
            return [reader.token(token) for token in held]

        found = await self._desk.live.store.look(look)
        return Status(
            server=self._server.server_name,
            pid=os.getpid(),
            started_ms=self._started_ms,
            address=link_address(bases(config, self._port, machine_addresses)[0]),
            ready=not why,
            why=why,
            links=[
                LinkFacts(device=token.device.device, token=token.token, role=token.role)
                for token in found
                if token is not None
            ],
            device_quota_bytes=config.device_quota_bytes,
            free_floor_bytes=config.free_floor_bytes,
            free_floor_percent=config.free_floor_percent,
            certificate=config.tls_cert if certificate else "",
            certificate_expires_ms=certificate.expires_ms if certificate else 0,
        )

    async def _pair(self, asked: AskPair, talk: Talk) -> None:
        if asked.device:
            await self._device(asked.device)
        config, pairing = self._server.config, self._server.pairing
        addresses = bases(config, self._port, machine_addresses)
        offer = pairing.offer(asked.name, asked.role, asked.device)
        try:
            await talk.tell(
                Offered(
                    code=offer.code,
                    expires_ms=offer.expires_ms,
                    bases=addresses,
                    local=is_local(config),
                    public=bool(config.public_url),
                    fingerprint=self._server.fingerprint,
                    plaintext=not config.tls_cert and not is_loopback(config.host),
                )
            )
            await talk.while_there(self._outcome(offer, talk))
        finally:
            pairing.withdraw(offer)

    async def _outcome(self, offer: Offer, talk: Talk) -> None:
        try:
            made = await offer.paired
        except PairingVoid as void:
            await talk.tell(Void(why=str(void)))
            return
        await talk.tell(
            PairedWith(
                device=made.device.device,
                name=made.device.name,
                role=made.role,
                token=token_id(made.token),
                token_name=made.name,
            )
        )

    async def _end_links(self, device: Device) -> None:
        """Revokes the device's tokens and waits until its links are closed: nothing more comes from it then."""
        store = self._desk.live.store
        self._server.pairing.revoke(device.device)
        tokens = await store.look(
            lambda reader: [token.token for token in reader.tokens() if token.device.number == device.number]
        )
        await store.revoke(tokens, self._desk.now_ms())
        try:
            async with asyncio.timeout(_LINKS_END_WITHIN_S):
                while not set(tokens).isdisjoint(self._server.linked_tokens()):  # noqa: ASYNC110  # it tells nobody
                    await asyncio.sleep(0.02)
        except TimeoutError as fault:
            raise RefusalError(
                f"links of {device.device} did not close within {_LINKS_END_WITHIN_S} s: its tokens are revoked; "
                "repeat the command to delete it"
            ) from fault

    async def _device(self, device: str) -> Device:
        for known in await self._desk.live.store.look(lambda reader: reader.devices()):
            if known.device == device:
                return known
        raise RefusalError(f"there is no device with the id {device!r:.80}: `waybread device list` shows them")
