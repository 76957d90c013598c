//! Large objects, as a store has them.

use std::io::Read;

use tonnage::{Cancel, Condition, ErrorKind, Key, LobOptions, LobSource, WriteOptions};

use crate::support::Running;

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

fn bytes_of(count: u32) -> Vec<u8> {
    (0..count).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn read(mut reader: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn an_object_comes_back_as_it_was_written() {
    let server = Running::new();
    let client = server.client();
    for (name, count) in [("/empty", 0), ("/small", 10), ("/%2D\u{e4}/-/large", 5_000_000)] {
        let bytes = bytes_of(count);
        let mut writer = client.kv().put_lob(&key(name), &LobOptions::default()).unwrap();
        assert!(client.kv().get_lob(&key(name)).unwrap().is_none(), "it is not whole");
        bytes.chunks(70_001).for_each(|some| writer.append(some).unwrap());
        assert_eq!(writer.position(), u64::from(count));
        let info = writer.finish().unwrap();
        assert_eq!(info.bytes, u64::from(count));
        let reader = client.kv().get_lob(&key(name)).unwrap().unwrap();
        assert_eq!(reader.info(), info);
        assert!(read(reader) == bytes);
        assert!(read(server.store.kv().get_lob(&key(name)).unwrap().unwrap()) == bytes);
        assert_eq!(client.kv().lob_info(&key(name)).unwrap(), Some(info));
    }
    let options = WriteOptions::default();
    assert!(client.kv().delete_lob_with(&key("/small"), &options).unwrap());
    assert!(!client.kv().delete_lob_with(&key("/small"), &options).unwrap());
    assert!(client.kv().lob_info(&key("/small")).unwrap().is_none());
}

#[test]
fn a_writer_that_is_dropped_leaves_what_a_later_one_goes_on_from() {
    let server = Running::new();
    let client = server.client();
    let bytes = bytes_of(3_500_000);
    let options = LobOptions::default();
    assert!(client.kv().resume_lob(&key("/a"), &options).unwrap().is_none());
    let mut writer = client.kv().put_lob(&key("/a"), &options).unwrap();
    writer.append(&bytes[..3_400_000]).unwrap();
    drop(writer);
    let mut writer = client.kv().resume_lob(&key("/a"), &options).unwrap().unwrap();
    let stored = writer.position() as usize;
    assert!(stored.is_multiple_of(1 << 20) && stored < 3_400_000, "{stored}");
    writer.append(&bytes[stored..]).unwrap();
    writer.finish().unwrap();
    assert!(read(client.kv().get_lob(&key("/a")).unwrap().unwrap()) == bytes);
    let mut writer = client.kv().append_lob(&key("/a"), &options).unwrap();
    assert_eq!(writer.position(), 3_500_000);
    writer.append(b"more").unwrap();
    assert_eq!(writer.finish().unwrap().bytes, 3_500_004);
    let part = client.kv().get_lob_part(&key("/a"), 3_499_999, Some(3), &Default::default());
    assert_eq!(read(part.unwrap().unwrap()), [&bytes[3_499_999..], b"mo"].concat());
}

#[test]
fn a_writer_that_lost_its_key_to_another_one_hears_so() {
    let server = Running::new();
    let client = server.client();
    let mut first = client.kv().put_lob(&key("/a"), &LobOptions::default()).unwrap();
    let second = client.kv().put_lob(&key("/a"), &LobOptions::default()).unwrap();
    let bytes = bytes_of(3 << 20);
    let error = (0..20).find_map(|_| first.append(&bytes).err()).expect("it is refused");
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    second.finish().unwrap();
    let absent = LobOptions { condition: Condition::IfAbsent, ..LobOptions::default() };
    let error = client.kv().put_lob(&key("/a"), &absent).unwrap().finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
}

#[test]
fn many_objects_are_stored_side_by_side() {
    let server = Running::new();
    let client = server.client();
    let objects = (0..20).map(|n| -> tonnage::Result<LobSource> {
        Ok((key(&format!("/films/-/{n}")), Box::new(std::io::repeat(7).take(n * 1_000))))
    });
    let report = client.kv().put_lobs(objects, &LobOptions::default(), 4, &Cancel::new()).unwrap();
    assert_eq!((report.stored, report.bytes, report.failed), (20, 190_000, 0));
    let last = server.store.kv().lob_info(&key("/films/-/19")).unwrap().unwrap();
    assert_eq!(last.bytes, 19_000);
}
