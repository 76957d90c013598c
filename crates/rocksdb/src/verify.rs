//! Reads everything, to see whether it can be read.
//!
//! 1. Each shard is read from its first key to its last, past the cache, with every checksum
//!    verified.
//! 2. A scan ends at a damaged file. The damage is noted, and the scan continues after the last key
//!    of the file that RocksDB's message names, or of the nearest file if it names none.
//! 3. Each value's header is read too.

use rocksdb::{DBRawIterator, LiveFile};
use tonnage_engine::{Damage, Deadline, Header, Result, VerifyReport};

use crate::error::translate;
use crate::open_store::OpenStore;
use crate::rows_family::ROWS;
use crate::settings::read_options;
use crate::shard::{SPACE_LEN, Shard};

/// Damages listed one by one; beyond them the report only says that there are more.
const DAMAGES_MAX: usize = 1_000;

const READAHEAD_BYTES: usize = 2 << 20;

/// How many rows are read before the clock is looked at again.
const ROWS_BETWEEN_LOOKS: u32 = 4_096;

/// What a verification that is out of time waits for.
const VERIFICATION: &str = "the verification of all rows";

impl OpenStore {
    pub(crate) fn verify_all(&self, deadline: Deadline) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        let now_ms = self.clock().now_ms();
        for shard in self.shards() {
            verify_metadata(shard, deadline, &mut report)?;
            verify_rows(shard, now_ms, deadline, &mut report)?;
        }
        Ok(report)
    }
}

fn verify_metadata(shard: &Shard, deadline: Deadline, report: &mut VerifyReport) -> Result<()> {
    deadline.check(VERIFICATION)?;
    let mut options = read_options();
    options.fill_cache(false);
    let mut iterator = shard.db().raw_iterator_opt(options);
    iterator.seek_to_first();
    while iterator.valid() {
        iterator.next();
    }
    if let Err(error) = iterator.status() {
        note(report, format!("{}, metadata", shard.display_name()), error.to_string());
    }
    Ok(())
}

fn verify_rows(
    shard: &Shard,
    now_ms: u64,
    deadline: Deadline,
    report: &mut VerifyReport,
) -> Result<()> {
    let mut options = read_options();
    options.fill_cache(false);
    options.set_readahead_size(READAHEAD_BYTES);
    let mut iterator = shard.db().raw_iterator_cf_opt(shard.rows(), options);
    let mut reached = Vec::new();
    iterator.seek_to_first();
    loop {
        read_on(&mut iterator, shard, now_ms, deadline, &mut reached, report)?;
        let Err(error) = iterator.status() else { return Ok(()) };
        let message = error.to_string();
        // Listed anew for each damage, since compaction may have replaced files meanwhile.
        let files =
            shard.db().live_files().map_err(|error| translate(shard.display_name(), error))?;
        let Some(next) = behind_damage(&files, &message, &reached) else {
            note(report, shard.display_name().to_string(), message);
            return Ok(());
        };
        note(report, shard.display_name().to_string(), message);
        iterator.seek(&next);
        // `next` is past `reached`, so each round gets further, and the loop ends.
        reached = next;
    }
}

fn read_on(
    iterator: &mut DBRawIterator<'_>,
    shard: &Shard,
    now_ms: u64,
    deadline: Deadline,
    reached: &mut Vec<u8>,
    report: &mut VerifyReport,
) -> Result<()> {
    let mut until_look = ROWS_BETWEEN_LOOKS;
    while let Some((key, value)) = iterator.item() {
        // A header that cannot be read is noted, and hides none of the rows after it.
        match Header::split(value) {
            Ok((header, payload)) if header.is_live(now_ms) => {
                report.rows += 1;
                report.bytes += (key.len().saturating_sub(SPACE_LEN) + payload.len()) as u64;
            }
            Ok(_) => {}
            Err(error) => note(
                report,
                format!("{}, key {}", shard.display_name(), key.escape_ascii()),
                error.to_string(),
            ),
        }
        // Kept for damage in the next step: the scan then continues after the file that holds this
        // key.
        reached.clear();
        reached.extend_from_slice(key);
        iterator.next();
        until_look -= 1;
        if until_look == 0 {
            deadline.check(VERIFICATION)?;
            until_look = ROWS_BETWEEN_LOOKS;
        }
    }
    Ok(())
}

/// The first key after the damaged file, which is past `reached`; nothing when there is no such
/// file.
fn behind_damage(files: &[LiveFile], message: &str, reached: &[u8]) -> Option<Vec<u8>> {
    let ends_behind = |file: &&LiveFile| file.end_key.as_deref().is_some_and(|end| end >= reached);
    let mut rows = files.iter().filter(|file| file.column_family_name == ROWS).filter(ends_behind);
    let named = rows.clone().find(|file| message.contains(file.name.trim_start_matches('/')));
    let end = match named {
        Some(file) => file.end_key.clone(),
        None => rows.by_ref().filter_map(|file| file.end_key.clone()).min(),
    };
    end.map(|mut end| {
        end.push(0);
        end
    })
}

fn note(report: &mut VerifyReport, location: String, what: String) {
    match report.damages.len() {
        count if count < DAMAGES_MAX => report.damages.push(Damage { location, what }),
        DAMAGES_MAX => report
            .damages
            .push(Damage { location, what: "and more, which are not listed".to_owned() }),
        _ => {}
    }
}
