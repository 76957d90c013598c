//! A large object: written and read in chunks, and gone on with after the writer was cut short.
//!
//! `STORE=directory GIBIBYTES=10 cargo run --release -p tonnage --example large_object` writes and
//! reads as much as is asked for, and tells the rates and the memory that the process took at most.

use std::time::Instant;

use tonnage::{Durability, Key, LobOptions, RocksDbSettings, Store};

const PART_BYTES: usize = 1 << 20;

pub(crate) fn main() -> tonnage::Result<()> {
    let asked = |name: &str| std::env::var(name).ok();
    let store = match asked("STORE") {
        Some(directory) => Store::builder(directory).rocksdb_settings(small()).open()?,
        None => Store::open("memory:")?,
    };
    let gibibytes: f64 = asked("GIBIBYTES").and_then(|text| text.parse().ok()).unwrap_or(0.01);
    let parts = (gibibytes * 1024.0) as u64;
    let (pairs, film) = (store.kv(), Key::new(["films"], ["metropolis"]));

    let started = Instant::now();
    let mut writer = pairs.put_lob(&film, &LobOptions::default())?;
    (0..parts / 2).try_for_each(|number| writer.append(&part(number)))?;
    // The writer is cut short: nobody sees anything, and another one goes on.
    drop(writer);
    assert!(pairs.get_lob(&film)?.is_none());
    let options = LobOptions { durability: Durability::Fsync, ..LobOptions::default() };
    let mut writer = pairs.resume_lob(&film, &options)?.expect("there is a writer to go on with");
    let first = writer.position() / PART_BYTES as u64;
    (first..parts).try_for_each(|number| writer.append(&part(number)))?;
    let info = writer.finish()?;
    tell("written", info.bytes, started);

    let started = Instant::now();
    let mut reader = pairs.get_lob(&film)?.expect("it is there now");
    let mut buffer = vec![0; PART_BYTES];
    for number in 0..parts {
        let mut filled = 0;
        while filled < buffer.len() {
            filled += reader.read_some(&mut buffer[filled..])?;
        }
        assert!(buffer == part(number), "part {number} is as it was written");
    }
    tell("read", info.bytes, started);
    pairs.delete_lob(&film, Durability::Write)?;
    Ok(())
}

/// A store that takes little memory.
fn small() -> RocksDbSettings {
    RocksDbSettings {
        cache_bytes: 4 << 20,
        memtable_bytes: 4 << 20,
        background_threads: 1,
        ..RocksDbSettings::default()
    }
}

/// Bytes that follow from a number and do not compress.
fn part(number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut bytes = Vec::with_capacity(PART_BYTES);
    while bytes.len() < PART_BYTES {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes
}

fn tell(what: &str, bytes: u64, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = memory.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    println!("{what}: {bytes} bytes, {:.0} MB/s, {most}", bytes as f64 / 1e6 / seconds);
}
