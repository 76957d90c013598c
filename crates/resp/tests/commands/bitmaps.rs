//! Bits.

use crate::common::Clients;

#[test]
fn bits_are_set_counted_found_and_combined() {
    Clients::new(1).expect(&[
        ("SETBIT a 7 1", ":0"),
        ("SETBIT a 7 0", ":1"),
        ("GETBIT a 7", ":0"),
        ("GETBIT a 1000", ":0"),
        ("SETBIT a 100 1", ":0"),
        ("STRLEN a", ":13"),
        ("SET b foobar", "+OK"),
        ("BITCOUNT b", ":26"),
        ("BITCOUNT b 1 1", ":6"),
        ("BITCOUNT b 5 30 BIT", ":17"),
        ("BITCOUNT nosuch", ":0"),
        ("BITPOS b 1", ":1"),
        ("BITPOS b 0 1", ":8"),
        ("SET c \"\\xff\\xf0\\x00\"", "+OK"),
        ("BITPOS c 0", ":12"),
        ("BITPOS c 1 2", ":-1"),
        ("BITPOS nosuch 0", ":0"),
        ("SET empty \"\"", "+OK"),
        ("BITPOS empty 0", ":-1"),
        ("BITPOS nosuch 1", ":-1"),
        ("SET x abc", "+OK"),
        ("SET y \"  \"", "+OK"),
        ("BITOP AND d x y", ":3"),
        ("GET d", "$3   \0"),
        ("BITOP XOR d x x", ":3"),
        ("BITCOUNT d", ":0"),
        ("BITOP NOT d x y", "-ERR BITOP NOT must be called with a single source key."),
        ("BITOP OR d nosuch", ":0"),
        ("EXISTS d", ":0"),
        ("SETBIT a x 1", "-ERR bit offset is not an integer or out of range"),
        ("SETBIT a 1 2", "-ERR bit is not an integer or out of range"),
        ("BITPOS a 2", "-ERR The bit argument must be 1 or 0."),
        ("BITCOUNT a 1", "-ERR syntax error"),
    ]);
}
