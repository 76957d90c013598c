//! MEMORY USAGE: how many bytes a key and what it has take in the store.

use tonnage::CollectionBatch;

use super::immediate::{ImmediateCall, check_right};
use super::keys::fetch;
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::keyspace::Keyspace;
use crate::values::{EntryName, SpreadHead};

/// Members that are read at a time.
const PAGE_ROWS: usize = 8_192;

pub(crate) fn memory(call: &mut ImmediateCall<'_>) -> Result<(), Refusal> {
    if call.lower(1) != "usage" {
        return Err(words::unknown_subcommand("memory", call.word(1)).into());
    }
    match call.len() {
        3 => {}
        // All members are counted, whatever the number of samples is.
        5 if call.lower(3) == "samples" => {
            let samples = call.integer(4)?;
            if samples < 0 {
                return Err(words::SYNTAX.into());
            }
        }
        0..3 => return Err(words::wrong_arity("memory|usage").into()),
        _ => return Err(words::SYNTAX.into()),
    }
    let key = call.word(2);
    check_right(call.client, KeyRight::Read, key)?;
    let _turn = call.turn(false);
    let Some(value) = call.stored(fetch(call.keyspace, key))? else {
        call.reply().null();
        return Ok(());
    };
    let members = call.stored(member_bytes(call.keyspace, key, &value.bytes))?;
    call.reply().integer((key.len() + value.bytes.len() + members) as i64);
    Ok(())
}

/// What the entries of a spread collection take, and their names.
fn member_bytes(keyspace: &Keyspace, key: &[u8], value: &[u8]) -> tonnage::Result<usize> {
    let Ok(Some(head)) = SpreadHead::read(value) else { return Ok(0) };
    let Some(entries) = keyspace.collections()? else { return Ok(0) };
    let (begin, end) = (head.generation, EntryName::behind_generation(head.generation));
    // Page by page, so that a collection of any size takes little memory.
    let mut scan = entries.scan(key, (&begin.to_be_bytes(), Some(&end)), false, PAGE_ROWS)?;
    let (mut found, mut bytes) = (CollectionBatch::default(), 0);
    while scan.next_batch(&mut found)? {
        bytes += (0..found.len())
            .map(|row| key.len() + found.name(row).len() + found.value(row).len())
            .sum::<usize>();
    }
    Ok(bytes)
}
