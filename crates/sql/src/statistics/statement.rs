//! The ANALYZE statement, parsed.

use datafusion::sql::sqlparser::tokenizer::{Location, Token};
use tonnage::{Result, Store};

use super::stored::TABLE;
use crate::session::{Access, NamedTable, TableAccesses};
use crate::text::{Cursor, Piece};

/// `ANALYZE [VERBOSE] [table [(columns)], ...]`, or the same after `VACUUM [words]`.
pub(crate) struct AnalyzeStatement {
    /// The tables named; none for all that there are.
    pub(crate) tables: Vec<AnalyzeTarget>,
}

/// A table that is to be analysed.
pub(crate) struct AnalyzeTarget {
    pub(super) table: NamedTable,
    /// The columns named; none for all that there are.
    pub(super) columns: Vec<(String, Location)>,
}

impl AnalyzeStatement {
    pub(crate) fn read(piece: &Piece) -> Result<Self> {
        const OPTIONS: [&str; 5] = ["FULL", "FREEZE", "VERBOSE", "ANALYZE", "ANALYSE"];
        let mut cursor = Cursor::new(piece);
        cursor.next();
        if cursor.token(&Token::LParen) {
            while !matches!(cursor.next(), Some(Token::RParen) | None) {}
        }
        while OPTIONS.iter().any(|word| cursor.word(word)) {}
        let mut tables = Vec::new();
        while !cursor.is_at_end() {
            tables.push(table(&mut cursor)?);
            if !cursor.token(&Token::Comma) {
                cursor.end()?;
            } else if cursor.is_at_end() {
                return Err(cursor.expected("the name of a table"));
            }
        }
        Ok(Self { tables })
    }

    /// The tables that it touches. Who may not change a table may not change how it is read
    /// either.
    pub(crate) fn accesses(&self, store: &Store) -> TableAccesses {
        let mut paths: Vec<String> =
            self.tables.iter().map(|named| named.table.path.clone()).collect();
        if paths.is_empty() {
            let all = store.tables().into_iter().map(|table| table.path().to_owned());
            paths.extend(all.filter(|path| path != TABLE));
        }
        let mut found = TableAccesses::default();
        for path in &paths {
            found.note(path, Access::Read);
            found.note(path, Access::Define);
        }
        found
    }
}

fn table(cursor: &mut Cursor) -> Result<AnalyzeTarget> {
    let table = NamedTable::read(cursor)?;
    let columns = match cursor.peek() {
        Some(Token::LParen) => cursor.list(|cursor| {
            let place = cursor.location();
            Ok((cursor.expect_name("the name of a column")?.to_owned(), place))
        })?,
        _ => Vec::new(),
    };
    Ok(AnalyzeTarget { table, columns })
}
