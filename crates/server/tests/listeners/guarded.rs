//! A server with users.

use std::io::Write as _;

use tonnage_server::{Settings, hash_password};

use crate::support::{Running, SqlClient};

/// A server with users; the files live as long as it does.
pub(crate) struct Guarded {
    pub(crate) server: Running,
    pub(crate) audit: tempfile::TempPath,
    pub(crate) users: tempfile::TempPath,
    /// That of ann's password.
    pub(crate) hash: String,
}

pub(crate) fn file(text: &str) -> tempfile::TempPath {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.into_temp_path()
}

/// SHA-256 of `loader`.
pub(crate) const LOADER: &str = "d47712cceb4c780603026e6325221c1bcff90679ebc076baa51c71ebe796717c";

/// SHA-256 of `token`.
pub(crate) const TOKEN: &str = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";

impl Guarded {
    pub(crate) fn new() -> Self {
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
            redis: Some("127.0.0.1:0".into()),
            nosql: Some("127.0.0.1:0".into()),
            ..Settings::default()
        };
        let server = Running::with(settings);
        server.store.execute("CREATE TABLE secrets (k LONG, PRIMARY KEY (k))").unwrap();
        server.store.execute("CREATE TABLE secrets.keys (x LONG, PRIMARY KEY (x))").unwrap();
        server.store.execute("CREATE TABLE ships.calls (port LONG, PRIMARY KEY (port))").unwrap();
        Self { server, audit, users, hash }
    }

    pub(crate) fn ann(&self) -> SqlClient {
        let mut client = self.server.sql();
        client.runtime.block_on(client.flight.handshake("ann", "pass:word")).unwrap();
        client
    }

    pub(crate) fn root(&self) -> SqlClient {
        let mut client = self.server.sql();
        client.flight.set_token("token".to_owned());
        client
    }

    /// The answers of an action that ann calls.
    pub(crate) fn act_as_ann(&self, action: &str, body: Vec<u8>) -> Vec<Vec<u8>> {
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

    pub(crate) fn http(&self, request: &str, headers: &str, body: &str) -> String {
        self.server.http(request, headers, body).0
    }
}

/// A call of the holder of the token.
pub(crate) fn bearing<T>(message: T, token: &str) -> tonic::Request<T> {
    let mut request = tonic::Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

/// `ann:pass:word`
pub(crate) const BASIC: &str = "Authorization: Basic YW5uOnBhc3M6d29yZA==\r\n";
pub(crate) const BEARER: &str = "Authorization: Bearer token\r\n";
