//! Describes how a table differs from another definition of it.

use super::{Column, Identity, TableSchema};

impl TableSchema {
    /// The first thing in which this table is not as another definition has it, for a message.
    pub(crate) fn difference(&self, wanted: &TableSchema) -> Option<String> {
        // Columns are compared by name: their order is no difference. What is asked for and missing
        // comes first.
        for column in &wanted.columns {
            let Some(place) = self.column_index(&column.name) else {
                return Some(format!("it has no column '{}'", column.name));
            };
            let difference = self.columns[place].difference(column);
            if difference.is_some() {
                return difference;
            }
        }
        let further = |column: &&Column| wanted.column_index(&column.name).is_none();
        if let Some(column) = self.columns.iter().find(further) {
            return Some(format!("it has a column '{}' besides", column.name));
        }
        // By name: `key` holds indexes of columns, which differ where the columns are declared in
        // another order.
        let key = |schema: &TableSchema, len: usize| {
            let names = schema.key_columns().take(len).map(|column| column.name.as_str());
            names.collect::<Vec<_>>().join(", ")
        };
        for (what, of) in [
            ("primary key", [self.key.len(), wanted.key.len()]),
            ("shard key", [self.shard_key_len, wanted.shard_key_len]),
        ] {
            let [is, asked] = [key(self, of[0]), key(wanted, of[1])];
            if !is.eq_ignore_ascii_case(&asked) {
                return Some(format!("its {what} is ({is}), not ({asked})"));
            }
        }
        let ttl = |ttl: Option<u64>| ttl.map_or("for ever".into(), |ms| format!("{ms} ms"));
        (self.ttl_ms != wanted.ttl_ms)
            .then(|| format!("its rows live {}, not {}", ttl(self.ttl_ms), ttl(wanted.ttl_ms)))
    }
}

impl Column {
    fn difference(&self, wanted: &Column) -> Option<String> {
        // The caller has found the column by its name: another case of letters is no difference.
        let name = &self.name;
        if self.column_type != wanted.column_type {
            let [is, asked] = [&self.column_type, &wanted.column_type];
            return Some(format!("its column '{name}' is {is}, not {asked}"));
        }
        if self.nullable != wanted.nullable {
            let may = if self.nullable { "may be NULL" } else { "may not be NULL" };
            return Some(format!("its column '{name}' {may}"));
        }
        if self.is_collection != wanted.is_collection {
            let is = if self.is_collection { "is" } else { "is not" };
            return Some(format!("its column '{name}' {is} a COLLECTION"));
        }
        if self.identity != wanted.identity {
            let show = |identity: &Option<Identity>| {
                identity.as_ref().map_or("no IDENTITY".into(), Identity::to_string)
            };
            let [is, asked] = [show(&self.identity), show(&wanted.identity)];
            return Some(format!("its column '{name}' is {is}, not {asked}"));
        }
        let is_same = match self.default_function {
            // What rows from before the column show is not asked for.
            Some(function) => wanted.default_function == Some(function),
            None => wanted.default_function.is_none() && self.default == wanted.default,
        };
        let show = |column: &Column| column.default_text().unwrap_or_else(|| "none".into());
        (!is_same).then(|| {
            let [is, asked] = [show(self), show(wanted)];
            format!("the default of its column '{name}' is {is}, not {asked}")
        })
    }
}
