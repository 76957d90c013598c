//! What names in a statement mean.

use tonnage::{ColumnType, TableSchema};

use super::static_types::{KnownTypes, check};
use crate::query::evaluate::{AGGREGATES, ROW_FUNCTIONS, check_call};
use crate::query::syntax::{Expr, ExprKind, Place, Step, StepKind, TableName, VariableDeclaration};
use crate::wire::{Failure, Outcome, RowField, row_field};

/// Variables that steps of paths bring along.
const STEP_VARIABLES: [&str; 5] = ["", "element", "pos", "key", "value"];

/// The names that a statement may use.
pub(crate) struct Names<'n> {
    pub(crate) schema: &'n TableSchema,
    pub(crate) table: &'n TableName,
    pub(crate) variables: &'n [VariableDeclaration],
    /// The variables of FROM, without their dollars.
    pub(crate) unnested: Vec<String>,
    /// The further tables of FROM.
    pub(crate) joined: Vec<JoinedName<'n>>,
}

/// A further table of FROM.
pub(crate) struct JoinedName<'n> {
    pub(crate) alias: &'n str,
    pub(crate) schema: &'n TableSchema,
    /// The position of its row among the items of FROM.
    pub(crate) slot: usize,
    /// Whether it must not be named for now.
    pub(crate) is_hidden: bool,
}

impl KnownTypes for Names<'_> {
    fn column_type(&self, column: usize) -> ColumnType {
        self.schema.columns[column].column_type
    }

    fn joined_type(&self, slot: usize, column: &str) -> Option<ColumnType> {
        let joined = self.joined.iter().find(|joined| joined.slot == slot)?;
        let at = joined.schema.column_index(column)?;
        Some(joined.schema.columns[at].column_type)
    }
}

impl Names<'_> {
    /// Replaces the names of an expression by what they mean.
    ///
    /// # Errors
    /// The first unknown name.
    pub(crate) fn find(&self, expr: &mut Expr) -> Outcome<()> {
        self.find_within(expr, false)
    }

    /// The same where `$` means an item.
    pub(crate) fn find_in_step(&self, expr: &mut Expr) -> Outcome<()> {
        self.find_within(expr, true)
    }

    fn find_within(&self, expr: &mut Expr, is_in_step: bool) -> Outcome<()> {
        match &mut expr.kind {
            ExprKind::Name(name) => expr.kind = self.column_or_row(expr.place, name)?,
            ExprKind::Variable(name) => {
                if !(is_in_step && STEP_VARIABLES.contains(&name.as_str())) {
                    expr.kind = self.variable(expr.place, name)?;
                }
            }
            ExprKind::Path(base, steps) => {
                // Before a point, the name of the table is none of a column.
                let slot = match &base.kind {
                    ExprKind::Name(name) if begins_with_field(steps) => self.slot(name),
                    _ => None,
                };
                if let Some(slot) = slot {
                    base.kind = ExprKind::Unnested(slot);
                }
                match &base.kind {
                    ExprKind::Unnested(_) => {}
                    // Before a point only a table is named.
                    ExprKind::Name(name) if begins_with_field(steps) && !self.is_table(name) => {
                        return Err(Failure::argument(format!(
                            "Error: {} There is no table with alias {name} in the FROM clause",
                            base.place
                        )));
                    }
                    ExprKind::Name(name) if self.is_table(name) && begins_with_field(steps) => {
                        base.kind = ExprKind::Row;
                    }
                    _ => self.find_within(base, is_in_step)?,
                }
                // A field of the row is a column: it is read without the others.
                if base.kind == ExprKind::Row
                    && let Some(Step { kind: StepKind::Field(name), .. }) = steps.first()
                {
                    match self.field(base.place, name)? {
                        RowField::Column(column) => {
                            base.kind = ExprKind::Column(column);
                            steps.remove(0);
                        }
                        RowField::Document(column) => base.kind = ExprKind::Column(column),
                    }
                }
                if let ExprKind::Unnested(slot) = base.kind
                    && let Some(Step { kind: StepKind::Field(name), .. }) = steps.first()
                    && let Some(joined) = self.joined.iter().find(|joined| joined.slot == slot)
                    && joined.schema.column_index(name).is_none()
                {
                    return Err(no_column(base.place, name));
                }
                let mut inner = |expr: &mut Expr| self.find_within(expr, true);
                steps.iter_mut().try_for_each(|step| step.kind.map_inner(&mut inner))?;
                // A field of a document is a path itself, which continues.
                if let ExprKind::Path(inner, first) = &mut base.kind {
                    steps.splice(0..0, std::mem::take(first));
                    let inner = std::mem::replace(&mut inner.kind, ExprKind::Row);
                    base.kind = inner;
                }
                if steps.is_empty() {
                    let base = std::mem::replace(&mut base.kind, ExprKind::Row);
                    expr.kind = base;
                }
            }
            ExprKind::Transform(input, mapper) => {
                self.find_within(input, is_in_step)?;
                self.find_within(mapper, true)?;
            }
            ExprKind::Call(name, arguments) => {
                check_call(expr.place, name, arguments.len())?;
                for argument in arguments.iter_mut() {
                    self.find_within(argument, is_in_step)?;
                }
                let is_of_row = ROW_FUNCTIONS.contains(&name.as_str());
                if is_of_row && arguments.first().map(|first| &first.kind) != Some(&ExprKind::Row) {
                    return Err(Failure::argument(format!(
                        "Error: {} the argument of {name} is not a variable of a table",
                        expr.place
                    )));
                }
            }
            ExprKind::Extract(unit, of) => {
                check_call(expr.place, unit, 1)?;
                self.find_within(of, is_in_step)?;
            }
            _ => expr.map_inner(&mut |inner| self.find_within(inner, is_in_step))?,
        }
        check(self, expr)
    }

    fn is_table(&self, name: &str) -> bool {
        self.alias().eq_ignore_ascii_case(name)
    }

    /// Whether one of the tables has that name.
    pub(crate) fn is_known_table(&self, name: &str) -> bool {
        let is_joined = self.joined.iter().any(|joined| joined.alias.eq_ignore_ascii_case(name));
        is_joined || self.is_table(name)
    }

    fn slot(&self, name: &str) -> Option<usize> {
        self.joined(name).map(|joined| joined.slot)
    }

    /// The further table of that name.
    fn joined(&self, name: &str) -> Option<&JoinedName<'_>> {
        let is_named =
            |joined: &&JoinedName<'_>| !joined.is_hidden && joined.alias.eq_ignore_ascii_case(name);
        self.joined.iter().find(is_named)
    }

    /// The name that the statement has for the table.
    pub(crate) fn alias(&self) -> &str {
        self.table.shown()
    }

    fn column_or_row(&self, place: Place, name: &str) -> Outcome<ExprKind> {
        let has_column = |joined: &&JoinedName<'_>| {
            !joined.is_hidden && joined.schema.column_index(name).is_some()
        };
        let mut joined = self.joined.iter().filter(has_column);
        match (row_field(self.schema, name), joined.next(), joined.next()) {
            (Some(RowField::Column(column)), None, _) => Ok(ExprKind::Column(column)),
            // A column of any table comes before a field of a document.
            (None | Some(RowField::Document(_)), Some(joined), None) => {
                let base = Expr::new(place, ExprKind::Unnested(joined.slot));
                let step = Step { place, kind: StepKind::Field(name.to_owned()) };
                Ok(ExprKind::Path(Box::new(base), vec![step]))
            }
            // A row of a JSON collection may have a field of any name: the table comes first.
            (_, None, _) if self.is_table(name) => Ok(ExprKind::Row),
            (own, None, _) => match (self.joined(name), own) {
                (Some(joined), _) => Ok(ExprKind::Unnested(joined.slot)),
                (None, Some(RowField::Document(column))) => {
                    let document = Expr::new(place, ExprKind::Column(column));
                    let step = Step { place, kind: StepKind::Field(name.to_owned()) };
                    Ok(ExprKind::Path(Box::new(document), vec![step]))
                }
                (None, _) => Err(no_column(place, name)),
            },
            _ => Err(Failure::argument(format!(
                "Error: {place} Several tables in the FROM clause have a column named {name}"
            ))),
        }
    }

    fn field(&self, place: Place, name: &str) -> Outcome<RowField> {
        row_field(self.schema, name).ok_or_else(|| no_column(place, name))
    }

    fn variable(&self, place: Place, name: &str) -> Outcome<ExprKind> {
        let is_hidden =
            |at: usize| self.joined.iter().any(|joined| joined.slot == at && joined.is_hidden);
        let unnested = self.unnested.iter().position(|own| own == name);
        if let Some(at) = unnested.filter(|at| !is_hidden(*at)) {
            return Ok(ExprKind::Unnested(at));
        }
        let is_bound = |variable: &VariableDeclaration| match name.starts_with('#') {
            true => variable.name == name,
            false => variable.name[1..] == *name && !variable.name.starts_with('#'),
        };
        if let Some(at) = self.variables.iter().position(is_bound) {
            return Ok(ExprKind::Bound(at));
        }
        match self.is_table(name) {
            true => Ok(ExprKind::Row),
            false => Err(Failure::argument(format!("Error: {place}  Unknown variable ${name}"))),
        }
    }

    /// The name of what an expression gives, where it has one.
    pub(crate) fn output_name(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Column(column) => Some(self.schema.columns[*column].name.clone()),
            ExprKind::Row => Some(self.alias().to_owned()),
            ExprKind::Unnested(at) => self.unnested.get(*at).cloned(),
            ExprKind::Bound(at) => {
                let name = self.variables.get(*at)?.name.as_str();
                Some(name.trim_start_matches('$').replace('#', "$"))
            }
            ExprKind::Path(_, steps) => match &steps.last()?.kind {
                StepKind::Field(name) => Some(name.clone()),
                _ => None,
            },
            _ => None,
        }
    }
}

fn begins_with_field(steps: &[Step]) -> bool {
    matches!(steps.first(), Some(Step { kind: StepKind::Field(_), .. }))
}

/// Whether an expression says something of a whole group.
pub(crate) fn is_aggregate(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::CountRows | ExprKind::CountDistinct(_) | ExprKind::Collect(..) => true,
        ExprKind::Call(name, _) => AGGREGATES.contains(&name.as_str()),
        _ => false,
    }
}

#[cold]
fn no_column(place: Place, name: &str) -> Failure {
    Failure::argument(format!(
        "Error: {place} No table in the FROM clause has a column named {name}"
    ))
}
