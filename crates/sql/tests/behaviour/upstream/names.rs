use super::{Error, Rows, repaired};

#[test]
fn ambiguous_names() {
    repaired(
        "SELECT o.k FROM (VALUES (9)) o(k)
         WHERE EXISTS (SELECT 1 FROM (VALUES (1)) a(k), (VALUES (2)) b(k) WHERE k = 9)",
        Rows(&["9"]),
        Error("ambiguous"),
    );
}

#[test]
fn columns_of_outer_tables() {
    repaired(
        "SELECT x.k FROM (VALUES (7)) x(k)
         WHERE EXISTS (SELECT 1 FROM (VALUES (1)) i(x) WHERE x.k = 7)",
        Error("Cannot access field"),
        Rows(&["7"]),
    );
}

#[test]
fn sorting_by_hidden_columns() {
    repaired(
        "SELECT x::INT FROM (VALUES (1)) t(x) ORDER BY x",
        Error("unique expression names"),
        Rows(&["1"]),
    );
}

#[test]
fn twin_names_of_queries() {
    repaired(
        "SELECT \"k:1\" FROM (SELECT * FROM (VALUES (1)) a(k), (VALUES (2)) b(k)) q",
        Rows(&["2"]),
        Error("k:1"),
    );
}
