//! Which tables a statement touches, and how. A server checks grants by it before a statement runs.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{self, ObjectName, Query, SetExpr, TableFactor, Visit};
use tonnage::{Error, Result, Statement as Definition, Store};

use super::given_names::GivenNames;
use super::sql::Sql;
use super::{show, summary};
use crate::catalog::{INFORMATION_SCHEMA, indexes, path_of_parts};
use crate::statistics::{self, AnalyzeStatement};
use crate::text::{Cursor, Looker, Piece, StatementKind, walk, with_location};
use crate::write::ViewStatement;
use crate::{views, write};

/// What a statement does to a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Rows are read.
    Read,
    /// The table is described: its columns and its key, none of its rows.
    Describe,
    /// Rows are put in.
    Insert,
    /// Rows are changed.
    Update,
    /// Rows are deleted.
    Delete,
    /// The table is made, altered, dropped or indexed.
    Define,
}

/// A table with what is done to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableAccess {
    /// The path of the table, in lower case; it may name none.
    pub table: String,
    /// What is done to it.
    pub access: Access,
}

impl Sql {
    /// The tables that the statements of a text touch, without carrying them out. Names that WITH
    /// gives may be among them, but not where a query reads what WITH gives.
    ///
    /// # Errors
    /// `Invalid` for text that is no statement, with line and column.
    pub fn accesses(&self, text: &str) -> Result<Vec<TableAccess>> {
        let statements = self.statements(text)?;
        let mut accesses = Vec::new();
        for statement in statements.iter() {
            let piece = &statement.piece;
            of_piece(self.store(), piece, text, &mut accesses)
                .map_err(|error| with_location(error, piece))?;
        }
        self.read_by_views(&mut accesses)?;
        Ok(accesses)
    }

    /// The tables that definitions touch, read as [`Store::execute`] reads them: its words and
    /// quotes are not quite those of statements.
    ///
    /// # Errors
    /// `Invalid` for text that is no definition, with line and column.
    pub fn accesses_of_definitions(&self, text: &str) -> Result<Vec<TableAccess>> {
        let mut accesses = Vec::new();
        of_definitions(self.store(), text, &mut |path: String, access| {
            let table = path.to_ascii_lowercase();
            accesses.push(TableAccess { table, access });
        })?;
        Ok(accesses)
    }

    /// Adds the tables that views read.
    fn read_by_views(&self, accesses: &mut Vec<TableAccess>) -> Result<()> {
        let mut at = 0;
        while at < accesses.len() {
            if matches!(accesses[at].access, Access::Read | Access::Describe)
                && let Some(query) = views::query_of(self.store(), &accesses[at].table)?
            {
                read(&query, &mut |path: String, access| {
                    let access = TableAccess { table: path.to_ascii_lowercase(), access };
                    if !accesses.contains(&access) {
                        accesses.push(access);
                    }
                });
            }
            at += 1;
        }
        Ok(())
    }
}

fn of_piece(
    store: &Store,
    piece: &Piece,
    text: &str,
    accesses: &mut Vec<TableAccess>,
) -> Result<()> {
    let mut note = |path: String, access| {
        let table = path.to_ascii_lowercase();
        accesses.push(TableAccess { table, access });
    };
    match piece.kind {
        StatementKind::Explain if let Some((_, change)) = show::explained_change(piece)? => {
            of_piece(store, &change, text, accesses)?;
        }
        // The planner alone resolves their names. A change finds its own table whatever WITH gives.
        StatementKind::Query | StatementKind::Explain => {
            let given = Some(GivenNames::default());
            let parsed = piece.parse()?;
            let _ = walk(&parsed, &mut Relations { note: &mut note, is_function: false, given });
        }
        StatementKind::Insert | StatementKind::Upsert => {
            let returned = write::returned_items(piece)?;
            let insert = write::insert_of(&write::plain_statement(piece)?)?;
            let ast::TableObject::TableName(name) = &insert.table else {
                return Err(Error::unsupported("INSERT INTO takes the name of a table"));
            };
            let target = parts_of(name).join(".");
            note(target.clone(), Access::Insert);
            let updates = match &insert.on {
                Some(ast::OnInsert::OnConflict(conflict)) => match &conflict.action {
                    ast::OnConflictAction::DoUpdate(update) => {
                        read(update, &mut note);
                        true
                    }
                    ast::OnConflictAction::DoNothing => false,
                },
                _ => write::replaces(&insert, piece.kind),
            };
            if updates {
                note(target.clone(), Access::Update);
            }
            // Rows that were there come out: of RETURNING, and of expressions over them.
            if returned.is_some() || updates && insert.on.is_some() {
                note(target, Access::Read);
            }
            if let Some(returned) = returned {
                read(&returned, &mut note);
            }
            if let Some(source) = &insert.source {
                read(source.as_ref(), &mut note);
            }
        }
        StatementKind::Merge => {
            let plain = write::plain_statement(piece)?;
            let (_, merge) = plain.without_with();
            let mut cursor = Cursor::new(&merge);
            cursor.next();
            cursor.word("INTO");
            let Some(path) = cursor.path() else {
                return Err(cursor.expected("the name of a table"));
            };
            for access in [Access::Read, Access::Insert, Access::Update, Access::Delete] {
                note(path.clone(), access);
            }
            if let Some(returned) = write::returned_items(piece)? {
                read(&returned, &mut note);
            }
            read(&plain.parse()?, &mut note);
        }
        StatementKind::Update | StatementKind::Delete | StatementKind::Truncate => {
            let plain = write::plain_statement(piece)?;
            let (_, change) = plain.without_with();
            let mut cursor = Cursor::new(&change);
            cursor.next();
            let _ = cursor.word("FROM") || cursor.word("TABLE");
            let Some(path) = cursor.path() else {
                return Err(cursor.expected("the name of a table"));
            };
            let access =
                if piece.kind == StatementKind::Update { Access::Update } else { Access::Delete };
            note(path.clone(), access);
            if let Some(returned) = write::returned_items(piece)? {
                note(path, Access::Read);
                read(&returned, &mut note);
            }
            if piece.kind != StatementKind::Truncate {
                read(&plain.parse()?, &mut note);
            }
        }
        StatementKind::Definition if let Some(view) = ViewStatement::read(piece)? => match view {
            ViewStatement::Create(view) => {
                note(view.name.clone(), Access::Define);
                read(&view.query.parse()?, &mut note);
            }
            ViewStatement::Drop { name, .. } => note(name, Access::Define),
        },
        StatementKind::Definition if let Some(create) = write::CreateTableAs::read(piece)? => {
            note(create.path.clone(), Access::Define);
            note(create.path.clone(), Access::Insert);
            read(&create.query.parse()?, &mut note);
        }
        StatementKind::Definition => of_definitions(store, &piece.text(text), &mut note)?,
        StatementKind::Describe if let Some(query) = summary::described_query(piece) => {
            read(&query.parse()?, &mut note);
        }
        StatementKind::Summarize => read(&summary::summarized_query(piece)?.parse()?, &mut note),
        StatementKind::Copy => {
            let copy = write::CopyStatement::read(piece)?;
            let access = if copy.is_from() { Access::Insert } else { Access::Read };
            match copy.what {
                write::CopySubject::Table { path, .. } => note(path, access),
                write::CopySubject::Query(query) => read(&query.parse()?, &mut note),
            }
        }
        // Whoever may not change a table may not change how it is read either.
        StatementKind::Analyze => {
            let named = AnalyzeStatement::read(piece)?.tables;
            let mut paths: Vec<String> = named.into_iter().map(|table| table.path).collect();
            if paths.is_empty() {
                let all = store.tables().into_iter().map(|table| table.path().to_owned());
                paths.extend(all.filter(|path| path != statistics::TABLE));
            }
            for path in paths {
                note(path.clone(), Access::Read);
                note(path, Access::Define);
            }
        }
        // Refused wherever somebody guards the store.
        StatementKind::Session | StatementKind::Transaction | StatementKind::Execute => {}
        StatementKind::Show if show::setting(piece).is_some() => {}
        StatementKind::Show | StatementKind::Describe => {
            let mut cursor = Cursor::new(piece);
            let mut access = Access::Read;
            if !cursor.word("SHOW") {
                cursor.next();
                cursor.word("TABLE");
                access = Access::Describe;
            } else if cursor.word("COLUMNS") || cursor.word("INDEXES") || cursor.word("INDEX") {
                if !(cursor.word("FROM") || cursor.word("IN") || cursor.word("ON")) {
                    note(information_table("statistics"), Access::Read);
                    return Ok(());
                }
            } else if cursor.word("STATISTICS") {
                // The ends of columns are values of their tables.
                if !(cursor.word("FROM") || cursor.word("IN") || cursor.word("ON")) {
                    note(statistics::TABLE.to_owned(), Access::Read);
                    return Ok(());
                }
            } else if cursor.word("TABLES") || cursor.word("VIEWS") {
                note(information_table("tables"), Access::Read);
                return Ok(());
            } else if cursor.word("CREATE") {
                cursor.word("TABLE");
            } else {
                return Ok(());
            }
            if let Some(path) = cursor.path() {
                note(path, access);
            }
        }
        StatementKind::Unknown => return Err(crate::text::unknown(piece)),
    }
    Ok(())
}

/// What definitions do, as the store reads them.
fn of_definitions(store: &Store, text: &str, note: &mut impl FnMut(String, Access)) -> Result<()> {
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
                        note(index.table_path().to_owned(), Access::Define);
                    }
                }
                continue;
            }
            Definition::ShowTables => {
                note(information_table("tables"), Access::Read);
                continue;
            }
            Definition::DescribeTable { path } => {
                note(path, Access::Describe);
                continue;
            }
        };
        note(path, Access::Define);
    }
    Ok(())
}

/// The table that tells the same as a SHOW of everything.
fn information_table(name: &str) -> String {
    format!("{INFORMATION_SCHEMA}.{name}")
}

/// Notes every name that stands where a table may.
fn read(parsed: &impl Visit, note: &mut impl FnMut(String, Access)) {
    let _ = walk(parsed, &mut Relations { note, is_function: false, given: None });
}

struct Relations<'a, F> {
    note: &'a mut F,
    /// Whether the next name is that of a function that gives rows.
    is_function: bool,
    /// The names that stand for no table, if any are taken for such.
    given: Option<GivenNames>,
}

impl<F: FnMut(String, Access)> Looker for Relations<'_, F> {
    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Error> {
        self.is_function = matches!(factor, TableFactor::Table { args: Some(_), .. });
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<Error> {
        let is_function = std::mem::take(&mut self.is_function);
        let is_given = self.given.as_ref().is_some_and(|given| given.is_given(name));
        if !is_function && !is_given {
            (self.note)(path_of_parts(&parts_of(name)), Access::Read);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        tables_of(&query.body, self.note);
        if let Some(given) = &mut self.given {
            given.enter(query);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        if let Some(given) = &mut self.given {
            given.leave(query);
        }
        ControlFlow::Continue(())
    }
}

/// `TABLE t` names its table without a relation.
fn tables_of(body: &SetExpr, note: &mut impl FnMut(String, Access)) {
    match body {
        SetExpr::Table(table) => {
            let parts = [&table.schema_name, &table.table_name];
            let parts: Vec<String> = parts.into_iter().flatten().cloned().collect();
            note(path_of_parts(&parts), Access::Read);
        }
        SetExpr::SetOperation { left, right, .. } => {
            tables_of(left, note);
            tables_of(right, note);
        }
        _ => {}
    }
}

/// The parts of a name as the planner takes them: in lower case, unless they stand in quotes.
fn parts_of(name: &ObjectName) -> Vec<String> {
    let parts = name.0.iter().filter_map(ast::ObjectNamePart::as_ident);
    parts
        .map(|ident| match ident.quote_style {
            None => ident.value.to_ascii_lowercase(),
            Some(_) => ident.value.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqlOptions;

    fn accesses(text: &str) -> Vec<(String, Access)> {
        let store = tonnage::Store::open("memory:").unwrap();
        let sql = Sql::new(store, SqlOptions::default()).unwrap();
        let accesses = sql.accesses(text).unwrap();
        accesses.into_iter().map(|access| (access.table, access.access)).collect()
    }

    #[test]
    fn every_table_that_is_touched_is_named() {
        let read = |table: &str| (table.to_owned(), Access::Read);
        assert_eq!(
            accesses("SELECT * FROM a JOIN tonnage.public.B ON true"),
            [read("a"), read("b")]
        );
        assert_eq!(
            accesses("SELECT (SELECT max(x) FROM c) FROM (SELECT 1 FROM d.e) AS t"),
            [read("c"), read("d.e")]
        );
        // With the catalog alone in front the planner reads a child table of `a`: such reads were
        // held against the grants of no table at all.
        assert_eq!(accesses("SELECT * FROM Tonnage.a.b"), [read("a.b")]);
        assert_eq!(accesses("SELECT * FROM public.a.b"), [read("public.a.b")]);
        assert_eq!(accesses("SELECT * FROM tonnage.\"PUBLIC\".a"), [read("a")]);
        assert_eq!(
            accesses("SELECT * FROM tonnage.information_schema.tables"),
            [read("information_schema.tables")]
        );
        assert_eq!(
            accesses(
                "SELECT * FROM a, json_each(a.doc), generate_series(1, (SELECT max(x) FROM b))"
            ),
            [read("a"), read("b")]
        );
        assert_eq!(accesses("SELECT * FROM generate_series(1, 2), c"), [read("c")]);
        assert_eq!(
            accesses("SELECT * FROM a ASOF JOIN b ON a.k = b.k AND a.t >= b.t"),
            [read("a"), read("b")]
        );
        assert_eq!(accesses("SUMMARIZE a"), [read("a")]);
        assert_eq!(accesses("DESCRIBE a.b"), [("a.b".to_owned(), Access::Describe)]);
        assert_eq!(accesses("SHOW COLUMNS FROM a"), [read("a")]);
        assert_eq!(accesses("SHOW INDEXES ON a"), [read("a")]);
        assert_eq!(accesses("SHOW INDEXES"), [read("information_schema.statistics")]);
        assert_eq!(accesses("SHOW STATISTICS FROM a"), [read("a")]);
        assert_eq!(accesses("SHOW STATISTICS"), [read("_statistics")]);
        assert_eq!(accesses("SHOW TABLES"), [read("information_schema.tables")]);
        assert_eq!(accesses("EXPLAIN SELECT 1 FROM a"), [read("a")]);
    }

    #[test]
    fn a_name_that_with_gives_is_a_table_outside_of_its_scope() {
        let read = |table: &str| vec![(table.to_owned(), Access::Read)];
        for text in [
            "WITH s AS (SELECT 1 AS x) SELECT * FROM s",
            "WITH S AS (SELECT 1 AS x) SELECT * FROM \"s\" WHERE x IN (SELECT x FROM s)",
            "WITH s AS (SELECT 1 AS x), t AS (SELECT * FROM s) SELECT * FROM t ORDER BY x",
            "WITH s AS (SELECT 1 AS x) SELECT * FROM (SELECT * FROM s UNION SELECT x FROM s) AS d",
            "WITH RECURSIVE s AS (SELECT 1 AS x), t AS (SELECT x FROM s) SELECT * FROM s, t",
            "EXPLAIN WITH s AS (SELECT 1 AS x) SELECT * FROM s",
        ] {
            assert!(accesses(text).is_empty(), "{text}");
        }
        for text in [
            // In its own query, and before it, the name is that of the table.
            "WITH s AS (SELECT * FROM s) SELECT * FROM s",
            "WITH s AS (SELECT * FROM (SELECT * FROM s) AS d) SELECT * FROM s",
            "WITH t AS (SELECT * FROM s), s AS (SELECT 1 AS x) SELECT * FROM t",
            // Its first part reads the table. One that is no UNION does so as well.
            "WITH RECURSIVE s AS (SELECT x FROM s UNION ALL SELECT 1) SELECT * FROM s",
            "WITH RECURSIVE s AS (SELECT x FROM s) SELECT * FROM s",
            // Behind the query that has the WITH.
            "SELECT * FROM (WITH s AS (SELECT 1 AS x) SELECT * FROM s) AS d, s",
            "(WITH s AS (SELECT 1 AS x) SELECT * FROM s) UNION SELECT x FROM s",
            "SELECT (WITH s AS (SELECT 1 AS x) SELECT max(x) FROM s) FROM s",
            "WITH t AS (WITH s AS (SELECT 1 AS x) SELECT * FROM s) SELECT * FROM t, s",
            // Names that are others.
            "WITH s AS (SELECT 1 AS x) SELECT * FROM public.s",
            "WITH s AS (SELECT 1 AS x) SELECT * FROM tonnage.public.s",
            "WITH t AS (SELECT 1 AS x) SELECT * FROM t AS s, s",
        ] {
            assert_eq!(accesses(text), read("s"), "{text}");
        }
        assert_eq!(accesses("WITH s AS (SELECT 1 AS x) SELECT * FROM s.t"), read("s.t"));
        // A change finds its table whatever WITH gives.
        let text = "WITH s AS (SELECT 1 AS x) DELETE FROM s WHERE x IN (SELECT x FROM s)";
        assert!(accesses(text).contains(&("s".to_owned(), Access::Read)), "{text}");
    }

    #[test]
    fn what_is_done_to_a_table_is_told() {
        let did = |table: &str, access| (table.to_owned(), access);
        assert_eq!(
            accesses("INSERT INTO public.a SELECT * FROM b"),
            [did("a", Access::Insert), did("b", Access::Read)]
        );
        assert_eq!(
            accesses("UPSERT INTO a VALUES (1) RETURNING COUNT(*)"),
            [did("a", Access::Insert), did("a", Access::Update)]
        );
        assert_eq!(
            accesses("INSERT INTO a VALUES (1) RETURNING (SELECT max(x) FROM b)"),
            [did("a", Access::Insert), did("a", Access::Read), did("b", Access::Read)]
        );
        assert_eq!(
            accesses("DELETE FROM a RETURNING (SELECT 1 FROM b)")[..3],
            [did("a", Access::Delete), did("a", Access::Read), did("b", Access::Read)]
        );
        assert_eq!(
            accesses("INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET x = (SELECT 1 FROM b)"),
            [
                did("a", Access::Insert),
                did("b", Access::Read),
                did("a", Access::Update),
                did("a", Access::Read)
            ]
        );
        assert_eq!(
            accesses("CREATE TABLE a (PRIMARY KEY (x)) AS SELECT x FROM b"),
            [did("a", Access::Define), did("a", Access::Insert), did("b", Access::Read)]
        );
        assert_eq!(
            accesses("WITH w AS (SELECT x FROM b) INSERT INTO a SELECT x FROM w")[..2],
            [did("a", Access::Insert), did("b", Access::Read)]
        );
        assert_eq!(
            accesses("MERGE INTO a USING b ON a.x = b.x WHEN MATCHED THEN DELETE")[..5],
            [
                did("a", Access::Read),
                did("a", Access::Insert),
                did("a", Access::Update),
                did("a", Access::Delete),
                did("a", Access::Read)
            ]
        );
        for text in ["ANALYZE public.A", "VACUUM (VERBOSE, ANALYZE) a", "VACUUM analyze a (x, y)"] {
            assert_eq!(
                accesses(text),
                [did("a", Access::Read), did("a", Access::Define)],
                "{text}"
            );
        }
        assert_eq!(accesses("COPY a FROM 'x.csv'"), [did("a", Access::Insert)]);
        assert_eq!(
            accesses("CREATE VIEW v AS SELECT x FROM b; DROP VIEW v"),
            [did("v", Access::Define), did("b", Access::Read), did("v", Access::Define)]
        );
        assert_eq!(accesses("EXPLAIN DELETE FROM a")[0], did("a", Access::Delete));
        assert_eq!(accesses("DELETE FROM a WHERE x = 1")[0], did("a", Access::Delete));
        assert_eq!(accesses("TRUNCATE TABLE a"), [did("a", Access::Delete)]);
        assert_eq!(accesses("UPDATE a SET x = (SELECT 1 FROM b)")[0], did("a", Access::Update));
        assert_eq!(
            accesses("CREATE TABLE a (x LONG, PRIMARY KEY (x)); DROP TABLE b"),
            [did("a", Access::Define), did("b", Access::Define)]
        );
    }

    #[test]
    fn who_reads_a_view_reads_its_tables() {
        let store = tonnage::Store::open("memory:").unwrap();
        let sql = Sql::new(store, SqlOptions::default()).unwrap();
        sql.execute("CREATE TABLE a (x LONG, PRIMARY KEY (x)); CREATE VIEW v AS SELECT x FROM a")
            .unwrap();
        sql.execute("CREATE VIEW w AS SELECT x FROM v WHERE x > 1").unwrap();
        let read = sql.accesses("SELECT * FROM W").unwrap();
        let read: Vec<_> = read.iter().map(|access| access.table.as_str()).collect();
        assert_eq!(read, ["w", "v", "a"]);
    }
}
