use std::time::Duration;

use tonnage::{Cancel, ErrorKind};
use tonnage_sql::Request;

use super::{assert_fails, fleet, texts};

#[test]
fn each_statement_has_its_own_answer_or_error_in_the_order_given() {
    let sql = fleet();
    let answers = sql.fetch_all([
        "SELECT max(at) FROM positions",
        "SELECT * FROM nothing",
        "SELECT count(*), sum(speed) FROM positions",
        "SELECT ship, count(*) FROM positions GROUP BY ship ORDER BY ship LIMIT 1",
        "SELECT 1; SELECT 2",
        "SELECT name FROM positions WHERE ship = 4 AND at = 0",
        "SELECT avg(speed) FROM positions WHERE ship = 1",
    ]);
    let mut answers = answers.into_iter();
    let mut next = || answers.next().unwrap();
    assert_eq!(texts(next().unwrap()), [["99"]]);
    assert_fails(next(), ErrorKind::NotFound, "nothing");
    assert_eq!(texts(next().unwrap()), [["1000", "249750"]]);
    assert_eq!(texts(next().unwrap()), [["0", "100"]]);
    assert_fails(next(), ErrorKind::Invalid, "2 statements");
    assert_eq!(texts(next().unwrap()), [["ship 4"]]);
    assert_eq!(texts(next().unwrap()), [["248"]]);
}

#[test]
fn aggregates_over_the_same_rows_share_one_read() {
    let sql = fleet();
    let aggregates = ["min(speed)", "max(speed)", "avg(speed)", "count(*)", "stddev(speed)"];
    let explains = aggregates
        .map(|aggregate| format!("EXPLAIN SELECT {aggregate} FROM positions WHERE ship = 3"));
    for answer in sql.fetch_all(explains) {
        let plan = &texts(answer.unwrap())[0][1];
        assert!(plan.starts_with("shared by 5 statements"), "{plan}");
        assert_eq!(plan.matches("StoreScan").count(), 1, "{plan}");
    }
    let queries =
        aggregates.map(|aggregate| format!("SELECT {aggregate} FROM positions WHERE ship = 3"));
    let together: Vec<_> =
        sql.fetch_all(&queries).into_iter().map(|answer| texts(answer.unwrap())).collect();
    let apart: Vec<_> = queries.iter().map(|query| texts(sql.execute(query).unwrap())).collect();
    assert_eq!(together, apart);
}

/// A shared read once kept to the limits of the statement that came first: its timeout and its
/// cancel ended the others, and theirs were passed over.
#[test]
fn statements_that_share_a_read_keep_their_own_limits() {
    let sql = fleet();
    let (cancel, free) = (Cancel::new(), Cancel::new());
    cancel.cancel();
    let query =
        |aggregate: &str| Request::new(format!("SELECT {aggregate} FROM positions WHERE ship = 3"));
    let requests = [
        query("min(speed)").timeout(Duration::from_nanos(1)),
        query("max(speed)").cancel(&cancel),
        query("count(*)").cancel(&free),
    ];
    for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
        let answers = sql.fetch_all(order.map(|place| &requests[place]));
        for (place, answer) in order.into_iter().zip(answers) {
            match place {
                0 => assert_fails(answer, ErrorKind::TimedOut, "timeout"),
                1 => assert_fails(answer, ErrorKind::Cancelled, "cancelled"),
                _ => assert_eq!(texts(answer.unwrap()), [["100"]]),
            }
        }
    }
    // The read has no waiter any more.
    let mut answers = sql.fetch_all(&requests[..2]).into_iter();
    assert_fails(answers.next().unwrap(), ErrorKind::TimedOut, "timeout");
    assert_fails(answers.next().unwrap(), ErrorKind::Cancelled, "cancelled");
}

#[test]
fn many_small_queries_come_back_complete() {
    let sql = fleet();
    let request = |n: i64| {
        Request::new("SELECT speed FROM positions WHERE ship = $1 AND at = $2")
            .bind(n % 10)
            .bind(n / 10)
    };
    let answers = sql.fetch_all((0..1000).map(request));
    for (n, answer) in answers.into_iter().enumerate() {
        assert_eq!(texts(answer.unwrap()), [[(n as f64 / 2.0).to_string()]]);
    }
    assert!(sql.fetch_all(Vec::<Request>::new()).is_empty());
}
