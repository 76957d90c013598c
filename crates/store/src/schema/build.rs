//! Builds schemas: from a definition, or from a schema and its changes.

use std::sync::Arc;

use tonnage_engine::{Error, Result};

use super::name::check_name;
use super::{
    Ancestor, COLUMNS_MAX, Column, DEPTH_MAX, DefaultFunction, Identity, KEY_COLUMNS_MAX, Layout,
    NUMBER_DIGITS_MAX, TableSchema,
};
use crate::schema::ColumnType;
use crate::value::Value;

/// A table as someone asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDefinition {
    /// The full name, `phones.images` for a child table.
    pub path: String,
    /// The table's own columns, without the inherited key columns.
    pub columns: Vec<ColumnDefinition>,
    /// The table's own key columns, in key order.
    pub key: Vec<String>,
    /// How many of the leading key columns make the shard key; all without it. Child tables inherit
    /// theirs.
    pub shard_key_len: Option<usize>,
    /// How long rows live when their put does not say.
    pub ttl_ms: Option<u64>,
}

/// A column as someone asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub column_type: ColumnType,
    /// Whether it may be NULL; key columns never are, whatever this says.
    pub nullable: bool,
    /// What a row holds that does not name the column.
    pub default: Option<Value>,
    /// The function that computes it for each row, in place of `default`.
    pub default_function: Option<DefaultFunction>,
    /// How the store numbers rows in the column, if it does. A table has one such column at most.
    pub identity: Option<Identity>,
    /// Whether it holds the fields of a row that no other column has. A table has one such column
    /// at most; it is of type JSON, never NULL, and empty by default.
    pub is_collection: bool,
}

/// A change to a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A further column.
    AddColumn(ColumnDefinition),
    /// One column less.
    DropColumn(String),
    /// Another name for a column. No row is rewritten, and indexes go with it.
    RenameColumn {
        /// Its name.
        from: String,
        /// The name that it gets.
        to: String,
    },
    /// Another default for rows put from now on.
    SetDefault {
        /// The name of the column.
        name: String,
        /// The value as text; NULL without it.
        default: Option<String>,
    },
    /// A default computed for each row put from now on.
    SetDefaultFunction {
        /// The column.
        name: String,
        /// The function that computes it.
        function: DefaultFunction,
    },
    /// A column may be NULL from now on.
    DropNotNull(String),
    /// Another time to live for rows put from now on; none for ever.
    SetTtl(Option<u64>),
}

impl ColumnDefinition {
    /// A column that may be NULL.
    pub fn new(name: impl Into<String>, column_type: ColumnType) -> Self {
        Self {
            name: name.into(),
            column_type,
            nullable: true,
            default: None,
            default_function: None,
            identity: None,
            is_collection: false,
        }
    }
}

impl TableSchema {
    /// The schema of a new table: of a top-level one without a parent, else of a child of that
    /// parent. `table_id` is its number inside the space, 0 for a top-level table.
    ///
    /// # Errors
    /// `Invalid` for a definition that breaks a rule, naming the table and the rule.
    pub fn define(
        definition: &TableDefinition,
        parent: Option<&Arc<TableSchema>>,
        table_id: u32,
    ) -> Result<TableSchema> {
        let mut schema = TableSchema {
            path: definition.path.clone(),
            table_id,
            number: 1,
            columns: Vec::new(),
            key: Vec::new(),
            shard_key_len: 0,
            ancestors: Vec::new(),
            ttl_ms: definition.ttl_ms,
            next_column_id: 0,
            history: Vec::new(),
        };
        schema
            .try_define(definition, parent)
            .map_err(|error| error.at(format_args!("table {}", definition.path)))?;
        Ok(schema)
    }

    fn try_define(
        &mut self,
        definition: &TableDefinition,
        parent: Option<&Arc<TableSchema>>,
    ) -> Result<()> {
        for name in definition.path.split('.') {
            check_name(name, "table")?;
        }
        if definition.path.split('.').count() > DEPTH_MAX {
            return invalid(format!("a table can be at most {DEPTH_MAX} tables deep"));
        }
        if let Some(parent) = parent {
            self.inherit(parent);
        }
        for column in &definition.columns {
            self.push_column(column)?;
        }
        self.set_key(definition, parent)?;
        check_ttl(definition.ttl_ms)
    }

    /// Takes over the parent's whole primary key.
    fn inherit(&mut self, parent: &TableSchema) {
        for column in parent.key_columns() {
            let id = self.next_column_id;
            let column = Column { id, identity: None, default_function: None, ..column.clone() };
            self.next_column_id += 1;
            self.key.push(self.columns.len());
            self.columns.push(column);
        }
        self.shard_key_len = parent.shard_key_len;
        self.ancestors = parent.ancestors.clone();
        self.ancestors.push(Ancestor { table_id: parent.table_id, key_len: parent.key.len() });
    }

    fn push_column(&mut self, definition: &ColumnDefinition) -> Result<()> {
        check_name(&definition.name, "column")?;
        check_type(&definition.name, definition.column_type)?;
        if let Some(index) = self.column_index(&definition.name) {
            let whose = if index < self.inherited_key_len() {
                "a key column of the table above"
            } else {
                "another column"
            };
            return invalid(format!("column '{}' has the name of {whose}", definition.name));
        }
        // Numbers of columns are never given twice, so they may run out with few columns left.
        if self.columns.len() >= COLUMNS_MAX || self.next_column_id == u16::MAX {
            return invalid(format!("a table can have at most {COLUMNS_MAX} columns"));
        }
        let default = match definition.is_collection {
            true => Some(Value::Json("{}".to_owned())),
            false => default_of(definition)?,
        };
        let default_function = default_function_of(definition)?;
        self.check_identity(definition)?;
        self.check_collection(definition)?;
        self.columns.push(Column {
            id: self.next_column_id,
            name: definition.name.clone(),
            column_type: definition.column_type,
            // An identity column is NOT NULL whatever is declared: each row has its number.
            nullable: definition.nullable
                && definition.identity.is_none()
                && !definition.is_collection,
            default,
            default_function,
            identity: definition.identity.map(|own| own.bounded(definition.column_type)),
            is_collection: definition.is_collection,
        });
        self.next_column_id += 1;
        Ok(())
    }

    fn check_identity(&self, definition: &ColumnDefinition) -> Result<()> {
        let Some(identity) = &definition.identity else { return Ok(()) };
        let name = &definition.name;
        identity.check(name, definition.column_type)?;
        if let Some(other) = self.identity_column() {
            let other = &self.columns[other].name;
            return invalid(format!(
                "columns '{other}' and '{name}' are both IDENTITY: a table can have one"
            ));
        }
        if definition.default.is_some() || definition.default_function.is_some() {
            return invalid(format!("column '{name}' is an IDENTITY and cannot have a DEFAULT"));
        }
        Ok(())
    }

    fn check_collection(&self, definition: &ColumnDefinition) -> Result<()> {
        if !definition.is_collection {
            return Ok(());
        }
        let name = &definition.name;
        let type_name = definition.column_type;
        if type_name != ColumnType::Json {
            return invalid(format!(
                "column '{name}' is of type {type_name}: a COLLECTION is of type JSON"
            ));
        }
        if definition.default.is_some() || definition.default_function.is_some() {
            return invalid(format!(
                "column '{name}' is a COLLECTION, which is empty by default: leave DEFAULT out"
            ));
        }
        match self.collection_column() {
            Some(other) => invalid(format!(
                "columns '{}' and '{name}' are both COLLECTION: a table can have one",
                self.columns[other].name
            )),
            None => Ok(()),
        }
    }

    fn set_key(
        &mut self,
        definition: &TableDefinition,
        parent: Option<&Arc<TableSchema>>,
    ) -> Result<()> {
        if definition.key.is_empty() {
            return invalid("a table needs a PRIMARY KEY of at least one column");
        }
        // Inherited columns are in `self.key` already: they come first, and count towards the
        // limit.
        for name in &definition.key {
            let index = self.require_own_column(name)?;
            if self.key.contains(&index) {
                return invalid(format!("column '{name}' occurs twice in the PRIMARY KEY"));
            }
            let column_type = self.columns[index].column_type;
            if !column_type.has_order() {
                return invalid(format!(
                    "column '{name}' is of type {column_type}, which cannot be part of a PRIMARY KEY"
                ));
            }
            if self.columns[index].default.is_some() {
                return invalid(format!(
                    "column '{name}' is part of the PRIMARY KEY and cannot have a DEFAULT but uuid(), now() and the like"
                ));
            }
            // Whatever the definition says: no key holds a NULL.
            self.columns[index].nullable = false;
            self.key.push(index);
        }
        if self.key.len() > KEY_COLUMNS_MAX {
            return invalid(format!(
                "a PRIMARY KEY can have at most {KEY_COLUMNS_MAX} columns, inherited ones included"
            ));
        }
        match (parent, definition.shard_key_len) {
            (Some(parent), Some(_)) => invalid(format!(
                "a child table takes its shard key from {}: leave SHARD out",
                parent.root_path()
            )),
            (Some(_), None) => Ok(()),
            (None, Some(len)) if len == 0 || len > self.key.len() => {
                invalid("SHARD needs at least one column of the PRIMARY KEY")
            }
            (None, len) => {
                self.shard_key_len = len.unwrap_or(self.key.len());
                Ok(())
            }
        }
    }

    fn require_own_column(&self, name: &str) -> Result<usize> {
        let index = self.require_column(name).map_err(|_| {
            Error::invalid(format!("the PRIMARY KEY names column '{name}', which is not declared"))
        })?;
        if index < self.inherited_key_len() {
            return invalid(format!(
                "the PRIMARY KEY names column '{name}', which is inherited: name the table's own key columns only"
            ));
        }
        Ok(index)
    }

    /// The schema after changes.
    ///
    /// # Errors
    /// `Invalid` for a change that breaks a rule, naming the table and the rule.
    pub fn alter(&self, changes: &[Change]) -> Result<TableSchema> {
        let mut schema = self.clone();
        // Before the changes are applied: what one of them adds is new to the rows that are there.
        schema.history.push(self.layout());
        for change in changes {
            schema.apply(change).map_err(|error| error.at(format_args!("table {}", self.path)))?;
        }
        let nullable = |schema: &TableSchema| -> Vec<bool> {
            schema.value_columns().map(|index| schema.columns[index].nullable).collect()
        };
        // NULL takes a number of its own: who knows the column as NOT NULL sees by the number that
        // the row is newer, not damaged.
        let columns_change =
            schema.layout().columns != self.layout().columns || nullable(&schema) != nullable(self);
        if !columns_change {
            schema.history.pop();
            return Ok(schema);
        }
        schema.number = self.number.checked_add(1).ok_or_else(|| {
            Error::invalid(format!(
                "table {}: its columns were changed 65,535 times, which is the limit",
                self.path
            ))
        })?;
        Ok(schema)
    }

    fn apply(&mut self, change: &Change) -> Result<()> {
        match change {
            // Before the next arm: an IDENTITY may be NOT NULL too, and could not have the DEFAULT
            // that one asks for.
            Change::AddColumn(column) if column.is_collection => invalid(format!(
                "column '{}' cannot be a COLLECTION: a table is one from the start; make a new table",
                column.name
            )),
            Change::AddColumn(column) if column.identity.is_some() => invalid(format!(
                "column '{}' cannot be an IDENTITY: the rows that are there would have no number; make a new table",
                column.name
            )),
            Change::AddColumn(column)
                if !column.nullable
                    && column.default.as_ref().is_none_or(Value::is_null)
                    && column.default_function.is_none() =>
            {
                invalid(format!(
                    "column '{}' is NOT NULL and needs a DEFAULT for the rows that are there",
                    column.name
                ))
            }
            Change::AddColumn(column) => self.add_column(column),
            Change::DropColumn(name) => self.drop_column(name),
            Change::RenameColumn { from, to } => self.rename_column(from, to),
            Change::SetDefault { name, default } => self.set_default(name, default.as_deref()),
            Change::SetDefaultFunction { name, function } => {
                self.set_default_function(name, *function)
            }
            Change::DropNotNull(name) => self.drop_not_null(name),
            Change::SetTtl(ttl_ms) => {
                // Set before it is checked: after an error `alter` drops the whole copy.
                self.ttl_ms = *ttl_ms;
                check_ttl(*ttl_ms)
            }
        }
    }

    /// Rows from before the column show the time at which it was added.
    fn add_column(&mut self, definition: &ColumnDefinition) -> Result<()> {
        let Some(function) = default_function_of(definition)? else {
            return self.push_column(definition);
        };
        if !function.is_moment() {
            return invalid(format!(
                "column '{}' cannot have DEFAULT {function}: the rows that are there would all have the same; add the column without it, then ALTER COLUMN ... SET DEFAULT",
                definition.name
            ));
        }
        let default = Some(function.value(definition.column_type)?);
        self.push_column(&ColumnDefinition { default, ..definition.clone() })
    }

    fn changed_column(&self, name: &str) -> Result<usize> {
        self.column_index(name).ok_or_else(|| {
            let names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
            Error::invalid(format!(
                "there is no column '{name}'; the columns are {}",
                names.join(", ")
            ))
        })
    }

    fn rename_column(&mut self, from: &str, to: &str) -> Result<()> {
        check_name(to, "column")?;
        let index = self.changed_column(from)?;
        if index < self.inherited_key_len() {
            return invalid(format!(
                "column '{from}' is a key column of the table above: its name stays"
            ));
        }
        match self.column_index(to) {
            Some(other) if other != index => {
                invalid(format!("column '{to}' has the name of another column"))
            }
            _ => {
                self.columns[index].name = to.to_owned();
                Ok(())
            }
        }
    }

    fn set_default(&mut self, name: &str, default: Option<&str>) -> Result<()> {
        let index = self.changed_column(name)?;
        let column_type = self.columns[index].column_type;
        if self.is_key(index) && default.is_some() {
            return invalid(format!(
                "column '{name}' is part of the PRIMARY KEY and cannot have a DEFAULT but uuid(), now() and the like"
            ));
        }
        if self.columns[index].identity.is_some() {
            return invalid(format!("column '{name}' is an IDENTITY and cannot have a DEFAULT"));
        }
        if self.is_shown_by_earlier_rows(index) {
            return invalid(format!(
                "column '{name}' was added to rows that show its DEFAULT, which has to stay: add another column"
            ));
        }
        let default = default.map(|text| Value::parse(text, column_type)).transpose()?;
        let mut definition = ColumnDefinition::new(name, column_type);
        definition.default = default;
        self.columns[index].default = default_of(&definition)?;
        self.columns[index].default_function = None;
        Ok(())
    }

    fn set_default_function(&mut self, name: &str, function: DefaultFunction) -> Result<()> {
        let index = self.changed_column(name)?;
        if index < self.inherited_key_len() {
            return invalid(format!(
                "column '{name}' is a key column of the table above and cannot have a DEFAULT"
            ));
        }
        let column = &self.columns[index];
        if column.identity.is_some() {
            return invalid(format!("column '{name}' is an IDENTITY and cannot have a DEFAULT"));
        }
        let mut definition = ColumnDefinition::new(name, column.column_type);
        definition.default_function = Some(function);
        let function = default_function_of(&definition)?;
        if !self.is_shown_by_earlier_rows(index) {
            self.columns[index].default = None;
        }
        self.columns[index].default_function = function;
        Ok(())
    }

    /// Whether there may be rows from before a column: they show its default, which has to stay.
    fn is_shown_by_earlier_rows(&self, index: usize) -> bool {
        let id = self.columns[index].id;
        let knows = |layout: &Layout| layout.columns.iter().any(|column| column.id == id);
        !self.is_key(index) && !self.history.iter().all(knows)
    }

    fn drop_not_null(&mut self, name: &str) -> Result<()> {
        let index = self.changed_column(name)?;
        if self.is_key(index) || self.columns[index].identity.is_some() {
            return invalid(format!(
                "column '{name}' is a key or an IDENTITY, which is never NULL"
            ));
        }
        self.columns[index].nullable = true;
        Ok(())
    }

    fn drop_column(&mut self, name: &str) -> Result<()> {
        let index = self.changed_column(name)?;
        if self.is_key(index) {
            return invalid(format!(
                "column '{name}' is part of the PRIMARY KEY and cannot be dropped"
            ));
        }
        self.columns.remove(index);
        self.key.iter_mut().filter(|key| **key > index).for_each(|key| *key -= 1);
        Ok(())
    }
}

/// The default of a column in its own type.
fn default_of(definition: &ColumnDefinition) -> Result<Option<Value>> {
    let default =
        match &definition.default {
            None | Some(Value::Null) => None,
            Some(value) => Some(value.convert_to(definition.column_type).map_err(|error| {
                error.at(format_args!("DEFAULT of column '{}'", definition.name))
            })?),
        };
    if matches!(default, Some(Value::Double(value)) if !value.is_finite())
        || matches!(default, Some(Value::Float(value)) if !value.is_finite())
    {
        return invalid(format!("DEFAULT of column '{}' must be a finite number", definition.name));
    }
    Ok(default)
}

fn default_function_of(definition: &ColumnDefinition) -> Result<Option<DefaultFunction>> {
    let fitting = definition.default_function.map(|own| own.for_type(definition.column_type));
    fitting
        .transpose()
        .map_err(|error| error.at(format_args!("DEFAULT of column '{}'", definition.name)))
}

fn invalid<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::invalid(message))
}

fn check_type(name: &str, column_type: ColumnType) -> Result<()> {
    match column_type {
        ColumnType::Number { precision, scale }
            if !(1..=NUMBER_DIGITS_MAX).contains(&precision)
                || scale < 0
                || scale as u8 > precision =>
        {
            invalid(format!(
                "column '{name}': NUMBER takes a precision of 1 to {NUMBER_DIGITS_MAX} and a scale of 0 to the precision, not ({precision}, {scale})"
            ))
        }
        ColumnType::Timestamp(precision) if precision > 9 => invalid(format!(
            "column '{name}': TIMESTAMP takes a precision of 0 to 9, not {precision}"
        )),
        ColumnType::FixedBinary(0) => {
            invalid(format!("column '{name}': BINARY takes a length of 1 to 65,535 bytes, not 0"))
        }
        _ => Ok(()),
    }
}

/// A hundred thousand years, so that adding a time to live to the time now cannot overflow.
const TTL_MS_MAX: u64 = 100_000 * 366 * 24 * 3_600_000;

fn check_ttl(ttl_ms: Option<u64>) -> Result<()> {
    match ttl_ms {
        Some(0) => invalid(
            "a time to live of 0 would store nothing: leave TTL out for rows that live for ever",
        ),
        Some(ttl_ms) if ttl_ms > TTL_MS_MAX => {
            invalid("a time to live can be at most 100,000 years")
        }
        _ => Ok(()),
    }
}
