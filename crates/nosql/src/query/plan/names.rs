//! What names in a statement mean.

use tonnage::TableSchema;

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
                match &base.kind {
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
                        "Error: {} the argument of {name} is no variable of a table",
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
        Ok(())
    }

    fn is_table(&self, name: &str) -> bool {
        self.alias().eq_ignore_ascii_case(name)
    }

    /// The name that the statement has for the table.
    pub(crate) fn alias(&self) -> &str {
        let path = self.table.name.rsplit([':', '.']).next().unwrap_or_default();
        self.table.alias.as_deref().unwrap_or(path)
    }

    fn column_or_row(&self, place: Place, name: &str) -> Outcome<ExprKind> {
        match row_field(self.schema, name) {
            Some(RowField::Column(column)) => Ok(ExprKind::Column(column)),
            // A row of a JSON collection may have a field of any name: the table comes first.
            _ if self.is_table(name) => Ok(ExprKind::Row),
            Some(RowField::Document(column)) => {
                let document = Expr::new(place, ExprKind::Column(column));
                let step = Step { place, kind: StepKind::Field(name.to_owned()) };
                Ok(ExprKind::Path(Box::new(document), vec![step]))
            }
            None => Err(no_column(place, name)),
        }
    }

    fn field(&self, place: Place, name: &str) -> Outcome<RowField> {
        row_field(self.schema, name).ok_or_else(|| no_column(place, name))
    }

    fn variable(&self, place: Place, name: &str) -> Outcome<ExprKind> {
        if let Some(at) = self.unnested.iter().position(|own| own == name) {
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
