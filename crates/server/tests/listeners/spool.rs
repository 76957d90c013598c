//! Bodies of bulk loads over HTTP, and how much of the disk they may have.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value as Json;
use tonnage_server::Settings;

use crate::support::Running;

fn server(limit: &str) -> Running {
    Running::with(Settings { spool_bytes_max: Some(limit.into()), ..Settings::default() })
}

const LOAD: &str = "POST /v1/tables/ships/rows";
const CSV: &str = "Content-Type: text/csv\r\n";

fn csv(rows: usize) -> String {
    (0..rows).fold("id,name\n".to_owned(), |text, id| text + &format!("{id},ship {id}\n"))
}

fn is_too_large(head: &str, body: &str) {
    assert!(head.starts_with("HTTP/1.1 413"), "{head}{body}");
    let problem: Json = serde_json::from_str(body).unwrap();
    assert_eq!(problem["type"], "/problems/too-large", "{problem}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("1024 bytes") && detail.contains("spool_bytes_max"), "{detail}");
}

/// Once such a body filled the disk.
#[test]
fn a_body_that_announces_too_much_is_refused_at_once() {
    let server = server("1KiB");
    let (head, body) = server.http(LOAD, CSV, &csv(1_000));
    is_too_large(&head, &body);
    assert_eq!(server.rows(), 0);
}

#[test]
fn a_body_of_unknown_length_is_refused_where_it_grows_too_large() {
    let server = server("1KiB");
    let mut socket = TcpStream::connect(server.addresses.http.unwrap()).unwrap();
    let head = format!(
        "{LOAD} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{CSV}Transfer-Encoding: chunked\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).unwrap();
    let piece = csv(30);
    for _ in 0..8 {
        let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
        // The server may have answered, and closed, before the last of them.
        if socket.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    is_too_large(head, body);
    assert_eq!(server.rows(), 0);
}

#[test]
fn what_a_body_had_is_free_once_it_is_loaded() {
    let server = server("1KiB");
    for _ in 0..20 {
        let (head, body) = server.http(LOAD, CSV, &csv(40));
        assert!(head.starts_with("HTTP/1.1 200"), "{head}{body}");
    }
    assert_eq!(server.rows(), 40);
}

/// Once the answer was that of any invalid request, without what had been stored.
#[test]
fn too_many_rejected_records_are_a_problem_of_their_own() {
    let server = Running::new();
    let body = "id,name\n1,a\nx,b\ny,c\n";
    let (head, answer) = server.http(&format!("{LOAD}?errors_max=1"), CSV, body);
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
    let problem: Json = serde_json::from_str(&answer).unwrap();
    assert_eq!(problem["type"], "/problems/too-many-errors", "{problem}");
    assert_eq!(problem["title"], "too many errors");
    assert_eq!(
        (&problem["rejected"], &problem["failures"][0]["column"]),
        (&2.into(), &"id".into())
    );
}

/// Once a failed row was reported by its position among the rows that could be read.
#[test]
fn a_failure_is_told_with_the_number_of_its_record() {
    let server = Running::new();
    server.store.execute("CREATE TABLE long (k STRING, n LONG, PRIMARY KEY (k))").unwrap();
    let body = format!("k,n\na,none\nb,1\n{},2\nc,3\n", "x".repeat(200_000));
    let (head, answer) = server.http("POST /v1/tables/long/rows", CSV, &body);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}{answer}");
    let told: Json = serde_json::from_str(&answer).unwrap();
    let failures = told["failures"].as_array().unwrap();
    let mut records: Vec<_> = failures.iter().map(|failure| &failure["record"]).collect();
    records.sort_by_key(|record| record.as_u64());
    assert_eq!(records, [&Json::from(0), &Json::from(2)]);
    let counts = &told["counts"];
    assert_eq!((&counts["read"], &counts["failed"]), (&4.into(), &2.into()), "{counts}");
    assert_eq!((&counts["inserted"], &told["rejected"]), (&2.into(), &1.into()));
}

/// Once `errors_max=10%` let any number of records be rejected.
#[test]
fn a_share_of_errors_holds_for_rejected_records_too() {
    let server = Running::new();
    let rejected = (0..500).fold("id,name\n".to_owned(), |text, _| text + "x,y\n");
    let (head, answer) = server.http(&format!("{LOAD}?errors_max=10%25"), CSV, &rejected);
    assert!(head.starts_with("HTTP/1.1 400"), "{head}{answer}");
    assert!(answer.contains("too-many-errors"), "{answer}");
}

#[test]
fn too_many_failed_rows_are_the_same_problem() {
    let server = Running::new();
    server.store.execute("CREATE TABLE long (k STRING, PRIMARY KEY (k))").unwrap();
    // Such a key can be read, but not stored.
    let body = format!("k\nshort\n{}\n", "x".repeat(200_000));
    let url = "POST /v1/tables/long/rows?errors_max=0";
    let (head, answer) = server.http(url, CSV, &body);
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
    let problem: Json = serde_json::from_str(&answer).unwrap();
    assert_eq!(problem["type"], "/problems/too-many-errors", "{problem}");
    assert_eq!(problem["counts"]["failed"], 1);
}
