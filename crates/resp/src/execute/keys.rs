//! Commands on the keys of the whole store, and on two keys of which one depends on the other.

use tonnage::{Condition, PairBatch, Pairs};

use super::copies::copy_members;
use super::immediate::ImmediateCall;
use super::random::Chance;
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::keyspace::Keyspace;
use crate::protocol::{glob_matches, parse_integer};
use crate::values::{ValueKind, is_over, would_be_marked};

type Handled = Result<(), Refusal>;

/// Keys that are read at a time.
const PAGE: usize = 8_192;

/// Values that are read at a time, in bytes, unless one alone has more.
const PAGE_BYTES: usize = 8 << 20;

/// A value as it is stored.
pub(crate) struct StoredValue {
    pub(crate) bytes: Vec<u8>,
    pub(super) expires_at_ms: u64,
}

/// Looks up a key.
pub(crate) fn fetch(keyspace: &Keyspace, key: &[u8]) -> tonnage::Result<Option<StoredValue>> {
    let mut value = None;
    each_value(keyspace, &[key], |_, bytes, expires_at_ms| {
        value = Some(StoredValue { bytes: bytes.to_vec(), expires_at_ms });
        true
    })?;
    Ok(value)
}

/// Calls `take` with the number of each key that there is, its value and its expiry, in the order
/// of the keys, until it answers false. Few values are in memory at a time.
pub(super) fn each_value(
    keyspace: &Keyspace,
    keys: &[&[u8]],
    mut take: impl FnMut(usize, &[u8], u64) -> bool,
) -> tonnage::Result<()> {
    let (asked, mut found) = (pairs_of(keys)?, PairBatch::default());
    let (mut first, now_ms) = (0, keyspace.now_ms());
    while first < keys.len() {
        first += keyspace.session.get_many(&asked, first, PAGE_BYTES, &mut found)?;
        for row in 0..found.len() {
            // Hashes all of whose fields have expired are not there.
            if is_over(found.value(row), now_ms) {
                continue;
            }
            if !take(found.origin(row), found.value(row), found.expires_at_ms(row)) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The versions of some keys; none for those that there are not.
pub(super) fn fetch_versions(
    keyspace: &Keyspace,
    keys: &[&[u8]],
) -> tonnage::Result<Vec<Option<u64>>> {
    let (asked, mut found) = (pairs_of(keys)?, PairBatch::default());
    let (mut versions, mut first) = (vec![None; keys.len()], 0);
    while first < keys.len() {
        first += keyspace.session.look_up(&asked, first, PAGE_BYTES, &mut found)?;
        (0..found.len()).for_each(|row| versions[found.origin(row)] = Some(found.version(row)));
    }
    Ok(versions)
}

fn pairs_of(keys: &[&[u8]]) -> tonnage::Result<Pairs> {
    let mut pairs = Pairs::new();
    keys.iter().try_for_each(|key| pairs.push_parts(&[key], &[], b""))?;
    Ok(pairs)
}

/// What a key becomes: a value with its expiry, or nothing.
pub(super) type KeyChange<'k> = (&'k [u8], Option<(&'k [u8], u64)>);

/// Writes keys together. The caller has its turn alone.
pub(super) fn store(keyspace: &Keyspace, changes: &[KeyChange<'_>]) -> tonnage::Result<()> {
    let mut writes = keyspace.session.writes();
    for (key, value) in changes {
        writes.begin();
        match value {
            Some((bytes, expires_at_ms)) => {
                writes.put(&[key], &[], bytes, *expires_at_ms, Condition::Always)?;
            }
            None => writes.delete(&[key], &[], Condition::Always)?,
        }
    }
    let outcomes = keyspace.write(&writes);
    let stored = changes.iter().filter(|(_, value)| value.is_some());
    stored.for_each(|(key, _)| keyspace.waits.signal(key));
    outcomes.into_iter().try_for_each(|outcome| outcome.map(drop))
}

/// Calls `take` with each key, until it answers false. Pairs with longer paths are not keys.
fn each_key(keyspace: &Keyspace, mut take: impl FnMut(&[u8]) -> bool) -> tonnage::Result<()> {
    let (mut found, mut position) = (PairBatch::default(), None);
    while let Some(next) = keyspace.session.scan_keys(position, PAGE, &mut found)? {
        for row in 0..found.len() {
            let key = found.key(row)?;
            if let ([name], []) = (key.major(), key.minor())
                && !take(name)
            {
                return Ok(());
            }
        }
        position = Some(next);
    }
    Ok(())
}

/// How many keys there are: an estimate of all pairs, where there are more than `counted_max`.
pub(super) fn count_keys(keyspace: &Keyspace, counted_max: u64) -> tonnage::Result<u64> {
    let estimate = keyspace.session.estimate()?;
    if estimate > counted_max {
        return Ok(estimate);
    }
    let mut count = 0;
    each_key(keyspace, |_| {
        count += 1;
        true
    })?;
    Ok(count)
}

pub(crate) fn keys(call: &mut ImmediateCall<'_>) -> Handled {
    call.check_all(KeyRight::Read)?;
    let (pattern, bytes_max) = (call.word(1), call.client.limits.output_bytes_max);
    // The head says how many follow, so the names wait for it.
    let (mut names, mut count, mut is_too_large) = (Vec::new(), 0, false);
    let listed = each_key(call.keyspace, |name| {
        if glob_matches(pattern, name) {
            crate::protocol::ReplyWriter::new(&mut names, call.client.protocol).bulk(name);
            count += 1;
        }
        is_too_large = names.len() > bytes_max;
        !is_too_large
    });
    call.stored(listed)?;
    if is_too_large {
        return Err(words::REPLY_TOO_LARGE.into());
    }
    call.reply().array(count);
    call.client.output.extend_from_slice(&names);
    Ok(())
}

pub(crate) fn scan(call: &mut ImmediateCall<'_>) -> Handled {
    let cursor = std::str::from_utf8(call.word(1)).ok().and_then(|text| text.parse::<u64>().ok());
    let cursor = cursor.ok_or("ERR invalid cursor")?;
    let (mut pattern, mut limit, mut kind) = (&b"*"[..], 10, None);
    for index in (2..call.len()).step_by(2) {
        if index + 1 == call.len() {
            return Err(words::SYNTAX.into());
        }
        let value = call.word(index + 1);
        match call.lower(index).as_str() {
            "match" => pattern = value,
            "count" => {
                let count = parse_integer(value).ok_or(words::NOT_AN_INTEGER)?;
                limit = usize::try_from(count).unwrap_or(0);
                if limit == 0 {
                    return Err(words::SYNTAX.into());
                }
            }
            "type" => kind = Some(call.lower(index + 1)),
            _ => return Err(words::SYNTAX.into()),
        }
    }
    call.check_all(KeyRight::Read)?;
    // A number that is not known, or not any more, begins anew: keys may come twice.
    let position = call.keyspace.cursors.lock().get(cursor);
    // A page shows no half of a transaction.
    let _turn = call.turn(false);
    let mut found = PairBatch::default();
    let next = call.keyspace.session.scan_keys(position, limit.min(PAGE), &mut found);
    let next = call.stored(next)?;
    let mut names = Vec::with_capacity(found.len());
    for row in 0..found.len() {
        let key = call.stored(found.key(row))?;
        if let ([name], []) = (key.major(), key.minor())
            && glob_matches(pattern, name)
        {
            names.push(name.clone());
        }
    }
    if let Some(kind) = kind {
        names = call.stored(keys_of_kind(call.keyspace, names, &kind))?;
    }
    // 0 ends the scan; every other number leads to its next page.
    let cursor = next.map_or(0, |position| call.keyspace.cursors.lock().keep(position));
    let mut reply = call.reply();
    reply.array(2);
    reply.bulk(cursor.to_string().as_bytes());
    reply.array(names.len());
    names.iter().for_each(|name| reply.bulk(name));
    Ok(())
}

/// Those of some keys whose values are of a kind. The values tell it, so they are read.
fn keys_of_kind(
    keyspace: &Keyspace,
    names: Vec<Vec<u8>>,
    kind: &str,
) -> tonnage::Result<Vec<Vec<u8>>> {
    let keys: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    let mut is_taken = vec![false; keys.len()];
    each_value(keyspace, &keys, |number, value, _| {
        is_taken[number] = ValueKind::of(value).name() == kind;
        true
    })?;
    let mut is_taken = is_taken.into_iter();
    Ok(names.into_iter().filter(|_| is_taken.next().unwrap_or(false)).collect())
}

pub(crate) fn randomkey(call: &mut ImmediateCall<'_>) -> Handled {
    call.check_all(KeyRight::Read)?;
    // The n-th key takes the place of the one before with a chance of 1 in n.
    let (mut chosen, mut count, mut chance) = (None, 0_u64, Chance::new());
    let listed = each_key(call.keyspace, |name| {
        count += 1;
        if chance.below(count) == 0 {
            chosen = Some(name.to_vec());
        }
        true
    });
    call.stored(listed)?;
    match chosen {
        Some(name) => call.reply().bulk(&name),
        None => call.reply().null(),
    }
    Ok(())
}

pub(crate) fn rename(call: &mut ImmediateCall<'_>) -> Handled {
    move_key(call, false)
}

pub(crate) fn renamenx(call: &mut ImmediateCall<'_>) -> Handled {
    move_key(call, true)
}

fn move_key(call: &mut ImmediateCall<'_>, only_if_free: bool) -> Handled {
    let (from, to) = (call.word(1), call.word(2));
    let _turn = call.turn(true);
    let is_free = call.stored(fetch_versions(call.keyspace, &[to]))?[0].is_none();
    let value = call.stored(fetch(call.keyspace, from))?.ok_or(words::NO_SUCH_KEY)?;
    if only_if_free && !is_free {
        call.reply().integer(0);
        return Ok(());
    }
    if from != to {
        let bytes = call.stored(copy_members(call.keyspace, from, to, value.bytes))?;
        let moved = Some((bytes.as_slice(), value.expires_at_ms));
        // The new key comes first: a crash between the two leaves one more, not one less.
        call.stored(store(call.keyspace, &[(to, moved), (from, None)]))?;
    }
    match only_if_free {
        true => call.reply().integer(1),
        false => call.reply().ok(),
    }
    Ok(())
}

pub(crate) fn copy(call: &mut ImmediateCall<'_>) -> Handled {
    let (from, to, mut replaces, mut index) = (call.word(1), call.word(2), false, 3);
    while index < call.len() {
        match call.lower(index).as_str() {
            "replace" => replaces = true,
            // There is one database, but programs may name it.
            "db" if index + 1 < call.len() => {
                index += 1;
                if call.integer(index)? != 0 {
                    return Err("ERR DB index is out of range".into());
                }
            }
            _ => return Err(words::SYNTAX.into()),
        }
        index += 1;
    }
    if from == to {
        return Err("ERR source and destination objects are the same".into());
    }
    // No other client may take the target between the check and the write.
    let _turn = call.turn(true);
    let is_free = call.stored(fetch_versions(call.keyspace, &[to]))?[0].is_none();
    let copied = match call.stored(fetch(call.keyspace, from))? {
        Some(value) if is_free || replaces => {
            let bytes = call.stored(copy_members(call.keyspace, from, to, value.bytes))?;
            let copied = Some((bytes.as_slice(), value.expires_at_ms));
            call.stored(store(call.keyspace, &[(to, copied)]))?;
            1
        }
        _ => 0,
    };
    call.reply().integer(copied);
    Ok(())
}

pub(crate) fn msetnx(call: &mut ImmediateCall<'_>) -> Handled {
    if call.len().is_multiple_of(2) {
        return Err(words::wrong_arity("msetnx").into());
    }
    let indexes = (1..call.len()).step_by(2);
    if indexes.clone().any(|index| would_be_marked(b"", 0, call.word(index + 1))) {
        return Err(words::MARKED.into());
    }
    let keys: Vec<&[u8]> = indexes.clone().map(|index| call.word(index)).collect();
    let _turn = call.turn(true);
    let found = call.stored(fetch_versions(call.keyspace, &keys))?;
    if found.iter().any(Option::is_some) {
        call.reply().integer(0);
        return Ok(());
    }
    let changes: Vec<KeyChange<'_>> =
        indexes.map(|index| (call.word(index), Some((call.word(index + 1), 0)))).collect();
    call.stored(store(call.keyspace, &changes))?;
    call.reply().integer(1);
    Ok(())
}
