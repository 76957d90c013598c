//! Describes a statement without running it: the columns of its answer, and its parameters.

use arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tonnage::{ColumnType, Error, Result, TableSchema};

use super::cached_query::CachedQuery;
use super::request::{Parameters, Request};
use super::sql::{Prepared, Sql};
use super::statement::ParsedStatement;
use super::statement_cache::CachedStatement;
use super::{show, summary};
use crate::access::declared_schema;
use crate::direct::DirectWork;
use crate::planner::ParameterTypes;
use crate::text::{Piece, with_location};
use crate::write::WriteStatement;

/// What a statement will give, and what it needs.
#[derive(Clone, Debug)]
pub struct Description {
    /// The columns of its answer; none for a statement that gives no rows.
    pub rows: Option<SchemaRef>,
    /// Whether it changes nothing, so that it may be carried out once more.
    pub reads_only: bool,
    /// `$1`, `$2` and so on: a field that may be NULL for each, of the type that its place in the
    /// statement asks for. Where any type would do it is text.
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
            ParsedStatement::ExplainWrite(..) => {
                (Some(show::row("write", "")?.schema()), ParameterTypes::new())
            }
            ParsedStatement::Explain => {
                let (rows, types) = self.planner().describe(query, parameters)?;
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
            | ParsedStatement::Session
            | ParsedStatement::Analyze(_)
            | ParsedStatement::Transaction(_)
            | ParsedStatement::Copy(_) => (None, ParameterTypes::new()),
            ParsedStatement::Execute => {
                return Err(Error::unsupported(
                    "EXECUTE gives what the prepared statement gives: describe that one",
                ));
            }
            ParsedStatement::Write(write) => {
                // Clauses are read one by one, so the parser may refuse what was taken for one.
                write.check()?;
                let planner = &self.planner();
                (
                    write.returned_schema(planner, parameters)?,
                    self.write_types(write, piece, parameters)?,
                )
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

    /// The types that the parameters of a statement that writes must have, where their places tell.
    fn write_types(
        &self,
        write: &WriteStatement,
        piece: &Piece,
        parameters: &Parameters,
    ) -> Result<ParameterTypes> {
        let planner = &self.planner();
        let mut types = ParameterTypes::new();
        let mut note = |name: &str, schema: &TableSchema, column: usize| {
            types.insert(name.to_owned(), schema.columns[column].to_arrow());
        };
        if let Some(insert) = write.insertion(planner)? {
            // A parameter that stands alone in VALUES gets the type of its column: planning would
            // find none.
            let source = match insert.source.body.as_ref() {
                ast::SetExpr::Values(values) => values,
                _ => return self.source_types(*insert.source, parameters),
            };
            for row in &source.rows {
                for (cell, name) in row.content.iter().zip(&insert.columns) {
                    if let ast::Expr::Value(value) = cell
                        && let ast::Value::Placeholder(placeholder) = &value.value
                    {
                        let schema = insert.table.schema();
                        note(placeholder, schema, schema.require_column(name)?);
                    }
                }
            }
            return Ok(types);
        }
        let Some(table) = write.changed_table(planner) else { return Ok(types) };
        // An UPDATE or DELETE is never planned as it stands, so the words beside a parameter tell
        // its column.
        for (name, column) in compared_columns(&piece.without_with().1.tokens) {
            if let Some(place) = table.schema().column_index(column) {
                note(name, table.schema(), place);
            }
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

fn is_word(token: Option<&TokenWithSpan>, wanted: &str) -> bool {
    matches!(token.map(|token| &token.token), Some(Token::Word(word))
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
}

/// Parameters behind LIMIT and OFFSET.
fn types_of_limits(tokens: &[TokenWithSpan]) -> impl Iterator<Item = (String, ColumnType)> + '_ {
    tokens.windows(2).filter_map(|pair| {
        let is_count = is_word(pair.first(), "LIMIT") || is_word(pair.first(), "OFFSET");
        let name = placeholder(pair.get(1))?;
        is_count.then(|| (name.to_owned(), ColumnType::Long))
    })
}

/// Parameters with the names of the columns that they are compared with, or written to.
fn compared_columns(tokens: &[TokenWithSpan]) -> Vec<(&str, &str)> {
    let name = |at: Option<usize>| match tokens.get(at?).map(|token| &token.token) {
        Some(Token::Word(word)) => Some(word.value.as_str()),
        _ => None,
    };
    let is_comparison = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at)).is_some_and(|token| {
            matches!(
                token.token,
                Token::Eq | Token::Neq | Token::Lt | Token::LtEq | Token::Gt | Token::GtEq
            )
        })
    };
    let column = |at: usize| {
        let before = |back: usize| at.checked_sub(back);
        let is =
            |back: usize, word: &str| before(back).is_some_and(|at| is_word(tokens.get(at), word));
        if is_comparison(before(1)) {
            return name(before(2));
        }
        if is_comparison(at.checked_add(1)) {
            return name(at.checked_add(2));
        }
        if is(1, "BETWEEN") {
            return name(before(2));
        }
        // An AND so near behind BETWEEN joins its two ends, not two conditions.
        if is(1, "AND") && is(3, "BETWEEN") {
            return name(before(4));
        }
        // A list: back over what stands before it, to the parenthesis.
        let mut start = at;
        while let Some(previous) = start.checked_sub(1)
            && (tokens[previous].token == Token::Comma
                || placeholder(tokens.get(previous)).is_some())
        {
            start = previous;
        }
        let opens = start.checked_sub(1).is_some_and(|at| tokens[at].token == Token::LParen);
        let is_list = opens && start.checked_sub(2).is_some_and(|at| is_word(tokens.get(at), "IN"));
        if is_list { name(start.checked_sub(3)) } else { None }
    };
    let places = (0..tokens.len()).filter_map(|at| Some((at, placeholder(tokens.get(at))?)));
    places.filter_map(|(at, name)| Some((name, column(at)?))).collect()
}
