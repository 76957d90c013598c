//! The users and the audit log, as administrators see them.

use serde_json::{Value as Json, json};

use crate::guarded::{BASIC, BEARER, Guarded};
use crate::support::Running;

fn get(guarded: &Guarded, path: &str) -> Json {
    let (head, body) = guarded.server.http(&format!("GET {path}"), BEARER, "");
    assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head} {body}");
    serde_json::from_str(&body).unwrap()
}

#[test]
fn users_are_listed_without_their_secrets() {
    let guarded = Guarded::new();
    let answer = get(&guarded, "/v1/users?table=ships.calls");
    assert_eq!(answer["has_users"], true);
    let users = answer["users"].as_array().unwrap();
    let names: Vec<_> = users.iter().map(|user| user["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ann", "ld", "root"]);
    let ann = &users[0];
    assert_eq!((&ann["has_password"], &ann["tokens"]), (&json!(true), &json!(0)));
    assert_eq!(ann["grants"][0], json!({"table": "ships", "allow": ["read", "insert"]}));
    // A grant holds for the tables below its own, too.
    assert_eq!(ann["allow"], json!(["read", "insert"]));
    assert_eq!(users[1]["allow"], json!(["insert", "update"]));
    assert_eq!((&users[2]["roles"], &users[2]["tokens"]), (&json!(["admin"]), &json!(1)));
    assert!(!answer.to_string().contains(&guarded.hash) && !answer.to_string().contains("argon2"));
    assert!(get(&guarded, "/v1/users")["users"][0].get("allow").is_none());
}

#[test]
fn the_audit_log_is_read_from_its_end() {
    let guarded = Guarded::new();
    let denied = guarded.http("POST /v1/tables/secrets/get", BASIC, r#"{"keys": []}"#);
    assert!(denied.starts_with("HTTP/1.1 403"), "{denied}");
    let answer = get(&guarded, "/v1/audit?limit=2");
    let lines = answer["lines"].as_array().unwrap();
    // Reading it is noted as well.
    assert_eq!(lines[0]["action"], "read the audit log of");
    assert_eq!((&lines[1]["user"], &lines[1]["allowed"]), (&json!("ann"), &json!(false)));
    assert_eq!(lines[1]["object"], "table secrets");
    let before = answer["before"].as_u64().unwrap();
    let earlier = get(&guarded, &format!("/v1/audit?limit=1000&before={before}"));
    assert_eq!(earlier["before"], Json::Null);
    for path in ["/v1/audit", "/v1/users"] {
        let head = guarded.http(&format!("GET {path}"), BASIC, "");
        assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    }
    let (head, _) = guarded.server.http("GET /v1/audit?limit=0", BEARER, "");
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
}

#[test]
fn a_server_without_users_has_none_to_list() {
    let server = Running::new();
    let (_, users) = server.http("GET /v1/users", "", "");
    assert_eq!(users, r#"{"has_users":false,"users":[]}"#);
    let (head, answer) = server.http("GET /v1/audit", "", "");
    assert!(head.starts_with("HTTP/1.1 404") && answer.contains("keeps no audit log"), "{answer}");
}
