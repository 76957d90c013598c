//! A member that a column cannot have, `t.notes.ship` of a STRING.
//!
//! The planner of DataFusion drops the errors of those that it asks for a name after a column, but
//! it reports a column that is not there. So such a name becomes a column that does not exist, and
//! the error about it is translated.

use datafusion::common::{Column, TableReference};

/// No name of a column holds a control character.
const SEPARATOR: &str = "\u{1}";

/// A name after a column without members.
pub(crate) struct MissingMember {
    pub(crate) column: String,
    /// As SQL calls it.
    pub(crate) column_type: String,
    /// The names after the column.
    pub(crate) names: Vec<String>,
}

impl MissingMember {
    /// A column that is in no table.
    pub(crate) fn to_column(&self, table: Option<&TableReference>) -> Column {
        let parts = [&self.column, &self.column_type].into_iter().chain(&self.names);
        let parts: Vec<&str> = parts.map(String::as_str).collect();
        Column::new(table.cloned(), parts.join(SEPARATOR))
    }

    /// What a column that is in no table was built from.
    pub(crate) fn of_column(column: &Column) -> Option<Self> {
        let mut parts = column.name.split(SEPARATOR).map(str::to_owned);
        let (column, column_type) = (parts.next()?, parts.next()?);
        Some(Self { column, column_type, names: parts.collect() })
    }

    /// What is wrong, and what to do.
    pub(crate) fn message(&self) -> String {
        let Self { column, column_type, names } = self;
        let steps: String =
            names.iter().map(|name| format!("->'{}'", name.replace('\'', "''"))).collect();
        format!(
            "{column} is {column_type} and has no members: make the column JSON, or write CAST({column} AS JSON){steps}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_column_names_its_member() {
        let member = MissingMember {
            column: "notes".to_owned(),
            column_type: "STRING".to_owned(),
            names: vec!["ship".to_owned(), "city".to_owned()],
        };
        let member = MissingMember::of_column(&member.to_column(None)).unwrap();
        assert_eq!(
            member.message(),
            "notes is STRING and has no members: make the column JSON, or write CAST(notes AS JSON)->'ship'->'city'"
        );
        assert!(MissingMember::of_column(&Column::new_unqualified("notes")).is_none());
    }
}
