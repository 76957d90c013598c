//! Copies of collections whose members are entries of their own.

use tonnage::{CollectionBatch, PairWrites};

use super::random::Chance;
use crate::keyspace::Keyspace;
use crate::values::{EntryName, SpreadHead};

/// The bytes that a group of copied members has, about.
const COPIED_BYTES: usize = 1 << 20;

/// Members that are read at a time.
const PAGE_ROWS: usize = 8_192;

/// Copies the members of a key to another one, where they are entries of their own. Answers the
/// value that the other key is to have. Until it has it, the copies are invisible; those of a crash
/// are [left over](crate::leftovers). The caller has its turn alone.
pub(super) fn copy_members(
    keyspace: &Keyspace,
    from: &[u8],
    to: &[u8],
    value: Vec<u8>,
) -> tonnage::Result<Vec<u8>> {
    let Ok(Some(head)) = SpreadHead::read(&value) else { return Ok(value) };
    let entries = keyspace.make_collections()?;
    let copied = SpreadHead { generation: Chance::new().below(u64::MAX), ..head };
    let (begin, end) = (head.generation, EntryName::behind_generation(head.generation));
    // Page by page, so that a collection of any size takes little memory.
    let mut scan = entries.scan(from, (&begin.to_be_bytes(), Some(&end)), false, PAGE_ROWS)?;
    let (mut found, mut writes) = (CollectionBatch::default(), keyspace.session.writes());
    let write = |writes: &mut PairWrites| {
        let outcomes = keyspace.write(writes);
        writes.clear();
        outcomes.into_iter().try_for_each(|outcome| outcome.map(drop))
    };
    while scan.next_batch(&mut found)? {
        for row in 0..found.len() {
            if writes.is_empty() {
                writes.begin();
            }
            // After the generation the name stays.
            let name = &found.name(row)[size_of::<u64>()..];
            let name = [&copied.generation.to_be_bytes()[..], name];
            writes.put_entry(entries, to, &name, found.value(row))?;
            if writes.bytes() > COPIED_BYTES {
                write(&mut writes)?;
            }
        }
    }
    write(&mut writes)?;
    let mut bytes = Vec::new();
    copied.append_to(&mut bytes);
    Ok(bytes)
}
