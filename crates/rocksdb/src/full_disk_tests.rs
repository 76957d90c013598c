//! A store whose drop of a space was cut short is opened on a full disk. Needs root for a small
//! tmpfs.

use std::path::Path;
use std::time::{Duration, Instant};

use tonnage_engine::{
    Condition, Deadline, Durability, Engine, ErrorKind, KeyPart, KeyShape, Maintenance, SpaceId,
    WriteBatch,
};
use tonnage_testkit::SmallDisk;

use crate::spaces::Spaces;
use crate::{RocksEngine, Settings};

fn open(root: &Path) -> tonnage_engine::Result<RocksEngine> {
    let settings =
        Settings { cache_bytes: 8 << 20, memtable_bytes: 1 << 20, ..Settings::default() };
    RocksEngine::open(root, settings)
}

/// A store with a row in each of two spaces, the second of which is noted as dropping.
fn half_dropped(root: &Path) -> SpaceId {
    let engine = open(root).unwrap();
    let spaces = ["kept", "dropped"]
        .map(|name| engine.create_space(name, &KeyShape::new([KeyPart::Fixed(4)])).unwrap());
    for space in spaces {
        let mut batch = WriteBatch::new(space);
        batch.put(&[0, 0, 0, 1], b"row", 0, Condition::Always);
        engine.write(&batch, Durability::Fsync).unwrap();
    }
    let db = engine.store().shards()[0].db();
    engine.store().spaces_list().begin_drop(db, spaces[1], Deadline::NONE).unwrap();
    spaces[0]
}

/// Such a store opens, or says that the disk is full; once there is space it opens, and the drop is
/// completed.
#[test]
fn a_half_done_drop_keeps_no_store_closed_on_a_full_disk() {
    for free_bytes in [0, 16 << 10, 64 << 10, 256 << 10, 1 << 20] {
        let Some(disk) = SmallDisk::mount(16 << 20) else { return };
        let root = disk.path().join("store");
        let kept = half_dropped(&root);
        let ballast = disk.take_all_but(free_bytes);
        let began = Instant::now();
        match open(&root) {
            Ok(engine) => assert_eq!(engine.spaces().unwrap().len(), 1, "{free_bytes} bytes"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{free_bytes} bytes: {error}");
                let message = error.message().to_ascii_lowercase();
                assert!(message.contains("no space left"), "{free_bytes} bytes: {error}");
            }
        }
        assert!(began.elapsed() < Duration::from_secs(45), "{free_bytes} bytes: it hangs");
        drop(ballast);
        let engine = open(&root).unwrap();
        assert_eq!(
            engine.spaces().unwrap().iter().map(|space| space.id).collect::<Vec<_>>(),
            [kept]
        );
        let db = engine.store().shards()[0].db();
        while !Spaces::open(db).unwrap().1.is_empty() {
            assert!(began.elapsed() < Duration::from_secs(90), "the drop is not completed");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(engine.verify().unwrap().rows, 1);
    }
}
