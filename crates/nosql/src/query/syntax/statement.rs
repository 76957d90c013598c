//! Statements as trees.

use super::place::Place;
use super::tree::Expr;
use super::type_def::TypeKind;

/// A statement, and the variables that it declares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) variables: Vec<VariableDeclaration>,
    /// How many question marks it has.
    pub(crate) positional: usize,
    pub(crate) statement: Statement,
}

/// A variable that the client binds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VariableDeclaration {
    /// With its dollar.
    pub(crate) name: String,
    pub(crate) kind: TypeKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    Select(Box<Select>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
}

/// A table and the name that a statement gives to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TableName {
    pub(crate) place: Place,
    /// With its namespace, if that is given.
    pub(crate) name: String,
    /// Without its dollar.
    pub(crate) alias: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Select {
    pub(crate) list: SelectList,
    pub(crate) table: TableName,
    pub(crate) from: Vec<FromPart>,
    pub(crate) filter: Option<Expr>,
    pub(crate) groups: Vec<Expr>,
    pub(crate) order: Vec<SortKey>,
    pub(crate) limits: Limits,
}

/// What FROM has beside its first table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FromPart {
    /// Items that it makes of each row.
    Items(FromItem),
    /// Another table, after a comma.
    Inner(TableName),
    /// A table whose rows may be missing, by LEFT OUTER JOIN.
    Outer(JoinedTable),
    /// Tables above and below the one before, by NESTED TABLES. Their rows may be missing.
    Nested { ancestors: Vec<JoinedTable>, descendants: Vec<JoinedTable> },
}

/// A table, and the condition on its rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JoinedTable {
    pub(crate) table: TableName,
    pub(crate) on: Option<Expr>,
}

impl FromPart {
    /// The tables of it, in their order.
    pub(crate) fn tables(&self) -> Vec<&TableName> {
        match self {
            FromPart::Items(_) => Vec::new(),
            FromPart::Inner(table) => vec![table],
            FromPart::Outer(joined) => vec![&joined.table],
            FromPart::Nested { ancestors, descendants } => {
                ancestors.iter().chain(descendants).map(|joined| &joined.table).collect()
            }
        }
    }
}

impl TableName {
    /// The name that the statement has for the table.
    pub(crate) fn shown(&self) -> &str {
        let path = self.name.rsplit([':', '.']).next().unwrap_or_default();
        self.alias.as_deref().unwrap_or(path)
    }
}

/// Items that FROM makes of each row, and their variable without its dollar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FromItem {
    pub(crate) expr: Expr,
    pub(crate) variable: String,
    /// Whether a row without items is left out, too.
    pub(crate) is_unnest: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SelectList {
    pub(crate) place: Place,
    pub(crate) is_distinct: bool,
    /// Nothing means `*`.
    pub(crate) items: Option<Vec<SelectItem>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SelectItem {
    pub(crate) expr: Expr,
    pub(crate) alias: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SortKey {
    pub(crate) expr: Expr,
    pub(crate) is_descending: bool,
    /// Whether what is nothing comes first; as the direction says without it.
    pub(crate) nulls_first: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Limits {
    pub(crate) limit: Option<Expr>,
    pub(crate) offset: Option<Expr>,
}

/// INSERT and UPSERT.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Insert {
    pub(crate) place: Place,
    pub(crate) replaces: bool,
    pub(crate) table: TableName,
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) values: Vec<InsertValue>,
    pub(crate) ttl: Option<TtlValue>,
    pub(crate) returning: Option<SelectList>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum InsertValue {
    Default,
    Value(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Update {
    pub(crate) table: TableName,
    pub(crate) changes: Vec<Change>,
    pub(crate) ttl: Option<TtlValue>,
    pub(crate) filter: Expr,
    pub(crate) returning: Option<SelectList>,
}

/// A change of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// Replaces what the target gives.
    Set(Expr, Expr),
    /// Puts elements into arrays, at a position or after the last.
    Add(Expr, Option<Expr>, Expr),
    /// Puts members into maps.
    Put(Expr, Expr),
    /// Takes items out of arrays and maps.
    Remove(Expr),
    /// Merges a patch into a document.
    Merge(Expr, Expr),
}

/// How long a row is to live.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TtlValue {
    TableDefault,
    Of(Expr, TtlUnit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TtlUnit {
    Hours,
    Days,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Delete {
    pub(crate) table: TableName,
    pub(crate) filter: Option<Expr>,
    pub(crate) returning: Option<SelectList>,
}
