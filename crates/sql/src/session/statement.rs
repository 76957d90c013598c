//! A statement, parsed once. Its type decides which tables it touches.

use datafusion::sql::sqlparser::ast;
use tonnage::{Result, Statement as Definition, Store};

use super::explain::ExplainStatement;
use super::session_statement::{ExecuteStatement, SessionStatement};
use super::show::ShowStatement;
use super::summary::{self, SummarizeStatement};
use super::table_access::{Access, Accesses, TableAccesses};
use super::transaction::TransactionStatement;
use crate::catalog::indexes;
use crate::statistics::AnalyzeStatement;
use crate::text::{Piece, StatementKind};
use crate::write::{CopyStatement, CreateTableAs, ViewStatement, WriteStatement};

/// A statement by its kind.
pub(crate) enum ParsedStatement {
    /// The planner parses it when it needs a plan: most queries are read directly.
    Query,
    Explain(ExplainStatement),
    View(ViewStatement),
    CreateTableAs(CreateTableAs),
    /// The store parses it.
    Definition,
    Show(ShowStatement),
    /// DESCRIBE of a query.
    DescribeQuery(Box<ast::Statement>),
    Summarize(SummarizeStatement),
    Write(WriteStatement),
    Analyze(AnalyzeStatement),
    Copy(CopyStatement),
    /// A session that is shared refuses all of these, so what is wrong with one is said later.
    Session(Result<SessionStatement>),
    Transaction(TransactionStatement),
    Execute(ExecuteStatement),
}

impl ParsedStatement {
    /// Reads a statement.
    ///
    /// # Errors
    /// `Invalid` for text that is not a statement, with the position.
    pub(crate) fn read(piece: &Piece) -> Result<Self> {
        // Without an arm for the rest: a new kind must say here what it is.
        Ok(match piece.kind {
            StatementKind::Query => Self::Query,
            StatementKind::Explain => Self::Explain(ExplainStatement::read(piece)?),
            // The store parses all other definitions, and reports their errors.
            StatementKind::Definition => match ViewStatement::read(piece)? {
                Some(view) => Self::View(view),
                None => CreateTableAs::read(piece)?.map_or(Self::Definition, Self::CreateTableAs),
            },
            StatementKind::Describe => match summary::described_query(piece) {
                Some(query) => Self::DescribeQuery(Box::new(query.parse()?)),
                None => Self::Show(ShowStatement::read(piece)?),
            },
            StatementKind::Show => Self::Show(ShowStatement::read(piece)?),
            StatementKind::Summarize => Self::Summarize(SummarizeStatement::read(piece)?),
            StatementKind::Insert
            | StatementKind::Upsert
            | StatementKind::Update
            | StatementKind::Delete
            | StatementKind::Truncate
            | StatementKind::Merge => {
                let unknown = || crate::text::unknown(piece);
                Self::Write(WriteStatement::read(piece)?.ok_or_else(unknown)?)
            }
            StatementKind::Analyze => Self::Analyze(AnalyzeStatement::read(piece)?),
            StatementKind::Copy => Self::Copy(CopyStatement::read(piece)?),
            StatementKind::Session => Self::Session(SessionStatement::read(piece)),
            StatementKind::Transaction => Self::Transaction(TransactionStatement::read(piece)?),
            StatementKind::Execute => Self::Execute(ExecuteStatement::read(piece)?),
            StatementKind::Unknown => return Err(crate::text::unknown(piece)),
        })
    }

    /// Finds what only the parser finds wrong.
    pub(crate) fn check(&self, piece: &Piece) -> Result<()> {
        match self {
            Self::Query => piece.parse().map(drop),
            Self::Write(write) | Self::Explain(ExplainStatement::Write(_, write)) => write.check(),
            Self::Session(session) => session.as_ref().map(drop).map_err(|error| error.restated()),
            Self::Explain(ExplainStatement::Query { .. })
            | Self::View(_)
            | Self::CreateTableAs(_)
            | Self::Definition
            | Self::Show(_)
            | Self::DescribeQuery(_)
            | Self::Summarize(_)
            | Self::Analyze(_)
            | Self::Copy(_)
            | Self::Transaction(_)
            | Self::Execute(_) => Ok(()),
        }
    }

    /// What the statement touches; `text` is the whole text that it is a part of.
    pub(crate) fn accesses(&self, store: &Store, piece: &Piece, text: &str) -> Result<Accesses> {
        // Without an arm for the rest: a new kind must say here which rights it takes.
        Ok(Accesses::Tables(match self {
            Self::Query => TableAccesses::of_query(&piece.parse()?),
            Self::Explain(explain) => explain.accesses()?,
            Self::Write(write) => write.accesses()?,
            Self::View(view) => view.accesses(),
            Self::CreateTableAs(create) => create.accesses(),
            Self::Definition => of_definitions(store, &piece.text(text))?,
            Self::Show(show) => return Ok(show.accesses()),
            Self::DescribeQuery(query) | Self::Summarize(SummarizeStatement { query, .. }) => {
                TableAccesses::of_query(query.as_ref())
            }
            Self::Analyze(analyze) => analyze.accesses(store),
            Self::Copy(copy) => copy.accesses(),
            Self::Session(_) | Self::Transaction(_) | Self::Execute(_) => {
                return Ok(Accesses::Session);
            }
        }))
    }
}

/// What definitions do, as the store reads them.
pub(super) fn of_definitions(store: &Store, text: &str) -> Result<TableAccesses> {
    let mut found = TableAccesses::default();
    for definition in tonnage::parse_ddl(text)? {
        // Without an arm for the rest: a new definition must say here what it touches.
        let path = match definition {
            Definition::CreateTable { definition, .. } => definition.path,
            Definition::CreateIndex { definition, .. } => definition.table,
            Definition::DropTable { path, .. }
            | Definition::AlterTable { path, .. }
            | Definition::DropIndex { table: Some(path), .. } => path,
            Definition::DropIndex { name, table: None, .. } => {
                // The name alone does not determine the table, so tables of all such indexes need
                // the grant.
                for index in indexes(store) {
                    if index.name().eq_ignore_ascii_case(&name) {
                        found.note(index.table_path(), Access::Define);
                    }
                }
                continue;
            }
            Definition::ShowTables => {
                found.note_information("tables");
                continue;
            }
            Definition::DescribeTable { path } => {
                found.note(&path, Access::Describe);
                continue;
            }
        };
        found.note(&path, Access::Define);
    }
    Ok(found)
}
