//! Which tables a statement touches, and how. A server checks grants by it before a statement runs.

use tonnage::Result;

use super::sql::Sql;
use super::statement::of_definitions;
use super::table_access::{Access, Accesses, TableAccess, TableAccesses};
use crate::text::with_location;
use crate::views;

impl Sql {
    /// The tables that the statements of a text touch, without carrying them out. Names that WITH
    /// gives may be among them, but not where a query reads what WITH gives.
    ///
    /// # Errors
    /// `Invalid` for text that is not a statement, with line and column.
    pub fn accesses(&self, text: &str) -> Result<Vec<TableAccess>> {
        let mut all = Vec::new();
        for statement in self.statements(text)?.iter() {
            let piece = statement.piece();
            let declared =
                statement.parsed().and_then(|parsed| parsed.accesses(self.store(), piece, text));
            match declared.map_err(|error| with_location(error, piece))? {
                Accesses::Tables(tables) => all.extend(tables.into_vec()),
                // What others share refuses it, and who opens a store may change its own session.
                Accesses::Session | Accesses::Public => {}
            }
        }
        self.read_by_views(&mut all)?;
        Ok(all)
    }

    /// The tables that definitions touch, read as [`Store::execute`] reads them: its words and
    /// quotes are not quite those of statements.
    ///
    /// # Errors
    /// `Invalid` for text that is not a definition, with line and column.
    ///
    /// [`Store::execute`]: tonnage::Store::execute
    pub fn accesses_of_definitions(&self, text: &str) -> Result<Vec<TableAccess>> {
        of_definitions(self.store(), text).map(TableAccesses::into_vec)
    }

    /// Adds the tables that views read.
    fn read_by_views(&self, accesses: &mut Vec<TableAccess>) -> Result<()> {
        let mut at = 0;
        while at < accesses.len() {
            if matches!(accesses[at].access, Access::Read | Access::Describe)
                && let Some(query) = views::query_of(self.store(), &accesses[at].table)?
            {
                let mut read = TableAccesses::default();
                read.read(&query);
                for access in read.into_vec() {
                    if !accesses.contains(&access) {
                        accesses.push(access);
                    }
                }
            }
            at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqlOptions;
    use crate::session::statement::ParsedStatement;
    use crate::text::StatementKind;

    fn accesses(text: &str) -> Vec<(String, Access)> {
        let store = tonnage::Store::open("memory:").unwrap();
        let sql = Sql::new(store, SqlOptions::default()).unwrap();
        let accesses = sql.accesses(text).unwrap();
        accesses.into_iter().map(|access| (access.table, access.access)).collect()
    }

    /// Statements that begin with a word, each about the table `a` if they are about any.
    fn samples(word: &str) -> &'static [&'static str] {
        match word {
            "SELECT" => &["SELECT * FROM a"],
            "WITH" => &["WITH w AS (SELECT * FROM a) SELECT * FROM w"],
            "VALUES" => &["VALUES ((SELECT max(x) FROM a))"],
            "TABLE" => &["TABLE a"],
            "FROM" => &["FROM a"],
            "EXPLAIN" => &["EXPLAIN SELECT * FROM a", "EXPLAIN UPDATE a SET x = 1"],
            "CREATE" => &[
                "CREATE TABLE a (x LONG, PRIMARY KEY (x))",
                "CREATE TABLE a (PRIMARY KEY (x)) AS SELECT 1 AS x",
                "CREATE VIEW a AS SELECT 1 AS x",
                "CREATE INDEX i ON a (x)",
            ],
            "DROP" => &["DROP TABLE a", "DROP VIEW a", "DROP INDEX i ON a"],
            "ALTER" => &["ALTER TABLE a ADD COLUMN y LONG"],
            "SHOW" => &[
                "SHOW TABLES",
                "SHOW VIEWS",
                "SHOW COLUMNS FROM a",
                "SHOW INDEXES",
                "SHOW STATISTICS",
                "SHOW CREATE TABLE a",
            ],
            "DESCRIBE" => &["DESCRIBE a", "DESCRIBE SELECT * FROM a"],
            "DESC" => &["DESC a"],
            "INSERT" => &["INSERT INTO a VALUES (1)"],
            "UPSERT" => &["UPSERT INTO a VALUES (1)"],
            "REPLACE" => &["REPLACE INTO a VALUES (1)"],
            "UPDATE" => &["UPDATE a SET x = 1"],
            "DELETE" => &["DELETE FROM a"],
            "TRUNCATE" => &["TRUNCATE a"],
            "MERGE" => &["MERGE INTO a USING b ON a.x = b.x WHEN MATCHED THEN DELETE"],
            "ANALYZE" => &["ANALYZE a"],
            "ANALYSE" => &["ANALYSE a"],
            "COPY" => {
                &["COPY a FROM 'x.csv'", "COPY a TO 'x.csv'", "COPY (SELECT * FROM a) TO 'x.csv'"]
            }
            "SUMMARIZE" => &["SUMMARIZE a", "SUMMARIZE SELECT * FROM a"],
            "SET" => &["SET timeout = '1s'"],
            "RESET" => &["RESET timeout"],
            "USE" => &["USE tonnage"],
            "PREPARE" => &["PREPARE p AS SELECT * FROM a"],
            "DEALLOCATE" => &["DEALLOCATE p"],
            "VACUUM" => &["VACUUM a"],
            "CHECKPOINT" => &["CHECKPOINT"],
            "BEGIN" => &["BEGIN"],
            "START" => &["START TRANSACTION"],
            "COMMIT" => &["COMMIT"],
            "END" => &["END"],
            "ROLLBACK" => &["ROLLBACK"],
            "ABORT" => &["ABORT"],
            "EXECUTE" => &["EXECUTE p"],
            _ => panic!("write what a statement that begins with {word} does to a table a"),
        }
    }

    /// Anyone who adds a kind of statement says here whether a server lets it through without a
    /// grant.
    #[test]
    fn each_kind_of_statement_declares_what_it_touches() {
        let store = tonnage::Store::open("memory:").unwrap();
        for (word, kind) in StatementKind::KINDS {
            for text in samples(word) {
                let piece = crate::text::single(text).unwrap();
                assert_eq!(piece.kind, kind, "{text}");
                let parsed = ParsedStatement::read(&piece).unwrap();
                let of_session = match parsed.accesses(&store, &piece, text).unwrap() {
                    Accesses::Tables(tables) => {
                        assert!(!tables.into_vec().is_empty(), "{text} declares no table");
                        false
                    }
                    Accesses::Public => panic!("{text} is public"),
                    Accesses::Session => true,
                };
                let refused = matches!(
                    kind,
                    StatementKind::Session | StatementKind::Transaction | StatementKind::Execute
                );
                assert_eq!(of_session, refused, "{text}");
            }
        }
        for text in ["SHOW FUNCTIONS", "SHOW ALL", "SHOW timeout", "SHOW TIME ZONE"] {
            let piece = crate::text::single(text).unwrap();
            let parsed = ParsedStatement::read(&piece).unwrap();
            let declared = parsed.accesses(&store, &piece, text).unwrap();
            assert!(matches!(declared, Accesses::Public), "{text}");
        }
    }

    /// A server lets these through, since they need no grant: so it must refuse them.
    #[test]
    fn statements_of_a_session_are_refused_where_it_is_shared() {
        let store = tonnage::Store::open("memory:").unwrap();
        let options = SqlOptions { is_local: false, ..SqlOptions::default() };
        let sql = Sql::new(store, options).unwrap();
        for (word, kind) in StatementKind::KINDS {
            for text in samples(word) {
                let piece = crate::text::single(text).unwrap();
                let parsed = ParsedStatement::read(&piece).unwrap();
                let declared = parsed.accesses(sql.store(), &piece, text).unwrap();
                if matches!(declared, Accesses::Session) {
                    let error = sql.execute(*text).map(drop).unwrap_err();
                    assert_eq!(error.kind(), tonnage::ErrorKind::Unsupported, "{text} {kind:?}");
                }
            }
        }
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
            // Its first part reads the table. One that is not a UNION does so as well.
            "WITH RECURSIVE s AS (SELECT x FROM s UNION ALL SELECT 1) SELECT * FROM s",
            "WITH RECURSIVE s AS (SELECT x FROM s) SELECT * FROM s",
            // After the query that has the WITH.
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
    fn accesses_name_each_kind_of_change() {
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
                did("a", Access::Update),
                did("a", Access::Read),
                did("b", Access::Read)
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
