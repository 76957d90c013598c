//! Numbers that are scattered, and keys.

use tonnage_bench::generate::{fnv1a_64, mix, ordered_key, pair_key, ycsb_hash};

#[test]
fn mixing_gives_what_splitmix64_gives_and_no_number_twice() {
    assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
    let mut mixed: Vec<u64> = (0..1_000_000).map(mix).collect();
    mixed.sort_unstable();
    assert!(mixed.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn hashes_are_those_that_its_authors_publish() {
    for (text, hash) in [
        ("", 0xcbf2_9ce4_8422_2325),
        ("a", 0xaf63_dc4c_8601_ec8c),
        ("b", 0xaf63_df4c_8601_f1a5),
        ("foobar", 0x8594_4171_f739_67e8),
    ] {
        assert_eq!(fnv1a_64(text.as_bytes()), hash, "{text}");
    }
}

#[test]
fn hashes_of_numbers_are_those_in_the_keys_that_ycsb_loads_first() {
    let keys = [6_284_781_860_667_377_211, 8_517_097_267_634_966_620, 1_820_151_046_732_198_393];
    assert_eq!([0, 1, 2].map(ycsb_hash), keys);
}

#[test]
fn a_key_is_the_hexadecimal_number() {
    assert_eq!(&ordered_key(0x0123_4567_89ab_cdef), b"0123456789abcdef");
    assert_eq!(pair_key(7), *format!("{:016x}", mix(7)).as_bytes());
}
