use super::{Error, Rows, repaired};

#[test]
fn aggregate_statistics() {
    repaired(
        "SELECT count(DISTINCT a), count(DISTINCT b) FROM (VALUES (1, 1), (2, 2)) t(a, b)
         WHERE a = 1 AND b = 2",
        Rows(&["1|1"]),
        Rows(&["0|0"]),
    );
}

#[test]
fn average() {
    let nine = "'9000000000000000000000000000000000000000000000000000000000000000000000000000'";
    let row = format!("(arrow_cast({nine}, 'Decimal256(76, 0)'))");
    let rows = vec![row; 8].join(", ");
    super::still_wrong(&format!("SELECT avg(x) < 0 FROM (VALUES {rows}) t(x)"), Rows(&["true"]));
}

#[test]
fn extreme_double() {
    repaired(
        "SELECT max(x), min(x) FROM (VALUES (1, 'NaN'::DOUBLE)) t(g, x) GROUP BY g",
        Rows(&["-1.7976931348623157e308|1.7976931348623157e308"]),
        Rows(&["NaN|NaN"]),
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

#[test]
fn groups_cut_early() {
    repaired(
        "SELECT DISTINCT x FROM (VALUES ('NaN'::DOUBLE), ('NaN'::DOUBLE), (1.0::DOUBLE)) t(x)
         ORDER BY x DESC LIMIT 2",
        Rows(&["NaN", "NaN"]),
        Rows(&["1.0", "NaN"]),
    );
}

#[test]
fn sort_keys_twice() {
    repaired(
        "SELECT array_agg(x ORDER BY x, x) FROM (VALUES (2), (1)) t(x)",
        Error("nothing"),
        Rows(&["[1, 2]"]),
    );
}
