//! What each model keeps and loses.

use std::fs;

use super::{Model, Replay};
use crate::trace::tests::TraceBuilder;
use crate::trace::{Trace, TraceRecord};

/// The content of a file in the state after the whole trace; nothing if it is not there.
fn content(trace: &Trace, model: Model, seed: u64, name: &str) -> Option<Vec<u8>> {
    let out = tempfile::tempdir().unwrap();
    let mut replay = Replay::new(trace).unwrap();
    replay.play_to(usize::MAX);
    replay.build(&out.path().join("state"), model, seed).unwrap();
    fs::read(out.path().join("state").join(name)).ok()
}

#[test]
fn a_strict_file_system_keeps_what_was_synced_and_nothing_else() {
    let written = || TraceBuilder::new().create(2, "/base/a").write(2, 0, b"one");
    let synced = written().sync(2).trace();
    assert_eq!(content(&synced, Model::Strict, 1, "a"), None, "its name was not synced");
    let named = written().sync(2).sync(1).write(2, 3, b"two").trace();
    assert_eq!(content(&named, Model::Strict, 1, "a").unwrap(), b"one");
    assert_eq!(content(&named, Model::Kill, 1, "a").unwrap(), b"onetwo");
}

#[test]
fn a_journal_makes_names_durable_with_any_sync() {
    let trace = TraceBuilder::new().create(2, "/base/a").create(3, "/base/b").sync(3).trace();
    assert_eq!(content(&trace, Model::Entries, 1, "a").unwrap(), b"");
    assert_eq!(content(&trace, Model::Strict, 1, "a"), None);
}

#[test]
fn a_torn_write_ends_at_a_sector() {
    let data = vec![7; 20_000];
    let trace = TraceBuilder::new().create(2, "/base/a").sync(1).write(2, 0, &data).trace();
    for seed in 0..50 {
        let len = content(&trace, Model::Prefix, seed, "a").unwrap().len();
        assert!(len == data.len() || len.is_multiple_of(512), "{len}");
        let zeros = content(&trace, Model::Zeros, seed, "a").unwrap();
        assert_eq!(zeros.len(), data.len());
        assert!(zeros.iter().skip_while(|byte| **byte == 7).all(|byte| *byte == 0));
    }
}

#[test]
fn pages_reach_the_disk_in_any_order() {
    let data = vec![7; 40_960];
    let trace = TraceBuilder::new().create(2, "/base/a").sync(1).write(2, 0, &data).trace();
    let has_hole = |seed| {
        let content = content(&trace, Model::Pages, seed, "a").unwrap();
        assert_eq!(content.len(), data.len());
        let pages: Vec<u8> = content.chunks(4096).map(|page| page[0]).collect();
        pages.windows(2).any(|pair| pair == [0, 7])
    };
    assert!((0..20).any(has_hole));
}

#[test]
fn a_name_that_is_used_again_is_another_file() {
    let remove = || TraceRecord::Remove { path: "/base/a".into() };
    let old = TraceBuilder::new().create(2, "/base/a").write(2, 0, b"old").sync(2).sync(1);
    let trace = old.then(remove()).create(2, "/base/a").write(2, 0, b"new").trace();
    assert_eq!(content(&trace, Model::Strict, 1, "a").unwrap(), b"old");
    assert_eq!(content(&trace, Model::Kill, 1, "a").unwrap(), b"new");
}

#[test]
fn a_renamed_directory_takes_along_what_is_in_it() {
    let made = TraceBuilder::new()
        .then(TraceRecord::CreateDirectory { inode: 2, path: "/base/new".into() });
    let filled = made.create(3, "/base/new/a").write(3, 0, b"one").sync(3).sync(2).sync(1);
    let rename = TraceRecord::Rename { from: "/base/new".into(), to: "/base/d".into() };
    let trace = filled.then(rename).trace();
    assert_eq!(content(&trace, Model::Strict, 1, "new/a").unwrap(), b"one");
    assert_eq!(content(&trace, Model::Kill, 1, "d/a").unwrap(), b"one");
    assert_eq!(content(&trace, Model::Kill, 1, "new/a"), None);
}

/// Once a directory vanished that was created in one folder, filled, and moved to another that was
/// synced, because the first folder never was. So no checkpoint was there.
#[test]
fn a_directory_that_is_moved_needs_no_sync_of_where_it_was() {
    let directory =
        |inode, path: &str| TraceRecord::CreateDirectory { inode, path: path.to_owned() };
    let moved = || {
        let from = TraceBuilder::new().then(directory(2, "/base/from"));
        let places = from.then(directory(3, "/base/to")).sync(1);
        let made = places.then(directory(4, "/base/from/d")).create(5, "/base/from/d/a");
        let filled = made.write(5, 0, b"one").sync(5).sync(4);
        filled.then(TraceRecord::Rename { from: "/base/from/d".into(), to: "/base/to/d".into() })
    };
    assert_eq!(content(&moved().trace(), Model::Strict, 1, "to/d/a"), None);
    for trace in [moved().sync(3).trace(), moved().sync(3).sync(2).trace()] {
        assert_eq!(content(&trace, Model::Strict, 1, "to/d/a").unwrap(), b"one");
        assert_eq!(content(&trace, Model::Strict, 1, "from/d/a"), None);
    }
}

#[test]
fn pages_of_a_failed_sync_are_never_written() {
    let failed = TraceBuilder::new().create(2, "/base/a").sync(1).write(2, 0, b"lost");
    let trace = failed.then(TraceRecord::SyncFailed { inode: 2 }).sync(2).trace();
    assert_eq!(content(&trace, Model::Strict, 1, "a").unwrap(), [0; 4]);
}
