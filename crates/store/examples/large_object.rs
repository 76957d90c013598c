//! A large object: written in chunks, gone on with after the writer was cut short, read in chunks.

use tonnage::{Durability, Key, LobOptions, Store};

const PART_BYTES: usize = 1 << 20;

pub(crate) fn main() -> tonnage::Result<()> {
    let store = Store::open("memory:")?; // or a path
    let (pairs, film) = (store.kv(), Key::new(["films"], ["metropolis"]));
    let part = |number: u64| vec![number as u8; PART_BYTES];

    // The writer is cut short: no reader sees any of the object.
    let mut writer = pairs.put_lob(&film, &LobOptions::default())?;
    (0..5).try_for_each(|number| writer.append(&part(number)))?;
    drop(writer);
    assert!(pairs.get_lob(&film)?.is_none());

    // Another one continues after what was kept.
    let options = LobOptions { durability: Durability::Fsync, ..LobOptions::default() };
    let mut writer = pairs.resume_lob(&film, &options)?.expect("there is a writer to go on with");
    let first = writer.position() / PART_BYTES as u64;
    (first..10).try_for_each(|number| writer.append(&part(number)))?;
    println!("{} bytes written", writer.finish()?.bytes);

    let mut reader = pairs.get_lob(&film)?.expect("it is there now");
    let mut buffer = vec![0; PART_BYTES];
    let mut bytes = 0;
    loop {
        match reader.read_some(&mut buffer)? {
            0 => break,
            read => bytes += read,
        }
    }
    assert_eq!(bytes, 10 * PART_BYTES);
    pairs.delete_lob(&film, Durability::Write)?;
    Ok(())
}
