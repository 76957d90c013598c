use super::{Error, Rows, repaired};

#[test]
fn round_digits() {
    repaired("SELECT round(42.1::DOUBLE, 400)", Rows(&["NaN"]), Rows(&["42.1"]));
}

#[test]
fn array_positions() {
    repaired(
        "SELECT array_position([[1], NULL], CAST(NULL AS BIGINT[]))",
        Rows(&["NULL"]),
        Rows(&["2"]),
    );
}

#[test]
fn map_keys() {
    repaired(
        "SELECT MAP {1: 'a'}[CAST(1 AS INT)]",
        Error("Invalid comparison operation"),
        Rows(&["a"]),
    );
}
