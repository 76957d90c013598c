"""Key/value pairs."""

from __future__ import annotations

import pytest

import tonnage


def test_pairs_feel_like_a_dict(store: tonnage.Store) -> None:
    pairs = store.kv()
    pairs["/users/42/-/mail"] = b"hello"
    assert pairs["/users/42/-/mail"] == b"hello" and "/users/42/-/mail" in pairs
    del pairs["/users/42/-/mail"]
    assert "/users/42/-/mail" not in pairs
    with pytest.raises(KeyError):
        pairs["/users/42/-/mail"]
    with pytest.raises(KeyError):
        del pairs["/users/42/-/mail"]


def test_keys_are_texts_bytes_or_paths(store: tonnage.Store) -> None:
    pairs = store.kv()
    pairs["plain"] = b"1"
    pairs[b"\x00\xff"] = b"2"
    pairs[(("a", b"b"), ("c",))] = b"3"
    assert pairs["/plain"] == b"1"
    assert pairs[((b"\x00\xff",), ())] == b"2"
    assert pairs["/a/b/-/c"] == b"3"
    found = pairs.get("/a/b/-/c")
    assert found is not None and found.key == ((b"a", b"b"), (b"c",))


def test_versions_guard_pairs(store: tonnage.Store) -> None:
    pairs = store.kv()
    version = pairs.put("k", b"1")
    assert not pairs.put_if_absent("k", b"2")
    assert pairs.put_if_version("k", b"2", version)
    assert not pairs.put_if_version("k", b"3", version)
    assert not pairs.delete("k", version=version) and pairs.delete("k")


def test_many_pairs_are_put_and_got(store: tonnage.Store) -> None:
    pairs = store.kv()
    assert pairs.bulk_put({f"/u/{n}": str(n) for n in range(1_000)}).inserted == 1_000
    assert pairs.bulk_put((f"/u/{n}", b"x") for n in range(5)).existed == 5
    got = {row["key"]: row["value"] for row in pairs.bulk_get(f"/u/{n}" for n in range(990, 1_010)).rows()}
    assert got == {f"/u/{n}": str(n).encode() for n in range(990, 1_000)}


def below(store: tonnage.Store) -> tonnage.KeyValue:
    pairs = store.kv()
    pairs.bulk_put({f"/u/1/-/mail/{n}": b"" for n in range(5)} | {"/u/1": b"", "/u/2/-/mail/1": b""})
    return pairs


def test_pairs_below_a_key(store: tonnage.Store) -> None:
    found = below(store).bulk_get(["/u/1"], depth="parent_and_descendants", direction="forward")
    assert [row["key"] for row in found.rows()] == ["/u/1", *[f"/u/1/-/mail/{n}" for n in range(5)]]


def test_a_range_of_pairs_below_a_key(local_store: tonnage.Store) -> None:
    pairs = below(local_store)
    ranged = pairs.bulk_get(
        ["/u/1/-/mail"], depth="children_only", range=tonnage.KeyRange(low="3"), keys_only=True
    )
    assert sorted(row["key"] for row in ranged.rows()) == ["/u/1/-/mail/3", "/u/1/-/mail/4"]
    assert pairs.delete_subtree("/u/1", depth="descendants_only") == 5
    assert pairs.count() == 2 == len(pairs.scan().fetchall())


def test_a_pair_has_a_time_to_live(store: tonnage.Store) -> None:
    pairs = store.kv()
    version = pairs.put("k", b"v", ttl=3600)
    found = pairs.get("k")
    assert found is not None and found.version == version and found.expires is not None
    [row] = pairs.bulk_get(["k"]).rows()
    assert (row["key"], row["version"], row["expires_at"]) == ("/k", version, found.expires)


def test_pairs_that_do_not_fit_are_told_with_their_position(store: tonnage.Store) -> None:
    report = store.kv().bulk_put([("a", b""), ("b", 7), (3, b""), ("c", b"")])
    assert (report.inserted, sorted(failure.position for failure in report.failures)) == (2, [1, 2])
