"""The key pair by which push services know this deployment: made once, sealed, kept in memory."""

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from adapters.chats.notices.push.encryption import CURVE, base64url, public_bytes
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL
from adapters.settings.secrets import Vault
from runtime.clock import now

SUBJECT = "push/private key"
KEPT_SECONDS = 60.0  # another process may have made another pair


class SenderKeys:
    """The key pair of the deployment."""

    def __init__(self, pool: Pool, vault: Vault) -> None:
        self._pool = pool
        self._vault = vault
        self._kept: tuple[str, ec.EllipticCurvePrivateKey] | None = None
        self._read_at = 0.0

    async def public(self) -> str:
        """Return the public key, as browsers take it to subscribe."""
        public, _ = await self._pair()
        return public

    async def private(self) -> ec.EllipticCurvePrivateKey:
        """Return the private key. CannotOpen: another master key has sealed it."""
        _, private = await self._pair()
        return private

    async def replace(self) -> None:
        """Make another pair. All browsers have to subscribe anew."""
        async with self._pool.connection() as connection:
            await connection.execute(SQL["replace_push_keys"], self._new())
        self._kept = None

    async def _pair(self) -> tuple[str, ec.EllipticCurvePrivateKey]:
        if self._kept is not None and now() < self._read_at + KEPT_SECONDS:
            return self._kept
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["push_keys"])
            if not rows:
                await connection.execute(SQL["add_push_keys"], self._new())
                rows = await connection.execute(SQL["push_keys"])
        self._kept, self._read_at = self._opened(rows[0]), now()
        return self._kept

    def _opened(self, row: Row) -> tuple[str, ec.EllipticCurvePrivateKey]:
        public, sealed = row
        private = load_pem_private_key(self._vault.open(sealed, SUBJECT).encode(), password=None)
        assert isinstance(private, ec.EllipticCurvePrivateKey), "only such keys are stored"
        return public, private

    def _new(self) -> dict[str, object]:
        key = ec.generate_private_key(CURVE)
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        sealed = self._vault.seal(text, SUBJECT)
        return {"public": base64url(public_bytes(key)), "private": sealed}
