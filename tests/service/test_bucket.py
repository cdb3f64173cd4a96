"""The long-term memory in a bucket: each tenant's under a prefix of its own, shared by services on several machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_v2 import Memory
from memory_v2.errors import NotAllowed
from memory_v2.service.backup import back_up
from memory_v2.service.options import ServiceOptions
from memory_v2.settings import S3Settings
from memory_v2.storage.s3.storage import S3Storage
from tests.service.running import running
from tests.storage.s3_server import keys, new_bucket, server

SCOPES = ["memory:read", "memory:write", "pages:read", "pages:write"]


@pytest.mark.parametrize("on", ["embedded", "servers"])
def test_pages_and_entries_are_in_the_bucket_and_each_tenant_has_its_own(
    tmp_path: Path, on: str, request: pytest.FixtureRequest
) -> None:
    names = ("new_database", "redis_address")
    database, redis = map(request.getfixturevalue, names) if on == "servers" else ("", "")
    with new_bucket() as bucket:
        s3 = S3Settings(bucket, tmp_path / "cache", "team", endpoint=server())
        with running(tmp_path / "one", database, redis, s3) as service:
            hawk, other = service.client("hawk", scopes=SCOPES), service.client("owl", "acme", scopes=SCOPES)
            assert hawk.put("/pages/garden", json={"text": "# Garden\n\nLeeks are planted in March.\n"}).is_success
            fact = {"level": "longterm", "data": {"content": {"text": "Kale is sown in June."}}}
            assert hawk.post("/entries", json=fact).is_success
            assert other.put("/pages/harbour", json={"text": "# Harbour\n\nThe ferry leaves at nine.\n"}).is_success
            assert "June" in hawk.post("/search", json={"query": "When is kale sown?"}).text
            assert "March" not in other.post("/search", json={"query": "When are leeks planted?"}).text
            assert [page["path"] for page in hawk.get("/pages").json()["pages"]] == ["memory", "garden"]
            assert [page["path"] for page in other.get("/pages").json()["pages"]] == ["memory", "harbour"]
        stored = keys(bucket)
        assert b"March" in stored["team/garden.md"] and b"nine" in stored["team/.service/tenants/acme/harbour.md"]
        assert any(b"June" in data for data in stored.values())
        assert not list((tmp_path / "one").glob("*.md"))
        with running(tmp_path / "two", database, redis, s3) as elsewhere:  # a machine of its own
            assert "March" in elsewhere.client("hawk", scopes=SCOPES).get("/pages/garden").text
        memory = Memory(S3Storage(bucket, "team", endpoint=server(), cache=tmp_path / "third"))
        assert memory.check() == []


def test_a_backup_of_a_bucket_is_refused_with_what_to_do(tmp_path: Path) -> None:
    s3 = S3Settings("bucket", tmp_path)
    with pytest.raises(NotAllowed, match="own tools"):
        back_up(ServiceOptions(tmp_path, s3=s3), tmp_path / "file")
