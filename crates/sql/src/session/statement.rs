//! A statement, parsed once: which tables it touches is decided by what is carried out.

use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use tonnage::{Error, Result, Statement as Definition, Store};

use super::show::{self, ShowStatement};
use super::summary;
use super::table_access::{Access, Accesses, TableAccesses};
use super::transaction::TransactionStatement;
use crate::catalog::indexes;
use crate::statistics::AnalyzeStatement;
use crate::text::{Piece, StatementKind};
use crate::write::{CopyStatement, CreateTableAs, ViewStatement, WriteStatement};

/// A statement by its kind. What it needs to be carried out stands beside the kind, but for the
/// tokens of those that the planner, the store or the session reads.
pub(crate) enum ParsedStatement {
    /// The planner parses it, or nobody if it is read directly.
    Query,
    /// EXPLAIN of a query.
    Explain,
    /// EXPLAIN, its options, and a statement that changes rows.
    ExplainWrite(Vec<TokenWithSpan>, WriteStatement),
    View(ViewStatement),
    CreateTableAs(CreateTableAs),
    /// The store parses it.
    Definition,
    Show(ShowStatement),
    /// DESCRIBE of a query.
    DescribeQuery(Piece),
    /// The query whose columns are summarized.
    Summarize(Piece),
    Write(WriteStatement),
    Analyze(AnalyzeStatement),
    Copy(CopyStatement),
    Session,
    Transaction(TransactionStatement),
    Execute,
}

impl ParsedStatement {
    /// Reads a statement.
    ///
    /// # Errors
    /// `Invalid` for what is no statement, with the place.
    pub(crate) fn read(piece: &Piece) -> Result<Self> {
        // Without an arm for the rest: a new kind must say here what it is.
        Ok(match piece.kind {
            StatementKind::Query => Self::Query,
            StatementKind::Explain => match show::explained_change(piece)? {
                Some((explain, change)) => match Self::read(&change)? {
                    Self::Write(write) => Self::ExplainWrite(explain.to_vec(), write),
                    _ => return Err(Error::internal("no change is explained")),
                },
                None => Self::Explain,
            },
            // What is neither a view nor filled by a query is left to the store, and its errors.
            StatementKind::Definition => match ViewStatement::read(piece)? {
                Some(view) => Self::View(view),
                None => CreateTableAs::read(piece)?.map_or(Self::Definition, Self::CreateTableAs),
            },
            StatementKind::Describe => match summary::described_query(piece) {
                Some(query) => Self::DescribeQuery(query),
                None => Self::Show(ShowStatement::read(piece)?),
            },
            StatementKind::Show => Self::Show(ShowStatement::read(piece)?),
            StatementKind::Summarize => Self::Summarize(summary::summarized_query(piece)?),
            StatementKind::Insert | StatementKind::Upsert => {
                Self::Write(WriteStatement::insert(piece)?)
            }
            StatementKind::Update => Self::Write(WriteStatement::update(piece)?),
            StatementKind::Delete => Self::Write(WriteStatement::delete(piece)?),
            StatementKind::Truncate => Self::Write(WriteStatement::truncate(piece)?),
            StatementKind::Merge => Self::Write(WriteStatement::merge(piece)?),
            StatementKind::Analyze => Self::Analyze(AnalyzeStatement::read(piece)?),
            StatementKind::Copy => Self::Copy(CopyStatement::read(piece)?),
            StatementKind::Session => Self::Session,
            StatementKind::Transaction => Self::Transaction(TransactionStatement::read(piece)?),
            StatementKind::Execute => Self::Execute,
            StatementKind::Unknown => return Err(crate::text::unknown(piece)),
        })
    }

    /// Whether the parser understands what it sees when the statement is carried out.
    pub(crate) fn check(&self, piece: &Piece) -> Result<()> {
        match self {
            Self::Query | Self::Explain | Self::Execute => piece.parse().map(drop),
            Self::Write(write) | Self::ExplainWrite(_, write) => write.check(),
            Self::DescribeQuery(query) | Self::Summarize(query) => query.parse().map(drop),
            Self::View(_)
            | Self::CreateTableAs(_)
            | Self::Definition
            | Self::Show(_)
            | Self::Analyze(_)
            | Self::Copy(_)
            | Self::Transaction(_)
            | Self::Session => Ok(()),
        }
    }

    /// What the statement touches; `text` is the whole text that it is a part of.
    pub(crate) fn accesses(&self, store: &Store, piece: &Piece, text: &str) -> Result<Accesses> {
        // Without an arm for the rest: a new kind must say here which rights it takes.
        Ok(match self {
            // The planner alone resolves their names, so what WITH gives is no table. A change finds
            // its own table whatever WITH gives.
            Self::Query | Self::Explain => {
                let mut found = TableAccesses::default();
                found.read_query(&piece.parse()?);
                Accesses::Tables(found)
            }
            Self::ExplainWrite(_, write) | Self::Write(write) => {
                Accesses::Tables(write.accesses()?)
            }
            Self::View(view) => Accesses::Tables(view.accesses()?),
            Self::CreateTableAs(create) => Accesses::Tables(create.accesses()?),
            Self::Definition => Accesses::Tables(of_definitions(store, &piece.text(text))?),
            Self::Show(show) => show.accesses(),
            Self::DescribeQuery(query) | Self::Summarize(query) => {
                let mut found = TableAccesses::default();
                found.read(&query.parse()?);
                Accesses::Tables(found)
            }
            Self::Analyze(analyze) => Accesses::Tables(analyze.accesses(store)),
            Self::Copy(copy) => Accesses::Tables(copy.accesses()?),
            Self::Session | Self::Transaction(_) | Self::Execute => Accesses::Session,
        })
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
                // The name alone does not tell the table, so tables of all such indexes need the
                // grant.
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
