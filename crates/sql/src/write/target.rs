//! The table that a statement changes.

use datafusion::sql::sqlparser::tokenizer::{Location, TokenWithSpan};
use tonnage::{Result, Store, Table};

use super::tokens::{quoted, table_name, word};
use crate::errors::located;
use crate::text::{CATALOG, Cursor, SCHEMA};

/// The table that a statement changes, as the statement names it. Rights are asked for its path,
/// and the store is asked for the same.
pub(super) struct ChangeTarget {
    pub(super) path: String,
    place: Location,
    pub(super) alias: Option<String>,
}

impl ChangeTarget {
    /// Reads the path of a table. Catalog and schema may precede it: the planner knows these
    /// names, the store does not.
    pub(super) fn read(cursor: &mut Cursor) -> Result<Self> {
        let place = cursor.location();
        let Some(parts) = cursor.parts() else {
            return Err(cursor.expected("the name of a table"));
        };
        let is = |at: usize, name: &str| {
            parts.get(at).is_some_and(|part: &&str| part.eq_ignore_ascii_case(name))
        };
        // A table may itself be called `public`: the word is a schema only before another name.
        let own = match parts.len() {
            3.. if is(0, CATALOG) && is(1, SCHEMA) => &parts[2..],
            2.. if is(0, SCHEMA) => &parts[1..],
            _ => &parts[..],
        };
        Ok(Self { path: own.join("."), place, alias: None })
    }

    /// Reads `table [[AS] alias]`, up to a keyword.
    pub(super) fn with_alias(cursor: &mut Cursor, before: &str) -> Result<Self> {
        let target = Self::read(cursor)?;
        let is_said = cursor.word("AS");
        let ends = cursor.is_at_end() || cursor.is_word(before) || cursor.is_word("WHERE");
        if ends && !is_said {
            return Ok(target);
        }
        match cursor.name() {
            Some(name) => Ok(Self { alias: Some(name.to_ascii_lowercase()), ..target }),
            None => {
                Err(cursor.expected(if is_said { "another name for the table" } else { before }))
            }
        }
    }

    /// The table itself.
    ///
    /// # Errors
    /// `NotFound` with the position.
    pub(super) fn table(&self, store: &Store) -> Result<Table> {
        store.table(&self.path).map_err(|error| located(error, self.place))
    }

    /// The table for FROM, under its other name.
    pub(super) fn tokens(&self) -> Vec<TokenWithSpan> {
        let mut tokens = table_name(&self.path);
        tokens.extend(self.alias.iter().flat_map(|alias| [word("AS"), quoted(alias)]));
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::single;

    fn path(text: &str) -> String {
        let piece = single(text).unwrap();
        let mut cursor = Cursor::new(&piece);
        cursor.next();
        ChangeTarget::read(&mut cursor).unwrap().path
    }

    #[test]
    fn a_table_needs_no_catalog() {
        assert_eq!(path("UPDATE public.t SET a = 1"), "t");
        assert_eq!(path("UPDATE Tonnage.\"PUBLIC\".t.u SET a = 1"), "t.u");
        assert_eq!(path("UPDATE tonnage.public.\"a.b\" SET a = 1"), "a.b");
        assert_eq!(path("UPDATE a /* of */ . -- below\n b SET a = 1"), "a.b");
        assert_eq!(path("UPDATE public.a.b.c.d SET a = 1"), "a.b.c.d");
    }

    #[test]
    fn catalog_and_schema_are_names_of_tables_too() {
        assert_eq!(path("UPDATE public SET a = 1"), "public");
        assert_eq!(path("UPDATE \"public.t\" SET a = 1"), "public.t");
        assert_eq!(path("UPDATE tonnage.t SET a = 1"), "tonnage.t");
        assert_eq!(path("UPDATE tonnage.public SET a = 1"), "tonnage.public");
    }
}
