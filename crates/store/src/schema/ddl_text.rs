//! Schemas as DDL text.

use std::fmt::Write;

use super::name::quoted_name;
use super::{Column, TableSchema};
use crate::schema::ColumnType;
use crate::value::Value;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

impl TableSchema {
    /// The statement that makes this table.
    pub fn to_ddl(&self) -> String {
        // Inherited key columns are left out: CREATE TABLE takes them from the parent.
        let path: Vec<_> = self.path.split('.').map(quoted_name).collect();
        let mut ddl = format!("CREATE TABLE {} (\n", path.join("."));
        for column in &self.columns[self.inherited_key_len()..] {
            ddl.push_str("  ");
            self.write_column(column, &mut ddl);
            ddl.push_str(",\n");
        }
        let own_key: Vec<_> = self
            .key_columns()
            .map(|column| quoted_name(&column.name))
            .skip(self.inherited_key_len())
            .collect();
        match own_key.split_at_checked(self.shard_key_len) {
            // SHARD is written only where it says more than its default, the whole key.
            Some((shard, minor)) if self.ancestors.is_empty() && !minor.is_empty() => {
                let _ = write!(
                    ddl,
                    "  PRIMARY KEY (SHARD({}), {})\n)",
                    shard.join(", "),
                    minor.join(", ")
                );
            }
            _ => {
                let _ = write!(ddl, "  PRIMARY KEY ({})\n)", own_key.join(", "));
            }
        }
        match self.ttl_ms {
            Some(ttl_ms) if ttl_ms % DAY_MS == 0 => {
                ddl.push_str(&format!(" USING TTL {} DAYS", ttl_ms / DAY_MS))
            }
            // DDL knows no unit below the hour: rounded up, so that no row expires too early.
            Some(ttl_ms) => ddl.push_str(&format!(" USING TTL {} HOURS", ttl_ms.div_ceil(HOUR_MS))),
            None => {}
        }
        ddl
    }

    fn write_column(&self, column: &Column, ddl: &mut String) {
        let _ = write!(ddl, "{} {}", quoted_name(&column.name), column.column_type);
        if column.is_collection {
            ddl.push_str(" COLLECTION");
            return;
        }
        let in_key = self.key_columns().any(|key| key.id == column.id);
        if let Some(identity) = &column.identity {
            let _ = write!(ddl, " {identity}");
        }
        if !column.nullable && !in_key && column.identity.is_none() {
            ddl.push_str(" NOT NULL");
        }
        if let Some(function) = &column.default_function {
            let _ = write!(ddl, " DEFAULT {function}");
        } else if let Some(default) = &column.default {
            let _ = write!(ddl, " DEFAULT {}", literal(default, column.column_type));
        }
    }
}

fn literal(value: &Value, column_type: ColumnType) -> String {
    let bare = matches!(
        column_type,
        ColumnType::Integer | ColumnType::Long | ColumnType::Number { .. } | ColumnType::Boolean
    );
    if bare { value.to_string() } else { format!("'{}'", value.to_string().replace('\'', "''")) }
}
