use tonnage::{ErrorKind, Store, Value};
use tonnage_sql::{Answer, Parameters, Request, Sql, SqlOptions};

use super::{assert_fails, rows, session};

fn shop() -> Sql {
    let sql = session();
    sql.execute(
        "CREATE TABLE shop (shop STRING, item LONG, stock LONG, PRIMARY KEY (SHARD(shop), item));
         INSERT INTO shop VALUES ('delft', 1, 10), ('delft', 2, 20), ('gouda', 1, 30)",
    )
    .unwrap();
    sql
}

/// Another session over the same store.
fn other(sql: &Sql) -> Sql {
    Sql::new(sql.store().clone(), SqlOptions::default()).unwrap()
}

#[test]
fn a_transaction_is_invisible_until_commit() {
    let (sql, query) = (shop(), "SELECT item, stock FROM shop WHERE shop = 'delft' ORDER BY item");
    let other = other(&sql);
    sql.execute("BEGIN; UPDATE shop SET stock = 0 WHERE shop = 'delft' AND item = 1; INSERT INTO shop VALUES ('delft', 3, 3)").unwrap();
    assert!(sql.is_in_transaction() && !other.is_in_transaction());
    assert_eq!(rows(&sql, query), [["1", "0"], ["2", "20"], ["3", "3"]]);
    assert_eq!(rows(&other, query), [["1", "10"], ["2", "20"]]);
    sql.execute("COMMIT").unwrap();
    assert!(!sql.is_in_transaction());
    assert_eq!(rows(&other, query), [["1", "0"], ["2", "20"], ["3", "3"]]);
}

/// Reads a row in a transaction, lets another writer write it, and commits.
#[track_caller]
fn assert_conflicts(change: &str, meanwhile: &str) {
    let sql = shop();
    sql.execute("BEGIN; UPDATE shop SET stock = stock + 1 WHERE shop = 'delft' AND item = 2")
        .unwrap();
    sql.execute(change).unwrap();
    other(&sql).execute(meanwhile).unwrap();
    let before = rows(&other(&sql), "SELECT * FROM shop ORDER BY shop, item");
    assert_fails(sql.execute("COMMIT"), ErrorKind::Conflict, "nothing is written");
    assert!(!sql.is_in_transaction());
    assert_eq!(rows(&sql, "SELECT * FROM shop ORDER BY shop, item"), before);
}

#[test]
fn a_row_changed_by_another_writer_fails_the_commit() {
    let update = "UPDATE shop SET stock = 5 WHERE shop = 'delft' AND item = 1";
    assert_conflicts(update, update);
    assert_conflicts(update, "DELETE FROM shop WHERE shop = 'delft' AND item = 1");
    assert_conflicts("DELETE FROM shop WHERE shop = 'delft' AND item = 1", update);
}

#[test]
fn a_key_taken_by_another_writer_fails_the_commit() {
    let insert = "INSERT INTO shop VALUES ('delft', 9, 9)";
    assert_conflicts(insert, insert);
    assert_conflicts("UPSERT INTO shop VALUES ('delft', 9, 8)", insert);
}

#[test]
fn a_table_that_is_altered_meanwhile_stops_the_commit() {
    assert_conflicts(
        "UPDATE shop SET stock = 5 WHERE shop = 'delft' AND item = 1",
        "ALTER TABLE shop ADD COLUMN note STRING",
    );
}

#[test]
fn rows_of_other_shard_keys_do_not_matter() {
    let sql = shop();
    sql.execute("BEGIN; UPDATE shop SET stock = 1 WHERE shop = 'delft'").unwrap();
    other(&sql).execute("UPDATE shop SET stock = 2 WHERE shop = 'gouda'").unwrap();
    sql.execute("COMMIT").unwrap();
    assert_eq!(rows(&sql, "SELECT stock FROM shop ORDER BY shop, item"), [["1"], ["1"], ["2"]]);
}

#[test]
fn prepared_statements_and_calls_of_many_take_part() {
    let sql = shop();
    let insert = sql.prepare("INSERT INTO shop VALUES (?, ?, ?)").unwrap();
    let query = sql.prepare("SELECT stock FROM shop WHERE shop = ? AND item = ?").unwrap();
    let read = |item: i64| {
        let key = [Value::from("delft"), Value::from(item)];
        super::texts(query.execute(Parameters::numbered(key)).unwrap())
    };
    assert_eq!(read(7), Vec::<Vec<String>>::new(), "the plan is kept from here on");
    sql.execute("BEGIN").unwrap();
    let values = [Value::from("delft"), Value::from(7_i64), Value::from(70_i64)];
    insert.execute(Parameters::numbered(values)).unwrap();
    assert_eq!(read(7), [["70"]]);
    let answers = sql.fetch_all(["SELECT max(stock) FROM shop", "SELECT count(*) FROM shop"]);
    let answers: Vec<_> = answers.into_iter().map(|answer| super::texts(answer.unwrap())).collect();
    assert_eq!(answers, [[["70"]], [["4"]]]);
    sql.execute("ROLLBACK").unwrap();
    assert_eq!(read(7), Vec::<Vec<String>>::new());
}

#[test]
fn a_transaction_has_a_limit_of_rows() {
    let sql = shop();
    let many = "INSERT INTO shop SELECT 'delft', value, 0 FROM generate_series(100, 10099)";
    sql.execute("BEGIN").unwrap();
    sql.execute(many).unwrap();
    assert_fails(
        sql.execute("INSERT INTO shop VALUES ('delft', 99, 0)"),
        ErrorKind::Exhausted,
        "COMMIT more often",
    );
    sql.execute("COMMIT").unwrap();
    assert_eq!(rows(&sql, "SELECT count(*) FROM shop"), [["10003"]]);
}

#[test]
fn a_server_keeps_no_transactions() {
    let options = SqlOptions { is_local: false, ..SqlOptions::default() };
    let sql = Sql::new(Store::open("memory:").unwrap(), options).unwrap();
    for statement in ["BEGIN", "COMMIT", "ROLLBACK"] {
        assert_fails(sql.execute(statement), ErrorKind::Unsupported, "no transactions");
    }
}

/// Transfers between rows of one shard key, by several sessions at once: what one takes another
/// gets, and a commit that fails is tried again.
#[test]
fn transfers_at_once_lose_nothing() {
    let sql = session();
    sql.execute("CREATE TABLE accounts (bank LONG, id LONG, money LONG, PRIMARY KEY (SHARD(bank), id)); INSERT INTO accounts SELECT 1, value, 100 FROM generate_series(0, 4)").unwrap();
    let transfers: u64 = std::thread::scope(|scope| {
        let teller = |teller: i64| {
            let own = other(&sql);
            move || {
                let mut done = 0;
                for round in 0..40 {
                    let (from, to) = ((teller + round) % 5, (teller + 2 * round + 1) % 5);
                    if from == to {
                        continue;
                    }
                    let text = format!(
                        "BEGIN; UPDATE accounts SET money = money - 1 WHERE bank = 1 AND id = {from}; UPDATE accounts SET money = money + 1 WHERE bank = 1 AND id = {to}; COMMIT"
                    );
                    match own.execute(Request::new(text)) {
                        Ok(Answer::Done(_)) => done += 1,
                        Ok(_) => panic!("COMMIT tells what it did"),
                        Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
                    }
                }
                done
            }
        };
        let threads: Vec<_> = (0..3).map(|number| scope.spawn(teller(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(transfers > 0);
    assert_eq!(rows(&sql, "SELECT sum(money), count(*) FROM accounts"), [["500", "5"]]);
}
