//! Users: who gets in, and what they may do.

use std::io::Write as _;
use std::time::Instant;

use tonnage_server::{Settings, hash_password};

use crate::support::{Running, SqlClient};

/// A server with users; the files live as long as it does.
struct Guarded {
    server: Running,
    audit: tempfile::TempPath,
    _users: tempfile::TempPath,
    /// That of ann's password.
    hash: String,
}

fn file(text: &str) -> tempfile::TempPath {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.into_temp_path()
}

/// SHA-256 of `loader`.
const LOADER: &str = "d47712cceb4c780603026e6325221c1bcff90679ebc076baa51c71ebe796717c";

/// SHA-256 of `token`.
const TOKEN: &str = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";

impl Guarded {
    fn new() -> Self {
        let hash = hash_password("pass:word").unwrap();
        let users = file(&format!(
            "[[user]]\nname = \"ann\"\npassword = \"{hash}\"\n\
             grants = [{{ table = \"ships\", allow = [\"read\", \"insert\"] }}, \
             {{ pairs = \"fleet/\", allow = [\"read\", \"insert\", \"update\"] }}]\n\
             [[user]]\nname = \"root\"\ntokens = [\"{TOKEN}\"]\nroles = [\"admin\"]\n\
             [[user]]\nname = \"ld\"\ntokens = [\"{LOADER}\"]\nroles = [\"loader\"]\n"
        ));
        let audit = file("");
        let settings = Settings {
            users: Some(users.to_path_buf()),
            audit: Some(audit.to_path_buf()),
            ..Settings::default()
        };
        let server = Running::with(settings);
        server.store.execute("CREATE TABLE secrets (k LONG, PRIMARY KEY (k))").unwrap();
        server.store.execute("CREATE TABLE secrets.keys (x LONG, PRIMARY KEY (x))").unwrap();
        server.store.execute("CREATE TABLE ships.calls (port LONG, PRIMARY KEY (port))").unwrap();
        Self { server, audit, _users: users, hash }
    }

    fn ann(&self) -> SqlClient {
        let mut client = self.server.sql();
        client.runtime.block_on(client.flight.handshake("ann", "pass:word")).unwrap();
        client
    }

    fn root(&self) -> SqlClient {
        let mut client = self.server.sql();
        client.flight.set_token("token".to_owned());
        client
    }

    /// The answers of an action that ann calls.
    fn act_as_ann(&self, action: &str, body: Vec<u8>) -> Vec<Vec<u8>> {
        let token = self.ann().flight.token().unwrap().clone();
        let request = bearing(arrow_flight::Action::new(action.to_owned(), body), &token);
        let mut client = self.server.client();
        client.runtime.block_on(async {
            let mut answers = client.flight.do_action(request).await.unwrap().into_inner();
            let mut told = Vec::new();
            while let Some(answer) = answers.message().await.unwrap() {
                told.push(answer.body.to_vec());
            }
            told
        })
    }

    fn http(&self, request: &str, headers: &str, body: &str) -> String {
        self.server.http(request, headers, body).0
    }
}

/// A call of whoever has the token.
fn bearing<T>(message: T, token: &str) -> tonic::Request<T> {
    let mut request = tonic::Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

/// A definition that a reader of statements takes for one of another table: to it, a back quote opens
/// no name, and what follows is a comment.
const HIDDEN: &str = "DESCRIBE ships.`/*`; DROP TABLE secrets; DESCRIBE ships.`*/`";

/// `ann:pass:word`
const BASIC: &str = "Authorization: Basic YW5uOnBhc3M6d29yZA==\r\n";
const BEARER: &str = "Authorization: Bearer token\r\n";

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
fn statements_may_touch_what_is_granted_and_nothing_else() {
    let guarded = Guarded::new();
    let mut ann = guarded.ann();
    assert_eq!(ann.update("INSERT INTO ships VALUES (1, 'a')").unwrap(), 1);
    assert_eq!(ann.number("SELECT count(*) FROM ships JOIN ships.calls USING (id)"), 0);
    for text in [
        "SELECT * FROM secrets",
        "SELECT * FROM tonnage.secrets.keys",
        "SELECT * FROM TONNAGE.public.\"secrets.keys\"",
        "SELECT (SELECT max(k) FROM tonnage.public.\"secrets\") FROM ships",
        "WITH a AS (SELECT * FROM secrets) SELECT 1 FROM a",
        "INSERT INTO ships SELECT k, 'x' FROM secrets",
        "DESCRIBE secrets",
        "DESCRIBE SELECT * FROM secrets",
        "SUMMARIZE secrets",
        "SHOW STATISTICS FROM secrets",
        "SUMMARIZE SELECT * FROM secrets",
        "TABLE secrets",
        "FROM secrets",
        "EXPLAIN SELECT * FROM secrets",
        "SELECT * FROM ships ASOF JOIN secrets ON ships.id = secrets.k AND ships.id >= secrets.k",
        "SELECT * FROM secrets SEMI JOIN ships ON secrets.k = ships.id",
        "SELECT k FROM secrets EXCEPT ALL SELECT id FROM ships",
        "SELECT * FROM secrets PIVOT (count(*) FOR k IN (1, 2))",
        "WITH a AS (SELECT * FROM secrets) INSERT INTO ships SELECT k, 'x' FROM a",
        "WITH a AS (SELECT * FROM secrets) DELETE FROM ships WHERE id IN (SELECT k FROM a)",
        "COPY (SELECT * FROM secrets) TO 'secrets.csv'",
        "COPY secrets TO 'secrets.csv'",
    ] {
        let error = ann.query(text).unwrap_err();
        let said = ["may not read secrets", "may not delete ships"];
        assert!(said.iter().any(|said| error.contains(said)), "{text}: {error}");
    }
    for (text, said) in [
        ("UPDATE ships SET name = 'b'", "may not update ships"),
        ("UPSERT INTO ships VALUES (1, 'b')", "may not update ships"),
        ("DELETE FROM ships", "may not delete ships"),
        ("DROP TABLE ships", "may not define ships"),
        ("CREATE TABLE boats (k LONG, PRIMARY KEY (k))", "may not define boats"),
        ("SELECT 1; DELETE FROM secrets", "may not delete secrets"),
        (
            "MERGE INTO ships USING ships.calls c ON ships.id = c.id WHEN MATCHED THEN DELETE",
            "may not update ships",
        ),
        (
            "MERGE INTO secrets USING ships ON k = id WHEN MATCHED THEN DELETE",
            "may not read secrets",
        ),
        ("COPY secrets FROM 'secrets.csv'", "may not insert secrets"),
        ("ANALYZE ships", "may not define ships"),
        ("VACUUM ANALYZE secrets", "may not read secrets"),
        ("WITH a AS (SELECT 1 AS id) UPDATE ships SET name = 'b' FROM a", "may not update ships"),
    ] {
        let error = ann.update(text).unwrap_err();
        assert!(error.contains(said), "{text}: {error}");
    }
    assert_eq!(guarded.root().update("UPDATE ships SET name = 'b'").unwrap(), 1);
    assert_eq!(guarded.root().update("ANALYZE ships").unwrap(), 0);
    let error = ann.query("SHOW STATISTICS").unwrap_err();
    assert!(error.contains("may not read _statistics"), "{error}");
    assert_eq!(ann.query("SHOW STATISTICS FROM ships").unwrap().num_rows(), 2);
}

/// Once such a name was refused wherever it stood. Where it stands for the table, rows come out.
#[test]
fn a_name_that_with_gives_is_no_table_within_its_scope() {
    let guarded = Guarded::new();
    guarded.root().update("INSERT INTO secrets VALUES (7)").unwrap();
    let mut ann = guarded.ann();
    for text in [
        "WITH secrets AS (SELECT 1 AS k) SELECT k FROM secrets",
        "WITH Secrets AS (SELECT 1 AS k) SELECT (SELECT max(k) FROM \"secrets\")",
        "WITH secrets AS (SELECT 1 AS k), a AS (SELECT k FROM secrets) SELECT k FROM a",
        "SELECT k FROM (WITH secrets AS (SELECT 1 AS k) SELECT k FROM secrets) AS a",
        "WITH RECURSIVE secrets AS (SELECT 1 AS k) SELECT k FROM secrets",
    ] {
        assert_eq!(ann.number(text), 1, "{text}");
    }
    for text in [
        "WITH secrets AS (SELECT k FROM secrets) SELECT k FROM secrets",
        "WITH a AS (SELECT k FROM secrets), secrets AS (SELECT 1 AS k) SELECT k FROM a",
        "WITH RECURSIVE secrets AS (SELECT k FROM secrets UNION SELECT 1) SELECT k FROM secrets",
        "WITH RECURSIVE secrets AS (SELECT k FROM secrets) SELECT k FROM secrets",
        "WITH secrets AS (SELECT 1 AS k) SELECT k FROM public.secrets",
        "WITH secrets AS (SELECT 1 AS k) SELECT k FROM tonnage.public.secrets",
        "SELECT s.k FROM (WITH secrets AS (SELECT 1) SELECT * FROM secrets) AS a, secrets AS s",
        "(WITH secrets AS (SELECT 1 AS k) SELECT k FROM secrets) UNION SELECT k FROM secrets",
        "WITH secrets AS (SELECT 1 AS k) SELECT x FROM secrets.keys",
    ] {
        let error = ann.query(text).unwrap_err();
        assert!(error.contains("may not read secrets"), "{text}: {error}");
    }
}

/// The administrator of a store is not that of its machine.
#[test]
fn a_server_reads_and_writes_no_files_and_keeps_no_settings() {
    let guarded = Guarded::new();
    let mut root = guarded.root();
    let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    std::fs::write(file.path(), "id,name\n9,secret\n").unwrap();
    let path = file.path().display();
    for text in [
        format!("SELECT * FROM '{path}'"),
        format!("FROM read_csv('{path}')"),
        format!("SELECT * FROM \"file::{path}\""),
        format!("COPY ships TO '{path}.new'"),
        "SET timeout = '1h'".to_owned(),
        "PREPARE p AS SELECT 1".to_owned(),
        "CHECKPOINT".to_owned(),
    ] {
        let error = root.query(&text).unwrap_err();
        assert!(error.contains("a server"), "{text}: {error}");
    }
    for text in [format!("COPY ships FROM '{path}'"), format!("INSERT INTO ships FROM '{path}'")] {
        assert!(root.update(&text).is_err(), "{text}");
    }
    assert!(!file.path().with_extension("csv.new").exists());
}

#[test]
fn tables_that_one_may_not_touch_are_not_told_of() {
    let guarded = Guarded::new();
    let tables = |mut client: SqlClient| {
        let command = arrow_flight::sql::CommandGetTables::default();
        let info = client.runtime.block_on(client.flight.get_tables(command)).unwrap();
        client.fetch(&info).unwrap().num_rows()
    };
    assert_eq!(tables(guarded.ann()), 2);
    assert_eq!(tables(guarded.root()), 4);
    for text in [
        "SHOW TABLES",
        "SHOW INDEXES",
        "SELECT * FROM information_schema.columns",
        "SELECT * FROM tonnage.information_schema.columns",
    ] {
        let error = guarded.ann().query(text).unwrap_err();
        assert!(error.contains("may not read information_schema"), "{text}: {error}");
        assert!(guarded.root().query(text).is_ok(), "{text}");
    }
    assert!(guarded.ann().query("SHOW INDEXES FROM ships").is_ok());
    // Errors listed all tables once.
    for text in [
        "SELECT * FROM secrtes",
        "SELECT * FROM ships.kalls",
        "WITH a AS (SELECT 1) SELECT * FROM a JOIN (WITH b AS (SELECT 1) SELECT * FROM b) AS c ON true, b",
        "SHOW CREATE TABLE secret",
        "EXPLAIN SELECT * FROM secret",
    ] {
        let error = guarded.ann().query(text).unwrap_err();
        assert!(error.contains("there is no table"), "{text}: {error}");
        assert!(!error.contains("secrets") && !error.contains("calls"), "{text}: {error}");
    }
}

/// The client for Rust asks for the columns of a table before it loads: a loader was refused there,
/// though they could load over HTTP.
#[test]
fn whoever_may_write_a_table_may_know_its_columns() {
    use arrow_flight::{Action, FlightDescriptor};
    let guarded = Guarded::new();
    guarded.root().update("INSERT INTO secrets VALUES (7)").unwrap();
    let mut client = guarded.server.client();
    let mut described = |text: &str, token: &str| {
        let action = bearing(Action::new("tonnage.Define", text.as_bytes().to_vec()), token);
        let (flight, runtime) = (&mut client.flight, &client.runtime);
        runtime.block_on(async {
            let mut answers = flight.do_action(action).await?.into_inner();
            let told = answers.message().await?.map(|answer| answer.body.to_vec());
            Ok::<_, tonic::Status>(String::from_utf8(told.unwrap_or_default()).unwrap())
        })
    };
    for text in ["DESCRIBE secrets", "DESCRIBE \"secrets\".\"keys\""] {
        let told = described(text, "loader").unwrap();
        assert!(told.contains("CREATE TABLE"), "{text}: {told}");
    }
    let ann = guarded.ann().flight.token().unwrap().clone();
    let status = described("DESCRIBE secrets", &ann).unwrap_err();
    assert!(status.message().contains("may not read secrets"), "{status}");
    assert_eq!(
        described("SHOW TABLES", "loader").unwrap_err().code(),
        tonic::Code::PermissionDenied
    );

    let mut loader = guarded.server.sql();
    loader.flight.set_token("loader".to_owned());
    assert_eq!(loader.query("DESCRIBE secrets").unwrap().num_rows(), 1);
    let path = bearing(FlightDescriptor::new_path(vec!["secrets".to_owned()]), "loader");
    client.runtime.block_on(client.flight.get_schema(path)).unwrap();
    let headers = "Authorization: Bearer loader\r\n";
    let (head, told) = guarded.server.http("GET /v1/tables/secrets", headers, "");
    assert!(head.starts_with("HTTP/1.1 200") && told.contains("columns"), "{head} {told}");

    // Columns are no rows.
    for text in [
        "SELECT * FROM secrets",
        "SUMMARIZE secrets",
        "SHOW STATISTICS FROM secrets",
        "DESCRIBE SELECT * FROM secrets",
        "INSERT INTO secrets VALUES (7) RETURNING *",
    ] {
        let error = loader.query(text).unwrap_err();
        assert!(error.contains("may not read secrets"), "{text}: {error}");
    }
}

#[test]
fn every_bulk_call_is_held_against_the_grants() {
    use crate::support::{command, messages, path, ships};
    let guarded = Guarded::new();
    let token = guarded.ann().flight.token().unwrap().clone();
    let client = guarded.server.client();
    let denied = |name: &str, body: Vec<u8>| {
        let mut flight = client.flight.clone();
        let mut request = tonic::Request::new(arrow_flight::Action::new(name.to_owned(), body));
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        let status = client.runtime.block_on(flight.do_action(request)).unwrap_err();
        assert_eq!(status.code(), tonic::Code::PermissionDenied, "{name}: {status}");
    };
    denied("tonnage.Check", Vec::new());
    denied("tonnage.Check", br#"{"repair": true}"#.to_vec());
    for backups in ["Backup", "ListBackups", "VerifyBackups", "PruneBackups"] {
        denied(&format!("tonnage.{backups}"), br#"{"directory": "a", "keep": 1}"#.to_vec());
    }
    denied("tonnage.DeleteLob", br#"{"key": "/fleet%2F1"}"#.to_vec());
    denied("tonnage.Define", b"DROP TABLE ships".to_vec());
    denied("tonnage.Define", HIDDEN.as_bytes().to_vec());
    denied("tonnage.Jobs", Vec::new());
    denied("tonnage.Sync", Vec::new());
    denied("tonnage.Statistics", Vec::new());
    denied("tonnage.CancelJob", br#"{"job": "b-1"}"#.to_vec());
    let put = |descriptor| {
        let mut flight = client.flight.clone();
        let sent = messages(descriptor, vec![ships(0..10)]);
        let mut request = tonic::Request::new(futures::stream::iter(sent));
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        client.runtime.block_on(async move {
            let mut answers = flight.do_put(request).await?.into_inner();
            while answers.message().await?.is_some() {}
            Ok::<_, tonic::Status>(())
        })
    };
    assert!(put(path()).is_ok());
    for put_command in [
        serde_json::json!({"table": "secrets"}),
        serde_json::json!({"table": "ships", "on_existing": "replace"}),
        serde_json::json!({"pairs": true}),
    ] {
        let told = put_command.to_string();
        let status = put(command(serde_json::json!({"bulk_put": put_command}))).unwrap_err();
        assert_eq!(status.code(), tonic::Code::PermissionDenied, "{told}: {status}");
    }
}

/// Ann may insert and update pairs below `fleet/`, and read ships and their children.
#[test]
fn large_objects_and_children_are_held_against_the_grants() {
    use crate::support::{command, messages, say};
    use arrow::array::{BinaryArray, Int64Array, RecordBatch};
    use arrow_flight::{FlightDescriptor, Ticket};
    use std::sync::Arc;
    use tonic::Code;
    let guarded = Guarded::new();
    let token = guarded.ann().flight.token().unwrap().clone();
    let client = guarded.server.client();
    let bytes: RecordBatch =
        RecordBatch::try_from_iter([("bytes", Arc::new(BinaryArray::from_vec(vec![b"x"])) as _)])
            .unwrap();
    let put = |key: &str, options: serde_json::Value| {
        let mut options = options;
        options["key"] = key.into();
        let mut sent =
            messages(command(serde_json::json!({"put_lob": options})), vec![bytes.clone()]);
        sent.push(say(serde_json::json!({"end": {"bytes": 1}})));
        let mut flight = client.flight.clone();
        let request = bearing(futures::stream::iter(sent), &token);
        client.runtime.block_on(async move {
            let mut answers = flight.do_put(request).await?.into_inner();
            while answers.message().await?.is_some() {}
            Ok::<_, tonic::Status>(())
        })
    };
    let none = serde_json::json!({});
    put("/fleet%2F1", none.clone()).unwrap();
    assert_eq!(put("/other", none).unwrap_err().code(), Code::PermissionDenied);
    let get = |key: &str| {
        let ticket = serde_json::json!({"get_lob": {"key": key}}).to_string();
        let mut flight = client.flight.clone();
        client.runtime.block_on(flight.do_get(bearing(Ticket::new(ticket), &token))).map(drop)
    };
    get("/fleet%2F1").unwrap();
    // Whether there is one is not told to those who may not read it.
    assert_eq!(get("/other").unwrap_err().code(), Code::PermissionDenied);
    let related = |descriptor: FlightDescriptor| {
        let keys = Arc::new(Int64Array::from(vec![1])) as _;
        let keys = RecordBatch::try_from_iter([("id", keys)]).unwrap();
        let request = bearing(futures::stream::iter(messages(descriptor, vec![keys])), &token);
        let mut flight = client.flight.clone();
        client.runtime.block_on(flight.do_exchange(request)).map(drop)
    };
    let with = |table: &str| {
        related(command(serde_json::json!({"bulk_get": {"table": "ships", "relatives": [table]}})))
    };
    with("ships.calls").unwrap();
    assert_eq!(with("secrets").unwrap_err().code(), Code::PermissionDenied);
}

#[test]
fn http_calls_are_held_against_the_grants() {
    let guarded = Guarded::new();
    for (request, body, status) in [
        ("PUT /v1/pairs/fleet%2F1", "x", "204"),
        ("GET /v1/pairs/fleet%2F1", "", "200"),
        ("DELETE /v1/pairs/fleet%2F1", "", "403"),
        ("PUT /v1/pairs/other", "x", "403"),
        ("GET /v1/tables/ships/row?id=1", "", "404"),
        ("PUT /v1/tables/ships/row?id=1", "{}", "403"),
        ("GET /v1/tables/secrets", "", "403"),
        ("DELETE /v1/tables/ships", "", "403"),
        ("POST /v1/tables", "DROP TABLE ships", "403"),
        ("POST /v1/tables", HIDDEN, "403"),
        ("POST /v1/tables/ships/rows", "id,name\n1,a\n", "200"),
        ("POST /v1/tables/secrets/rows", "k\n1\n", "403"),
        ("POST /v1/sql", r#"{"sql": "SELECT * FROM secrets"}"#, "403"),
        ("POST /v1/admin/sync", "", "403"),
        ("POST /v1/admin/check", "", "403"),
        ("POST /v1/admin/backup", r#"{"directory": "a"}"#, "403"),
        ("POST /v1/tables/ships/get", r#"{"keys": []}"#, "200"),
        ("POST /v1/tables/secrets/get", r#"{"keys": []}"#, "403"),
        ("POST /v1/tables/ships/get", r#"{"keys": [], "relatives": ["secrets"]}"#, "403"),
        ("GET /v1/jobs", "", "403"),
        ("GET /metrics", "", "403"),
    ] {
        let headers = format!("{BASIC}Content-Type: text/csv\r\n");
        let head = guarded.http(request, &headers, body);
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {head}");
    }
    assert!(guarded.http("GET /metrics", BEARER, "").starts_with("HTTP/1.1 200"));
}

/// Once one statement that was not allowed, or that had a fault, refused the whole call.
#[test]
fn a_statement_of_many_that_is_not_allowed_is_refused_by_itself() {
    use crate::support::read_frame;
    let guarded = Guarded::new();
    let statements = r#"[{"sql": "SELECT * FROM secrets"}, {"sql": "SELECT count(*) FROM ships"},
        {"sql": "INSERT INTO ships SELECT k, 'x' FROM secrets"},
        {"sql": "INSERT INTO secrets VALUES (1)"}, {"sql": "SELEC 1"},
        {"sql": "SELECT 1; DROP TABLE secrets"}, {"sql": "SELECT 1; SELECT 2"}]"#;
    let refused: [usize; 4] = [0, 2, 3, 5];
    let (head, told) = guarded.server.http("POST /v1/fetch-all", BASIC, statements);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    for place in refused {
        assert_eq!(told[place]["problem"]["title"], "not allowed", "{told}");
    }
    assert_eq!(told[1]["rows"], serde_json::json!([[0]]), "{told}");
    assert_eq!(told[4]["problem"]["title"], "invalid request", "{told}");
    let detail = told[6]["problem"]["detail"].as_str().unwrap();
    assert!(detail.starts_with("statement 6"), "{detail}");

    let body = statements.as_bytes().to_vec();
    let answers = guarded.act_as_ann("tonnage.FetchAll", body);
    let headers: Vec<_> = answers.iter().map(|answer| read_frame(answer).0).collect();
    assert_eq!(headers.len(), 7);
    for place in refused {
        assert_eq!(headers[place]["error"]["kind"], "not allowed", "{headers:?}");
    }
    assert!(headers[1].get("ok").is_some(), "{headers:?}");
    assert_eq!(guarded.server.store.table("secrets").unwrap().count().unwrap(), 0);
    assert_eq!(guarded.server.rows(), 0);
}

/// What ann may not do was "unsupported", as if nobody could.
#[test]
fn a_request_of_many_that_is_not_allowed_says_so() {
    use crate::support::{frame, read_frame};
    use arrow::array::{Int64Array, RecordBatch};
    let guarded = Guarded::new();
    let requests = r#"[{"table": "secrets", "keys": [1]}, {"table": "ships", "keys": [1]}]"#;
    let (head, told) = guarded.server.http("POST /v1/multi-get", BASIC, requests);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told[0]["problem"]["title"], "not allowed", "{told}");
    assert_eq!(told[1]["rows"], serde_json::json!([]), "{told}");

    let keys = |column: &str| {
        let keys = std::sync::Arc::new(Int64Array::from(vec![1])) as _;
        RecordBatch::try_from_iter([(column, keys)]).unwrap()
    };
    let mut body = frame(serde_json::json!({"table": "secrets"}), &keys("k"));
    body.extend(frame(serde_json::json!({"table": "ships"}), &keys("id")));
    let answers = guarded.act_as_ann("tonnage.MultiGet", body);
    let headers: Vec<_> = answers.iter().map(|answer| read_frame(answer).0).collect();
    assert_eq!(headers[0]["error"]["kind"], "not allowed", "{headers:?}");
    assert!(headers[1].get("ok").is_some(), "{headers:?}");
}

/// The story of a bug: calls of single rows, and those that describe a table, looked for it before
/// they checked the rights. So "denied" told that it exists, and "not found" that it does not.
#[test]
fn a_refusal_does_not_tell_whether_a_table_exists() {
    use crate::support::{frame, ships};
    use arrow_flight::{Action, FlightDescriptor};
    let guarded = Guarded::new();
    for table in ["secrets", "nothing"] {
        let row = format!("/v1/tables/{table}/row?k=1");
        for (verb, body) in [("GET", ""), ("PUT", "{}"), ("PATCH", "{}"), ("DELETE", "")] {
            let head = guarded.http(&format!("{verb} {row}"), BASIC, body);
            assert!(head.starts_with("HTTP/1.1 403"), "{verb} {row}: {head}");
        }
    }
    let token = guarded.ann().flight.token().unwrap().clone();
    let mut client = guarded.server.client();
    let mut denied = |call: &str, table: &str| {
        let header = |verb: &str| serde_json::json!({ verb: table });
        let action = |name: &str, header| Action::new(name, frame(header, &ships([1])));
        let path = FlightDescriptor::new_path(vec![table.to_owned()]);
        let (flight, runtime) = (&mut client.flight, &client.runtime);
        let action = match call {
            "get" => Some(action("tonnage.Get", header("table"))),
            "put" | "delete" => Some(action("tonnage.Write", header(call))),
            _ => None,
        };
        let answered = runtime.block_on(async {
            match (action, call) {
                (Some(action), _) => flight.do_action(bearing(action, &token)).await.map(drop),
                (None, "info") => flight.get_flight_info(bearing(path, &token)).await.map(drop),
                (None, _) => flight.get_schema(bearing(path, &token)).await.map(drop),
            }
        });
        let status = answered.unwrap_err();
        assert_eq!(status.code(), tonic::Code::PermissionDenied, "{call} {table}: {status}");
    };
    for call in ["get", "put", "delete", "info", "schema"] {
        denied(call, "secrets");
        denied(call, "nothing");
    }
}

#[test]
fn a_prepared_statement_and_a_ticket_are_their_owners() {
    let guarded = Guarded::new();
    let mut root = guarded.root();
    let change = root.info("INSERT INTO ships VALUES (1, 'a')").unwrap();
    let read = root.info("SELECT * FROM secrets").unwrap();
    let mut ann = guarded.ann();
    assert!(ann.fetch(&change).unwrap_err().contains("no such statement"));
    assert!(ann.fetch(&read).unwrap_err().contains("may not read secrets"));
    assert_eq!(guarded.server.rows(), 0);
    assert!(root.fetch(&change).is_ok());
}

/// Whoever knew the name of a job heard of its tables, and could stop it by rows that fail.
#[test]
fn a_job_is_shared_by_streams_of_one_user_alone() {
    use crate::support::{command, messages, ships};
    let guarded = Guarded::new();
    let ann = guarded.ann().flight.token().unwrap().clone();
    let begun = |token: &str| {
        let put = command(serde_json::json!({"bulk_put": {"table": "ships", "job": "nightly"}}));
        let open = futures::stream::iter(messages(put, vec![ships(0..1)]));
        let held = futures::StreamExt::chain(open, futures::stream::pending());
        let mut request = tonic::Request::new(held);
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        let mut client = guarded.server.client();
        let (job, answers) = client.runtime.block_on(async {
            let mut answers = client.flight.do_put(request).await.unwrap().into_inner();
            let said = answers.message().await.unwrap().unwrap();
            let said: serde_json::Value = serde_json::from_slice(&said.app_metadata).unwrap();
            (said["ready"]["job"].to_string(), answers)
        });
        (job, answers, client)
    };
    let (first, second, other) = (begun(&ann), begun(&ann), begun("token"));
    assert_eq!(first.0, second.0);
    assert_ne!(first.0, other.0);
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
    let users = |text: &str| std::fs::write(&guarded._users, text).unwrap();
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
    std::fs::write(&guarded._users, "[[user]\nname =").unwrap();
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
    std::fs::write(&guarded._users, format!("[[user]]\nname = \"root\"\ntokens = [\"{TOKEN}\"]\n"))
        .unwrap();
    let begun = Instant::now();
    while ann.query("SELECT * FROM ships").is_ok() {
        assert!(begun.elapsed().as_secs() < 60, "the file was not read again");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}
