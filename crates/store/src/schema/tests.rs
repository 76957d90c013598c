//! The rules of tables.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, TimeUnit};
use tonnage_engine::{ErrorKind, KeyPart, KeyShape};

use super::{Change, ColumnDefinition, DefaultFunction, TableSchema};
use crate::ddl::{Statement, parse};
use crate::schema::{ColumnType, EnumSymbols, TableDefinition};
use crate::value::Value;

fn definition(sql: &str) -> TableDefinition {
    match parse(sql).unwrap().remove(0) {
        Statement::CreateTable { definition, .. } => definition,
        other => panic!("{other:?}"),
    }
}

fn phones() -> Arc<TableSchema> {
    let sql = "CREATE TABLE phones (name STRING, price INTEGER, maker STRING, PRIMARY KEY (SHARD(maker), price))";
    Arc::new(TableSchema::define(&definition(sql), None, 0).unwrap())
}

fn refused(sql: &str, parent: Option<&Arc<TableSchema>>) -> String {
    let error =
        TableSchema::define(&definition(sql), parent, u32::from(parent.is_some())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    error.message().to_owned()
}

#[test]
fn a_child_table_begins_with_the_whole_key_of_its_parent() {
    let images = TableSchema::define(
        &definition("CREATE TABLE phones.images (bytes BINARY, image LONG, PRIMARY KEY (image))"),
        Some(&phones()),
        1,
    )
    .unwrap();
    let names: Vec<_> = images.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["maker", "price", "bytes", "image"]);
    assert_eq!(
        (images.key.as_slice(), images.shard_key_len, images.inherited_key_len()),
        (&[0, 1, 3][..], 1, 2)
    );
    assert_eq!(
        (images.name(), images.parent_path(), images.root_path()),
        ("images", Some("phones"), "phones")
    );
    assert_eq!(images.key_shape(), phones().key_shape());
    assert!(
        images
            .columns
            .iter()
            .filter(|column| column.name != "bytes")
            .all(|column| !column.nullable)
    );
}

#[test]
fn the_shard_key_shapes_the_keys_of_a_space() {
    let table = TableSchema::define(
        &definition(
            "CREATE TABLE t (a LONG, b STRING, c UUID, d NUMBER, PRIMARY KEY (SHARD(a, b, c), d))",
        ),
        None,
        0,
    )
    .unwrap();
    assert_eq!(
        table.key_shape(),
        KeyShape::new([KeyPart::Fixed(8), KeyPart::Terminated, KeyPart::Fixed(16)])
    );
}

#[test]
fn definitions_that_break_a_rule_are_refused() {
    let phones = phones();
    for (sql, parent, what) in [
        ("CREATE TABLE t (a LONG)", None, "table t: a table needs a PRIMARY KEY"),
        ("CREATE TABLE t (a LONG, PRIMARY KEY (b))", None, "column 'b', which is not declared"),
        ("CREATE TABLE t (a LONG, PRIMARY KEY (a, A))", None, "twice"),
        ("CREATE TABLE t (a LONG, A LONG, PRIMARY KEY (a))", None, "name of another column"),
        (
            "CREATE TABLE t (a JSON, PRIMARY KEY (a))",
            None,
            "JSON, which cannot be part of a PRIMARY KEY",
        ),
        ("CREATE TABLE t (a LONG DEFAULT 1, PRIMARY KEY (a))", None, "cannot have a DEFAULT"),
        ("CREATE TABLE t (a LONG, b DOUBLE DEFAULT 'NaN', PRIMARY KEY (a))", None, "finite"),
        ("CREATE TABLE t (a LONG, PRIMARY KEY (a)) USING TTL 0 DAYS", None, "time to live of 0"),
        (
            "CREATE TABLE phones.x (a LONG, PRIMARY KEY (SHARD(a)))",
            Some(&phones),
            "takes its shard key from phones",
        ),
        (
            "CREATE TABLE phones.x (Maker LONG, PRIMARY KEY (maker))",
            Some(&phones),
            "name of a key column of the table above",
        ),
        (
            "CREATE TABLE phones.x (a LONG, PRIMARY KEY (maker))",
            Some(&phones),
            "'maker', which is inherited",
        ),
        ("CREATE TABLE phones.x (a LONG)", Some(&phones), "needs a PRIMARY KEY"),
    ] {
        let message = refused(sql, parent);
        assert!(message.contains(what), "{message} should say {what}");
    }
    let long = "x".repeat(129);
    assert!(
        refused(&format!("CREATE TABLE {long} (a LONG, PRIMARY KEY (a))"), None)
            .contains("longer than 128 bytes")
    );
}

#[test]
fn changes_keep_the_numbers_of_columns_apart() {
    let schema = phones();
    let column = |name: &str| Change::AddColumn(ColumnDefinition::new(name, ColumnType::Double));
    let changed = schema.alter(&[Change::DropColumn("NAME".into()), column("name")]).unwrap();
    assert_eq!(changed.number, 2);
    assert_eq!(changed.history, [schema.layout()]);
    assert_eq!(changed.columns.iter().map(|column| column.id).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(
        changed.key_columns().map(|column| column.name.as_str()).collect::<Vec<_>>(),
        ["maker", "price"]
    );
    let ttl = changed.alter(&[Change::SetTtl(Some(5))]).unwrap();
    assert_eq!((ttl.number, ttl.ttl_ms), (2, Some(5)), "a time to live changes no layout");
}

#[test]
fn another_name_or_default_changes_no_layout() {
    let schema = phones();
    let rename = Change::RenameColumn { from: "NAME".into(), to: "title".into() };
    let default = Change::SetDefault { name: "title".into(), default: Some("x".into()) };
    let changed = schema.alter(&[rename, default]).unwrap();
    assert_eq!((changed.number, changed.layout()), (1, schema.layout()));
    let title = &changed.columns[changed.column_index("title").unwrap()];
    assert_eq!(title.default, Some(Value::from("x")));
    assert!(changed.column_index("name").is_none());
}

/// Rows from before a column are read with its default.
#[test]
fn the_default_that_earlier_rows_show_stays() {
    let added = Change::AddColumn(ColumnDefinition {
        default: Some(Value::Long(1)),
        ..ColumnDefinition::new("added", ColumnType::Long)
    });
    let schema = phones().alter(&[added]).unwrap();
    let change = Change::SetDefault { name: "added".into(), default: None };
    let error = schema.alter(&[change]).unwrap_err();
    assert!(error.message().contains("show its DEFAULT, which has to stay"), "{error}");
}

/// The second change took away what the rows from before the first one show: where the column was
/// NOT NULL, the table could not be read any more.
#[test]
fn the_default_of_a_column_stays_that_the_same_statement_adds() {
    let added = Change::AddColumn(ColumnDefinition {
        nullable: false,
        default: Some(Value::Long(1)),
        ..ColumnDefinition::new("added", ColumnType::Long)
    });
    for default in [None, Some("2".into())] {
        let change = Change::SetDefault { name: "added".into(), default };
        let error = phones().alter(&[added.clone(), change]).unwrap_err();
        assert!(error.message().contains("show its DEFAULT, which has to stay"), "{error}");
    }
}

#[test]
fn a_moment_stays_in_earlier_rows_where_the_same_statement_sets_the_default_anew() {
    let function = DefaultFunction::Now;
    let added = Change::AddColumn(ColumnDefinition {
        nullable: false,
        default_function: Some(function),
        ..ColumnDefinition::new("added", ColumnType::Timestamp(3))
    });
    let change = Change::SetDefaultFunction { name: "added".into(), function };
    let schema = phones().alter(&[added, change]).unwrap();
    let added = schema.columns.iter().find(|column| column.name == "added").unwrap();
    assert!(added.default.is_some() && added.default_function == Some(function));
}

#[test]
fn changes_that_leave_the_columns_alone_leave_no_layout_behind() {
    let change = Change::SetTtl(Some(1_000));
    let schema = phones().alter(&[change]).unwrap();
    assert_eq!((schema.number, schema.history.len()), (1, 0));
}

/// The story of a bug: the number stayed, and who knew the table from before took a row with NULL
/// for damaged.
#[test]
fn a_column_that_may_be_null_from_now_on_takes_a_new_number() {
    let added = Change::AddColumn(ColumnDefinition {
        nullable: false,
        default: Some(Value::Long(1)),
        ..ColumnDefinition::new("n", ColumnType::Long)
    });
    let schema = phones().alter(&[added]).unwrap();
    let changed = schema.alter(&[Change::DropNotNull("n".into())]).unwrap();
    assert_eq!((schema.number, changed.number), (2, 3));
    assert_eq!(changed.layout().columns, schema.layout().columns, "rows keep their layout");
    let again = changed.alter(&[Change::DropNotNull("n".into())]).unwrap();
    assert_eq!((again.number, again.history), (3, changed.history));
}

#[test]
fn changes_that_break_a_rule_are_refused() {
    let not_null =
        ColumnDefinition { nullable: false, ..ColumnDefinition::new("x", ColumnType::Long) };
    for (change, what) in [
        (Change::AddColumn(not_null), "needs a DEFAULT"),
        (
            Change::AddColumn(ColumnDefinition::new("PRICE", ColumnType::Long)),
            "name of another column",
        ),
        (Change::DropColumn("price".into()), "part of the PRIMARY KEY"),
        (Change::DropNotNull("price".into()), "never NULL"),
        (
            Change::RenameColumn { from: "name".into(), to: "PRICE".into() },
            "name of another column",
        ),
        (
            Change::SetDefault { name: "price".into(), default: Some("1".into()) },
            "part of the PRIMARY KEY and cannot have a DEFAULT",
        ),
        (
            Change::DropColumn("x".into()),
            "table phones: there is no column 'x'; the columns are name, price, maker",
        ),
    ] {
        let error = phones().alter(&[change]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains(what), "{error} should say {what}");
    }
}

#[test]
fn every_column_type_is_found_again_from_its_arrow_field() {
    for column_type in [
        ColumnType::Integer,
        ColumnType::Long,
        ColumnType::Float,
        ColumnType::Double,
        ColumnType::NUMBER,
        ColumnType::String,
        ColumnType::Boolean,
        ColumnType::Binary,
        ColumnType::Timestamp(0),
        ColumnType::Timestamp(3),
        ColumnType::Timestamp(6),
        ColumnType::Timestamp(9),
        ColumnType::Uuid,
        ColumnType::Json,
        ColumnType::Date,
        ColumnType::Time,
        ColumnType::FixedBinary(4),
        ColumnType::FixedBinary(16),
        ColumnType::Enum(EnumSymbols::new(["red", "a\"b'"]).unwrap()),
        definition("CREATE TABLE t (c ARRAY(MAP(RECORD(a JSON, b ENUM(x, y)))))").columns[0]
            .column_type,
    ] {
        assert_eq!(ColumnType::of_arrow(&column_type.to_arrow("c", true)), Some(column_type));
    }
}

#[test]
fn foreign_arrow_types_are_given_a_type_that_holds_them() {
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::LargeUtf8));
    for (data_type, column_type) in [
        (DataType::UInt16, Some(ColumnType::Integer)),
        (DataType::UInt32, Some(ColumnType::Long)),
        (DataType::UInt64, Some(ColumnType::Number { precision: 20, scale: 0 })),
        (DataType::Date32, Some(ColumnType::Date)),
        (
            DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
            Some(ColumnType::Timestamp(9)),
        ),
        (DataType::FixedSizeBinary(4), Some(ColumnType::FixedBinary(4))),
        (DataType::FixedSizeBinary(16), Some(ColumnType::Uuid)),
        (DataType::Time32(TimeUnit::Second), Some(ColumnType::Time)),
        (dictionary, Some(ColumnType::String)),
        (DataType::Duration(TimeUnit::Second), None),
    ] {
        assert_eq!(
            ColumnType::of_arrow(&Field::new("c", data_type.clone(), true)),
            column_type,
            "{data_type}"
        );
    }
}
