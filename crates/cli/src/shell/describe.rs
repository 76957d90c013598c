//! `\d` and `\di`: lists of tables, columns and indexes.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use tonnage::{Error, Result, Store, Table, TableSchema};

/// The tables of a store.
pub(super) fn tables(store: &Store) -> Result<RecordBatch> {
    let tables = store.tables();
    let of_each = |tell: &dyn Fn(&TableSchema) -> String| {
        tables.iter().map(|table| tell(table.schema())).collect()
    };
    let indexes =
        tables.iter().map(|table| Ok(table.indexes()?.len().to_string())).collect::<Result<_>>()?;
    grid([
        ("table", of_each(&|schema| schema.path.clone())),
        ("primary key", of_each(&key)),
        ("columns", of_each(&|schema| schema.columns.len().to_string())),
        ("indexes", indexes),
        ("time to live", of_each(&lifetime)),
    ])
}

/// Names of tables as rows.
pub(crate) fn names(tables: &[String]) -> Result<RecordBatch> {
    grid([("table", tables.to_vec())])
}

/// The columns of a table.
pub(crate) fn columns(schema: &TableSchema) -> Result<RecordBatch> {
    let of_each = |tell: &dyn Fn(usize) -> String| (0..schema.columns.len()).map(tell).collect();
    grid([
        ("column", of_each(&|at| schema.columns[at].name.clone())),
        ("type", of_each(&|at| schema.columns[at].column_type.to_string())),
        (
            "nullable",
            of_each(&|at| if schema.columns[at].nullable { "yes" } else { "no" }.to_owned()),
        ),
        ("key", of_each(&|at| key_part(schema, at).to_owned())),
        (
            "default",
            of_each(&|at| {
                schema.columns[at].default.as_ref().map(ToString::to_string).unwrap_or_default()
            }),
        ),
    ])
}

fn key_part(schema: &TableSchema, column: usize) -> &'static str {
    match schema.key_position(column) {
        Some(position) if position < schema.shard_key_len => "shard",
        Some(_) => "minor",
        None => "",
    }
}

/// What else there is to say of a table, a line for each.
pub(super) fn about(store: &Store, table: &Table) -> Result<String> {
    let schema = table.schema();
    let mut lines = vec![
        format!("primary key: {}", key(schema)),
        format!("time to live: {}", lifetime(schema)),
    ];
    lines.extend(schema.parent_path().map(|parent| format!("parent: {parent}")));
    for index in table.indexes()? {
        let state =
            if index.is_ready() { "" } else { ", not ready: carry out its CREATE INDEX again" };
        let columns: Vec<String> = index.columns().iter().map(ToString::to_string).collect();
        lines.push(format!("index: {} ({}){state}", index.name(), columns.join(", ")));
    }
    let is_child = |other: &Table| {
        other.schema().parent_path().is_some_and(|path| path.eq_ignore_ascii_case(&schema.path))
    };
    lines.extend(
        store
            .tables()
            .iter()
            .filter(|other| is_child(other))
            .map(|child| format!("child: {}", child.path())),
    );
    Ok(lines.join("\n"))
}

/// The indexes of all tables, or of one.
pub(super) fn indexes(store: &Store, path: Option<&str>) -> Result<RecordBatch> {
    let tables = match path {
        Some(path) => vec![store.table(path)?],
        None => store.tables(),
    };
    let mut rows: [Vec<String>; 4] = Default::default();
    for table in tables {
        for index in table.indexes()? {
            let columns: Vec<String> = index.columns().iter().map(ToString::to_string).collect();
            let state = if index.is_ready() { "ready" } else { "not ready" };
            let row = [
                index.name().to_owned(),
                table.path().to_owned(),
                columns.join(", "),
                state.to_owned(),
            ];
            rows.iter_mut().zip(row).for_each(|(column, text)| column.push(text));
        }
    }
    let [names, tables, columns, states] = rows;
    grid([("index", names), ("table", tables), ("columns", columns), ("state", states)])
}

/// The key as a definition would have it.
fn key(schema: &TableSchema) -> String {
    let names: Vec<&str> = schema.key_columns().map(|column| column.name.as_str()).collect();
    let (shard, minor) = names.split_at(schema.shard_key_len);
    let shard = format!("SHARD({})", shard.join(", "));
    std::iter::once(shard.as_str()).chain(minor.iter().copied()).collect::<Vec<_>>().join(", ")
}

fn lifetime(schema: &TableSchema) -> String {
    const HOUR: u64 = 3_600;
    let Some(ttl_ms) = schema.ttl_ms else { return "none".to_owned() };
    match Duration::from_millis(ttl_ms).as_secs() {
        seconds if seconds % (24 * HOUR) == 0 => format!("{} days", seconds / (24 * HOUR)),
        seconds if seconds % HOUR == 0 => format!("{} hours", seconds / HOUR),
        seconds => format!("{seconds} s"),
    }
}

fn grid<const N: usize>(columns: [(&str, Vec<String>); N]) -> Result<RecordBatch> {
    let columns =
        columns.map(|(name, texts)| (name, Arc::new(StringArray::from(texts)) as ArrayRef));
    RecordBatch::try_from_iter(columns)
        .map_err(|error| Error::internal(format!("the list cannot be made: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_told_with_everything_that_hangs_on_it() {
        let store = Store::open("memory:").unwrap();
        store
            .execute(
                "CREATE TABLE phones (maker STRING, price INTEGER, doc JSON, PRIMARY KEY (SHARD(maker), price)) USING TTL 36 HOURS;
                 CREATE TABLE phones.images (image LONG, PRIMARY KEY (image));
                 CREATE INDEX by_city ON phones (price, doc.city)",
            )
            .unwrap();
        let about_phones = about(&store, &store.table("phones").unwrap()).unwrap();
        let lines: Vec<&str> = about_phones.lines().collect();
        let told = [
            "primary key: SHARD(maker), price",
            "time to live: 36 hours",
            "index: by_city (price, doc.city)",
            "child: phones.images",
        ];
        assert_eq!(lines, told);
        let about_images = about(&store, &store.table("phones.images").unwrap()).unwrap();
        assert!(
            about_images.starts_with("primary key: SHARD(maker), price, image\n")
                && about_images.contains("parent: phones")
        );
        assert_eq!(indexes(&store, None).unwrap(), indexes(&store, Some("phones")).unwrap());
        assert_eq!(indexes(&store, Some("phones.images")).unwrap().num_rows(), 0);
        assert!(
            indexes(&store, Some("fones")).unwrap_err().message().contains("did you mean phones?")
        );
    }
}
