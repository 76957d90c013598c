//! OBJECT: what Redis would call the form of a value.

use super::immediate::{ImmediateCall, check_right};
use super::keys::fetch;
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::protocol::parse_integer;
use crate::values::{EncodedHash, ValueKind};

type Handled = Result<(), Refusal>;

pub(crate) fn object(call: &mut ImmediateCall<'_>) -> Handled {
    let subcommand = call.lower(1);
    if !matches!(subcommand.as_str(), "encoding" | "refcount") {
        return Err(words::unknown_subcommand("object", call.word(1)).into());
    }
    if call.len() != 3 {
        return Err(words::wrong_arity(&format!("object|{subcommand}")).into());
    }
    let key = call.word(2);
    check_right(call.client, KeyRight::Read, key)?;
    let _turn = call.turn(false);
    let found = call.stored(fetch(call.keyspace, key))?;
    match (found, subcommand.as_str()) {
        (None, _) => call.reply().null(),
        (Some(_), "refcount") => call.reply().integer(1),
        (Some(value), _) => call.reply().bulk(encoding(&value.bytes).as_bytes()),
    }
    Ok(())
}

/// What Redis calls the form of such a value, by its own limits.
fn encoding(value: &[u8]) -> &'static str {
    let kind = ValueKind::of(value);
    let is_small = |members_max| is_small(value, kind, members_max);
    match (kind, value.len()) {
        (ValueKind::String, _) if parse_integer(value).is_some() => "int",
        (ValueKind::String, 0..=44) => "embstr",
        (ValueKind::String, _) => "raw",
        (ValueKind::Set, _) if is_of_integers(value) => "intset",
        (ValueKind::Hash, _) if is_small(512) => "listpack",
        (ValueKind::List | ValueKind::Set | ValueKind::SortedSet, _) if is_small(128) => "listpack",
        (ValueKind::Hash | ValueKind::Set, _) => "hashtable",
        (ValueKind::List, _) => "quicklist",
        (ValueKind::SortedSet, _) => "skiplist",
        (ValueKind::Unknown, _) => "unknown",
    }
}

/// Whether there are few members, and short ones.
fn is_small(value: &[u8], kind: ValueKind, members_max: usize) -> bool {
    let Ok(hash) = EncodedHash::open(value, kind) else { return false };
    let is_short = |length: usize| length <= 64;
    hash.len() <= members_max
        && hash.entries().all(|entry| {
            entry.is_ok_and(|entry| is_short(entry.field.len()) && is_short(entry.value.len()))
        })
}

/// Whether a set has few members, all of them whole numbers.
fn is_of_integers(value: &[u8]) -> bool {
    let Ok(set) = EncodedHash::open(value, ValueKind::Set) else { return false };
    set.len() <= 512
        && set
            .entries()
            .all(|entry| entry.is_ok_and(|entry| parse_integer(&value[entry.field]).is_some()))
}
