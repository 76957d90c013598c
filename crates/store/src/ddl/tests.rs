//! What the language accepts and what it says of the rest.

use tonnage_engine::ErrorKind;

use super::{Statement, parse};
use crate::schema::{Change, ColumnDefinition, TableSchema};
use crate::schema::{
    ColumnType, ElementType, EnumSymbols, RecordField, RecordFields, TableDefinition,
};
use crate::value::Value;

const HOUR_MS: u64 = 3_600_000;

fn one(sql: &str) -> Statement {
    let mut statements = parse(sql).unwrap();
    assert_eq!(statements.len(), 1, "{sql}");
    statements.remove(0)
}

fn definition(sql: &str) -> TableDefinition {
    match one(sql) {
        Statement::CreateTable { definition, .. } => definition,
        other => panic!("{other:?}"),
    }
}

fn message(sql: &str) -> String {
    let error = parse(sql).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{sql}");
    error.message().to_owned()
}

#[test]
fn a_table_with_shard_key_defaults_and_ttl() {
    let table = definition(
        "-- the shop
         create table if not exists phones (
            maker STRING, price INT, id BIGINT, /* stock */ stock INTEGER NOT NULL DEFAULT -1, note VARCHAR(20) DEFAULT 'it''s',
            PRIMARY KEY (SHARD(maker), price, id)
         ) USING TTL 3 DAYS;",
    );
    assert_eq!(table.key, ["maker", "price", "id"]);
    assert_eq!(table.shard_key_len, Some(1));
    assert_eq!(table.ttl_ms, Some(72 * HOUR_MS));
    let stock = ColumnDefinition {
        nullable: false,
        default: Some(Value::Integer(-1)),
        ..ColumnDefinition::new("stock", ColumnType::Integer)
    };
    assert_eq!(table.columns[3], stock);
    assert_eq!(table.columns[4].default, Some(Value::from("it's")));
}

#[test]
fn a_primary_key_without_shard_leaves_the_shard_key_open() {
    let table = definition("CREATE TABLE a.b (x LONG, y LONG, PRIMARY KEY (x, y))");
    assert_eq!((table.path.as_str(), table.shard_key_len), ("a.b", None));
    assert_eq!(definition("CREATE TABLE t (x LONG PRIMARY KEY, y UUID)").key, ["x"]);
}

/// `-+5` was -5, though `+-5` was refused.
#[test]
fn a_number_has_one_sign_at_most() {
    let table = |number: &str| {
        format!("CREATE TABLE t (k LONG, v INTEGER DEFAULT {number}, PRIMARY KEY (k))")
    };
    for (number, value) in [("5", 5), ("+5", 5), ("-5", -5)] {
        let default = definition(&table(number)).columns.remove(1).default;
        assert_eq!(default, Some(Value::Integer(value)));
    }
    for number in ["-+5", "+-5", "++5"] {
        assert!(message(&table(number)).contains("expected a literal"), "{number}");
    }
}

fn element(column_type: ColumnType) -> ElementType {
    ElementType::new(column_type).unwrap()
}

fn array(column_type: ColumnType) -> ColumnType {
    ColumnType::Array(element(column_type))
}

#[test]
fn types_that_are_none_are_refused_at_their_place() {
    let in_table =
        |text: &str| message(&format!("CREATE TABLE t (c {text}, k LONG, PRIMARY KEY (k))"));
    for (text, what) in [
        ("BINARY(0)", "BINARY takes a length of 1 to 65,535 bytes"),
        ("BINARY(70000)", "is not a length of 1 to 65,535 bytes"),
        ("ENUM()", "expected a symbol"),
        ("ENUM(a, b, a)", "'a' occurs twice"),
        ("ENUM('')", "must have 1 to 128 bytes"),
        ("RECORD(a INT, A LONG)", "'A' occurs twice"),
        ("ARRAY", "expected '('"),
        ("MAP(STRINGS)", "unknown type STRINGS"),
    ] {
        let message = in_table(text);
        assert!(message.contains(what) && message.starts_with("line 1"), "{text}: {message}");
    }
    let deep = format!("{}INT{}", "ARRAY(".repeat(17), ")".repeat(17));
    assert!(in_table(&deep).contains("at most 16 deep"));
    let deeper = format!("{}INT{}", "ARRAY(".repeat(70), ")".repeat(70));
    assert!(in_table(&deeper).contains("too deep"));
}

#[test]
fn every_type_and_its_synonyms() {
    let cases = [
        ("INTEGER", ColumnType::Integer),
        ("int", ColumnType::Integer),
        ("LONG", ColumnType::Long),
        ("BIGINT", ColumnType::Long),
        ("FLOAT", ColumnType::Float),
        ("DOUBLE", ColumnType::Double),
        ("DOUBLE PRECISION", ColumnType::Double),
        ("NUMBER", ColumnType::NUMBER),
        ("DECIMAL(10, 2)", ColumnType::Number { precision: 10, scale: 2 }),
        ("NUMBER(10)", ColumnType::Number { precision: 10, scale: 0 }),
        ("STRING", ColumnType::String),
        ("TEXT", ColumnType::String),
        ("VARCHAR(30)", ColumnType::String),
        ("BOOLEAN", ColumnType::Boolean),
        ("BOOL", ColumnType::Boolean),
        ("BINARY", ColumnType::Binary),
        ("BLOB", ColumnType::Binary),
        ("VARBINARY(16)", ColumnType::Binary),
        ("BINARY(16)", ColumnType::FixedBinary(16)),
        ("DATE", ColumnType::Date),
        ("ARRAY(MAP(DATE))", array(ColumnType::Map(element(ColumnType::Date)))),
        ("array(enum(a, 'b c'))", array(ColumnType::Enum(EnumSymbols::new(["a", "b c"]).unwrap()))),
        (
            "RECORD(a INT, \"b c\" ARRAY(STRING))",
            ColumnType::Record(
                RecordFields::new(vec![
                    RecordField { name: "a".into(), column_type: ColumnType::Integer },
                    RecordField { name: "b c".into(), column_type: array(ColumnType::String) },
                ])
                .unwrap(),
            ),
        ),
        ("TIME", ColumnType::Time),
        ("TIME(6)", ColumnType::Time),
        ("TIMESTAMP", ColumnType::Timestamp(6)),
        ("TIMESTAMP(0)", ColumnType::Timestamp(0)),
        ("UUID", ColumnType::Uuid),
        ("JSON", ColumnType::Json),
    ];
    for (text, column_type) in cases {
        let table = definition(&format!("CREATE TABLE t (c {text}, k LONG, PRIMARY KEY (k))"));
        assert_eq!(table.columns[0].column_type, column_type, "{text}");
        let again =
            definition(&format!("CREATE TABLE t (c {column_type}, k LONG, PRIMARY KEY (k))"));
        assert_eq!(again.columns[0].column_type, column_type, "{column_type}");
    }
}

#[test]
fn names_in_quotes_may_hold_anything_but_points() {
    let table = definition(
        r#"CREATE TABLE "my table" ("sensor (C)" DOUBLE, "primary" LONG, PRIMARY KEY ("primary"))"#,
    );
    assert_eq!(table.path, "my table");
    assert_eq!(table.columns[0].name, "sensor (C)");
    assert_eq!(table.key, ["primary"]);
    assert!(message(r#"CREATE TABLE "a.b" (x LONG, PRIMARY KEY (x))"#).contains("point"));
}

#[test]
fn several_statements() {
    let statements =
        parse(";DROP TABLE IF EXISTS a.b; show tables;; DESCRIBE TABLE a ; DROP TABLE c;").unwrap();
    let expected = [
        Statement::DropTable { path: "a.b".into(), if_exists: true },
        Statement::ShowTables,
        Statement::DescribeTable { path: "a".into() },
        Statement::DropTable { path: "c".into(), if_exists: false },
    ];
    assert_eq!(statements, expected);
    assert_eq!(parse(" -- nothing\n").unwrap(), []);
}

#[test]
fn alter_table_in_all_its_forms() {
    let add = |name: &str| Change::AddColumn(ColumnDefinition::new(name, ColumnType::Long));
    let drop = |name: &str| Change::DropColumn(name.into());
    for (sql, changes) in [
        ("ALTER TABLE t ADD COLUMN x LONG", vec![add("x")]),
        ("ALTER TABLE t ADD x LONG", vec![add("x")]),
        ("ALTER TABLE t DROP COLUMN x", vec![drop("x")]),
        ("ALTER TABLE t (ADD x LONG, DROP y)", vec![add("x"), drop("y")]),
        ("ALTER TABLE t USING TTL 5 HOURS", vec![Change::SetTtl(Some(5 * HOUR_MS))]),
        ("ALTER TABLE t USING TTL 0 DAYS", vec![Change::SetTtl(None)]),
    ] {
        assert_eq!(one(sql), Statement::AlterTable { path: "t".into(), changes }, "{sql}");
    }
}

#[test]
fn mistakes_name_their_place() {
    for (sql, place, what) in [
        (
            "CREATE TABLE t (\n  x LONGISH, PRIMARY KEY (x))",
            "line 2, column 5",
            "unknown type LONGISH",
        ),
        ("CREATE TABLE t (x LONG PRIMARY KEY", "line 1, column 35", "',' or ')', found the end"),
        ("CREATE TABLE t (x LONG, PRIMARY KEY (x)) nonsense", "line 1, column 42", "nonsense"),
        (
            "CREATE TABLE t (x INTEGER DEFAULT 3000000000, PRIMARY KEY (x))",
            "line 1, column 35",
            "-2147483648 to 2147483647",
        ),
        ("CREATE TABLE t (x NUMBER(77, 2))", "line 1, column 26", "precision of 1 to 76"),
        ("CREATE TABLE t (x TIMESTAMP(12))", "line 1, column 29", "0 to 9"),
        (
            "CREATE TABLE t (x LONG PRIMARY KEY, PRIMARY KEY (x))",
            "line 1, column 37",
            "more than one PRIMARY KEY",
        ),
        ("CREATE TABLE t (x STRING DEFAULT 5)", "line 1, column 34", "single quotes"),
        ("CREATE TABLE t (x STRING DEFAULT 'abc)", "line 1, column 34", "Unterminated"),
        ("FROB TABLE t", "line 1, column 1", "CREATE TABLE"),
    ] {
        let message = message(sql);
        assert!(message.contains(place) && message.contains(what), "{sql}: {message}");
    }
}

/// The text in `/*! */` was executed, as MySQL does.
#[test]
fn a_comment_is_a_comment_whatever_it_begins_with() {
    let sql = "CREATE TABLE t (k LONG, /*! x LONG, */ PRIMARY KEY (k)); /*! DROP TABLE u */";
    let names: Vec<_> = definition(sql).columns.into_iter().map(|column| column.name).collect();
    assert_eq!(names, ["k"]);
}

#[test]
fn queries_are_sent_where_they_are_answered() {
    let error = parse("SHOW TABLES; SELECT 1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("tonnage-sql"), "{error}");
}

#[test]
fn a_table_printed_as_ddl_reads_back_as_the_same_table() {
    for sql in [
        "CREATE TABLE phones (maker STRING, price INTEGER, \"a \"\"b\" NUMBER(9, 2) NOT NULL DEFAULT -1.5, PRIMARY KEY (SHARD(maker), price)) USING TTL 36 HOURS",
        "CREATE TABLE t (a LONG, b TIMESTAMP(3) DEFAULT '2022-01-03T06:00:00.5', c BOOLEAN DEFAULT true, d JSON DEFAULT '{\"x\": 1}', e DOUBLE DEFAULT 2.5, PRIMARY KEY (a))",
    ] {
        let schema = TableSchema::define(&definition(sql), None, 0).unwrap();
        let again = TableSchema::define(&definition(&schema.to_ddl()), None, 0).unwrap();
        assert_eq!(schema, again, "{}", schema.to_ddl());
    }
}

#[test]
fn a_type_reads_back_as_it_is_printed() {
    for text in ["LONG", "TIMESTAMP(3)", "NUMBER(10, 2)", "BINARY(4)", "DATE", "ARRAY(STRING)"] {
        assert_eq!(text.parse::<ColumnType>().unwrap().to_string(), text);
    }
    for text in ["", "LNG", "LONG LONG", "TIMESTAMP(12)"] {
        let error = text.parse::<ColumnType>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}: {error}");
    }
}

#[test]
fn a_json_collection_has_a_column_for_all_other_fields() {
    let sql = "CREATE TABLE c (id LONG, document JSON COLLECTION, PRIMARY KEY (id))";
    let schema = TableSchema::define(&definition(sql), None, 0).unwrap();
    assert_eq!(schema.collection_column(), Some(1));
    let document = &schema.columns[1];
    assert!(!document.nullable && document.default == Some(Value::Json("{}".into())));
    let again = TableSchema::define(&definition(&schema.to_ddl()), None, 0).unwrap();
    assert_eq!(again, schema);
    for (columns, part) in [
        ("d STRING COLLECTION", "a COLLECTION is of type JSON"),
        ("d JSON COLLECTION DEFAULT '[]'", "leave DEFAULT out"),
        ("d JSON COLLECTION, e JSON COLLECTION", "columns 'd' and 'e' are both COLLECTION"),
    ] {
        let sql = format!("CREATE TABLE c (id LONG, {columns}, PRIMARY KEY (id))");
        let error = TableSchema::define(&definition(&sql), None, 0).unwrap_err();
        assert!(error.message().contains(part), "{sql}: {error}");
    }
    let added =
        ColumnDefinition { is_collection: true, ..ColumnDefinition::new("late", ColumnType::Json) };
    let error = schema.alter(&[Change::AddColumn(added)]).unwrap_err();
    assert!(error.message().contains("make a new table"), "{error}");
}
