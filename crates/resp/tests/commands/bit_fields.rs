//! BITFIELD and BITFIELD_RO.

use crate::common::{Clients, command};

#[test]
fn numbers_of_any_width_are_read_set_and_added_to() {
    Clients::new(1).expect(&[
        ("BITFIELD b SET u8 0 255 GET u8 0 GET i8 0", "*3 :0 :255 :-1"),
        ("BITFIELD b INCRBY u8 0 2 INCRBY u8 0 -2", "*2 :1 :255"),
        ("BITFIELD b SET u5 #1 7 GET u5 5 GET u4 3", "*3 :28 :7 :12"),
        ("BITFIELD b GET u63 1000", "*1 :0"),
        ("BITFIELD b SET i64 3 -2 GET i64 3 GET u1 3", "*3 :-3602879701896396800 :-2 :1"),
        ("STRLEN b", ":9"),
        ("BITFIELD nosuch", "*0"),
        ("BITFIELD nosuch GET u8 0", "*1 :0"),
        ("EXISTS nosuch", ":0"),
        ("BITFIELD_RO b GET i64 3 GET u1 66", "*2 :-2 :0"),
        ("BITFIELD_RO b SET u8 0 1", "-ERR BITFIELD_RO only supports the GET subcommand"),
    ]);
}

#[test]
fn what_finds_no_room_wraps_saturates_or_fails() {
    Clients::new(1).expect(&[
        ("BITFIELD b INCRBY u2 100 1 OVERFLOW SAT INCRBY u2 102 1", "*2 :1 :1"),
        ("BITFIELD b INCRBY u2 100 1 OVERFLOW SAT INCRBY u2 102 1", "*2 :2 :2"),
        ("BITFIELD b INCRBY u2 100 1 OVERFLOW SAT INCRBY u2 102 1", "*2 :3 :3"),
        ("BITFIELD b INCRBY u2 100 1 OVERFLOW SAT INCRBY u2 102 1", "*2 :0 :3"),
        ("BITFIELD b OVERFLOW FAIL INCRBY u2 102 1 GET u2 102", "*2 $-1 :3"),
        ("BITFIELD b OVERFLOW FAIL SET u2 102 4", "*1 $-1"),
        ("BITFIELD b OVERFLOW SAT SET i8 0 -200 GET i8 0", "*2 :0 :-128"),
        ("BITFIELD b OVERFLOW sat INCRBY i8 0 -1 SET u8 8 -1 GET u8 8", "*3 :-128 :0 :255"),
        (
            "BITFIELD b SET i64 0 9223372036854775807 INCRBY i64 0 1",
            "*2 :-9151595917793558528 :-9223372036854775808",
        ),
        // It grows even where all fails.
        ("BITFIELD c OVERFLOW FAIL SET u2 78 5", "*1 $-1"),
        ("STRLEN c", ":10"),
    ]);
}

#[test]
fn arguments_are_checked_as_in_redis() {
    let kind = "-ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not \
                supported but i64 is.";
    let offset = "-ERR bit offset is not an integer or out of range";
    Clients::new(1).expect(&[
        ("BITFIELD b GET u64 0", kind),
        ("BITFIELD b GET i65 0", kind),
        ("BITFIELD b GET x 0", kind),
        ("BITFIELD b GET u8 -1", offset),
        ("BITFIELD b GET u8 #x", offset),
        ("BITFIELD b GET u8 536870912000", offset),
        ("BITFIELD b SET u8 #9223372036854775807 1", offset),
        ("BITFIELD b SET u8 0 x", "-ERR value is not an integer or out of range"),
        ("BITFIELD b SET u8 0", "-ERR syntax error"),
        ("BITFIELD b WHAT u8 0", "-ERR syntax error"),
        ("BITFIELD b OVERFLOW never", "-ERR Invalid OVERFLOW type specified"),
        ("RPUSH l x", ":1"),
        ("BITFIELD l", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        (
            "BITFIELD l GET u8 0 SET u8 0 1",
            "-WRONGTYPE Operation against a key holding the wrong kind of value",
        ),
    ]);
}

#[test]
fn a_field_does_not_make_a_string_a_collection() {
    let mut clients = Clients::new(1);
    let almost = [&b"\xFE\0tonnage\0\xFD"[..], b"h....."].concat();
    clients.send(0, command(&[b"SET", b"k", &almost]));
    let answer = clients.ask("BITFIELD k SET u8 80 254");
    assert!(answer.starts_with("-ERR a string may not begin with"), "{answer}");
    clients.expect(&[("TYPE k", "+string"), ("BITFIELD k GET u8 80", "*1 :253")]);
}
