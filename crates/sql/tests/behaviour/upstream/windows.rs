use super::{Error, Rows, repaired};

#[test]
fn frame_accumulator() {
    repaired(
        "SELECT i, sum(x) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
         FROM (VALUES (1, 1e17::DOUBLE), (2, 1.0::DOUBLE), (3, 1.0::DOUBLE)) t(i, x)",
        Rows(&["1|1e17", "2|1e17", "3|0.0"]),
        Rows(&["1|1e17", "2|1e17", "3|2.0"]),
    );
}

#[test]
fn lag_lead() {
    repaired(
        "SELECT id, lead(v, 2) IGNORE NULLS OVER (ORDER BY id) FROM (VALUES
             (1, 10), (2, 20), (3, 30), (4, 40), (5, NULL), (6, NULL), (7, 70)) t(id, v)",
        Rows(&["1|30", "2|40", "3|NULL", "4|NULL", "5|NULL", "6|NULL", "7|NULL"]),
        Rows(&["1|30", "2|40", "3|70", "4|NULL", "5|NULL", "6|NULL", "7|NULL"]),
    );
}

#[test]
fn named_windows() {
    repaired(
        "SELECT k, count(*) OVER (w ORDER BY k) FROM (VALUES (1, 1), (2, 1), (3, 2)) t(k, g)
         WINDOW w AS (PARTITION BY g)",
        Rows(&["1|1", "2|2", "3|3"]),
        Rows(&["1|1", "2|2", "3|1"]),
    );
}

#[test]
fn window_frames() {
    repaired(
        "SELECT count(*) OVER (ORDER BY x) FROM (VALUES (TIME '01:00:00'), (TIME '02:00:00')) t(x)",
        Error("Cannot run range queries"),
        Rows(&["1", "2"]),
    );
}
