//! Values that cost next to nothing.

use tonnage_bench::generate::{ValueGenerator, mix};

#[test]
fn a_row_always_has_the_same_value() {
    let [first, second] = [ValueGenerator::new(100, 0.0), ValueGenerator::new(100, 0.0)];
    assert!((0..1000).all(|row| first.of(row) == second.of(row)));
    assert_ne!(first.of(1), first.of(2));
}

#[test]
fn neighbours_in_key_order_have_values_of_their_own() {
    let values = ValueGenerator::new(100, 0.0);
    let mut rows: Vec<u64> = (0..100_000).collect();
    rows.sort_unstable_by_key(|row| mix(*row));
    let start = |row: u64| values.of(row).as_ptr() as usize;
    let overlapping =
        rows.windows(2).filter(|pair| start(pair[0]).abs_diff(start(pair[1])) < 100).count();
    // Two slices drawn from a mebibyte overlap in 2 of 10,000 cases.
    assert!(overlapping < 60, "{overlapping}");
}

#[test]
fn values_have_their_length_and_are_printable() {
    for value_bytes in [0, 1, 100, 3 << 20] {
        let value = ValueGenerator::new(value_bytes, 0.3).of(42).to_vec();
        assert_eq!(value.len(), value_bytes);
        assert!(value.iter().all(|byte| (b' '..0x7f).contains(byte)), "{value_bytes}");
    }
}

#[test]
fn as_much_as_was_asked_for_is_compressible() {
    for compressible in [0.0, 0.25, 0.5, 1.0] {
        let values = ValueGenerator::new(1000, compressible);
        let equal = values.of(3).iter().filter(|&&byte| byte == b' ').count() as f64 / 1000.0;
        assert!((equal - compressible).abs() < 0.05, "{equal} at {compressible}");
    }
}
