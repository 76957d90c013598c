//! A table as JSON, for programs: as the protocol's own server writes it, space by space.

use serde_json::{Map, Value as Json, json};
use tonnage::{Column, ColumnType, Generated, TableSchema, Value};

use crate::wire::expiry::ttl_text;
use crate::wire::table_names::parts_of_path;

/// The JSON text of a table, which has that number in its store.
pub(crate) fn schema_json(schema: &TableSchema, number: u64) -> String {
    // The members are in the order in which clients of the protocol know them.
    let mut table = Map::new();
    table.insert("json_version".into(), 2.into());
    table.insert("type".into(), "table".into());
    let (namespace, _) = parts_of_path(&schema.path);
    if let Some(namespace) = namespace {
        table.insert("namespace".into(), namespace.into());
    }
    table.insert("name".into(), parts_of_path(schema.name()).1.into());
    if let Some(ttl_ms) = schema.ttl_ms {
        table.insert("ttl".into(), ttl_text(ttl_ms).into());
    }
    table.insert("id".into(), number.to_string().into());
    if let Some(parent) = schema.parent_path() {
        table.insert("parent".into(), parent.into());
    }
    // The column of the documents is not shown: its fields are those of the rows.
    if schema.collection_column().is_some() {
        table.insert("jsonCollection".into(), true.into());
    }
    let shown = schema.columns.iter().filter(|column| !column.is_collection);
    table.insert("fields".into(), shown.map(column_json).collect());
    let key: Vec<&str> = schema.key_columns().map(|column| column.name.as_str()).collect();
    table.insert("primaryKey".into(), json!(key));
    table.insert("shardKey".into(), json!(key[..schema.shard_key_len.min(key.len())]));
    if let Some(identity) = schema.columns.iter().find_map(identity_json) {
        table.insert("identity".into(), identity);
    }
    let mut text = String::new();
    write_json(&Json::Object(table), 0, &mut text);
    text
}

fn column_json(column: &Column) -> Json {
    let mut field = Map::new();
    field.insert("name".into(), column.name.as_str().into());
    let own = type_json(column.column_type);
    field.insert("type".into(), own.get("type").cloned().unwrap_or_default());
    field.insert("nullable".into(), column.nullable.into());
    if let Some(default) = &column.default {
        field.insert("default".into(), default_json(default));
    }
    // The rest of the type follows that.
    field.extend(own.into_iter().filter(|(name, _)| name != "type"));
    Json::Object(field)
}

fn type_json(column_type: ColumnType) -> Map<String, Json> {
    let mut own = Map::new();
    let name = match column_type {
        ColumnType::Integer => "INTEGER",
        ColumnType::Long => "LONG",
        ColumnType::Float => "FLOAT",
        ColumnType::Double => "DOUBLE",
        ColumnType::Number { .. } => "NUMBER",
        ColumnType::Boolean => "BOOLEAN",
        ColumnType::Binary => "BINARY",
        ColumnType::FixedBinary(_) => "FIXED_BINARY",
        ColumnType::Timestamp(_) => "TIMESTAMP",
        ColumnType::Json => "JSON",
        ColumnType::Enum(_) => "ENUM",
        ColumnType::Array(_) => "ARRAY",
        ColumnType::Map(_) => "MAP",
        ColumnType::Record(_) => "RECORD",
        // What the dialect has no name for is written as text.
        _ => "STRING",
    };
    own.insert("type".into(), name.into());
    match column_type {
        ColumnType::FixedBinary(width) => {
            own.insert("size".into(), width.into());
        }
        ColumnType::Timestamp(precision) => {
            own.insert("precision".into(), precision.into());
        }
        // A text with a form of its own.
        ColumnType::Uuid => {
            own.insert("asUuid".into(), true.into());
        }
        ColumnType::Enum(symbols) => {
            own.insert("symbols".into(), json!(symbols.symbols()));
        }
        ColumnType::Array(element) | ColumnType::Map(element) => {
            own.insert("collection".into(), Json::Object(type_json(element.column_type())));
        }
        ColumnType::Record(fields) => {
            let fields = fields.fields().iter().map(|field| {
                let mut own = Map::new();
                own.insert("name".into(), field.name.as_str().into());
                own.extend(type_json(field.column_type));
                Json::Object(own)
            });
            own.insert("fields".into(), fields.collect());
        }
        _ => {}
    }
    own
}

fn default_json(default: &Value) -> Json {
    match default {
        Value::Timestamp { .. } => format!("{default}Z").into(),
        other => other.to_json(),
    }
}

fn identity_json(column: &Column) -> Option<Json> {
    let identity = column.identity?;
    let (min, max) = match column.column_type {
        ColumnType::Integer => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    };
    let (min, max) = (identity.min.unwrap_or(min), identity.max.unwrap_or(max));
    Some(json!({
        "name": column.name,
        "always": identity.generated == Generated::Always,
        "null": identity.generated == Generated::ByDefaultOnNull,
        "sequence": {
            "start": identity.start,
            "increment": identity.increment,
            "min": identity.min.unwrap_or(min),
            "max": identity.max.unwrap_or(max),
            "cache": identity.cache,
            "cycle": identity.cycle,
        },
    }))
}

/// Members stand on lines of their own, elements of arrays do not.
fn write_json(value: &Json, depth: usize, out: &mut String) {
    match value {
        Json::Object(members) => {
            out.push('{');
            for (place, (name, member)) in members.iter().enumerate() {
                out.push_str(if place > 0 { ",\n" } else { "\n" });
                out.push_str(&"  ".repeat(depth + 1));
                out.push_str(&format!("{} : ", Json::from(name.as_str())));
                write_json(member, depth + 1, out);
            }
            out.push('\n');
            out.push_str(&"  ".repeat(depth));
            out.push('}');
        }
        Json::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                write_json(item, depth, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use tonnage::Store;

    use super::*;

    #[test]
    fn the_text_is_that_of_the_protocols_own_server() {
        let store = Store::open("memory:").unwrap();
        store
            .execute(
                "CREATE TABLE pr_new (id INTEGER, name STRING, PRIMARY KEY (id)) USING TTL 5 HOURS",
            )
            .unwrap();
        let told = schema_json(store.table("pr_new").unwrap().schema(), 943);
        let expected = "{\n  \"json_version\" : 2,\n  \"type\" : \"table\",\n  \"name\" : \"pr_new\",\n  \
             \"ttl\" : \"5 HOURS\",\n  \"id\" : \"943\",\n  \"fields\" : [{\n    \"name\" : \"id\",\n    \
             \"type\" : \"INTEGER\",\n    \"nullable\" : false\n  }, {\n    \"name\" : \"name\",\n    \
             \"type\" : \"STRING\",\n    \"nullable\" : true\n  }],\n  \"primaryKey\" : [\"id\"],\n  \
             \"shardKey\" : [\"id\"]\n}";
        assert_eq!(told, expected);
    }
}
