//! Describes a statement without running it: the columns of its answer, and its parameters.

use arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tonnage::{ColumnType, Error, Result};

use super::cached_query::CachedQuery;
use super::explain::ExplainStatement;
use super::request::{Parameters, Request};
use super::sql::{Prepared, Sql};
use super::statement::ParsedStatement;
use super::statement_cache::CachedStatement;
use super::{show, summary};
use crate::access::declared_schema;
use crate::direct::DirectWork;
use crate::planner::ParameterTypes;
use crate::text::{IsWord, with_location};
use crate::write::WriteStatement;

/// What a statement will give, and what it needs.
#[derive(Clone, Debug)]
pub struct Description {
    /// The columns of its answer; none for a statement that gives no rows.
    pub rows: Option<SchemaRef>,
    /// Whether it changes nothing, so that it may be carried out once more.
    pub reads_only: bool,
    /// `$1`, `$2` and so on: a field that may be NULL for each, of the type that its position in
    /// the statement asks for. Where any type would do it is text.
    pub parameters: Vec<Field>,
}

impl Sql {
    /// Describes a statement; of several, separated by semicolons, the last one, which reads only
    /// if all of them do. Parameters may have values or not.
    ///
    /// # Errors
    /// What carrying it out would say of the text, with line and column.
    pub fn describe(&self, request: impl Into<Request>) -> Result<Description> {
        let request = request.into();
        let statements = self.statements(&request.text)?;
        let mut last = None;
        for statement in statements.iter() {
            let described = self.describe_one(statement, &request.parameters)?;
            let reads_only = last.is_none_or(|last: Description| last.reads_only);
            last =
                Some(Description { reads_only: reads_only && described.reads_only, ..described });
        }
        last.ok_or_else(crate::text::missing_statement)
    }

    pub(crate) fn describe_one(
        &self,
        statement: &CachedStatement,
        parameters: &Parameters,
    ) -> Result<Description> {
        self.describe_unlocated(statement, parameters)
            .map_err(|error| with_location(error, statement.piece()))
    }

    fn describe_unlocated(
        &self,
        statement: &CachedStatement,
        parameters: &Parameters,
    ) -> Result<Description> {
        let (piece, query) = (statement.piece(), &statement.query);
        let count = parameter_count(&piece.tokens);
        let reads_only = piece.kind.reads_only();
        let (rows, types) = match statement.parsed()? {
            ParsedStatement::Query => self.describe_query(query, parameters, count)?,
            // It begins with a row that `write` makes: the planner does not know its columns.
            ParsedStatement::Explain(ExplainStatement::Write(..)) => {
                (Some(show::row("write", "")?.schema()), ParameterTypes::new())
            }
            ParsedStatement::Explain(ExplainStatement::Query { parsed, .. }) => {
                let parsed = parsed.as_ref().clone();
                let (rows, types) = self.planner().describe_statement(parsed, parameters)?;
                (Some(rows), types)
            }
            ParsedStatement::Show(show) => {
                (Some(self.show_rows(show)?.schema()), ParameterTypes::new())
            }
            ParsedStatement::DescribeQuery(query) => {
                let columns = summary::columns(&self.planner(), query)?;
                (Some(columns.schema()), ParameterTypes::new())
            }
            ParsedStatement::Summarize(_) => {
                (Some(summary::summary_schema()), ParameterTypes::new())
            }
            ParsedStatement::View(_)
            | ParsedStatement::CreateTableAs(_)
            | ParsedStatement::Definition
            | ParsedStatement::Session(_)
            | ParsedStatement::Analyze(_)
            | ParsedStatement::Transaction(_)
            | ParsedStatement::Copy(_) => (None, ParameterTypes::new()),
            ParsedStatement::Execute(_) => {
                return Err(Error::unsupported(
                    "EXECUTE gives what the prepared statement gives: describe that one",
                ));
            }
            ParsedStatement::Write(write) => {
                // Clauses are read one by one, so the parser may refuse what was taken for one.
                write.check()?;
                let planner = &self.planner();
                (write.returned_schema(planner, parameters)?, self.write_types(write, parameters)?)
            }
        };
        let parameters = (1..=count).map(|number| {
            let name = format!("${number}");
            match types.get(&name) {
                Some(field) => field.clone().with_name(name).with_nullable(true),
                None => Field::new(name, DataType::Utf8, true),
            }
        });
        Ok(Description { rows, reads_only, parameters: parameters.collect() })
    }

    fn describe_query(
        &self,
        statement: &CachedQuery,
        parameters: &Parameters,
        count: usize,
    ) -> Result<(Option<SchemaRef>, ParameterTypes)> {
        if parameters.holds(count)
            && let Some(direct) = self.direct(statement, parameters)?
        {
            let schema = match &direct.work {
                DirectWork::Rows(schema) => schema,
                DirectWork::Aggregates(work) => &work.schema,
            };
            return Ok((Some(declared_schema(schema)), ParameterTypes::new()));
        }
        let (rows, mut types) = self.planner().describe(statement, parameters)?;
        for (name, column_type) in types_of_limits(&statement.piece.tokens) {
            types.insert(name.clone(), column_type.to_arrow(&name, true));
        }
        Ok((Some(rows), types))
    }

    /// The types that the parameters of a statement that writes must have, as far as their
    /// positions say.
    fn write_types(
        &self,
        write: &WriteStatement,
        parameters: &Parameters,
    ) -> Result<ParameterTypes> {
        let planner = &self.planner();
        let mut types = ParameterTypes::new();
        if let Some(insert) = write.insertion(planner)? {
            // A parameter that is alone in VALUES gets the type of its column: planning would
            // find none.
            let source = match insert.source.body.as_ref() {
                ast::SetExpr::Values(values) => values,
                _ => return self.source_types(insert.source.into_owned(), parameters),
            };
            for row in &source.rows {
                for (cell, name) in row.content.iter().zip(&insert.columns) {
                    if let ast::Expr::Value(value) = cell
                        && let ast::Value::Placeholder(placeholder) = &value.value
                    {
                        let schema = insert.table.schema();
                        let column = &schema.columns[schema.require_column(name)?];
                        types.insert(placeholder.clone(), column.to_arrow());
                    }
                }
            }
            return Ok(types);
        }
        let Some((reading, assigned)) = write.reading()? else { return Ok(types) };
        let (_, mut types) = planner.describe_statement(reading, parameters)?;
        // A parameter that is alone after SET gets the type of its column: planning finds none.
        let Some(table) = write.changed_table(planner) else { return Ok(types) };
        for (name, column) in assigned {
            let column = table.schema().require_column(column)?;
            types.insert(name.to_owned(), table.schema().columns[column].to_arrow());
        }
        Ok(types)
    }

    fn source_types(&self, source: ast::Query, parameters: &Parameters) -> Result<ParameterTypes> {
        let planner = &self.planner();
        let parsed = ast::Statement::Query(Box::new(source));
        planner.describe_statement(parsed, parameters).map(|(_, types)| types)
    }
}

impl Prepared {
    /// Describes the statement, with the values of its parameters or without.
    ///
    /// # Errors
    /// As [`Sql::describe`].
    pub fn describe(&self, parameters: &Parameters) -> Result<Description> {
        self.sql.describe_one(&self.statement, parameters)
    }
}

/// The greatest number of a parameter.
pub(crate) fn parameter_count(tokens: &[TokenWithSpan]) -> usize {
    let number = |token: &TokenWithSpan| match &token.token {
        Token::Placeholder(name) => name.strip_prefix('$')?.parse().ok(),
        _ => None,
    };
    tokens.iter().filter_map(number).max().unwrap_or(0)
}

fn placeholder(token: Option<&TokenWithSpan>) -> Option<&str> {
    match token.map(|token| &token.token) {
        Some(Token::Placeholder(name)) => Some(name),
        _ => None,
    }
}

/// Parameters after LIMIT and OFFSET.
fn types_of_limits(tokens: &[TokenWithSpan]) -> impl Iterator<Item = (String, ColumnType)> + '_ {
    tokens.windows(2).filter_map(|pair| {
        let is_count = pair[0].is_one_of(&["LIMIT", "OFFSET"]);
        let name = placeholder(pair.get(1))?;
        is_count.then(|| (name.to_owned(), ColumnType::Long))
    })
}
