//! Users: who gets in, what is noted of them, and when their file is read again.

use std::time::Instant;

use tonnage_server::hash_password;

use crate::guarded::{BASIC, BEARER, Guarded, TOKEN};

#[test]
fn nobody_gets_in_without_saying_who_they_are() {
    let guarded = Guarded::new();
    let error = guarded.server.sql().query("SELECT 1").unwrap_err();
    assert!(error.contains("say who you are"), "{error}");
    let head = guarded.http("GET /v1/tables", "", "");
    assert!(head.starts_with("HTTP/1.1 401") && head.contains("www-authenticate"), "{head}");
    assert!(guarded.http("GET /metrics", "", "").starts_with("HTTP/1.1 401"));
    assert!(guarded.http("GET /health/ready", "", "").starts_with("HTTP/1.1 200"));
    let (_, metrics) = guarded.server.http("GET /metrics", BEARER, "");
    for counted in [
        r#"tonnage_logins_failed_total{listener="http"} 2"#,
        r#"tonnage_logins_failed_total{listener="flight"} 1"#,
        "tonnage_build_info{version=",
    ] {
        assert!(metrics.contains(counted), "{counted}: {metrics}");
    }
}

#[test]
fn a_wrong_password_is_refused_late() {
    let guarded = Guarded::new();
    let mut client = guarded.server.sql();
    let started = Instant::now();
    for _ in 0..2 {
        assert!(client.runtime.block_on(client.flight.handshake("ann", "word")).is_err());
    }
    assert!(started.elapsed().as_millis() >= 300, "{:?}", started.elapsed());
    assert!(client.runtime.block_on(client.flight.handshake("bob", "pass:word")).is_err());
}

#[test]
fn a_handshake_gives_a_token_that_stands_for_the_user() {
    let guarded = Guarded::new();
    let mut client = guarded.ann();
    assert!(client.flight.token().is_some());
    assert_eq!(client.number("SELECT count(*) FROM ships"), 0);
    client.flight.set_token("another".to_owned());
    assert!(client.query("SELECT 1").is_err());
}

#[test]
fn logins_and_decisions_stand_in_the_audit_log() {
    let guarded = Guarded::new();
    let mut ann = guarded.ann();
    ann.query("SELECT * FROM ships").unwrap();
    ann.query("SELECT * FROM secrets").unwrap_err();
    for (request, body) in [
        ("POST /v1/admin/check", ""),
        ("POST /v1/admin/check", r#"{"repair": true}"#),
        ("POST /v1/admin/backup", r#"{"directory": "a"}"#),
        ("POST /v1/tables/ships/get", r#"{"keys": [], "relatives": ["secrets"]}"#),
    ] {
        assert!(guarded.http(request, BASIC, body).starts_with("HTTP/1.1 403"), "{request}");
    }
    let lines = std::fs::read_to_string(&guarded.audit).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |action: &str, object: &str, allowed: bool| {
        lines.iter().any(|line| {
            line["user"] == "ann"
                && line["action"] == action
                && line["object"] == object
                && line["allowed"] == allowed
        })
    };
    assert!(find("login", "", true), "{lines:?}");
    assert!(find("statement", "SELECT * FROM ships", true), "{lines:?}");
    assert!(find("statement", "SELECT * FROM secrets", false), "{lines:?}");
    for action in ["check", "repair", "back up"] {
        assert!(find(action, "the server", false), "{action}: {lines:?}");
    }
    assert!(find("read", "table ships", true), "{lines:?}");
    assert!(find("read", "table secrets", false), "{lines:?}");
}

#[test]
fn users_are_read_again_without_a_restart() {
    let guarded = Guarded::new();
    let mut ann = guarded.ann();
    assert!(ann.query("SELECT * FROM ships").is_ok());
    let reload = || guarded.http("POST /v1/admin/reload", BEARER, "");
    let users = |text: &str| std::fs::write(&guarded.users, text).unwrap();
    let root = format!("[[user]]\nname = \"root\"\ntokens = [\"{TOKEN}\"]\nroles = [\"admin\"]\n");
    users("[[user]\nname =");
    let refused = reload();
    assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
    assert!(ann.query("SELECT * FROM ships").is_ok(), "a broken file changes nothing");
    let ann_with = |hash: &str| {
        users(&format!(
            "{root}[[user]]\nname = \"ann\"\npassword = \"{hash}\"\n\
             grants = [{{ table = \"secrets\", allow = [\"read\"] }}]\n"
        ));
        assert!(reload().starts_with("HTTP/1.1 204"));
    };
    ann_with(&guarded.hash);
    assert!(
        ann.query("SELECT * FROM ships").is_err() && ann.query("SELECT * FROM secrets").is_ok()
    );
    // A token that outlived its password would let in who has stolen it.
    ann_with(&hash_password("another").unwrap());
    assert!(ann.query("SELECT * FROM secrets").is_err(), "a new password logs out");
    let old = guarded.http("GET /v1/tables", BASIC, "");
    assert!(old.starts_with("HTTP/1.1 401"), "{old}");
    ann_with(&guarded.hash);
    let mut ann = guarded.ann();
    assert!(ann.query("SELECT * FROM secrets").is_ok());
    users(&root);
    assert!(reload().starts_with("HTTP/1.1 204"));
    assert!(ann.query("SELECT * FROM secrets").is_err(), "whoever is gone is logged out");
}

#[test]
fn a_file_of_users_that_breaks_is_counted_once() {
    let guarded = Guarded::new();
    let failed = || {
        let (_, told) = guarded.server.http("GET /metrics", BEARER, "");
        let line = told.lines().find_map(|line| line.strip_prefix("tonnage_reloads_failed_total "));
        line.and_then(|count| count.trim().parse::<u32>().ok()).expect("it is counted")
    };
    assert_eq!(failed(), 0);
    std::fs::write(&guarded.users, "[[user]\nname =").unwrap();
    let begun = Instant::now();
    while failed() == 0 {
        assert!(begun.elapsed().as_secs() < 60, "the file was not looked at");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    std::thread::sleep(std::time::Duration::from_secs(6));
    assert_eq!(failed(), 1);
}

#[test]
fn a_file_of_users_that_changes_is_read_by_itself() {
    let guarded = Guarded::new();
    let mut ann = guarded.ann();
    assert!(ann.query("SELECT * FROM ships").is_ok());
    std::fs::write(&guarded.users, format!("[[user]]\nname = \"root\"\ntokens = [\"{TOKEN}\"]\n"))
        .unwrap();
    let begun = Instant::now();
    while ann.query("SELECT * FROM ships").is_ok() {
        assert!(begun.elapsed().as_secs() < 60, "the file was not read again");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}
