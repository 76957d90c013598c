//! How many files a store may keep open.
//!
//! RocksDB keeps its data files open if it may, so that a look-up need not search the table of open
//! files. But systems start programs with as few as 1,024 descriptors, and a store of 60 GiB has
//! more files than that. So the store raises the limit of the process as far as it can without
//! rights, and tells RocksDB how many files it may keep open. Beyond that RocksDB closes the least
//! recently used.

use std::path::Path;

/// Descriptors that are left to everything else: logs, files of loads, what the program around the
/// store opens.
const RESERVE: u64 = 64;
/// RocksDB keeps at least so many.
const LEAST: u64 = 20;
/// With so many for a shard, some terabytes, RocksDB may keep all files open, unless a good part of
/// them is there already.
const PLENTY: u64 = 50_000;

/// How many files the database of a shard may keep open, of so many shards; -1 for all.
pub(crate) fn max_open_files(db: &Path, shards: usize) -> i32 {
    let files = std::fs::read_dir(db).map_or(0, |files| files.count() as u64);
    share(raise_limit(), shards as u64, files)
}

/// A quarter stays free for loads: their spill files are many.
fn share(limit: u64, shards: u64, files: u64) -> i32 {
    let share = (limit - limit / 4).saturating_sub(RESERVE) / shards.max(1);
    if share >= PLENTY && files < share / 4 {
        -1
    } else {
        share.clamp(LEAST, i32::MAX as u64) as i32
    }
}

/// Into how many parts the table of open files is cut, as a power of two. Each part keeps one file
/// at least, so that of few files many parts would keep too many.
pub(crate) fn table_parts_log2(max_open_files: i32) -> i32 {
    match u32::try_from(max_open_files) {
        Ok(files) => (files / 16).max(1).ilog2().min(6) as i32,
        Err(_) => 6,
    }
}

/// Raises the soft limit of open files of this process to the hard one; says what it is then.
fn raise_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls read or fill the one struct that they are given, which lives on this stack
    // frame.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) != 0 {
            return 1_024;
        }
        let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
        if limit.rlim_cur < limit.rlim_max && libc::setrlimit(libc::RLIMIT_NOFILE, &raised) == 0 {
            limit = raised;
        }
    }
    limit.rlim_cur
}

#[cfg(test)]
mod tests {
    use super::{share, table_parts_log2};

    #[test]
    fn a_part_of_the_table_keeps_some_files() {
        assert_eq!([-1, 20, 40, 700, 50_000].map(table_parts_log2), [6, 0, 1, 5, 6]);
    }

    #[test]
    fn shards_share_what_is_left_beside_the_reserve() {
        assert_eq!(share(1_024, 1, 10), 704);
        assert_eq!(share(1_024, 8, 10), 88);
        assert_eq!(share(64, 1, 10), 20);
        assert_eq!(share(0, 1_000, 0), 20);
    }

    #[test]
    fn all_files_stay_open_where_there_are_descriptors_in_plenty() {
        assert_eq!(share(1 << 20, 4, 100), -1);
        assert_eq!(share(1 << 20, 4, 100_000), 196_592);
        assert_eq!(share(u64::MAX, 1, 100), -1);
    }
}
