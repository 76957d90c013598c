//! Rows that are looked at before they are loaded.

use serde_json::{Value as Json, json};

use crate::guarded::{BEARER, Guarded};
use crate::support::Running;

const CSV: &str = "Content-Type: text/csv\r\n";
const SHIPS: &str = "id,seen,name\n1,2026-01-03T06:00:00,Ada\n2,2026-01-03T07:00:00,\nx,,Emma\n";

fn told(server: &Running, query: &str, body: &str) -> Json {
    let (head, body) = server.http(&format!("POST /v1/preview{query}"), CSV, body);
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {body}");
    serde_json::from_str(&body).unwrap()
}

fn is_empty(server: &Running, table: &str) -> bool {
    let (_, page) = server.http(&format!("GET /v1/tables/{table}/scan"), "", "");
    serde_json::from_str::<Json>(&page).unwrap()["rows"] == json!([])
}

#[test]
fn values_tell_the_types_of_columns() {
    let server = Running::new();
    let seen = told(&server, "?rows=1", "id,price,at,who\n1,2.5,2026-01-03,Ada\n2,3,2026-01-04,\n");
    let types: Vec<_> =
        seen["columns"].as_array().unwrap().iter().map(|one| &one["type"]).collect();
    assert_eq!(types, ["LONG", "DOUBLE", "DATE", "STRING"]);
    assert_eq!(seen["rows"], json!([[1, 2.5, "2026-01-03", "Ada"]]));
    assert_eq!((&seen["records"], &seen["rejected"]), (&json!(2), &json!(0)));
    assert_eq!((&seen["format"], &seen["unknown"]), (&json!("csv"), &json!([])));
}

#[test]
fn records_that_are_no_rows_of_a_table_are_told_and_nothing_is_stored() {
    let server = Running::new();
    server.store.execute("CREATE TABLE calls (id LONG, name STRING, PRIMARY KEY (id))").unwrap();
    let seen = told(&server, "?table=calls", SHIPS);
    assert_eq!((&seen["records"], &seen["rejected"]), (&json!(3), &json!(1)));
    let failure = &seen["failures"][0];
    assert_eq!((&failure["record"], &failure["column"]), (&json!(2), &json!("id")));
    assert_eq!(seen["unknown"], json!(["seen"]), "a load would refuse the file for it");
    assert_eq!(seen["rows"].as_array().unwrap().len(), 2);
    assert!(is_empty(&server, "calls"));
}

#[test]
fn a_preview_that_cannot_be_is_refused() {
    let server = Running::new();
    for (path, status) in [
        ("/v1/preview?rows=1001", "400"),
        ("/v1/preview?rows=x", "400"),
        ("/v1/preview?tables=ships", "400"),
        ("/v1/preview?table=nothing", "404"),
    ] {
        let (head, _) = server.http(&format!("POST {path}"), CSV, SHIPS);
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {head}");
    }
    let kind = "Content-Type: application/vnd.apache.parquet\r\n";
    let (head, body) = server.http("POST /v1/preview", kind, "no Parquet at all");
    assert!(head.starts_with("HTTP/1.1 400") && body.contains("the body"), "{head} {body}");
}

#[test]
fn whoever_may_fill_a_table_may_look_at_rows_for_it() {
    let guarded = Guarded::new();
    let status = |path: &str, login: &str| {
        let head = guarded.http(&format!("POST {path}"), &format!("{CSV}{login}"), "k\n1\n");
        head.split(' ').nth(1).unwrap().to_owned()
    };
    let loader = "Authorization: Bearer loader\r\n";
    // ann:pass:word, who has a grant on ships alone.
    let ann = "Authorization: Basic YW5uOnBhc3M6d29yZA==\r\n";
    for (path, login, wanted) in [
        ("/v1/preview?table=secrets", BEARER, "200"),
        ("/v1/preview?table=secrets", loader, "200"),
        ("/v1/preview?table=secrets", ann, "403"),
        ("/v1/preview", ann, "200"),
        ("/v1/preview", "", "401"),
    ] {
        assert_eq!(status(path, login), wanted, "{path} {login}");
    }
}
