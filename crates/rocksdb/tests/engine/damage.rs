//! Flipped bits: what is damaged is reported, or recovered, and never returned as data nor silently
//! left out.

use std::fs;
use std::path::{Path, PathBuf};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tonnage_engine::{
    Condition, Durability, Engine, Error, ErrorKind, KeyPart, KeyShape, Maintenance, Projection,
    Ranges, Rows, ScanOptions, SpaceId, WriteBatch,
};
use tonnage_rocksdb::RocksEngine;
use tonnage_testkit::copy_tree;

use crate::common::open;

const ROWS: u32 = 3_000;

fn value(key: u32) -> Vec<u8> {
    format!("value {key} ").repeat(1 + key as usize % 20).into_bytes()
}

/// Makes a store of `ROWS` rows by single writes, and closes it.
fn fill(root: &Path) -> SpaceId {
    fill_open(root).1
}

fn fill_open(root: &Path) -> (RocksEngine, SpaceId) {
    let engine = open(root).unwrap();
    let space = engine.create_space("pairs", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    for key in 0..ROWS {
        let mut batch = WriteBatch::new(space);
        batch.put(&key.to_be_bytes(), &value(key), 0, Condition::Always);
        engine.write(&batch, Durability::Write).unwrap();
    }
    (engine, space)
}

/// Reads everything, by scan and by key. `Ok` only when it is exactly what was written.
fn read_all(root: &Path, space: SpaceId) -> Result<(), Error> {
    let engine = open(root)?;
    let mut scanner = engine.scan(space, Ranges::whole_space(), ScanOptions::default())?;
    let (mut rows, mut next) = (Rows::new(), 0_u32);
    while scanner.next_batch(&mut rows)? {
        for index in 0..rows.len() {
            assert_eq!(rows.keys.get(index), next.to_be_bytes(), "a row is missing or wrong");
            assert_eq!(rows.values.get(index), value(next), "a value is wrong");
            next += 1;
        }
    }
    assert_eq!(next, ROWS, "rows are missing");
    let keys: Vec<[u8; 4]> = (0..ROWS).map(u32::to_be_bytes).collect();
    engine.read(
        space,
        &keys.iter().map(|key| &key[..]).collect(),
        Projection::KeysAndValues,
        &mut rows,
    )?;
    assert_eq!(rows.len(), ROWS as usize, "rows are missing");
    Ok(())
}

fn files(root: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join("db")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    files
}

/// Flips a bit of a file of a copy of the store and reads the copy; says whether the damage was
/// noticed.
fn is_noticed(root: &Path, space: SpaceId, file: &Path, bit: usize) -> bool {
    let place = tempfile::tempdir().unwrap();
    let copied = place.path().join("copy");
    copy_tree(root, &copied);
    let target = copied.join("db").join(file.file_name().unwrap());
    let mut bytes = fs::read(&target).unwrap();
    bytes[bit / 8] ^= 1 << (bit % 8);
    fs::write(&target, bytes).unwrap();
    match read_all(&copied, space) {
        Ok(()) => false,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Corruption, "byte {}: {error}", bit / 8);
            true
        }
    }
}

/// A store with all rows in one data file.
fn store_in_a_file(root: &Path) -> (SpaceId, PathBuf) {
    let space = fill(root);
    // Recovery at open writes what is in the log to a data file.
    drop(open(root).unwrap());
    let largest = files(root, "sst")
        .into_iter()
        .max_by_key(|file| fs::metadata(file).unwrap().len())
        .unwrap();
    (space, largest)
}

#[test]
fn a_flipped_bit_in_a_data_file_is_reported_or_harmless() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let (space, file) = store_in_a_file(&root);
    let bytes = fs::metadata(&file).unwrap().len() as usize;
    let mut random = SmallRng::seed_from_u64(7);
    // Everywhere, and more densely in the last part: filter, index, properties and footer.
    let anywhere = (0..50).map(|_| random.random_range(0..bytes * 8)).collect::<Vec<_>>();
    let late =
        (0..50).map(|_| random.random_range((bytes - 8_000) * 8..bytes * 8)).collect::<Vec<_>>();
    let noticed = anywhere.iter().filter(|bit| is_noticed(&root, space, &file, **bit)).count();
    assert!(
        noticed * 10 >= anywhere.len() * 9,
        "only {noticed} of {} flips were noticed",
        anywhere.len()
    );
    for bit in late {
        is_noticed(&root, space, &file, bit);
    }
}

#[test]
fn a_flipped_bit_in_the_log_is_reported() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let space = fill(&root);
    let logs = files(&root, "log");
    let log = logs.iter().max_by_key(|file| fs::metadata(file).unwrap().len()).unwrap();
    let bytes = fs::metadata(log).unwrap().len() as usize;
    let mut random = SmallRng::seed_from_u64(8);
    let anywhere = (0..80).map(|_| random.random_range(0..bytes * 8)).collect::<Vec<_>>();
    let late =
        (0..80).map(|_| random.random_range((bytes - 400) * 8..bytes * 8)).collect::<Vec<_>>();
    for bit in anywhere.into_iter().chain(late) {
        assert!(is_noticed(&root, space, log, bit), "bit {bit} of {} was not noticed", bytes * 8);
    }
}

/// A log cut anywhere after what was synced is the trace of a crash: the store opens, with all rows
/// before the cut.
#[test]
fn a_torn_log_is_recovered() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let (_open, space) = fill_open(&root);
    let log = files(&root, "log")
        .into_iter()
        .max_by_key(|file| fs::metadata(file).unwrap().len())
        .unwrap();
    let bytes = fs::metadata(&log).unwrap().len();
    for cut in [1, 3, 7, 50, 200, 1_000, 40_000] {
        let copied = place.path().join(format!("cut-{cut}"));
        copy_tree(&root, &copied);
        let log = copied.join("db").join(log.file_name().unwrap());
        fs::File::options().write(true).open(&log).unwrap().set_len(bytes - cut).unwrap();
        let engine = open(&copied).unwrap();
        let mut scanner =
            engine.scan(space, Ranges::whole_space(), ScanOptions::default()).unwrap();
        let (mut rows, mut count) = (Rows::new(), 0);
        while scanner.next_batch(&mut rows).unwrap() {
            assert!(rows.keys.iter().all(|key| key < &ROWS.to_be_bytes()[..]));
            count += rows.len() as u64;
        }
        assert!(
            count < u64::from(ROWS) && count + cut / 20 + 1 >= u64::from(ROWS),
            "{count} rows after a cut of {cut} bytes"
        );
    }
}

#[test]
fn verification_reports_damage_and_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let (_, file) = store_in_a_file(&root);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    let report = open(&root).unwrap().verify().unwrap();
    assert_eq!(report.damages.len(), 1);
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(report.damages[0].what.contains(name), "the file is named: {:?}", report.damages);
    assert!(report.rows > 0);
}

#[test]
fn a_missing_data_file_is_corruption() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("store");
    let (space, file) = store_in_a_file(&root);
    fs::remove_file(file).unwrap();
    assert_eq!(read_all(&root, space).unwrap_err().kind(), ErrorKind::Corruption);
}
