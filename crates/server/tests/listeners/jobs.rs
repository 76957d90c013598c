//! What the list of loads says, and to whom.

use serde_json::Value as Json;

use crate::guarded::{BASIC, BEARER, Guarded};
use crate::support::Running;

/// The header of the user who only loads.
const LOADER: &str = "Authorization: Bearer loader\r\n";
const CSV: &str = "Content-Type: text/csv\r\n";

fn json(body: &str) -> Json {
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

/// The loads that a caller sees.
fn jobs_of(guarded: &Guarded, login: &str) -> Vec<Json> {
    let (head, body) = guarded.server.http("GET /v1/jobs", login, "");
    assert!(head.starts_with("HTTP/1.1 200"), "{body}");
    json(&body)["jobs"].as_array().unwrap().clone()
}

#[test]
fn a_load_says_whose_it_is_and_what_was_refused() {
    let guarded = Guarded::new();
    let body = "id,name\n1,a\nx,\"b, c\"\n2,d\n";
    let (head, loaded) =
        guarded.server.http("POST /v1/tables/ships/rows", &format!("{BASIC}{CSV}"), body);
    assert!(head.starts_with("HTTP/1.1 200"), "{loaded}");
    let [job] = &jobs_of(&guarded, BASIC)[..] else { panic!("one load") };
    assert_eq!(job["users"], Json::from(vec!["ann"]));
    assert_eq!(job["tables"], Json::from(vec!["ships"]));
    assert_eq!((&job["kind"], &job["state"]), (&"load".into(), &"completed".into()));
    assert!(job["started_ms"].as_u64().unwrap() > 1_600_000_000_000, "{job}");
    assert_eq!((&job["rejects"], &job["report"]["total"]["failed"]), (&1.into(), &1.into()));
    let id = job["job"].as_str().unwrap();
    let rejects =
        |query: &str| guarded.server.http(&format!("GET /v1/jobs/{id}/rejects{query}"), BASIC, "");
    let (_, answer) = rejects("");
    let answer = json(&answer);
    let [reject] = &answer["rejects"].as_array().unwrap()[..] else { panic!("{answer}") };
    assert_eq!((&reject["record"], &reject["name"]), (&1.into(), &"ships".into()));
    assert!(reject["reason"].as_str().unwrap().contains('x'), "{reject}");
    let (head, csv) = rejects("?format=csv");
    assert!(head.contains("text/csv"), "{head}");
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "stream,name,record,column,reason,row"), "{csv}");
    assert!(lines[1].starts_with("0,ships,1,id,"), "{csv}");
    assert!(rejects("?format=xml").0.starts_with("HTTP/1.1 400"));
}

#[test]
fn users_see_their_own_loads_and_operators_all() {
    let guarded = Guarded::new();
    for login in [BASIC, LOADER] {
        let (head, body) = guarded.server.http(
            "POST /v1/tables/ships/rows",
            &format!("{login}{CSV}"),
            "id,name\n1,a\n",
        );
        assert!(head.starts_with("HTTP/1.1 200"), "{body}");
    }
    let users = |login| -> Vec<Json> {
        jobs_of(&guarded, login).into_iter().map(|job| job["users"][0].clone()).collect()
    };
    assert_eq!(users(BASIC), ["ann"]);
    assert_eq!(users(LOADER), ["ld"]);
    assert_eq!(users(BEARER), ["ann", "ld"]);
    let of_loader = jobs_of(&guarded, LOADER)[0]["job"].as_str().unwrap().to_owned();
    for (request, login, status) in [
        (format!("GET /v1/jobs/{of_loader}"), BASIC, "404"),
        (format!("GET /v1/jobs/{of_loader}/rejects"), BASIC, "404"),
        (format!("GET /v1/jobs/{of_loader}/events"), BASIC, "404"),
        (format!("DELETE /v1/jobs/{of_loader}"), BASIC, "404"),
        (format!("GET /v1/jobs/{of_loader}"), LOADER, "200"),
        (format!("GET /v1/jobs/{of_loader}/rejects"), LOADER, "200"),
        (format!("GET /v1/jobs/{of_loader}"), BEARER, "200"),
    ] {
        let (head, _) = guarded.server.http(&request, login, "");
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{request} {login}: {head}");
    }
}

/// The first rejects of a load are kept, and those of the latest loads.
#[test]
fn rejects_are_bounded() {
    let server = Running::new();
    let body: String = (0..1_500).map(|n| format!("x{n}\n")).collect();
    let load = |body: &str| {
        let request = "POST /v1/tables/ships/rows?errors_max=100%25";
        server.http(request, CSV, &format!("id\n{body}"))
    };
    load(&body);
    let rejects = |job: usize| server.http(&format!("GET /v1/jobs/b-{job}/rejects"), "", "");
    let first = json(&rejects(1).1);
    assert_eq!(first["rejects"].as_array().unwrap().len(), 1_000);
    for _ in 0..64 {
        load("y\n");
    }
    let (head, answer) = rejects(1);
    assert!(head.starts_with("HTTP/1.1 404") && answer.contains("kept no more"), "{answer}");
    assert_eq!(json(&rejects(2).1)["rejects"].as_array().unwrap().len(), 1);
}
