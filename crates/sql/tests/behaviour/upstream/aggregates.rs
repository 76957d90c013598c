use super::{Error, Rows, repaired, still_wrong};

#[test]
fn aggregate_statistics() {
    repaired(
        "SELECT count(DISTINCT a), count(DISTINCT b) FROM (VALUES (1, 1), (2, 2)) t(a, b)
         WHERE a = 1 AND b = 2",
        Rows(&["1|1"]),
        Rows(&["0|0"]),
    );
}

/// The mean fits: it has 72 digits before the point, and 4 after it.
#[test]
fn average() {
    still_wrong(
        "SELECT avg(x) FROM (SELECT arrow_cast('9' || repeat('0', 71), 'Decimal256(76, 0)') AS x
         FROM generate_series(1, 10))",
        Error("Arithmetic Overflow in AvgAccumulator"),
    );
}

#[test]
fn extreme_double() {
    repaired(
        "SELECT g, max(x), min(x)
         FROM (VALUES (1, 'Infinity'::DOUBLE), (2, '-Infinity'::DOUBLE)) t(g, x) GROUP BY g",
        Rows(&["1|inf|1.7976931348623157e308", "2|-1.7976931348623157e308|-inf"]),
        Rows(&["1|inf|inf", "2|-inf|-inf"]),
    );
}

#[test]
fn percentile() {
    repaired(
        "SELECT percentile_cont(0.00000025) WITHIN GROUP (ORDER BY x)
         FROM (VALUES (0.0::DOUBLE), (1.0::DOUBLE), (2.0::DOUBLE)) t(x)",
        Rows(&["0.0"]),
        Rows(&["5e-7"]),
    );
}

/// NaN is the greatest.
#[test]
fn groups_cut_early() {
    repaired(
        "SELECT g, max(x) AS m
         FROM (VALUES ('a', 'NaN'::DOUBLE), ('b', 1.0::DOUBLE), ('c', 2.0::DOUBLE)) t(g, x)
         GROUP BY g ORDER BY m DESC LIMIT 1",
        Rows(&["c|2.0"]),
        Rows(&["a|NaN"]),
    );
}
