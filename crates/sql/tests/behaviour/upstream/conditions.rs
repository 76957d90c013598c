use super::{Error, Rows, repaired, still_wrong};

#[test]
fn merged_lists() {
    repaired(
        "SELECT x NOT IN (1, 5) OR x NOT IN (2, 6) FROM (VALUES (3), (NULL)) t(x)",
        Rows(&["true", "true"]),
        Rows(&["NULL", "true"]),
    );
}

#[test]
fn swapped_bounds() {
    repaired(
        "SELECT x FROM (VALUES (5), (6)) t(x) WHERE x >= 2 + 3 AND 2 + 3 < x",
        Rows(&["5", "6"]),
        Rows(&["6"]),
    );
}

/// One draw in five falls there; of two draws that count as one, more than one in three.
#[test]
fn between_of_random() {
    still_wrong(
        "SELECT count(*) > 2800 FROM generate_series(1, 10000) WHERE random() BETWEEN 0.4 AND 0.6",
        Rows(&["true"]),
    );
}

/// The last value is never NULL, so nothing is.
#[test]
fn coalesce_of_random() {
    still_wrong(
        "SELECT count(*) > 50 FROM (
             SELECT coalesce(nullif(round(random()), 0), nullif(5.0, value + 10.5)) AS x
             FROM generate_series(1, 1000)) WHERE x IS NULL",
        Rows(&["true"]),
    );
}

#[test]
fn patterns() {
    repaired(
        r"SELECT s FROM (VALUES ('ac'), ('a\c')) t(s) WHERE s ~ 'a\\c'",
        Rows(&["ac"]),
        Rows(&[r"a\c"]),
    );
}

#[test]
fn similar() {
    repaired("SELECT 'abc' SIMILAR TO 'a%'", Rows(&["false"]), Rows(&["true"]));
}

#[test]
fn wide_comparisons() {
    repaired(
        "SELECT CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0)) > CAST('0.5' AS DECIMAL(2, 1))",
        Error("Overflowing"),
        Rows(&["true"]),
    );
}
