//! What the columns of an answer say of their types, beside the types of Arrow.

use arrow::datatypes::SchemaRef;
use tonnage::ColumnType;
use tonnage_sql::Sql;

use super::session;

const UUID: &str = "arrow.uuid";

fn with_bytes() -> Sql {
    let sql = session();
    sql.execute("CREATE TABLE t (k LONG PRIMARY KEY, u UUID, b BINARY(16), \"Own\" UUID)").unwrap();
    sql.execute(
        r"INSERT INTO t VALUES (1, '00000000-0000-0000-0000-000000000001', '\x000102030405060708090a0b0c0d0e0f', NULL), (2, NULL, NULL, NULL)",
    )
    .unwrap();
    sql
}

#[track_caller]
fn columns(sql: &Sql, query: &str) -> SchemaRef {
    let batch = sql.execute(query).unwrap().into_rows().unwrap().into_batch().unwrap();
    assert!(batch.num_rows() > 0, "{query}");
    batch.schema()
}

/// Without the mark Python gives bytes for a UUID.
#[test]
fn expressions_of_uuids_are_marked_as_uuids() {
    let sql = with_bytes();
    for expression in [
        "u",
        "\"Own\"",
        "CAST(CAST(u AS STRING) AS UUID)",
        "'00000000-0000-0000-0000-000000000001'::UUID",
        "TRY_CAST('no' AS UUID)",
        "coalesce(u, \"Own\")",
        "CASE WHEN k = 1 THEN u ELSE NULL END",
        "nullif(u, \"Own\")",
        "greatest(u, \"Own\")",
        "(SELECT max(u) FROM t)",
        "max(u) OVER ()",
        "lag(u) OVER (ORDER BY k)",
        "first_value(u) OVER (ORDER BY k)",
        "uuid_of_cte",
    ] {
        let query = format!("SELECT {expression} AS x FROM (SELECT *, u AS uuid_of_cte FROM t)");
        let schema = columns(&sql, &query);
        assert_eq!(schema.field(0).extension_type_name(), Some(UUID), "{expression}");
    }
    for aggregate in ["max(u)", "min(u)", "any_value(u)", "first_value(u ORDER BY k)"] {
        let schema = columns(&sql, &format!("SELECT {aggregate} AS x FROM t GROUP BY k > 0"));
        assert_eq!(schema.field(0).extension_type_name(), Some(UUID), "{aggregate}");
    }
    let both = columns(&sql, "SELECT u FROM t UNION ALL SELECT coalesce(u, \"Own\") FROM t");
    assert_eq!(both.field(0).extension_type_name(), Some(UUID));
}

#[test]
fn expressions_of_16_bytes_are_no_uuids() {
    let sql = with_bytes();
    for query in [
        "SELECT b FROM t",
        "SELECT max(b) FROM t",
        "SELECT k, min(b) FROM t GROUP BY k",
        "SELECT coalesce(b, b) FROM t",
        "SELECT CASE WHEN k = 1 THEN b END FROM t",
        "SELECT nullif(b, b) FROM t",
        "SELECT greatest(b, b) FROM t",
        "SELECT lag(b) OVER (ORDER BY k) FROM t",
        "SELECT b FROM t UNION ALL SELECT coalesce(b, b) FROM t",
    ] {
        let schema = columns(&sql, query);
        let found = ColumnType::of_arrow(schema.fields().last().unwrap());
        assert_eq!(found, Some(ColumnType::FixedBinary(16)), "{query}");
    }
}
