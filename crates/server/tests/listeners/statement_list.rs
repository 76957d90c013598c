//! The statements that run, and those of before.

use serde_json::{Value as Json, json};
use tonnage_testkit::wait_until;

use crate::guarded::{BASIC, BEARER, Guarded};
use crate::support::Running;

fn list(server: &Running, login: &str) -> Json {
    let (head, body) = server.http("GET /v1/statements", login, "");
    assert!(head.starts_with("HTTP/1.1 200"), "{body}");
    serde_json::from_str(&body).unwrap()
}

fn texts(answer: &Json) -> Vec<String> {
    let ended = answer["ended"].as_array().unwrap().iter();
    ended.map(|one| one["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn statements_are_listed_to_their_users_and_to_operators() {
    let guarded = Guarded::new();
    let server = &guarded.server;
    let ask = |login: &str, sql: &str| {
        server.http("POST /v1/sql", login, &json!({ "sql": sql }).to_string()).0
    };
    ask(BASIC, "SELECT count(*) FROM ships");
    ask(BASIC, "SELECT * FROM nowhere");
    ask(BEARER, "SELECT 7");
    let mine = list(server, BASIC);
    assert_eq!(texts(&mine), ["SELECT * FROM nowhere", "SELECT count(*) FROM ships"]);
    let [failed, completed] = &mine["ended"].as_array().unwrap()[..] else { panic!("{mine}") };
    assert_eq!((&failed["state"], &failed["user"]), (&json!("failed"), &json!("ann")));
    assert!(failed["message"].as_str().unwrap().contains("nowhere"), "{failed}");
    assert_eq!((&completed["state"], &completed["message"]), (&json!("completed"), &Json::Null));
    assert_eq!(texts(&list(server, BEARER)).len(), 3);
    assert_eq!(guarded.ann().number("SELECT 40 + 2"), 42);
    wait_until("the statement over Flight has ended", || {
        texts(&list(server, BASIC))[0] == "SELECT 40 + 2"
    });
}

#[test]
fn a_statement_is_cancelled_by_its_number() {
    let server = Running::new();
    let endless = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b WHERE a.value * b.value % 7 = 3";
    std::thread::scope(|scope| {
        let asked =
            scope.spawn(|| server.http("POST /v1/sql", "", &json!({ "sql": endless }).to_string()));
        let running = || list(&server, "")["running"].as_array().unwrap().clone();
        wait_until("it runs", || !running().is_empty());
        let id = running()[0]["statement"].as_str().unwrap().to_owned();
        let (head, _) = server.http(&format!("DELETE /v1/statements/{id}"), "", "");
        assert!(head.starts_with("HTTP/1.1 202"), "{head}");
        let (_, answer) = asked.join().unwrap();
        assert!(answer.contains("cancelled"), "{answer}");
        wait_until("it is listed as cancelled", || {
            list(&server, "")["ended"][0]["state"] == "cancelled"
        });
        let (head, _) = server.http(&format!("DELETE /v1/statements/{id}"), "", "");
        assert!(head.starts_with("HTTP/1.1 404"), "{head}");
    });
}
